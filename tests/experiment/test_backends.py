"""Which backend runs a run, and what each refuses; no cluster is needed here."""

from __future__ import annotations

import socket
import time

import pytest
from toy_data import write_toy

import letorbench as lb
from letorbench.errors import UsageError
from letorbench.experiment import backends, cluster
from letorbench.experiment.backends import BACKENDS, Processes, backend
from letorbench.experiment.cluster import Cluster
from letorbench.experiment.plan import Protocol
from letorbench.experiment.runner import run
from letorbench.rankers.regression import Regression


@pytest.fixture
def installed(monkeypatch) -> None:
    monkeypatch.setattr(cluster, "find_spec", lambda name: object())


def test_a_worker_is_late_that_has_not_answered_for_long():
    long_ago = time.monotonic() - cluster.PATIENCE - 1.0
    assert not cluster._Node(1).is_late
    assert cluster._Node(1, since=long_ago).is_late
    assert not cluster._Node(1, fits=True, since=long_ago).is_late


def test_local_is_processes():
    assert backend("local", 3, None) == Processes(3)


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


def test_dask_is_a_cluster(installed):
    assert backend("dask", 1, "tcp://host:8786") == Cluster("tcp://host:8786")


@pytest.mark.parametrize(
    "name, jobs, scheduler, message",
    [
        ("spark", 1, None, "unknown backend 'spark'; expected one of local, dask"),
        ("local", 1, "tcp://host:1", "expected backend dask beside it"),
        ("dask", 1, None, "expected a scheduler's address, as tcp://HOST:8786"),
        ("dask", 4, "tcp://host:1", "as many processes as its scheduler has workers"),
    ],
)
def test_options_that_do_not_go_together(installed, name, jobs, scheduler, message):
    with pytest.raises(UsageError, match=message):
        backend(name, jobs, scheduler)


def test_every_backend_has_a_line():
    assert all(BACKENDS.values())


def test_a_missing_dask_is_one_line(monkeypatch):
    monkeypatch.setattr(cluster, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"pip install 'letorbench\[distributed\]'"):
        backend("dask", 1, "tcp://host:8786")


def test_data_in_memory_stay_here(tmp_path, installed):
    write_toy(tmp_path / "data")
    bench = lb.load("TOY", data_dir=tmp_path / "data")
    with pytest.raises(UsageError, match="TOY: found data in memory"):
        lb.run(bench, "regression", out=tmp_path / "out", backend="dask", scheduler="tcp://h:1")


def test_a_class_of_the_program_stays_here(tmp_path, installed):
    class Mine(Regression):
        name = "mine"

    write_toy(tmp_path / "data")
    where = {"data_dir": tmp_path / "data", "backend": "dask", "scheduler": "tcp://h:1"}
    with pytest.raises(UsageError, match="mine: found a class of this program"):
        lb.run("TOY", Mine, out=tmp_path / "out", **where)


@pytest.mark.parametrize("address", ["", "here", "http://host:80", "tcp://host", "tcp://a b:1"])
def test_what_is_no_address_is_refused(tmp_path, address):
    pytest.importorskip("distributed", reason="dask is not installed")
    write_toy(tmp_path / "data")
    where = {"data_dir": tmp_path / "data", "backend": "dask", "scheduler": address}
    with pytest.raises(UsageError, match="expected an address like tcp://HOST:8786"):
        lb.run("TOY", "regression", out=tmp_path / "out", **where)


def test_nobody_at_the_address(tmp_path, monkeypatch):
    pytest.importorskip("distributed", reason="dask is not installed")
    monkeypatch.setattr(cluster, "ANSWERS", 1)
    write_toy(tmp_path / "data")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    where = {"data_dir": tmp_path / "data", "backend": "dask"}
    with pytest.raises(UsageError, match="no dask scheduler answers"):
        lb.run("TOY", "regression", out=tmp_path / "out", scheduler=f"127.0.0.1:{port}", **where)
