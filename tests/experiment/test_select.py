"""Selection: what is tried, what is kept, and that the test part plays no role."""

from __future__ import annotations

import math
import threading
import time
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from conftest import random_queries, unlocked

from letorbench.errors import DataError
from letorbench.experiment.grids import MOST_STEPS, edge_warnings, grid, next_number
from letorbench.experiment.select import select
from letorbench.fit_warnings import FitWarning
from letorbench.models import Linear
from letorbench.rankers import Ranker
from letorbench.solvers.fit_result import FitResult
from letorbench.solvers.stopping import Validation
from letorbench.threads import limited_threads


@pytest.fixture
def toy():
    """A linear ranker whose only weight is `a`; it keeps what it was given and drew."""

    @dataclass
    class Toy(Ranker):
        name = "select-toy"
        grid: ClassVar = {"a": (0.0, 1.0, -1.0), "b": ("x", "y")}
        seen: ClassVar[list] = []
        a: float = 5.0
        b: str = "x"

        def learn(self, train, validation, rng):
            self.seen.append((self.a, self.b, train, validation, rng.random()))
            weights = np.zeros(train.n_features)
            weights[0] = self.a
            return FitResult(Linear(weights, 0.0), (0.1, 0.2), 2, (), (TOLD,))

    return Toy


@pytest.fixture
def sets(rng):
    train, held_out = (random_queries(rng, [6, 5, 9, 8]) for _ in range(2))
    with unlocked(held_out):
        held_out.features[:, 0] = held_out.labels  # a = 1 ranks validation perfectly
    return train, Validation(held_out)


TOLD = FitWarning("other", "toy")
SEED = np.random.SeedSequence(3)


def test_the_grid_is_searched_and_the_first_best_kept(toy, sets):
    found = select(toy, {}, *sets, SEED)
    tried = [(trial.settings["a"], trial.settings["b"]) for trial in found.trials]
    assert tried == [(a, b) for a in (0.0, 1.0, -1.0) for b in "xy"]
    assert (found.ranker.a, found.ranker.b) == (1.0, "x")  # ties with "y": the first
    assert found.trial.value == max(trial.value for trial in found.trials)
    assert found.trial.curve == (0.1, 0.2) and found.trial.best == 2
    assert TOLD in found.warnings


@pytest.mark.parametrize("threads", [1, 2, 3, 7])
def test_settings_that_are_learned_at_the_same_time_stay_in_order(toy, sets, threads):
    one_by_one = select(toy, {}, *sets, SEED)
    toy.one_thread = True
    with limited_threads(threads):
        found = select(toy, {}, *sets, SEED)
    assert [(t.settings, t.value) for t in found.trials] == [
        (t.settings, t.value) for t in one_by_one.trials
    ]
    assert found.trial.settings == one_by_one.trial.settings


def test_settings_that_take_long_begin_first_where_some_are_learned_at_the_same_time(toy, sets):
    toy.one_thread = True
    toy.effort = property(lambda self: abs(self.a) + (self.b == "y"))
    gate = threading.Barrier(2, timeout=10.0)
    learn = toy.learn

    def in_pairs(self, *arguments):
        gate.wait()  # two at a time, so that the order does not hang on the threads' speed
        return learn(self, *arguments)

    toy.learn = in_pairs
    with limited_threads(2):
        found = select(toy, {}, *sets, SEED)
    efforts = [abs(a) + (b == "y") for a, b, *_ in toy.seen]
    assert [sorted(efforts[n : n + 2]) for n in (0, 2, 4)] == [[2.0, 2.0], [1.0, 1.0], [0.0, 1.0]]
    assert [t.settings["a"] for t in found.trials] == [0.0, 0.0, 1.0, 1.0, -1.0, -1.0]


def test_a_fixed_key_leaves_the_grid(toy, sets):
    assert grid(toy, {"a": 7.0}) == {"b": ("x", "y")}
    found = select(toy, {"a": -1.0, "b": "y"}, *sets, SEED)
    assert len(found.trials) == 1 and (found.ranker.a, found.ranker.b) == (-1.0, "y")


def test_only_training_and_validation_are_given_and_every_setting_draws_the_same(toy, sets):
    select(toy, {}, *sets, SEED)
    assert all(train is sets[0] and held is sets[1] for _, _, train, held, _ in toy.seen)
    assert len({draw for *_, draw in toy.seen}) == 1


def test_nan_scores_lose(toy, sets):
    toy.grid = {"a": (math.inf, -1.0)}  # infinity times a feature of 0 is no number
    found = select(toy, {}, *sets, SEED)
    assert found.ranker.a == -1.0 and found.trials[0].value == -math.inf


@pytest.mark.parametrize(
    "values, chosen, words",
    [
        ((1, 2, 3), 1, "smallest"),
        ((3, 2, 1), 1, "smallest"),
        ((1, 2, 3), 3, "largest"),
        ((1, 2, 3), 2, None),
        ((1, 2), 1, None),
        (("a", "b", "c"), "a", None),
        ((False, True, True), True, None),
        ((-1.0, 0.0, 1.0), 1.0, None),
    ],
)
def test_edge_of_the_grid(values, chosen, words):
    lines = edge_warnings({"k": values}, {"k": chosen}, False)
    assert [words in each.text for each in lines] == ([True] if words else [])


