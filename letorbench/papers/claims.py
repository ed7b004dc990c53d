"""What a paper claims, as data: `claims.toml` in the paper's folder, read into values.

A claim is one sentence of the paper, which is quoted. It holds one test or more; a test names what
is compared, on which data, by which measures, and what the paper prints. `letorbench.papers.rules`
judges it.
"""

from __future__ import annotations

import itertools
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

#: comparisons of two methods, and numbers
COMPARISONS = ("above", "not below", "alike")
NUMBERS = ("equal", "at least", "at most")
#: what a claim is made of, each tallied apart: an experiment's outcome; a theorem checked on random
#: problems; arithmetic on a small example; a description of the data
NATURES = ("finding", "theory", "worked example", "data")


@dataclass(frozen=True)
class Point:
    """One comparison: a method against another on a data set, by a measure.

    lead: what the paper prints of it, as a share of the lower method's number; None without.
    group: the points of a group count as one, where the claim is a count.
    """

    dataset: str
    upper: str
    lower: str
    measure: str
    lead: float | None = None
    group: str = ""


@dataclass(frozen=True)
class Test:
    """What a claim's sentence says, in a form that can be judged.

    Parameters
    ----------
    kind : str
        One of `COMPARISONS` or `NUMBERS`.
    data : tuple of str
        The data sets that the sentence covers.
    measures : tuple of str
        The measures and cut-offs that it covers; `ndcg@1..10` stands for ten.
    upper, lower : tuple of str
        Labels of methods: each of `upper` is compared with each of `lower`.
    pairs : tuple of tuple of str
        The pairs themselves, where not all of both are compared.
    lead : float or None
        The printed lead, as a share of the lower method's number.
    numbers : mapping
        The printed numbers of methods, or of methods and measures as `label measure`.
    least, of : int or None
        A count: the sentence holds where so many groups of so many show it.
    per : {"data", "point", "each"}
        What a group is: a data set; a data set and a measure; or a single comparison.
    number : str
        Of a number: its name among what the part measures, or the label of a method.
    printed, half : float
        The paper's number, and half a unit of its last printed digit.
    """

    __test__ = False  # for pytest, which collects classes of this name
    kind: str
    data: tuple[str, ...] = ()
    measures: tuple[str, ...] = ()
    upper: tuple[str, ...] = ()
    lower: tuple[str, ...] = ()
    pairs: tuple[tuple[str, str], ...] = ()
    lead: float | None = None
    numbers: Mapping[str, float] = field(default_factory=dict)
    least: int | None = None
    of: int | None = None
    per: str = "data"
    number: str = ""
    printed: float | None = None
    half: float = 0.0

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
                group = {"data": dataset, "point": f"{dataset} {measure}"}.get(
                    self.per, f"{dataset} {upper} {lower} {measure}"
                )
                lead = self._lead(upper, lower, measure)
                yield Point(dataset, upper, lower, measure, lead, group)

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

    Parameters
    ----------
    paper, id : str
        The paper, and the claim's name among its claims.
    part : str
        The figure, table or theorem whose run tests it.
    quote, where : str
        The sentence, and its section and page.
    says : str
        The claim in a reader's words; the quotation where there are none.
    nature : str
        One of `NATURES`.
    tests : tuple of Test
        The claim holds where all of them do.
    meant : str
        What is judged instead of what is printed, where the paper slips.
    headline : bool
        Whether the paper stands for it.
    general : bool
        Whether the sentence is of methods, so that other data than the paper's say something of it.
    """

    paper: str
    id: str
    part: str
    quote: str
    where: str
    tests: tuple[Test, ...]
    says: str = ""
    nature: str = "finding"
    meant: str = ""
    headline: bool = False
    general: bool = False

    @property
    def text(self) -> str:
        """The claim in words."""
        return self.says or self.quote

    @property
    def data(self) -> tuple[str, ...]:
        """All data sets that it covers."""
        return tuple(dict.fromkeys(name for test in self.tests for name in test.data))

    @property
    def dataset(self) -> str:
        """The data as one text."""
        return ", ".join(self.data) or "none"

    def on(self, dataset: str) -> Claim | None:
        """The same of another data set; None where the sentence says nothing of other data."""
        if not self.general or any(
            not t.compares or t.least is not None or len(t.data) != 1 for t in self.tests
        ):
            return None
        return replace(self, tests=tuple(replace(t, data=(dataset,)) for t in self.tests))


def read_facts(path: Path) -> dict[str, Any]:
    """What a claims.toml holds."""
    return tomllib.loads(path.read_text(encoding="utf-8"))


def claims_of(
    paper: str, facts: Mapping[str, Any], printed: Mapping[str, float]
) -> tuple[Claim, ...]:
    """The claims of a claims.toml.

    printed: the numbers of the paper's tables by `label measure`, which a test may leave out.
    """
    return tuple(_claim(paper, dict(each), printed) for each in facts.get("claim", ()))


def _claim(paper: str, facts: dict[str, Any], printed: Mapping[str, float]) -> Claim:
    own = {each.name for each in fields(Claim)}
    shared = {key: value for key, value in facts.items() if key not in own | {"test"}}
    tests = [_test({**shared, **test}, printed) for test in facts.pop("test", [{}])]
    mine = {key: value for key, value in facts.items() if key in own}
    return Claim(paper=paper, tests=tuple(tests), **mine)


def _test(facts: dict[str, Any], printed: Mapping[str, float]) -> Test:
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
        span = re.fullmatch(r"(.+@)(\d+)\.\.(\d+)", measure)
        if span is None:
            found.append(measure)
        else:
            name, first, last = span.groups()
            found += [f"{name}{k}" for k in range(int(first), int(last) + 1)]
    return tuple(found)
