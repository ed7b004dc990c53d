"""Whole runs on a small data set: files, what is reused, seeds, features, failures, kills."""

import csv
import io
import json
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from conftest import forget_user_code, printed, random_queries
from numba import njit
from toy_data import content, write_toy

import letorbench as lb
from letorbench.api.running import exit_status
from letorbench.compiled.threads import thread_count
from letorbench.datasets.load import load
from letorbench.errors import DataError, UsageError
from letorbench.experiment.backends import Processes
from letorbench.experiment.job import JobResult, run_job
from letorbench.experiment.plan import Job, Protocol, systems_of
from letorbench.experiment.run import RunReport, _progress, run_systems
from letorbench.features import TRANSFORMATIONS
from letorbench.models import Linear
from letorbench.rankers import Ranker, load_model, plugins, ranker
from letorbench.results.dataset_results import DatasetResults
from letorbench.results.labels import Label
from letorbench.results.paths import FoldKey
from letorbench.results.store import read_folds
from letorbench.solvers.fit_result import FitResult, score_warnings
from letorbench.solvers.fit_warnings import FitWarning
from letorbench.solvers.stopping import Validation

SAMPLED = "ndcgboost[rounds=5,stumps=sample]"


def run(datasets, algos, folds, protocol, processes=Processes()) -> RunReport:
    """Run what the algorithms of the labels, classes and instances are."""
    return run_systems(datasets, systems_of(algos), folds, protocol, processes)


@pytest.fixture
def protocol(tmp_path):
    write_toy(tmp_path / "data")
    return Protocol(data_dir=tmp_path / "data", out=tmp_path / "results", repeats=3)


@pytest.fixture
def spy(monkeypatch):
    """A ranker that records each set it learns from and each matrix it scores, in this order."""
    monkeypatch.setenv("LETORBENCH_THREADS", "1")

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
    plugins.RANKERS["spy"] = Spy
    return calls


def rows(path: Path) -> list[list[str]]:
    return list(csv.reader(path.open()))


def test_the_files_hold_what_they_say(protocol):
    start = time.perf_counter()
    report = run(["TOY"], ["regression[l2=0.5]"], None, protocol)
    assert [outcome.error for outcome in report.runs] == [""] * 5
    folder = protocol.out / "TOY" / "regression[l2=0.5]"
    rules = asdict(load("TOY", protocol.data_dir).convention)
    rules = {key: rules[key] for key in rules if key not in ("name", "description", "source")}
    for fold in load("TOY", protocol.data_dir).folds:
        place = folder / f"fold{fold.number}"
        scores = np.loadtxt(place / "scores.txt")
        model = load_model(place / "model.npz")
        assert np.array_equal(model.predict(fold.test), scores)
        held_out = np.loadtxt(place / "validation.txt")
        assert np.array_equal(model.predict(fold.validation), held_out)
        fit = json.loads((place / "fit.json").read_text())
        assert fit["identity"]["rules"] == rules and fit["identity"]["fixed"] == ["l2"]
        assert fit["chosen"] == {
            "gain": "exp2", "l2": 0.5, "target": "label", "features": "query-minmax",
        }  # fmt: skip
        assert {"letorbench", "numpy", "scipy", "numba", "python"} == set(fit["versions"])
        assert 0 < fit["seconds"] < time.perf_counter() - start and fit["warnings"] == []
        fit.pop("seal")
        assert report.runs[fold.number - 1].fold.fit == fit


def test_missing_values_end_the_jobs_of_those_that_do_not_take_them(protocol):
    for path in (protocol.data_dir / "TOY").rglob("*.txt"):
        path.write_text(re.sub(" 2:[^ ]*", " 2:NULL", path.read_text(), count=5))
    algos = ["regression", "random"]
    report = run(["TOY"], algos, [1, 2], protocol)
    said = "regression: found missing values (NULL, NaN), first in feature 2, expected numbers "
    errors = [each.error[: len(said)] for each in report.runs]
    assert errors == [said, said, "", ""]
    assert [each.fold.identity["null"] for each in report.runs[2:]] == ["keep"] * 2
    filled = run(["TOY"], algos, [1], replace(protocol, null="min", out=protocol.out / "min"))
    assert [each.fold.identity["null"] for each in filled.runs] == ["min"] * 2


