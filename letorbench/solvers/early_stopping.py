"""Early stopping: which round of a training is kept, and when the training ends."""

from __future__ import annotations

from letorbench.errors import UsageError
from letorbench.solvers.deadline import NEVER, Deadline


class EarlyStopping:
    """The best round so far, by the validation measure.

    A round is what a solver counts: a boosting round, an epoch or a tree. The best round is the
    first one with the largest measure. Without a validation set the last round is the best.

    Parameters
    ----------
    patience : int, default 0
        The training is over when this many rounds in a row have not improved on the best one;
        0 means never.
    deadline : Deadline
        The training is over at the first round that ends after it.

    Attributes
    ----------
    curve : list of float
        The validation measure after each round; empty without a validation set.
    best : int
        The number of the best round, counted from 1; 0 before the first round.
    late : bool
        Whether a round has ended after the deadline.

    Examples
    --------
    >>> rounds = EarlyStopping(patience=2)
    >>> [rounds.improves(value) for value in (0.3, 0.5, 0.5, 0.4)]
    [True, True, False, False]
    >>> rounds.best, rounds.over
    (2, True)
    """

    def __init__(self, patience: int = 0, deadline: Deadline = NEVER) -> None:
        if patience < 0:
            raise UsageError(f"found patience={patience}, expected 0 (never) or more")
        self.patience = patience
        self.deadline = deadline
        self.late = False
        self.curve: list[float] = []
        self.best = 0
        self._count = 0

    def improves(self, measure: float | None) -> bool:
        """Record a round; return whether it is the best so far.

        Parameters
        ----------
        measure : float or None
            The validation measure after the round; None without a validation set.
        """
        self._count += 1
        self.late = self.deadline.passed
        better = measure is None or self.best == 0 or measure > self.curve[self.best - 1]
        if measure is not None:
            self.curve.append(measure)
        if better:
            self.best = self._count
        return better

    @property
    def over(self) -> bool:
        """Whether `patience` rounds have passed since the best one, or the time is over."""
        return self.late or self.out_of_patience

    @property
    def out_of_patience(self) -> bool:
        """Whether `patience` rounds have passed since the best one."""
        return 0 < self.patience <= self._count - self.best

    def cut_off(self, rounds: int) -> bool:
        """Return whether the deadline, and nothing else, kept it from so many rounds."""
        return self.late and self._count < rounds and not self.out_of_patience
