"""The single changes of NDCG Boost: the base is the ranker, and each change is what it says."""

import numpy as np
import pytest

from letorbench.conventions import CONVENTIONS
from letorbench.datasets.queryset import Fold, QuerySet
from letorbench.datasets.synthetic.cubic import cubic
from letorbench.papers.ndcgboost_2009 import single_changes as changes
from letorbench.papers.ndcgboost_2009.single_changes import Change
from letorbench.rankers.ndcgboost import NDCGBoost


@pytest.fixture
def fold(rng):
    return Fold(1, *cubic(rng, [12, 6, 6], 4, 8, (0.5, 0.3, 0.2)))


def test_the_base_is_the_ranker(fold, monkeypatch):
    monkeypatch.setattr(NDCGBoost, "rounds", 5)
    found = changes.scores(fold, Change(), np.random.default_rng(3))
    model = NDCGBoost(rounds=5, stumps="sample").learn(fold.train, None, np.random.default_rng(3))
    np.testing.assert_allclose(found[-1], model.model.predict(fold.test.features))
    joined = changes.joined(fold.train, fold.validation)
    assert joined.n_queries == 18 and joined.qids[12] == fold.validation.qids[0]
    doubled = changes.scores(fold, Change(half=False), np.random.default_rng(3))
    np.testing.assert_allclose(doubled[0], 2.0 * found[0])


def test_a_change_of_the_weak_learner_is_the_rankers(fold, monkeypatch):
    monkeypatch.setattr(NDCGBoost, "rounds", 3)
    own = {"weak": "tree", "depth": 2, "criterion": "entropy"}
    found = changes.scores(fold, Change(**own), np.random.default_rng(3))
    made = NDCGBoost(rounds=3, stumps="sample", **own)
    model = made.learn(fold.train, None, np.random.default_rng(3))
    np.testing.assert_allclose(found[-1], model.model.predict(fold.test.features))
    assert Change(**own, ties="best", empty=False).trained == Change(**own)


def test_no_document_is_drawn_twice(rng):
    seen, w = [], np.array([5.0, -1.0, 0.0, 2.0, 1.0, -1.0])
    changes.without_replacement(seen.append, 1.0, rng, w)
    changes.without_replacement(seen.append, 0.5, rng, w)
    assert seen[0].tolist() == [1.0, -1.0, 0.0, 1.0, 1.0, -1.0] and np.abs(seen[1]).sum() == 3


def test_ties_empty_queries_and_the_sentence():
    labels, rules = np.array([0, 1, 0, 0], np.int32), CONVENTIONS["standard"]
    test = QuerySet(np.zeros((4, 1), np.float32), labels, np.array([0, 2, 4]), np.arange(2))

    def mean(**change):
        return changes.scored(test, np.zeros(4), Change(**change), rules, "ndcg@1")

    assert (mean(ties="best"), mean(ties="worst"), mean()) == (0.5, 0.0, 0.0)
    assert mean(ties="best", empty=False) == 1.0
    seeds = np.array([-0.005, 0.005, -0.005, 0.005])
    found = {changes.BASE: 0.455 + seeds, "a": 0.487 + seeds, "b": 0.46 + seeds}
    said = changes.sentence(found, 0.5, 0.005, 0.02)
    assert "Of 2 single changes 1 moves" in said and "a (+0.032)" in said
    assert said.endswith("within reach of a.")
