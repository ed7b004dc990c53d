"""Damage and full disks: a short version of `damage.py`, and what `make kills` does not do."""

import resource
import subprocess
import sys
from pathlib import Path

import pytest
from damage import unnoticed
from kills import ENVIRONMENT, LETORBENCH, commands, ended, leftovers, started
from toy_data import content, write_toy

import letorbench as lb

ALGOS = "regression,classification"
#: draws no figures, which take longer than the run
RUN_OF_PYTHON = (sys.executable, "-c", f"import letorbench as lb; lb.run('TOY', '{ALGOS}')")


def test_no_damage_goes_unnoticed() -> None:
    assert not unnoticed(3)


def test_two_runs_at_once_mix_no_fold(tmp_path: Path) -> None:
    write_toy(tmp_path / "both/data")
    first = [started(tmp_path / "both", RUN_OF_PYTHON) for _ in range(2)]
    assert [ended(each) or each.returncode for each in first] == [0, 0]
    lb.run("TOY", ALGOS, data_dir=tmp_path / "both/data", out=tmp_path / "alone")
    assert content(tmp_path / "alone") == content(tmp_path / "both/results")
    assert not leftovers(tmp_path)


@pytest.mark.parametrize("name, limit", [("run", 9000), ("import", 2000)])
def test_files_that_may_not_grow(tmp_path: Path, name: str, limit: int) -> None:
    """The error names the file, and what is there is whole."""
    write_toy(tmp_path / "data")
    write_toy(tmp_path / "other", "MQ2008")
    done = subprocess.run(
        commands("")[name].words, cwd=tmp_path, capture_output=True, text=True, env=ENVIRONMENT,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )  # fmt: skip
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert ": cannot be written: File too large" in done.stderr
    assert not leftovers(tmp_path) and not (tmp_path / "data" / "MQ2008").exists()


def test_a_full_disk_behind_the_output() -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*LETORBENCH, "datasets", "list"], stdout=full, stderr=subprocess.PIPE, text=True,
            env=ENVIRONMENT,
        )  # fmt: skip
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert "the output cannot be written: No space left on device" in done.stderr
