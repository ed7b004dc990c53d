"""A radix sort of one column of float32 numbers."""

from __future__ import annotations

import numpy as np

from letorbench.jit import kernel

DIGIT_BITS = 11
SIGN = np.uint32(0x80000000)
DIGIT = np.uint32((1 << DIGIT_BITS) - 1)


def sorted_column(features: np.ndarray, k: int) -> np.ndarray:
    """Return column k of features (n_docs, n_features) float32 in ascending order.

    It has the bits of ``np.sort(features[:, k])``, except that -0.0 comes before 0.0.
    """
    bits, spare = np.empty((2, len(features)), dtype=np.uint32)
    _sort_bits(features.view(np.uint32), k, bits, spare)
    return bits.view(np.float32)


@kernel()
def _sort_bits(bits: np.ndarray, k: int, keys: np.ndarray, spare: np.ndarray) -> None:
    """Sort the float32 column k, given as its bits, into keys (as bits); spare is workspace."""
    n = bits.shape[0]
    counts = np.zeros((3, 1 << DIGIT_BITS), np.int64)
    for i in range(n):
        key = bits[i, k]
        # the order of the flipped bits is the order of the numbers
        key = ~key if key & SIGN else key | SIGN
        keys[i] = key
        for p in range(3):
            counts[p, (key >> np.uint32(DIGIT_BITS * p)) & DIGIT] += 1
    for p in range(3):
        shift = np.uint32(DIGIT_BITS * p)
        start = 0
        for d in range(1 << DIGIT_BITS):
            start, counts[p, d] = start + counts[p, d], start
        for i in range(n):
            key = keys[i]
            d = (key >> shift) & DIGIT
            spare[counts[p, d]] = key
            counts[p, d] += 1
        keys, spare = spare, keys
    for i in range(n):  # after three passes the two have changed places
        key = keys[i]
        spare[i] = key ^ SIGN if key & SIGN else ~key
