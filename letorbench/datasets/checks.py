"""Warnings about data: another convention may be meant, or queries leak between parts."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from letorbench.datasets.catalog import CATALOG
from letorbench.datasets.queryset import Benchmark

#: the convention of data sets that no official LETOR tool measures
STANDARD = "standard"


def check_convention(
    n_features: int, max_label: int, convention: str, chosen: bool = True
) -> str | None:
    """Return one line for the user where an official tool measures data of such a shape.

    `standard` fits any data where the user has chosen it.
    """
    if convention == STANDARD and chosen:
        return None
    for entry in CATALOG.values():
        alike = n_features == entry.n_features and 0 < max_label <= entry.max_label
        if alike and entry.convention not in (STANDARD, convention):
            return (
                f"found {n_features} features and labels up to {max_label}, as {entry.name} has; "
                f"--convention {entry.convention} may be meant"
            )
    return None


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
