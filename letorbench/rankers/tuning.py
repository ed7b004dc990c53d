"""Tuning: the ranges of hyper-parameters, settings drawn from them, and their training.

`--protocol tuned` gives every ranker the same number of settings. The first is the ranker's own
default, the others are a scrambled Sobol sequence over its ranges. The sequence depends on nothing
but these ranges, so that every fold and data set tries the same settings, and a smaller budget
tries the first of a larger one's.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median_high
from typing import Any, NamedTuple

import numpy as np

from letorbench.compiled.threads import one_blas_thread, run_tasks
from letorbench.datasets.queryset import QuerySet
from letorbench.rankers.base import Ranker
from letorbench.rankers.estimator import hyper_parameters
from letorbench.solvers.stopping import Validation

#: hyper-parameters by their names
Settings = Mapping[str, Any]
#: the number of settings that a ranker may try; a number above the most is a mistake
BUDGET, MOST = 32, 10_000
#: the parameters that bound the rounds of a training, of which validation keeps the best
ROUNDS = ("rounds", "epochs", "iterations")
#: the seed of the sequence's scrambling, the same for every ranker
SCRAMBLING = 0
#: the most numbers in a small training set, for which each thread trains a different setting
LITTLE = 5_000_000


class Between(NamedTuple):
    """A range of a hyper-parameter: integers if both ends are, else real numbers.

    A hyper-parameter that means something only beside another's value has it in `beside`; without
    it the hyper-parameter keeps its default.
    """

    low: float
    high: float
    log: bool = False
    beside: tuple[str, object] | None = None

    def at(self, u: float) -> float:
        """Return the number at a place u in [0, 1).

        Examples
        --------
        >>> Between(0.01, 1.0, log=True).at(0.5), Between(1, 4).at(0.999)
        (0.1, 4)
        """
        whole = isinstance(self.low, int) and isinstance(self.high, int)
        high = self.high + 1 if whole else self.high
        at = self.low * (high / self.low) ** u if self.log else self.low + u * (high - self.low)
        # four digits: the same text on every machine, whatever its last bits of a power are
        return min(int(at), int(self.high)) if whole else float(f"{at:.4g}")


#: from a hyper-parameter to its range, or to its alternatives
Ranges = Mapping[str, Between | tuple[Any, ...]]


def free_ranges(cls: type[Ranker], fixed: Settings, budget: int | None) -> Ranges:
    """Return the ranges of what the user did not fix; none without a budget."""
    if budget is None:
        return {}
    return {key: each for key, each in cls.ranges.items() if key not in fixed}


def drawn_settings(cls: type[Ranker], fixed: Settings, budget: int) -> list[dict[str, Any]]:
    """Return up to `budget` different settings: the default, then those of the Sobol sequence."""
    # a short import time matters to every command, and only tuning needs the module
    from scipy.stats import qmc

    ranges, default = free_ranges(cls, fixed, budget), cls().get_params()
    # a whole power of two of points is balanced; its first ones are those of a smaller power
    exponent = math.ceil(math.log2(max(budget - 1, 1)))
    sequence = qmc.Sobol(max(len(ranges), 1), scramble=True, seed=SCRAMBLING)
    points = sequence.random_base2(exponent)[: budget - 1]
    # a parameter of a library, which is no field, has the library's default
    settings = [{**fixed, **{key: default[key] for key in ranges if key in default}}]
    for point in points:
        values = {
            key: each.at(u) if isinstance(each, Between) else each[int(u * len(each))]
            for u, (key, each) in zip(point.tolist(), ranges.items())
        }
        merged = {**fixed, **values}
        for key, each in ranges.items():
            beside = each.beside if isinstance(each, Between) else None
            if beside and {**default, **merged}[beside[0]] != beside[1]:
                merged[key] = default[key]
        settings.append(merged)
    different: dict[tuple[Any, ...], dict[str, Any]] = {}
    for one in settings:
        different.setdefault(tuple(one.get(key) for key in ranges), one)
    return [*different.values()]


@dataclass(frozen=True, eq=False)
class Trial:
    """One trained setting, and its model's quality on validation."""

    settings: Settings  # fixed hyper-parameters and those of the grid
    ranker: Ranker
    scores: np.ndarray  # (n_docs,) float64, of the validation set
    value: float  # the validation measure; -inf if scores hold NaN
    seconds: float  # of training

    def as_json(self) -> dict[str, object]:
        """Return the entry of the trial in fit.json."""
        learned = self.ranker.learned
        return {
            "settings": self.settings, "value": self.value, "curve": learned.curve,
            "best": learned.best, "seconds": self.seconds, "cut_off": learned.cut_off,
        }  # fmt: skip


def trial(
    cls: type[Ranker],
    train: QuerySet,
    validation: Validation,
    seed: np.random.SeedSequence,
    time_limit: float | None,
    settings: Settings,
) -> Trial:
    """Train a ranker with these settings, for `time_limit` seconds at most."""
    start = time.perf_counter()
    # a copy: a seed counts the children that a ranker spawns, and numbers on for other settings
    rng = np.random.default_rng(np.random.SeedSequence(seed.entropy, spawn_key=seed.spawn_key))
    ranker = cls(**settings).fit_sets(train, validation, rng, time_limit)
    seconds = time.perf_counter() - start
    scores = ranker.predict(validation.queries)
    value = -math.inf if np.isnan(scores).any() else float(validation(scores).mean())
    return Trial(settings, ranker, scores, value, seconds)


def trials(
    cls: type[Ranker],
    tried: Sequence[Settings],
    train: QuerySet,
    validation: Validation,
    seed: np.random.SeedSequence,
    time_limit: float | None = None,
) -> list[Trial]:
    """Train every setting from the same random state, so that none depends on the others."""
    every = [partial(trial, cls, train, validation, seed, time_limit, each) for each in tried]
    if cls.one_thread or train.features.size <= LITTLE:
        # threadpoolctl limits are process-wide: set once here, or the first thread to leave would
        # lift the limit for the others
        with one_blas_thread():
            # the last settings of a grid take longest, so they begin first
            return run_tasks(every[::-1])[::-1]
    return [each() for each in every]


def bounded(cls: type[Ranker], settings: Settings, kept: Sequence[int | None]) -> dict[str, Any]:
    """Return settings for a training on all queries: the median of the rounds that were kept."""
    rounds = [each for each in kept if each is not None]
    if len(rounds) < len(kept):  # it has none
        return {**settings}
    bounds = [each for each in ROUNDS if each in hyper_parameters(cls)]
    return {**settings, **dict.fromkeys(bounds, max(1, median_high(rounds)))}


def best_of(tried: Sequence[Trial]) -> Trial:
    """Return the first of those that are best on validation."""
    return max(tried, key=lambda each: each.value)
