"""Every measure against its definition, written out in plain Python for one query."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise as pairwise_of
from itertools import product

import numpy as np
import pytest
from conftest import random_queries, unlocked

from letorbench.conventions import CONVENTIONS, Convention, letor_discount, standard_discount
from letorbench.errors import DataError
from letorbench.measures import (
    ERR,
    MEASURES,
    Measure,
    query_metrics,
    rank,
    rmse,
)

#: what the tools do, restated: (log's argument at a rank, least relevant label)
RULES = {"letor3": (0, 1), "letor4": (0, 1), "mslr": (0, 2), "standard": (1, 1)}


def dcg(labels: list[int], name: str, k: int) -> float:
    shift = RULES[name][0]
    total = 0.0
    for i, r in enumerate(labels[:k], start=1):
        total += (2**r - 1) / (math.log2(i + shift) if i + shift > 2 else 1.0)
    return total


def ndcg(labels: list[int], name: str, k: int | None) -> float:
    if k is not None and k > len(labels) and name != "standard":
        return 0.0
    best = dcg(sorted(labels, reverse=True), name, k or len(labels))
    return dcg(labels, name, k or len(labels)) / best if best else 0.0


def mean_ndcg(labels: list[int], name: str, k: int | None) -> float:
    return sum(ndcg(labels, name, n) for n in range(1, len(labels) + 1)) / len(labels)


def hits(labels: list[int], name: str) -> list[int]:
    """The ranks of the relevant documents."""
    return [i for i, r in enumerate(labels, start=1) if r >= RULES[name][1]]


def precision(labels: list[int], name: str, k: int) -> float:
    if name == "letor3" and k > len(labels):
        return 0.0
    return sum(1 for i in hits(labels, name) if i <= k) / k


def average_precision(labels: list[int], name: str, k: int | None) -> float:
    ranks = hits(labels, name)
    return sum(n / i for n, i in enumerate(ranks, start=1)) / len(ranks) if ranks else 0.0


def reciprocal_rank(labels: list[int], name: str, k: int | None) -> float:
    return 1 / hits(labels, name)[0] if hits(labels, name) else 0.0


def err(labels: list[int], name: str, k: int | None) -> float:
    """As a reader's walk down the list who stops with chance R(r), r_max = 4."""
    value, looking = 0.0, 1.0
    for i, r in enumerate(labels[:k], start=1):
        value += looking * (2**r - 1) / 16 / i
        looking *= 1 - (2**r - 1) / 16
    return value


def winner_takes_all(labels: list[int], name: str, k: int | None) -> float:
    return float(labels[0] >= RULES[name][1])


def pairwise(labels: list[int], name: str, k: int | None) -> float:
    pairs = [(i, j) for i, a in enumerate(labels) for j, b in enumerate(labels) if a > b]
    return sum(i < j for i, j in pairs) / len(pairs) if pairs else 0.0


def auc(labels: list[int], name: str, k: int | None) -> float:
    """Over both kinds' ranks, as the area under the ROC curve is defined."""
    ranks = hits(labels, name)
    others = [i for i in range(1, len(labels) + 1) if i not in ranks]
    right = sum(i < j for i in ranks for j in others)
    return right / (len(ranks) * len(others)) if ranks and others else 0.0


def bpref(labels: list[int], name: str, k: int | None) -> float:
    ranks = hits(labels, name)
    R, N = len(ranks), len(labels) - len(ranks)
    total = 0.0
    for i in ranks:
        above = sum(1 for j in range(1, i) if j not in ranks)
        total += 1 - min(above, R) / min(R, N) if above else 1.0
    return total / R if R else 0.0


DEFINITIONS: dict[str, Callable[[list[int], str, int | None], float]] = {
    "ndcg": ndcg,
    "mean-ndcg": mean_ndcg,
    "p": precision,
    "map": average_precision,
    "mrr": reciprocal_rank,
    "err": err,
    "wta": winner_takes_all,
    "pairwise": pairwise,
    "auc": auc,
    "bpref": bpref,
}


def ranked(labels: tuple[int, ...], scores: tuple[int, ...]) -> tuple[int, ...]:
    """Labels by falling score, equal scores in file order."""
    return tuple(labels[i] for i in sorted(range(len(labels)), key=lambda i: -scores[i]))


def forms(name: str) -> list[Measure]:
    """The measure with every way of a cut-off that it may have."""
    cutoffs = {"none": [None], "optional": [None, 1, 2, 3, 6], "required": [1, 2, 3, 6]}
    measure = MEASURES[name]
    return [measure if k is None else measure @ k for k in cutoffs[measure.cutoff_rule]]


