"""The one rule for the best round and the end of a training."""

from __future__ import annotations

import numpy as np
import pytest

from letorbench.errors import UsageError
from letorbench.solvers.early_stopping import EarlyStopping


def test_the_first_of_equally_good_rounds_is_the_best() -> None:
    rounds = EarlyStopping()
    assert rounds.best == 0 and not rounds.over
    improved = [rounds.improves(value) for value in (0.0, 0.2, 0.1, 0.2, 0.3)]
    assert improved == [True, True, False, False, True]
    assert rounds.best == 5 and rounds.curve == [0.0, 0.2, 0.1, 0.2, 0.3]


@pytest.mark.parametrize("patience", [1, 3])
def test_patience_counts_rounds_since_the_best(patience: int) -> None:
    rounds = EarlyStopping(patience)
    rounds.improves(0.5)
    for waited in range(1, 6):
        assert not rounds.improves(0.4)
        assert rounds.over == (waited >= patience)
    assert rounds.improves(0.6) and not rounds.over


def test_no_patience_never_ends() -> None:
    rounds = EarlyStopping(0)
    for value in np.linspace(1.0, 0.0, 100):
        rounds.improves(value)
        assert not rounds.over
    assert rounds.best == 1


def test_without_validation_the_last_round_is_the_best() -> None:
    rounds = EarlyStopping(2)
    for number in range(1, 10):
        assert rounds.improves(None) and rounds.best == number and not rounds.over
    assert rounds.curve == []


def test_it_agrees_with_argmax(rng: np.random.Generator) -> None:
    for _ in range(200):
        values = rng.integers(0, 5, rng.integers(1, 30)) / 4
        rounds = EarlyStopping()
        for value in values:
            rounds.improves(value)
        assert rounds.best == int(np.argmax(values)) + 1


def test_a_negative_patience_is_refused() -> None:
    with pytest.raises(UsageError, match="found patience=-1, expected 0"):
        EarlyStopping(-1)
