"""Sums of the first k numbers while numbers are added to (P. Fenwick, Software 24(3), 1994)."""

from __future__ import annotations

import numpy as np

from letorbench.jit import kernel


@kernel()
def add(tree: np.ndarray, k: int, value: float) -> None:
    """Add `value` to the k-th number, 1 <= k < len(tree); a tree of zeros holds zeros."""
    while k < len(tree):
        tree[k] += value
        k += k & -k


@kernel()
def sum_of_first(tree: np.ndarray, k: int) -> float:
    """The sum of the first k numbers, 0 <= k < len(tree)."""
    total = tree[0]  # always 0, of the tree's type
    while k > 0:
        total += tree[k]
        k -= k & -k
    return total
