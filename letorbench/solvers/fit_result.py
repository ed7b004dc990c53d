"""What training gives: a model, its curve and the warnings."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from letorbench.fit_warnings import FitWarning
from letorbench.models.base import Model
from letorbench.solvers.stopping import EarlyStopping

#: a sum is rounded by about this share of its terms
ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class FitResult:
    """What training gave.

    model:     the scorer to keep (of the round or epoch that validation chose).
    curve:     the validation measure after each round or epoch, empty where there are none.
    best:      how many rounds or epochs the kept scorer has; None without any.
    objective: the training objective or bound after each round, the start's first.
    warnings:  what a user must know: an iteration limit reached, a degenerate model, ...
    cut_off:   whether the time limit ended it.
    """

    model: Model
    curve: tuple[float, ...] = ()
    best: int | None = None
    objective: tuple[float, ...] = ()
    warnings: tuple[FitWarning, ...] = ()
    cut_off: bool = False

    def __post_init__(self) -> None:
        for each in self.warnings:
            if not isinstance(each, FitWarning):
                raise TypeError(
                    f"found the warning {each!r}, expected a letorbench.fit_warnings.FitWarning"
                )


def kept_round(
    stopping: EarlyStopping,
    model: Callable[[int], Model],
    most: int,
    objective: Sequence[float],
    warnings: tuple[FitWarning, ...] = (),
) -> FitResult:
    """Return the result of a training in rounds: the model of the round that validation chooses.

    `model` takes a number of rounds and returns the model that has them. `most` is how many there
    would have been without validation and a time limit.
    """
    best = stopping.kept
    return FitResult(
        model(best), tuple(stopping.curve), best, tuple(objective), warnings,
        stopping.cut_off(most),
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Minimum:
    """The end of a minimisation of |w|^2 / 2 + C R(w), R convex, and how near it is to the optimum.

    point:     w (n,), float64.
    value:     the objective at the point.
    gap:       a bound on value - the least value, or, for Newton's method on features of very
               different sizes, what the last step promised.
    values:    the objective at the start and after each iteration.
    requested: the gap that the caller wants, as a share of the value.
    late:      whether the deadline ended the minimisation.
    """

    point: np.ndarray
    value: float
    gap: float
    values: tuple[float, ...]
    requested: float
    late: bool

    @property
    def converged(self) -> bool:
        """Whether the gap is as small as requested, or no more than rounding of the first value."""
        return self.gap <= max(self.requested * self.value, ROUNDING * self.values[0])

    def fit_result(self, model: Model, *warnings: FitWarning) -> FitResult:
        """Return the result with this model of the point; a last warning says if it is too far."""
        if not self.converged:
            text = (
                f"stopped after {len(self.values) - 1} iterations with a gap of "
                f"{self.gap / self.value:.1e} of the objective, asked for {self.requested:.1e}"
            )
            kind = "cut off" if self.late else "not converged"
            warnings = (*warnings, FitWarning(kind, text))
        return FitResult(model, objective=self.values, warnings=warnings, cut_off=self.late)
