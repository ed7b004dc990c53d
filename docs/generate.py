"""Write the tables of the pages from the registries; docs/check.py puts them between markers.

A page of docs/algorithms begins with a head between two lines `---`: `paper`, `model` and `solver`
in a few words, `tuned`, what the paper's experiments chose and how, and each ranker that the page
describes, with its loss. The numbers are those of the leaderboard.
"""

from __future__ import annotations

import csv
import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import cache
from itertools import groupby
from operator import itemgetter
from pathlib import Path

import numpy as np

from letorbench.analysis.leaderboard import recommended, shipped
from letorbench.analysis.published import lookup
from letorbench.cli.models import FAMILIES
from letorbench.conventions import CONVENTIONS, INTEGERS, RULES, Convention
from letorbench.datasets.catalog import CATALOG
from letorbench.features import TRANSFORMATIONS
from letorbench.measures import MEASURES, parse
from letorbench.papers import PAPERS, paper
from letorbench.parameters import choices, text
from letorbench.rankers import Ranker, names, ranker
from letorbench.rankers.estimator import query_set
from letorbench.rankers.tuning import Between
from letorbench.solvers.stopping import Validation

PAGES = Path(__file__).with_name("algorithms")
#: the data sets and the measures that the pages of the algorithms show
SETS = ("OHSUMED", "MQ2008")
SHOWN = ("ndcg@1", "ndcg@3", "ndcg@5", "ndcg@10", "map")
#: what the head of a page says besides its rankers
FACTS = ("model", "solver", "paper")
TUNED = "tuned"
#: the hyper-parameters of how long a ranker trains; validation keeps as many as are best
LENGTHS = ("rounds", "epochs")
#: what begins a list of such points in a docstring
SILENT = re.compile(r"Where (?:it|the papers?) (?:is|are) silent[^:]*: (.*)\.$")

Row = Sequence[object]


def table(header: Row, rows: Iterable[Row]) -> str:
    """Return a Markdown table; a bar within a cell is escaped."""

    def line(cells: Row) -> str:
        return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |\n"

    return line(header) + line(["---"] * len(header)) + "".join(map(line, rows))


def code(text: object) -> str:
    return f"`{text}`"


# docs/algorithms


def heads() -> dict[str, dict[str, str]]:
    """Return the head of every page of docs/algorithms that has one."""
    texts = {path.stem: path.read_text("utf-8") for path in sorted(PAGES.glob("*.md"))}
    return {
        page: dict(re.findall(r"^(\S+): (.+)$", text.split("---\n")[1], re.MULTILINE))
        for page, text in texts.items()
        if text.startswith("---\n")
    }


def losses_of(page: str) -> dict[str, str]:
    """Return the rankers of a page with their losses."""
    return {name: text for name, text in heads()[page].items() if name not in (*FACTS, TUNED)}


def classes_of(page: str) -> list[type[Ranker]]:
    """Return the rankers of a page, each followed by what it builds on, without `Ranker`."""
    every = [cls for name in losses_of(page) for cls in ranker(name).__mro__]
    return list(dict.fromkeys(c for c in every if issubclass(c, Ranker) and c is not Ranker))


def numbers(dataset: str, name: str, *measures: str) -> list[str]:
    """Return a ranker's stored numbers, blank where it has none."""
    means = values_of(dataset)
    return [f"{means[name][measure]:.4f}" if name in means else "" for measure in measures]


@cache
def values_of(dataset: str) -> dict[str, dict[str, float]]:
    """Return the leaderboard's means of a data set, by algorithm and measure."""
    return {row.algo: row.values for row in shipped(dataset).rows}


def _linked(name: str) -> str:
    """Return a ranker's name that leads from a page of docs to its own."""
    for page in heads():
        if name in losses_of(page):
            return f"[`{name}`](algorithms/{page}.md)"
    raise LookupError(f"docs/algorithms: found no page of {name}, expected its loss in one's head")


def _ndcg10(name: str) -> list[str]:
    return [cell for dataset in SETS for cell in numbers(dataset, name, "ndcg@10")]


