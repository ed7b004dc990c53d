"""LambdaMART against the paper's section 7, what a tree's step does, and the libraries' trees."""

from itertools import pairwise

import numpy as np
import pytest
from conftest import random_queries

from letorbench.conventions import CONVENTIONS
from letorbench.errors import UsageError
from letorbench.losses.lambdas import Lambda, pair_lambdas
from letorbench.measures import PreparedMetric, nDCG, parse
from letorbench.rankers import MART, LambdaMART, RandomForests, Ranker, ranker
from letorbench.rankers.lambdamart import newton_by_pairs
from letorbench.rankers.mart import BoostedTrees
from letorbench.rankers.tree_libraries import threads_for
from letorbench.solvers.stopping import Validation, best


@pytest.mark.parametrize("truncation", [0, 3, 30])
@pytest.mark.parametrize("scale", [0.0, 1.0, 100.0])
@pytest.mark.parametrize("normalised", [False, True])
def test_the_forces_are_those_of_the_paper(
    scale: float, truncation: int, normalised: bool, rng
) -> None:
    """Also where scores tie, or are so far apart that exponentials are not shared."""
    queries = random_queries(rng, [1, 7, 12, 40, 2])
    s = np.round(rng.normal(size=queries.n_docs) * 3.0) * scale
    ranker = LambdaMART(truncation=truncation, normalised=normalised)
    (gradient, hessian), lost = ranker.differentiated(queries)(s)
    ndcg, standard = nDCG @ truncation if truncation else parse("ndcg"), CONVENTIONS["standard"]
    metric = PreparedMetric.of(queries.labels, queries.offsets, ndcg, standard)
    relevant = np.maximum.reduceat(queries.labels, queries.offsets[:-1]) > 0
    assert lost == pytest.approx(np.where(relevant, 1.0 - metric.mean_of_orders(s), 0.0).mean())
    for a, b in pairwise(queries.offsets):
        labels = queries.labels[a:b]
        expected = np.zeros((2, b - a))
        if labels.any():
            expected = newton_by_pairs(s[a:b], labels, truncation, normalised)
            by_pairs = pair_lambdas(Lambda(), s[a:b], labels)
            if not normalised and truncation == 0:
                np.testing.assert_allclose(expected[0], -by_pairs, rtol=0.0, atol=1e-12)
        np.testing.assert_allclose(gradient[a:b], expected[0], rtol=0.0, atol=1e-12)
        np.testing.assert_allclose(hessian[a:b], expected[1], rtol=0.0, atol=1e-12)


def test_normalised_forces_are_those_of_lightgbm() -> None:
    """Three documents by hand; no pair of equal labels has a force."""
    s, labels = np.array([0.5, 0.0, -0.5]), np.array([0, 1, 1])
    d1, d2, d3 = 1.0, 1.0 / np.log2(3.0), 0.5
    forces = np.array([(d1 - d2) / 0.51, (d1 - d3) / 1.01]) / (d1 + d2)
    forces /= 1.0 + np.exp([-0.5, -1.0])
    S = 2.0 * forces.sum()
    expected = forces * np.log2(1.0 + S) / S
    gradient, hessian = newton_by_pairs(s, labels, normalised=True)
    np.testing.assert_allclose(gradient, [expected.sum(), *-expected])
    np.testing.assert_allclose(hessian[1:], expected / (1.0 + np.exp([0.5, 1.0])))


@pytest.mark.parametrize("cls", [MART, LambdaMART])
def test_each_leaf_takes_newtons_step(cls: type[BoostedTrees], rng) -> None:
    """Round by round, from the derivatives at the scores before; MART's without l2 are means."""
    queries, F = random_queries(rng, [30] * 10), np.zeros(300)
    settings = {"learning_rate": 0.5, "leaves": 5, "min_docs": 10, "l2": 2.0}
    objective = cls(rounds=3, **settings).fit_sets(queries).learned.objective
    for rounds in (1, 2, 3):
        ranker = cls(rounds=rounds, **settings).fit_sets(queries)
        (gradient, hessian), value = ranker.differentiated(queries)(F)
        assert value == pytest.approx(objective[rounds - 1], rel=1e-12)
        after = ranker.predict(queries.features)
        steps = np.round(after - F, 12)
        assert len(set(steps)) == 5
        for step in set(steps):
            G, H = gradient[steps == step].sum(), hessian[steps == step].sum()
            assert step == pytest.approx(-0.5 * G / (H + 2.0), abs=1e-8)
            assert (steps == step).sum() >= 10
        F = after
    assert ranker.differentiated(queries)(F)[1] == pytest.approx(objective[3], rel=1e-12)
    if cls is MART:
        residuals = queries.labels - queries.labels.mean() - F
        assert objective[3] == pytest.approx(0.5 * (residuals**2).sum())


