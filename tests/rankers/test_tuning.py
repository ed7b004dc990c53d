"""The ranges of hyper-parameters, and the settings that one sequence draws from them."""

from dataclasses import dataclass

import numpy as np
import pytest

import letorbench as lb
from letorbench.parameters import number
from letorbench.rankers import names, ranker
from letorbench.rankers.base import Ranker
from letorbench.rankers.tuning import BUDGET, Between, drawn_settings, free_ranges, trials
from letorbench.solvers.stopping import Validation


@dataclass
class Ranged(Ranker):
    """What has a range of every kind."""

    name = "ranged"
    ranges = {
        "rate": Between(0.001, 10.0, log=True), "leaves": Between(4, 7),
        "docs": Between(2, 200, log=True, beside=("kind", "b")), "kind": ("a", "b"),
    }  # fmt: skip
    rate: float = number(0.5, above=0)
    leaves: int = number(5, least=2)
    docs: int = number(1, least=1)
    kind: str = "a"

    def learn(self, train, validation, rng):
        raise NotImplementedError


def test_the_default_is_first_and_a_smaller_budget_tries_the_first_of_a_larger_ones():
    tried = drawn_settings(Ranged, {}, 100)
    assert tried[0] == {"rate": 0.5, "leaves": 5, "docs": 1, "kind": "a"}
    for budget in (1, 2, 3, 8, 33, 64):
        assert drawn_settings(Ranged, {}, budget) == tried[:budget]


def test_settings_spread_evenly_over_each_range():
    tried = drawn_settings(Ranged, {}, 129)[1:]
    rates = np.log10([each["rate"] for each in tried])
    counts, _ = np.histogram(rates, 4, (-3.0, 1.0))
    assert counts.tolist() == pytest.approx([32] * 4, abs=1)
    leaves = np.bincount([each["leaves"] for each in tried])
    assert leaves.tolist() == [0, 0, 0, 0, 32, 32, 32, 32]
    docs = [each["docs"] for each in tried if each["kind"] == "b"]
    assert len(docs) == 64 and np.median(docs) == pytest.approx(20, rel=0.2)
    assert all(type(each) is int for each in docs) and 2 <= min(docs) and max(docs) <= 200
    assert {each["docs"] for each in tried if each["kind"] == "a"} == {1}


def test_what_is_fixed_is_no_dimension_and_equal_settings_are_tried_once():
    tried = drawn_settings(Ranged, {"rate": 2.0, "kind": "a"}, 50)
    assert {each["rate"] for each in tried} == {2.0}
    assert sorted(each["leaves"] for each in tried) == [4, 5, 6, 7]
    assert "kind" not in free_ranges(Ranged, {"kind": "a"}, 3)
    assert free_ranges(Ranged, {}, None) == {}


@pytest.mark.parametrize("name", [name for name in names() if ranker(name).ranges])
def test_every_range_has_only_values_that_its_ranker_takes(name):
    cls = ranker(name)
    if not cls.available():
        pytest.skip(f"{cls.needs} is not installed")
    assert set(cls.grid) <= set(cls.ranges)
    for settings in drawn_settings(cls, {}, BUDGET):
        cls(**settings)


def test_a_run_tunes_with_the_budget_of_its_label(tmp_path):
    given = {"out": tmp_path, "folds": [1], "protocol": "tuned"}
    results = lb.run("DEMO", "regression,ranksvm[budget=3],ideal", **given)
    assert set(results.algorithms) == {
        "regression[protocol=tuned]", "ranksvm[protocol=tuned,budget=3]", "ideal[protocol=tuned]",
    }  # fmt: skip
    fits = {row.label.algo: row.stored[0].fit for row in results.frames[0].rows}
    grid = fits["regression"]["validation"]["grid"]
    assert len(grid) == BUDGET and grid[0]["settings"] == {"l2": 0.0}
    assert [each["settings"]["l2"] for each in grid] == fits["regression"]["identity"]["grid"]["l2"]
    assert fits["regression"]["identity"]["budget"] == BUDGET
    assert len(fits["ranksvm"]["validation"]["grid"]) == 3
    assert fits["regression"]["validation"]["value"] == max(each["value"] for each in grid)
    with pytest.raises(lb.UsageError, match="budget=3, expected it with protocol=tuned"):
        lb.run("DEMO", "ranksvm[budget=3]", out=tmp_path)


def test_a_settings_model_does_not_depend_on_the_settings_before_it(tmp_path):
    """Random forests spawn generators, whose number a shared seed would count on."""
    fold = lb.load("DEMO", data_dir=tmp_path).folds[0]
    seed, validation = np.random.SeedSequence(5), Validation(fold.validation)
    tried = [{"bags": 2, "leaves": leaves} for leaves in (20, 10)]
    both = trials(ranker("random-forests"), tried, fold.train, validation, seed)
    [alone] = trials(ranker("random-forests"), tried[1:], fold.train, validation, seed)
    np.testing.assert_array_equal(both[1].scores, alone.scores)
