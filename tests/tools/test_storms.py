"""Damage and full disks: a short version of `damage.py`, and what `make kills` does not do."""

import resource
import subprocess
from multiprocessing import get_context

import pytest
from conftest import refused
from damage import unnoticed
from kills import ENVIRONMENT, LETORBENCH, leftovers
from toy_data import content, write_toy

import letorbench as lb

ALGOS = "regression,classification"


def test_no_damage_goes_unnoticed():
    assert not unnoticed(3)


def test_two_runs_at_once_mix_no_fold(tmp_path):
    write_toy(tmp_path / "both/data")
    options = {"data_dir": tmp_path / "both/data", "out": tmp_path / "both/results"}
    copies = [
        get_context("fork").Process(target=lb.run, args=("TOY", ALGOS), kwargs=options)
        for _ in range(2)
    ]
    for each in copies:
        each.start()
    for each in copies:
        each.join(60.0)
    assert [each.exitcode for each in copies] == [0, 0]
    lb.run("TOY", ALGOS, **options | {"out": tmp_path / "alone"})
    assert content(tmp_path / "alone") == content(tmp_path / "both/results")
    assert not leftovers(tmp_path)


@pytest.mark.parametrize(
    "words, limit", [(f"run --dataset TOY --algo {ALGOS}", 9000), ("datasets import other", 2000)]
)
def test_files_that_may_not_grow(tmp_path, monkeypatch, words, limit):
    """The error names the file, and what is there is whole."""
    write_toy(tmp_path / "data")
    write_toy(tmp_path / "other", "MQ2008")
    monkeypatch.chdir(tmp_path)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limits[1]))
    try:
        error = refused(1, *words.split())
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert ": cannot be written: File too large" in error
    assert not leftovers(tmp_path) and not (tmp_path / "data" / "MQ2008").exists()


def test_a_full_disk_behind_the_output():
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*LETORBENCH, "datasets", "list"], stdout=full, stderr=subprocess.PIPE, text=True,
            env=ENVIRONMENT,
        )  # fmt: skip
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert "the output cannot be written: No space left on device" in done.stderr
