"""What a paper claims, as data: `claims.toml` in the paper's folder, read into values.

A claim is one sentence of the paper, which is quoted. It holds one test or more; a test names what
is compared, on which data, by which measures, and what the paper prints. `letorbench.papers.rules`
judges it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

#: comparisons of methods, and numbers
COMPARISONS = ("above", "best", "one-sided", "not below", "alike")
NUMBERS = ("equal", "at least", "at most")
#: what a claim is made of, each tallied apart: an experiment's outcome; a theorem checked on random
#: problems; arithmetic on a small example; a description of the data
NATURES = ("finding", "theory", "worked example", "data")


@dataclass(frozen=True)
class Point:
    """One comparison: a method against another on a data set, by a measure.

    lead: what the paper prints of it, as a share of the lower method's number; None without.
    """

    dataset: str
    upper: str
    lower: str
    measure: str
    lead: float | None = None


@dataclass(frozen=True)
class Test:
    """One part of what a claim's sentence says, with its one estimand.

    part: the part's name, where the sentence has several. kind: one of `COMPARISONS` or `NUMBERS`:
    above: the mean relative lead is above zero; best: that over the best of the others;
    one-sided: more gains than losses larger than `beyond`; not below, alike: the mean lead is no
    loss, or no difference; the others: a number. data, measures: the data sets and the measures
    (with cut-offs; `ndcg@1..10` stands for ten) that the sentence covers.

    upper, lower: labels of methods, each of `upper` compared with each of `lower`; pairs: the pairs
    themselves, where not all of both are compared. lead: the printed lead, as a share of the lower
    method's number. numbers: the printed numbers of methods, or of methods and measures as `label
    measure`.

    number: of a number, its name among what the part measures, or the label of a method. printed,
    half: the paper's number, and half a unit of its last printed digit. slip: what is wrong with
    the print of a worked example that agrees, or was cut and not rounded.
    """

    __test__ = False  # for pytest, which collects classes of this name
    kind: str
    part: str = ""
    data: tuple[str, ...] = ()
    measures: tuple[str, ...] = ()
    upper: tuple[str, ...] = ()
    lower: tuple[str, ...] = ()
    pairs: tuple[tuple[str, str], ...] = ()
    lead: float | None = None
    numbers: Mapping[str, float] = field(default_factory=dict)
    beyond: float = 0.0
    number: str = ""
    printed: float | None = None
    half: float = 0.0
    slip: str = ""

    @property
    def compares(self) -> bool:
        """Whether two methods are compared."""
        return self.kind in COMPARISONS

    def points(self) -> Iterator[Point]:
        """Every comparison that the sentence covers."""
        pairs = self.pairs or [
            (u, w) for u, w in itertools.product(self.upper, self.lower) if u != w
        ]
        for dataset in self.data:
            for (upper, lower), measure in itertools.product(pairs, self.measures):
                lead = self._lead(upper, lower, measure)
                yield Point(dataset, upper, lower, measure, lead)

    def _lead(self, upper: str, lower: str, measure: str) -> float | None:
        if self.lead is not None:
            return self.lead
        above, below = (
            self.numbers.get(f"{label} {measure}", self.numbers.get(label))
            for label in (upper, lower)
        )
        return above / below - 1.0 if above and below else None


@dataclass(frozen=True)
class Claim:
    """One sentence of a paper, fixed before anything is run.

    id: its name among the paper's claims. part: the figure, table or theorem whose run tests it.
    quote, where: the sentence, and its section and page. tests: the claim holds where all of them
    do. says: the claim in a reader's words; the quotation where there are none. nature: one of
    `NATURES`. meant: what is judged instead of what is printed, where the paper slips. headline:
    whether the paper stands for it. general: whether the sentence is of methods, so that other data
    than the paper's say something of it; or the data that do.
    """

    paper: str
    id: str
    part: str
    quote: str
    where: str
    tests: tuple[Test, ...]
    says: str
    nature: str = "finding"
    meant: str = ""
    headline: bool = False
    general: bool | tuple[str, ...] = False

    @property
    def data(self) -> tuple[str, ...]:
        """All data sets that it covers."""
        return tuple(dict.fromkeys(name for test in self.tests for name in test.data))

    def on(self, dataset: str) -> Claim | None:
        """The same of another data set; None where the sentence says nothing of other data."""
        meant = self.general if isinstance(self.general, bool) else dataset in self.general
        if not meant or any(not t.compares or len(t.data) != 1 for t in self.tests):
            return None
        return replace(self, tests=tuple(replace(t, data=(dataset,)) for t in self.tests))


def claims_of(
    paper: str, facts: Mapping[str, Any], printed: Mapping[str, float]
) -> tuple[Claim, ...]:
    """The claims of a claims.toml.

    The nature, the data and the measures of a claim's part, what its tests share (`test`), and the
    `data` of the whole file need not be said again, nor a number that is called as its claim.
    printed: the numbers of the paper's tables by `label measure`, which a test may leave out.
    """
    own = {each.name for each in fields(Claim)}
    claims = []
    for each in facts.get("claim", ()):
        part = {"data": facts.get("data", ())} | facts.get("part", {}).get(each["part"], {})
        # what is not the claim's own is shared by its tests
        shared = {"number": each["id"], **part.get("test", {})}
        shared |= {key: value for key, value in each.items() if key not in own | {"test"}}
        tests = tuple(_test({**shared, **test}, printed, part) for test in each.get("test", [{}]))
        mine = {key: part[key] for key in ("nature",) if key in part} | {"says": each["quote"]}
        mine |= {key: each[key] for key in each if key in own}
        claims.append(Claim(paper=paper, tests=tests, **mine))
    return tuple(claims)


def _test(facts: Mapping[str, Any], printed: Mapping[str, float], part: Mapping[str, Any]) -> Test:
    if facts.get("kind") in COMPARISONS:
        shared = {key: part[key] for key in ("data", "measures") if key in part}
        facts = {**shared, **facts, "number": ""}
    made = with_tuples(facts)
    made["pairs"] = tuple(tuple(pair) for pair in made.get("pairs", ()))
    made["numbers"] = {**printed, **made.get("numbers", {})}
    test = Test(**made)
    if test.kind not in COMPARISONS + NUMBERS:
        raise ValueError(f"claims.toml: found the kind {test.kind!r}")
    if not test.compares and test.printed is None:
        raise ValueError(f"claims.toml: {test.number}: a number without what is printed")
    return test


def with_tuples(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Facts of a test or a part, with a tuple for each list and all of the measures."""
    made = {key: tuple(each) if isinstance(each, list) else each for key, each in facts.items()}
    return made | {"measures": expanded(made.get("measures", ()))}


def expanded(measures: Sequence[str]) -> tuple[str, ...]:
    """The measures, with `ndcg@1..10` as ten.

    Examples
    --------
    >>> expanded(["ndcg@1..3", "map"])
    ('ndcg@1', 'ndcg@2', 'ndcg@3', 'map')
    """
    found: list[str] = []
    for measure in measures:
        name, _, span = measure.partition("@")
        first, _, last = span.partition("..")
        found += [f"{name}@{k}" for k in range(int(first), int(last) + 1)] if last else [measure]
    return tuple(found)
