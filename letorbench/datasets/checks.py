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
    """Return one line for the user where the convention looks wrong for such data.

    `standard` fits any data where the user has chosen it.
    """
    widths, largest = _releases()
    like = next(
        (name for name in widths if n_features in widths[name] and 0 < max_label <= largest[name]),
        None,
    )
    found = f"{n_features} features and labels up to {max_label}"
    if like is not None and like != convention and not (convention == STANDARD and chosen):
        return f"found {found}, as {like}'s data sets have; --convention {like} may be meant"
    if convention not in largest:
        return None
    if max_label > largest[convention]:
        return (
            f"found labels up to {max_label}, where {convention}'s data sets have 0 to "
            f"{largest[convention]}; --convention mslr or standard may be meant"
        )
    if convention == "mslr" and 0 < max_label < 3:
        return (
            f"found labels up to {max_label}, where mslr's data sets have 0 to 4 and relevant "
            "is from 2 on; --convention letor4 or standard may be meant"
        )
    return None


def _releases() -> tuple[dict[str, set[int]], dict[str, int]]:
    """The numbers of features and the largest label of each tool's data sets."""
    widths: dict[str, set[int]] = {}
    largest: dict[str, int] = {}
    for entry in CATALOG.values():
        if entry.convention != STANDARD:
            widths.setdefault(entry.convention, set()).add(entry.n_features)
            largest[entry.convention] = max(largest.get(entry.convention, 0), entry.max_label)
    return widths, largest


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
