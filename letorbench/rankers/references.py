"""Reference points: rankers that know nothing, one feature, or everything.

`random` and `best-feature` run like any algorithm. `ideal` reads the labels that it is measured by,
so it is not an algorithm: it is never ranked, compared or called the best, and `--algo all` leaves
it out.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from letorbench.compiled.threads import parallel_for
from letorbench.errors import UsageError
from letorbench.models.linear import Linear
from letorbench.rankers.base import FitResult, Generator, QuerySet, Ranker, Validation


class _Reference(Ranker):
    families = ("reference",)
    paper = "none: a reference point"
    auto_features = "raw"
    learns = False
    takes_missing = True

    def learn(self, train: QuerySet, validation: Validation | None, rng: Generator) -> FitResult:
        return FitResult(Linear(np.zeros(train.n_features)))


@dataclass
class Random(_Reference):
    """The mean over all orders of each query's documents, all equally likely.

    Notes
    -----
    All its scores are 0. Its measures are exact means over all orders, not those of one order, see
    `letorbench.measures.evaluation`. A tool that reads these scores ranks documents in file order
    and prints other numbers.
    """

    name = "random"
    title = "Reference point: the mean over all orders of a query's documents"
    formula = "s = 0; every order of ties is as likely"

    def _scores(self, features: np.ndarray, offsets: np.ndarray | None = None) -> np.ndarray:
        return np.zeros(len(features))  # also for missing values


@dataclass
class BestFeature(_Reference):
    """The one feature, or its negative, that is best on validation.

    Notes
    -----
    Equal values have no order: NDCG and MAP of a feature are means over all orders of equal values.
    Of equally good features the first is taken, ascending before descending. Without a validation
    set, the training set chooses.
    """

    name = "best-feature"
    title = "Reference point: the single feature, up or down, that is best on validation"
    formula = "s = x_k or s = -x_k"
    feature_order_matters = (
        "of features that are equally good on validation the first is taken; on other documents "
        "they may differ"
    )
    learns, takes_missing = True, False

    def learn(self, train: QuerySet, validation: Validation | None, rng: Generator) -> FitResult:
        judge = validation or Validation.on_training(train)
        values = np.empty((2, train.n_features))

        def part(start: int, stop: int) -> None:
            for k in range(start, stop):
                column = judge.queries.features[:, k].astype(np.float64)
                values[:, k] = (
                    judge.expectation_over_ties(column),
                    judge.expectation_over_ties(-column),
                )

        parallel_for(part, train.n_features)
        # features that differ by rounding alone are equally good
        best = np.flatnonzero(values.ravel() >= values.max(initial=0.0) - 1e-12)
        weights = np.zeros(train.n_features)
        if len(best):
            direction, k = divmod(int(best[0]), train.n_features)
            weights[k] = -1.0 if direction else 1.0
        return FitResult(Linear(weights))


@dataclass
class Ideal(_Reference):
    """The order of the labels themselves, of the test part too.

    Notes
    -----
    Its scores are the labels, so it scores a `QuerySet` and not features alone.
    """

    name = "ideal"
    title = "Reference point, not an algorithm: the order of the test labels themselves"
    formula = "s = r"
    published = False

    def predict(self, X: ArrayLike | QuerySet) -> np.ndarray:
        """Return the labels of a query set, (n_docs,) float64; UsageError for plain features."""
        if not isinstance(X, QuerySet):
            raise UsageError("ideal: found features alone, expected a QuerySet: it reads labels")
        return X.labels.astype(np.float64)
