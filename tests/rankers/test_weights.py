"""Weights of queries: a query of weight 2 is the query written twice, one of weight 0 is none."""

from dataclasses import replace

import numpy as np
import pytest
from conftest import few_rounds, learners, random_queries

import letorbench as lb
from letorbench.conventions import convention
from letorbench.datasets.queryset import QuerySet
from letorbench.rankers import names, ranker
from letorbench.solvers.stopping import Validation

WEIGHTS = np.array([1, 2, 1, 0, 3, 1, 1, 2])


def weighted(levels: int = 4) -> tuple[QuerySet, QuerySet]:
    """Queries with weights, and each written as often as it weighs.

    Each feature has the same values in each query, so that means, variances, bins and thresholds
    are those of both sets.
    """
    rng = np.random.default_rng(8)
    features = np.array(
        [[rng.permutation(12) for _ in range(5)] for _ in WEIGHTS], np.float32
    ).transpose(0, 2, 1).reshape(-1, 5) / 11  # fmt: skip
    noisy = features[:, 1] + 0.7 * features[:, 2] + 0.4 * rng.normal(size=len(features))
    labels = np.digitize(noisy, [0.8, 1.1, 1.5][: levels - 1]).astype(np.int32)
    offsets = np.arange(len(WEIGHTS) + 1, dtype=np.int64) * 12
    once = QuerySet(features, labels, offsets, np.arange(len(WEIGHTS)))
    often = once.take(np.repeat(np.arange(len(WEIGHTS)), WEIGHTS))
    often = QuerySet(often.features, often.labels, often.offsets, np.arange(often.n_queries))
    return replace(once, weights=WEIGHTS.astype(float)), often


#: settings by which a ranker does not count documents or draw, and others that weigh apart
FIXED = {"min_docs": 1, "min_weight": 0.0}
OTHERS: dict[str, list[dict[str, object]]] = {
    "adarank-ndcg": [{"gain": "linear"}],
    # its usual loss and its bootstrap draw, and its prior grows with the mean weight
    "catboost": [
        {"loss_function": "QueryRMSE", "bootstrap_type": "No", "random_strength": 0,
         "l2_leaf_reg": 0},
    ],  # fmt: skip
    "coordinate-ascent": [{"measure": "map"}, {"measure": "p@5"}],
    "lambdamart": [{"gain": "0/1/1.5/4"}],
    "ndcgboost": [{"weak": "tree"}],
    "ranksvm": [{"loss": "hinge", "gap": 1e-9}, {"normalise": False}],
    "recipe": [{"model": "trees", "min_docs": 1}, {"model": "trees", "loss": "lambdaloss"},
               {"solver": "line-search"}, {"solver": "gradient-descent"}],
    "svmmap": [{"gap": 1e-9}],
    "wpl": [{"functional": "group"}, {"weight": "1/pi"}],
}  # fmt: skip
#: a step a query, or drawn queries: see below; `best` draws the queries that it validates on
DRAWING = ("lambdarank", "ranknet", "random-forests", "best")
CASES = [
    (name, other)
    for name in names()
    if name not in (*DRAWING, "ideal", "random", "best-feature")
    for other in [{}] * (learners()[name] == name != "catboost") + OTHERS.get(name, [])
]


