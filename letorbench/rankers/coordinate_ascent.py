"""Coordinate ascent: a linear score that climbs a measure, one feature's weight at a time."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from letorbench.compiled.threads import run_tasks
from letorbench.losses.base import require_comparable
from letorbench.losses.gains import GainSettings
from letorbench.measures import parse
from letorbench.models.linear import Linear
from letorbench.parameters import number, one_of
from letorbench.rankers.base import FitResult, Generator, QuerySet, Ranker, Validation
from letorbench.rankers.tuning import Between

#: a step must raise the mean of the measure by this much: less is rounding
LEAST_RISE = 1e-9
#: an interval narrower than this times its ends is due to rounding
NARROWEST = 1e-12
#: the steps that are tried if breakpoints are not known; the weights sum to 1
TRIALS = 0.001 * (2.0 ** np.arange(1, 21) - 1.0)


@dataclass
class CoordinateAscent(GainSettings, Ranker):
    """Linear scores that maximise a measure on the training set, one weight at a time.

    A step t in weight k gives the scores w . x + t x_k. The measure changes only at the values of t
    at which two documents swap. So the best step is known exactly: it goes to the middle of the
    best interval between such breakpoints. This is done for NDCG and average precision, where all
    breakpoints cost less than a few trial steps. For other measures, and in the paper (section
    3.3), steps are tried: here 20 to each side, each about twice as long as the last.

    Parameters
    ----------
    measure : str
        The measure to maximise, under the convention `standard`.
    restarts : int
        The number of climbs. All begin with equal weights; each takes the features in another
        order.
    sweeps : int
        The largest number of passes over all weights in a climb.
    tolerance : float
        A climb ends after a sweep that raises the mean of the measure by less.
    keep : {"mean", "best"}
        "mean" keeps the mean of the climbs' final weights, each scaled to sum to 1; "best", as in
        the paper, keeps those with the highest measure on the training set.

    Notes
    -----
    Where the paper is silent: the weights begin equal, as RankLib's do; of several best intervals
    the first is taken; beyond the last breakpoint a step goes one unit further.

    Climbs on one training set end in different weights that are equally good there. On MQ2008's
    validation parts the mean of the weights was the better choice, and ten climbs were no better
    than RankLib's five, within the error of four seeds.
    """

    name = "coordinate-ascent"
    families = ("listwise", "linear")
    title = "Linear scores that climb NDCG or another measure, weight by weight"
    paper = "Metzler, Croft: Linear Feature-Based Models for Information Retrieval, IR 2007"
    formula = "mean_q NDCG@10(q, f), maximised"
    ranges = {"sweeps": Between(1, 8), "tolerance": Between(1e-5, 1e-2, log=True)}
    draws = True
    order_matters = "documents of equal scores are ranked in file order, as the measures rank them"

    measure: str = "ndcg@10"
    restarts: int = number(5, least=1)
    sweeps: int = number(1, least=1)
    tolerance: float = number(1e-3, least=0)
    keep: str = one_of(("mean", "best"), "mean")

    def __post_init__(self) -> None:
        super().__post_init__()
        parse(self.measure).require_cutoff()

    @property
    def parts(self) -> tuple[Any, ...]:
        return (parse(self.measure).function,)

    def learn(self, train: QuerySet, validation: Validation | None, rng: Generator) -> FitResult:
        measured = Validation.on_training(train, parse(self.measure), self.gain)
        metric = measured.prepared
        if metric is not None:
            require_comparable(train)
        columns = np.ascontiguousarray(train.features.T, dtype=np.float64)
        start = np.full(len(columns), 1.0 / max(1, len(columns)))
        orders = np.tile(np.arange(len(columns)), (self.restarts, self.sweeps, 1))
        orders = rng.permuted(orders, axis=-1)

        def mean(scores: np.ndarray) -> float:
            return float(measured(scores).mean())

        def best_step(scores: np.ndarray, column: np.ndarray) -> float:
            if metric is None:
                return best_trial(mean, scores, column)
            return middle_of_best(*metric.changes(scores, column))

        def climb(orders: np.ndarray) -> tuple[float, np.ndarray]:
            w, scores = start.copy(), Linear(start).predict(train.features)
            reached = mean(scores)
            for order in orders:
                before = reached
                for k in order:
                    if self.deadline.passed:
                        break
                    step = best_step(scores, columns[k])
                    w[k] += step
                    scores += step * columns[k]
                size = np.abs(w).sum() or 1.0  # a score's scale changes no ranking
                w, scores = w / size, scores / size
                reached = mean(scores)
                if reached - before < self.tolerance or self.deadline.passed:
                    break
            return reached, w

        climbs = run_tasks([partial(climb, each) for each in orders])
        if self.keep == "best":
            _, w = max(climbs, key=lambda each: each[0])
        else:
            w = np.mean([w for _, w in climbs], axis=0)
        objective = [-mean(Linear(each).predict(train.features)) for each in (start, w)]
        return FitResult(Linear(w), objective=tuple(objective), cut_off=self.deadline.passed)


def best_trial(
    mean: Callable[[np.ndarray], float], scores: np.ndarray, column: np.ndarray
) -> float:
    """Return the best of the steps `TRIALS` in both directions, 0 if none is better than step 0."""
    steps = [0.0, *TRIALS, *-TRIALS]
    means = np.array([mean(scores + step * column) for step in steps])
    best = int(np.argmax(means))
    return steps[best] if means[best] > means[0] + LEAST_RISE else 0.0


def middle_of_best(steps: np.ndarray, changes: np.ndarray) -> float:
    """Return the middle of the best interval between steps, 0 if none is better than step 0."""
    if not len(steps):
        return 0.0
    ends = np.concatenate(([steps[0] - 2.0], steps, [steps[-1] + 2.0]))
    level = np.concatenate(([0.0], np.cumsum(changes)))
    rise = level - level[np.searchsorted(steps, 0.0)]
    rise[np.diff(ends) <= NARROWEST * (1.0 + np.abs(ends[:-1]))] = 0.0
    highest = rise.max()
    if highest <= LEAST_RISE:
        return 0.0
    # the last bits depend on the order of equal steps
    best = int(np.argmax(rise >= highest - LEAST_RISE))
    return float(ends[best] + ends[best + 1]) / 2.0