@pytest.mark.parametrize("cls", [MART, LambdaMART])
def test_boosting_ends_where_nothing_splits(cls: type[BoostedTrees], rng) -> None:
    queries = random_queries(rng, [30] * 4)
    learned = cls(rounds=9, min_docs=61).fit_sets(queries).learned
    assert len(learned.model.roots) == 0 and len(learned.objective) == 1


def test_a_forest_draws_whole_queries_for_each_tree(rng) -> None:
    model = (
        RandomForests(bags=9, depth=1, docs=0.1)
        .fit_sets(random_queries(rng, [9] * 20))
        .learned.model
    )
    assert len(model.feature) == 3 * 9 and set(model.cover[model.roots]) == {18.0}


TREES = ["lightgbm", "xgboost"]


@pytest.fixture(params=TREES)
def cls(request: pytest.FixtureRequest) -> type[Ranker]:
    pytest.importorskip(request.param, reason=f"{request.param} is not installed")
    return ranker(request.param)


@pytest.mark.parametrize("select, convention", [("map", "letor4"), ("err@10", "standard")])
def test_our_measure_chooses_the_rounds(cls, rng, select, convention):
    train, valid = random_queries(rng, [12] * 40), random_queries(rng, [6] * 30)
    validation = Validation(valid, parse(select), CONVENTIONS[convention], best)
    model = cls(rounds=40, patience=0).fit_sets(train, validation)
    curve = model.learned.curve
    assert len(curve) == 40 and model.learned.best == int(np.argmax(curve)) + 1
    assert validation(model.predict(valid.features)).mean() == pytest.approx(max(curve), abs=1e-12)
    again = cls(rounds=model.learned.best).fit_sets(train)  # so many rounds, and no more
    np.testing.assert_array_equal(again.predict(valid.features), model.predict(valid.features))


def test_a_thread_is_for_two_million_feature_values(monkeypatch):
    monkeypatch.setenv("LETORBENCH_THREADS", "3")
    sets = [np.broadcast_to(np.float32(0.0), (rows, 1000)) for rows in (0, 1999, 4000, 9000)]
    assert [threads_for(each) for each in sets] == [1, 1, 2, 3]


def test_a_model_gives_the_librarys_scores(cls, rng, monkeypatch):
    library = pytest.importorskip(cls.name)
    trained, boosters = library.train, []
    monkeypatch.setattr(
        library, "train", lambda *a, **b: boosters.append(trained(*a, **b)) or boosters[-1]
    )
    train = random_queries(rng, [60] * 5)
    pure = {"min_docs": 10_000} if cls.name == "lightgbm" else {"min_weight": 1e9}
    for setting in ({"rounds": 20}, {"rounds": 2, **pure}):
        model = cls(**setting).fit_sets(train).learned.model
        if cls.name == "lightgbm":
            expected = boosters[-1].predict(train.features, raw_score=True)
        else:
            expected = boosters[-1].inplace_predict(train.features, predict_type="margin")
        np.testing.assert_array_equal(model.predict(train.features), expected)
    assert len(set(expected)) == 1  # trees of one leaf


@pytest.mark.parametrize("name", TREES)
def test_a_missing_package_is_said_in_one_line(name, rng, monkeypatch):
    cls = ranker(name)
    monkeypatch.setattr(cls, "needs", "no_such_package")
    assert not cls.available()
    with pytest.raises(UsageError, match="needs the package no_such_package; .*trees.*installs"):
        cls().fit_sets(random_queries(rng, [3] * 4))
