"""The time limit, the rules that choose a round, and the end of a training."""

import time

import numpy as np
import pytest
from conftest import random_queries

from letorbench.errors import UsageError
from letorbench.solvers.stopping import (
    NEVER,
    TOLERANCE,
    Deadline,
    EarlyStopping,
    Validation,
    latest,
)


def after(values, **options) -> EarlyStopping:
    rounds = EarlyStopping(**options)
    for value in values:
        rounds.record(np.array([value]))
    return rounds


def test_a_deadline_passes_once_its_time_is_over():
    deadline = Deadline.after(0.05)
    assert not deadline.passed and not NEVER.passed
    time.sleep(0.06)
    assert deadline.passed and not NEVER.passed
    for seconds in (0.0, -1.0, float("nan")):
        with pytest.raises(UsageError, match="time_limit"):
            Deadline.after(seconds)


def test_rounds_are_over_after_the_deadline():
    rounds = EarlyStopping(deadline=Deadline(0.0))
    assert not rounds.over
    rounds.record(np.array([0.3]))
    assert rounds.over and rounds.cut_off(2)
    assert not rounds.cut_off(1), "all rounds were done: nothing was cut off"
    rounds = after([0.3, 0.2], patience=1, deadline=Deadline(0.0))
    assert rounds.over and not rounds.cut_off(5), "patience ended it"


@pytest.mark.parametrize("patience", [1, 3])
def test_patience_counts_rounds_since_the_highest(patience):
    for waited in range(1, 6):
        assert after([0.5] + [0.4] * waited, patience=patience).over == (waited >= patience)
        assert after([0.5] * (waited + 1), patience=patience).over == (waited >= patience)
    assert not after([0.5] + [0.4] * 6 + [0.6], patience=patience).over
    assert not after(np.linspace(1.0, 0.0, 100)).over


def test_the_rule_sees_every_query_and_chooses(rng):
    seen = []

    def second(values: np.ndarray) -> int:
        seen.append(values)
        return 1

    assert after([0.3, 0.5, 0.2, 0.5]).kept == 2  # the first of equals, without a rule
    rounds = EarlyStopping(validation=Validation(random_queries(rng, [3, 3]), rule=second))
    for row in ([0.1, 0.9], [0.2, 0.2], [0.8, 0.7]):
        rounds.record(np.array(row))
    assert rounds.kept == 2 and rounds.curve == [0.5, 0.2, 0.75]
    np.testing.assert_array_equal(seen[-1], [[0.1, 0.9], [0.2, 0.2], [0.8, 0.7]])


@pytest.mark.parametrize("tolerance", [0.25, TOLERANCE, 1.0])
def test_latest_is_the_last_within_the_tolerance(tolerance, rng):
    for _ in range(100):
        values = rng.integers(0, 4, (rng.integers(1, 12), rng.integers(2, 9))) / 3
        top = values[int(np.argmax(values.mean(axis=1)))]
        fits = []
        for number, row in enumerate(values):
            error = np.std(top - row, ddof=1) / np.sqrt(len(row))
            if np.mean(top - row) <= tolerance * error + 1e-15:
                fits.append(number)
        assert latest(values, tolerance) == fits[-1]
    assert latest(np.array([[0.1], [0.9], [0.9], [0.2]])) == 1  # one query has no error


@pytest.mark.parametrize(("behind", "last"), [(0.49, True), (0.51, False)])
def test_by_default_a_round_may_be_half_a_standard_error_behind(behind, last):
    noise = np.array([1.0, -1.0, 1.0, -1.0])  # the standard error of its mean is 1 / sqrt(3)
    values = np.array([[0.0] * 4, noise / 100 - behind / np.sqrt(3.0) / 100])
    assert latest(values) == int(last)
