"""`run` with data in memory and with rankers: what a notebook has."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from toy_data import write_toy

from letorbench.datasets.load import load
from letorbench.errors import UsageError
from letorbench.experiment.backends import Processes
from letorbench.experiment.plan import (
    Protocol,
    Task,
    benchmark_of,
    entrants,
    identity,
    ranker_identity,
)
from letorbench.experiment.runner import run
from letorbench.fit_warnings import FitWarning
from letorbench.models import Linear
from letorbench.rankers import Ranker, ranker
from letorbench.results import read_folds, read_summary
from letorbench.solvers.fit_result import FitResult


@pytest.fixture
def protocol(tmp_path: Path) -> Protocol:
    write_toy(tmp_path / "data")
    return Protocol(tmp_path / "data", tmp_path / "results", features="raw")


@dataclass
class Mine(Ranker):
    """A ranker that no registry knows."""

    name = "mine"
    grid: ClassVar = {"a": (1.0, -1.0)}
    a: float = 0.5

    def learn(self, train, validation, rng):
        return FitResult(Linear(np.full(train.n_features, self.a), 0.0))


def in_memory(protocol: Protocol, name: str = "MEMORY"):
    """The toy set without a file behind it."""
    return replace(load("TOY", protocol.data_dir), name=name)


@pytest.mark.parametrize("jobs", [1, 2])
def test_data_in_memory_score_as_those_on_disk(protocol, jobs):
    bench = in_memory(protocol)
    report = run([bench, "TOY"], ["regression"], None, protocol, Processes(jobs))
    assert [outcome.error for outcome in report.outcomes] == [""] * 10
    assert [summary.dataset for summary in report.summaries] == ["MEMORY", "TOY"]
    stored = [read_folds(protocol.out, name, "regression") for name in ("MEMORY", "TOY")]
    for one, two in zip(*stored):
        assert np.array_equal(one.scores(56), two.scores(56))
        assert (one.fit["test"], one.fit["chosen"]) == (two.fit["test"], two.fit["chosen"])
    again = run([bench], ["regression"], None, protocol, Processes(jobs))
    assert all(outcome.reused for outcome in again.outcomes)


def test_a_convention_for_data_in_memory(protocol):
    bench = in_memory(protocol)
    assert benchmark_of(bench, protocol) is bench
    other = benchmark_of(bench, replace(protocol, convention="letor4"))
    assert other.convention.name == "letor4"
    assert other.convention.max_label == bench.convention.max_label


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_ranker_that_no_registry_knows(protocol, jobs):
    report = run(["TOY"], [Mine], [1, 2], protocol, Processes(jobs))
    assert [outcome.error for outcome in report.outcomes] == ["", ""]
    for fold in read_folds(protocol.out, "TOY", "mine"):
        assert len(fold.fit["validation"]["grid"]) == 2 and fold.identity["fixed"] == []
    report = run(["TOY"], [Mine(a=2.0)], [1, 2], protocol, Processes(jobs))
    assert not any(outcome.reused or outcome.error for outcome in report.outcomes)
    for fold in read_folds(protocol.out, "TOY", "mine"):
        assert fold.fit["validation"]["grid"] == [] and fold.fit["chosen"]["a"] == 2.0
        assert fold.identity["fixed"] == ["a"]


def test_an_instance_with_nothing_to_choose_is_the_name(protocol):
    cls = ranker("ndcgboost")
    run(["TOY"], {"ndcgboost": {"rounds": 3}}, [1], protocol)
    assert run(["TOY"], [cls(rounds=3)], [1], protocol).outcomes[0].reused
    assert read_summary(protocol.out, "TOY").rows[0].folds == 1


def test_contenders():
    cls = ranker("regression")
    assert [each.settings for each in entrants(["regression"])] == [{}]
    assert [each.settings for each in entrants([cls])] == [{}]
    [given] = entrants([cls(l2=2.0, features="rank")])
    assert (given.settings, given.features) == ({"l2": 2.0, "target": "label"}, "rank")
    assert entrants([cls(), "frank"])[0].features is None
    with pytest.raises(UsageError, match="two algorithms are named 'regression'"):
        entrants(["regression", cls(l2=2.0)])
    with pytest.raises(UsageError, match="found 3, expected an algorithm's name, a ranker"):
        entrants([3])
    with pytest.raises(UsageError, match="did you mean regression"):
        entrants(["regresion"])


def test_an_identity_holds_the_source_below_the_results(protocol, monkeypatch):
    task = Task("TOY", "regression", 1)
    bench = load("TOY", protocol.data_dir)
    cls = ranker("regression")
    facts = identity(task, protocol, bench, cls)
    assert identity(task, protocol, bench, cls) == facts
    assert {"code", "data", "seed", "settings", "grid", "select", "convention"} <= set(facts)
    monkeypatch.setattr("letorbench.experiment.plan.scoring_digest", lambda module: "edited")
    assert identity(task, protocol, bench, cls)["code"] == "edited" != facts["code"]


def test_an_edited_source_runs_a_fold_again(protocol, monkeypatch):
    run(["TOY"], ["regression"], [1], protocol)
    assert run(["TOY"], ["regression"], [1], protocol).outcomes[0].reused
    monkeypatch.setattr("letorbench.experiment.plan.scoring_digest", lambda module: "edited")
    assert not run(["TOY"], ["regression"], [1], protocol).outcomes[0].reused


def test_a_setting_at_its_default_is_not_a_fixed_one():
    cls = ranker("ndcgboost")
    assert ranker_identity(cls, cls().get_params()) == ranker_identity(cls, {})


def test_a_time_limit_is_stored_marked_and_lifted_again(protocol):
    """What was cut off is trained again without the limit; what was not is kept."""
    algos = ["listnet", "regression"]
    short = run(["TOY"], algos, [1], replace(protocol, time_limit=1e-9))
    cut, whole = short.summaries[0].rows
    assert (cut.cut_off, whole.cut_off) == (1, 0)
    said = "the time limit of 1e-09 s cut off 3 of 3 fits"
    assert FitWarning("cut off", said) in short.outcomes[0].warnings
    assert "cut off" not in str(short.outcomes[1].warnings)
    fit = read_folds(protocol.out, "TOY", "listnet")[0].fit
    assert fit["cut_off"] == {"time_limit": 1e-9, "fits": 3, "of": 3}
    assert [trial["cut_off"] for trial in fit["validation"]["grid"]] == [True] * 3
    again = run(["TOY"], algos, [1], replace(protocol, time_limit=1e-9))
    assert [outcome.reused for outcome in again.outcomes] == [True, True]
    lifted = run(["TOY"], algos, [1], protocol)
    assert [outcome.reused for outcome in lifted.outcomes] == [False, True]
    assert [row.cut_off for row in lifted.summaries[0].rows] == [0, 0]
