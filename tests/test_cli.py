"""The command line: what it prints, where, and how it ends."""

import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from conftest import call, printed, refused
from toy_data import store_fold, write_toy

import letorbench as lb
from letorbench.cli import cli


@pytest.fixture
def toy(tmp_path, monkeypatch) -> Path:
    """A folder with data/TOY in it, as the current one."""
    write_toy(tmp_path / "data")
    monkeypatch.chdir(tmp_path)
    return tmp_path


RUN = "run --dataset TOY --algo ndcgboost --folds 1"


@pytest.mark.parametrize("words", ["rnu", "table nothing", f"{RUN} --set sample=5"])
def test_debug_shows_a_traceback_beside_the_error(toy, words):
    error, debugged = call(*words.split()).stderr, call(*words.split(), "--debug").stderr
    assert printed() == printed("--help")
    assert "Traceback" not in error and "Traceback" in debugged and error in debugged


@pytest.mark.parametrize("words", ["", " --set sample=5"])
def test_quiet_leaves_the_errors_alone(toy, words):
    command = f"{RUN} --repeats 2{words}".split()
    loud, quiet = call(*command), call(*command, "-q")
    errors = [line for line in loud.stderr.splitlines() if ": error: " in line]
    assert quiet.stderr.splitlines() == errors and quiet.exit_code == loud.exit_code
    assert ": note: " in loud.stderr or words


def test_a_seed_changes_nothing_where_nothing_is_drawn(toy):
    """It draws the queries of a fraction."""
    words = "run --dataset TOY --algo regression --folds 1 --seed 1 --repeats 2".split()
    assert "note: --seed and --repeats" in call(*words).stderr
    assert "note: --repeats" in call(*words, "--share", "0.5").stderr


def test_run_table_plot(toy):
    write_toy(toy / "data", "OTHER", seed=2)
    result = call("run", "--dataset", "all", "--algo", "regression,ndcgboost")
    assert result.exit_code == 0, result.stderr
    folder = toy / "results" / "TOY"
    for name in ("summary.csv", "ndcg.png", "regression/per_query.csv"):
        assert (folder / name).is_file()
    assert not list(toy.rglob("ndcg.[sp][vd][gf]"))
    assert "OTHER: mean over 5 folds" in result.stdout
    assert call("plot").exit_code == 0
    figure = (toy / "results" / "ndcg.svg").read_text()
    assert "TOY dataset" in figure and "OTHER dataset" in figure
    assert call("table", "TOY").stdout in result.stdout
    csv = call("table", "TOY", "--format", "csv").stdout
    header, *lines = (folder / "summary.csv").read_text().splitlines()
    assert csv.splitlines() == ["dataset," + header, *("TOY," + line for line in lines)]
    before = (folder / "ndcg.png").read_bytes()
    assert call("plot", "TOY").exit_code == 0 and (folder / "ndcg.png").read_bytes() == before
    drawn = (folder / "ndcg.svg").read_text()
    assert call("run", "--dataset", "TOY", "--algo", "listnet", "--folds", "1").exit_code == 0
    assert "listnet" in (folder / "ndcg.svg").read_text() and "listnet" not in drawn


def test_algos():
    listed = call("algos").stdout
    names = [line.split()[0] for line in listed.splitlines() if line.startswith("  ")]
    assert sorted(names) == lb.algorithms()
    for name in names:
        shown = call("algos", name).stdout
        assert "paper " in shown and "formula " in shown


def test_a_wrong_number_of_threads_is_refused_before_any_work(toy, monkeypatch):
    monkeypatch.setenv("LETORBENCH_THREADS", "0")
    said = "letorbench: error: LETORBENCH_THREADS=0: expected a number of threads, 1 to 9999\n"
    assert [refused(2, *line.split()) for line in (RUN, "algos random")] == [said, said]


@pytest.mark.parametrize(
    "line, names",
    [
        ("run --dataset T", ["TOY"]),
        ("external --dataset ", ["TOY", "DEMO", "all"]),
        ("run --data-dir nowhere --dataset T", []),
        ("table ", ["A", "B", "all"]),
        ("report --out nowhere ", ["all"]),
        ("compare A --baseline ", ["regression"]),
        ("table --algo ndcgboost,R", ["ndcgboost,regression"]),
        ("algos bas", ["baselines"]),
        ("reproduce l", ["lambdarank-2006", "lecture-2018"]),
        ("reproduce lecture-2018 --part ", ["examples", "lists", "pipeline"]),
        ("reproduce all --part examples", ["examples"]),
        ("run --algo regression,ndcgb", ["regression,ndcgboost"]),
        ("run --algo NDCGBOOST,NDCGB", []),
        ("datasets show mslr", ["MSLR-WEB10K", "MSLR-WEB30K"]),
        ("reproduce lambdarank-2006 --part figure-", ["figure-1", "figure-2", "figure-3"]),
    ],
)
def test_completion_as_bash_asks_for_it(toy, line, names):
    store_fold(toy / "results", "A", "regression", 1, {"map": 0.5})
    store_fold(toy / "results", "B", "ndcgboost", 1, {"map": 0.5})
    words = f"letorbench {line}"
    env = {"_LETORBENCH_COMPLETE": "bash_complete", "COMP_WORDS": words}
    env["COMP_CWORD"] = str(words.count(" "))
    out = CliRunner().invoke(cli, [], prog_name="letorbench", env=env).stdout
    assert [name for row in out.splitlines() if (name := row.partition(",")[2])] == names


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_for_a_shell_asks_in_the_shells_form(shell):
    assert f"_LETORBENCH_COMPLETE={shell}_complete" in call("completion", shell).stdout
    assert call("completion", "csh").exit_code == 2


@pytest.mark.parametrize("signal, status", [("KeyboardInterrupt", 130), ("Terminated", 143)])
def test_a_signal_ends_a_process_whose_other_threads_hang(signal, status):
    code = """
import threading
from letorbench import cli
from letorbench.cli.group import Terminated
threading.Thread(target=threading.Event().wait).start()
def interrupted(*arguments, **settings):
    raise SIGNAL
cli.cli.invoke = interrupted
cli.main()
"""
    done = subprocess.run(
        [sys.executable, "-c", code.replace("SIGNAL", signal), "algos"],
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == status
    assert done.stderr.endswith("interrupted; what is written is complete: run it again to go on\n")
