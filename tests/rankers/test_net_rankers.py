"""RankNet, LambdaRank and ListNet: their settings and steps; regression against NumPy."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from conftest import random_queries, unlocked

from letorbench.datasets.queryset import QuerySet
from letorbench.errors import UsageError
from letorbench.losses.label_order import random_order
from letorbench.rankers import ranker
from letorbench.rankers.regression import Regression


@pytest.mark.parametrize(
    "name, setting",
    [
        ("ranknet", {"passes": "once"}),
        ("ranknet", {"layers": 3}),
        ("ranknet", {"hidden": 0}),
        ("lambdarank", {"learning_rate": 0.0}),
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


def test_listnet_steps_after_each_query(rng):
    """Algorithm 1 by hand: w <- w - rate X^T (softmax(s) - softmax(r)), query by query."""
    train = random_queries(rng, [7, 4, 9], n_features=5, levels=3)
    fit = ranker("listnet")(steps="query", epochs=3, learning_rate=0.2).fit_sets(train)
    w = np.zeros(5)
    for begin, end in 3 * list(pairwise(train.offsets)):
        x, r = train.features[begin:end].astype(np.float64), train.labels[begin:end]
        p, target = np.exp(x @ w), np.exp(r.astype(np.float64))
        w = w - 0.2 * x.T @ (p / p.sum() - target / target.sum())
    np.testing.assert_allclose(fit.learned.model.weights, w, rtol=1e-9)


@pytest.mark.parametrize("settings", [{}, {"steps": "query", "learning_rate": 0.01}, {"top": 3}])
def test_listnet_lowers_its_loss_and_leaves_out_queries_of_one_label(settings, rng):
    train = random_queries(rng, [8] * 10)
    with unlocked(train):
        train.labels[:8] = train.labels[40:48] = 1
    fits = [
        ranker("listnet")(epochs=5, **settings).fit_sets(queries).learned
        for queries in (train, train.take(np.array([1, 2, 3, 4, 6, 7, 8, 9])))
    ]
    np.testing.assert_array_equal(*(fit.model.weights for fit in fits))
    assert fits[0].objective[-1] < fits[0].objective[0] and fits[0].best == 5


@pytest.mark.parametrize("function", ["step", "spring", "ndcg-difference", "ranknet"])
@pytest.mark.parametrize("neighbours", [False, True])
def test_lambdarank_learns_by_any_function(function, neighbours, rng):
    train = random_queries(rng, [12] * 30)
    with unlocked(train):
        train.labels[:] = train.features[:, 0] > 0.5
    settings = {"function": function, "neighbours": neighbours, "margin": 0.5, "epochs": 60}
    fit = ranker("lambdarank")(**settings, learning_rate=0.03).fit_sets(train, train)
    assert max(fit.learned.curve) > 0.9


@pytest.mark.parametrize("name", ["ranknet", "lambdarank"])
@pytest.mark.parametrize("layers", [1, 2])
def test_the_order_of_documents_is_rounding_alone(name, layers, rng):
    """Over a few epochs: later, ranks that change make rounding grow. Many documents are alike."""
    train = random_queries(rng, [12] * 30, 4)
    with unlocked(train):
        train.features[:] = np.round(train.features)
    rows = random_order(train, rng)
    permuted = QuerySet(train.features[rows], train.labels[rows], train.offsets, train.qids)
    fits = [
        ranker(name)(layers=layers, epochs=5).fit_sets(each, rng=np.random.default_rng(0))
        for each in (train, permuted)
    ]
    scores, again = (fit.predict(train.features) for fit in fits)
    np.testing.assert_allclose(again, scores, atol=1e-6 * np.abs(scores).max())
    assert fits[0].effort < ranker(name)(layers=2, hidden=20).effort


@pytest.mark.parametrize("l2", [0.0, 3.0])
@pytest.mark.parametrize("target", ["label", "gain"])
def test_against_an_independent_solver(rng, l2, target):
    """With constant and repeated features, numpy's solution is the shortest one too."""
    train = random_queries(rng, [30, 50, 20], n_features=6, levels=5)
    with unlocked(train):
        train.features[:, 1] = 7.0
        train.features[:, 3] = train.features[:, 0]
    y = train.labels if target == "label" else 2.0**train.labels - 1
    x = np.column_stack([train.features[:, [0, 2, 4, 5]].astype(np.float64), np.ones(100)])
    # a weight is shared by the two equal features, so it costs half
    penalty = np.diag(np.sqrt(l2 * np.array([0.5, 1.0, 1.0, 1.0, 0.0])))
    expected = np.linalg.lstsq(np.vstack([x, penalty]), np.append(y, np.zeros(5)), rcond=None)[0]
    ranker = Regression(l2=l2, target=target).fit_sets(train)
    np.testing.assert_allclose(ranker.predict(train.features), x @ expected, atol=1e-8)
    weights = ranker.learned.model.weights
    assert weights[0] == pytest.approx(weights[3]) and abs(weights[1]) < 1e-9
