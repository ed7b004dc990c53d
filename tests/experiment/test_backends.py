"""Who runs a run, and on what: processes, shares of the tasks, shares of the training queries."""

import errno
import logging
import os
import pickle
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future
from functools import partial
from itertools import product
from pathlib import Path
from threading import Lock
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from conftest import forget_user_code, places, printed, refused
from sklearn.ensemble import RandomForestRegressor
from toy_data import content, write_toy

import letorbench as lb
from letorbench.errors import DataError, UsageError
from letorbench.experiment import backends
from letorbench.experiment import job as running
from letorbench.experiment.backends import Processes, Shard, in_processes
from letorbench.experiment.plan import Job, Protocol, systems_of
from letorbench.experiment.run import run_systems
from letorbench.rankers import plugins
from letorbench.results.labels import Label
from letorbench.results.paths import FoldKey


def test_what_is_stored_starts_no_process(tmp_path, monkeypatch):
    write_toy(tmp_path)
    protocol = Protocol(data_dir=tmp_path, out=tmp_path / "out", repeats=1)
    first = run_systems(["TOY"], systems_of("regression"), [1, 2], protocol)
    assert not any(each.error or each.reused for each in first.runs)
    monkeypatch.setattr(backends, "in_processes", None)
    again = run_systems(["TOY"], systems_of("regression"), [1, 2], protocol, Processes(2))
    assert all(each.reused for each in again.runs)


def job_of(dataset: str, algo: str, fold: int, repeat: int = 1) -> Job:
    key = FoldKey(dataset, algo, repeat, fold)
    return Job(key, Label(algo), {}, Protocol(data_dir=Path(), out=Path()), Path())


def test_every_job_is_in_one_share():
    jobs = [job_of(*each) for each in product("AB", ("regression", "ranknet"), range(1, 6), (1, 2))]
    for of in (1, 3, 7):
        shares = [Shard(number, of) for number in range(1, of + 1)]
        assert all(sum(share.has(job) for share in shares) == 1 for job in jobs)
    folds = [job_of("A", "ranknet", fold) for fold in range(1, 6)]  # they go round the shares
    assert sorted(sum(Shard(n, 3).has(job) for job in folds) for n in (1, 2, 3)) == [1, 2, 2]
    assert "little memory" in backends._lost(jobs[0], "was ended by SIGKILL").error


def test_draws_of_the_folds_are_resumed_and_shared_as_any_run(tmp_path, monkeypatch):
    """A run that is ended in the middle, shards, and data in memory leave the same bytes."""
    write_toy(tmp_path / "data")
    options = {"data_dir": tmp_path / "data", "resplit": 2}
    algos = "regression"
    plain = lb.run("TOY", algos, out=tmp_path / "plain", **{**options, "resplit": 0})
    whole = lb.run("TOY", algos, out=tmp_path / "whole", **options)
    assert whole.datasets == lb.load_results(whole.out).datasets == ["TOY"]
    assert content(whole.out / "TOY") == content(plain.out / "TOY")
    for number in (1, 2):
        lb.run("TOY", algos, out=tmp_path / "shards", shard=f"{number}/2", **options)
    lb.run("TOY", algos, out=tmp_path / "shards", **options)
    lb.run(lb.load("TOY", tmp_path / "data"), algos, out=tmp_path / "held", **options)
    done, choose = [], running.select

    def select(*given, **named):
        if len(done) == 7:  # of 15 trainings
            raise KeyboardInterrupt
        done.append(given)
        return choose(*given, **named)

    monkeypatch.setattr(running, "select", select)
    with pytest.raises(KeyboardInterrupt):
        lb.run("TOY", algos, out=tmp_path / "ended", **options)
    done.append(None)
    lb.run("TOY", algos, out=tmp_path / "ended", **options)
    assert len(done) == 16
    for other in ("shards", "held", "ended"):
        assert content(tmp_path / other) == content(whole.out)
    assert "0 problems" in printed("verify", str(whole.out), "--data-dir", str(tmp_path / "data"))
    drawn = lb.load("TOY@split1", tmp_path / "data")
    for data, wrong in ((drawn, 1), ("TOY", -1), ("TOY", True), ("TOY", "2")):
        with pytest.raises(lb.UsageError, match="^(TOY@split1|resplit): found"):
            lb.run(data, algos, data_dir=tmp_path / "data", out=tmp_path / "no", resplit=wrong)


