"""The rounds of a training, kept so that another validation measure can choose among them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from letorbench.models.base import Model
from letorbench.solvers.deadline import NEVER
from letorbench.solvers.early_stopping import EarlyStopping, stopping_for
from letorbench.solvers.validation import Validation

if TYPE_CHECKING:
    from letorbench.solvers.learned import Learned


@dataclass(frozen=True, eq=False)
class Course:
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
    ) -> Course | None:
        """Return the course of a training that ended so; None without a validation set."""
        if validation is None:
            return None
        return cls(model, rounds, stopping.patience, not stopping.over)


def chosen_anew(learned: Learned, validation: Validation) -> Learned | None:
    """Return what training would have given with this validation measure and rule.

    Nothing is trained: the measure is taken of each round's model.

    Parameters
    ----------
    learned : Learned
        What training gave with another measure; its course holds all rounds.
    validation : Validation
        The measure and the rule that choose now.

    Returns
    -------
    Learned or None
        None where the training ended earlier than it would have with this measure, or warned
        of rounds that this measure might not reach.
    """
    course = learned.course
    if course is None:
        return learned
    stopping = stopping_for(validation, course.patience, NEVER)
    for count in range(1, course.rounds + 1):
        scores = course.model(count).predict(validation.queries.features)
        stopping.record(validation(scores))
        if stopping.over:
            break
    if not (stopping.over or course.complete):
        return None
    unreached = course.rounds - len(stopping.curve)
    if unreached and learned.warnings:
        return None
    return replace(
        learned,
        model=course.model(stopping.kept),
        curve=tuple(stopping.curve),
        best=stopping.kept,
        objective=learned.objective[: len(learned.objective) - unreached],
    )
