"""Model selection: every setting of a ranker's grid is trained, and validation picks one.

Where the setting that is picked has the smallest or the largest number of its grid, the grid
grows there: the next number is trained too, and validation picks again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.experiment.candidates import (
    Trial,
    best_of,
    differ,
    fit_at_once,
    fit_while_better,
    fitted,
)
from letorbench.experiment.grids import Grid, edge_warnings, grid, grown, settings_tried
from letorbench.experiment.settings import Settings
from letorbench.fit_warnings import FitWarning
from letorbench.rankers.base import Ranker
from letorbench.results.trials_file import Training
from letorbench.solvers.stopping import Validation
from letorbench.threads import thread_count

#: a fit that takes so many times the time limit is worth a warning
OVERRUN = 2.0
#: what is said of a ranker that runs once although its seed matters
UNDECLARED = FitWarning(
    "other", "random numbers are drawn, but its property `draws` is false: it is not repeated"
)


@dataclass(frozen=True, eq=False)
class Selected:
    """The fitted ranker that validation chose.

    Attributes
    ----------
    ranker : Ranker
        The fitted ranker.
    trial : Trial
        Its trial.
    trials : tuple of Trial
        All trials, in the order of the grid, then what it grew by.
    validation_scores : ndarray of shape (n_docs,), float64
        The ranker's scores of the validation part.
    warnings : tuple of FitWarning
        What a user must know.
    trainings : tuple of Training
        What the trials trained, where another measure can choose among it.
    reused : int
        How many of these were stored before.
    """

    ranker: Ranker
    trial: Trial
    trials: tuple[Trial, ...]
    validation_scores: np.ndarray
    warnings: tuple[FitWarning, ...]
    trainings: tuple[Training, ...]
    reused: int

    @property
    def cut_off(self) -> int:
        """How many trials the time limit ended."""
        return sum(trial.cut_off for trial in self.trials)

    def as_json(self, measure: str) -> dict[str, object]:
        """Return what fit.json says of the validation, which chose by this measure."""
        several = self.trials if len(self.trials) > 1 else ()
        return {
            "measure": measure,
            "value": self.trial.value,
            "curve": self.trial.curve,
            "best": self.trial.best,
            "grid": [trial.as_json() for trial in several],
        }


def select(
    cls: type[Ranker],
    fixed: Settings,
    train: QuerySet,
    validation: Validation,
    seed: np.random.SeedSequence,
    time_limit: float | None = None,
    grows: bool = True,
    stored: Mapping[str, Training] = MappingProxyType({}),
) -> Selected:
    """Train each setting of the grid; keep the first of those that are best on validation.

    Every setting starts from the same random state. A setting's model therefore does not depend
    on what else is in the grid. A model with NaN among its scores loses to any other.

    Parameters
    ----------
    cls : type of Ranker
        The ranker.
    fixed : mapping
        The hyper-parameters that the user fixed.
    train : QuerySet
        What to learn from.
    validation : Validation
        What to choose by.
    seed : SeedSequence
        Where every random draw comes from.
    time_limit : float, optional
        The training of each setting ends after so many seconds.
    grows : bool
        Whether a grid grows where its smallest or largest number is chosen; see `grids.grown`.
    stored : mapping
        Earlier trainings on the same data from the same seed, by their settings. They are not
        repeated where they hold.
    """
    free = grid(cls, fixed)
    tried: Grid = free
    fit = partial(fitted, cls, train, validation, seed, time_limit, stored)
    at_once = cls.one_thread and thread_count() > 1
    settings = settings_tried(cls, fixed)
    if at_once:
        candidates = fit_at_once(fit, settings, [cls(**each).effort for each in settings])
    else:
        candidates = [fit(each) for each in settings]
    chosen = best_of(candidates)
    while grows and differ(candidates):
        steps = list(islice(_growth(free, tried, chosen.trial.settings), 2 if at_once else 1))
        if not steps:
            break
        made = fit_while_better(fit, [step.settings for step in steps], chosen.trial.value)
        tried = steps[len(made) - 1].tried
        candidates += made
        chosen = best_of(candidates)
    trials = tuple(candidate.trial for candidate in candidates)
    warnings = (
        *time_warnings(trials, time_limit),
        *chosen.ranker.learned.warnings,
        # where validation cannot tell the settings apart, an edge means nothing
        *(edge_warnings(tried, chosen.trial.settings, grows) if differ(candidates) else []),
        *([UNDECLARED] if any(candidate.undeclared for candidate in candidates) else []),
    )
    return Selected(
        chosen.ranker, chosen.trial, trials, chosen.scores, warnings,
        tuple(candidate.training for candidate in candidates if not cls.judges_itself),
        sum(candidate.reused for candidate in candidates),
    )  # fmt: skip


class _Step(NamedTuple):
    """A grid that has grown by a number, and the settings with that number."""

    tried: Grid
    settings: Settings


def _growth(free: Grid, tried: Grid, chosen: Settings) -> Iterator[_Step]:
    """Yield how the grid grows, step by step, as long as validation chooses each new setting."""
    while (further := grown(free, tried, chosen)) is not None:
        key, number = further
        tried, chosen = {**tried, key: (*tried[key], number)}, {**chosen, key: number}
        yield _Step(tried, chosen)


def time_warnings(trials: Sequence[Trial], time_limit: float | None) -> list[FitWarning]:
    """Return a notice where the time limit ended trainings, or where one took no notice of it."""
    cut = sum(trial.cut_off for trial in trials)
    if cut:
        text = f"the time limit of {time_limit:g} s cut off {cut} of {len(trials)} fits"
        return [FitWarning("cut off", text)]
    longest = max(trial.seconds for trial in trials)
    if time_limit is not None and longest > OVERRUN * time_limit:
        text = f"a fit took {longest:.0f} s, more than the time limit of {time_limit:g} s"
        return [FitWarning("other", text)]
    return []
