"""Model selection: every setting of a ranker's grid is trained, and validation chooses one.

If the chosen setting has the smallest or the largest number of its grid, the grid grows there: the
next number is trained too, and validation chooses again. A protocol says by which measure and
which rule validation chooses, and whether grids grow.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from letorbench.choices import require_choice
from letorbench.datasets.queryset import QuerySet
from letorbench.experiment.grids import Grid, edge_warnings, grid, grown, settings_tried
from letorbench.experiment.settings import Settings
from letorbench.fit_warnings import FitWarning
from letorbench.rankers.base import Ranker
from letorbench.solvers.stopping import Rule, Validation, best, latest
from letorbench.threads import one_blas_thread, run_tasks, thread_count

#: so many numbers are little data: threads gain most there by training a whole setting each
LITTLE = 5_000_000


@dataclass(frozen=True)
class SelectionProtocol:
    """One way to choose on the validation part."""

    #: what is chosen by where the user names no measure
    measure: str
    #: chooses among rounds and among epochs; of the settings of a grid, the plain best is taken
    rule: Rule
    #: whether a grid whose edge is chosen is extended
    grows: bool


#: the protocols by name: ours, LETOR's for its baselines, that of the papers
PROTOCOLS = {
    "default": SelectionProtocol("ndcg@10", latest, grows=True),
    "letor": SelectionProtocol("map", best, grows=False),
    "published": SelectionProtocol("ndcg@10", best, grows=False),
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
    `grids.grown`.
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
    together = cls.one_thread or train.features.size <= LITTLE
    trials = _each(trial, cls, settings_tried(cls, fixed), together)
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


def _each(
    trial: Callable[[Settings], Trial],
    cls: type[Ranker],
    settings: Sequence[Settings],
    together: bool,
) -> list[Trial]:
    """Return a trial of each setting; together: several are trained at the same time."""
    if not together or thread_count() == 1:
        return [trial(each) for each in settings]
    # those that take longest begin first
    order = sorted(range(len(settings)), key=lambda n: -cls(**settings[n]).effort)
    with one_blas_thread():  # the first thread that is done would end another's own limit
        made = dict(zip(order, run_tasks([partial(trial, settings[n]) for n in order])))
    return [made[n] for n in range(len(settings))]


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
