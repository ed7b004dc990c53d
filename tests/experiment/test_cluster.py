"""A run on the workers of a real dask scheduler: a serial run's bytes, whatever dies meanwhile."""

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
from click.testing import CliRunner
from dask_cluster import DaskCluster, wait_for
from slow_ranker import marks, write_slow
from stored_results import content
from toy_data import write_toy

import letorbench as lb
from letorbench.cli import cli
from letorbench.errors import DataError, UsageError
from letorbench.experiment import cluster
from letorbench.experiment.cluster import run_cell
from letorbench.experiment.plan import Protocol, Task
from letorbench.experiment.task import Worker
from letorbench.rankers import plugins
from letorbench.source import PACKAGE

pytest.importorskip("distributed", reason="dask is not installed")


@pytest.fixture
def dask(tmp_path: Path) -> Iterator[DaskCluster]:
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
    plugins._file.cache_clear()
    sys.modules.pop("letorbench_plugin_slow")


def test_a_worker_is_killed_and_another_comes(tmp_path, dask, slow, capfd):
    write_toy(tmp_path / "data")
    algos = ["regression", "slow", "ranknet"]
    options = {"data_dir": tmp_path / "data", "repeats": 2, "fixed": ["epochs=2"]}
    lb.run("TOY", algos, out=tmp_path / "serial", **options)
    shutil.rmtree(slow)
    workers = [dask.add_worker() for _ in range(3)]

    def interfere() -> None:
        """Kill a worker in the middle of a cell; hold the others until a new one had a cell."""
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
    found = lb.run(
        "TOY", algos, out=tmp_path / "out", backend="dask", scheduler=dask.address, **options
    )
    meddler.join()
    assert content(tmp_path / "out") == content(tmp_path / "serial")
    assert found.summary().equals(lb.results(tmp_path / "serial").summary())
    said = capfd.readouterr().err
    assert "cells run again, since their workers were lost: 1 (" in said, said
    assert sorted(worker.poll() is None for worker in workers) == [False, True, True]


def test_a_cell_that_kills_its_workers_fails_and_the_others_go_on(
    tmp_path, dask, slow, monkeypatch
):
    write_toy(tmp_path / "data")
    monkeypatch.setattr(cluster, "MOST_DEATHS", 2)
    dask.add_worker(nanny=True)
    words = ["run", "--dataset", "TOY", "--algo", "slow,regression", "--set", "kills=true",
             "--data-dir", str(tmp_path / "data"), "--out", str(tmp_path / "out"),
             "--backend", "dask", "--scheduler", dask.address]  # fmt: skip
    ended = CliRunner().invoke(cli, words)
    assert ended.exit_code == 1
    assert "TOY, slow, fold 3: 2 workers were lost while they ran it" in ended.stderr
    rows = lb.results(tmp_path / "out").summaries[0].rows
    assert {row.algo: row.folds for row in rows} == {"slow": 4, "regression": 5}


def test_workers_that_do_not_fit_get_nothing(tmp_path, dask, capfd):
    write_toy(tmp_path / "data")
    write_toy(tmp_path / "other", seed=2)
    write_toy(tmp_path / "copy")
    other = tmp_path / "source" / "letorbench"
    shutil.copytree(PACKAGE, other, ignore=shutil.ignore_patterns("__pycache__"))
    with (other / "cli" / "run.py").open("a") as file:
        file.write("# another letorbench\n")
    reasons = {
        "it has letorbench's source": {"PYTHONPATH": str(other.parent)},
        "found other data in TOY": {"LETORBENCH_DATA": str(tmp_path / "other")},
        "cannot open TOY": {"LETORBENCH_DATA": str(tmp_path / "nowhere")},
    }
    for environment in reasons.values():
        dask.add_worker(**environment)
    dask.wait_for_workers(3)
    where = {"data_dir": tmp_path / "data"}
    on_dask = {**where, "backend": "dask", "scheduler": dask.address}
    with pytest.raises(UsageError, match="none of the scheduler's workers fits: tcp://"):
        lb.run("TOY", "regression", out=tmp_path / "out", **on_dask)
    said = capfd.readouterr().err
    assert all(reason in said for reason in reasons), said
    dask.add_worker(LETORBENCH_DATA=str(tmp_path / "copy"))
    dask.wait_for_workers(4)
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
    assert lb.results(tmp_path / "out").summaries[0].rows[0].folds == 5


def test_a_cell_is_sent_as_names_and_numbers():
    from distributed.protocol.pickle import dumps

    worker = Worker(Protocol(Path("/data"), Path("/results")))
    assert len(dumps(partial(run_cell, Task("MSLR-WEB30K", "lambdarank", 3), worker))) < 2000
