"""What training gives: a model and the course of its training."""

from __future__ import annotations

from dataclasses import dataclass

from letorbench.models.base import Model
from letorbench.notices import Notice
from letorbench.solvers.course import Course


@dataclass(frozen=True, eq=False)
class Learned:
    """What training gave.

    model:     the scorer to keep (of the round or epoch that validation chose).
    curve:     the validation measure after each round or epoch, empty where there are none.
    best:      how many rounds or epochs the kept scorer has, None where there are none.
    objective: the training objective or bound after each round, the start's first.
    warnings:  what a user must know: an iteration limit reached, a degenerate model, ...
    cut_off:   whether the time limit ended it.
    course:    its rounds, None where it has none that validation chooses from.
    """

    model: Model
    curve: tuple[float, ...] = ()
    best: int | None = None
    objective: tuple[float, ...] = ()
    warnings: tuple[Notice, ...] = ()
    cut_off: bool = False
    course: Course | None = None

    def __post_init__(self) -> None:
        for each in self.warnings:
            if not isinstance(each, Notice):
                raise TypeError(f"found the warning {each!r}, expected a letorbench.notices.Notice")
