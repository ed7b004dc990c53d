"""A paper as a value: its claims, its figures and tables, and how they are rerun.

`claims.toml` in the paper's folder has all that needs no code: methods with their settings, figures
and tables that show runs of them, and claims: quoted sentences, each with what is compared. A part
that is a theorem, a timing or generated data is a function of the folder's module, in PARTS.
"""

from __future__ import annotations

import importlib
import itertools
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from letorbench.analysis.published import published
from letorbench.papers.runs import ByMethod, Context, Estimate, Method

#: comparisons of methods, and numbers
COMPARISONS = ("above", "best", "one-sided", "not below", "alike")
NUMBERS = ("equal", "at least", "at most")
#: of claims: an experiment's outcome; a theorem checked on random problems; arithmetic on a small
#: example; a description of the data
NATURES = ("finding", "theory", "worked example", "data")


@dataclass(frozen=True)
class Point:
    """One comparison: a method against another on a data set, by a measure."""

    dataset: str
    upper: str
    lower: str
    measure: str
    #: in the paper, as a fraction of the lower method's number; None if it prints none
    lead: float | None = None


@dataclass(frozen=True)
class Test:
    """One part of a claim, which has one estimand."""

    __test__ = False  # for pytest, which collects classes of this name
    #: above: the mean relative lead is above zero; best: the lead over the best of the others is;
    #: one-sided: more gains than losses larger than `beyond`; not below, alike: the mean lead is no
    #: loss, or no difference; the others: a number
    kind: str
    #: its name, if the claim has several parts
    part: str = ""
    data: tuple[str, ...] = ()
    #: with cut-offs; `ndcg@1..10` stands for ten
    measures: tuple[str, ...] = ()
    #: labels of methods, each of `upper` compared with each of `lower`; or the pairs themselves
    upper: tuple[str, ...] = ()
    lower: tuple[str, ...] = ()
    pairs: tuple[tuple[str, str], ...] = ()
    #: the printed lead, as a fraction of the lower method's number
    lead: float | None = None
    #: the numbers of the paper's tables by `label measure`
    table: Mapping[str, float] = field(default_factory=dict)
    beyond: float = 0.0
    #: the name of a number that the part measures, or the label of a method
    number: str = ""
    #: the paper's number, and half a unit of its last digit
    printed: float | None = None
    half: float = 0.0
    #: what is wrong with the printed number of a worked example that still agrees
    slip: str = ""

    @property
    def compares(self) -> bool:
        """Whether two methods are compared."""
        return self.kind in COMPARISONS

    @property
    def methods(self) -> tuple[str, ...]:
        """The labels of its methods."""
        labels = (*self.upper, *self.lower, *itertools.chain(*self.pairs), self.number)
        return tuple(dict.fromkeys(filter(None, labels)))

    def points(self) -> Iterator[Point]:
        """Every comparison that the sentence covers."""
        pairs = self.pairs or [
            (u, w) for u, w in itertools.product(self.upper, self.lower) if u != w
        ]
        every = itertools.product(self.data, pairs, self.measures)
        for dataset, (upper, lower), measure in every:
            above, below = (self.table.get(f"{label} {measure}") for label in (upper, lower))
            lead = above / below - 1.0 if above and below else None
            yield Point(dataset, upper, lower, measure, lead if self.lead is None else self.lead)


@dataclass(frozen=True)
class Claim:
    """One sentence of a paper, fixed before anything is run. It holds if all its tests do."""

    paper: str
    id: str
    #: the figure, table or theorem whose run tests it
    part: str
    #: the sentence, and its section and page
    quote: str
    where: str
    tests: tuple[Test, ...]
    #: in plain words; the quotation if there are none
    says: str
    nature: str = "finding"
    #: what is judged instead of a slip of the paper
    meant: str = ""
    #: whether it is made in the abstract or the conclusions
    headline: bool = False
    #: whether other data can test it as well, as it is about methods; or the names of these data
    general: bool | tuple[str, ...] = False

    @property
    def data(self) -> tuple[str, ...]:
        """All data sets that it covers."""
        return tuple(dict.fromkeys(name for test in self.tests for name in test.data))

    @property
    def methods(self) -> tuple[str, ...]:
        """The labels of all methods that it is about."""
        return tuple(dict.fromkeys(label for test in self.tests for label in test.methods))

    def on(self, dataset: str) -> Claim | None:
        """The same of another data set; None where the sentence says nothing of other data."""
        meant = self.general if isinstance(self.general, bool) else dataset in self.general
        if not meant or any(not t.compares or len(t.data) != 1 for t in self.tests):
            return None
        return replace(self, tests=tuple(replace(t, data=(dataset,)) for t in self.tests))