def test_the_test_part_is_scored_once_and_after_selection(protocol, spy):
    run(["TOY"], ["spy"], [2], replace(protocol, features="raw"))
    fold = load("TOY", protocol.data_dir).folds[1]
    said = [call[0] for call in spy]
    assert said == ["learn", "predict", "learn", "predict", "predict", "predict"]
    for call in spy:
        if call[0] == "learn":
            assert call[1:] == (fold.train.qids.tolist(), fold.validation.qids.tolist())
    parts = (fold.train, fold.validation, fold.test)
    train, held_out, test = (part.features[0].tolist() for part in parts)
    seen = [call[2] for call in spy if call[0] == "predict"]
    assert sorted(seen) == sorted([held_out, held_out, train, test]) and seen[:2] == [held_out] * 2


def test_what_holds_is_not_run_again(protocol, spy, monkeypatch):
    run(["TOY"], ["spy"], None, protocol)
    folder = protocol.out / "TOY" / "spy"
    before = (folder / "per_query.csv").read_bytes()
    (folder / "per_query.csv").unlink()
    (folder / "fold3" / "scores.txt").unlink()
    spy.clear()
    report = run(["TOY"], ["spy"], None, protocol)
    assert [outcome.reused for outcome in report.runs] == [True, True, False, True, True]
    assert len(spy) == 6 and (folder / "per_query.csv").read_bytes() == before
    for other in ({"force": True}, {"select": "map"}, {"name": "letor"}, {"null": "min"},
                  {"convention": "letor4"}):  # fmt: skip
        changed = replace(protocol, **other)
        assert not any(o.reused for o in run(["TOY"], ["spy"], [1], changed).runs)
        run(["TOY"], ["spy"], [1], protocol)
    assert run(["TOY"], ["spy"], [1], replace(protocol, seed=1)).runs[0].reused  # it draws nothing
    assert not any(o.reused for o in run(["TOY"], ["spy[a=1.0]"], [1], protocol).runs)
    # none took another one's place
    labels = ["spy", "spy[a=1.0]", "spy[protocol=letor,select=ndcg@10]", "spy[select=map]"]
    labels += ["spy[convention=letor4]", "spy[null=min]"]
    assert {path.name for path in folder.parent.iterdir() if path.is_dir()} == set(labels)
    run(["TOY"], ["spy"], [1], protocol)
    monkeypatch.setattr(plugins.RANKERS["spy"], "grid", {"a": (1.0, 3.0)})
    assert not any(o.reused for o in run(["TOY"], ["spy"], [1], protocol).runs)
    path = protocol.data_dir / "TOY" / "Fold2" / "test.txt"
    path.write_text(path.read_text().replace("0 qid", "1 qid", 1))
    assert not run(["TOY"], ["spy"], [2], protocol).runs[0].reused
    monkeypatch.setattr("letorbench.experiment.plan.scoring_digest", lambda *modules: "0")
    assert not run(["TOY"], ["spy"], [2], protocol).runs[0].reused


def test_of_two_runs_that_begin_one_fold_the_second_waits_and_trains_nothing(protocol, tmp_path):
    """A training waits for another one to begin, which none may."""
    log, context = tmp_path / "trainings", get_context("fork")
    log.touch()
    both, ended = context.Barrier(2), context.Queue()

    @dataclass
    class Slow(Ranker):
        name = "slow"

        def learn(self, train, validation, rng):
            with log.open("a") as file:
                file.write("trained\n")
            end = time.monotonic() + 1.0
            while time.monotonic() < end and log.read_text().count("\n") == 1:
                time.sleep(0.01)
            return FitResult(Linear(np.ones(train.n_features), 0.0))

    def begin() -> None:
        both.wait(60.0)
        [own] = run(["TOY"], [Slow], [1], protocol).runs
        ended.put((own.error, own.reused))

    for _ in range(2):
        context.Process(target=begin).start()
    assert sorted(ended.get(timeout=120.0) for _ in range(2)) == [("", False), ("", True)]
    assert log.read_text() == "trained\n"


