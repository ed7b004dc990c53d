"""The ranking kernels against NumPy and plain Python."""

from __future__ import annotations

import numpy as np
import pytest

from letorbench.measures import rank, rankings, sorting

LENGTHS = [1, 2, 31, 32, 33, 100, 256, 257, 289, 600, 1025, 0, 7]


def lists(rng: np.random.Generator, lengths: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Labels 0..4 and offsets of lists of those lengths."""
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return rng.integers(0, 5, offsets[-1]).astype(np.int32), offsets


@pytest.mark.parametrize("decimals", [0, 1, 9])
def test_ranks_as_a_stable_sort_of_each_query(rng: np.random.Generator, decimals: int) -> None:
    _, offsets = lists(rng, LENGTHS)
    scores = np.round(rng.normal(size=offsets[-1]), decimals)
    scores[rng.random(len(scores)) < 0.05] = np.inf
    scores[rng.random(len(scores)) < 0.05] = -0.0
    expected = np.concatenate(
        [a + np.argsort(-scores[a:b], kind="stable") for a, b in zip(offsets, offsets[1:])]
    )
    np.testing.assert_array_equal(rank(scores, offsets), expected)
    order = np.empty(len(scores), dtype=np.int64)
    sorting.descending(scores, offsets, order)
    np.testing.assert_array_equal(order, expected)


def test_segment_sums_add_from_left_to_right(rng: np.random.Generator) -> None:
    _, offsets = lists(rng, LENGTHS)
    values = rng.normal(size=offsets[-1]) * 10.0 ** rng.integers(-8, 8, offsets[-1])
    sums = np.full(len(LENGTHS), np.nan)
    rankings.segment_sums(values, offsets, sums)
    expected = [np.cumsum(np.append(0.0, values[a:b]))[-1] for a, b in zip(offsets, offsets[1:])]
    np.testing.assert_array_equal(sums, expected)


def test_running_sums_start_anew_at_each_query(rng: np.random.Generator) -> None:
    labels, offsets = lists(rng, LENGTHS)
    terms = rng.random((max(LENGTHS), 5))
    dcg, ideal, err = np.empty((3, len(labels)))
    rankings.running_dcg(labels, offsets, terms, dcg)
    rankings.running_ideal_dcg(labels, offsets, terms, ideal)
    stop = rng.random(5)
    rankings.running_err(labels, offsets, stop, err)
    for a, b in zip(offsets, offsets[1:]):
        ranks = np.arange(b - a)
        np.testing.assert_array_equal(dcg[a:b], np.cumsum(terms[ranks, labels[a:b]]))
        best = np.sort(labels[a:b])[::-1]
        np.testing.assert_array_equal(ideal[a:b], np.cumsum(terms[ranks, best]))
        chance = stop[labels[a:b]]
        looking = np.cumprod(np.append(1.0, 1.0 - chance))[:-1]
        np.testing.assert_allclose(err[a:b], np.cumsum(looking * chance / (1 + ranks)))


def test_correct_pairs_against_the_pair_matrix(rng: np.random.Generator) -> None:
    labels, offsets = lists(rng, LENGTHS)
    correct, pairs = np.empty((2, len(LENGTHS)), dtype=np.int64)
    rankings.count_correct_pairs(labels, offsets, 5, correct, pairs)
    for q, (a, b) in enumerate(zip(offsets, offsets[1:])):
        right = np.triu(labels[a:b, None] > labels[None, a:b])
        assert correct[q] == right.sum()
        assert pairs[q] == (labels[a:b, None] > labels[None, a:b]).sum()
