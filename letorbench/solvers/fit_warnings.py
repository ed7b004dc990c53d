"""Warnings about a fit, by kind, so that the most serious is shown first."""

from dataclasses import dataclass

#: each kind of warning and what it means, the most serious first
KINDS = {
    "no numbers": "scores or parameters are NaN or infinite",
    "nothing learned": "the model gives all documents of a query the same score",
    "not converged": "training ended at the bound of its iterations, away from the optimum",
    "cut off": "training ended at its time limit",
    "grid edge": "the chosen value is the first or the last of its grid",
    "chosen": "what a ranker of several models took, and why",
    "ties": "many documents share their score with another one of their query",
    "other": "what a plug-in says",
}


@dataclass(frozen=True)
class FitWarning:
    """A warning about a fit or its scores.

    >>> slow = FitWarning("not converged", "stopped after 5 iterations with a gap of 0.3")
    >>> slow.rank < FitWarning("grid edge", "the best C = 1 is the largest of its grid").rank
    True
    """

    kind: str  # one of `KINDS`
    text: str  # one line, with the numbers

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(
                f"found the kind of warning {self.kind!r}, expected one of {', '.join(KINDS)}"
            )

    @property
    def rank(self) -> int:
        """The place in `KINDS`: 0 is the most serious."""
        return list(KINDS).index(self.kind)