def by_family(rankers: Iterable[str]) -> dict[str, list[str]]:
    """Return names of rankers by the titles of their families, as `letorbench algos` does."""
    of = {name: (ranker(name).families or ("",))[0] for name in rankers}
    return {
        title: members
        for family, title in FAMILIES.items()
        if (members := [name for name, each in of.items() if each == family])
    }


def algorithms() -> str:
    """A table for each family, with a row for each ranker; the recommended ones have a star."""
    rows = {
        name: [
            f"[`{name}`]({page}.md)" + " ★" * (name in recommended()), *_ndcg10(name), loss,
            *(head[fact] for fact in FACTS),
        ]
        for page, head in heads().items()
        for name, loss in losses_of(page).items()
    }  # fmt: skip
    header = ["name", *SETS, "loss of a query", *FACTS]
    return "\n".join(
        f"### {title}\n\n{table(header, (rows[name] for name in members))}"
        for title, members in by_family(rows).items()
    )


def variants(page: str) -> str:
    """A row a ranker of a page that describes many."""
    rows = (
        [code(name), code(f"lb.{ranker(name).__name__}"), loss, *_ndcg10(name)]
        for name, loss in losses_of(page).items()
    )
    return table(["name", "in Python", "loss of a query", *SETS], rows)


def page_numbers(page: str) -> str:
    """A table a data set: a row for each ranker and each published run of the same method."""
    tables = []
    for dataset in SETS:
        rows = []
        for name in losses_of(page):
            rows.append([code(name), *numbers(dataset, name, *SHOWN)])
            printed: dict[str, dict[str, str]] = {}
            for each in (each for m in SHOWN for each in lookup(dataset, m) if each.ours == name):
                run = f"{each.algorithm}, published ({each.source})"
                printed.setdefault(run, {})[each.measure] = each.printed
            rows += ([run, *(of.get(m, "") for m in SHOWN)] for run, of in printed.items())
        tables.append(table([dataset, *(m.upper() for m in SHOWN)], rows))
    return "\n".join(tables)


def parameters(page: str) -> str:
    """A row a hyper-parameter: its values, default and grid, and what its docstring says."""
    shared: dict[tuple[str, ...], list[str]] = {}
    for name in losses_of(page):
        cls = ranker(name)
        settings = {each.name: each for each in fields(cls)}
        del settings["features"]  # every ranker's, see docs/features.md
        described: dict[str, tuple[str, str]] = {}
        # what two rankers of a page share is described in the docstring of one of them
        for each in (*cls.__mro__, *classes_of(page)):
            for key, values, what in _described(each):
                described.setdefault(key, (values, what))
        for key in sorted(settings, key=list(described).index):
            values, what = described[key]
            if among := [code(text(value)) for value in choices(cls).get(key, ())]:
                values = f"{', '.join(among[:-1])} or {among[-1]}"
            elif bounds := settings[key].metadata.get("range"):
                values += f", {bounds}"
            shown = code(cls.spelled.get(key, key))
            # a long default, of names that are joined, breaks after any of them
            default = "+ ".join(map(code, str(settings[key].default).split("+")))
            tried = ", ".join(map(str, cls.grid.get(key, ())))
            shared.setdefault((shown, default, tried, f"*{values}* {what}"), []).append(name)
    rows = [
        [*cells[:3], f"{_owners(of, list(losses_of(page)))}{cells[3]}"]
        for cells, of in shared.items()
    ]
    header = ["parameter", "default", "validation tries", "what it is"]
    if not any(row[2] for row in rows):
        header, rows = header[:2] + header[3:], [row[:2] + row[3:] for row in rows]
    return table(header, rows)


def _owners(of: Sequence[str], every: Sequence[str]) -> str:
    """Return the rankers that have a parameter, or the fewer that do not, as a row's beginning."""
    rest = [name for name in every if name not in of]
    if not rest:
        return ""
    shown = ("all but ", rest) if len(rest) < len(of) else ("", of)
    return f"{shown[0]}{', '.join(map(code, shown[1]))}: "


