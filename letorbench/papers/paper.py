"""A paper as a value: its claims, its figures and tables, and how they are rerun and judged.

`claims.toml` in the paper's folder says all that needs no code: the methods with their settings,
the figures and tables that are runs of these, and the claims. A part that is a theorem, a timing or
data of its own is a function in the folder's module, in PARTS by its name. It gives what it found,
or just numbers by name.
"""

from __future__ import annotations

import importlib
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

from letorbench.analysis.published import published
from letorbench.analysis.tables import write_table
from letorbench.choices import require_choice
from letorbench.papers import claims, rules
from letorbench.papers.claims import Claim
from letorbench.papers.runs import ByMethod, Measured, Study, Values, Variant, generated

#: how validation chooses where a part does not say: the plain best by NDCG@10, as papers do
PLAIN = {"plain best by NDCG@10": ("ndcg@10", "published")}


@dataclass(frozen=True)
class Part:
    """A figure, a table or a theorem of a paper.

    name, title: what it is called on the command line, and in the paper. form: how runs of methods
    are shown: "curves", "bars", "table", "specification" or "printed"; or "module", a function of
    the paper's own. data, beside: the paper's data sets, and others that stand beside them, apart.
    methods, measures: what is run, and measured. convention: what the values are measured by;
    `auto` for the data set's own. repeats: trainings of what draws.

    protocols: ways in which validation chooses, name -> (measure, protocol): where they give
    different answers the answer depends on them. published: those of `--setting published`.

    optional: whether it runs only where it is named, or with `--full`. takes: how long it takes,
    for people. axes, upper, lower: of a specification, what is left open, and the methods that are
    compared.
    """

    name: str
    title: str
    form: str = "module"
    data: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    measures: tuple[str, ...] = ()
    convention: str = "auto"
    protocols: Mapping[str, tuple[str, str]] = field(default_factory=lambda: PLAIN)
    published: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    repeats: int = 1
    optional: bool = False
    takes: str = ""
    axes: Mapping[str, Any] = field(default_factory=dict)
    upper: Mapping[str, Any] = field(default_factory=dict)
    lower: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Found:
    """What a part's run gave: values and numbers that claims are judged by, and files.

    values: by protocol. differs: from the paper's setting.
    """

    values: Mapping[str, ByMethod] = field(default_factory=dict)
    numbers: Mapping[str, Measured] = field(default_factory=dict)
    files: tuple[Path, ...] = ()
    differs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Paper:
    """A paper's experiments and claims, as its claims.toml has them.

    printed: the numbers of its tables by `label measure`. differs, published_differs: what differs
    from its setting in ours, and in `--setting published`. folder: the paper's in the package.
    """

    name: str
    reference: str
    claims: tuple[Claim, ...]
    parts: Mapping[str, Part]
    methods: Mapping[str, Variant]
    code: Mapping[str, Callable[[Study], Found | Mapping[str, Measured]]]
    differs: tuple[str, ...] = ()
    published_differs: tuple[str, ...] = ()
    slips: tuple[str, ...] = ()
    printed: Mapping[str, float] = field(default_factory=dict)
    folder: str = ""

    @property
    def means(self) -> dict[tuple[str, str, str], float]:
        """(data set, method, measure) -> what its text prints of a method's mean."""
        tests = [test for claim in self.claims for test in claim.tests if test.kind == "equal"]
        return {
            (dataset, test.number, measure): test.printed
            for test in tests
            for dataset, measure in product(test.data, test.measures)
            if test.printed is not None
        }


def load(name: str, folder: str) -> Paper:
    """Read a paper from its folder in the package."""
    text = (Path(__file__).parent / folder / "claims.toml").read_text(encoding="utf-8")
    facts = tomllib.loads(text)
    source = facts.get("source", "")
    code: Any = importlib.import_module(f"letorbench.papers.{folder}")
    printed = {
        f"{row.algorithm} {row.measure}": row.value for row in published() if row.source == source
    }
    found = facts.get("method", {}).items()
    methods = {label: Variant(label, **{"row": label, **each}) for label, each in found}
    parts = {}
    for key, each in facts["part"].items():
        made = claims.with_tuples(each)
        table = made.pop("all_of", None)  # the methods of a table need not be listed twice
        if table is not None:
            made["methods"] = tuple(label for label, m in methods.items() if m.table == table)
        parts[key] = Part(key, **made)
    told = {key: tuple(facts.get(key, ())) for key in ("differs", "published_differs", "slips")}
    return Paper(
        name, facts["reference"], claims.claims_of(name, facts, printed), parts, methods,
        code.PARTS, **told, printed=printed, folder=folder,
    )  # fmt: skip


@dataclass(frozen=True)
class Reproduction:
    """What came of a paper's claims, in their order, and the files that were written.

    elsewhere: outcomes on other data than the claims', which are never mixed with those.
    """

    paper: Paper
    outcomes: tuple[rules.Outcome, ...]
    elsewhere: tuple[rules.Outcome, ...]
    files: tuple[Path, ...]
    differs: tuple[str, ...]


