"""Model selection: every setting of a ranker's grid is trained, and validation chooses one.

If the chosen setting has the smallest or the largest number of its grid, the grid grows there: the
next number is trained as well, and validation chooses again. A protocol defines the measure and the
rule of the choice, and whether grids grow.
"""

import itertools
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from letorbench.choices import require_choice
from letorbench.compiled.threads import one_blas_thread, run_tasks
from letorbench.datasets.queryset import QuerySet
from letorbench.rankers.base import Ranker
from letorbench.solvers.fit_warnings import FitWarning
from letorbench.solvers.stopping import Rule, Validation, best, latest

#: hyper-parameters by their names
Settings = Mapping[str, Any]
#: from a hyper-parameter to the values that are tried
Grid = Mapping[str, Sequence[Any]]
#: the most numbers by which a grid grows below its smallest and above its largest number
MOST_STEPS = 4
#: integers are not made smaller than this: a tree has at least two leaves
LEAST_WHOLE = 2
#: the most numbers in a small training set, for which each thread trains a different setting
LITTLE = 5_000_000


@dataclass(frozen=True)
class SelectionProtocol:
    """One way to choose on the validation part; `labels.SELECTED_BY` has its usual measure."""

    rule: Rule  # chooses among rounds and epochs; among the settings of a grid, the best mean wins
    grows: bool  # whether a grid whose edge is chosen is extended


#: the protocols by name: this package's, LETOR's for its baselines, that of the papers
PROTOCOLS = {
    "default": SelectionProtocol(latest, grows=True),
    "letor": SelectionProtocol(best, grows=False),
    "published": SelectionProtocol(best, grows=False),
}


def selection_protocol(name: str) -> SelectionProtocol:
    """Return a protocol by its name; UsageError for an unknown one suggests the nearest."""
    return PROTOCOLS[require_choice(name, list(PROTOCOLS), "protocol")]


@dataclass(frozen=True, eq=False)
class Trial:
    """One trained setting of the grid, and its model's quality on validation."""

    settings: Settings  # fixed hyper-parameters and those of the grid
    ranker: Ranker
    scores: np.ndarray  # (n_docs,) float64, of the validation set
    value: float  # the validation measure; -inf if scores hold NaN
    seconds: float  # of training

    def as_json(self) -> dict[str, object]:
        """Return the entry of the trial in fit.json."""
        learned = self.ranker.learned
        return {
            "settings": self.settings,
            "value": self.value,
            "curve": learned.curve,
            "best": learned.best,
            "seconds": self.seconds,
            "cut_off": learned.cut_off,
        }


@dataclass(frozen=True, eq=False)
class Selected:
    """The choice of validation, and its alternatives."""

    chosen: Trial
    trials: tuple[Trial, ...]  # all, in the order of the grid, then those by which it grew
    warnings: tuple[FitWarning, ...]

    @property
    def ranker(self) -> Ranker:
        return self.chosen.ranker

    @property
    def validation_scores(self) -> np.ndarray:
        """The ranker's scores of the validation part, (n_docs,) float64."""
        return self.chosen.scores

    def as_json(self, measure: str) -> dict[str, object]:
        """Return the entry of validation in fit.json, with the measure that chose."""
        chosen = self.chosen.as_json()
        several = self.trials if len(self.trials) > 1 else ()
        return {
            "measure": measure,
            **{key: chosen[key] for key in ("value", "curve", "best")},
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
) -> Selected:
    """Train each setting of the grid; choose the first of those that are best on validation.

    Every setting starts from the same random state, so its model does not depend on the other
    settings. A model with NaN among its scores loses to any other. `fixed` has the hyper-parameters
    that the user fixed. The training of each setting ends after `time_limit` seconds. For `grows`
    see `grown`.
    """

    def trial(settings: Settings) -> Trial:
        start = time.perf_counter()
        rng = np.random.default_rng(seed)
        ranker = cls(**settings).fit_sets(train, validation, rng, time_limit)
        seconds = time.perf_counter() - start
        scores = ranker.predict(validation.queries)
        value = -math.inf if np.isnan(scores).any() else float(validation(scores).mean())
        return Trial(settings, ranker, scores, value, seconds)

    free = grid(cls, fixed)
    tried: Grid = free
    every = [partial(trial, settings) for settings in settings_tried(cls, fixed)]
    if cls.one_thread or train.features.size <= LITTLE:
        # threadpoolctl limits are process-wide: set once here, or the first thread to leave would
        # lift the limit for the others
        with one_blas_thread():
            # the last settings of a grid take longest, so they begin first
            trials = run_tasks(every[::-1])[::-1]
    else:
        trials = [each() for each in every]
    chosen = _best(trials)
    while grows and _differ(trials):
        further = grown(free, tried, chosen.settings)
        if further is None:
            break
        key, number = further
        tried = {**tried, key: (*tried[key], number)}
        trials.append(trial({**chosen.settings, key: number}))
        chosen = _best(trials)
    warnings = (
        *time_warnings(trials, time_limit),
        *chosen.ranker.learned.warnings,
        # if validation cannot separate the settings, an edge means nothing
        *(edge_warnings(tried, chosen.settings, grows) if _differ(trials) else []),
    )
    return Selected(chosen, tuple(trials), warnings)


