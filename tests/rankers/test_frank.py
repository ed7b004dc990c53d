"""FRank: its objective and bound, its first round by hand, its longest step."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import random_queries

from letorbench.datasets.queryset import QuerySet
from letorbench.rankers.frank import FRank
from letorbench.solvers.validation import Validation


def objective(queries: QuerySet, scores: np.ndarray) -> float:
    """The mean over queries with pairs of the mean fidelity loss of their pairs."""
    losses = []
    for begin, end in zip(queries.offsets, queries.offsets[1:]):
        labels, s = queries.labels[begin:end], scores[begin:end]
        i, j = np.nonzero(labels[:, None] > labels)
        if len(i):
            losses.append((1.0 - 1.0 / np.sqrt(1.0 + np.exp(s[j] - s[i]))).mean())
    return float(np.mean(losses))


@pytest.mark.parametrize("bins", [None, 8])
def test_objective_is_what_it_says_and_never_rises(
    rng: np.random.Generator, bins: int | None
) -> None:
    train = random_queries(rng, [1, 30, 12, 5, 40, 2, 17], levels=4)
    train.labels[train.offsets[3] : train.offsets[4]] = 0
    model = FRank(rounds=60, bins=bins).fit_sets(train)
    values = model.learned.objective
    assert values[0] == pytest.approx(1.0 - np.sqrt(0.5), rel=1e-12)
    assert values[-1] == pytest.approx(objective(train, model.predict(train.features)), rel=1e-9)
    assert len(values) == 61
    assert all(after <= before * (1 + 1e-12) for before, after in zip(values, values[1:]))
    assert values[-1] < 0.9 * values[0]


def test_first_round_is_the_best_of_all_stumps(rng: np.random.Generator) -> None:
    """At equal scores a pair's W is 2^(-3/2) over the pairs of its query."""
    train = random_queries(rng, [12, 9, 15])
    query = np.repeat(np.arange(3), train.lengths)
    i, j = np.nonzero((query[:, None] == query) & (train.labels[:, None] > train.labels))
    W = 2.0**-1.5 / np.bincount(query[i])[query[i]] / 3.0
    most, step = 0.0, 0.0
    for column in train.features.T:
        for value in np.unique(column)[:-1]:
            h = (column > value).astype(int)
            right, wrong = W[h[i] - h[j] == 1].sum(), W[h[i] - h[j] == -1].sum()
            if (np.sqrt(right) - np.sqrt(wrong)) ** 2 > most:
                most = (np.sqrt(right) - np.sqrt(wrong)) ** 2
                step = min(5.0, 0.5 * abs(np.log(max(right, 1e-99) / max(wrong, 1e-99))))
    learned = FRank(rounds=1, bins=None).fit_sets(train).learned
    assert learned.model.alpha[0] == pytest.approx(step, rel=1e-9)
    assert learned.objective[1] <= learned.objective[0] - 0.5 * most * (step < 5.0) + 1e-12


def test_a_perfect_feature_gives_the_longest_step(rng: np.random.Generator) -> None:
    train = random_queries(rng, [20, 20], levels=2)
    train.features[:, 3] = -train.labels
    scorer = FRank(rounds=1).fit_sets(train).learned.model
    assert (scorer.feature[0], scorer.above[0], scorer.alpha[0]) == (3, False, 5.0)


def test_steps_without_end_stay_finite(rng: np.random.Generator) -> None:
    train = random_queries(rng, [20, 20], levels=2)
    train.features[:, 3] = train.labels
    model = FRank().fit_sets(train)
    values = model.learned.objective
    assert np.isfinite(values).all() and values[-1] < 1e-9
    assert all(after <= before * (1 + 1e-12) for before, after in zip(values, values[1:]))
    assert np.isfinite(model.predict(train.features)).all()


def test_the_best_round_on_validation_is_kept(rng: np.random.Generator) -> None:
    train, valid = random_queries(rng, [20] * 20), Validation(random_queries(rng, [20] * 8))
    model = FRank(patience=7).fit_sets(train, valid)
    curve, best = model.learned.curve, model.learned.best
    assert len(curve) == best + 7 and curve[best - 1] == max(curve)
    assert valid(model.predict(valid.queries.features)) == pytest.approx(max(curve), abs=1e-12)


def test_no_pairs_learn_nothing_and_say_so(rng: np.random.Generator) -> None:
    model = FRank().fit_sets(random_queries(rng, [5, 5], levels=1))
    assert not len(model.learned.model.alpha) and model.learned.warnings
