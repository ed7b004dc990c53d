"""What a paper claims, with the check of each claim, and the four answers that a run gives.

A claim is asked up to four questions: is the paper's number met, is the direction right, is the
difference significant, and could the queries at hand have decided it. The verdict follows from
the answers by the rule of the claim's kind; `letorbench.papers.judge` has the rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

Nature = Literal["finding", "theory", "worked example", "data", "own code"]
#: what a claim is made of, each tallied apart: an experiment's outcome; a theorem checked on
#: random problems; arithmetic on a small example; a description of the data; our own gradients
NATURES: tuple[Nature, ...] = ("finding", "theory", "worked example", "data", "own code")

Kind = Literal["value", "superiority", "difference", "non-inferiority", "equivalence", "indistinct"]
KINDS: tuple[Kind, ...] = (
    "value", "superiority", "difference", "non-inferiority", "equivalence", "indistinct",
)  # fmt: skip
#: the kinds that name a number
WITH_NUMBER = ("value", "difference")
Sense = Literal["equal", "at least", "at most"]

REPRODUCED = "reproduced"
NOT_REPRODUCED = "not reproduced"
UNDECIDED = "undecided"
NO_DATA = "no data"
VERDICTS = (REPRODUCED, NOT_REPRODUCED, UNDECIDED, NO_DATA)

YES, NO, NOT_ASKED = "yes", "no", "-"

#: what a part's run found, by name: per-query values of methods, numbers, or either by data set
Found = Mapping[str, Any]

#: the margin of "comparable" and "competitive", as a share of the other method's mean; the
#: consistency paper calls a change "large" beyond it
MARGIN = 0.03


@dataclass(frozen=True)
class Claim:
    """One claim of a paper, fixed before anything is run, with the check that judges it.

    Parameters
    ----------
    paper, id : str
        The paper, and the claim's name among its claims.
    part : str
        The figure or table whose run tests it.
    text : str
        The claim in our words.
    dataset : str
        The data that it is made on.
    kind : {"value", "superiority", "difference", "non-inferiority", "equivalence", "indistinct"}
        A number; one method above another; by how much, relative to the lower one; not more
        than a margin below; not more than a margin apart; above, but not significantly.
    how : str
        What is compared.
    value : float or None
        The paper's number, of the kinds that have one.
    half : float
        Half a unit of the number's last printed digit.
    sense : {"equal", "at least", "at most"}
        Whether the number is to be met, or is the least or the most.
    nature : {"finding", "theory", "worked example", "data", "own code"}
        What it is made of.
    margin : float
        The smallest difference that matters, relative to the other method's mean.
    check : callable
        Judges the claim: takes it and what its part's run found, returns a verdict. The module
        `letorbench.papers.checks` makes the usual ones.
    """

    paper: str
    id: str
    part: str
    text: str
    dataset: str
    kind: Kind
    how: str
    value: float | None = None
    half: float = 0.0
    sense: Sense = "equal"
    nature: Nature = "finding"
    margin: float = MARGIN
    check: Check = field(kw_only=True, compare=False, repr=False)

    def judge(self, found: Found) -> Verdict:
        """The verdict on what a run found."""
        return self.check(self, found)


@dataclass(frozen=True)
class Answers:
    """The four answers: yes, no, or not asked by the claim.

    Parameters
    ----------
    number : str
        Is the paper's number met?
    direction : str
        Does the difference point as claimed?
    significance : str
        Is there a difference beyond chance, in either direction? Of a claim against a margin:
        is the margin kept beyond chance?
    power : str
        Could these queries have decided it?
    detectable : float or None
        The smallest difference that so many queries show in 80 % of cases, relative to the
        other method's mean.
    """

    number: str = NOT_ASKED
    direction: str = NOT_ASKED
    significance: str = NOT_ASKED
    power: str = NOT_ASKED
    detectable: float | None = None


@dataclass(frozen=True)
class Verdict:
    """What came out of a claim.

    Parameters
    ----------
    claim : Claim
        The claim judged.
    verdict : str
        One of `VERDICTS`.
    value, low, high : float or None
        Our number with its interval (where methods are compared: the difference of the means).
    p : float or None
        Of the test that the claim's kind asks for.
    answers : Answers
    by : str
        What decided the verdict: the number, the direction, the significance or the margin.
    note : str
        How to get missing data, the size of a run, what was picked.
    place : str
        The data set that it was judged on, where that is not the claim's.
    """

    claim: Claim
    verdict: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    answers: Answers = Answers()
    by: str = NOT_ASKED
    note: str = ""
    place: str = ""

    def at(self, place: str) -> Verdict:
        """The same, judged on another data set than the claim's."""
        return replace(self, place=place)


@dataclass(frozen=True)
class Measured:
    """A number with its interval; without one, low and high equal the value."""

    value: float
    low: float
    high: float
    note: str = ""


class Check(Protocol):
    """What judges a claim: see `letorbench.papers.checks.Check`."""

    @property
    def needs(self) -> tuple[str, ...]: ...

    @property
    def source(self) -> str: ...

    def __call__(self, claim: Claim, found: Found) -> Verdict: ...


def exactly(value: float, note: str = "") -> Measured:
    """A number without chance in it."""
    return Measured(value, value, value, note)


def of_part(claims: Iterable[Claim], part: str) -> tuple[Claim, ...]:
    """The claims that a figure or table tests."""
    return tuple(claim for claim in claims if claim.part == part)
