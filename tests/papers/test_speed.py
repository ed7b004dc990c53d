"""How epochs are timed: on a clock made up for the test, so that every second is known."""

from __future__ import annotations

import math
from itertools import count

import numpy as np
import pytest

from letorbench.papers import speed
from letorbench.papers.speed import Timing


class Clock:
    """Set-up takes `once` seconds and an epoch `each`; it notes the epochs that were asked for."""

    def __init__(self, once: float, each: float) -> None:
        self.once, self.each = once, each
        self.asked: list[int] = []

    def __call__(self, queries, passes, layers, epochs):
        self.asked.append(epochs)
        return self.once + self.each * epochs


@pytest.fixture
def query(rng):
    return speed.one_query(20)


def test_a_short_epoch_is_timed_with_others_and_without_the_set_up(query, monkeypatch):
    clock = Clock(0.3, 0.01)
    monkeypatch.setattr(speed, "_fit_seconds", clock)
    assert speed.epoch_seconds(query, "paper", 1) == pytest.approx(0.01)
    # 16 epochs more take .16 s, more than the tenth that is enough
    assert clock.asked == [1, 2, 5, 17]


def test_a_version_stops_before_an_epoch_takes_longer_than_the_patience(monkeypatch):
    """V1 is quadratic, the others are linear; all are timed three times where they are short."""
    number = count()

    def seconds(queries, passes, layers):
        n = queries.n_docs
        exact = 1e-4 * n**2 if passes == "pairwise" else 1e-4 * n
        return exact + 1e-9 * (next(number) % 3)

    monkeypatch.setattr(speed, "epoch_seconds", seconds)
    sizes = (160, 10, 20, 40, 80)
    timings = speed.growing(sizes, (2,), patience=0.5)
    of = {v: [t for t in timings if t.version == v] for v in speed.PASSES}
    # 40 documents take .16 s; twice as many would take four times as long
    assert [t.documents for t in of["V1"]] == [10, 20, 40]
    assert [t.documents for t in of["V2"]] == [t.documents for t in of["ours"]] == sorted(sizes)
    assert {t.layers for t in timings} == {2}
    assert [t.seconds for t in of["V2"]] == pytest.approx([1e-4 * n for n in sorted(sizes)])


def test_the_slope_and_its_interval_are_those_of_least_squares():
    seconds = {10: 1.0, 100: 20.0, 1000: 100.0}
    found = speed.slope([Timing("V1", 1, n, s) for n, s in seconds.items()])
    x = np.log(list(seconds))
    y = np.log(list(seconds.values()))
    value = np.polyfit(x, y, 1)[0]
    left = y - y.mean() - value * (x - x.mean())
    error = math.sqrt(left @ left / 1.0 / ((x - x.mean()) ** 2).sum())
    half = 12.7062 * error  # Student's t with one degree of freedom, 97.5 %
    expected = (value, value - half, value + half)
    assert (found.value, found.low, found.high) == pytest.approx(expected, rel=1e-5)
