"""LightGBM and XGBoost under our protocol."""

import numpy as np
import pytest
from conftest import random_queries

from letorbench.conventions import CONVENTIONS
from letorbench.errors import UsageError
from letorbench.measures import parse
from letorbench.rankers import Ranker, ranker
from letorbench.rankers import tree_libraries as boosted
from letorbench.solvers.stopping import Validation, best

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


def test_patience_ends_the_training(cls, rng):
    train, valid = random_queries(rng, [12] * 40), random_queries(rng, [6] * 30)
    learned = cls(rounds=300, patience=5).fit_sets(train, Validation(valid, rule=best)).learned
    assert len(learned.curve) == learned.best + 5 < 300


def test_threads_change_nothing_where_they_are_used(cls, rng, monkeypatch):
    """Small sets get one thread, so the test of every ranker does not see several at work."""
    train = random_queries(rng, [60] * 20)
    scores = []
    for least in (1, 10**9):
        monkeypatch.setenv("LETORBENCH_THREADS", "2")
        monkeypatch.setattr(boosted, "LEAST", least)
        assert boosted.threads_for(train.features) == (2 if least == 1 else 1)
        scores.append(cls(rounds=10).fit_sets(train).predict(train.features))
    np.testing.assert_array_equal(*scores)


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
