"""What training gives: a model, the warnings, and the rounds that it went through."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from letorbench.fit_warnings import FitWarning
from letorbench.models.base import Model
from letorbench.solvers.deadline import NEVER
from letorbench.solvers.early_stopping import EarlyStopping, stopping_for
from letorbench.solvers.validation import Validation


@dataclass(frozen=True, eq=False)
class TrainingHistory:
    """The models of a training, one a round.

    Parameters
    ----------
    model : callable
        Takes a number of rounds; returns the model that has them.
    rounds : int
        How many rounds there were.
    patience : int
        See `EarlyStopping`.
    complete : bool
        Whether more patience would not have given more rounds.
    """

    model: Callable[[int], Model]
    rounds: int
    patience: int
    complete: bool

    @classmethod
    def of(
        cls,
        validation: Validation | None,
        model: Callable[[int], Model],
        rounds: int,
        stopping: EarlyStopping,
    ) -> TrainingHistory | None:
        """Return the history of a training that ended so; None without a validation set."""
        if validation is None:
            return None
        return cls(model, rounds, stopping.patience, not stopping.over)


@dataclass(frozen=True, eq=False)
class FitResult:
    """What training gave.

    model:     the scorer to keep (of the round or epoch that validation chose).
    curve:     the validation measure after each round or epoch, empty where there are none.
    best:      how many rounds or epochs the kept scorer has, None where there are none.
    objective: the training objective or bound after each round, the start's first.
    warnings:  what a user must know: an iteration limit reached, a degenerate model, ...
    cut_off:   whether the time limit ended it.
    history:   its rounds; None if validation does not choose among rounds.
    """

    model: Model
    curve: tuple[float, ...] = ()
    best: int | None = None
    objective: tuple[float, ...] = ()
    warnings: tuple[FitWarning, ...] = ()
    cut_off: bool = False
    history: TrainingHistory | None = None

    def __post_init__(self) -> None:
        for each in self.warnings:
            if not isinstance(each, FitWarning):
                raise TypeError(
                    f"found the warning {each!r}, expected a letorbench.fit_warnings.FitWarning"
                )


def reselect(fit: FitResult, validation: Validation) -> FitResult | None:
    """Return what training would have given with this validation measure and rule.

    Nothing is trained: the measure is taken of each round's model.

    Parameters
    ----------
    fit : FitResult
        What training gave with another measure; its history holds all rounds.
    validation : Validation
        The measure and the rule that choose now.

    Returns
    -------
    FitResult or None
        None where the training ended earlier than it would have with this measure, or warned
        of rounds that this measure might not reach.
    """
    history = fit.history
    if history is None:
        return fit
    stopping = stopping_for(validation, history.patience, NEVER)
    for count in range(1, history.rounds + 1):
        scores = history.model(count).predict(validation.queries.features)
        stopping.record(validation(scores))
        if stopping.over:
            break
    if not (stopping.over or history.complete):
        return None
    unreached = history.rounds - len(stopping.curve)
    if unreached and fit.warnings:
        return None
    return replace(
        fit,
        model=history.model(stopping.kept),
        curve=tuple(stopping.curve),
        best=stopping.kept,
        objective=fit.objective[: len(fit.objective) - unreached],
    )