PLUGIN = """
from dataclasses import dataclass
import numpy as np
from letorbench.models import Linear
from letorbench.rankers import FitResult, Ranker

@dataclass
class Mine(Ranker):
    "The mean of the features."
    name = "mine"
    grid = {"sign": (-1.0, 1.0)}
    sign: float = 1.0

    def learn(self, train, validation, rng):
        return FitResult(Linear(self.sign * np.ones(train.n_features)))

def squares(scores, labels):
    return ((scores - labels) ** 2).sum(), 2.0 * (scores - labels)
"""


def first(y_true, y_score):
    return float(y_true[y_score.argmax()])


def fails(y_true, y_score):
    return y_true[99]


class Elsewhere(Executor):
    """Calls at once, in this process that then sees neither the plug-in files nor some data."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, hidden: Path | None = None) -> None:
        self.monkeypatch, self.hidden, self.calls = monkeypatch, hidden, 0

    def submit(self, call, payload: bytes) -> Future:
        self.calls += 1
        future: Future = Future()
        with self.monkeypatch.context() as patch:
            forget_user_code(patch)
            if self.hidden:
                self.hidden.rename(self.hidden.with_name("hidden"))
            try:
                future.set_result(call(payload))
            except Exception as error:
                future.set_exception(error)
            if self.hidden:
                self.hidden.with_name("hidden").rename(self.hidden)
        return future


ASKED = {
    "net": lb.RankNet(epochs=2), "mine": "mine", "own": "recipe[loss=squares,iterations=20]",
    "forest": RandomForestRegressor(3, random_state=0), "regression": "regression",
}  # fmt: skip


def asked_of(folder: Path, patch: pytest.MonkeyPatch) -> dict[str, object]:
    """Go to a folder with a plug-in; return what a run asks for."""
    patch.chdir(folder)
    forget_user_code(patch)
    plugins.load_file(folder / "theirs.py")
    return {"algos": ASKED, "folds": [1, 3], "repeats": 2, "measures": [first, "ndcg@20"]}


@pytest.fixture(scope="module")
def in_one_process(tmp_path_factory):
    folder = tmp_path_factory.mktemp("local")
    write_toy(folder / "data")
    (folder / "theirs.py").write_text(PLUGIN)
    with pytest.MonkeyPatch.context() as patch:
        lb.run("TOY", out="local", **asked_of(folder, patch))
    return folder


@pytest.fixture
def local(in_one_process, tmp_path, monkeypatch):
    """What a run asks for; the results of one process are under `local`."""
    shutil.copytree(in_one_process, tmp_path, dirs_exist_ok=True)
    return asked_of(tmp_path, monkeypatch)


def test_a_class_that_cannot_be_sent_is_named_before_anything_runs(tmp_path):
    write_toy(tmp_path)
    lock = Lock()

    class Held:
        def fit(self, X, y):
            with lock:
                return self

        def predict(self, X):
            return X[:, 0]

    options = {"data_dir": tmp_path, "out": tmp_path / "out", "folds": [1, 2], "repeats": 1}
    said = "^Held: cannot be sent to another process .*cannot pickle '_thread.lock' object.*jobs=1"
    with pytest.raises(UsageError, match=said):
        lb.run("TOY", ["random", Held()], jobs=2, **options)
    assert not list(tmp_path.rglob("fit.json"))
    assert len(lb.run("TOY", Held(), **options).per_query()) == 16


@pytest.mark.parametrize("without", [None, "data", "theirs.py"])
def test_an_executors_files_are_those_of_one_process(local, tmp_path, monkeypatch, without):
    """Without data where the workers are these go with the jobs, which are sent again."""
    executor = Elsewhere(monkeypatch, tmp_path / without if without else None)
    lb.run("TOY", executor=executor, out="away", **local)
    assert content(tmp_path / "away") == content(tmp_path / "local")
    jobs = 2 * 6  # two folds, and the net's second seed
    assert executor.calls == (2 if without == "data" else 1) * jobs
    lb.run("TOY", executor=executor, out="away", **local)  # all of it is stored
    lb.run("TOY", executor=executor, out="away", **{**local, "measures": ["rho"]})
    assert executor.calls == (2 if without == "data" else 1) * jobs
    assert not lb.load_results("away").summary()["rho"].isna().any()
    if without is None:  # data in memory are sent at once, those of the fold alone
        sent, submit = [], Elsewhere.submit

        def spied(self, call, payload):
            sent.append([fold.number for fold in pickle.loads(payload)[0].benchmark.folds])
            return submit(self, call, payload)

        monkeypatch.setattr(Elsewhere, "submit", spied)
        lb.run(lb.load("TOY"), executor=executor, out="memory", **local)
        assert content(tmp_path / "memory") == content(tmp_path / "local")
        assert sorted(sent) == jobs // 2 * [[1]] + jobs // 2 * [[3]]


def test_other_data_on_a_worker_are_not_taken_for_those_asked_for(local, tmp_path, monkeypatch):
    write_toy(tmp_path / "else", seed=9)
    loaded = running.benchmark_of
    other = loaded("TOY", Protocol(data_dir=tmp_path / "else", out=tmp_path))
    monkeypatch.setattr(running, "benchmark_of", lambda *_: other)
    lb.run("TOY", executor=Elsewhere(monkeypatch), out="away", **local)
    assert content(tmp_path / "away") == content(tmp_path / "local")


def test_what_goes_wrong_on_a_worker_is_a_line_of_its_job(local, tmp_path, monkeypatch):
    executor = Elsewhere(monkeypatch)
    good = {"data": "TOY", "algos": "regression", "folds": [1], "out": "bad"}
    gone: Future = Future()
    gone.cancel(), gone.set_running_or_notify_cancel()
    for where, name, instead, said in (
        (running, "is_current", lambda identity: False, "found other code of letorbench"),
        (running, "select", lambda *_: 1 / 0, "^TOY, regression, fold 1: ZeroDivisionError: div"),
        (Elsewhere, "submit", lambda *_: 1 / 0, "the executor failed: ZeroDivisionError"),
        (Elsewhere, "submit", lambda *_: gone, "the executor has cancelled it"),
    ):
        with monkeypatch.context() as patch, pytest.raises((DataError, UsageError), match=said):
            patch.setattr(where, name, instead)
            lb.run(executor=executor, **good)
    with monkeypatch.context() as patch:  # a measure that fails costs no training
        bad = {**good, "measures": [fails], "out": "measured"}
        with pytest.raises(DataError, match="measure fails: IndexError"):
            lb.run(executor=executor, **bad)
        patch.setattr(running, "_fit_and_score", None)
        lb.run(**{**bad, "measures": [first]})
    for wrong in ({"executor": 3}, {"executor": executor, "jobs": 2}):
        with pytest.raises(UsageError, match="executor"):
            lb.run(**good, **wrong)
    assert not list((tmp_path / "bad").rglob("fit.json"))
    waiting: Future = Future()  # what stops the run gives the others back
    monkeypatch.setattr(Elsewhere, "submit", lambda *_: waiting)
    monkeypatch.setattr(backends, "wait", Mock(side_effect=KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        lb.run(executor=executor, **good)
    assert waiting.cancelled()


def test_a_cluster_that_is_not_there_is_one_line(tmp_path, monkeypatch):
    write_toy(tmp_path / "data")
    words = ["run", "--dataset", "TOY", "--algo", "regression", *places(tmp_path)]
    for wrong in (["--backend", "dask"], ["--scheduler", "x"], ["--scheduler", ""]):
        assert "expected dask and an address together" in refused(2, *words, *wrong)
    there = [*words, "--backend", "dask", "--scheduler"]
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "distributed", None)
        assert "'letorbench[distributed]'` installs it" in refused(2, *there, "tcp://127.0.0.1:1")
    pytest.importorskip("distributed", reason="needs dask: pip install 'letorbench[distributed]'")
    assert "'': expected dask and an address together" in refused(2, *there, "")
    assert "x: no dask scheduler there: missing port" in refused(1, *there, "x")
    # of a scheduler that is killed the client's own logger would print a traceback
    assert not logging.getLogger("distributed.client").isEnabledFor(logging.CRITICAL)


def test_a_run_without_workers_says_so_and_ends(tmp_path, monkeypatch, capsys):
    """As long as no worker has a task; dask's client tells which have one."""
    write_toy(tmp_path)
    monkeypatch.setattr(backends, "PATIENCE", 0.01)
    monkeypatch.setattr(backends, "LIMIT", 0.03)
    monkeypatch.setattr(Elsewhere, "submit", lambda *_: Future())
    executor, none, busy = Elsewhere(monkeypatch), {"worker": ()}, {"worker": ("task",)}
    executor._client = Mock()
    executor._client.processing.side_effect = [{}, none, busy, none, none, {}]
    run = partial(lb.run, "TOY", "regression", data_dir=tmp_path, out=tmp_path / "out")
    with pytest.raises(DataError, match="no worker has taken any of 5 folds for 0 s"):
        run(executor=executor)
    assert capsys.readouterr().err.count("note: no worker has taken any of 5 folds") == 2
    waits = Mock(side_effect=[*3 * [Mock(done=())], KeyboardInterrupt])
    monkeypatch.setattr(backends, "wait", waits)
    with pytest.raises(KeyboardInterrupt):  # another executor cannot be asked
        run(executor=Elsewhere(monkeypatch))


