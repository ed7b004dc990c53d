"""Model selection: every setting of a ranker's grid is trained, and validation picks one.

Where the setting that is picked has the smallest or the largest number of its grid, the grid
grows there: the next number is trained too, and validation picks again.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.experiment.grids import edge_warnings, grid, grown, settings_tried
from letorbench.experiment.settings import Settings
from letorbench.notices import Notice
from letorbench.rankers.base import Ranker
from letorbench.results.trials_file import Training, setting_text
from letorbench.solvers.course import chosen_anew
from letorbench.solvers.validation import Validation
from letorbench.threads import in_turn, one_blas_thread

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
        How long training took, or choosing its round anew.
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
    warnings : tuple of Notice
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
    warnings: tuple[Notice, ...]
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
    tried = free = grid(cls, fixed)
    fit = partial(_fitted, cls, train, validation, seed, time_limit, stored)
    settings = list(settings_tried(cls, fixed))

    candidates = _fitted_all(fit, settings, at_once=cls.one_thread)
    chosen = _chosen(candidates)
    while grows and _differ(candidates):
        further = grown(free, tried, chosen.trial.settings)
        if further is None:
            break
        key, number = further
        tried = {**tried, key: (*tried[key], number)}
        candidates.append(fit({**chosen.trial.settings, key: number}))
        chosen = _chosen(candidates)
    trials = tuple(candidate.trial for candidate in candidates)
    warnings = (
        *time_warnings(trials, time_limit),
        *chosen.ranker.learned.warnings,
        # where validation cannot tell the settings apart, an edge means nothing
        *(edge_warnings(tried, chosen.trial.settings, grows) if _differ(candidates) else []),
        *([UNDECLARED] if any(candidate.undeclared for candidate in candidates) else []),
    )
    return Selected(
        chosen.ranker, chosen.trial, trials, chosen.scores, warnings,
        tuple(candidate.training for candidate in candidates if not cls.judges_itself),
        sum(candidate.reused for candidate in candidates),
    )  # fmt: skip


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


@dataclass(frozen=True, eq=False)
class _Candidate:
    """A fitted setting, and its scores (n_docs,) of the validation set.

    `undeclared` says whether it drew random numbers although its ranker says that it does not,
    `reused` whether its training was stored before.
    """

    ranker: Ranker
    trial: Trial
    scores: np.ndarray
    undeclared: bool
    training: Training
    reused: bool


def _fitted_all(
    fit: Callable[[Settings], _Candidate], settings: Sequence[Settings], at_once: bool
) -> list[_Candidate]:
    tasks = [partial(fit, each) for each in settings]
    if not at_once:
        return [task() for task in tasks]
    with one_blas_thread():  # the first thread that is done would end another's own limit
        return in_turn(tasks)


def _fitted(
    cls: type[Ranker],
    train: QuerySet,
    validation: Validation,
    seed: np.random.SeedSequence,
    time_limit: float | None,
    stored: Mapping[str, Training],
    settings: Settings,
) -> _Candidate:
    start = time.perf_counter()
    rng = np.random.default_rng(seed)
    untouched = rng.bit_generator.state
    ranker = cls(**settings)
    key = setting_text(ranker.get_params())
    training = stored.get(key)
    learned = None if training is None else chosen_anew(training.learned, validation)
    if learned is None:
        ranker.fit_sets(train, validation, rng, time_limit)
        training = Training(key, ranker.learned)
    else:
        ranker.with_learned(learned, train)
    undeclared = rng.bit_generator.state != untouched and not ranker.draws
    seconds = time.perf_counter() - start
    scores = ranker.predict(validation.queries)
    value = -math.inf if np.isnan(scores).any() else float(validation(scores).mean())
    curve, best = ranker.learned.curve, ranker.learned.best
    trial = Trial(settings, value, curve, best, seconds, ranker.learned.cut_off)
    reused = learned is not None
    return _Candidate(ranker, trial, scores, undeclared, training, reused)


def _chosen(candidates: Sequence[_Candidate]) -> _Candidate:
    """Return the first of the best; one with NaN loses to any other."""
    return max(candidates, key=lambda candidate: candidate.trial.value)


def _differ(candidates: Sequence[_Candidate]) -> bool:
    return len({candidate.trial.value for candidate in candidates}) > 1
