"""The time limit: when it is over, and what a training says of it."""

from __future__ import annotations

import time

import numpy as np
import pytest

from letorbench.errors import UsageError
from letorbench.solvers.deadline import NEVER, Deadline
from letorbench.solvers.early_stopping import EarlyStopping


def test_a_deadline_passes_once_its_time_is_over():
    deadline = Deadline.after(0.05)
    assert not deadline.passed and not NEVER.passed
    time.sleep(0.06)
    assert deadline.passed and not NEVER.passed


def test_no_time_at_all_is_refused():
    for seconds in (0.0, -1.0, float("nan")):
        with pytest.raises(UsageError, match="time_limit"):
            Deadline.after(seconds)


def test_rounds_are_over_after_the_deadline():
    rounds = EarlyStopping(deadline=Deadline(0.0))
    assert not rounds.over
    rounds.record(np.array([0.3]))
    assert rounds.over and rounds.cut_off(2)
    assert not rounds.cut_off(1), "all rounds were done: nothing was cut off"


def test_patience_that_ends_with_the_time_is_no_cut_off():
    rounds = EarlyStopping(patience=1, deadline=Deadline(0.0))
    rounds.record(np.array([0.3]))
    rounds.record(np.array([0.2]))
    assert rounds.over and not rounds.cut_off(5)
