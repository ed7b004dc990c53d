"""Queries that stand in several parts of a fold: what is learned of them is then tested."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from letorbench.datasets.queryset import Benchmark


def leak(benchmark: Benchmark) -> str:
    """Return a line on the first fold that has a query in two of its parts, "" for none."""
    for fold in benchmark.folds:
        for (one, left), (other, right) in combinations(fold.parts.items(), 2):
            both = np.intersect1d(left.qids, right.qids)
            if len(both):
                queries = "1 query" if len(both) == 1 else f"{len(both)} queries"
                return (
                    f"fold {fold.number} has {queries} (such as {both[0]}) in its {one} and its "
                    f"{other} part; this is a leak, unless each file numbers its own queries"
                )
    return ""