def _best(trials: Sequence[Trial]) -> Trial:
    return max(trials, key=lambda trial: trial.value)


def _differ(trials: Sequence[Trial]) -> bool:
    return len({trial.value for trial in trials}) > 1


def time_warnings(trials: Sequence[Trial], time_limit: float | None) -> list[FitWarning]:
    """Return a warning if the time limit ended any training."""
    cut = sum(trial.ranker.learned.cut_off for trial in trials)
    if not cut:
        return []
    text = f"the time limit of {time_limit:g} s cut off {cut} of {len(trials)} fits"
    return [FitWarning("cut off", text)]


def grid(cls: type[Ranker], fixed: Settings) -> dict[str, tuple[object, ...]]:
    """Return the ranker's grid without the hyper-parameters that the user fixed."""
    return {key: tuple(values) for key, values in cls.grid.items() if key not in fixed}


def settings_tried(cls: type[Ranker], fixed: Settings) -> list[dict[str, Any]]:
    """Return the hyper-parameters of every point of the grid, with those that the user fixed."""
    free = grid(cls, fixed)
    return [{**fixed, **dict(zip(free, values))} for values in itertools.product(*free.values())]


def draws(cls: type[Ranker], fixed: Settings) -> bool:
    """Return whether the ranker draws random numbers at any point of its grid."""
    return any(cls(**chosen).draws for chosen in settings_tried(cls, fixed))


def is_numeric(values: Sequence[object]) -> bool:
    """Return whether these are three or more positive numbers; fewer are alternatives, no range."""
    numbers = (isinstance(v, (int, float)) and not isinstance(v, bool) and v > 0 for v in values)
    return len(values) >= 3 and all(numbers)


def edge(values: Sequence[Any], chosen: object) -> str | None:
    """Return whether the chosen number is the "smallest" or the "largest" of a numeric grid."""
    if not is_numeric(values):
        return None
    ends = {min(values): "smallest", max(values): "largest"}
    return ends.get(chosen)


def next_number(values: Sequence[float], end: str) -> float | None:
    """Return the number beyond the "smallest" or "largest" one, by the factor of the last step.

    None if the next number would be too small an integer.

    Examples
    --------
    >>> next_number((0.01, 0.1, 1.0), "largest"), next_number((4, 7, 15, 31), "largest")
    (10.0, 64)
    >>> next_number((2, 3, 4), "smallest") is None
    True
    """
    ordered = sorted(values, reverse=end == "smallest")
    number = ordered[-1] * ordered[-1] / ordered[-2]
    if all(isinstance(value, int) for value in values):
        return round(number) if round(number) >= LEAST_WHOLE else None
    return float(f"{number:.6g}")


def grown(free: Grid, tried: Grid, chosen: Settings) -> tuple[str, float] | None:
    """Return the hyper-parameter whose grid grows next, and the new number, or None.

    `free` is the ranker's grid, `tried` the grown one. None: the choice is not at an end, or only
    at ends that have grown `MOST_STEPS` times.
    """
    for key, values in tried.items():
        end = edge(values, chosen[key])
        if end is None:
            continue
        beyond = min(free[key]) if end == "smallest" else max(free[key])
        steps = sum(v < beyond if end == "smallest" else v > beyond for v in values)
        number = next_number(values, end) if steps < MOST_STEPS else None
        if number is not None:
            return key, number
    return None


def edge_warnings(tried: Grid, chosen: Settings, grows: bool) -> list[FitWarning]:
    """Return a warning for each numeric grid whose end is chosen, grown or not."""
    warnings = []
    for key, values in tried.items():
        end = edge(values, chosen[key])
        if end is not None:
            bound = ", which grows no further" if grows else ""
            text = f"the best {key} = {chosen[key]} is the {end} of its grid{bound}"
            warnings.append(FitWarning("grid edge", text))
    return warnings
