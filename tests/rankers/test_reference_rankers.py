"""The reference points: chance, one feature, and the labels themselves."""

import numpy as np
import pytest
from conftest import random_queries, unlocked

from letorbench.errors import UsageError
from letorbench.experiment.plan import algorithms
from letorbench.rankers import load_model, ranker
from letorbench.results.measuring import IDEAL, RANDOM


def test_the_results_know_the_rankers_by_their_names():
    assert not ranker(RANDOM).learns and not ranker(RANDOM).sees_labels
    assert ranker(IDEAL).sees_labels
    assert {RANDOM, "best-feature"} <= set(algorithms(["all"]))
    for name in (IDEAL, "recipe"):
        assert name not in algorithms(["all"]) and algorithms([name]) == [name]


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


def test_ideal_scores_are_the_labels_of_a_query_set(rng, tmp_path):
    queries = random_queries(rng, [4, 5])
    model = ranker("ideal")().fit_sets(random_queries(rng, [3, 3]))
    np.testing.assert_array_equal(model.predict(queries), queries.labels)
    assert model.predict(queries).dtype == np.float64
    with pytest.raises(UsageError, match="reads labels"):
        model.predict(queries.features)
    model.save(tmp_path / "model.npz")
    assert load_model(tmp_path / "model.npz").name == "ideal"