def silences(page: str) -> str:
    """What a paper leaves open and what is done instead, from the docstrings' notes."""
    of: dict[tuple[bool, str], list[str]] = {}
    notes: list[tuple[bool, str]] = []
    for name in losses_of(page):
        cls = ranker(name)
        # a ranker without notes is another variant of the one before
        notes = [each for c in cls.__mro__ for each in _notes(c)] or notes
        orders = {"documents": cls.order_matters, "features": cls.feature_order_matters}
        matters = [(what, why) for what, why in orders.items() if why]
        whys = [(False, f"The order of the {what} matters: {why}.") for what, why in matters]
        for note in (*notes, *whys):
            of.setdefault(note, []).append(name)
    every, blocks = list(losses_of(page)), []
    for listed, group in groupby(of, itemgetter(0)):
        texts = [f"{'- ' * listed}{_owners(of[note], every)}{note[1]}" for note in group]
        blocks.append(("\n" if listed else "\n\n").join(texts))
    return "\n\n".join(blocks) + "\n"


def _notes(cls: type) -> Iterator[tuple[bool, str]]:
    """Yield a class's notes: True and a list's item, or False and a paragraph."""
    for paragraph in filter(None, _section(cls, "Notes").split("\n\n")):
        sentences = re.split(r"(?<=\.)\s(?=[A-Z`])", " ".join(paragraph.split()))
        for listed, group in groupby(sentences, lambda each: SILENT.match(each) is not None):
            if not listed:
                yield False, " ".join(group)
                continue
            items = (item for sentence in group for item in SILENT.match(sentence)[1].split("; "))
            yield from ((True, f"{item[0].upper()}{item[1:]}.") for item in items)


def _section(cls: type, title: str) -> str:
    """Return a section of a class's own docstring, "" where it has none."""
    sections = re.split(r"^(\w+)\n-+\n", inspect.cleandoc(cls.__doc__ or ""), flags=re.MULTILINE)
    return dict(zip(sections[1::2], sections[2::2], strict=True)).get(title, "").strip()


def _described(cls: type) -> Iterator[tuple[str, str, str]]:
    """Yield each parameter of a class's docstring with its values and its meaning."""
    for entry in re.split(r"\n(?=\S)", _section(cls, "Parameters")):
        head, _, meaning = entry.partition("\n")
        keys, colon, values = head.partition(" : ")
        for key in keys.split(", ") if colon else ():
            yield key, values.split(", default")[0], " ".join(meaning.split())


# the other pages


def measures() -> str:
    """A row a measure: how it is written, what it is, its definition's first line."""
    forms = {"required": "{0}@k", "optional": "{0}, {0}@k", "none": "{0}"}
    rows = (
        [code(forms[m.cutoff_rule].format(m.name)), code(f"lb.{m!r}"), m.description]
        for m in MEASURES.values()
    )
    return table(["written", "in Python", "what it is"], rows)


def conventions() -> str:
    """A row a convention: what its tool is, and the rules that differ from `standard`."""
    rows = (
        [code(each.name), each.source, _differs(each), ", ".join(_data_sets_of(each.name))]
        for each in CONVENTIONS.values()
    )
    return table(["convention", "whose", "what differs from `standard`", "data sets"], rows)


def computed() -> str:
    """A row a form of a measure, a column a convention: whose number is printed there."""
    official = {"letor3": ["p@k", "map", "ndcg@k"]}
    official |= dict.fromkeys(("letor4", "mslr"), [*official["letor3"], "mean-ndcg"])

    def cell(each: Convention, form: str) -> str:
        own = each.apart(form.replace("@k", "@1"))
        if own is None:
            return "–"
        apart = ", ".join(code(f"{rule}={value}") for rule, value in own.items())
        named = each.measures or form in official.get(each.name, ())
        return ("library's" if named else "ours") + (f": {apart}" if apart else "")

    kinds = {"required": ["@k"], "optional": ["", "@k"], "none": [""]}
    forms = [m.name + cut for m in MEASURES.values() for cut in kinds[m.cutoff_rule]]
    rows = ([code(form), *(cell(each, form) for each in CONVENTIONS.values())] for form in forms)
    return table(["measure", *map(code, CONVENTIONS)], list(rows))


