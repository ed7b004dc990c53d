"""A run that goes on, or was killed, shows the folds that it has finished."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from slow_ranker import marks, write_slow
from toy_data import write_toy

from letorbench.cli import cli
from letorbench.errors import DataError, WriteError
from letorbench.experiment.plan import Protocol
from letorbench.experiment.runner import run
from letorbench.results import read_per_query, read_summary, summary_frame
from letorbench.results.store import write_fold
from letorbench.results.summary import write_tables


@pytest.mark.parametrize("jobs", [1, 2])
def test_finished_folds_are_shown_after_a_kill(tmp_path: Path, monkeypatch, jobs: int) -> None:
    write_toy(tmp_path / "data")
    write_slow(tmp_path)
    (tmp_path / "hold").write_text("query-1")  # the third fold's fit
    monkeypatch.chdir(tmp_path)
    words = ["run", "--dataset", "TOY", "--algo", "regression,slow", "--plugin", "slow.py"]
    process = subprocess.Popen(
        [sys.executable, "-m", "letorbench", *words, "--jobs", str(jobs)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    deadline = time.monotonic() + 60
    summary = tmp_path / "results" / "TOY" / "summary.csv"
    while time.monotonic() < deadline:
        if marks(Path("marks"), "held") and summary.is_file() and "slow" in summary.read_text():
            break
        time.sleep(0.05)
    running = CliRunner().invoke(cli, ["table", "TOY", "--format", "csv"])
    assert running.exit_code == 0 and len(running.stdout.splitlines()) == 3
    os.killpg(process.pid, signal.SIGKILL)
    process.wait(timeout=60)

    found = read_summary(tmp_path / "results", "TOY")
    slow = found.rows[1]
    assert [row.algo for row in found.rows] == ["regression", "slow"]
    assert slow.partial and 1 <= slow.folds < slow.n_folds == 5
    assert f"slow: folds {slow.folds} of 5" in found.partial
    before = {path: path.stat().st_mtime_ns for path in Path("results").rglob("fit.json")}
    for words in (["table", "TOY"], ["plot", "TOY", "--format", "svg"], ["report", "TOY"]):
        shown = CliRunner().invoke(cli, words)
        assert shown.exit_code == 0, (words, shown.output)
        if words[0] == "table":
            assert f"slow ({slow.folds} of 5 folds)" in shown.output, shown.output
    assert {path: path.stat().st_mtime_ns for path in Path("results").rglob("fit.json")} == before
    for name in ("folds.csv", "per_query.csv"):
        lines = (Path("results/TOY/slow") / name).read_text().splitlines()[1:]
        folds = {line.partition(",")[0] for line in lines} - {"mean"}
        assert len(folds) == slow.folds
    # the same folds can be compared, and the rest is run where the run ended
    (tmp_path / "hold").unlink()
    rest = subprocess.run(
        [sys.executable, "-m", "letorbench", "run", "--dataset", "TOY", "--algo", "slow",
         "--plugin", "slow.py"],
        capture_output=True, text=True,
    )  # fmt: skip
    assert f"{slow.folds} of 5 folds were stored already" in rest.stdout, rest.stderr
    assert not read_summary(tmp_path / "results", "TOY").rows[1].partial


def test_copies_grow_with_every_fold(tmp_path: Path, monkeypatch) -> None:
    write_toy(tmp_path / "data")
    protocol = Protocol(tmp_path / "data", tmp_path / "results")
    seen: list[list[str]] = []

    def look(store, dataset, algos):
        write_tables(store, dataset, algos)
        lines = (store.out / "TOY" / "regression" / "folds.csv").read_text().splitlines()
        seen.append([line.partition(",")[0] for line in lines])

    monkeypatch.setattr("letorbench.experiment.runner.write_tables", look)
    run(["TOY"], ["regression"], [1, 2, 4], protocol)
    assert seen[:3] == [
        ["fold", "1", "mean"], ["fold", "1", "2", "mean"], ["fold", "1", "2", "4", "mean"]
    ]  # fmt: skip
    frame = summary_frame(protocol.out)
    assert frame.folds.tolist() == [3] and frame.partial.all()


def test_a_damaged_fold_is_said_and_does_not_stop_a_run(tmp_path: Path) -> None:
    write_toy(tmp_path / "data")
    protocol = Protocol(tmp_path / "data", tmp_path / "results")
    run(["TOY"], ["regression"], [1, 2], protocol)
    fit = tmp_path / "results" / "TOY" / "regression" / "fold2" / "fit.json"
    fit.write_text("{")
    report = run(["TOY"], ["regression"], [1], protocol)
    assert report.outcomes[0].reused and "fold2/fit.json: damaged" in report.notes[0]
    report = run(["TOY"], ["regression"], [1, 2], protocol)
    assert [outcome.reused for outcome in report.outcomes] == [True, False]
    assert json.loads(fit.read_text())
    assert len(read_per_query(protocol.out, "TOY", "regression").qids) == 16


def test_a_full_disk_ends_the_run_with_one_line(tmp_path: Path, monkeypatch) -> None:
    write_toy(tmp_path / "data")
    protocol = Protocol(tmp_path / "data", tmp_path / "results")
    seen = []

    def write(folder, result):
        seen.append(folder.name)
        if folder.name == "fold3":
            raise WriteError(folder / "scores.txt", OSError(28, "No space left on device"))
        return write_fold(folder, result)

    monkeypatch.setattr("letorbench.experiment.task.write_fold", write)
    with pytest.raises(DataError, match="fold3/scores.txt: cannot be written: No space left"):
        run(["TOY"], ["regression"], None, protocol)
    assert seen == ["fold1", "fold2", "fold3"]  # no other fold could be stored either
    assert read_summary(protocol.out, "TOY").rows[0].folds == 2
