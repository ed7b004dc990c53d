"""The result of training: a model, its curve and the warnings."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.models.base import Model
from letorbench.solvers.fit_warnings import FitWarning
from letorbench.solvers.stopping import EarlyStopping

#: rounding of a sum is about this share of its terms
ROUNDING = 1e-12
#: a larger share of tied documents is worth a warning: file order ranks them
MANY_TIES = 0.5
#: an epoch's cost and the model after it, None if its numbers are not finite
Epoch = tuple[float | None, Model | None]


@dataclass(frozen=True, eq=False)
class FitResult:
    """The result of training.

    model:     the scorer to keep (of the round or epoch that validation chose).
    curve:     the validation measure after each round or epoch; empty without validation.
    best:      how many rounds or epochs the kept scorer has; None if there are none.
    objective: the training objective or its bound at the start and after each round.
    warnings:  for the user: an iteration limit reached, a degenerate model, ...
    cut_off:   whether the time limit ended the training.
    """

    model: Model
    curve: tuple[float, ...] = ()
    best: int | None = None
    objective: tuple[float, ...] = ()
    warnings: tuple[FitWarning, ...] = ()
    cut_off: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.model, Model):
            found = f"found a {type(self.model).__name__} as the model"
            raise TypeError(f"{found}, expected a letorbench.models.base.Model")
        for each in self.warnings:
            if not isinstance(each, FitWarning):
                raise TypeError(f"found the warning {each!r}, expected a FitWarning")


def kept_round(
    stopping: EarlyStopping,
    model: Callable[[int], Model],
    most: int,  # how many rounds there are without early stopping and a time limit
    objective: Sequence[float],
    warnings: tuple[FitWarning, ...] = (),
) -> FitResult:
    """Return the result of training in rounds; `model` returns the model of the first n rounds."""
    best, cut_off = stopping.kept, stopping.cut_off(most)
    return FitResult(model(best), tuple(stopping.curve), best, tuple(objective), warnings, cut_off)


def kept_epoch(
    epochs: Iterator[Epoch], start: Model, most: int, stopping: EarlyStopping
) -> FitResult:
    """Train for at most `most` epochs from `start`; keep the epoch that validation chooses."""
    models, costs = [start], []
    warnings: tuple[FitWarning, ...] = ()
    for cost, model in islice(epochs, most):
        if cost is not None:
            costs.append(cost)
        if model is None:
            text = f"epoch {len(models)} gave a number that is not finite"
            warnings = (FitWarning("no numbers", f"{text}: the learning rate is too large"),)
            break
        models.append(model)
        stopping.measure(model)
        if stopping.over:
            break
    return kept_round(stopping, models.__getitem__, most, costs, warnings)


@dataclass(frozen=True, eq=False)
class Minimum:
    """The end of a minimisation of |w|^2 / 2 + C R(w), R convex, and its gap to the optimum."""

    point: np.ndarray  # w (n,), float64
    value: float  # the objective at the point
    # a bound on value - optimum, or the promise of Newton's last step on badly scaled features
    gap: float
    values: tuple[float, ...]  # the objective at the start and after each iteration
    requested: float  # the gap that the caller wants, as a share of the value
    late: bool  # whether the deadline ended the minimisation

    @property
    def converged(self) -> bool:
        """Whether the gap is as small as requested, or only rounding of the first value."""
        return self.gap <= max(self.requested * self.value, ROUNDING * self.values[0])

    def fit_result(self, model: Model, *warnings: FitWarning) -> FitResult:
        """Return the result with the model of the point, and a warning if it is not converged."""
        if not self.converged:
            text = (
                f"stopped after {len(self.values) - 1} iterations with a gap of "
                f"{self.gap / self.value:.1e} of the objective, asked for {self.requested:.1e}"
            )
            kind = "cut off" if self.late else "not converged"
            warnings = (*warnings, FitWarning(kind, text))
        return FitResult(model, objective=self.values, warnings=warnings, cut_off=self.late)


def score_warnings(scores: np.ndarray, queries: QuerySet, part: str = "test") -> list[FitWarning]:
    """Warn of scores (n_docs,) that rank little: NaN, infinite, all or mostly equal."""
    bad = int(np.count_nonzero(~np.isfinite(scores)))
    if bad:
        text = f"{bad} of {len(scores)} {part} scores are NaN or infinite (NaN is ranked last)"
        return [FitWarning("no numbers", text)]
    filled = queries.offsets[:-1][queries.lengths > 0]
    varies = np.maximum.reduceat(scores, filled) > np.minimum.reduceat(scores, filled)
    several = queries.lengths[queries.lengths > 0] > 1
    if several.any() and not varies[several].any():
        text = f"constant {part} scores: every query is ranked in file order"
        return [FitWarning("nothing learned", text)]
    fraction = _tied(scores, queries) / max(1, len(scores))
    if fraction > MANY_TIES:
        text = (
            f"{fraction:.0%} of the {part} documents share their score with another of their query"
        )
        return [FitWarning("ties", text)]
    return []


def _tied(scores: np.ndarray, queries: QuerySet) -> int:
    """Count the documents that share their score with another document of their query."""
    query = np.repeat(np.arange(queries.n_queries), queries.lengths)
    order = np.lexsort((scores, query))
    equal = (np.diff(scores[order]) == 0.0) & (np.diff(query[order]) == 0)
    return int(np.count_nonzero(np.r_[equal, False] | np.r_[False, equal]))
