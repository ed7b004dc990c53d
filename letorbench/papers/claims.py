"""The claims of a paper, which `claims.toml` in its folder has as data.

A claim is a sentence of the paper, which is quoted. It has one test or more: what is compared, on
which data, by which measures, and what the paper prints. `letorbench.papers.rules` judges it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

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
    #: in the paper, as a share of the lower method's number; None if it prints none
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
    #: the printed lead, as a share of the lower method's number
    lead: float | None = None
    #: printed numbers of methods, or of methods and measures as `label measure`
    numbers: Mapping[str, float] = field(default_factory=dict)
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
    #: whether it is about methods, so that other data can test it, too; or the names of these data
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

    A claim inherits the nature, data, measures and `test` of its part and the `data` of the file.
    Its number is named as the claim by default. printed: the numbers of the paper's tables by
    `label measure`.
    """
    of_claim = {each.name for each in fields(Claim)}
    claims = []
    for each in facts.get("claim", ()):
        part = {"data": facts.get("data", ())} | facts.get("part", {}).get(each["part"], {})
        # the keys that a claim does not have are those of its tests
        shared = {"number": each["id"], **part.get("test", {})}
        shared |= {key: value for key, value in each.items() if key not in of_claim | {"test"}}
        tests = tuple(_test({**shared, **test}, printed, part) for test in each.get("test", [{}]))
        mine = {key: part[key] for key in ("nature",) if key in part} | {"says": each["quote"]}
        mine |= {key: each[key] for key in each if key in of_claim}
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

    >>> expanded(["ndcg@1..3", "map"])
    ('ndcg@1', 'ndcg@2', 'ndcg@3', 'map')
    """
    found: list[str] = []
    for measure in measures:
        name, _, span = measure.partition("@")
        first, _, last = span.partition("..")
        found += [f"{name}@{k}" for k in range(int(first), int(last) + 1)] if last else [measure]
    return tuple(found)
