"""The validation set, and the measure that every choice is made by."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from letorbench.conventions import CONVENTIONS, Convention
from letorbench.datasets.queryset import QuerySet
from letorbench.measures import Measure, PreparedMetric, parse, query_metrics
from letorbench.solvers.rules import Rule, latest


@dataclass(frozen=True, eq=False)
class Validation:
    """A validation set with the measure and the rule that every choice is made by.

    Parameters
    ----------
    queries : QuerySet
    measure : Measure
    convention : Convention
    rule : callable
        Chooses the round or the epoch that is kept.
    """

    queries: QuerySet
    measure: Measure = parse("ndcg@10")
    convention: Convention = CONVENTIONS["standard"]
    rule: Rule = latest

    def __call__(self, scores: np.ndarray) -> np.ndarray:
        """Return the measure (n_queries,) for scores (n_docs,) in file order."""
        if self._prepared is not None:
            return self._prepared(scores)
        values = query_metrics(
            self.queries.labels, scores, self.queries.offsets, [self.measure], self.convention
        )
        return values[:, 0]

    def mean_of_orders(self, scores: np.ndarray) -> float:
        """The same, with the mean over all orders of equal scores where it is known (NDCG, MAP)."""
        if self._prepared is None:
            return float(self(scores).mean())
        return float(self._prepared.mean_of_orders(scores).mean())

    @cached_property
    def _prepared(self) -> PreparedMetric | None:
        """The quick way to the measure, where there is one."""
        queries = self.queries
        return PreparedMetric.of(queries.labels, queries.offsets, self.measure, self.convention)
