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
    """

    settings: Settings
    value: float
    curve: tuple[float, ...]
    best: int | None
    seconds: float

    def as_json(self) -> dict[str, object]:
        """Return what fit.json says of one setting of a grid."""
        return {
            "settings": self.settings,
            "value": self.value,
            "curve": self.curve,
            "best": self.best,
            "seconds": self.seconds,
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


def select(
    cls: type[Ranker],
    fixed: Settings,
    train: QuerySet,
    validation: Validation,
    seed: np.random.SeedSequence,
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
    """
    free = grid(cls, fixed)
    trials: list[Trial] = []
    kept: tuple[Ranker, np.ndarray] | None = None
    highest = -math.inf
    for values in itertools.product(*free.values()):
        chosen = {**fixed, **dict(zip(free, values))}
        start = time.perf_counter()
        ranker = cls(**chosen).fit_sets(train, validation, np.random.default_rng(seed))
        seconds = time.perf_counter() - start
        scores = ranker.predict(validation.queries.features)
        value = -math.inf if np.isnan(scores).any() else validation(scores)
        learned = ranker.learned
        trials.append(Trial(chosen, value, learned.curve, learned.best, seconds))
        if kept is None or value > highest:
            kept, highest, best = (ranker, scores), value, trials[-1]
    ranker, scores = kept
    edges = edge_warnings(free, best.settings, trials)
    return Selected(ranker, best, tuple(trials), scores, (*ranker.learned.warnings, *edges))


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
