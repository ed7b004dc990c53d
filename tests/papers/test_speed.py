"""How epochs are timed: on a clock made up for the test, so that every second is known."""

from __future__ import annotations

import math
from itertools import count

import numpy as np
import pytest

from letorbench.papers import lambdarank_timing, speed
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


def test_a_long_epoch_is_timed_once(query, monkeypatch):
    clock = Clock(0.5, 2.0)
    monkeypatch.setattr(speed, "_fit_seconds", clock)
    assert speed.epoch_seconds(query, "paper", 1) == 2.5
    assert clock.asked == [1]


def test_a_short_epoch_is_timed_with_others_and_without_the_set_up(query, monkeypatch):
    clock = Clock(0.3, 0.01)
    monkeypatch.setattr(speed, "_fit_seconds", clock)
    assert speed.epoch_seconds(query, "paper", 1) == pytest.approx(0.01)
    # 16 epochs more take .16 s, more than the tenth that is enough
    assert clock.asked == [1, 2, 5, 17]


def test_an_epoch_too_short_for_the_clock_ends_and_is_no_zero(query, monkeypatch):
    clock = Clock(0.3, 0.0)
    monkeypatch.setattr(speed, "_fit_seconds", clock)
    assert 0.0 < speed.epoch_seconds(query, "paper", 1) < 1e-9
    assert clock.asked == [1, 2, 5, 17, 65, 257]


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


def test_the_best_of_three_counts_where_an_epoch_is_short(monkeypatch):
    taken = iter([0.02, 0.01, 0.03, 0.2, 0.04, 0.05, 0.06] + [1.0] * 100)
    monkeypatch.setattr(speed, "epoch_seconds", lambda *of: next(taken))
    monkeypatch.setattr(speed, "PASSES", {"V1": "pairwise"})
    timings = speed.growing((10, 20, 30), (1,), patience=1.0)
    # .2 s is more than a tenth of the patience: once is enough
    assert [t.seconds for t in timings] == [0.01, 0.2, 0.04]


def test_the_longest_query_is_timed_and_not_refused():
    query = speed.one_query(max(lambdarank_timing.SIZES))
    assert query.n_docs == 512_000
    assert 0.0 < speed.epoch_seconds(query, speed.PASSES["ours"], 1) < 10.0


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


def test_ratios_are_v1_over_the_others(query, monkeypatch):
    taken = {"pairwise": 6.0, "paper": 2.0, "factored": 1.5}
    monkeypatch.setattr(speed, "epoch_seconds", lambda queries, passes, layers: taken[passes])
    assert speed.ratios(query, 1, repeats=2) == {"V2": [3.0, 3.0], "ours": [4.0, 4.0]}


def test_a_lesson_counts_the_quickest_epoch_and_keeps_the_highest_measure(monkeypatch):
    taken = iter([3.0, 2.0, 4.0])
    monkeypatch.setattr(speed, "epoch_seconds", lambda *of: next(taken))
    monkeypatch.setattr(speed, "EPOCHS", 4)
    train, validation = speed.one_query(30, 1), speed.one_query(30, 2)
    found = speed.lesson(train, validation, "paper", 1e-3)
    assert found.version == "paper"
    assert found.seconds == (2.0, 4.0, 6.0, 8.0)
    assert len(found.ndcg) == 4
    assert all(before <= after for before, after in zip(found.ndcg, found.ndcg[1:]))
    assert 0.0 < found.ndcg[0] <= 1.0
