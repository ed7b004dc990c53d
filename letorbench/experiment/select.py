"""Model selection: every setting of a ranker's grid is trained, and validation picks one.

Where the setting that is picked has the smallest or the largest number of its grid, the grid
grows there: the next number is trained too, and validation picks again. A protocol says by which
measure and which rule is chosen, and whether grids grow.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from types import MappingProxyType

import numpy as np

from letorbench.choices import require_choice
from letorbench.datasets.queryset import QuerySet
from letorbench.experiment.grids import Grid, edge_warnings, grid, grown, settings_tried
from letorbench.experiment.settings import Settings
from letorbench.fit_warnings import FitWarning
from letorbench.rankers.base import Ranker
from letorbench.results.trainings import Training, setting_text
from letorbench.solvers.fit_result import reselect
from letorbench.solvers.stopping import Rule, Validation, best, latest
from letorbench.threads import one_blas_thread, run_tasks, thread_count

#: a fit that takes so many times the time limit is worth a warning
OVERRUN = 2.0
#: the warning for a ranker that runs once although its seed matters
UNDECLARED = FitWarning(
    "other", "random numbers are drawn, but its property `draws` is false: it is not repeated"
)


@dataclass(frozen=True)
class SelectionProtocol:
    """One way to choose on the validation part.

    Attributes
    ----------
    measure : str
        What is chosen by where the user names no measure.
    rule : callable
        Chooses among rounds and among epochs. Of the settings of a grid, the plain best is taken.
    grows : bool
        Whether a grid whose edge is chosen is extended.
    """

    measure: str
    rule: Rule
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


@dataclass(frozen=True, eq=False)
class Candidate:
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


@dataclass(frozen=True, eq=False)
class Selected:
    """What validation chose, and among what.

    Attributes
    ----------
    chosen : Candidate
        The best one.
    candidates : tuple of Candidate
        All, in the order of the grid, then what it grew by.
    warnings : tuple of FitWarning
        What a user must know.
    """

    chosen: Candidate
    candidates: tuple[Candidate, ...]
    warnings: tuple[FitWarning, ...]

    @property
    def ranker(self) -> Ranker:
        """The fitted ranker."""
        return self.chosen.ranker

    @property
    def trials(self) -> tuple[Trial, ...]:
        """All settings that were tried."""
        return tuple(candidate.trial for candidate in self.candidates)

    @property
    def validation_scores(self) -> np.ndarray:
        """The ranker's scores of the validation part, float64 of shape (n_docs,)."""
        return self.chosen.scores

    @property
    def trainings(self) -> tuple[Training, ...]:
        """What the trials trained, where another measure can choose among it."""
        return tuple(c.training for c in self.candidates if not c.ranker.judges_itself)

    @property
    def reused(self) -> int:
        """How many of the trainings were stored before."""
        return sum(candidate.reused for candidate in self.candidates)

    def as_json(self, measure: str) -> dict[str, object]:
        """Return what fit.json says of the validation, which chose by this measure."""
        trial, several = self.chosen.trial, self.trials if len(self.trials) > 1 else ()
        return {
            "measure": measure,
            "value": trial.value,
            "curve": trial.curve,
            "best": trial.best,
            "grid": [asdict(each) for each in several],
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
    settings = settings_tried(cls, fixed)
    if cls.one_thread and thread_count() > 1:
        candidates = fit_at_once(fit, settings, [cls(**each).effort for each in settings])
    else:
        candidates = [fit(each) for each in settings]
    chosen = _best(candidates)
    while grows and _differ(candidates):
        further = grown(free, tried, chosen.trial.settings)
        if further is None:
            break
        key, number = further
        tried = {**tried, key: (*tried[key], number)}
        candidates.append(fit({**chosen.trial.settings, key: number}))
        chosen = _best(candidates)
    warnings = (
        *time_warnings([candidate.trial for candidate in candidates], time_limit),
        *chosen.ranker.learned.warnings,
        # where validation cannot tell the settings apart, an edge means nothing
        *(edge_warnings(tried, chosen.trial.settings, grows) if _differ(candidates) else []),
        *([UNDECLARED] if any(candidate.undeclared for candidate in candidates) else []),
    )
    return Selected(chosen, tuple(candidates), warnings)


def fitted(
    cls: type[Ranker],
    train: QuerySet,
    validation: Validation,
    seed: np.random.SeedSequence,
    time_limit: float | None,
    stored: Mapping[str, Training],
    settings: Settings,
) -> Candidate:
    """Train a setting, or take what an earlier training gave; see `select`."""
    start = time.perf_counter()
    rng = np.random.default_rng(seed)
    untouched = rng.bit_generator.state
    ranker = cls(**settings)
    key = setting_text(ranker.get_params())
    training = stored.get(key)
    learned = None if training is None else reselect(training.learned, validation)
    if learned is None:
        ranker.fit_sets(train, validation, rng, time_limit)
        training = Training(key, ranker.learned)
    else:
        ranker.with_learned(learned, train)
    undeclared = rng.bit_generator.state != untouched and not ranker.draws
    seconds = time.perf_counter() - start
    scores = ranker.predict(validation.queries)
    value = -math.inf if np.isnan(scores).any() else float(validation(scores).mean())
    curve, rounds = ranker.learned.curve, ranker.learned.best
    trial = Trial(settings, value, curve, rounds, seconds, ranker.learned.cut_off)
    return Candidate(ranker, trial, scores, undeclared, training, learned is not None)


def fit_at_once(
    fit: Callable[[Settings], Candidate], settings: Sequence[Settings], efforts: Sequence[float]
) -> list[Candidate]:
    """Train settings on all threads; those with the largest efforts begin first."""
    order = sorted(range(len(settings)), key=lambda n: -efforts[n])
    with one_blas_thread():  # the first thread that is done would end another's own limit
        made = dict(zip(order, run_tasks([partial(fit, settings[n]) for n in order])))
    return [made[n] for n in range(len(settings))]


def _best(candidates: Sequence[Candidate]) -> Candidate:
    """Return the first of the best; one with NaN loses to any other."""
    return max(candidates, key=lambda candidate: candidate.trial.value)


def _differ(candidates: Sequence[Candidate]) -> bool:
    """Return whether validation tells the candidates apart."""
    return len({candidate.trial.value for candidate in candidates}) > 1


def time_warnings(trials: Sequence[Trial], time_limit: float | None) -> list[FitWarning]:
    """Return a warning where the time limit ended trainings, or where one overran it."""
    cut = sum(trial.cut_off for trial in trials)
    if cut:
        text = f"the time limit of {time_limit:g} s cut off {cut} of {len(trials)} fits"
        return [FitWarning("cut off", text)]
    longest = max(trial.seconds for trial in trials)
    if time_limit is not None and longest > OVERRUN * time_limit:
        text = f"a fit took {longest:.0f} s, more than the time limit of {time_limit:g} s"
        return [FitWarning("other", text)]
    return []
