"""Runs with several seeds: what is repeated, with which seeds, and what may be added later."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner
from toy_data import write_toy

from letorbench.cli import cli
from letorbench.datasets.load import load
from letorbench.experiment.grids import draws
from letorbench.experiment.plan import DEFAULT_REPEATS, Protocol, Task
from letorbench.experiment.runner import run
from letorbench.experiment.select import UNDECLARED, select
from letorbench.experiment.task import seed_of
from letorbench.measures import parse
from letorbench.rankers import Regression, ranker
from letorbench.results.measuring import with_measures
from letorbench.results.summary import read_per_query
from letorbench.solvers.stopping import Validation

SAMPLED = {"ndcgboost": {"stumps": "sample", "rounds": 5}}


@pytest.fixture
def protocol(tmp_path):
    write_toy(tmp_path / "data")
    return Protocol(tmp_path / "data", tmp_path / "results", repeats=3)


def scores(protocol, algo):
    found = sorted((protocol.out / "TOY" / algo).rglob("scores.txt"))
    return {str(p.parent.relative_to(protocol.out / "TOY")): p.read_text() for p in found}


def test_only_what_draws_is_repeated(protocol):
    report = run(["TOY"], {"regression": {}, **SAMPLED}, [1, 2], protocol)
    done = [(o.task.algo, o.task.repeat, o.task.fold) for o in report.outcomes]
    boosted = [("ndcgboost", r, k) for r in (1, 2, 3) for k in (1, 2)]
    assert done == [("regression", 1, 1), ("regression", 1, 2), *boosted]
    regression, boost = sorted(report.summaries[0].rows, key=lambda row: row.repeats)
    assert (regression.repeats, regression.n_repeats, boost.repeats) == (1, None, 3)
    assert len(set(scores(protocol, "ndcgboost").values())) == 6


def test_more_repeats_only_add(protocol):
    few = Protocol(protocol.data_dir, protocol.out, repeats=1)
    run(["TOY"], SAMPLED, [1], few)
    before = scores(protocol, "ndcgboost")
    report = run(["TOY"], SAMPLED, [1], protocol)
    assert [outcome.reused for outcome in report.outcomes] == [True, False, False]
    after = scores(protocol, "ndcgboost")
    assert list(before) == ["ndcgboost/fold1"] and before.items() <= after.items()
    assert report.summaries[0].partial == ("ndcgboost: folds 1 of 5",)
    again = run(["TOY"], SAMPLED, [1], few)
    assert again.summaries[0].rows[0].repeats == 3


def test_the_first_repeat_is_a_run_without_repeats(protocol):
    run(["TOY"], SAMPLED, [1], protocol)
    folder = protocol.out / "TOY" / "ndcgboost"
    first, second = (
        json.loads((place / "fold1" / "fit.json").read_text())
        for place in (folder, folder / "repeat2")
    )
    assert "repeat" not in first["identity"]
    assert second["identity"] == {**first["identity"], "repeat": 2}
    assert first["repeats"] == second["repeats"] == 3


def test_each_repeat_has_its_own_seed():
    tasks = [Task("A", "x", k, {}, r) for k in (1, 2) for r in (1, 2, 3)]
    states = {tuple(seed_of(task, s).generate_state(4)) for task in tasks for s in (0, 1)}
    assert len(states) == 12
    names = [np.uint32(each) for each in seed_of(tasks[0], 0).entropy]
    assert len(names) == 4 and seed_of(tasks[1], 0).entropy == [*names, 2]


def test_added_measures_of_each_repeat(protocol):
    run(["TOY"], SAMPLED, None, protocol)
    asked = ["ndcg@10", "p@13"]
    found = with_measures(protocol.out, protocol.data_dir, "TOY", "ndcgboost", asked)
    stored = read_per_query(protocol.out, "TOY", "ndcgboost")
    assert found.by_repeat("p@13").shape == stored.by_repeat("ndcg@10").shape == (3, 40)
    np.testing.assert_allclose(found.by_repeat("p@13").mean(axis=0), found.values["p@13"])
    at_seven = stored.by_repeat("p@7") * 7 / 13  # the queries have seven documents
    np.testing.assert_allclose(found.by_repeat("p@13"), at_seven)


def test_settings_that_are_refused_are_said_once_a_fold(protocol):
    report = run(["TOY"], {"recipe": {"loss": "nonsense"}}, [1], protocol)
    assert len(report.outcomes) == 1 and "nonsense" in report.outcomes[0].error


def test_a_point_of_the_grid_that_draws_is_enough():
    assert draws(ranker("ranknet"), {}) and not draws(ranker("regression"), {})
    assert not draws(ranker("ndcgboost"), {}) and draws(ranker("ndcgboost"), {"stumps": "sample"})

    class Searched(ranker("ndcgboost")):
        grid = {"stumps": ("exact", "sample")}

    assert draws(Searched, {}) and not draws(Searched, {"stumps": "exact"})


def test_a_ranker_that_draws_and_does_not_say_so_is_warned_of(protocol):
    class Noisy(Regression):
        def learn(self, train, validation, rng):
            rng.random()
            return super().learn(train, validation, rng)

    fold = load("TOY", protocol.data_dir).folds[0]
    held_out = Validation(fold.validation, parse("ndcg@10"))
    for cls, said in ((Noisy, True), (Regression, False)):
        found = select(cls, {}, fold.train, held_out, np.random.SeedSequence(0))
        assert (UNDECLARED in found.warnings) == said


def test_the_default_is_what_the_help_says():
    text = " ".join(CliRunner().invoke(cli, ["run", "--help"]).output.split())
    assert f"others run once. [default: {DEFAULT_REPEATS}]" in text
