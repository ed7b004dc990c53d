"""The laboratory of surrogates: losses of known properties, and numbers by hand."""

import math

import numpy as np
import pytest

from letorbench.losses import ValueAndGradient, loss
from letorbench.losses.consistent import bregman
from letorbench.losses.gains import query_sums
from letorbench.papers import surrogates
from letorbench.papers.surrogates import Eta


def test_minimiser_of_squares_is_the_mean(rng):
    eta = Eta(np.array([[5, 4], [1, 3]]), np.array([0.3, 0.7]))
    (found,), (least,) = surrogates.minimisers(loss("least-squares"), [eta], rng)
    np.testing.assert_allclose(found, [10.0, 9.4], atol=1e-5)
    assert least == pytest.approx(0.3 * (21**2 + 5.6**2) + 0.7 * (9**2 + 2.4**2), rel=1e-9)
    np.testing.assert_allclose(eta.expected_gains(), [0.3216, 0.7533], atol=5e-5)
    assert surrogates.misordered(found, eta.expected_gains())
    assert surrogates.regret(found, eta.expected_gains()) == pytest.approx(
        (0.7533 - 0.3216) * (1.0 - 1.0 / np.log2(3.0)), abs=1e-4
    )


@pytest.mark.parametrize(
    ("name", "consistent", "convex"),
    [
        ("least-squares", False, True),
        ("cross-entropy", False, True),
        ("cosine", False, False),
        ("least-squares-ndcg", True, True),
        ("qnorm-penalised", True, True),
        ("cosine-ndcg", True, False),
    ],
)
def test_known_properties_are_found(name, consistent, convex):
    share, lost = surrogates.counterexamples(loss(name), np.random.default_rng(0), 100)
    assert (lost == 0.0) == consistent and (share == 0.0) == consistent
    violation = surrogates.nonconvexity(loss(name), np.random.default_rng(0), 4_000)
    assert (violation < 1e-9) == convex


def test_a_bregman_loss_of_ones_own_psi_is_consistent(rng):
    """Theorem 9: psi of sum cosh, whose conjugate's gradient keeps the order, has no example."""

    def conjugate(scores, queries):
        return ValueAndGradient(query_sums(np.cosh(scores), queries), np.sinh(scores))

    own = bregman("cosh", "sum cosh s - s . G/Z", conjugate)
    assert surrogates.counterexamples(own, rng, 60) == (0.0, 0.0)


@pytest.mark.parametrize("name", surrogates.STRONGLY_CONVEX)
def test_theorem_10_bounds_the_regret_and_a_tenth_of_it_does_not(name, monkeypatch):
    def beyond():
        return surrogates.beyond_theorem_10(name, loss(name), np.random.default_rng(0), 60)

    assert beyond() <= 1e-9
    whole = surrogates.theorem_10
    monkeypatch.setattr(surrogates, "theorem_10", lambda *of: 0.02 * whole(*of))
    assert beyond() > 1e-3


SECOND, THIRD = 1.0 / math.log2(3.0), 0.5


def test_the_regret_is_the_ndcg_lost_by_the_order():
    u = np.array([0.2, 0.9, 0.5])
    assert surrogates.regret(np.array([1.0, 3.0, 2.0]), u) == 0.0
    # the order 2, 0, 1 instead of 1, 2, 0
    lost = (0.9 + 0.5 * SECOND + 0.2 * THIRD) - (0.5 + 0.2 * SECOND + 0.9 * THIRD)
    assert surrogates.regret(np.array([2.0, 1.0, 3.0]), u) == pytest.approx(lost)
    # equal scores keep the file's order
    lost = (0.9 + 0.5 * SECOND + 0.2 * THIRD) - (0.2 + 0.9 * SECOND + 0.5 * THIRD)
    assert surrogates.regret(np.zeros(3), u) == pytest.approx(lost)


def test_misordered_is_clearly_in_the_other_order():
    for u, scores, wrong in (
        ((0.5, 0.2), (1.0, 2.0), True),
        ((0.5, 0.2), (2.0, 1.0), False),
        ((0.5, 0.5005), (2.0, 1.0), False),  # u does not tell them apart
        ((0.5, 0.502), (2.0, 1.0), True),
        ((0.5, 0.2, 0.1), (5.0, 5.004, 0.0), False),  # less than 1 in 1,000 of the range
        ((0.5, 0.2, 0.1), (5.0, 5.006, 0.0), True),
    ):
        assert surrogates.misordered(np.array(scores), np.array(u)) == wrong


def test_theorem_10s_constants():
    """C_F is twice the dual norm of the discounts; psi = |u|^2 has C_phi = 1."""
    two = 2.0 * math.hypot(1.0, SECOND)
    assert surrogates.theorem_10("least-squares-ndcg", 2) == pytest.approx(two)
    q = math.log(3.0) + 2.0
    norm = (1.0 + SECOND**q + THIRD**q) ** (1.0 / q)
    # p - 1 = 1 / (q - 1) where 1/p + 1/q = 1
    expected = 2.0 * norm * math.sqrt(q - 1.0)
    assert surrogates.theorem_10("qnorm-penalised", 3) == pytest.approx(expected)
