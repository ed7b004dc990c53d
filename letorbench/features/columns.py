"""Columns of features: moments and products in float64, copies, and values as numbers of bins."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from letorbench.compiled.jit import kernel
from letorbench.compiled.threads import run_tasks
from letorbench.datasets.arrays import LARGEST_FLOAT32, float32_features

#: rows that are converted to float64 at a time
ROWS = 65_536
#: rows that fit into a core's cache
CACHED_ROWS = 1024
#: products are summed in this many parts, whatever the number of threads
PARTS = 8
#: features that are prepared together, since a document's values are adjacent in memory
GROUP = 8
#: the most bins that are summed: a bin number takes one byte
COARSE = 256
#: a value's 32 bits are sorted by `DIGITS` digits of `DIGIT` bits
DIGITS, DIGIT = 3, np.uint32(11)
LARGEST = np.uint32((1 << 11) - 1)
SIGN = np.uint32(0x80000000)


def row_blocks(n_rows: int, rows: int = ROWS) -> Iterator[slice]:
    """Yield slices of length `rows`, the last one shorter, that cover range(n_rows) in order."""
    for start in range(0, n_rows, rows):
        yield slice(start, min(start + rows, n_rows))


def mean_and_variance(features: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean and the variance of each column, (n_features,) float64 each."""
    # Sums of equal float32 numbers are exact in float64 (up to 2^29 of them), so that the variance
    # of a constant column is exactly 0.
    n_rows, n_features = features.shape
    blocks = [features[block] for block in row_blocks(n_rows)]
    sums, squares = np.zeros((2, len(blocks), n_features))
    run_tasks([partial(_add_rows, block, total) for block, total in zip(blocks, sums)])
    mean = sums.sum(axis=0) / max(1, n_rows)
    run_tasks([partial(_add_squares, block, mean, t) for block, t in zip(blocks, squares)])
    return mean, squares.sum(axis=0) / max(1, n_rows)


@kernel()
def _add_rows(features: np.ndarray, total: np.ndarray) -> None:
    for i in range(len(features)):
        for k in range(len(total)):
            total[k] += features[i, k]


@kernel()
def _add_squares(features: np.ndarray, mean: np.ndarray, total: np.ndarray) -> None:
    """Add the squares of the differences from the mean."""
    for i in range(len(features)):
        for k in range(len(total)):
            difference = features[i, k] - mean[k]
            total[k] += difference * difference


