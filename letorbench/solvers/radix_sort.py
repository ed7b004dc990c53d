"""A radix sort of one column of float32 numbers."""

from __future__ import annotations

import numpy as np

from letorbench.jit import kernel

DIGIT_BITS = 11
SIGN = np.uint32(0x80000000)
DIGIT = np.uint64((1 << DIGIT_BITS) - 1)
#: a key stands in the upper half of 64 bits, its row in the lower one
KEY_BITS = np.uint64(32)


def sorted_column(column: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sort a column of features (n_docs,) float32, equal values by row.

    Returns
    -------
    values : ndarray of shape (n_docs,), float32
        The bits of ``np.sort(column)``, except that -0.0 comes before 0.0.
    rows : ndarray of shape (n_docs,), uint32
        ``column[rows]`` has the values.
    """
    n = len(column)
    keys, spare = np.empty((2, n), dtype=np.uint64)
    bits, rows = np.empty((2, n), dtype=np.uint32)
    _sort_bits(column.view(np.uint32), keys, spare, bits, rows)
    return bits.view(np.float32), rows


@kernel()
def _sort_bits(
    column: np.ndarray,
    keys: np.ndarray,
    spare: np.ndarray,
    bits: np.ndarray,
    rows: np.ndarray,
) -> None:
    """Sort the float32 column, given as its bits; keys and spare are workspace."""
    n = len(column)
    counts = np.zeros((3, 1 << DIGIT_BITS), np.int64)
    for i in range(n):
        key = column[i]
        # the order of the flipped bits is the order of the numbers
        key = ~key if key & SIGN else key | SIGN
        keys[i] = (np.uint64(key) << KEY_BITS) | np.uint64(i)
        for p in range(3):
            counts[p, np.uint64(key >> np.uint32(DIGIT_BITS * p)) & DIGIT] += 1
    for p in range(3):
        shift = KEY_BITS + np.uint64(DIGIT_BITS * p)
        start = 0
        for d in range(1 << DIGIT_BITS):
            start, counts[p, d] = start + counts[p, d], start
        for i in range(n):
            key_and_row = keys[i]
            d = (key_and_row >> shift) & DIGIT
            spare[counts[p, d]] = key_and_row
            counts[p, d] += 1
        keys, spare = spare, keys
    for i in range(n):
        key = np.uint32(keys[i] >> KEY_BITS)
        bits[i] = key ^ SIGN if key & SIGN else ~key
        rows[i] = np.uint32(keys[i])
