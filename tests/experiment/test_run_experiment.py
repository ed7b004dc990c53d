"""Whole runs on a small data set: files, resume, failures, the test part's innocence."""

from __future__ import annotations

import csv
import json
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from conftest import random_queries
from toy_data import write_toy

from letorbench.datasets.load import load
from letorbench.errors import DataError, UsageError
from letorbench.experiment.plan import Job, Protocol, Task
from letorbench.experiment.runner import run
from letorbench.experiment.task import Worker, attempt, seed_of
from letorbench.measures import default_measures, query_metrics
from letorbench.models import Linear
from letorbench.rankers import Ranker, load_model, plugins
from letorbench.results.scores import score_warnings
from letorbench.solvers.fit_result import FitResult


@pytest.fixture
def protocol(tmp_path: Path) -> Protocol:
    write_toy(tmp_path / "data")
    return Protocol(tmp_path / "data", tmp_path / "results", features="raw")


@pytest.fixture
def spy():
    """A ranker that records each set it learns from and each matrix it scores."""

    @dataclass
    class Spy(Ranker):
        name = "spy"
        a: float = 1.0

        def learn(self, train, validation, rng):
            if self.a < 0:
                raise ArithmeticError("a below 0\nin two lines")
            calls.append(("learn", train.qids.tolist(), validation.queries.qids.tolist()))
            return FitResult(Linear(np.full(train.n_features, self.a), 0.0))

        def predict(self, X):
            features = getattr(X, "features", X)
            calls.append(("predict", len(features), features[0].tolist()))
            return super().predict(X)

    Spy.grid = {"a": (1.0, 2.0)}
    calls: list = []
    plugins.FOUND["spy"] = Spy
    yield calls
    del plugins.FOUND["spy"]


def rows(path: Path) -> list[list[str]]:
    return list(csv.reader(path.open()))


def test_the_files_hold_what_they_say(protocol):
    start = time.perf_counter()
    report = run(["TOY"], {"regression": {}}, None, protocol)
    took = time.perf_counter() - start
    assert [outcome.error for outcome in report.outcomes] == [""] * 5
    benchmark = load("TOY", protocol.data_dir)
    folder = protocol.out / "TOY" / "regression"
    measures = default_measures(benchmark.convention)
    names = [str(measure) for measure in measures]
    means, per_query = [], []
    for fold in benchmark.folds:
        scores = np.loadtxt(folder / f"fold{fold.number}" / "scores.txt")
        model = load_model(folder / f"fold{fold.number}" / "model.npz")
        assert np.array_equal(model.predict(fold.test.features), scores)
        held_out = np.loadtxt(folder / f"fold{fold.number}" / "validation.txt")
        assert np.array_equal(model.predict(fold.validation.features), held_out)
        test = fold.test
        values = query_metrics(test.labels, scores, test.offsets, measures, benchmark.convention)
        means.append(values.mean(axis=0))
        per_query += [[fold.number, q, *v] for q, v in zip(test.qids, values)]
        fit = json.loads((folder / f"fold{fold.number}" / "fit.json").read_text())
        assert fit["identity"]["convention"] == "standard" and fit["identity"]["seed"] == 0
        assert fit["chosen"] == {"l2": 0.0, "target": "label", "features": "raw"}
        assert {"letorbench", "numpy", "scipy", "numba", "python"} == set(fit["versions"])
        assert 0 < fit["seconds"] < took and fit["warnings"] == []
        assert 0 < fit["validation"]["value"] <= 1
    header, *body = rows(folder / "folds.csv")
    assert header == ["fold", *names]
    assert [line[0] for line in body] == ["1", "2", "3", "4", "5", "mean"]
    assert np.array_equal(np.array([line[1:] for line in body[:5]], float), means)
    assert np.allclose(np.array(body[5][1:], float), np.mean(means, axis=0), rtol=1e-15)
    header, *body = rows(folder / "per_query.csv")
    assert header == ["fold", "qid", *names]
    assert np.array_equal(np.array(body, float), np.array(per_query, float))
    header, line = rows(protocol.out / "TOY" / "summary.csv")
    assert header == ["algo", "convention", "folds", "repeats", "cut_off", *names]
    assert line[:5] == ["regression", "standard", "5", "1", "0"]
    assert line[5:] == rows(folder / "folds.csv")[-1][1:]


def test_the_test_part_is_scored_once_and_after_selection(protocol, spy):
    run(["TOY"], {"spy": {}}, [2], protocol)
    fold = load("TOY", protocol.data_dir).folds[1]
    kinds = [call[0] for call in spy]
    assert kinds == ["learn", "predict", "learn", "predict", "predict"]
    for call in spy:
        if call[0] == "learn":
            assert call[1:] == (fold.train.qids.tolist(), fold.validation.qids.tolist())
    held_out, test = (s.features[0].tolist() for s in (fold.validation, fold.test))
    assert [call[2] for call in spy if call[0] == "predict"] == [held_out, held_out, test]


def test_what_holds_is_not_run_again(protocol, spy):
    run(["TOY"], {"spy": {}}, None, protocol)
    folder = protocol.out / "TOY" / "spy"
    before = (folder / "per_query.csv").read_bytes()
    (folder / "per_query.csv").unlink()
    (folder / "fold3" / "scores.txt").unlink()
    spy.clear()
    report = run(["TOY"], {"spy": {}}, None, protocol)
    assert [outcome.reused for outcome in report.outcomes] == [True, True, False, True, True]
    assert len(spy) == 5 and (folder / "per_query.csv").read_bytes() == before

    for other in (
        replace(protocol, force=True),
        replace(protocol, seed=1),
        replace(protocol, select="map"),
        replace(protocol, convention="letor4"),
    ):
        assert not any(o.reused for o in run(["TOY"], {"spy": {}}, None, other).outcomes)
    assert not any(o.reused for o in run(["TOY"], {"spy": {"a": 1.0}}, None, protocol).outcomes)