def claims_of(
    paper: str, facts: Mapping[str, Any], printed: Mapping[str, float]
) -> tuple[Claim, ...]:
    """The claims of a claims.toml, with the numbers of the paper's tables by `label measure`.

    A claim has what `claims` of its part says, where it does not say it itself. What is no field of
    a claim is of its tests, which also have the part's data and measures or the file's data. A
    number is named as its claim by default.
    """
    of_claim = {each.name for each in fields(Claim)}
    claims = []
    for each in facts.get("claim", ()):
        part = {"data": facts.get("data", ())} | facts.get("part", {}).get(each["part"], {})
        each = part.get("claims", {}) | each
        each = {"says": each["quote"], "number": each["id"]} | each
        own = {key: each.pop(key) for key in of_claim & each.keys()}
        alone = each.pop("test", [{}])
        tests = tuple(_test(each | test, printed, part) for test in alone)
        claims.append(Claim(paper=paper, tests=tests, **own))
    return tuple(claims)


def _test(facts: Mapping[str, Any], printed: Mapping[str, float], part: Mapping[str, Any]) -> Test:
    if facts.get("kind") in COMPARISONS:
        shared = {key: part[key] for key in ("data", "measures") if key in part}
        facts = {**shared, **facts, "number": ""}
    made = with_tuples(facts)
    made["pairs"] = tuple(tuple(pair) for pair in made.get("pairs", ()))
    test = Test(**made, table=printed)
    if test.kind not in COMPARISONS + NUMBERS:
        raise ValueError(f"claims.toml: found the kind {test.kind!r}")
    if not test.compares and test.printed is None:
        raise ValueError(f"claims.toml: {test.number}: a number without what is printed")
    return test


