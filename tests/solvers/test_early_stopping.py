"""The one rule for the round that is kept and the end of a training."""

from __future__ import annotations

import numpy as np
import pytest

from letorbench.errors import UsageError
from letorbench.solvers.early_stopping import EarlyStopping


def after(values, **options) -> EarlyStopping:
    """Rounds with one validation query each."""
    rounds = EarlyStopping(**options)
    for value in values:
        rounds.record(np.array([value]))
    return rounds


def test_the_first_of_equally_good_rounds_is_kept() -> None:
    rounds = EarlyStopping()
    assert rounds.kept == 0 and not rounds.over
    rounds = after((0.0, 0.2, 0.1, 0.2, 0.3, 0.3))
    assert rounds.kept == 5 and rounds.curve == [0.0, 0.2, 0.1, 0.2, 0.3, 0.3]


@pytest.mark.parametrize("patience", [1, 3])
def test_patience_counts_rounds_since_the_highest(patience: int) -> None:
    for waited in range(1, 6):
        assert after([0.5] + [0.4] * waited, patience=patience).over == (waited >= patience)
    assert not after([0.5] + [0.4] * 6 + [0.6], patience=patience).over


def test_an_equal_round_is_no_improvement() -> None:
    assert [after([0.5] * n, patience=2).over for n in (1, 2, 3, 4)] == [False, False, True, True]
    assert after([0.5, 0.5, 0.6, 0.6], patience=2).over is False


def test_no_patience_never_ends() -> None:
    rounds = after(np.linspace(1.0, 0.0, 100), patience=0)
    assert not rounds.over and rounds.kept == 1


def test_without_validation_the_last_round_is_kept() -> None:
    rounds = EarlyStopping(2)
    for number in range(1, 10):
        rounds.record(None)
        assert rounds.kept == number and not rounds.over
    assert rounds.curve == []


def test_it_agrees_with_argmax(rng: np.random.Generator) -> None:
    for _ in range(200):
        values = rng.integers(0, 5, rng.integers(1, 30)) / 4
        assert after(values).kept == int(np.argmax(values)) + 1


def test_the_rule_sees_every_query_and_chooses() -> None:
    seen = []

    def second(values: np.ndarray) -> int:
        seen.append(values)
        return 1

    rounds = EarlyStopping(rule=second)
    for row in ([0.1, 0.9], [0.2, 0.2], [0.8, 0.7]):
        rounds.record(np.array(row))
    assert rounds.kept == 2 and rounds.curve == [0.5, 0.2, 0.75]
    np.testing.assert_array_equal(seen[-1], [[0.1, 0.9], [0.2, 0.2], [0.8, 0.7]])


def test_a_negative_patience_is_refused() -> None:
    with pytest.raises(UsageError, match="found patience=-1, expected 0"):
        EarlyStopping(-1)
