"""Selection: what is tried, what is kept, and that the test part plays no role."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from conftest import random_queries

from letorbench.experiment.select import Trial, edge_warnings, grid, select
from letorbench.models import Linear
from letorbench.notices import Notice
from letorbench.rankers import Ranker
from letorbench.solvers.learned import Learned
from letorbench.solvers.validation import Validation


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
            return Learned(Linear(weights, 0.0), (0.1, 0.2), 2, (), (TOLD,))

    return Toy


@pytest.fixture
def sets(rng):
    train, held_out = (random_queries(rng, [6, 5, 9, 8]) for _ in range(2))
    held_out.features[:, 0] = held_out.labels  # a = 1 ranks validation perfectly
    return train, Validation(held_out)


TOLD = Notice("other", "toy")
SEED = np.random.SeedSequence(3)


def test_the_grid_is_searched_and_the_first_best_kept(toy, sets):
    found = select(toy, {}, *sets, SEED)
    tried = [(trial.settings["a"], trial.settings["b"]) for trial in found.trials]
    assert tried == [(a, b) for a in (0.0, 1.0, -1.0) for b in "xy"]
    assert (found.ranker.a, found.ranker.b) == (1.0, "x")  # ties with "y": the first
    assert found.trial.value == max(trial.value for trial in found.trials)
    assert found.trial.curve == (0.1, 0.2) and found.trial.best == 2
    assert TOLD in found.warnings


def test_a_fixed_key_leaves_the_grid(toy, sets):
    assert grid(toy, {"a": 7.0}) == {"b": ("x", "y")}
    found = select(toy, {"a": -1.0, "b": "y"}, *sets, SEED)
    assert len(found.trials) == 1 and (found.ranker.a, found.ranker.b) == (-1.0, "y")


def test_only_training_and_validation_are_given_and_every_setting_draws_the_same(toy, sets):
    select(toy, {}, *sets, SEED)
    assert all(train is sets[0] and held is sets[1] for _, _, train, held, _ in toy.seen)
    assert len({draw for *_, draw in toy.seen}) == 1


def test_nan_scores_lose(toy, sets):
    toy.grid = {"a": (math.nan, -1.0)}
    found = select(toy, {}, *sets, SEED)
    assert found.ranker.a == -1.0 and found.trials[0].value == -math.inf


def trials(*values):
    return [Trial({}, value, (), None, 0.0) for value in values]


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
    ],
)
def test_edge_of_the_grid(values, chosen, words):
    lines = edge_warnings({"k": values}, {"k": chosen}, trials(0.1, 0.2))
    assert [words in each.text for each in lines] == ([True] if words else [])


def test_no_edge_where_nothing_differs():
    assert edge_warnings({"k": (1, 2, 3)}, {"k": 1}, trials(0.2, 0.2, 0.2)) == []