@pytest.mark.parametrize(
    "values, end, number",
    [
        ((0.1, 1.0, 10.0), "largest", 100.0),
        ((0.1, 1.0, 10.0), "smallest", 0.01),
        ((10.0, 1.0, 0.1), "smallest", 0.01),
        ((1e-6, 1e-4, 1e-2), "smallest", 1e-8),
        ((4, 7, 15, 31), "largest", 64),
        ((4, 7, 15, 31), "smallest", 2),
        ((2, 4, 7), "smallest", None),
    ],
)
def test_a_grid_goes_on_by_its_own_factor(values, end, number):
    assert next_number(values, end) == number


@pytest.fixture
def peaked(rng):
    """Validation likes the setting `l2` best that is nearest to `peak`."""
    train, held_out = (random_queries(rng, [9] * 40) for _ in range(2))

    def of(peak, numbers=(0.1, 1.0, 10.0)):
        @dataclass
        class Peaked(Ranker):
            name = "select-peaked"
            grid: ClassVar = {"l2": numbers, "kind": ("x", "y")}
            l2: float = 1.0
            kind: str = "x"

            def learn(self, train, validation, rng):
                weights = np.zeros(train.n_features)
                weights[0] = 1.0
                off = abs(math.log10(self.l2) - math.log10(peak)) + (self.kind == "x")
                weights[1] = 0.3 * off
                return FitResult(Linear(weights, 0.0))

        with unlocked(held_out):
            held_out.features[:, 0] = held_out.labels
        return Peaked, train, Validation(held_out)

    return of


@pytest.mark.parametrize("peak, tried", [(1000.0, [100.0, 1e3, 1e4]), (0.01, [0.01, 0.001])])
def test_a_grid_grows_until_its_inside_is_chosen(peaked, peak, tried):
    found = select(*_three(peaked(peak)), SEED)
    assert found.ranker.l2 == pytest.approx(peak) and found.ranker.kind == "y"
    assert [trial.settings["l2"] for trial in found.trials[6:]] == pytest.approx(tried)
    assert all(trial.settings["kind"] == "y" for trial in found.trials[6:])
    assert found.warnings == ()


def test_growing_is_bounded_and_the_bound_is_said(peaked):
    found = select(*_three(peaked(1e7)), SEED)
    assert found.ranker.l2 == pytest.approx(1e5) and len(found.trials) == 6 + MOST_STEPS
    text = "the best l2 = 100000.0 is the largest of its grid, which grows no further"
    assert found.warnings == (FitWarning("grid edge", text),)


@pytest.mark.parametrize("peak", [1e-6, 0.01, 0.1, 0.4, 1.0, 10.0, 20.0, 60.0, 1e3, 1e4, 1e7])
def test_growing_on_two_threads_tries_the_same_settings(peaked, peak):
    cls, train, validation = peaked(peak)
    one_by_one = select(cls, {}, train, validation, SEED)
    cls.one_thread = True
    for threads in (1, 2):
        with limited_threads(threads):
            found = select(cls, {}, train, validation, SEED)
        assert [(t.settings, t.value) for t in found.trials] == [
            (t.settings, t.value) for t in one_by_one.trials
        ]
        assert found.warnings == one_by_one.warnings


@pytest.mark.parametrize("wanted", [True, False])
def test_what_fails_ahead_of_time_counts_only_if_it_is_wanted(peaked, wanted):
    cls, train, validation = peaked(1000.0 if wanted else 10.0)
    cls.one_thread, learn = True, cls.learn

    def fails(self, *arguments):
        if self.l2 > 500.0:
            raise DataError("too large")
        time.sleep(0.05 * (self.l2 > 50.0))  # the setting behind fails first
        return learn(self, *arguments)

    cls.learn = fails
    with limited_threads(2):
        if wanted:
            with pytest.raises(DataError, match="too large"):
                select(cls, {}, train, validation, SEED)
        else:
            assert select(cls, {}, train, validation, SEED).ranker.l2 == 10.0


def test_a_setting_that_is_not_wanted_ends_early(peaked):
    cls, train, validation = peaked(10.0)
    cls.one_thread, learn, ended, began = True, cls.learn, [], threading.Event()

    def waits(self, *arguments):
        start = time.monotonic()
        if self.l2 > 500.0:
            began.set()
        if self.l2 == 100.0:
            assert began.wait(20.0)
        while self.l2 > 500.0 and not self.deadline.passed:
            assert time.monotonic() < start + 20.0
            time.sleep(0.01)
        ended.append(self.l2)
        return learn(self, *arguments)

    cls.learn = waits
    with limited_threads(2):
        found = select(cls, {}, train, validation, SEED)
    assert found.ranker.l2 == 10.0 and len(found.trials) == 7
    assert ended[-2:] == [100.0, 1000.0]


def test_a_protocol_may_leave_grids_as_they_are(peaked):
    found = select(*_three(peaked(1e7)), SEED, grows=False)
    assert found.ranker.l2 == 10.0 and len(found.trials) == 6
    assert found.warnings[0].text == "the best l2 = 10.0 is the largest of its grid"


def test_nothing_grows_where_validation_cannot_tell_the_settings_apart(peaked):
    cls, train, validation = peaked(1.0)
    cls.learn = lambda self, train, validation, rng: FitResult(Linear(np.zeros(train.n_features)))
    found = select(cls, {}, train, validation, SEED)
    assert len(found.trials) == 6 and found.warnings == ()


def _three(made):
    cls, train, validation = made
    return cls, {}, train, validation
