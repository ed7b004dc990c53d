"""Model selection: every setting of a ranker's grid is trained, and validation picks one."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.experiment.settings import Settings
from letorbench.notices import Notice
from letorbench.rankers.base import Ranker
from letorbench.solvers.validation import Validation

#: a fit that takes so many times the time limit is worth a warning
OVERRUN = 2.0
#: what is said of a ranker that runs once although its seed matters
UNDECLARED = Notice(
    "other", "random numbers are drawn, but its property `draws` is false: it is not repeated"
)


@dataclass(frozen=True, eq=False)
class Trial:
    """One setting of the grid, and how its model does on validation.

    Attributes
    ----------
    settings : mapping
        The hyper-parameters that were fixed or taken from the grid.
    value : float
        The validation measure of the model; -inf where its scores hold NaN.
    curve : tuple of float
        The validation measure after each round or epoch.
    best : int or None
        How many rounds or epochs the model has, None where there are none.
    seconds : float
        How long training took.
    cut_off : bool
        Whether the time limit ended it.
    """

    settings: Settings
    value: float
    curve: tuple[float, ...]
    best: int | None
    seconds: float
    cut_off: bool = False

    def as_json(self) -> dict[str, object]:
        """Return what fit.json says of one setting of a grid."""
        return {
            "settings": self.settings,
            "value": self.value,
            "curve": self.curve,
            "best": self.best,
            "seconds": self.seconds,
            "cut_off": self.cut_off,
        }


@dataclass(frozen=True, eq=False)
class Selected:
    """The fitted ranker that is best on validation.

    Attributes
    ----------
    ranker : Ranker
        The fitted ranker.
    trial : Trial
        Its trial.
    trials : tuple of Trial
        All trials, in the order of the grid.
    validation_scores : ndarray of shape (n_docs,), float64
        The ranker's scores of the validation part.
    warnings : tuple of Notice
        What a user must know.
    """

    ranker: Ranker
    trial: Trial
    trials: tuple[Trial, ...]
    validation_scores: np.ndarray
    warnings: tuple[Notice, ...]

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


def grid(cls: type[Ranker], fixed: Settings) -> dict[str, Sequence[object]]:
    """Return the ranker's grid without the hyper-parameters that the user fixed."""
    return {key: tuple(values) for key, values in cls.grid.items() if key not in fixed}


def settings_tried(cls: type[Ranker], fixed: Settings) -> list[dict[str, object]]:
    """Return the hyper-parameters of every point of the grid, with those that the user fixed."""
    free = grid(cls, fixed)
    return [{**fixed, **dict(zip(free, values))} for values in itertools.product(*free.values())]


def draws(cls: type[Ranker], fixed: Settings) -> bool:
    """Return whether the ranker draws random numbers at any point of its grid."""
    return any(cls(**chosen).draws for chosen in settings_tried(cls, fixed))


def select(
    cls: type[Ranker],
    fixed: Settings,
    train: QuerySet,
    validation: Validation,
    seed: np.random.SeedSequence,
    time_limit: float | None = None,
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
    """
    free = grid(cls, fixed)
    trials: list[Trial] = []
    kept: tuple[Ranker, np.ndarray] | None = None
    highest, undeclared = -math.inf, False
    for chosen in settings_tried(cls, fixed):
        start = time.perf_counter()
        rng = np.random.default_rng(seed)
        untouched = rng.bit_generator.state
        ranker = cls(**chosen).fit_sets(train, validation, rng, time_limit)
        undeclared |= rng.bit_generator.state != untouched and not ranker.draws
        seconds = time.perf_counter() - start
        scores = ranker.predict(validation.queries.features)
        value = -math.inf if np.isnan(scores).any() else validation(scores)
        learned = ranker.learned
        trials.append(
            Trial(chosen, value, learned.curve, learned.best, seconds, learned.cut_off)
        )
        if kept is None or value > highest:
            kept, highest, best = (ranker, scores), value, trials[-1]
    ranker, scores = kept
    warnings = (
        *time_warnings(trials, time_limit),
        *ranker.learned.warnings,
        *edge_warnings(free, best.settings, trials),
        *([UNDECLARED] if undeclared else []),
    )
    return Selected(ranker, best, tuple(trials), scores, warnings)


def time_warnings(trials: Sequence[Trial], time_limit: float | None) -> list[Notice]:
    """Return a notice where the time limit ended trainings, or where one took no notice of it."""
    cut = sum(trial.cut_off for trial in trials)
    if cut:
        text = f"the time limit of {time_limit:g} s cut off {cut} of {len(trials)} fits"
        return [Notice("cut off", text)]
    longest = max(trial.seconds for trial in trials)
    if time_limit is not None and longest > OVERRUN * time_limit:
        text = f"a fit took {longest:.0f} s, more than the time limit of {time_limit:g} s"
        return [Notice("other", text)]
    return []


def edge_warnings(
    free: Mapping[str, Sequence[object]], chosen: Settings, trials: Sequence[Trial]
) -> list[Notice]:
    """Return a notice for each ordered grid of three or more numbers whose end was chosen."""
    if len({trial.value for trial in trials}) < 2:
        return []  # validation cannot tell the settings apart: the edge means nothing
    notices = []
    for key, values in free.items():
        numeric = all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in values)
        if numeric and len(values) >= 3 and chosen[key] in (min(values), max(values)):
            end = "smallest" if chosen[key] == min(values) else "largest"
            text = f"the best {key} = {chosen[key]} is the {end} of its grid"
            notices.append(Notice("grid edge", text))
    return notices
