"""What a paper claims, with the check of each claim, and the verdict that a run gives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Kind = Literal["value", "ordering", "difference"]
Sense = Literal["equal", "at least", "at most"]

REPRODUCED = "reproduced"
NOT_REPRODUCED = "not reproduced"
NOT_SIGNIFICANT = "not significant either way"
NO_DATA = "no data"
VERDICTS = (REPRODUCED, NOT_REPRODUCED, NOT_SIGNIFICANT, NO_DATA)

#: what a part's run found, by name: per-query values of methods, or numbers
Found = Mapping[str, Any]


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
    kind : {"value", "ordering", "difference"}
        A number; one method above another; or by how much, relative to the lower one.
    how : str
        What is compared and how it is tested.
    value : float or None
        The paper's number, None for an ordering.
    sense : {"equal", "at least", "at most"}
        Whether the number is to be met, or is the least or the most.
    check : callable
        Judges the claim: takes it and what its part's run found, returns a verdict. The module
        `letorbench.papers.judge` makes the usual ones.
    """

    paper: str
    id: str
    part: str
    text: str
    dataset: str
    kind: Kind
    how: str
    value: float | None = None
    sense: Sense = "equal"
    check: Check = field(kw_only=True, compare=False, repr=False)

    def judge(self, found: Found) -> Verdict:
        """The verdict on what a run found."""
        return self.check(self, found)


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
        Our number with its 95 % interval (for an ordering: the difference of the two means).
    p : float or None
        Of the two-sided paired randomisation test, where methods are compared.
    note : str
        How to get missing data, the size of a run, what a stand-in gave.
    """

    claim: Claim
    verdict: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    note: str = ""


@dataclass(frozen=True)
class Measured:
    """A number with its 95 % interval; without one, low and high equal the value."""

    value: float
    low: float
    high: float
    note: str = ""


Check = Callable[[Claim, Found], Verdict]


def exactly(value: float, note: str = "") -> Measured:
    """A number without chance in it."""
    return Measured(value, value, value, note)


def of_part(claims: Iterable[Claim], part: str) -> tuple[Claim, ...]:
    """The claims that a figure or table tests."""
    return tuple(claim for claim in claims if claim.part == part)
