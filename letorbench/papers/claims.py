"""What a paper claims, as data, and what a run here says to it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Kind = Literal["value", "ordering", "difference"]
Sense = Literal["equal", "at least", "at most"]

REPRODUCED = "reproduced"
NOT_REPRODUCED = "not reproduced"
NOT_SIGNIFICANT = "not significant either way"
NO_DATA = "no data"
VERDICTS = (REPRODUCED, NOT_REPRODUCED, NOT_SIGNIFICANT, NO_DATA)


@dataclass(frozen=True)
class Claim:
    """One claim of a paper, fixed before anything is run.

    id:      its name among the paper's claims.
    part:    the figure or table whose run tests it.
    text:    the claim in our words.
    dataset: the data it is made on.
    kind:    "value", a number; "ordering", one method above another; "difference", by how
             much, relative to the lower one.
    how:     what is compared and how it is tested.
    value:   the paper's number, None for an ordering.
    sense:   whether the number is to be met, or is the least or the most.
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


@dataclass(frozen=True)
class Verdict:
    """What came out of a claim.

    value, low, high: our number with its 95 % interval (for an ordering: the difference of
                      the two means); None where there is none.
    p:                of the two-sided paired randomization test where methods are compared.
    note:             how to get missing data, the size of a run, what a stand-in gave.
    """

    claim: Claim
    verdict: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    note: str = ""


def of_part(claims: Iterable[Claim], part: str) -> tuple[Claim, ...]:
    """The claims that a figure or table tests."""
    return tuple(claim for claim in claims if claim.part == part)