def test_folds_of_earlier_runs_count_where_they_fit(protocol, monkeypatch):
    run(["TOY"], ["regression"], [1, 2], protocol)
    run(["TOY"], ["regression"], [4], protocol)
    folder = protocol.out / "TOY" / "regression"
    assert [line[0] for line in rows(folder / "folds.csv")[1:]] == ["1", "2", "4", "mean"]
    run(["TOY"], ["regression[l2=1.0]"], [1], protocol)  # is another row
    assert [line[0] for line in rows(folder / "folds.csv")[1:]] == ["1", "2", "4", "mean"]
    monkeypatch.setattr("letorbench.experiment.plan.scoring_digest", lambda *modules: "0")
    report = run(["TOY"], ["regression"], [1], protocol)
    assert [line[0] for line in rows(folder / "folds.csv")[1:]] == ["1", "mean"]
    [note] = report.notes
    assert "TOY, regression: fold 2, 4 " in note and "left out of the means" in note


def test_a_failing_task_does_not_stop_the_others(protocol, spy, monkeypatch):
    report = run(["TOY"], ["spy[a=-1.0]", "regression"], [1, 2], protocol)
    errors = [outcome.error for outcome in report.runs]
    assert errors[0].startswith(f"ArithmeticError: a below 0 in two lines ({__file__}:")
    assert errors == [errors[0]] * 2 + ["", ""]
    assert [row.algo for row in report.frames[0].rows] == ["regression"]
    with pytest.raises(UsageError, match="nonsense"):
        run(["TOY"], ["recipe[loss=nonsense]"], [1], protocol)
    monkeypatch.setattr(lb.Regression, "learn", None)  # a mistake of our own is no wrong option
    [mistake] = run(["TOY"], ["regression"], [3], protocol).runs
    assert (mistake.exit_status, mistake.error.partition(":")[0]) == (1, "AttributeError")


