"""The bounds on short lists worked out by hand, the floor of M, and the rates of its fall."""

from __future__ import annotations

import math

import numpy as np
import pytest

from letorbench.datasets.queryset import QuerySet
from letorbench.papers import bound_in_training
from letorbench.papers.bound_in_training import (
    bounds,
    fall_rates,
    floor,
)


def two_documents(n: int, labels: tuple[int, int] = (1, 0)) -> QuerySet:
    return QuerySet(
        np.zeros((2 * n, 1), np.float32), np.array(labels * n, np.int32),
        np.arange(n + 1, dtype=np.int64) * 2, np.arange(n, dtype=np.int64),
    )  # fmt: skip


@pytest.mark.parametrize("lead", [-3.0, 0.0, 0.4, 2.0])
def test_the_bounds_of_two_documents_are_those_of_the_equations(lead, rng):
    """One relevant document: a / Z is 1 for it, and A is the chance that it is behind."""
    behind = 1.0 / (1.0 + math.exp(lead))
    second = math.log(2.0) / math.log(3.0)
    expected = (
        1.0 - behind + behind * second,  # the expected NDCG
        math.log(2.0) / math.log(2.0 + behind),  # at the expected rank, 1 + behind
        math.log(2.0) / math.log(2.0 + behind),  # Lemma 2 is exact for two documents
        1.0 - behind / (2.0 * math.log(2.0)),  # the tangent at A = 0
    )
    assert bounds(np.array([lead, 0.0]), two_documents(1), rng) == pytest.approx(expected)


def test_the_floor_is_what_equal_labels_leave():
    """Two documents of label 1 and one of 0: each of the equal ones is behind with chance 1/2."""
    queries = QuerySet(
        np.zeros((3, 1), np.float32), np.array([1, 1, 0], np.int32), np.array([0, 3]),
        np.array([1]),
    )  # fmt: skip
    Z = 1.0 + math.log(2.0) / math.log(3.0)
    assert floor(queries) * Z == pytest.approx(0.5 + 0.5)
    assert floor(two_documents(1)) == pytest.approx(0.0, abs=1e-9)


def test_an_exponential_fall_has_equal_rates(monkeypatch):
    class FitResult:
        objective = tuple(3.0 + 5.0 * np.exp(-0.25 * np.arange(40)))

    class Boost:
        def __init__(self, rounds):
            assert rounds == 40

        def learn(self, *of):
            return FitResult

    monkeypatch.setattr(bound_in_training, "NDCGBoost", Boost)
    monkeypatch.setattr(bound_in_training, "floor", lambda train: 3.0)
    fall, early, late = fall_rates(two_documents(1), 40)
    assert fall[0] == pytest.approx(8.0)
    assert (early, late) == pytest.approx((0.25, 0.25))
    # twice as quick in the last quarter only
    FitResult.objective = tuple(
        3.0 + 5.0 * np.exp(-np.where(np.arange(41) > 30, 0.5 * np.arange(41) - 7.5,
                                     0.25 * np.arange(41)))
    )  # fmt: skip
    assert fall_rates(two_documents(1), 40)[1:] == pytest.approx((0.25, 0.5))