def all_forms() -> list[Measure]:
    return [measure for name in MEASURES for measure in forms(name)]


def score_patterns(n: int) -> list[tuple[int, ...]]:
    """Every order of n documents with every way of ties, once each."""
    return [s for s in product(range(n), repeat=n) if set(s) == set(range(max(s) + 1))]


def with_max(convention: str, label: int) -> Convention:
    return replace(CONVENTIONS[convention], max_label=label)


Cases = tuple[np.ndarray, np.ndarray, np.ndarray, list[tuple[int, ...]]]


@pytest.fixture(scope="module")
def small() -> Cases:
    """Every tuple of up to five labels 0..2 with every pattern of ties, and of up to four labels
    0..4 without: as flat arrays (labels, scores, offsets), and ranked."""
    cases = [
        (labels, scores)
        for n in range(1, 6)
        for scores in score_patterns(n)
        for labels in product(range(3), repeat=n)
    ]
    cases += [(q, tuple(range(n, 0, -1))) for n in range(1, 5) for q in product(range(5), repeat=n)]
    labels, scores = (np.concatenate(part) for part in zip(*cases))
    offsets = np.cumsum([0, *(len(labels) for labels, _ in cases)])
    return labels, scores, offsets, [ranked(*case) for case in cases]


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_every_small_list_of_labels_with_every_pattern_of_ties(
    small: Cases, convention: str
) -> None:
    labels, scores, offsets, orders = small
    assert set(DEFINITIONS) == set(MEASURES)
    values = query_metrics(labels, scores, offsets, all_forms(), with_max(convention, 4))
    for column, measure in enumerate(all_forms()):
        define = DEFINITIONS[measure.name]
        known = {r: define(list(r), convention, measure.cutoff) for r in set(orders)}
        np.testing.assert_allclose(
            values[:, column], [known[r] for r in orders], rtol=1e-13, err_msg=str(measure)
        )


@pytest.mark.parametrize("block", [1, 2, 100])
def test_err_goes_by_the_largest_label_of_all_queries(block: int, monkeypatch) -> None:
    """Whichever block of queries has it: before, in and after the one that is measured."""
    monkeypatch.setattr("letorbench.measures.evaluation.BLOCK", block)
    labels, offsets = np.array([1, 0, 4, 0, 2, 0]), np.array([0, 2, 4, 6])
    values = query_metrics(labels, -np.arange(6.0), offsets, [ERR @ 10], CONVENTIONS["standard"])
    assert values[:, 0].tolist() == [1 / 16, 15 / 16, 3 / 16]


@pytest.mark.parametrize("decimals", [0, 1, 9])
def test_ranks_as_a_stable_sort_of_each_query(rng: np.random.Generator, decimals: int) -> None:
    offsets = np.cumsum([0, 1, 2, 31, 32, 33, 100, 256, 257, 600, 0, 7])
    scores = np.round(rng.normal(size=offsets[-1]), decimals)
    scores[rng.random(len(scores)) < 0.05] = np.inf
    scores[rng.random(len(scores)) < 0.05] = -0.0
    expected = [a + np.argsort(-scores[a:b], kind="stable") for a, b in pairwise_of(offsets)]
    np.testing.assert_array_equal(rank(scores, offsets), np.concatenate(expected))


def test_rmse_is_the_root_of_each_querys_mean_square(rng: np.random.Generator) -> None:
    queries = random_queries(rng, [3, 0, 1], levels=3)
    with unlocked(queries):
        queries.labels[:] = [0, 1, 2, 1]
    values = rmse(np.array([1.0, 1.0, 0.0, 1.0]), queries)
    np.testing.assert_allclose(values, [np.sqrt(5.0 / 3.0), 0.0, 0.0])
    with pytest.raises(DataError, match="found 3 scores, expected 4"):
        rmse(np.zeros(3), queries)


def test_discounts_have_the_logarithms_of_the_c_library() -> None:
    ranks = np.arange(1.0, 10_000.0)
    expected = [1.0 if rank < 3.0 else math.log(2.0) / math.log(rank) for rank in ranks]
    np.testing.assert_array_equal(letor_discount(ranks), expected)
    expected = [1.0 / math.log2(1.0 + rank) for rank in ranks]
    np.testing.assert_array_equal(standard_discount(ranks), expected)