@pytest.fixture
def seen(tmp_path, monkeypatch):
    """The queries of each part that each trial is given, by algorithm and run."""
    found: dict[tuple, list[list[str]]] = {}
    choose = running.select

    def select(cls, fixed, train, validation, *others):
        parts = [part.qids.tolist() for part in (train, validation.queries)]
        found.setdefault((cls.name, len(parts[0])), []).append(parts)
        return choose(cls, fixed, train, validation, *others)

    monkeypatch.setattr(running, "select", select)
    monkeypatch.chdir(tmp_path)
    write_toy(tmp_path / "data")
    return found


def test_shares_are_nested_and_the_same_for_every_algorithm(seen):
    results = lb.run("TOY", ["regression", "best-feature"], share=[0.25, 0.5, 1], folds=[2])
    fold = lb.load("TOY").folds[1]
    assert results.datasets == ["TOY@0.25", "TOY@0.5", "TOY"]
    few, half, whole = (seen["regression", n][0] for n in (6, 12, 24))
    assert set(few[0]) < set(half[0]) < set(whole[0]) and whole[0] == fold.train.qids.tolist()
    assert half[0] == [qid for qid in whole[0] if qid in half[0]]
    assert few[1] == half[1] == whole[1] == fold.validation.qids.tolist()
    assert [seen["best-feature", n][0] for n in (6, 12, 24)] == [few, half, whole]
    lb.run(lb.load("TOY"), "regression", share=0.5, folds=[2], out="held")
    lb.run(lb.load("TOY@0.5"), "regression", folds=[2, 3], out="held", seed=1)
    again, other_seed, other_fold = seen["regression", 12][1:]
    assert again == half and other_seed[0] != half[0]
    last = lb.load("TOY").folds[2]
    drawn = [np.isin(f.train.qids, own[0]) for f, own in ((fold, other_seed), (last, other_fold))]
    assert drawn[0].sum() == drawn[1].sum() == 12 and (drawn[0] != drawn[1]).any()
    # each share is scored by the model of its own queries
    scores = {n: results.only(n).scores()["regression"].to_numpy() for n in results.datasets}
    assert len({tuple(own) for own in scores.values()}) == 3
    lb.run("TOY", "best-feature", folds=[3])  # NaN where an algorithm has no fold
    kept = lb.load_results().only("TOY").scores().groupby("fold")[["best-feature", "regression"]]
    assert kept.count().to_numpy().tolist() == [[56, 56], [56, 0]]


