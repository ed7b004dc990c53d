"""Model selection: every setting of a ranker's grid is trained, validation picks one."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.experiment.settings import Settings
from letorbench.rankers.base import Ranker
from letorbench.solvers.validation import Validation


@dataclass(frozen=True, eq=False)
class Trial:
    """One setting of the grid with what validation made of its model, and its curve."""

    settings: Settings
    value: float
    curve: tuple[float, ...]
    best: int | None
    seconds: float


@dataclass(frozen=True, eq=False)
class Selected:
    """The fitted ranker that validation likes best, and how it came to be."""

    ranker: Ranker
    trial: Trial
    trials: tuple[Trial, ...]
    warnings: tuple[str, ...]


def grid(cls: type[Ranker], fixed: Settings) -> dict[str, Sequence[object]]:
    """The ranker's grid without the hyper-parameters that the user fixed."""
    return {key: tuple(values) for key, values in cls.grid.items() if key not in fixed}


def select(
    cls: type[Ranker],
    fixed: Settings,
    train: QuerySet,
    validation: Validation,
    seed: np.random.SeedSequence,
) -> Selected:
    """Train each setting of the grid; the first of the best on validation is kept.

    Every setting starts from the same random state, so that a setting's model does not depend
    on what else is in the grid. A model with NaN among its scores loses to any other.
    """
    free = grid(cls, fixed)
    trials: list[Trial] = []
    kept: Ranker | None = None
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
            kept, highest, best = ranker, value, trials[-1]
    edges = edge_warnings(free, best.settings, trials)
    return Selected(kept, best, tuple(trials), (*kept.learned.warnings, *edges))


def edge_warnings(
    free: Mapping[str, Sequence[object]], chosen: Settings, trials: Sequence[Trial]
) -> list[str]:
    """A line for each ordered grid of three or more numbers whose chosen value is its end."""
    if len({trial.value for trial in trials}) < 2:
        return []  # validation cannot tell the settings apart: the edge means nothing
    lines = []
    for key, values in free.items():
        numeric = all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in values)
        if numeric and len(values) >= 3 and chosen[key] in (min(values), max(values)):
            end = "smallest" if chosen[key] == min(values) else "largest"
            lines.append(f"the best {key} = {chosen[key]} is the {end} of its grid")
    return lines
