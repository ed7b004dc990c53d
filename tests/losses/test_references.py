"""Each compiled loss equals the plain NumPy equations that stand above it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from conftest import random_queries

from letorbench.conventions import CONVENTIONS
from letorbench.datasets.queryset import QuerySet
from letorbench.losses import (
    Loss,
    every_loss,
    logistic,
    loss,
    markov_field,
    plackett_luce,
    smoothed,
    top_k_cross_entropy,
    weighted_pairs,
)
from letorbench.losses.exponentials import SPAN
from letorbench.losses.gains import query_sums
from letorbench.losses.label_order import PAIR_WEIGHTS, document_weights
from letorbench.losses.pairwise_logistic import pairwise_logistic
from letorbench.measures import parse, query_metrics

LEVELS = 4
#: the scores and the labels of a query's documents, in file or label order, and the query's number
Reference = Callable[[np.ndarray, np.ndarray, int], tuple[float, np.ndarray]]


@pytest.fixture
def queries(rng: np.random.Generator) -> QuerySet:
    drawn = random_queries(rng, [1, 7, 2, 4, 40, 9, 3], levels=LEVELS)
    labels = drawn.labels.copy()
    labels[1] = LEVELS - 1
    labels[drawn.offsets[3] : drawn.offsets[4]] = 2
    labels[drawn.offsets[6] :] = 0
    return QuerySet(drawn.features, labels, drawn.offsets, drawn.qids)


def check(each: Loss, queries: QuerySet, reference: Reference, by_label: bool = False) -> None:
    """Compare every query, its rows in file or label order, from equal to far scores."""
    rng = np.random.default_rng(5)
    for spread in (0.0, 1.0, 20.0, 90.0, 2_000.0):
        scores = spread * rng.normal(size=queries.n_docs)
        value, gradient = each(scores, queries)
        for q, (a, b) in enumerate(zip(queries.offsets, queries.offsets[1:])):
            rows = queries.by_label.order[a:b] if by_label else np.arange(a, b)
            expected, slope = reference(scores[rows], queries.labels[rows], q)
            assert value[q] == pytest.approx(expected, rel=1e-10, abs=1e-11)
            np.testing.assert_allclose(gradient[rows], slope, rtol=1e-9, atol=1e-11)


def of(family: str) -> list[Loss]:
    return [each for each in every_loss() if each.name == family]


def test_logistic(queries, rng) -> None:
    scores = 30.0 * rng.normal(size=queries.n_docs)
    cost, slope = logistic.reference(scores, queries.labels)
    value, gradient = loss("logistic")(scores, queries)
    np.testing.assert_allclose(value, query_sums(cost, queries), rtol=1e-14)
    np.testing.assert_allclose(gradient, slope, rtol=1e-14)


def test_ranknet(queries) -> None:
    check(loss("ranknet"), queries, lambda s, r, q: pairwise_logistic(s, r))


@pytest.mark.parametrize("each", of("listnet"), ids=str)
def test_top_k_cross_entropy(each, queries) -> None:
    short = queries.take(np.array([0, 1, 2, 3, 5, 6]))
    check(each, short, lambda s, r, q: top_k_cross_entropy.reference(s, r, each.k))


@pytest.mark.parametrize("each", of("wpl") + of("rpl"), ids=str)
@pytest.mark.parametrize("ties", ["breslow", "file"])
def test_plackett_luce(each, ties, queries) -> None:
    w = document_weights(each.weight, ties, queries)

    def reference(s, r, q):
        own = w[queries.offsets[q] : queries.offsets[q + 1]]
        step = np.arange(len(s)) if ties == "file" else -r
        if each.name == "wpl":
            return plackett_luce.reference(s, own, step)
        value, slope = plackett_luce.reference(-s[::-1], own[::-1], -step[::-1])
        return value, -slope[::-1]

    check(loss(f"{each.name}(weight={each.weight}, ties={ties})"), queries, reference, True)


@pytest.mark.parametrize("each", of("pairwise") + of("wub"), ids=str)
def test_weighted_pairs(each, queries) -> None:
    kind = PAIR_WEIGHTS[each.weight]

    def reference(s, r, q):
        label = {"": r, "r": r, "R": (2.0**r - 1.0) / 2.0 ** (LEVELS - 1)}[kind.label]
        eta = 1.0 / np.log2(2.0 + np.arange(len(r)))
        Z = (2.0**r - 1.0) @ eta
        eta = np.array([eta[r == each].mean() for each in r])
        V = np.subtract.outer(label, label) if kind.label else np.ones((len(r), len(r)))
        V = V * np.subtract.outer(eta, eta) if kind.by_place else V
        V = V / {"": 1.0, "m": len(r), "Z": Z or np.inf}[kind.per]
        return weighted_pairs.reference(s, r, V, getattr(each, "phi", "wub"), LEVELS)

    check(each, queries, reference, True)


@pytest.mark.parametrize("each", of("wpll"), ids=str)
def test_markov_field(each, queries) -> None:
    w = document_weights(each.weight, "breslow", queries)

    def reference(s, r, q):
        return markov_field.reference(s, r, w[queries.offsets[q] : queries.offsets[q + 1]], LEVELS)

    check(each, queries, reference, True)


@pytest.mark.parametrize("each", of("smooth"), ids=str)
def test_smoothed(each, queries) -> None:
    w, kind = each.weights(queries), smoothed.MEASURES.index(each.measure)

    def reference(s, r, q):
        own = w[queries.offsets[q] : queries.offsets[q + 1]]
        measure, slope = smoothed.reference(s, own, kind)
        return (1.0 - measure if r.any() else 0.0), -slope

    check(each, queries, reference)


@pytest.mark.parametrize("name", ["ndcg", "err"])
def test_smoothed_measures_tend_to_the_measures(name, queries, rng) -> None:
    scores = 1e4 * rng.permutation(queries.n_docs).astype(np.float64)
    rules, measures = CONVENTIONS["standard"], [parse(name)]
    hard = query_metrics(queries.labels, scores, queries.offsets, measures, rules)[:, 0]
    relevant = np.maximum.reduceat(queries.labels, queries.offsets[:-1]) > 0
    smooth = loss(f"smooth(measure={name})")(scores, queries).value
    np.testing.assert_allclose(smooth, np.where(relevant, 1.0 - hard, 0.0), atol=1e-12)


def test_far_scores_take_the_other_path_without_a_seam(rng) -> None:
    """The same gradient just within and just beyond the widest span of shared exponentials."""
    queries = random_queries(rng, [8] * 5)
    scores = rng.normal(size=queries.n_docs)
    scores[::8] = 0.0
    for text, span in (("ranknet", SPAN), ("listnet(k=2)", 600.0), ("listnet(k=3)", 600.0)):
        ends = []
        for beyond in (-1e-12, 1e-12):
            scores[7::8] = -span * (1.0 + beyond)
            ends.append(loss(text)(scores, queries))
        np.testing.assert_allclose(ends[0].value, ends[1].value, rtol=1e-9)
        np.testing.assert_allclose(ends[0].gradient, ends[1].gradient, atol=1e-9)
    assert np.exp(-SPAN) ** 8 > np.finfo(np.float64).tiny
