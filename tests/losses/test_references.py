"""Each compiled loss equals the plain NumPy reference that stands beside it."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest
from conftest import random_queries

from letorbench.datasets.queryset import QuerySet
from letorbench.losses import (
    loss,
    markov_field,
    plackett_luce,
    pointwise,
    smoothed,
    top_k_cross_entropy,
    weighted_pairs,
)
from letorbench.losses.gains import gains, normalized_gains
from letorbench.losses.label_order import (
    DOCUMENT_WEIGHTS,
    PAIR_WEIGHTS,
    DocumentWeightName,
    PairWeightName,
    label_count,
)
from letorbench.losses.multiclass import best_documents
from letorbench.losses.segments import query_sums
from letorbench.losses.ties import with_ties
from letorbench.losses.weighted_pairs import FIELD, PAIR_LOSSES, PairLossName

LEVELS = 4


@pytest.fixture
def queries(rng: np.random.Generator) -> QuerySet:
    drawn = random_queries(rng, [1, 7, 2, 4, 9, 3], levels=LEVELS)
    labels = drawn.labels.copy()
    labels[1] = LEVELS - 1
    labels[drawn.offsets[3] : drawn.offsets[4]] = 2
    labels[drawn.offsets[5] :] = 0
    return QuerySet(drawn.features, labels, drawn.offsets, drawn.qids)


@pytest.fixture(params=[0.0, 1.0, 20.0])
def scores(request, queries, rng) -> np.ndarray:
    return request.param * rng.normal(size=queries.n_docs)


def slices(queries: QuerySet) -> list[slice]:
    return [slice(a, b) for a, b in zip(queries.offsets[:-1], queries.offsets[1:], strict=True)]


def check(
    name: str, scores: np.ndarray, queries: QuerySet, reference, order=None, ties="breslow"
) -> None:
    """Compare with reference(q, rows) of every query; its rows are in `order` if that is given."""
    ordered = with_ties(loss(name), ties, queries, np.random.default_rng(0))
    value, gradient = ordered(scores, queries)
    for q, part in enumerate(slices(queries)):
        rows = np.arange(queries.n_docs)[part] if order is None else order[part]
        expected, slope = reference(q, rows)
        assert value[q] == pytest.approx(expected, rel=1e-10, abs=1e-11)
        np.testing.assert_allclose(gradient[rows], slope, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_top_k_cross_entropy(k, scores, queries):
    def reference(q, rows):
        return top_k_cross_entropy.reference(scores[rows], queries.labels[rows], k)

    check("listnet" if k == 1 else f"listnet-{k}", scores, queries, reference)


@pytest.mark.parametrize("size", [0.0, 1.0, 700.0])
def test_logistic_to_the_last_bit(size, rng, monkeypatch):
    queries = random_queries(rng, [5_000, 1, 7_000])
    scores = size * rng.normal(size=queries.n_docs)
    cost, slope = pointwise.reference(scores, queries.labels)
    for threads in ("1", "2"):
        monkeypatch.setenv("LETORBENCH_THREADS", threads)
        value, gradient = loss("logistic")(scores, queries)
        np.testing.assert_array_equal(value, query_sums(cost, queries))
        np.testing.assert_array_equal(gradient, slope)


def test_listnet_is_the_cross_entropy_of_two_softmaxes(rng):
    s, r = rng.normal(size=6), rng.integers(0, 3, 6)
    p, q = (np.exp(a) / np.exp(a).sum() for a in (r, s))
    value, gradient = top_k_cross_entropy.reference(s, r, 1)
    assert value == pytest.approx(-p @ np.log(q))
    np.testing.assert_allclose(gradient, q - p, atol=1e-15)
    far = top_k_cross_entropy.reference(s + 1_000.0, r, 1)
    assert far[0] == pytest.approx(value)
    np.testing.assert_allclose(far[1], gradient, atol=1e-12)


@pytest.mark.parametrize("weight", DOCUMENT_WEIGHTS.values(), ids=str)
@pytest.mark.parametrize("ties", ["breslow", "file"])
def test_plackett_luce(ties, weight, scores, queries, rng):
    order, w = queries.by_label.order, weight.of(queries, ties == "breslow")

    def steps(q, rows):
        return -queries.labels[rows] if ties == "breslow" else np.arange(len(rows))

    def forwards(q, rows):
        return plackett_luce.reference(scores[rows], w[slices(queries)[q]], steps(q, rows))

    def backwards(q, rows):
        turned = (-scores[rows], w[slices(queries)[q]], -steps(q, rows))
        value, slope = plackett_luce.reference(*(each[::-1] for each in turned))
        return value, -slope[::-1]

    check(f"wpl-{weight}", scores, queries, forwards, order, ties)
    check(f"rpl-{weight}", scores, queries, backwards, order, ties)


def pair_matrix(name: str, queries: QuerySet, part: slice) -> np.ndarray:
    """V (m, m) of one query, in label order, as Table 9 prints it."""
    rows = queries.by_label.order[part]
    r, m = queries.labels[rows].astype(float), len(rows)
    R = (2.0**r - 1.0) / 2.0 ** (LEVELS - 1)
    eta = 1.0 / np.log2(2.0 + np.arange(m))
    z = ((2.0**r - 1.0) * eta).sum()
    eta = np.array([eta[r == label].mean() for label in r])
    by_label, by_gain = (np.subtract.outer(a, a) for a in (r, R))
    both = by_gain * np.subtract.outer(eta, eta)
    return {
        "1": np.ones((m, m)),
        "1/m": np.ones((m, m)) / m,
        "|ri-rj|": by_label,
        "|ri-rj|/m": by_label / m,
        "(Ri-Rj)(ei-ej)/Z": both / z if z else 0.0 * both,
        "(Ri-Rj)(ei-ej)": both,
        "Ri-Rj": by_gain,
        "(Ri-Rj)/m": by_gain / m,
    }[name]


@pytest.mark.parametrize("weight", PAIR_WEIGHTS)
@pytest.mark.parametrize("phi", [*PAIR_LOSSES, "wub"])
def test_weighted_pairs(phi, weight, scores, queries):
    kind = FIELD if phi == "wub" else PAIR_LOSSES[phi].kind

    def reference(q, rows):
        V = pair_matrix(weight, queries, slices(queries)[q])
        labels = queries.labels[rows]
        return weighted_pairs.reference(scores[rows], labels, V, kind, label_count(queries))

    name = f"wub-{weight}" if phi == "wub" else f"pairwise-{phi}-{weight}"
    check(name, scores, queries, reference, queries.by_label.order)


@pytest.mark.parametrize("phi", ["logistic", "wub"])
@pytest.mark.parametrize("spread", [90.0, 2_000.0])
def test_weighted_pairs_of_scores_far_apart(phi, spread, queries, rng):
    """Beyond what shared exponentials serve, each pair has its own."""
    test_weighted_pairs(phi, "(Ri-Rj)/m", spread * rng.normal(size=queries.n_docs), queries)
    test_weighted_pairs(phi, "1", spread * rng.normal(size=queries.n_docs), queries)


@pytest.mark.parametrize("weight", DOCUMENT_WEIGHTS.values(), ids=str)
def test_markov_field(weight, scores, queries):
    w = np.empty(queries.n_docs)
    w[queries.by_label.order] = weight.of(queries)

    def reference(q, rows):
        return markov_field.reference(scores[rows], queries.labels[rows], w[rows], LEVELS)

    check(f"wpll-{weight}", scores, queries, reference)


@pytest.mark.parametrize(
    ("name", "kind", "weights"),
    [
        ("smooth-ndcg", smoothed.NDCG, normalized_gains),
        ("smooth-err", smoothed.ERR, lambda queries: gains(queries) / 2.0 ** (LEVELS - 1)),
        ("smooth-mrr", smoothed.MRR, best_documents),
    ],
)
def test_smoothed(name, kind, weights, scores, queries):
    w = weights(queries)

    def reference(q, rows):
        measure, slope = smoothed.reference(scores[rows], w[rows], kind)
        return (1.0 - measure if queries.labels[rows].any() else 0.0), -slope

    check(name, scores, queries, reference)


def test_weights_print_and_parse_as_the_names_that_settings_take():
    for names, table in (
        (DocumentWeightName, DOCUMENT_WEIGHTS),
        (PairWeightName, PAIR_WEIGHTS),
        (PairLossName, PAIR_LOSSES),
    ):
        assert get_args(names) == tuple(table) == tuple(map(str, table.values()))