def rules() -> str:
    """A row a value of a rule of a convention, in words."""
    rows = [
        [code(f"{rule}={value}"), words]
        for rule, values in RULES.items()
        for value, words in values.items()
    ]
    tables = [code("gain=0/1/3"), "The gains of the labels 0, 1, ..., also not whole: 0/0.5/2"]
    integers = ([code(f"{rule}=2"), what.capitalize()] for rule, what in INTEGERS.items())
    return table(["rule", "what it says"], [*rows, tables, *integers])


def _differs(each: Convention) -> str:
    own = {rule: getattr(each, rule) for rule in RULES}
    standard = CONVENTIONS["standard"]
    said = [code(f"{r}={value}") for r, value in own.items() if value != getattr(standard, r)]
    return ", ".join(said) or "–"


def _data_sets_of(convention: str) -> list[str]:
    return [entry.name for entry in CATALOG.values() if entry.convention == convention]


def data_sets() -> str:
    """A row a data set: what it is, where it is described, under what terms."""
    rows = (
        [
            code(entry.name),
            f"[{entry.title}]({entry.page})" if entry.page else entry.title,
            code(entry.places[0].format(variant=entry.variants[0] if entry.variants else "")),
            entry.terms,
        ]
        for entry in CATALOG.values()
    )
    return table(["name", "what it is", "folder under `data/`", "terms"], rows)


def features() -> str:
    """A row a transformation: what it is, and what it looks at."""
    rows = (
        [
            code(name),
            each.formula,
            "the query" if each.by_query else "the training part" if fields(each) else "the value",
        ]
        for name, each in TRANSFORMATIONS.items()
    )
    return table(["name", "x becomes", "it looks at"], rows)


def auto_features() -> str:
    """A row for each thing that `auto` does where features are on scales of their own."""
    done: dict[str, list[str]] = {}
    for name in names():
        done.setdefault(ranker(name)().auto_features, []).append(_linked(name))
    rows = ([code(each), ", ".join(algos)] for each, algos in done.items())
    return table(["auto does", "for"], rows)


def chosen() -> str:
    """A row for the rankers that validation chooses the same for: what, and what the paper did."""
    rows: dict[tuple[str, str], list[str]] = {}
    for page, head in heads().items():
        for name in losses_of(page):
            cls = ranker(name)
            if (cls.published or cls.grid) and "reference" not in cls.families:
                cells = _chosen(name), _as_published(name, head[TUNED])
                rows.setdefault(cells, []).append(name)
    return table(
        ["algorithm", "validation chooses", "what the paper did"],
        ([", ".join(map(_linked, algos)), *cells] for cells, algos in rows.items()),
    )


def _chosen(name: str) -> str:
    """What validation chooses of a ranker, and from what."""
    cls = ranker(name)
    grids = [
        f"{code(cls.spelled.get(key, key))} from {', '.join(map(_short, values))}"
        for key, values in cls.grid.items()
    ]
    lengths = [f"{key}, up to {getattr(cls(), key)}" for key in LENGTHS if _stops(cls, key)]
    return "; ".join([*grids, *lengths]) or "nothing"


def ranges() -> str:
    """A row for the rankers of the same ranges: what `--protocol tuned` draws of them."""
    rows: dict[str, list[str]] = {}
    for page in heads():
        for name in losses_of(page):
            each = ranker(name).ranges.items()
            drawn = [f"{code(key)}: {_range(of)}" for key, of in each]
            rows.setdefault("; ".join(drawn), []).append(name)
    rows.pop("", None)
    return table(
        ["algorithm", "drawn from"],
        ([", ".join(map(_linked, algos)), drawn] for drawn, algos in rows.items()),
    )


def _range(of: Between | tuple) -> str:
    if not isinstance(of, Between):
        return ", ".join(map(_short, of))
    beside = f" where {of.beside[0]} is {of.beside[1]}" if of.beside else ""
    return f"{of.low:g} to {of.high:g}{', logarithmic' * of.log}{beside}"


