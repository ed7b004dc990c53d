"""The validation set, and the measure that every choice is made by."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from letorbench.conventions import CONVENTIONS, Convention
from letorbench.datasets.queryset import QuerySet
from letorbench.measures import Measure, PreparedMetric, parse, query_metrics


@dataclass(frozen=True, eq=False)
class Validation:
    """A validation set with the measure that every choice is made by."""

    queries: QuerySet
    measure: Measure = parse("ndcg@10")
    convention: Convention = CONVENTIONS["standard"]

    def __call__(self, scores: np.ndarray) -> float:
        """The mean of the measure over the queries, for scores (n_docs,) in file order."""
        if self._prepared is not None:
            return float(self._prepared(scores).mean())
        values = query_metrics(
            self.queries.labels, scores, self.queries.offsets, [self.measure], self.convention
        )
        return float(values[:, 0].mean())

    @cached_property
    def _prepared(self) -> PreparedMetric | None:
        """The quick way to the measure, where there is one."""
        queries = self.queries
        return PreparedMetric.of(queries.labels, queries.offsets, self.measure, self.convention)
