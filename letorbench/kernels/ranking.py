"""Ranking every query by its scores, and the sums down a ranking that start anew at each query.

All take `offsets` (n_queries + 1,) int64, which index the flat arrays beside it.
"""

from __future__ import annotations

import numpy as np

from letorbench.jit import kernel

#: lists up to this long are ranked by counting, which is quadratic but vectorises
COUNTED = 256

#: longer ones are merged from runs of this many, ranked by counting
RUN = 128

#: scores that are counted over at once; a multiple of what a vector register holds
BLOCK = 16


@kernel()
def descending(scores, offsets, order):
    """order[p] = the document at flat rank position p; ties keep their order."""
    longest = 0
    for q in range(len(offsets) - 1):
        longest = max(longest, offsets[q + 1] - offsets[q])
    size = longest if longest > COUNTED else 0
    keys, spare = np.empty(size), np.empty(size)
    spare_order = np.empty(size, dtype=np.int64)
    padded = np.empty(COUNTED)
    ranks, tied = np.empty(COUNTED, dtype=np.int64), np.empty(COUNTED, dtype=np.int64)
    for q in range(len(offsets) - 1):
        first, last = offsets[q], offsets[q + 1]
        ranked, placed = scores[first:last], order[first:last]
        if last - first <= COUNTED:
            count_ranks(ranked, first, placed, padded, ranks, tied)
            continue
        for start in range(0, len(ranked), RUN):
            stop = min(start + RUN, len(ranked))
            count_ranks(ranked[start:stop], first + start, placed[start:stop], padded, ranks, tied)
        merge_runs(ranked, first, placed, keys, spare, spare_order)


@kernel()
def count_ranks(scores, first, order, padded, ranks, tied):
    """Place each document, numbered from `first`, by how many there are above it.

    The last three are scratch of COUNTED items. Nothing is above minus infinity's padding, so
    that the inner loop has no remainder; four documents share each score that is read.
    """
    n = len(scores)
    width = (n + BLOCK - 1) // BLOCK * BLOCK
    padded[:n] = scores
    padded[n:width] = -np.inf
    tied[:n] = 0
    others = padded[:width]
    for i in range(0, n, 4):
        s0, s1, s2, s3 = padded[i], padded[i + 1], padded[i + 2], padded[i + 3]
        above0, above1, above2, above3 = 0, 0, 0, 0
        for j in range(len(others)):
            above0 += others[j] > s0
            above1 += others[j] > s1
            above2 += others[j] > s2
            above3 += others[j] > s3
        ranks[i], ranks[i + 1], ranks[i + 2], ranks[i + 3] = above0, above1, above2, above3
    for i in range(n):
        above = ranks[i]
        order[above + tied[above]] = first + i
        tied[above] += 1


@kernel()
def merge_runs(scores, first, order, keys, spare, spare_order):
    """Merge the ranked runs of `order`, stably; the last three are scratch of as many items."""
    n = len(scores)
    for i in range(n):
        keys[i] = scores[order[i] - first]
    from_keys, from_order, to_keys, to_order = keys, order, spare, spare_order
    width = RUN
    while width < n:
        for start in range(0, n, 2 * width):
            middle, stop = min(start + width, n), min(start + 2 * width, n)
            left, right = start, middle
            for at in range(start, stop):
                if right >= stop or (left < middle and from_keys[left] >= from_keys[right]):
                    to_keys[at], to_order[at] = from_keys[left], from_order[left]
                    left += 1
                else:
                    to_keys[at], to_order[at] = from_keys[right], from_order[right]
                    right += 1
        from_keys, to_keys = to_keys, from_keys
        from_order, to_order = to_order, from_order
        width *= 2
    for i in range(n):
        order[i] = from_order[i]


@kernel()
def segment_sums(values, offsets, sums):
    """sums[q] = the values of segment q added from left to right."""
    for q in range(len(offsets) - 1):
        total = 0.0
        for i in range(offsets[q], offsets[q + 1]):
            total += values[i]
        sums[q] = total


@kernel()
def running_dcg(labels, offsets, terms, dcg):
    """dcg[p] = sum of terms[rank, label] over the ranks of p's query down to p."""
    for q in range(len(offsets) - 1):
        first = offsets[q]
        total = 0.0
        for p in range(first, offsets[q + 1]):
            total += terms[p - first, labels[p]]
            dcg[p] = total


@kernel()
def running_ideal_dcg(labels, offsets, terms, dcg):
    """`running_dcg` of the best ranking of each query: its labels in falling order."""
    counts = np.empty(terms.shape[1], dtype=np.int64)
    for q in range(len(offsets) - 1):
        first = offsets[q]
        counts[:] = 0
        for p in range(first, offsets[q + 1]):
            counts[labels[p]] += 1
        total = 0.0
        p = first
        for label in range(len(counts) - 1, -1, -1):
            for _ in range(counts[label]):
                total += terms[p - first, label]
                dcg[p] = total
                p += 1


@kernel()
def running_err(labels, offsets, stop, err):
    """err[p] = sum of (1/rank) stop[label] prod (1 - stop[labels above]) down to p."""
    for q in range(len(offsets) - 1):
        first = offsets[q]
        total, looking = 0.0, 1.0
        for p in range(first, offsets[q + 1]):
            chance = stop[labels[p]]
            total += looking * chance / (p - first + 1)
            looking *= 1.0 - chance
            err[p] = total


@kernel()
def correct_pairs(labels, offsets, levels, correct, pairs):
    """Of each query's pairs of different labels, how many have the higher label above."""
    for q in range(len(offsets) - 1):
        ranked = labels[offsets[q] : offsets[q + 1]]
        good, total = 0, 0
        # a pass a label, from the bottom up: branches in a single pass cost three times as much
        for label in range(1, levels):
            lower, same = 0, 0
            for p in range(len(ranked) - 1, -1, -1):
                here = ranked[p] == label
                lower += ranked[p] < label
                same += here
                good += lower if here else 0
            total += same * lower
        correct[q] = good
        pairs[q] = total
