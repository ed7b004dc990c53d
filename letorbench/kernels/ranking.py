"""Ranking every query by its scores, and the sums down a ranking that start anew at each query.

All take `offsets` (n_queries + 1,) int64 of the queries to do, which index the full flat
arrays beside it, so that threads share the arrays and divide the queries.
"""

from __future__ import annotations

import numpy as np

from letorbench.kernels import kernel

#: lists up to this long are ranked by counting, which is quadratic but vectorises
COUNTED = 192

#: the merge sort's runs are made by insertion
RUN = 16


@kernel("(float64[::1], int64[::1], int64[::1])")
def descending(scores, offsets, order):
    """order[p] = the document at flat rank position p; ties keep their order."""
    longest = 0
    for q in range(len(offsets) - 1):
        longest = max(longest, offsets[q + 1] - offsets[q])
    scratch = np.empty(longest if longest > COUNTED else 0, dtype=np.int64)
    for q in range(len(offsets) - 1):
        first, last = offsets[q], offsets[q + 1]
        if last - first <= COUNTED:
            count_ranks(scores, first, last, order)
        else:
            merge_sort(scores, first, last, order, scratch)


@kernel("(float64[::1], int64, int64, int64[::1])")
def count_ranks(scores, first, last, order):
    """Place each document of first:last by how many there are above it."""
    for i in range(first, last):
        score = scores[i]
        above = 0
        for j in range(first, i):
            above += scores[j] >= score
        for j in range(i + 1, last):
            above += scores[j] > score
        order[first + above] = i


@kernel("(float64[::1], int64, int64, int64[::1], int64[::1])")
def merge_sort(scores, first, last, order, scratch):
    """Bottom-up stable merge sort of the documents first:last, the highest score first."""
    for start in range(first, last, RUN):
        for i in range(start, min(start + RUN, last)):
            score = scores[i]
            at = i
            while at > start and scores[order[at - 1]] < score:
                order[at] = order[at - 1]
                at -= 1
            order[at] = i
    width = RUN
    while width < last - first:
        for start in range(first, last - width, 2 * width):
            merge(scores, start, start + width, min(start + 2 * width, last), order, scratch)
        width *= 2


@kernel("(float64[::1], int64, int64, int64, int64[::1], int64[::1])")
def merge(scores, start, middle, stop, order, scratch):
    """Merge the sorted runs start:middle and middle:stop of `order`."""
    left_size = middle - start
    for i in range(left_size):
        scratch[i] = order[start + i]
    left, right, at = 0, middle, start
    while left < left_size and right < stop:
        if scores[order[right]] > scores[scratch[left]]:
            order[at] = order[right]
            right += 1
        else:
            order[at] = scratch[left]
            left += 1
        at += 1
    while left < left_size:
        order[at] = scratch[left]
        left += 1
        at += 1


@kernel("(float64[::1], int64[::1], float64[::1], int64)")
def segment_sums(values, offsets, sums, query):
    """sums[query + q] = the values of segment q added from left to right."""
    for q in range(len(offsets) - 1):
        total = 0.0
        for i in range(offsets[q], offsets[q + 1]):
            total += values[i]
        sums[query + q] = total


@kernel("(int32[::1], int64[::1], float64[:, ::1], float64[::1])")
def running_dcg(labels, offsets, terms, dcg):
    """dcg[p] = sum of terms[rank, label] over the ranks of p's query down to p."""
    for q in range(len(offsets) - 1):
        first = offsets[q]
        total = 0.0
        for p in range(first, offsets[q + 1]):
            total += terms[p - first, labels[p]]
            dcg[p] = total


@kernel("(int32[::1], int64[::1], float64[:, ::1], float64[::1])")
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


@kernel("(int32[::1], int64[::1], float64[::1], float64[::1])")
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


@kernel("(int32[::1], int64[::1], int64, int64[::1], int64[::1], int64)")
def correct_pairs(labels, offsets, levels, correct, pairs, query):
    """Of each query's pairs of different labels, how many have the higher label above."""
    seen = np.empty(levels, dtype=np.int64)
    for q in range(len(offsets) - 1):
        # counted from the bottom, so that `seen` holds what is ranked below
        seen[:] = 0
        good = 0
        for p in range(offsets[q + 1] - 1, offsets[q] - 1, -1):
            label = labels[p]
            for lower in range(label):
                good += seen[lower]
            seen[label] += 1
        total, below = 0, 0
        for label in range(levels):
            total += seen[label] * below
            below += seen[label]
        correct[query + q] = good
        pairs[query + q] = total
