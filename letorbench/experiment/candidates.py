"""The settings of a grid, trained, and several of them at the same time on several threads."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.errors import FAILURES
from letorbench.experiment.settings import Settings
from letorbench.rankers.base import Ranker
from letorbench.results.trials_file import Training, setting_text
from letorbench.solvers.fit_result import reselect
from letorbench.solvers.stopping import Validation
from letorbench.threads import one_blas_thread, run_tasks


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


#: trains a setting
Fit = Callable[[Settings], Candidate]


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
    curve, best = ranker.learned.curve, ranker.learned.best
    trial = Trial(settings, value, curve, best, seconds, ranker.learned.cut_off)
    reused = learned is not None
    return Candidate(ranker, trial, scores, undeclared, training, reused)


def fit_at_once(
    fit: Fit, settings: Sequence[Settings], efforts: Sequence[float]
) -> list[Candidate]:
    """Train settings on all threads; those with the largest efforts begin first."""
    order = sorted(range(len(settings)), key=lambda n: -efforts[n])
    with one_blas_thread():  # the first thread that is done would end another's own limit
        made = dict(zip(order, run_tasks([partial(fit, settings[n]) for n in order])))
    return [made[n] for n in range(len(settings))]


def fit_while_better(fit: Fit, settings: Sequence[Settings], best: float) -> list[Candidate]:
    """Train one or two settings; the second is wanted only if the first is better than `best`.

    Both are trained at the same time. The first ends the training of a second that is not wanted.
    """
    if len(settings) == 1:
        return [fit(settings[0])]
    made: dict[int, Candidate] = {}
    failed: list[BaseException] = []

    def first() -> None:
        made[0] = fit(settings[0])
        if not made[0].trial.value > best:
            raise _NotBetter

    def second() -> None:
        try:
            made[1] = fit(settings[1])
        except FAILURES as error:  # it counts only if the setting does
            failed.append(error)

    with suppress(_NotBetter), one_blas_thread():
        run_tasks([first, second])
        if failed:
            raise failed[0]
        return [made[0], made[1]]
    return [made[0]]


class _NotBetter(Exception):
    """A setting is not better than those before it."""


def best_of(candidates: Sequence[Candidate]) -> Candidate:
    """Return the first of the best; one with NaN loses to any other."""
    return max(candidates, key=lambda candidate: candidate.trial.value)


def differ(candidates: Sequence[Candidate]) -> bool:
    """Whether validation tells the candidates apart."""
    return len({candidate.trial.value for candidate in candidates}) > 1