def test_other_data_is_another_identity(protocol, spy):
    run(["TOY"], {"spy": {}}, [1], protocol)
    path = protocol.data_dir / "TOY" / "Fold1" / "test.txt"
    path.write_text(path.read_text().replace("0 qid", "1 qid", 1))
    assert not run(["TOY"], {"spy": {}}, [1], protocol).outcomes[0].reused


def test_folds_of_earlier_runs_count_where_they_fit(protocol):
    run(["TOY"], {"regression": {}}, [1, 2], protocol)
    run(["TOY"], {"regression": {}}, [4], protocol)
    folder = protocol.out / "TOY" / "regression"
    assert [line[0] for line in rows(folder / "folds.csv")[1:]] == ["1", "2", "4", "mean"]
    report = run(["TOY"], {"regression": {"l2": 1.0}}, [1], protocol)
    assert [line[0] for line in rows(folder / "folds.csv")[1:]] == ["1", "mean"]
    assert "fold 2, 4" in report.notes[0] and "left out" in report.notes[0]


def test_a_failing_task_does_not_stop_the_others(protocol, spy):
    report = run(["TOY"], {"spy": {"a": -1.0}, "regression": {}}, [1, 2], protocol)
    errors = [outcome.error for outcome in report.outcomes]
    said = f"ArithmeticError: a below 0 in two lines ({__file__}:45)"
    assert errors == [said] * 2 + ["", ""]
    assert [row.algo for row in report.summaries[0].rows] == ["regression"]


def test_a_killed_fold_is_run_again(protocol, monkeypatch, spy):
    run(["TOY"], {"spy": {}}, [1], protocol)

    def killed(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(Ranker, "save", killed)
    with pytest.raises(KeyboardInterrupt):
        run(["TOY"], {"spy": {}}, [1], replace(protocol, force=True))
    monkeypatch.undo()
    folder = protocol.out / "TOY" / "spy" / "fold1"
    left = ["model.npz", "per_query.csv", "scores.txt", "trials.npz", "validation.txt"]
    assert sorted(path.name for path in folder.iterdir()) == left
    assert not run(["TOY"], {"spy": {}}, [1], protocol).outcomes[0].reused


def test_folds_and_folders_that_are_not_there(protocol, tmp_path):
    with pytest.raises(UsageError, match="TOY has no fold 6; expected 1-5"):
        run(["TOY"], {"regression": {}}, [5, 6], protocol)
    (tmp_path / "file").touch()
    with pytest.raises(DataError, match="file/x: cannot be written: Not a directory"):
        run(["TOY"], {"regression": {}}, None, replace(protocol, out=tmp_path / "file" / "x"))
    job = Job(Task("NONE", "regression", 1), None, None, None, None)
    outcome = attempt(job, Worker(protocol))
    assert "NONE" in outcome.error and outcome.exit_status == 1 and "Traceback" in outcome.trace


def test_nan_scores_are_ranked_last_and_said(protocol, monkeypatch):
    @dataclass
    class Bad(Ranker):
        name = "bad"

        def learn(self, train, validation, rng):
            return FitResult(Linear(np.ones(train.n_features), 0.0))

        def predict(self, features):
            scores = super().predict(features)
            scores[0] = np.nan
            return scores

    monkeypatch.setitem(plugins.FOUND, "bad", Bad)
    outcome = run(["TOY"], {"bad": {}}, [1], protocol).outcomes[0]
    assert outcome.error == "" and "1 of 56 test scores are NaN" in outcome.warnings[0].text
    lines = (protocol.out / "TOY" / "bad" / "fold1" / "scores.txt").read_text().split()
    assert float(lines[0]) < min(map(float, lines[1:]))


def test_degenerate_scores(rng):
    queries = random_queries(rng, [3, 1, 2])
    assert score_warnings(np.arange(6.0), queries) == []
    assert "constant" in score_warnings(np.zeros(6), queries)[0].text
    assert "constant" in score_warnings(np.array([1.0, 1, 1, 2, 3, 3]), queries)[0].text
    assert score_warnings(np.array([1.0, 1, 1, 2, 3, 4]), queries) == []
    assert "2 of 6" in score_warnings(np.array([1, np.nan, np.inf, 2, 3, 4]), queries)[0].text
    assert [n.kind for n in score_warnings(np.array([1.0, 1, 2, 3, 4, 4]), queries)] == ["ties"]
    assert score_warnings(np.array([1.0, 2, 2, 2, 2, 4]), queries) == []  # 2 of 6 tie


def test_seeds_differ_by_everything_and_depend_on_nothing_else():
    base = Task("A", "x", 1, {})
    others = [
        Task("B", "x", 1, {}),
        Task("A", "y", 1, {}),
        Task("A", "x", 2, {}),
        Task("x", "A", 1, {}),
    ]
    states = [tuple(seed_of(task, 0).generate_state(4)) for task in [base, *others]]
    states.append(tuple(seed_of(base, 1).generate_state(4)))
    assert len(set(states)) == 6
    assert states[0] == tuple(seed_of(Task("A", "x", 1, {"k": 2}), 0).generate_state(4))