def test_a_killed_fold_is_run_again(protocol, monkeypatch, spy):
    run(["TOY"], ["spy"], [1], protocol)

    def killed(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(Ranker, "save", killed)
    with pytest.raises(KeyboardInterrupt):
        run(["TOY"], ["spy"], [1], replace(protocol, force=True))
    monkeypatch.undo()
    assert not (protocol.out / "TOY" / "spy" / "fold1" / "fit.json").exists()
    assert not run(["TOY"], ["spy"], [1], protocol).runs[0].reused


def test_folds_and_folders_that_are_not_there(protocol, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(DataError, match="file/x: cannot be written: Not a directory"):
        run(["TOY"], ["regression"], None, replace(protocol, out=tmp_path / "file" / "x"))
    key = FoldKey("NONE", "regression", 1, 1)
    outcome = run_job(Job(key, Label("regression"), {}, protocol, protocol.out / "x"))
    assert "NONE" in outcome.error and outcome.exit_status == 1 and "Traceback" in outcome.trace


def test_nan_scores_are_ranked_last_and_warned_of(protocol, monkeypatch):
    @dataclass
    class Bad(Ranker):
        name = "bad"

        def learn(self, train, validation, rng):
            return FitResult(Linear(np.ones(train.n_features), 0.0))

        def predict(self, features):
            scores = super().predict(features)
            scores[0] = np.nan
            return scores

    monkeypatch.setitem(plugins.RANKERS, "bad", Bad)
    outcome = run(["TOY"], ["bad"], [1], protocol).runs[0]
    assert outcome.error == "" and "1 of 56 test scores are NaN" in outcome.fold.warnings[0].text
    for name in ("scores.txt", "validation.txt"):
        scores = np.loadtxt(protocol.out / "TOY" / "bad" / "fold1" / name)
        assert scores[0] < scores[1:].min()


def test_degenerate_scores_are_warned_of(rng):
    queries = random_queries(rng, [3, 0, 1, 2])
    for scores, warned in (
        ([0, 1, 2, 3, 4, 5], []), ([1, 1, 1, 2, 3, 3], ["nothing learned"]),
        ([1, 1, 1, 2, 3, 4], []), ([1, np.nan, np.inf, 2, 3, 4], ["no numbers"]),
        ([1, 1, 2, 3, 4, 4], ["ties"]), ([1, 2, 2, 2, 2, 4], []),
    ):  # fmt: skip
        assert [each.kind for each in score_warnings(np.array(scores, float), queries)] == warned


def test_a_terminal_shows_how_many_folds_are_done(monkeypatch):
    screen = io.StringIO()
    monkeypatch.setattr(screen, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stderr", screen)
    ended = [JobResult(FoldKey("A", "x", 1, fold)) for fold in (4, 5)]

    def runs():
        yield ended[0]
        njit(lambda x: x + 1)(1)
        yield ended[1]

    assert list(_progress(runs(), 3, 5)) == ended
    shown = screen.getvalue()
    assert "folds:  60%" in shown and "A, x, fold 5" in shown and "5/5" in shown
    compiling = ["compiling kernels" in text for text in shown.split("\r")]
    assert sum(compiling) == 1 and not compiling[0] and not compiling[-1]


def test_data_and_rankers_of_a_program_and_of_files_give_what_names_give(protocol, monkeypatch):
    """In two processes, each with three of six threads, the bytes of one process with one."""
    for name in ("centroid", "second"):
        file = protocol.out.with_name(f"{name}.py")
        file.write_text(EXAMPLE.read_text().replace('"centroid"', f'"{name}"'))
        plugins.load_file(file)

    @dataclass
    class Mine(Ranker):
        """A ranker that no registry knows; a process of its own gets its source."""

        name = "mine"
        grid: ClassVar = {"a": (1.0, -1.0)}
        a: float = 0.5

        def learn(self, train, validation, rng):
            return FitResult(Linear(np.full(train.n_features, self.a), 0.0))

        def predict(self, X):
            assert thread_count() in (1, 3)
            return super().predict(X)

    bench = replace(load("TOY", protocol.data_dir), name="MEMORY")
    algos = [*plugins.RANKERS, Mine, ranker("ranknet")(epochs=2), ranker("ndcgboost")(rounds=3)]
    monkeypatch.setenv("LETORBENCH_THREADS", "6")
    report = run([bench, "TOY"], ["regression", *algos], [1], protocol, Processes(2))
    assert [outcome.error for outcome in report.runs] == [""] * 16
    alone = replace(protocol, out=protocol.out.with_name("alone"))
    monkeypatch.setenv("LETORBENCH_THREADS", "1")
    run(["TOY", bench], [*algos[::-1], "regression"], [1], alone)
    assert content(protocol.out) == content(alone.out)
    stored = [read_folds(protocol.out, name, "regression") for name in ("MEMORY", "TOY")]
    for one, two in zip(*stored):
        assert np.array_equal(one.scores(56), two.scores(56))
        assert (one.fit["test"], one.fit["chosen"]) == (two.fit["test"], two.fit["chosen"])
    for fold in read_folds(protocol.out, "TOY", "mine"):
        assert len(fold.fit["validation"]["grid"]) == 2 and fold.identity["fixed"] == []
    report = run(["TOY"], [Mine(a=0.5)], [1], protocol)
    fold = report.runs[0].fold
    assert fold.fit["validation"]["grid"] == [] and fold.fit["chosen"]["a"] == 0.5
    assert fold.identity["fixed"] == ["a"] and not report.runs[0].reused
    # an instance with nothing to choose is the name with its settings
    assert run(["TOY"], ["ndcgboost[rounds=3,stumps=exact]"], [1], protocol).runs[0].reused


def test_a_time_limit_is_stored_marked_and_lifted_again(protocol):
    algos = ["listnet", "regression"]
    short = run(["TOY"], algos, [1], replace(protocol, time_limit=1e-9))
    assert [row.cut_off for row in short.frames[0].rows] == [1, 0]
    text = "the time limit of 1e-09 s cut off 3 of 3 fits"
    assert FitWarning("cut off", text) in short.runs[0].fold.warnings
    assert "cut off" not in str(short.runs[1].fold.warnings)
    fit = read_folds(protocol.out, "TOY", "listnet")[0].fit
    assert fit["cut_off"] == {"time_limit": 1e-9, "fits": 3, "of": 3}
    assert [trial["cut_off"] for trial in fit["validation"]["grid"]] == [True] * 3
    again = run(["TOY"], algos, [1], replace(protocol, time_limit=1e-9))
    assert [outcome.reused for outcome in again.runs] == [True, True]
    lifted = run(["TOY"], algos, [1], protocol)
    assert [outcome.reused for outcome in lifted.runs] == [False, True]
    assert [row.cut_off for row in lifted.frames[0].rows] == [0, 0]


def test_only_what_draws_is_repeated_and_more_repeats_only_add(protocol):
    def scores() -> dict[str, str]:
        files = sorted((protocol.out / "TOY" / SAMPLED).rglob("scores.txt"))
        return {str(path.relative_to(protocol.out)): path.read_text() for path in files}

    few = replace(protocol, repeats=1)
    run(["TOY"], [SAMPLED], [1], few)
    before = scores()
    report = run(["TOY"], ["regression", SAMPLED], [1, 2], protocol)
    done = [(*o.key[1:], o.reused) for o in report.runs]
    boosted = [(SAMPLED, r, k, r == k == 1) for r in (1, 2, 3) for k in (1, 2)]
    assert done == [("regression", 1, 1, False), ("regression", 1, 2, False), *boosted]
    boost, regression = report.frames[0].rows
    assert (regression.repeats, regression.n_repeats, boost.repeats) == (1, None, 3)
    assert len(set(scores().values())) == 6 and before.items() <= scores().items()
    first, second = (
        json.loads((protocol.out / "TOY" / SAMPLED / place / "fold1/fit.json").read_text())
        for place in (".", "repeat2")
    )
    assert "repeat" not in first["identity"] and (first["repeats"], second["repeats"]) == (1, 3)
    assert second["identity"] == {**first["identity"], "repeat": 2}


def test_features_are_what_each_ranker_needs_or_what_is_asked_for(protocol):
    shown = replace(protocol, features="auto")
    report = run(["TOY"], ["regression[l2=0.0]", "ndcgboost"], [1], shown)
    assert [o.fold.identity["features"] for o in report.runs] == ["query-minmax", "raw"]
    minmax = "query-minmax"
    for asked, algo, done, reused in (
        (minmax, "regression[l2=0.0]", minmax, False),  # another row, also if auto was so
        ("raw", ranker("regression")(features=minmax), minmax, True),  # the same row
        ("raw", "regression[l2=0.0]", "raw", False),
        ("rank", ranker("regression")(), "rank", False),  # a ranker that asks for none
    ):
        [outcome] = run(["TOY"], [algo], [1], replace(protocol, features=asked)).runs
        assert (outcome.fold.identity["features"], outcome.reused) == (done, reused)


def test_auto_asks_the_catalog_then_the_data(protocol, monkeypatch):
    monkeypatch.setattr(lb.Regression, "auto_features", "zscore")
    bench = load("TOY", protocol.data_dir)
    fold = bench.folds[0]
    calm = replace(fold, train=replace(fold.train, features=np.tanh(fold.train.features)))
    for each, fact, done in (
        (calm, False, "zscore"), (fold, True, "raw"), (calm, None, "raw"), (fold, None, "zscore"),
    ):  # fmt: skip
        known = {**bench.provenance, "normalised": fact}
        own = replace(bench, folds=(each,), provenance=known)
        [outcome] = run([own], ["regression"], [1], replace(protocol, features="auto")).runs
        assert outcome.fold.identity["features"] == done


def test_transformations_are_fitted_on_training_and_travel_with_the_model(protocol):
    """On the training part's queries that are drawn, where only a share of them is."""
    chosen = replace(protocol, features="zscore")
    folder = run(["TOY@0.5"], ["regression[l2=0.1]"], [1], chosen).runs[0].fold.folder
    fold = load("TOY", protocol.data_dir).folds[0].sampled(0.5, np.random.default_rng([0, 1]))
    done = TRANSFORMATIONS["zscore"].fit(fold.train.features)
    by_hand = lb.Regression(l2=0.1).fit(done(fold.train))
    model = load_model(folder / "model.npz")
    for file, part in (("scores.txt", fold.test), ("validation.txt", fold.validation)):
        for scores in (np.loadtxt(folder / file), model.predict(part)):
            np.testing.assert_array_equal(scores, by_hand.predict(done(part)))
    known = Validation(fold.train, convention=load("TOY", protocol.data_dir).convention)
    on_training = json.loads((folder / "fit.json").read_text())["validation"]["training"]
    assert on_training == known(model.predict(fold.train)).mean()
    before = (folder / "model.npz").read_bytes()
    path = protocol.data_dir / "TOY" / "Fold1" / "test.txt"
    path.write_text(re.sub(r" 1:\S+", " 1:1000", path.read_text()))
    assert not run(["TOY@0.5"], ["regression[l2=0.1]"], [1], chosen).runs[0].reused
    assert (folder / "model.npz").read_bytes() == before  # the test part does nothing


def test_a_damaged_fold_is_noted_and_does_not_stop_a_run(protocol):
    run(["TOY"], ["regression"], [1, 2], protocol)
    fit = protocol.out / "TOY" / "regression" / "fold2" / "fit.json"
    fit.write_text("{")
    report = run(["TOY"], ["regression"], [1], protocol)
    assert report.runs[0].reused and "fold2/fit.json: damaged" in report.notes[0]
    report = run(["TOY"], ["regression"], [1, 2], protocol)
    assert [outcome.reused for outcome in report.runs] == [True, False]
    assert json.loads(fit.read_text())


EXAMPLE = Path(__file__).parents[1] / "examples" / "my_ranker.py"
#: makes the example wait in its fit on the third fold while there is a file `hold`
WAIT = """
        import time
        from pathlib import Path
        while validation.queries.qids[0] == "1" and Path("hold").exists():
            Path("held").touch()
            time.sleep(0.05)
        relevant ="""


def test_finished_folds_are_shown_after_a_run_is_ended(tmp_path, monkeypatch):
    write_toy(tmp_path / "data")
    slow = EXAMPLE.read_text().replace('"centroid"', '"slow"').replace("\n        relevant =", WAIT)
    (tmp_path / "slow.py").write_text(slow)
    (tmp_path / "hold").touch()
    monkeypatch.chdir(tmp_path)
    words = ["run", "--dataset", "TOY", "--algo", "regression,slow", "--plugin", "slow.py"]
    process = subprocess.Popen(
        [sys.executable, "-m", "letorbench", *words],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not Path("held").exists():
        time.sleep(0.05)
    assert len(printed("table", "TOY", "--format", "csv").splitlines()) == 3
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 143 and "letorbench: error: interrupted" in errors
    left = [path.name for path in Path("results").rglob("*") if path.is_file()]
    # an empty lock file, which the next writer takes, stays where its removal was interrupted
    assert all(re.fullmatch(r"\w[\w.]*\.(txt|csv|npz|json)|\.([\w.]+\.)?lock", x) for x in left)
    slow = DatasetResults.read(tmp_path / "results", "TOY").rows[1]
    assert slow.algo == "slow" and slow.partial and 1 <= slow.folds < slow.n_folds == 5
    before = {path: path.stat().st_mtime_ns for path in Path("results").rglob("fit.json")}
    for words in (["table", "TOY"], ["plot", "TOY", "--format", "svg"], ["report", "TOY"]):
        printed(*words)
    assert {path: path.stat().st_mtime_ns for path in Path("results").rglob("fit.json")} == before
    tables = "summary.csv", "regression/folds.csv", "slow/folds.csv", "slow/per_query.csv"
    assert not any(Path("results/TOY", name).exists() for name in tables)
    (tmp_path / "hold").unlink()  # the rest is run where the run ended, and all tables are written
    forget_user_code(monkeypatch)
    words = ["run", "--dataset", "TOY", "--algo", "slow", "--plugin", "slow.py"]
    assert f"{slow.folds} of 5 folds were stored already" in printed(*words)
    assert not DatasetResults.read(tmp_path / "results", "TOY").rows[1].partial
    found = [[line[0] for line in rows(Path("results/TOY", name))[1:]] for name in tables]
    assert found[:3] == [["regression", "slow"], *2 * [["1", "2", "3", "4", "5", "mean"]]]


def test_folds_that_are_removed_in_mid_run_are_failures(protocol):
    class Removed(Processes):
        def runs(self, jobs, force=False):
            for run in super().runs(jobs, force):
                yield run
                if run.key.fold == 2:
                    shutil.rmtree(run.fold.folder)

    report = run(["TOY"], ["regression"], [1, 2, 3], protocol, Removed())
    assert [bool(each.error) for each in report.runs] == [False, True, False]
    assert exit_status(report) == 1 and report.frames[0].rows[0].folds == 2
