"""RankNet, LambdaRank, ListNet, classification: their settings, and quality on real data."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import random_queries, unlocked

from letorbench.datasets.queryset import QuerySet
from letorbench.errors import UsageError
from letorbench.losses.label_order import random_order
from letorbench.rankers import ranker
from letorbench.solvers.stopping import Validation


@pytest.mark.parametrize(
    "name, setting",
    [
        ("ranknet", {"passes": "once"}),
        ("ranknet", {"layers": 3}),
        ("lambdarank", {"function": "pull"}),
        ("lambdarank", {"truncation": -1}),
        ("listnet", {"top": 4}),
        ("listnet", {"learning_rate": -1.0}),
        ("listnet", {"steps": "pair"}),
        ("classification", {"l2": -1.0}),
    ],
)
def test_settings_that_make_no_sense_are_refused(name, setting, rng):
    with pytest.raises(UsageError):
        ranker(name)(**setting).fit_sets(random_queries(rng, [5, 5]))


@pytest.mark.parametrize("passes", ["pairwise", "paper"])
def test_ranknet_with_other_passes_is_ranknet(passes, rng):
    train, held_out = random_queries(rng, [9] * 12), Validation(random_queries(rng, [9] * 12))
    fits = [
        ranker("ranknet")(passes=way, epochs=8, learning_rate=0.01).fit_sets(train, held_out)
        for way in ("factored", passes)
    ]
    costs = [fit.learned.objective for fit in fits]
    np.testing.assert_allclose(costs[0], costs[1], rtol=1e-3)


def test_listnet_steps_after_each_query(rng):
    """Algorithm 1 by hand: w <- w - rate X^T (softmax(s) - softmax(r)), query by query."""
    train = random_queries(rng, [7, 4, 9], n_features=5, levels=3)
    fit = ranker("listnet")(steps="query", epochs=3, learning_rate=0.2).fit_sets(train)
    w = np.zeros(5)
    for _ in range(3):
        for q in range(train.n_queries):
            rows = slice(train.offsets[q], train.offsets[q + 1])
            x, r = train.features[rows].astype(np.float64), train.labels[rows]
            p, target = np.exp(x @ w), np.exp(r.astype(np.float64))
            w = w - 0.2 * x.T @ (p / p.sum() - target / target.sum())
    np.testing.assert_allclose(fit.learned.model.weights, w, rtol=1e-9)


@pytest.mark.parametrize("steps", ["epoch", "query"])
def test_listnet_leaves_out_queries_of_one_label(steps, rng):
    train = random_queries(rng, [8] * 10)
    with unlocked(train):
        train.labels[:8] = train.labels[40:48] = 1
    fits = [
        ranker("listnet")(steps=steps, epochs=5).fit_sets(queries).learned
        for queries in (train, train.take(np.array([1, 2, 3, 4, 6, 7, 8, 9])))
    ]
    np.testing.assert_array_equal(*(fit.model.weights for fit in fits))


@pytest.mark.parametrize("top", [1, 2, 3])
def test_listnet_lowers_its_loss(top, rng):
    learned = ranker("listnet")(top=top, epochs=20).fit_sets(random_queries(rng, [7] * 10)).learned
    assert learned.objective[-1] < learned.objective[0]
    assert len(learned.objective) == learned.best == 20


@pytest.mark.parametrize("function", ["step", "spring", "ndcg-difference", "ranknet"])
@pytest.mark.parametrize("neighbours", [False, True])
def test_lambdarank_learns_by_any_function(function, neighbours, rng):
    train = random_queries(rng, [12] * 30)
    labels = (train.features[:, 0] > 0.5).astype(np.int32)
    train = type(train)(train.features, labels, train.offsets, train.qids)
    settings = {"function": function, "neighbours": neighbours, "margin": 0.5, "epochs": 60}
    fit = ranker("lambdarank")(**settings, learning_rate=0.03).fit_sets(train, train)
    assert max(fit.learned.curve) > 0.9


@pytest.mark.parametrize("name", ["ranknet", "lambdarank"])
@pytest.mark.parametrize("layers", [1, 2])
def test_the_order_of_documents_is_rounding_alone(name, layers, rng):
    """Over a few epochs: later, ranks that change make rounding grow. Many documents are alike."""
    drawn = random_queries(rng, [12] * 30, 4)
    features = np.round(drawn.features, 0)
    train = QuerySet(features, drawn.labels, drawn.offsets, drawn.qids)
    rows = random_order(train, rng)
    permuted = QuerySet(features[rows], drawn.labels[rows], drawn.offsets, drawn.qids)
    scores, again = (
        ranker(name)(layers=layers, epochs=5).fit_sets(each, rng=np.random.default_rng(0))
        .predict(features)
        for each in (train, permuted)
    )  # fmt: skip
    np.testing.assert_allclose(again, scores, atol=1e-6 * np.abs(scores).max())


@pytest.mark.parametrize("name", ["ranknet", "lambdarank"])
def test_a_net_with_more_units_takes_more_effort(name):
    cls = ranker(name)
    assert cls(layers=1).effort < cls(hidden=5).effort < cls(hidden=20).effort
