"""The rules that choose a round: against their definitions, and on curves whose truth is known."""

from __future__ import annotations

import numpy as np
import pytest

from letorbench.solvers.rules import SHARE, best, latest


@pytest.mark.parametrize("share", [0.25, SHARE, 1.0])
def test_latest_is_the_last_within_the_share(share, rng):
    for _ in range(200):
        values = rng.integers(0, 4, (rng.integers(1, 12), rng.integers(2, 9))) / 3
        top = values[int(np.argmax(values.mean(axis=1)))]
        fits = []
        for number, row in enumerate(values):
            error = np.std(top - row, ddof=1) / np.sqrt(len(row))
            if np.mean(top - row) <= share * error + 1e-15:
                fits.append(number)
        assert latest(values, share) == fits[-1]
        assert latest(values, share) >= best(values)


def test_one_query_has_no_error_to_go_by():
    values = np.array([[0.1], [0.9], [0.9], [0.2]])
    assert latest(values) == best(values) == 1


def test_neither_depends_on_the_order_of_the_queries(rng):
    values = rng.random((30, 21))
    mixed = values[:, rng.permutation(21)]
    assert best(mixed) == best(values) and latest(mixed) == latest(values)


def test_a_peak_of_chance_does_not_end_a_training_that_still_learns(rng):
    """Rounds that slowly get better, 21 queries of noise: the plain best stops too early."""
    truth = 0.4 + 0.08 * (1 - np.exp(-np.arange(100) / 10))
    early, late = [], []
    for _ in range(200):
        walk = np.cumsum(rng.normal(size=(100, 21)), axis=0) / np.sqrt(100)
        values = truth[:, None] + 0.1 * rng.normal(size=21) + 0.05 * walk
        early.append(truth[best(values)])
        late.append(truth[latest(values)])
    assert np.mean(late) > np.mean(early)
