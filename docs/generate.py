"""The tables that pages take from the registries; docs/check.py puts them between markers."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields

import click
import numpy as np

from letorbench.cli import cli
from letorbench.conventions import CONVENTIONS, Convention
from letorbench.datasets.catalog import CATALOG
from letorbench.experiment.settings import describe, parameters
from letorbench.features import TRANSFORMATIONS
from letorbench.losses import LOSSES, choices
from letorbench.measures import MEASURES
from letorbench.papers import PAPERS, paper
from letorbench.rankers import names, ranker

Row = Sequence[object]


def table(header: Row, rows: Iterable[Row]) -> str:
    """A Markdown table; a bar within a cell is escaped."""

    def line(cells: Row) -> str:
        return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |\n"

    return line(header) + line(["---"] * len(header)) + "".join(map(line, rows))


def code(text: object) -> str:
    return f"`{text}`"


def algorithms() -> str:
    """A row an algorithm."""
    rows = ([_link(name), ranker(name).title, ranker(name).paper] for name in names())
    return table(["name", "what it is", "paper"], rows)


def _link(name: str) -> str:
    return f"[`{name}`](algorithms.md#{name.replace('@', '')})"


def algorithm_details() -> str:
    """A section an algorithm: its class, paper, formula, parameters and grid."""
    return "\n".join(map(_algorithm, names()))


def _algorithm(name: str) -> str:
    cls = ranker(name)
    lines = [
        f"### {name}\n",
        f"{cls.title}. In Python: `lb.{cls.__name__}`.\n",
        f"Paper: {cls.paper}\n",
        f"```text\n{cls.formula}\n```\n",
    ]
    if cls.order_matters:
        lines.append(f"The order of a query's documents matters: {cls.order_matters}.\n")
    if cls.feature_order_matters:
        lines.append(f"The order of the features matters: {cls.feature_order_matters}.\n")
    if cls.needs:
        lines.append(f"It needs the package `{cls.needs}`: `pip install '{cls.extra}'`.\n")
    defaults = cls().get_params()
    rows = [
        [
            code(cls.spelled.get(key, key)),
            describe(kind),
            code(defaults[key]),
            ", ".join(map(str, cls.grid[key])) if key in cls.grid else "",
        ]
        for key, kind in parameters(cls).items()
    ]
    if rows:
        lines.append(table(["parameter", "type", "default", "validation chooses from"], rows))
    return "\n".join(lines)


def losses() -> str:
    """A row a family of losses."""
    rows = (
        [code(name), code(each.formula), choices(each)] for name, each in sorted(LOSSES.items())
    )
    return table(["loss", "value of a query", "parameters"], rows)


def measures() -> str:
    """A row a measure: how it is written, what it is, its definition's first line."""
    forms = {"required": "{0}@k", "optional": "{0}, {0}@k", "none": "{0}"}
    rows = (
        [code(forms[m.cutoff_rule].format(m.name)), code(f"lb.{m!r}"), m.description]
        for m in MEASURES.values()
    )
    return table(["written", "in Python", "what it is"], rows)


def conventions() -> str:
    """A column a convention."""
    kinds = list(CONVENTIONS.values())
    facts: list[tuple[str, Callable[[Convention], object]]] = [
        ("data sets", lambda c: ", ".join(_data_sets_of(c.name)) or "on request"),
        ("gain of label r", lambda c: "2^r − 1"),
        ("discounts of ranks 1 to 4", _discounts),
        ("query without a relevant document", lambda c: "0, stays in the mean"),
        ("NDCG@k, list shorter than k", lambda c: "of the whole list" if c.short_ndcg else "0"),
        ("P@k, list shorter than k", lambda c: "divides by k" if c.short_p else "0"),
        ("relevant for P, MAP, MRR", lambda c: f"r ≥ {c.relevant}"),
        ("ties", lambda c: "file order"),
        ("cut-offs its tool prints", lambda c: f"1 to {c.cutoffs}"),
        ("prints MeanNDCG", lambda c: "yes" if c.mean_ndcg else "no"),
    ]
    rows = ([what, *map(of, kinds)] for what, of in facts)
    return table(["", *(code(c.name) for c in kinds)], rows)


def _data_sets_of(convention: str) -> list[str]:
    return [entry.name for entry in CATALOG.values() if entry.convention == convention]


def _discounts(convention: Convention) -> str:
    return ", ".join(f"{value:.3g}" for value in convention.discount(np.arange(1, 5)))


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
        done.setdefault(ranker(name)().auto_features, []).append(_link(name))
    rows = ([code(each), ", ".join(algos)] for each, algos in done.items())
    return table(["auto does", "for"], rows)


def papers() -> str:
    """A row a paper: what can be rerun of it."""
    rows = (
        [code(name), paper(name).reference, ", ".join(paper(name).parts), len(paper(name).claims)]
        for name in PAPERS
    )
    return table(["name", "paper", "parts", "claims"], rows)


def claims() -> str:
    """A table of claims a paper."""
    return "\n".join(
        f"### {name}\n\n"
        + table(
            ["claim", "part", "data", "nature", "kind", "what the paper says"],
            ([code(c.id), c.part, c.dataset, c.nature, c.kind, c.text] for c in paper(name).claims),
        )
        for name in PAPERS
    )


def command_help() -> str:
    """Every command's `--help`."""
    return "\n".join(_help(cli, "letorbench"))


def _help(command: click.Command, path: str) -> list[str]:
    settings = {"help_option_names": ["-h", "--help"], "terminal_width": 90}
    context = click.Context(command, info_name=path, **settings)
    sections = [f"## {path}\n\n```text\n{command.get_help(context)}\n```\n"]
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            sections += _help(command.get_command(context, name), f"{path} {name}")
    return sections


def api() -> str:
    """The API reference: a page a function and a class, a row a value."""
    import letorbench as lb

    values = {name: getattr(lb, name) for name in sorted(dir(lb), key=str.lower)}
    classes = {name: value for name, value in values.items() if inspect.isclass(value)}
    groups = {
        "Functions": [name for name, value in values.items() if inspect.isfunction(value)],
        "Rankers": [name for name, value in classes.items() if issubclass(value, lb.Ranker)],
        "Other classes": [n for n, value in classes.items() if not issubclass(value, lb.Ranker)],
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


GENERATED: dict[str, Callable[[], str]] = {
    "algorithms": algorithms,
    "algorithm-details": algorithm_details,
    "losses": losses,
    "measures": measures,
    "conventions": conventions,
    "data-sets": data_sets,
    "features": features,
    "auto-features": auto_features,
    "papers": papers,
    "claims": claims,
    "commands": command_help,
    "api": api,
}