#: starts two processes that note who they are, then wait
SCRIPT = """
import os, sys, time
from pathlib import Path
from typing import Any
from letorbench.experiment.backends import in_processes

def wait(folder):
    (Path(folder) / str(os.getpid())).touch()
    time.sleep(60)

list(in_processes(wait, [sys.argv[1]] * 2, 2, print))
"""


def never(item: object, how: str) -> None:
    raise AssertionError(f"{item} is lost")


def ended(call: Callable[[], bool], seconds: float = 10.0) -> bool:
    end = time.monotonic() + seconds
    while not call():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def alive(process: int) -> bool:
    """Whether a process is there that is not a zombie."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_every_item_has_its_result_and_an_error_is_raised_here(monkeypatch):
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)

    def where(item: int) -> tuple[int, int]:
        if item > 9:
            raise ValueError(f"item {item}")
        return item, os.getpid()

    idle: list[Any] = []
    found = list(in_processes(where, range(7), 2, never, idle))
    assert sorted(item for item, _ in found) == list(range(7))
    numbers = {process for _, process in found}
    assert len(numbers) <= 2 and os.getpid() not in numbers
    assert {process for _, process in in_processes(where, range(4), 2, never, idle)} <= numbers
    assert list(in_processes(os.getenv, ["PYTHONSAFEPATH"], 1, never, idle)) == [None]
    assert "PYTHONSAFEPATH" not in os.environ
    with pytest.raises(ValueError, match="item 13"):
        list(in_processes(where, [13], 1, never, idle))
    for pool in idle:
        pool.shutdown()
    assert ended(lambda: not any(map(alive, numbers)))


def test_a_lost_process_costs_its_call_alone(tmp_path):
    def die(item: int) -> str:
        (tmp_path / str(os.getpid())).touch()
        if item == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        if item == 2:
            os._exit(3)
        return f"item {item}"

    found = list(in_processes(die, [1, 2, 0], 2, lambda item, how: f"{item} {how}"))
    assert sorted(found) == ["1 was ended by SIGKILL", "2 ended with status 3", "item 0"]
    assert ended(lambda: not any(alive(int(name)) for name in os.listdir(tmp_path)))


#: a script's function, from a module beside it, called in another process
BESIDE = """
import sys
from helper import where
from letorbench.experiment.backends import in_processes
print(*in_processes(where, [1], 1, print))
"""


def test_the_current_folder_is_not_imported_from_and_the_scripts_is(tmp_path):
    (tmp_path / "script.py").write_text(BESIDE)
    (tmp_path / "helper.py").write_text("import os\ndef where(n): return n, os.getcwd()")
    (tmp_path / "here").mkdir()
    for name in {*sys.stdlib_module_names, "letorbench", "cloudpickle", "loky", "psutil", "numpy"}:
        (tmp_path / "here" / f"{name}.py").write_text(f"raise SystemExit('{name} was run')")
    done = subprocess.run(
        [sys.executable, tmp_path / "script.py"], cwd=tmp_path / "here", text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    assert done.stdout == f"(1, '{tmp_path / 'here'}')\n"


@pytest.mark.parametrize("missing", [errno.EMFILE, errno.ENOSPC])
def test_what_keeps_a_process_from_starting_is_one_line(missing, monkeypatch):
    monkeypatch.setenv("PYTHONSAFEPATH", "own")
    before = dict(os.environ)
    no = OSError(missing, os.strerror(missing))
    monkeypatch.setattr("loky.ProcessPoolExecutor", Mock(side_effect=no))
    with pytest.raises(DataError, match=re.escape(os.strerror(missing))):
        list(in_processes(str, [3], 2, never))
    assert dict(os.environ) == before


def test_who_stops_listening_ends_the_processes(tmp_path):
    def work(item: int) -> None:
        if item:
            (tmp_path / str(os.getpid())).touch()
            time.sleep(60)

    results = in_processes(work, [0, 1], 2, never)
    next(results)
    assert ended(lambda: bool(os.listdir(tmp_path)))
    results.close()
    assert ended(lambda: not any(alive(int(name)) for name in os.listdir(tmp_path)))


def test_the_end_of_a_run_ends_its_processes(tmp_path):
    process = subprocess.Popen([sys.executable, "-c", SCRIPT, tmp_path], start_new_session=True)
    assert ended(lambda: len(os.listdir(tmp_path)) == 2, 60)
    process.kill()
    process.wait()
    assert ended(lambda: not any(alive(int(name)) for name in os.listdir(tmp_path)))
