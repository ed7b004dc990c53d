"""RankSVM and SVM-MAP against SciPy and all rankings, and the limits of their solvers."""

from itertools import pairwise, permutations

import numpy as np
import pytest
from conftest import random_queries, unlocked

from letorbench.losses.base import ValueAndGradient
from letorbench.models import Linear
from letorbench.rankers.ranksvm import MarginPairs, RankSVM, objective, pair_differences
from letorbench.rankers.svmmap import (
    MAPRisk,
    average_precision,
    most_violated,
    psi_weights,
    structural_hinge,
)
from letorbench.solvers.convex import bundle as minimise
from letorbench.solvers.convex import conjugate_gradient
from letorbench.solvers.fit_warnings import FitWarning
from letorbench.solvers.stopping import NEVER, Deadline


@pytest.fixture
def queries(rng):
    """Ties, one document, no document, one label, labels 0, 1 and 3, a little signal."""
    made = random_queries(rng, [12, 1, 9, 0, 6, 15], n_features=4, levels=3)
    with unlocked(made):
        made.labels[:] = np.array([0, 1, 3])[made.labels]
        made.labels[22:28] = 1
        made.features[:] = np.round(made.features + 0.4 * made.labels[:, None], 1)
        made.features[3] = made.features[4]
    return made


@pytest.mark.parametrize("normalise", [True, False])
def test_gradient_and_hessian(queries, rng, normalise):
    pairs, C = MarginPairs(queries, normalise), 0.7
    pairs.least = 1  # a thread for every query
    D, c = pair_differences(queries, normalise)
    w, d = rng.normal(size=(2, 4))
    here, t = pairs.squared_hinge(w, C), np.maximum(0.0, 1.0 - D @ w)
    rankers = (RankSVM(C, loss, normalise) for loss in ("squared-hinge", "hinge"))
    squared, plain = (objective(w, queries, ranker) for ranker in rankers)
    assert here.value == pytest.approx(squared, rel=1e-12)
    np.testing.assert_allclose(here.gradient, w - 2.0 * C * D.T @ (c * t), rtol=1e-9)
    active = c * (D @ w < 1.0)
    np.testing.assert_allclose(
        here.hessian_times(d), d + 2.0 * C * D.T @ (active * (D @ d)), rtol=1e-9
    )
    risk, slope = pairs.hinge(w)
    assert C * risk == pytest.approx(plain - w @ w / 2, rel=1e-9)
    np.testing.assert_allclose(slope, -D.T @ active, rtol=1e-9)


def test_queries_of_one_class_do_not_count(rng):
    for _ in range(9):
        drawn = random_queries(rng, [5, 1, 6, 0, 4, 5], levels=2)
        classes = [len(set(drawn.labels[a:b])) for a, b in pairwise(drawn.offsets)]
        assert MAPRisk(drawn).n == classes.count(2)


@pytest.mark.parametrize("spread", [0.0, 0.1, 0.5, 2.0, 10.0])
@pytest.mark.parametrize("length", [2, 3, 5])
def test_no_ranking_is_violated_more(rng, length, spread):
    """Between two queries of one label, which have no loss."""
    offsets = np.array([0, 2, 2 + length, 5 + length], dtype=np.int64)
    offsets.flags.writeable = False  # as those of a query set: one compiled kernel for both
    own = slice(2, 2 + length)
    for _ in range(10):
        relevant = np.append(rng.random(2 + length) < 0.5, [True] * 3)
        relevant[:2] = False
        relevant[2:4] = rng.permutation([True, False])
        scores = np.round(spread * rng.normal(size=5 + length), 1)  # ties too
        losses, c = out = ValueAndGradient(np.full(3, np.nan), np.full(len(scores), np.nan))
        most_violated(scores, relevant, offsets, 0, 3, out)
        assert losses[[0, 2]].tolist() == [0.0, 0.0] and not np.delete(c, own).any()
        hinge = structural_hinge(scores[own], relevant[own])
        assert losses[1] - c @ scores == pytest.approx(hinge, abs=1e-12)
        ideal = psi_weights(relevant[own], np.argsort(~relevant[own], kind="stable"))
        assert any(  # it is the loss and the features of one and the same real ranking
            np.isclose(1.0 - average_precision(relevant[own][list(each)]), losses[1])
            and np.allclose(ideal - psi_weights(relevant[own], each), c[own])
            for each in permutations(range(length))
        )


def hinge(rows: np.ndarray):
    def oracle(w: np.ndarray) -> tuple[float, np.ndarray]:
        active = rows @ w < 1.0
        return float(np.maximum(0.0, 1.0 - rows @ w).mean()), -(active @ rows) / len(rows)

    return oracle


def test_conjugate_gradients_end_or_have_no_answer():
    for most, ends in ((1.0, True), (16.0, False)):
        scales = np.logspace(0.0, most, 30)
        x = conjugate_gradient(lambda v, own=scales: own * v, np.ones(30), 1e-9)
        assert x is None if not ends else np.allclose(x, 1.0 / scales, 1e-6)


@pytest.mark.parametrize("late", [False, True])
def test_a_solver_that_reaches_a_limit_warns_with_its_gap(late, rng):
    oracle, deadline = hinge(rng.normal(size=(80, 6))), Deadline(0.0) if late else NEVER
    end, n = minimise(oracle, 6, 1e3, 1e-9, 3, deadline), 1 if late else 2
    assert end.value == pytest.approx(1e3 * oracle(end.point)[0] + end.point @ end.point / 2)
    assert (len(end.values), end.values[-1], end.late) == (n + 1, end.value, late)
    learned = end.fit_result(Linear(end.point), FitWarning("other", "it stays"))
    first, last = learned.warnings
    assert first.kind == "other" and last.kind == ("cut off" if late else "not converged")
    nouns = f" {n} iterations", f" {end.gap / end.value:.1e} of", "1.0e-09"
    assert all(noun in last.text for noun in nouns)
    assert (learned.objective, learned.cut_off) == (end.values, late)
