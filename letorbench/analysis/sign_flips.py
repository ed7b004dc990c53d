"""The distribution of a sum under random signs: all of them counted, or some of them drawn."""

from __future__ import annotations

import numpy as np

#: relative size of what is rounding, not a difference: equal values in another order of sums
ROUNDING = 1e-12


def counted(d: np.ndarray) -> float:
    """Share of the sign assignments of d, (m,), with |sum| >= |sum of d|, up to rounding.

    The 2^m sums are those of one half plus those of the other: with the second half's sorted,
    a search a sum of the first counts them all.
    """
    least = _least(d)
    if least <= 0.0:
        return 1.0
    half = len(d) // 2
    first, second = _signed_sums(d[:half]), _signed_sums(d[half:])
    upper = len(first) * len(second) - np.searchsorted(second, least - first).sum()
    return min(1.0, 2.0 * float(upper) / 2.0 ** len(d))  # the sums lie symmetrically around 0


def sampled(
    d: np.ndarray, rng: np.random.Generator, samples: int, added: np.ndarray | float = 0.0
) -> float:
    """(count + 1) / (samples + 1) of random sign assignments with |sum| >= |sum of d|.

    `added`, (samples,), is what else moves each of the sums. A random byte gives the signs of
    eight queries and picks their sum from a table of 256.
    """
    padded = np.zeros(-(-len(d) // 8) * 8)
    padded[: len(d)] = d
    signs = 2.0 * np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1) - 1.0
    sums = np.zeros(samples) + added
    for table in padded.reshape(-1, 8) @ signs.T:
        sums += table.take(rng.integers(0, 256, samples, dtype=np.uint8))
    return (np.count_nonzero(np.abs(sums) >= _least(d)) + 1) / (samples + 1)


def _signed_sums(d: np.ndarray) -> np.ndarray:
    """(2^m,) sorted sums of d under every assignment of signs."""
    sums = np.zeros(1)
    for value in d:
        sums = np.concatenate([sums - value, sums + value])
    return np.sort(sums)


def _least(d: np.ndarray) -> float:
    """The absolute sum from which on an assignment counts as at least as far out as d's."""
    return float(abs(d.sum()) - ROUNDING * np.abs(d).sum())
