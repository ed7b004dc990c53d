"""Selection: what is tried, what is chosen, how grids grow."""

import math
import time
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest
from conftest import random_queries, unlocked

from letorbench.compiled.threads import limited_threads
from letorbench.experiment.select import MOST_STEPS, PROTOCOLS, grid, grown, select
from letorbench.models import Linear
from letorbench.parameters import number
from letorbench.rankers import Ranker
from letorbench.rankers.tuning import Between
from letorbench.solvers.fit_result import FitResult
from letorbench.solvers.fit_warnings import FitWarning
from letorbench.solvers.stopping import Validation

OTHER = FitWarning("other", "toy")
SEED = np.random.SeedSequence(3)


@pytest.fixture
def toy():
    @dataclass
    class Toy(Ranker):
        name = "select-toy"
        grid: ClassVar = {"a": (0.0, 1.0, -1.0), "b": ("x", "y")}
        seen: ClassVar[list] = []
        draws = False  # what it draws changes nothing
        a: float = 5.0
        b: str = "x"

        def learn(self, train, validation, rng):
            self.seen.append((self.a, self.b, train, validation, rng.random()))
            weights = np.zeros(train.n_features)
            weights[0] = self.a
            return FitResult(Linear(weights, 0.0), (0.1, 0.2), 2, (), (OTHER,))

    return Toy


@pytest.fixture
def sets(rng):
    train, held_out = (random_queries(rng, [6, 5, 9, 8]) for _ in range(2))
    with unlocked(held_out):
        held_out.features[:, 0] = held_out.labels  # a = 1 ranks validation perfectly
    return train, Validation(held_out)


def test_the_grid_is_searched_and_the_first_best_chosen(toy, sets):
    start = time.perf_counter()
    with limited_threads(1):  # one setting after the other, so that their seconds add up
        selected = select(toy, {}, *sets, SEED)
    longest = time.perf_counter() - start
    chosen = selected.chosen.ranker
    assert (chosen.a, chosen.b) == (1.0, "x")  # ties with "y": the first
    curve = {"curve": (0.1, 0.2), "best": 2}
    tried = selected.as_json("map")["grid"]
    assert selected.as_json("map") == {"measure": "map", "value": 1.0, **curve, "grid": tried}
    spent = [each.pop("seconds") for each in tried]
    assert min(spent) > 0.0 and sum(spent) < longest
    settings = [{"a": a, "b": b} for a in (0.0, 1.0, -1.0) for b in "xy"]
    values = [
        float(sets[1](a * sets[1].queries.features[:, 0]).mean()) for a in (0, 0, 1, 1, -1, -1)
    ]
    assert tried == [
        {"settings": own, "value": value, **curve, "cut_off": False}
        for own, value in zip(settings, values)
    ]
    assert selected.warnings == (OTHER,)
    assert all(train is sets[0] and held is sets[1] for _, _, train, held, _ in toy.seen)
    assert len({draw for *_, draw in toy.seen}) == 1


def test_settings_stay_in_order_however_they_are_learned(toy, sets, monkeypatch):
    found, order = [], []
    for little, one_thread in ((10**9, False), (0, False), (0, True)):
        monkeypatch.setattr("letorbench.rankers.tuning.LITTLE", little)
        toy.one_thread = one_thread
        toy.seen.clear()
        with limited_threads(3):
            selected = select(toy, {}, *sets, SEED)
        order.append([(a, b) for a, b, *_ in toy.seen])
        found.append([(t.settings, t.value) for t in (*selected.trials, selected.chosen)])
    assert found[0] == found[1] == found[2]
    # one after the other where each uses all threads
    assert order[1] == [(a, b) for a in toy.grid["a"] for b in toy.grid["b"]]


def test_a_fixed_key_leaves_the_grid(toy, sets):
    assert grid(toy, {"a": 7.0}) == {"b": ("x", "y")}
    selected = select(toy, {"a": -1.0, "b": "y"}, *sets, SEED)
    chosen = selected.chosen.ranker
    assert len(selected.trials) == 1 and (chosen.a, chosen.b) == (-1.0, "y")
    assert selected.as_json("map")["grid"] == []


def test_a_warning_counts_the_fits_that_the_time_limit_ends(toy, sets):
    class Slow(toy):
        def learn(self, train, validation, rng):
            return replace(super().learn(train, validation, rng), cut_off=self.a == 0.0)

    text = "the time limit of 60 s cut off 2 of 6 fits"
    assert select(Slow, {}, *sets, SEED, 60.0).warnings == (FitWarning("cut off", text), OTHER)


def test_nan_scores_lose(toy, sets):
    toy.grid = {"a": (math.inf, -1.0)}  # infinity times a feature of 0 is no number
    selected = select(toy, {}, *sets, SEED)
    assert selected.chosen.ranker.a == -1.0 and selected.trials[0].value == -math.inf