def _stops(cls: type[Ranker], length: str) -> bool:
    """Return whether validation chooses a length of training: whether a small fit measures it."""
    if not hasattr(cls, length):
        return False
    i = np.arange(40)
    queries = query_set(np.random.default_rng(0).random((40, 3)), i % 3, i // 10)
    validation = Validation(queries, parse("ndcg"), CONVENTIONS["standard"])
    return bool(cls(**{length: 3}).fit_sets(queries, validation).learned.curve)


def _short(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else text(value)


def _as_published(name: str, tuned: str) -> str:
    """What a paper chose, and the settings of `--protocol published`."""
    fixed = ranker(name).as_published.items()
    settings = ", ".join(code(f"{key}={_short(value)}") for key, value in fixed)
    return f"{tuned}: {settings}" if settings else tuned


def papers() -> str:
    """A row a paper: what can be rerun of it."""
    rows = (
        [code(name), paper(name).reference, ", ".join(paper(name).parts), len(paper(name).claims)]
        for name in PAPERS
    )
    return table(["name", "paper", "parts", "claims"], rows)


def evidence() -> str:
    """A row a part of a paper: how it is made again, and how long that takes."""
    rows = (
        [code(f"make {name}/{each.name}"), each.title,
         "sets at hand" if each.data or each.other_data else "none", each.takes]
        for name in PAPERS
        for each in paper(name).parts.values()
    )  # fmt: skip
    return table(["command", "makes", "data", "time"], rows)


def speed() -> str:
    """A row a comparison with one other library, from docs/speed.csv."""
    timed: dict[str, dict[str, float]] = {}
    with Path(__file__).with_name("speed.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            timed.setdefault(row["what"], {})[row["who"]] = float(row["seconds"])
    pairs = {what: list(took.items()) for what, took in timed.items() if len(took) == 2}
    rows = (
        [what, _time(ours), peer, _time(theirs), f"{theirs / ours:.{int(theirs < 10 * ours)}f}"]
        for what, ((_, ours), (peer, theirs)) in pairs.items()
        if not what.startswith(("reading", "20 measures"))  # in the pictures
    )
    return table(["what", "letorbench", "other library", "its time", "times as long"], rows)


def _time(seconds: float) -> str:
    return f"{seconds:.3g} s" if seconds >= 1 else f"{1e3 * seconds:.3g} ms"


def api() -> str:
    """The API reference: a page a function and a class, a row a value."""
    import letorbench as lb

    values = {name: getattr(lb, name) for name in sorted(dir(lb), key=str.lower)}
    classes = {name: value for name, value in values.items() if inspect.isclass(value)}
    called = {ranker(name): name for name in names()}
    classed = {called[value]: name for name, value in classes.items() if value in called}
    groups = {
        "Functions": [name for name, value in values.items() if inspect.isfunction(value)],
        **{
            f"Rankers, {title[0].lower()}{title[1:]}": [classed[name] for name in members]
            for title, members in by_family(classed).items()
        },
        "Other classes": [n for n, value in classes.items() if value not in called],
    }
    sections = (
        f"## {title}\n\n```{{eval-rst}}\n.. autosummary::\n   :toctree: api\n   :nosignatures:\n\n"
        + "".join(f"   letorbench.{name}\n" for name in members)
        + "```\n"
        for title, members in groups.items()
    )
    listed = {name for members in groups.values() for name in members}
    rest = ([code(f"lb.{name}"), _what(values[name])] for name in values if name not in listed)
    return "\n".join(sections) + "\n## Values\n\n" + table(["name", "what it is"], rest)


def _what(value: object) -> str:
    if isinstance(value, Mapping):
        return "a mapping with the keys " + ", ".join(map(code, value))
    return getattr(value, "description", None) or inspect.getdoc(value).splitlines()[0]


#: a marker's first word -> what writes its text, from the words that follow
GENERATED: dict[str, Callable[..., str]] = {
    "algorithms": algorithms,
    "variants": variants,
    "numbers": page_numbers,
    "parameters": parameters,
    "silences": silences,
    "measures": measures,
    "conventions": conventions,
    "computed": computed,
    "rules": rules,
    "data-sets": data_sets,
    "features": features,
    "auto-features": auto_features,
    "chosen": chosen,
    "ranges": ranges,
    "papers": papers,
    "evidence": evidence,
    "speed": speed,
    "api": api,
}