@pytest.mark.parametrize(("name", "other"), CASES, ids=str)
def test_a_weight_is_a_number_of_copies(name, other):
    cls = ranker(name)
    if not cls.available():
        pytest.skip(f"no {cls.needs}")
    once, often = weighted()
    fixed = {key: value for key, value in FIXED.items() if hasattr(cls, key)}
    if name == "lightgbm":  # which takes the second derivatives for numbers of documents
        fixed["min_docs"] = 0
    each, both, plain = (
        cls(**{**few_rounds(cls), **fixed, **other}).fit_sets(train)
        for train in (once, often, replace(once, weights=None))
    )
    found, expected = each.predict(once), both.predict(once)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6 * np.abs(expected).max())
    assert not np.allclose(found, plain.predict(once), rtol=1e-4)
    history = each.learned.objective, both.learned.objective
    np.testing.assert_allclose(*history, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", ["lambdarank", "ranknet"])
def test_a_net_steps_by_the_weight(name):
    queries = random_queries(np.random.default_rng(2), [9])
    rates = {}
    for weight in (None, 3.0):
        given = None if weight is None else np.array([weight])
        each = ranker(name)(layers=2, hidden=3, epochs=1, learning_rate=1e-4)
        fitted = each.fit_sets(replace(queries, weights=given)).learned
        rates[weight] = fitted.objective[0], fitted.model
    (cost, plain), (tripled, model) = rates.values()
    assert tripled == pytest.approx(3.0 * cost, rel=1e-12)
    start = ranker(name)(layers=2, hidden=3, epochs=1, learning_rate=1e-300)
    begin = start.fit_sets(queries).learned.model
    for part in ("bias", "output"):
        moved, further = (getattr(m, part) - getattr(begin, part) for m in (plain, model))
        np.testing.assert_allclose(further, 3.0 * moved, rtol=1e-6, atol=1e-16)


def test_forests_draw_queries_by_their_weights():
    once, _ = weighted()
    only = replace(once, weights=np.eye(len(WEIGHTS))[4])
    forest = {"bags": 3, "columns": 1.0, "docs": 0.5}
    found = lb.RandomForests(**forest).fit_sets(only).predict(once.features)
    expected = lb.RandomForests(**forest).fit_sets(once.queries(4, 5)).predict(once.features)
    np.testing.assert_allclose(found - found[0], expected - expected[0], atol=1e-12)


def test_the_best_feature_is_that_of_the_weighted_mean():
    features = np.array([[1, 0], [0, 1], [0, 1], [1, 0]], np.float32)
    two = QuerySet(features, np.array([1, 0] * 2, np.int32), np.array([0, 2, 4]), np.arange(2))
    for best in (0, 1):
        weights = np.array([1.0, 1.0])
        weights[best] = 3.0
        model = lb.BestFeature().fit_sets(replace(two, weights=weights)).learned.model
        assert model.weights.tolist() == [1.0 - best, float(best)]


@pytest.mark.parametrize("measure", ["ndcg@5", "map", "err"])
@pytest.mark.parametrize("rules", ["standard,gain=linear", "letor4,empty=drop,max_label=3"])
def test_validation_weighs_where_the_convention_does(measure, rules):
    once, often = weighted()
    scores = np.random.default_rng(3).normal(size=once.n_docs)
    copies = scores.reshape(-1, 12).repeat(WEIGHTS, axis=0).ravel()
    judge = Validation(once, lb.parse(measure), convention(f"{rules},mean=weighted"))
    other = Validation(often, lb.parse(measure), convention(rules))
    assert judge(scores).mean() == pytest.approx(other(copies).mean(), rel=1e-12)
    of_orders = judge.expectation_over_ties(scores), other.expectation_over_ties(copies)
    assert of_orders[0] == pytest.approx(of_orders[1], rel=1e-12)


def test_weights_are_of_rows_or_of_queries():
    once, _ = weighted()
    rows = np.random.default_rng(0).permutation(once.n_docs)
    scattered = once.X[rows], once.y[rows], once.qid[rows]
    firsts = WEIGHTS[[int(qid) for qid in dict.fromkeys(once.qid[rows])]]
    for given in (once.document_weights[rows], firsts):
        again = QuerySet.from_arrays(*scattered, sample_weight=given)
        assert dict(zip(again.qids, again.weights)) == dict(zip(once.qids, once.weights))
    part = once.take(np.array([4, 1])).queries(0, 1)
    assert part.weights.tolist() == [3.0] and part.digest != replace(part, weights=None).digest
