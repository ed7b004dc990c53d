"""Model selection: every setting of a ranker's grid is trained, and validation chooses one.

If the chosen setting has the smallest or the largest number of its grid, the grid grows there: the
next number is trained too, and validation chooses again. A protocol says by which measure and
which rule validation chooses, and whether grids grow.
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
from letorbench.datasets.queryset import QuerySet
from letorbench.experiment.entrants import Settings
from letorbench.fit_warnings import FitWarning
from letorbench.rankers.base import Ranker
from letorbench.solvers.stopping import Rule, Validation, best, latest
from letorbench.threads import one_blas_thread, run_tasks

#: from a hyper-parameter to the values that are tried
Grid = Mapping[str, Sequence[Any]]

#: a grid grows by so many numbers at most, below its smallest and above its largest
MOST_STEPS = 4
#: a whole number is not made smaller than this: a tree has two leaves at least
LEAST_WHOLE = 2
#: the most numbers of a small set: there each thread trains a setting of its own
LITTLE = 5_000_000


@dataclass(frozen=True)
class SelectionProtocol:
    """One way to choose on the validation part; `labels.SELECTED_BY` has its usual measure."""

    #: chooses among rounds and among epochs; of the settings of a grid, the plain best is taken
    rule: Rule
    #: whether a grid whose edge is chosen is extended
    grows: bool


#: the protocols by name: ours, LETOR's for its baselines, that of the papers
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
    """One setting of the grid, trained, and how its model does on validation."""

    #: the hyper-parameters that were fixed or taken from the grid
    settings: Settings
    ranker: Ranker
    #: (n_docs,) float64: its scores of the validation set
    scores: np.ndarray
    #: the validation measure of the model; -inf where its scores hold NaN
    value: float
    #: how long training took
    seconds: float

    def as_json(self) -> dict[str, object]:
        """Return what fit.json says of the trial."""
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
    """What validation chose, and among what."""

    #: the best one
    chosen: Trial
    #: all, in the order of the grid, then what it grew by
    trials: tuple[Trial, ...]
    #: what a user must know
    warnings: tuple[FitWarning, ...]

    @property
    def ranker(self) -> Ranker:
        """The fitted ranker."""
        return self.chosen.ranker

    @property
    def validation_scores(self) -> np.ndarray:
        """The ranker's scores of the validation part, float64 of shape (n_docs,)."""
        return self.chosen.scores

    def as_json(self, measure: str) -> dict[str, object]:
        """Return what fit.json says of the validation, which chose by this measure."""
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

    Every setting starts from the same random state. A setting's model therefore does not depend
    on what else is in the grid. A model with NaN among its scores loses to any other.

    `fixed` has the hyper-parameters that the user fixed. The training of each setting ends after
    `time_limit` seconds. A grid `grows` where its smallest or largest number is chosen; see
    `grown`.
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
        with one_blas_thread():  # the first thread that is done would end another's own limit
            # grids rise to what takes longest, which begins first
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
        # where validation cannot tell the settings apart, an edge means nothing
        *(edge_warnings(tried, chosen.settings, grows) if _differ(trials) else []),
    )
    return Selected(chosen, tuple(trials), warnings)


def _best(trials: Sequence[Trial]) -> Trial:
    """Return the first of the best; one with NaN loses to any other."""
    return max(trials, key=lambda trial: trial.value)


def _differ(trials: Sequence[Trial]) -> bool:
    """Return whether validation tells the settings apart."""
    return len({trial.value for trial in trials}) > 1


def time_warnings(trials: Sequence[Trial], time_limit: float | None) -> list[FitWarning]:
    """Return a warning if the time limit ended trainings."""
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
    """Whether these are three or more positive numbers: fewer are alternatives, not a range."""
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

    It is None if whole numbers go no further.

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
    """Return the hyper-parameter whose grid grows next, and by which number.

    `free` is the grid as the ranker has it, `tried` what it has grown to. None where validation has
    chosen no end, or only ends that have grown `MOST_STEPS` times.
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