def with_tuples(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Facts of a test or a part, with a tuple for each list, and `ndcg@1..10` as ten measures."""
    made = {key: tuple(each) if isinstance(each, list) else each for key, each in facts.items()}
    measures: list[str] = []
    for measure in made.get("measures", ()):
        name, _, span = measure.partition("@")
        first, _, last = span.partition("..")
        measures += [f"{name}@{k}" for k in range(int(first), int(last) + 1)] if last else [measure]
    return made | {"measures": tuple(measures)}


#: how validation chooses by default: the plain best by NDCG@10, as papers do
PLAIN = {"plain best by NDCG@10": ("ndcg@10", "published")}


@dataclass(frozen=True)
class Part:
    """A figure, a table or a theorem of a paper."""

    #: on the command line, and in the paper
    name: str
    title: str
    #: how runs of methods are shown: "curves", "bars" or "table"; or "module" for a function of the
    #: paper's module
    form: str = "module"
    #: the paper's data sets, and others, whose answers are kept apart
    data: tuple[str, ...] = ()
    other_data: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    measures: tuple[str, ...] = ()
    #: `auto` for that of each data set
    convention: str = "auto"
    #: ways in which validation chooses, name -> (measure, protocol); and for `--setting published`
    protocols: Mapping[str, tuple[str, str]] = field(default_factory=lambda: PLAIN)
    published: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    #: of rankers that draw random numbers
    repeats: int = 1
    #: how many new draws of the folds show what the training samples add to an interval
    resplits: int = 5
    #: how long it takes, for people
    takes: str = ""
    #: what the paper leaves open: choice -> setting, ours first -> settings of the rankers that
    #: have them, `convention` and `select`; claims are judged by every combination, a specification
    axes: Mapping[str, Any] = field(default_factory=dict)
    #: for a function of the paper's module
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class PartResult:
    """The result of a part's run: values and numbers, which claims are judged by."""

    #: by specification, ours first
    values: Mapping[str, ByMethod] = field(default_factory=dict)
    numbers: Mapping[str, Estimate] = field(default_factory=dict)
    files: tuple[Path, ...] = ()
    #: from the paper's setting
    differs: tuple[str, ...] = ()
    #: what each specification takes for every choice
    choices: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    #: of ours, on new draws of the folds
    redrawn: Sequence[ByMethod] = ()


@dataclass(frozen=True)
class Paper:
    """A paper's experiments and claims, as its claims.toml has them."""

    name: str
    title: str
    reference: str
    claims: tuple[Claim, ...]
    parts: Mapping[str, Part]
    methods: Mapping[str, Method]
    code: Mapping[str, Callable[[Context], PartResult | Mapping[str, Estimate]]]
    #: differences of our setting from the paper's, and of `--setting published`
    differs: tuple[str, ...] = ()
    published_differs: tuple[str, ...] = ()
    slips: tuple[str, ...] = ()
    #: year, url and doi, where they are known
    cite: Mapping[str, Any] = field(default_factory=dict)
    #: the numbers of its tables by `label measure`
    printed: Mapping[str, float] = field(default_factory=dict)
    folder: str = ""
    #: the result of the rerun; its fields `[id]` or `[id, part]` are our numbers
    summary: str = ""


def _of_table(
    number: str, row: Mapping[str, Any], column: Mapping[str, Any] = {"": {}},
    label: str = "{key}", settings: Mapping[str, Any] = {}, algo: str = "",
) -> Iterator[Method]:  # fmt: skip
    """The methods of a paper's table: each of its rows with each of its columns."""
    default = {"algo": algo, "suffix": "", "published": {}, **settings}
    for (key, of_row), (name, of_column) in itertools.product(row.items(), column.items()):
        facts = {"row": key, **default, **of_row, **of_column}
        at, ranker, suffix, published = map(facts.pop, ("row", "algo", "suffix", "published"))
        made = label.format(key=key, row=at, column=name, suffix=suffix)
        yield Method(made, ranker or made, facts, published, at, name, number)


def check_axes(part: Part, methods: Sequence[Method]) -> None:
    """Raise ValueError for a setting of an axis that none of the methods has."""
    known = {"convention", "select"} | {key for each in methods for key in each.known}
    for choice, axis in part.axes.items() if part.form != "module" else ():
        for setting, made in axis.items():
            if unknown := [key for key in made if key not in known]:
                raise ValueError(
                    f"claims.toml: {part.name}, {choice}, {setting}: found {unknown[0]!r}, "
                    "expected a setting of one of its methods, convention or select"
                )


def load(name: str) -> Paper:
    """Read a paper from its folder in the package."""
    folder = name.replace("-", "_")
    facts = tomllib.loads((Path(__file__).parent / folder / "claims.toml").read_text("utf-8"))
    code: Any = importlib.import_module(f"letorbench.papers.{folder}")
    of_source = (row for row in published() if row.source == facts.get("source", ""))
    printed = {f"{row.algorithm} {row.measure}": row.value for row in of_source}
    methods: dict[str, Method] = {}
    for number, table in facts.get("table", {}).items():
        methods |= {each.label: each for each in _of_table(number, **table)}
    parts, shared = {}, facts.pop("parts", {})  # shared by those that run methods
    facts["part"] = {k: (shared if "form" in p else {}) | p for k, p in facts["part"].items()}
    for key, each in facts["part"].items():
        made = with_tuples({k: v for k, v in each.items() if k != "claims"})
        if table := made.pop("all_of", ""):
            made["methods"] = tuple(label for label, m in methods.items() if m.table == table)
        parts[key] = Part(key, **made)
        check_axes(parts[key], [methods[label] for label in parts[key].methods])
    facts.setdefault("title", facts["reference"])
    attributes = {each.name: facts[each.name] for each in fields(Paper) if each.name in facts}
    attributes |= {key: tuple(each) for key, each in attributes.items() if isinstance(each, list)}
    return Paper(
        name, claims=claims_of(name, facts, printed), parts=parts, methods=methods, code=code.PARTS,
        printed=printed, folder=folder, **attributes,
    )  # fmt: skip
