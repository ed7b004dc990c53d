"""A functional by its name, as a ranker's settings ask for it."""

from __future__ import annotations

from dataclasses import dataclass

from letorbench.datasets.queryset import QuerySet
from letorbench.errors import UsageError
from letorbench.functionals.base import Functional
from letorbench.functionals.linear import LinearFunctional, moments
from letorbench.losses import Loss

FUNCTIONALS = ("linear",)


@dataclass(frozen=True)
class Choice:
    """Which functional, with what it needs.

    functional: one of `FUNCTIONALS`.
    """

    functional: str = "linear"

    def __post_init__(self) -> None:
        if self.functional not in FUNCTIONALS:
            raise UsageError(
                f"found functional={self.functional}, expected one of {', '.join(FUNCTIONALS)}"
            )

    def on(self, train: QuerySet) -> Functional:
        """The functional of that training set's features."""
        return LinearFunctional(*moments(train.features))

    def level(self, loss: Loss) -> Loss:
        """The loss on what is ranked: documents, or groups of documents of one label."""
        return loss
