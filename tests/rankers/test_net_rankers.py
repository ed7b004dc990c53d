"""What teaches nothing; ListNet's steps; regression; reference points; coordinate ascent."""

import numpy as np
import pytest
from conftest import random_queries, unlocked

from letorbench.conventions import CONVENTIONS
from letorbench.measures import PreparedMetric, parse, query_metrics
from letorbench.models import LinearFamily
from letorbench.rankers import ranker
from letorbench.rankers.coordinate_ascent import middle_of_best
from letorbench.rankers.regression import Regression


@pytest.mark.parametrize("name, noun", [
    *((name, "weak learner") for name in ("adarank-map", "frank", "ndcgboost", "rankboost")),
    ("ranksvm", "two different labels"), ("svmmap", "labels 0 and more"),
])  # fmt: skip
def test_labels_that_are_all_equal_teach_nothing_and_are_warned_of(rng, name, noun):
    model = ranker(name)().fit_sets(random_queries(rng, [1, 5, 4], levels=1))
    assert not model.predict(random_queries(rng, [6]).features).any()
    [warning] = model.learned.warnings
    assert warning.kind == "nothing learned" and noun in warning.text
    assert len(model.learned.objective) == 1 and model.learned.best in (0, None)


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


@pytest.mark.parametrize(("l2", "target"), [(0.0, "label"), (1e-3, "gain"), (0.5, "label")])
@pytest.mark.parametrize(("n", "width"), [(100, 9), (31, 30), (30, 31), (3, 200)])
def test_regression_has_the_shortest_solution(n, width, l2, target, rng):
    X = (rng.normal(size=(n, width)) * rng.uniform(0.1, 10, width)).astype(np.float32)
    X[:, 3], X[:, 5] = 2, X[:, 4]
    X[:, 6] = X[:, 4] + 0.03 * rng.normal(size=n)
    labels = np.arange(n) % 3
    y = labels if target == "label" else 2.0**labels - 1.0
    model = Regression(l2=l2, target=target).fit(X, labels, group=[n]).learned.model
    x = X.astype(np.float64) - X.astype(np.float64).mean(axis=0)
    unit = LinearFamily.conditioned(X, intercept=True).scale
    scale = np.sqrt((x**2).sum(axis=0)) if l2 == 0 else unit
    scale[scale == 0] = 1
    c = ((x / unit) ** 2).sum() / width
    rows = np.vstack([x / scale, np.sqrt(l2 * c) * np.eye(width)])
    w = np.linalg.lstsq(rows, np.append(y - y.mean(), np.zeros(width)), rcond=1e-6)[0] / scale
    np.testing.assert_allclose(model.weights, w, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(model.predict(X), x @ w + y.mean(), rtol=1e-6, atol=1e-7)


def test_wide_data_take_no_square_of_their_features(rng):
    X = rng.random((36, 65_536), dtype=np.float32)  # the square would take 34 GB
    y = np.arange(36) % 3
    assert np.allclose(Regression().fit(X, y, group=[36]).predict(X), y)


@pytest.mark.parametrize("feature", [0, 3])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_best_feature_is_chosen_on_validation(feature, sign, rng):
    train, valid = random_queries(rng, [9] * 20), random_queries(rng, [9] * 20)
    with unlocked(train, valid):
        train.features[:, 1] = train.labels  # best where it does not count
        valid.features[:, feature] = sign * (valid.labels + 0.1 * rng.random(valid.n_docs))
    model = ranker("best-feature")().fit_sets(train, valid).learned.model
    assert model.weights.tolist() == [sign * (k == feature) for k in range(5)]
    alone = ranker("best-feature")().fit_sets(train).learned.model
    assert alone.weights.tolist() == [0.0, 1.0, 0.0, 0.0, 0.0]


def test_a_constant_feature_is_worth_a_random_order(rng):
    """In file order it would be perfect: the best documents stand first."""
    valid = random_queries(rng, [9] * 20, n_features=2)
    order = np.lexsort((-valid.labels, np.repeat(np.arange(20), 9)))
    with unlocked(valid):
        valid.labels[:] = valid.labels[order]
        valid.features[:, 0] = 0.0
        valid.features[:, 1] = valid.labels + rng.normal(size=valid.n_docs)
    weights = ranker("best-feature")().fit_sets(valid, valid).learned.model.weights
    assert weights.tolist() == [0.0, 1.0]


@pytest.mark.parametrize("measure", ["ndcg@3", "ndcg", "map"])
def test_the_measure_between_breakpoints_is_that_of_its_middle(measure, rng):
    """Of all intervals, with documents that are alike, tie, or have a constant feature."""
    queries = random_queries(rng, [1, 0, 12, 2, 150, 30], levels=4)
    scores, column = rng.normal(size=(2, queries.n_docs))
    column[5:9], scores[5:7] = 1.0, 0.5
    column[20:23], scores[20:23] = column[20], scores[20]
    scores[60:90] = np.round(scores[60:90], 1)
    standard = CONVENTIONS["standard"]
    metric = PreparedMetric.of(queries.labels, queries.offsets, parse(measure), standard)
    steps, changes = metric.changes(scores, column)

    def total(t: float) -> float:
        args = queries.labels, scores + t * column, queries.offsets, [parse(measure)], standard
        return float(query_metrics(*args).sum())

    middles = np.concatenate(([steps[0] - 1.0], (steps[1:] + steps[:-1]) / 2, [steps[-1] + 1.0]))
    wide = np.diff(steps, prepend=-9e9, append=9e9) > 1e-9
    shown = np.flatnonzero(wide)[::7]
    levels = total(middles[0]) + np.append(0.0, np.cumsum(changes))
    np.testing.assert_allclose([total(t) for t in middles[shown]], levels[shown], atol=1e-9)
    step = middle_of_best(steps, changes)
    assert total(step) == pytest.approx(levels[wide].max())


def test_no_step_where_none_is_better():
    assert middle_of_best(np.empty(0), np.empty(0)) == 0.0
    assert middle_of_best(np.array([-1.0, 3.0]), np.array([0.5, -0.5])) == 0.0
    assert middle_of_best(np.array([1.0, 3.0]), np.array([0.5, -0.5])) == 2.0
    assert middle_of_best(np.array([1.0, 3.0]), np.array([-0.5, 1.0])) == 4.0  # a unit further
    assert middle_of_best(np.array([-3.0, -1.0]), np.array([-0.5, 0.2])) == -4.0
