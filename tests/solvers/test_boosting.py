"""The loop of boosting: what is added, when it ends, what is kept; stumps as trees."""

import math
from dataclasses import dataclass, field, replace
from types import SimpleNamespace

import numpy as np
import pytest
from conftest import random_queries

from letorbench.models import Linear
from letorbench.models.tree_ensemble import stump
from letorbench.solvers.boosting import (
    LONGEST_STEP,
    Term,
    adaboost_step,
    boost,
    stump_term,
    tree_ensemble,
)
from letorbench.solvers.stopping import NEVER, Deadline, Validation, best


@dataclass
class Scripted:
    """Adds the first feature times each number in turn, and writes down what it was shown."""

    features: np.ndarray
    steps: tuple[float, ...]
    seen: list[np.ndarray] = field(default_factory=list)

    def weigh(self, scores):
        return scores - 1.0, float(len(self.seen))

    def choose(self, scores, weights):
        np.testing.assert_array_equal(weights, scores - 1.0)
        self.seen.append(scores)
        if len(self.seen) > len(self.steps):
            return None
        learner = SimpleNamespace(predict=lambda X: X[:, 0])
        return Term(learner, self.features[:, 0], self.steps[len(self.seen) - 1])


def scaled(terms: list[Term], n_features: int) -> Linear:
    weights = np.zeros(n_features)
    weights[0] = sum(term.alpha for term in terms)
    return Linear(weights, 0.0)


@pytest.fixture
def sets(rng):
    """Validation likes a positive multiple of the first feature, whatever its size."""
    train, held_out = (random_queries(rng, [9] * 6) for _ in range(2))
    labels = np.digitize(held_out.features[:, 0], [0.0, 1.0]).astype(np.int32)
    return train, Validation(replace(held_out, labels=labels), rule=best)


#: sums of these steps: -1, 1, 2, -1, -2, -3, ..., so that the second and the third round are best
STEPS = (-1.0, 2.0, 1.0, -3.0, *[-1.0] * 16)


@pytest.mark.parametrize(
    ("rounds", "patience", "deadline", "made"),
    [(20, 0, NEVER, 20), (5, 0, NEVER, 5), (20, 3, NEVER, 5), (20, 9, NEVER, 11),
     (30, 0, NEVER, 20),
     (20, 0, Deadline(0.0), 1)],
)  # fmt: skip
def test_terms_are_added_until_rounds_patience_or_time_end(sets, rounds, patience, deadline, made):
    train, validation = sets
    booster = Scripted(train.features, STEPS)
    learned = boost(booster, train, rounds, validation, patience, deadline, scaled)
    assert len(learned.curve) == made and len(learned.objective) == made + 1
    sums, x = np.cumsum(STEPS)[:made], validation.queries.features[:, 0].astype(float)
    assert learned.curve == pytest.approx([validation(a * x).mean() for a in sums])
    assert learned.best == min(2, made) and learned.model.weights[0] == sums[learned.best - 1]
    expected = np.append(0.0, sums)[: len(booster.seen), None] * train.features[:, 0]
    np.testing.assert_allclose(booster.seen, expected, rtol=1e-6, atol=1e-6)
    assert learned.cut_off == (deadline is not NEVER) and learned.warnings == ()


def test_without_validation_all_terms_are_kept_and_none_is_warned_of(sets):
    train, _ = sets
    learned = boost(Scripted(train.features, STEPS), train, 7, None, 2, to_model=scaled)
    assert learned.best == 7 and learned.curve == ()
    assert learned.model.weights[0] == sum(STEPS[:7])
    nothing = boost(Scripted(train.features, ()), train, 7, None, to_model=scaled)
    assert nothing.best == 0 and [each.kind for each in nothing.warnings] == ["nothing learned"]


def test_a_stump_with_a_negative_step_is_its_opposite_with_a_positive_one(rng):
    """The model of such terms differs from their sum by a constant, which ranks nothing."""
    X = rng.normal(size=(50, 4)).astype(np.float32)
    terms, expected = [], np.zeros(50)
    for alpha in rng.normal(size=9):
        feature, threshold = int(rng.integers(4)), float(rng.normal())
        above = X[:, feature] > threshold
        terms.append(stump_term(*stump(feature, True, threshold, above), alpha))
        assert terms[-1].alpha == abs(alpha)
        expected += alpha * above
    difference = tree_ensemble(terms, 4).predict(X) - expected
    np.testing.assert_allclose(difference, difference[0], atol=1e-12)


def test_adaboosts_step_is_half_the_logarithm_of_right_over_wrong():
    for right, wrong in ((3.0, 1.0), (0.6, 0.4), (2.0, 2.0), (9_999.0, 1.0)):
        expected = 0.5 * math.log(right / wrong)
        assert adaboost_step(right - wrong, right + wrong) == pytest.approx(expected, abs=1e-12)
    assert adaboost_step(1.0) == adaboost_step(1.0 - 1e-12) == LONGEST_STEP == 5.0