def reproduce(
    paper: Paper, study: Study, parts: Sequence[str] = (), calibrate: bool = False
) -> Reproduction:
    """Run the parts (all but optional ones where none is named), judge their claims, write files.

    Outcomes of claims whose part is not run now are kept; of a part that never was, the answer is
    "not run". `calibrate` adds how often the rules give which answer on these data. UsageError for
    a part that the paper does not have.
    """
    from letorbench.papers import calibration, records

    chosen = [require_choice(part, list(paper.parts), f"part of {paper.name}") for part in parts]
    chosen = chosen or [n for n, part in paper.parts.items() if study.full or not part.optional]
    folder = study.folder(paper.name)
    kept = records.read_outcomes(folder, paper)
    (other,) = (each for each in ("default", "published") if each != study.setting)
    beside = records.read_outcomes(study.folder(paper.name, other), paper)
    told = paper.published_differs if study.setting == "published" else ()
    differs, files = list(told or paper.differs), list[Path]()
    for name in chosen:
        study.say(f"{paper.name}: {name}")
        found = run_part(paper, paper.parts[name], study)
        files += found.files
        differs += found.differs
        mine = [claim for claim in paper.claims if claim.part == name]
        if calibrate:
            first = next(iter(found.values.values()), {})
            files += calibration.write(folder / f"calibration-{name}", mine, first)
        for outcome in (*judged(mine, found), *elsewhere(mine, found)):
            kept[outcome.claim.id, outcome.place] = outcome
    order = {claim.id: i for i, claim in enumerate(paper.claims)}
    kept = {key: kept[key] for key in sorted(kept, key=lambda key: (order[key[0]], key[1]))}
    files += records.write_outcomes(folder, paper, kept)
    kept = {(c.id, ""): rules.Outcome(c, rules.NOT_RUN) for c in paper.claims} | kept
    own = [
        rules.over_settings({study.setting: outcome, other: beside.get(key, outcome)})
        for key, outcome in kept.items()
    ]
    findings = [o for o in own if not o.place and o.claim.nature == "finding"]
    rest = [o for o in own if not o.place and o.claim.nature != "finding"]
    differs = list(dict.fromkeys(differs))
    text = [paper.reference, "", "What differs from the paper's setting:"]
    text += [f"- {line}" for line in differs]
    files.append(records.write_file(folder / "setting.txt", "\n".join(text) + "\n"))
    return Reproduction(
        paper, (*rules.over_family(findings), *rest), tuple(o for o in own if o.place),
        tuple(dict.fromkeys(files)), tuple(differs),
    )  # fmt: skip


def run_part(paper: Paper, part: Part, study: Study) -> Found:
    """Run one part on the data at hand."""
    from letorbench.papers import printed, specification, views

    folder = study.folder(paper.name)
    if part.form == "module":
        given = paper.code[part.name](study)
        if isinstance(given, Found):
            return given
        rows = [[name, f"{each.value:.6g}"] for name, each in given.items()]
        table = write_table(folder / part.name, part.title, ["what", "value"], rows)
        return Found(numbers=given, files=table)
    if part.form == "specification":
        return specification.run(paper.name, part, study)
    here = [name for name in (*part.data, *part.beside) if study.has(name)]
    methods = {name: list(part.methods) for name in here}
    if part.form == "printed":
        methods = {name: printed.compared(paper, part, name) for name in here}
    values: dict[str, dict[str, Mapping[str, Values]]] = {}
    published = study.setting == "published" and part.published
    for protocol, (select, kind) in (published or part.protocols).items():
        values[protocol] = {
            name: study.runs(
                name, [paper.methods[each] for each in methods[name]], part.measures,
                part.convention, part.repeats, select, kind,
            )
            for name in here
        }  # fmt: skip
    files = (printed if part.form == "printed" else views).files(paper, part, values, folder)
    absent = [name for name in part.data if name not in here]
    differs = (f"{part.title}: without {', '.join(absent)}, not at hand",) if absent else ()
    return Found(values, {}, tuple(files), differs)


def judged(of_part: Iterable[Claim], found: Found) -> list[rules.Outcome]:
    """The outcome of each claim: on its own data, by every protocol."""
    ways = (found.values or {"": {}}).items()
    return [
        rules.over_settings({name: rules.judge(claim, own, found.numbers) for name, own in ways})
        for claim in of_part
    ]


def elsewhere(of_part: Iterable[Claim], found: Found) -> list[rules.Outcome]:
    """The outcomes on other data than the claims'; made-up data are evidence of nothing."""
    outcomes, values = [], next(iter(found.values.values()), {})
    for claim, name in product(of_part, values):
        moved = None if name in claim.data or generated(name) else claim.on(name)
        if moved is not None:
            outcome = rules.judge(moved, values, {})
            outcomes.append(replace(outcome, claim=claim, place=name))
    return [each for each in outcomes if each.answer != rules.NO_DATA]