def mean_and_scale(features: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean and the standard deviation of each column, with 1 for a deviation of 0."""
    mean, variance = mean_and_variance(features)
    scale = np.sqrt(variance)
    return mean, np.where(scale == 0.0, 1.0, scale)


def centred_products(
    features: np.ndarray, mean: np.ndarray, target: np.ndarray, weights: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the sums over rows of (x - mean)(x - mean)^T and of (x - mean) target, weighted."""
    width = features.shape[1]

    def part(number: int) -> tuple[np.ndarray, np.ndarray]:
        squares, products = np.zeros((width, width)), np.zeros(width)
        for start in range(number * CACHED_ROWS, len(features), PARTS * CACHED_ROWS):
            block = slice(start, start + CACHED_ROWS)
            x = features[block] - mean
            weighted = x if weights is None else weights[block, None] * x
            squares += x.T @ weighted
            products += weighted.T @ target[block]
        return squares, products

    squares, products = zip(*run_tasks([partial(part, number) for number in range(PARTS)]))
    return np.sum(squares, axis=0), np.sum(products, axis=0)


def contiguous_columns(features: np.ndarray, first: int = 0, last: int | None = None) -> np.ndarray:
    """Return the columns first..last - 1 as rows of a copy, (last - first, n_docs) in C order."""
    chosen = features[:, first:last]
    columns = np.empty(chosen.shape[::-1], features.dtype)
    for start in range(0, len(features), CACHED_ROWS):
        columns[:, start : start + CACHED_ROWS] = chosen[start : start + CACHED_ROWS].T
    return columns


@dataclass(frozen=True, eq=False)
class BinnedFeatures:
    """The features' values as bin numbers."""

    # (n_features, n_docs) uint8, uint16 or uint32, C order, never falling as values rise; NaN last
    codes: np.ndarray
    n_bins: np.ndarray  # (n_features,) int64
    # cuts[k][b] is the float64 threshold between bins b and b + 1 of feature k; `LARGEST_FLOAT32`
    # precedes the bin of missing values
    cuts: tuple[np.ndarray, ...]

    @staticmethod
    def of(features: np.ndarray, max_bins: int | None = None) -> "BinnedFeatures":
        """Bin features of any real type, with thresholds between their float32 values.

        A feature has a bin for each distinct value, or if there are more, `max_bins` bins of about
        equal numbers of documents. Missing values have an additional bin, or one of `COARSE`.
        """
        features = float32_features(features)

        def of_group(first: int) -> list[tuple[np.ndarray, np.ndarray]]:
            columns = contiguous_columns(features, first, first + GROUP)
            return [_binned_column(column, max_bins) for column in columns]

        groups = run_tasks([partial(of_group, k) for k in range(0, features.shape[1], GROUP)])
        binned = [column for group in groups for column in group]
        codes = np.stack([values for _, values in binned])  # in the widest of their types
        cuts = tuple(values for values, _ in binned)
        n_bins = np.array([len(c) + 1 for c in cuts], dtype=np.int64)
        return BinnedFeatures(codes, n_bins, cuts)

    def split(self, k: int, cut: int) -> tuple[float, np.ndarray]:
        """Return the threshold of a cut of feature k and whether each document is above it."""
        return float(self.cuts[k][cut]), self.codes[k] > cut

    def sums_below(self, k: int, weights: np.ndarray) -> np.ndarray:
        return np.bincount(self.codes[k], weights, self.n_bins[k])[:-1].cumsum()


def _binned_column(column: np.ndarray, max_bins: int | None) -> tuple[np.ndarray, np.ndarray]:
    """Return a feature's thresholds, float64, and the documents' bins in the smallest type."""
    if np.isnan(column.max(initial=0.0)):
        missing = np.isnan(column)
        cuts, value_codes = _binned_column(column[~missing], max_bins and min(max_bins, COARSE - 1))
        codes = np.full(len(column), len(cuts) + 1, np.min_scalar_type(len(cuts) + 1))
        codes[~missing] = value_codes
        return np.append(cuts, LARGEST_FLOAT32), codes
    values, rows = sorted_column(column)
    starts = bin_starts(values, max_bins or 0)
    cuts = (values[starts - 1].astype(np.float64) + values[starts]) / 2.0
    codes = np.empty(len(rows), np.min_scalar_type(len(cuts)))
    number_bins(rows, starts, codes)
    return cuts, codes


def bin_starts(values: np.ndarray, max_bins: int = 0) -> np.ndarray:
    """Return the starts of a sorted column's bins but the first, one per distinct value."""
    starts = 1 + np.flatnonzero(values[1:] != values[:-1])
    if 0 < max_bins <= len(starts):
        # a bin begins where the part of documents before it passes the next whole number of bins
        passed = np.floor(starts / len(values) * max_bins)
        starts = starts[np.diff(passed, prepend=0.0) > 0.0]
    return starts


@kernel()
def number_bins(rows: np.ndarray, starts: np.ndarray, codes: np.ndarray) -> None:
    """Write each sorted row's bin number to the document's code."""
    start = 0
    for b in range(len(starts) + 1):
        stop = starts[b] if b < len(starts) else len(rows)
        for i in range(start, stop):
            codes[rows[i]] = b
        start = stop


def sorted_column(column: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sort a column (n_docs,) float32; return the values and the rows uint32, ``column[rows]``."""
    # equal values keep the order of rows, but -0.0 is before 0.0
    values, rows = np.empty((2, 2, len(column)), np.uint32)
    last = _sort_by_digits(column.view(np.uint32), values, rows)
    return values[last].view(np.float32), rows[last]


@kernel()
def _sort_by_digits(bits: np.ndarray, keys: np.ndarray, rows: np.ndarray) -> int:
    """Sort the bits (n,) of float32 numbers and their rows, the lowest digit first.

    keys, rows: (2, n), before and after a digit; the index of the sorted ones is returned.
    """
    counts = np.zeros((DIGITS, 1 << DIGIT), np.int64)
    for i in range(len(bits)):
        # the order of the flipped bits is the order of the numbers
        keys[0, i] = ~bits[i] if bits[i] & SIGN else bits[i] | SIGN
        rows[0, i] = i
        for d in range(DIGITS):
            counts[d, (keys[0, i] >> (DIGIT * d)) & LARGEST] += 1
    source = 0
    for d in range(DIGITS):
        place = 0
        for value in range(len(counts[d])):
            count = counts[d, value]
            counts[d, value] = place
            place += count
        for i in range(len(bits)):
            key = keys[source, i]
            value = (key >> (DIGIT * d)) & LARGEST
            place = counts[d, value]
            counts[d, value] += 1
            keys[1 - source, place], rows[1 - source, place] = key, rows[source, i]
        source = 1 - source
    for i in range(len(bits)):
        key = keys[source, i]
        keys[source, i] = key ^ SIGN if key & SIGN else ~key
    return source
