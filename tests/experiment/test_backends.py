"""Who runs a run: processes, shares, and the workers of a real dask scheduler."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from dask_cluster import DaskCluster, wait_for
from slow_ranker import marks, write_slow
from stored_results import content
from toy_data import write_toy

import letorbench as lb
from letorbench.errors import DataError, UsageError
from letorbench.experiment import backends, cluster
from letorbench.experiment.backends import Processes, Shard, backend_named, shard_of
from letorbench.experiment.cluster import Cluster, run_job
from letorbench.experiment.plan import Job, Protocol, Task
from letorbench.experiment.runner import run
from letorbench.rankers import plugins
from letorbench.rankers.regression import Regression
from letorbench.results.summary import read_summary
from letorbench.source import PACKAGE


@pytest.fixture
def installed(monkeypatch) -> None:
    monkeypatch.setattr(cluster, "find_spec", lambda name: object())


def test_what_is_stored_starts_no_process(tmp_path, monkeypatch):
    write_toy(tmp_path)
    protocol = Protocol(tmp_path, tmp_path / "out", repeats=1)
    first = run(["TOY"], ["regression"], [1, 2], protocol, Processes(2))
    assert not any(outcome.error or outcome.reused for outcome in first.outcomes)

    def start(*_: object) -> None:
        raise AssertionError("a process is started")

    monkeypatch.setattr(backends, "in_processes", start)
    again = run(["TOY"], ["regression"], [1, 2], protocol, Processes(2))
    assert all(outcome.reused for outcome in again.outcomes)
    with pytest.raises(AssertionError, match="is started"):
        run(["TOY"], ["regression"], None, protocol, Processes(2))


def test_backends_and_options_that_do_not_go_together(installed, monkeypatch):
    assert backend_named("local", 3, None) == Processes(3)
    assert backend_named("dask", 1, "tcp://host:8786") == Cluster("tcp://host:8786")
    for name, jobs, scheduler, message in [
        ("spark", 1, None, "unknown backend 'spark'; expected one of local, dask"),
        ("local", 1, "tcp://host:1", "expected backend dask beside it"),
        ("dask", 1, None, "expected a scheduler's address, as tcp://HOST:8786"),
        ("dask", 4, "tcp://host:1", "as many processes as its scheduler has workers"),
    ]:
        with pytest.raises(UsageError, match=message):
            backend_named(name, jobs, scheduler)
    monkeypatch.setattr(cluster, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"pip install 'letorbench\[distributed\]'"):
        backend_named("dask", 1, "tcp://host:8786")


TASKS = [
    Task(dataset, algo, fold, repeat=repeat)
    for dataset in ("A", "B")
    for algo in ("regression", "ranknet", "rankboost")
    for fold in range(1, 6)
    for repeat in range(1, 4)
]


def test_every_task_is_in_one_share():
    for of in (1, 2, 3, 7, 200):
        shares = [Shard(number, of) for number in range(1, of + 1)]
        assert all(sum(share.has(task) for share in shares) == 1 for task in TASKS)
    folds = [Task("A", "ranknet", fold) for fold in range(1, 6)]  # they go round the shares
    assert sorted(sum(Shard(n, 3).has(task) for task in folds) for n in (1, 2, 3)) == [1, 2, 2]


@pytest.mark.parametrize("text", ["", "1", "0/3", "4/3", "1/3/5", "-1/3", "a/b", "١/٣", "1/3 "])
def test_what_is_no_share_is_refused(text):
    with pytest.raises(UsageError, match="expected a form like 2/3"):
        shard_of(text)


def test_merged_shares_are_the_run(tmp_path):
    write_toy(tmp_path / "data")
    options = {"data_dir": tmp_path / "data", "repeats": 2, "fixed": ["epochs=2"]}
    algos = ["regression", "ranknet"]
    whole = lb.run("TOY", algos, out=tmp_path / "whole", **options)
    parts = [tmp_path / f"part{number}" for number in (1, 2, 3)]
    for number, part in enumerate(parts, 1):
        lb.run("TOY", algos, out=part, shard=f"{number}/3", **options)
    merged = lb.merge(parts, tmp_path / "merged")
    assert content(tmp_path / "merged") == content(tmp_path / "whole")
    assert merged.summary().equals(whole.summary())


def test_what_a_cluster_refuses(tmp_path, installed):
    class Mine(Regression):
        name = "mine"

    write_toy(tmp_path / "data")
    where = {"out": tmp_path / "out", "data_dir": tmp_path / "data", "backend": "dask"}
    bench = lb.load("TOY", data_dir=tmp_path / "data")
    with pytest.raises(UsageError, match="TOY: found data in memory"):
        lb.run(bench, "regression", scheduler="tcp://h:1", **where)
    with pytest.raises(UsageError, match="mine: found a class of this program"):
        lb.run("TOY", Mine, scheduler="tcp://h:1", **where)
    pytest.importorskip("distributed", reason="dask is not installed")
    for address in ("here", "http://host:80", "tcp://host", "tcp://a b:1"):
        with pytest.raises(UsageError, match="expected an address like tcp://HOST:8786"):
            lb.run("TOY", "regression", scheduler=address, **where)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cluster, "ANSWERS", 1)
        with pytest.raises(UsageError, match="no dask scheduler answers"):
            lb.run("TOY", "regression", scheduler="127.0.0.1:9", **where)


@pytest.fixture
def dask(tmp_path: Path) -> Iterator[DaskCluster]:
    pytest.importorskip("distributed", reason="dask is not installed")
    (tmp_path / "dask").mkdir()
    started = DaskCluster(tmp_path / "dask")
    yield started
    started.stop()


@pytest.fixture
def slow(tmp_path: Path) -> Iterator[Path]:
    """The folder of the marks of the plug-in, which is in use."""
    plugins.use(write_slow(tmp_path))
    yield tmp_path / "marks"
    plugins.FOUND.pop("slow")
    plugins._load_file.cache_clear()
    sys.modules.pop("letorbench_plugin_slow")


def test_a_worker_is_killed_and_another_comes(tmp_path, dask, slow, capfd):
    write_toy(tmp_path / "data")
    algos = ["regression", "slow", "ranknet"]
    options = {"data_dir": tmp_path / "data", "repeats": 2, "fixed": ["epochs=2"]}
    serial = lb.run("TOY", algos, out=tmp_path / "serial", **options)
    shutil.rmtree(slow)
    workers = [dask.add_worker() for _ in range(2)]

    def interfere() -> None:
        """Kill a worker in the middle of a job; hold the others until a new one had a job."""
        wait_for(lambda: bool(marks(slow, "busy")))
        killed = marks(slow, "busy")[0]
        hold = tmp_path / "hold"
        hold.write_text(" ".join(str(each.pid) for each in workers))
        os.kill(killed, signal.SIGKILL)
        added = dask.add_worker(threads=2)
        wait_for(lambda: added.pid in marks(slow, "done"))
        hold.unlink()

    meddler = threading.Thread(target=interfere)
    meddler.start()
    results = lb.run(
        "TOY", algos, out=tmp_path / "out", backend="dask", scheduler=dask.address, **options
    )
    meddler.join()
    assert content(tmp_path / "out") == content(tmp_path / "serial")
    assert results.summary().equals(serial.summary())
    assert capfd.readouterr().err.count("is run again") == 1
    assert sorted(worker.poll() is None for worker in workers) == [False, True]


def test_a_job_that_kills_its_workers_fails_and_the_others_go_on(tmp_path, dask, slow, monkeypatch):
    write_toy(tmp_path / "data")
    monkeypatch.setattr(cluster, "MOST_DEATHS", 2)
    dask.add_worker(nanny=True)
    where = {"data_dir": tmp_path / "data", "backend": "dask", "scheduler": dask.address}
    with pytest.warns(UserWarning, match="TOY, slow, fold 3: 2 workers were lost while they ran"):
        lb.run("TOY", "slow,regression", out=tmp_path / "out", fixed=["kills=true"], **where)
    rows = read_summary(tmp_path / "out", "TOY").rows
    assert {row.algo: row.folds for row in rows} == {"slow": 4, "regression": 5}


def test_workers_that_do_not_fit_get_nothing(tmp_path, dask, capfd):
    write_toy(tmp_path / "data")
    write_toy(tmp_path / "other", seed=2)
    write_toy(tmp_path / "copy")
    other = tmp_path / "source" / "letorbench"
    shutil.copytree(PACKAGE, other, ignore=shutil.ignore_patterns("__pycache__"))
    with (other / "experiment" / "task.py").open("a") as file:
        file.write("# another letorbench\n")
    reasons = {
        "it has code ": {"PYTHONPATH": str(other.parent)},
        "it has data ": {"LETORBENCH_DATA": str(tmp_path / "other")},
    }
    for environment in reasons.values():
        dask.add_worker(**environment)
    dask.wait_for_workers(2)
    where = {"data_dir": tmp_path / "data"}
    on_dask = {**where, "backend": "dask", "scheduler": dask.address}
    with pytest.raises(UsageError, match="none of the scheduler's workers fits: tcp://"):
        lb.run("TOY", "regression", out=tmp_path / "out", **on_dask)
    printed = capfd.readouterr().err
    assert all(reason in printed for reason in reasons), printed
    dask.add_worker(LETORBENCH_DATA=str(tmp_path / "copy"))
    dask.wait_for_workers(3)
    lb.run("TOY", "regression", out=tmp_path / "out", **on_dask)
    lb.run("TOY", "regression", out=tmp_path / "serial", **where)
    assert content(tmp_path / "out") == content(tmp_path / "serial")


def test_a_lost_scheduler_is_one_line_and_the_rest_is_run_later(tmp_path, dask, slow, monkeypatch):
    monkeypatch.setattr(cluster, "ANSWERS", 3)
    write_toy(tmp_path / "data")
    dask.add_worker()

    def kill() -> None:
        wait_for(lambda: bool(marks(slow, "done")))
        dask.scheduler.kill()

    killer = threading.Thread(target=kill)
    killer.start()
    where = {"data_dir": tmp_path / "data"}
    with pytest.raises(DataError, match="the scheduler is gone; what is stored stays"):
        lb.run("TOY", "slow", out=tmp_path / "out", backend="dask", scheduler=dask.address, **where)
    killer.join()
    lb.run("TOY", "slow", out=tmp_path / "out", **where)
    assert read_summary(tmp_path / "out", "TOY").rows[0].folds == 5


def test_a_job_is_sent_as_names_and_numbers(tmp_path):
    pytest.importorskip("distributed", reason="dask is not installed")
    from distributed.protocol.pickle import dumps

    write_toy(tmp_path)
    bench = lb.load("TOY", data_dir=tmp_path)
    job = Job(Task("TOY", "regression", 3), {}, None, bench, Regression).sent()
    assert (
        len(
            dumps(
                partial(
                    run_job, job, Protocol(Path("/data"), Path("/out")), (), {}, Path("/sign"), 2
                )
            )
        )
        < 2000
    )
