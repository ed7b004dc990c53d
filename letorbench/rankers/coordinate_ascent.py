"""Coordinate ascent: a linear score that climbs a measure, one feature's weight at a time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from letorbench.conventions import CONVENTIONS
from letorbench.datasets.queryset import QuerySet
from letorbench.errors import UsageError
from letorbench.measures import parse
from letorbench.models.linear import Linear
from letorbench.rankers.base import Ranker, one_of
from letorbench.solvers.fit_result import FitResult
from letorbench.solvers.stopping import Validation
from letorbench.threads import run_tasks

#: how much a step must raise the mean of the measure: less is rounding
LEAST_RISE = 1e-9
#: a narrower interval is one of rounding, as a share of its ends
NARROWEST = 1e-12


class _Climb(NamedTuple):
    """The mean measure at a start and after each sweep, and the weights (n_features,) at the end."""

    history: list[float]
    w: np.ndarray


@dataclass
class CoordinateAscent(Ranker):
    name = "coordinate-ascent"
    title = "Linear scores that climb a measure itself, weight by weight"
    paper = "Metzler, Croft: Linear Feature-Based Models for Information Retrieval, IR 2007"
    formula = "mean over queries of the measure, maximised"
    draws = True

    measure: str = "ndcg@10"
    restarts: int = 5
    sweeps: int = 2
    tolerance: float = 1e-3
    keep: str = one_of(("mean","train","vali"), "mean")

    def learn(
        self, train: QuerySet, validation: Validation | None, rng: np.random.Generator
    ) -> FitResult:
        climbs = run_tasks([partial(self._climb, Validation(train, parse(self.measure)), np.ascontiguousarray(train.features.T, dtype=np.float64), each) for each in rng.spawn(self.restarts)])
        if self.keep=="mean": w=np.mean([c.w for c in climbs],0)
        elif self.keep=="train": w=max(climbs,key=lambda c:c.history[-1]).w
        else: w=max(climbs,key=lambda c:validation(validation.queries.features@c.w).mean()).w
        self.climbs=climbs
        return FitResult(Linear(w))

    def _climb(self, train, columns, rng):
        metric = train._prepared
        w = np.full(len(columns), 1.0 / len(columns))
        scores = columns.T @ w
        history = [float(train(scores).mean())]
        for _ in range(self.sweeps):
            for k in rng.permutation(len(w)):
                step = _best_step(*metric.changes(scores, columns[k]))
                if step:
                    w[k] += step
                    scores += step * columns[k]
                    size = np.abs(w).sum()  # a score's scale changes no ranking
                    w, scores = w / size, scores / size
            size = np.abs(w).sum()  # a score's scale changes no ranking
            w, scores = w / size, scores / size
            history.append(float(train(scores).mean()))
            if history[-1] - history[-2] < self.tolerance or self.deadline.passed:
                break
        return _Climb(history, w)


def _best_step(steps: np.ndarray, changes: np.ndarray) -> float:
    """Return the middle of the best interval between steps, 0 where none is better than 0's."""
    if not len(steps):
        return 0.0
    ends = np.concatenate(([steps[0] - 2.0], steps, [steps[-1] + 2.0]))
    level = np.concatenate(([0.0], np.cumsum(changes)))
    rise = level - level[np.searchsorted(steps, 0.0)]
    width = np.diff(ends)
    rise[width <= NARROWEST * (1.0 + np.abs(ends[:-1]))] = 0.0
    best = int(np.argmax(rise))
    return float(ends[best] + ends[best + 1]) / 2.0 if rise[best] > LEAST_RISE else 0.0
