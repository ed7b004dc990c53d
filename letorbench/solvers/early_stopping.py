"""Early stopping: which round of a training is kept, and when the training ends."""

from __future__ import annotations

import numpy as np

from letorbench.errors import UsageError
from letorbench.solvers.deadline import NEVER, Deadline
from letorbench.solvers.rules import Rule, best
from letorbench.solvers.validation import Validation


class EarlyStopping:
    """The rounds so far, by the validation measure.

    A round is what a solver counts: a boosting round, an epoch or a tree. Without a validation
    set the last round is kept.

    Parameters
    ----------
    patience : int, default 0
        The training is over when this many rounds in a row have not improved on the highest
        mean; 0 means never.
    deadline : Deadline
        The training is over at the first round that ends after it.
    rule : callable, default `best`
        Chooses the round that is kept, from the measures of all rounds.

    Attributes
    ----------
    curve : list of float
        The mean of the validation measure after each round; empty without a validation set.
    late : bool
        Whether a round has ended after the deadline.

    Examples
    --------
    >>> rounds = EarlyStopping(patience=2)
    >>> for value in (0.3, 0.5, 0.5, 0.4):
    ...     rounds.record(np.array([value]))
    >>> rounds.kept, rounds.over
    (2, True)
    """

    def __init__(self, patience: int = 0, deadline: Deadline = NEVER, rule: Rule = best) -> None:
        if patience < 0:
            raise UsageError(f"found patience={patience}, expected 0 (never) or more")
        self.patience = patience
        self.deadline = deadline
        self.rule = rule
        self.late = False
        self.curve: list[float] = []
        self._values: list[np.ndarray] = []
        self._count = 0
        self._highest = 0

    def record(self, values: np.ndarray | None) -> None:
        """Record a round.

        Parameters
        ----------
        values : ndarray of shape (n_queries,) or None
            The validation measure after the round; None without a validation set.
        """
        self._count += 1
        self.late = self.deadline.passed
        if values is not None:
            self._values.append(values)
            self.curve.append(float(values.mean()))
        if values is None or self._highest == 0 or self.curve[-1] > self.curve[self._highest - 1]:
            self._highest = self._count

    @property
    def kept(self) -> int:
        """The number of the round that is kept, counted from 1; 0 before the first round."""
        if not self._values:
            return self._count
        return 1 + self.rule(np.array(self._values))

    @property
    def over(self) -> bool:
        """Whether `patience` rounds have passed since the highest, or the time is over."""
        return self.late or self.out_of_patience

    @property
    def out_of_patience(self) -> bool:
        """Whether `patience` rounds have passed since the one with the highest mean."""
        return 0 < self.patience <= self._count - self._highest

    def cut_off(self, rounds: int) -> bool:
        """Return whether the deadline, and nothing else, kept it from so many rounds."""
        return self.late and self._count < rounds and not self.out_of_patience


def stopping_for(validation: Validation | None, patience: int, deadline: Deadline) -> EarlyStopping:
    """Return the early stopping that goes by the validation set's rule."""
    rule = best if validation is None else validation.rule
    return EarlyStopping(patience, deadline, rule)
