"""Section 3.2 of the NDCG consistency paper: originals order wrongly, the changed ones rightly."""

import numpy as np
import pytest
from scipy.optimize import minimize

from letorbench.datasets.queryset import QuerySet
from letorbench.losses import ValueAndGradient, loss
from letorbench.losses.consistent import bregman
from letorbench.losses.gains import query_sums
from letorbench.papers.surrogates import counterexample

#: (labellings, their probabilities): where the original's minimiser orders two documents wrongly
EXAMPLE = ([[5, 4], [1, 3]], [0.3, 0.7])
MISLED = {
    "cosine": ([[0, 0, 2], [4, 3, 2]], [0.4, 0.6]),
    "least-squares": EXAMPLE,
    "cross-entropy": ([[0, 1], [4, 2]], [0.5, 0.5]),
}


def share(labels: np.ndarray) -> np.ndarray:
    """(n, m) G / Z of each labelling."""
    gains = np.exp2(labels) - 1.0
    discounts = 1.0 / np.log2(np.arange(2, labels.shape[1] + 2))
    return gains / (np.sort(gains, axis=1)[:, ::-1] @ discounts)[:, None]


def minimiser(name: str, labels: np.ndarray, p: np.ndarray) -> np.ndarray:
    """The scores (m,) of least expected loss, by the registered loss itself."""
    n, m = labels.shape
    offsets = np.arange(n + 1, dtype=np.int64) * m
    features = np.zeros((n * m, 1), np.float32)
    queries = QuerySet(features, labels.ravel().astype(np.int32), offsets, np.arange(n))

    def expected(s: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = loss(name)(np.tile(s, n), queries)
        return float(p @ value), p @ gradient.reshape(n, m)

    start = np.linspace(0.2, 0.3, m)
    return minimize(expected, start, jac=True, method="BFGS", options={"gtol": 1e-10}).x


@pytest.mark.parametrize("name", sorted(MISLED))
def test_the_original_is_inconsistent_and_the_changed_one_is_not(name: str) -> None:
    labels, p = (np.array(part) for part in MISLED[name])
    target = p @ share(labels)
    right = np.argsort(-target)
    assert np.array_equal(np.argsort(-minimiser(f"{name}-ndcg", labels, p)), right)
    assert not np.array_equal(np.argsort(-minimiser(name, labels, p)), right)


def test_the_worked_example_of_section_3_2_1() -> None:
    labels, p = (np.array(part) for part in EXAMPLE)
    np.testing.assert_allclose(minimiser("least-squares", labels, p), [10.0, 9.4], rtol=1e-6)
    modified = minimiser("least-squares-ndcg", labels, p)
    np.testing.assert_allclose(modified, [0.3216, 0.7533], atol=5e-5)
    np.testing.assert_allclose(np.exp(minimiser("cross-entropy-ndcg", labels, p)), modified, 1e-6)


def test_descent_can_leave_zero() -> None:
    labels = np.array([2, 0, 1], np.int32)
    queries = QuerySet(np.zeros((3, 1), np.float32), labels, np.array([0, 3]), np.array([1]))
    for name in ("cosine", "cosine-ndcg", "qnorm"):
        gradient = loss(name)(np.zeros(3), queries)[1]
        assert gradient[0] < gradient[2] < gradient[1] == 0.0


def test_a_bregman_loss_of_ones_own_psi_is_consistent(rng):
    """Theorem 9: psi of sum cosh, whose conjugate's gradient keeps the order, has no example."""

    def conjugate(scores, queries):
        return ValueAndGradient(query_sums(np.cosh(scores), queries), np.sinh(scores))

    worst, share = counterexample(bregman("cosh", "sum cosh s - s . G/Z", conjugate), rng, 60)
    assert worst is None and share == 0.0