@pytest.fixture
def peaked(rng):
    """Select among settings of which validation likes the `l2` best that is nearest to `peak`."""
    train, held_out = (random_queries(rng, [9] * 40) for _ in range(2))
    with unlocked(held_out):
        held_out.features[:, 0] = held_out.labels

    def selected(peak, **options):
        @dataclass
        class Peaked(Ranker):
            name = "select-peaked"
            grid: ClassVar = {"l2": (0.1, 1.0, 10.0), "kind": ("x", "y")}
            l2: float = 1.0
            kind: str = "x"

            def learn(self, train, validation, rng):
                weights = np.zeros(train.n_features)
                weights[0] = float(peak > 0.0)
                if peak > 0.0:
                    off = abs(math.log10(self.l2) - math.log10(peak)) + (self.kind == "x")
                    weights[1] = 0.3 * off
                return FitResult(Linear(weights, 0.0))

        return select(Peaked, {}, train, Validation(held_out), SEED, **options)

    return selected


@pytest.mark.parametrize("peak, tried", [(1000.0, [100.0, 1e3, 1e4]), (0.01, [0.01, 0.001])])
def test_a_grid_grows_until_its_inside_is_chosen(peaked, peak, tried):
    selected = peaked(peak)
    assert selected.chosen.ranker.l2 == pytest.approx(peak) and selected.chosen.ranker.kind == "y"
    assert [trial.settings["l2"] for trial in selected.trials[6:]] == pytest.approx(tried)
    assert all(trial.settings["kind"] == "y" for trial in selected.trials[6:])
    assert selected.warnings == ()


def test_growing_is_bounded_and_a_protocol_may_leave_it(peaked):
    for peak, end in ((1e7, "100000.0 is the largest"), (1e-9, "1e-05 is the smallest")):
        selected = peaked(peak)
        assert len(selected.trials) == 6 + MOST_STEPS
        text = f"the best l2 = {end} of its grid, which grows no further"
        assert selected.warnings == (FitWarning("grid edge", text),)
    selected = peaked(1e7, grows=False)
    assert selected.chosen.ranker.l2 == 10.0 and len(selected.trials) == 6
    text = "the best l2 = 10.0 is the largest of its grid"
    assert selected.warnings == (FitWarning("grid edge", text),)


@dataclass
class Bounded:
    """What declares the bounds of its hyper-parameter."""

    k: float = number(1.0, least=1e-10, most=200.0)


@pytest.mark.parametrize(
    "values, chosen, beyond",
    [
        ((0.01, 0.1, 1.0), 0.01, 0.001), ((0.01, 0.1, 1.0), 1.0, 10.0), ((1, 2, 3), 2, None),
        ((1.0, 0.5, 3.0), 0.5, 0.25), ((1.0, 0.5, 3.0), 3.0, 9.0), ((4, 7, 15, 31), 31, 64),
        ((2, 3, 4), 2, None), ((3, 5, 9), 3, 2), ((1, 2), 2, None), ((0, 1, 2), 2, None),
        ((True, 2, 3), 3, None), (("a", "b", "c"), "c", None), ((16, 32, 64), 64, 128),
        ((32, 64, 128), 128, None), ((1e-9, 1e-6, 1e-3), 1e-9, None),
    ],
)  # fmt: skip
def test_a_grid_goes_on_by_the_factor_of_its_last_step(values, chosen, beyond):
    expected = None if beyond is None else ("k", beyond)
    assert grown(Bounded, {"k": values}, {"k": values}, {"k": chosen}) == expected


def test_a_protocol_says_which_round_is_kept_and_whether_grids_grow(peaked):
    """On three rounds of four queries: the second is best, and the third is hardly worse."""
    rounds = np.array([[0.1, 0.2, 0.3, 0.1], [0.4, 0.9, 0.5, 0.5], [0.5, 0.6, 0.6, 0.5]])
    found = {}
    for name in PROTOCOLS:
        protocol = PROTOCOLS[name]
        tried = peaked(1000.0, grows=protocol.grows).trials
        found[name] = (1 + protocol.rule(rounds), max(trial.settings["l2"] for trial in tried))
    assert found == {
        "default": (3, 10_000.0), "letor": (2, 10.0), "published": (2, 10.0),
        "tuned": (3, 10_000.0),
    }  # fmt: skip


def test_nothing_grows_where_validation_cannot_tell_the_settings_apart(peaked):
    selected = peaked(0.0)
    assert len(selected.trials) == 6 and selected.warnings == ()


def test_a_budget_replaces_the_grid_by_ranges_and_keeps_what_is_fixed(toy, sets):
    toy.ranges = {"a": Between(-2.0, 8.0), "b": ("x", "y")}
    selected = select(toy, {"b": "y"}, *sets, SEED, budget=4)
    tried = [trial.settings for trial in selected.trials]
    assert tried[0] == {"a": 5.0, "b": "y"} and len(tried) == 4
    assert all(each["b"] == "y" and -2.0 <= each["a"] <= 8.0 for each in tried)
    assert selected.chosen.value == max(trial.value for trial in selected.trials)
    assert grid(toy, {"b": "y"}, 4) == {"a": tuple(each["a"] for each in tried)}
    # without a range that is free, the grid is searched as by default
    assert len(select(toy, {"a": 1.0, "b": "x"}, *sets, SEED, budget=4).trials) == 1
    toy.ranges = {}
    assert len(select(toy, {}, *sets, SEED, budget=4).trials) == 6
