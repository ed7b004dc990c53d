"""The command line: what it prints, where, and how it ends."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result
from toy_data import write_toy

from letorbench.api import data_sets
from letorbench.cli import cli
from letorbench.datasets.acquire.verify import Finding


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with data/TOY in it, as the current one."""
    write_toy(tmp_path / "data")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def call(*words: str) -> Result:
    return CliRunner().invoke(cli, list(words))


def command(*words: str, cwd: Path) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-m", "letorbench", *words],
        cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    )  # fmt: skip


@pytest.fixture
def in_the_foreground():
    """Ctrl-C ends what is started here, also where these tests run in a shell's background.

    A shell starts background jobs deaf to SIGINT, and they hand that on to their children.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def one_line(result: Result, status: int) -> str:
    assert result.exit_code == status and result.stdout == ""
    assert re.fullmatch(r"letorbench: error: .+\n", result.stderr), result.stderr
    return result.stderr


@pytest.mark.parametrize("words", [(), ("--help",), ("-h",)])
def test_help(words):
    result = call(*words)
    assert result.exit_code == 0 and "Usage: letorbench" in result.stdout
    for name in ("run", "datasets", "algos", "score", "table", "plot"):
        assert re.search(rf"^  {name} ", result.stdout, re.MULTILINE)


@pytest.mark.parametrize("name", ["run", "datasets", "algos", "score", "table", "plot"])
def test_help_of_commands(name):
    result = call(name, "-h")
    assert result.exit_code == 0 and f"letorbench {name}" in result.stdout


def options(command: click.Command, path: str) -> Iterator[tuple[str, click.Option]]:
    """Every option of a command and of its subcommands, with how it is called."""
    for each in command.params:
        if isinstance(each, click.Option):
            yield f"{path} {each.opts[-1]}", each
    for name, below in getattr(command, "commands", {}).items():
        yield from options(below, f"{path} {name}")


def test_every_default_is_shown():
    """Of numbers, words and folders; a flag is off unless it is given."""
    hidden = [
        name
        for name, option in options(cli, "letorbench")
        if isinstance(option.default, str | int | float | Path)
        and option.default != ""
        and not option.is_flag
        and not option.show_default
        and "[default" not in (option.help or "")
    ]
    assert hidden == []


def test_version():
    assert re.fullmatch(r"letorbench \d+\.\d+\.\d+\n", call("--version").stdout)


def test_help_imports_nothing_heavy():
    code = (
        "import sys; from letorbench.cli import cli\n"
        "try: cli(['--help'])\n"
        "except SystemExit: pass\n"
        "print([m for m in ('numpy', 'numba', 'scipy', 'pandas', 'matplotlib', 'tqdm',"
        " 'loky') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.endswith("[]\n")


@pytest.mark.parametrize(
    "words, status, text",
    [
        (("rnu",), 2, "did you mean run"),
        (("run",), 2, "Missing option"),
        (("run", "--dataset", "TOY", "--algo", "regresion"), 2, "did you mean regression"),
        (("run", "--dataset", "TOI", "--algo", "regression"), 2, "did you mean TOY"),
        (("run", "--dataset", "TD2003", "--algo", "regression"), 1, "TD2003: no such data set"),
        (("run", "--dataset", "TOY", "--algo", "regression", "--jobs", "0"), 2, "--jobs"),
        (("run", "--dataset", "TOY", "--algo", "regression", "--folds", "x"), 2, "form like 1-5"),
        (("run", "--dataset", "TOY", "--algo", "regression", "--folds", "9"), 2, "no fold 9"),
        (("run", "--dataset", "TOY", "--algo", "regression", "--set", "l3=1"), 2, "has l2"),
        (("run", "--dataset", "TOY", "--algo", "regression", "--select", "ndgc"), 2, "ndgc"),
        (("run", "--dataset", "TOY", "--algo", "regression", "--null", "x"), 2, "or a number"),
        (("run", "--dataset", "TOY", "--algo", "regression", "--convention", "x"), 2, "letor4"),
        (("algos", "regresion"), 2, "did you mean regression"),
        (("datasets", "show", "OHSUMD"), 2, "did you mean OHSUMED"),
        (("datasets", "import", "nowhere"), 2, "nowhere"),
        (("table", "TOY"), 1, "letorbench run --dataset TOY"),
        (("table",), 1, "no results there"),
        (("plot", "TOY"), 1, "letorbench run --dataset TOY"),
        (("score", "--data", "nowhere", "--scores", "nowhere"), 2, "nowhere"),
    ],
)
def test_errors_are_one_line(toy, words, status, text):
    assert text in one_line(call(*words), status)


def test_debug_shows_the_traceback(toy):
    result = call("run", "--dataset", "TD2003", "--algo", "regression", "--debug")
    assert result.exit_code == 1 and "Traceback" in result.stderr


def test_run_table_plot(toy):
    result = call("run", "--dataset", "TOY", "--algo", "regression,ndcgboost")
    assert result.exit_code == 0, result.stderr
    assert "by the textbook" in result.stdout and "[standard]" in result.stdout
    assert re.search(r"^regression +0\.\d{4}\*? ", result.stdout, re.MULTILINE)
    folder = toy / "results" / "TOY"
    for name in ("summary.csv", "ndcg.png", "ndcg.svg", "ndcg.pdf", "regression/per_query.csv"):
        assert (folder / name).is_file()
    shown = call("table", "TOY").stdout
    assert shown in result.stdout
    csv = call("table", "--format", "csv").stdout
    header, *lines = (folder / "summary.csv").read_text().splitlines()
    assert csv.splitlines() == ["dataset," + header, *("TOY," + line for line in lines)]
    one = call("table", "--measure", "map,P@2", "--algo", "ndcgboost").stdout
    assert re.search(r"^algorithm +MAP +P@2$", one, re.MULTILINE) and "regression" not in one
    assert "did you mean" in one_line(call("table", "--measure", "mapp"), 2)
    drawn = call("plot", "TOY", "--measure", "p", "--format", "svg")
    assert drawn.stdout == "results/TOY/p.svg\n" and (folder / "p.svg").is_file()
    before = (folder / "ndcg.png").read_bytes()
    assert call("plot", "TOY").exit_code == 0 and (folder / "ndcg.png").read_bytes() == before
    again = call("run", "--dataset", "TOY", "--algo", "regression")
    assert "5 of 5 folds were stored already" in again.stdout


def test_several_data_sets_share_a_figure(toy):
    write_toy(toy / "data", "OTHER", seed=2)
    result = call("run", "--dataset", "all", "--algo", "regression")
    assert result.exit_code == 0 and "OTHER: mean over 5 folds" in result.stdout
    figure = (toy / "results" / "ndcg.svg").read_text()
    assert "TOY dataset" in figure and "OTHER dataset" in figure


def test_a_failing_task_is_named_and_the_others_finish(toy):
    words = ("--dataset", "TOY", "--algo", "regression,ndcgboost", "--set", "stumps=wrong")
    result = call("run", *words, "--folds", "1,2")
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert "error: TOY, ndcgboost, fold 1, 2: ndcgboost: found stumps=wrong" in result.stderr
    assert re.search(r"^regression \(2 of 5 folds\) +[01]\.\d{4}", result.stdout, re.MULTILINE)


def test_broken_data_is_one_line_with_file_and_line(toy):
    path = toy / "data" / "TOY" / "Fold1" / "test.txt"
    lines = path.read_text().splitlines()
    lines[2] = lines[2].replace("2:", "2:x")
    path.write_text("\n".join(lines) + "\n")
    error = one_line(call("run", "--dataset", "TOY", "--algo", "regression"), 1)
    assert "test.txt:3" in error


def test_datasets(toy):
    assert call("datasets").stdout == call("datasets", "list").stdout
    rows = call("datasets", "list").stdout.splitlines()
    assert rows[0].startswith("name") and any(row.startswith("TOY") for row in rows)
    assert "letor3" in call("datasets", "show", "OHSUMED").stdout
    assert call("datasets", "verify", "TOY").exit_code == 0
    made = call("datasets", "make", "DEMO", "--data-dir", "other")
    assert made.exit_code == 0 and (toy / "other" / "DEMO").is_dir()
    moved = call("datasets", "import", "data/TOY", "--data-dir", "third")
    assert moved.exit_code == 0 and (toy / "third" / "TOY" / "Fold5" / "test.txt").is_file()


def test_data_sets_that_are_not_whole_are_named(toy, monkeypatch):
    """Neither one that is not there nor an address that does not answer is damaged."""
    found = [
        Finding("A", "data/A", "found an empty file", False),
        Finding("A", "https://a.org/a.zip", "answers", True),
        Finding("B", "data/B", "not there", None),
        Finding("B", "https://b.org/b.zip", "HTTP 404", False),
        Finding("C", "data/C", "complete", True),
    ]
    monkeypatch.setattr(data_sets, "examine", lambda names, data_dir: found)
    result = call("datasets", "doctor", "A", "B", "C")
    assert result.exit_code == 1
    assert result.stderr == "letorbench: error: not complete on disk: A\n"
    first = [line.split()[0] for line in result.stdout.splitlines()]
    assert first == ["name", "A", "A", "B", "B", "C"]


def test_algos():
    listed = call("algos").stdout
    assert re.search(r"^ndcgboost +NDCG Boost", listed, re.MULTILINE)
    for name in (line.split()[0] for line in listed.splitlines()):
        shown = call("algos", name).stdout
        assert "paper " in shown and "formula " in shown


def test_score(toy):
    data = toy / "data" / "TOY" / "Fold1" / "test.txt"
    (toy / "scores.txt").write_text("0.5\n" * 56)
    words = ("score", "--data", str(data), "--scores", "scores.txt")
    result = call(*words, "--convention", "letor3")
    assert result.exit_code == 0 and result.stdout.startswith("precision:\t")
    header, *lines = call(*words, "--format", "csv", "--per-query").stdout.splitlines()
    assert header.startswith("convention,qid,ndcg@1,") and len(lines) == 9
    assert lines[-1].startswith("standard,mean,")
    (toy / "scores.txt").write_text("0.5\n" * 55)
    assert "scores.txt:56: found 55 scores, expected 56" in one_line(call(*words), 1)


def test_score_prints_what_the_official_tools_print(shared, tmp_path):
    data = shared / "archives" / "MSLR-sample.test.txt"
    for scores in sorted((shared / "golden").glob("MSLR*.scores.txt")):
        expected = Path(str(scores).replace(".scores.", ".official.")).read_text()
        words = ("--data", str(data), "--scores", str(scores), "--convention", "mslr")
        assert call("score", *words, "--per-query").stdout == expected


def test_equal_bytes_for_any_jobs(toy):
    algos = "regression,ndcgboost,ranksvm"
    runs = [
        command("run", "--dataset", "TOY", "--algo", algos, "--set", "stumps=sample",
                "--repeats", "2", "--jobs", str(jobs), "--out", f"out{jobs}", cwd=toy)
        for jobs in (1, 2)
    ]  # fmt: skip
    for each in runs:
        _, errors = each.communicate(timeout=120)
        assert each.returncode == 0, errors
    one, two = toy / "out1", toy / "out2"
    names = sorted(p.relative_to(one) for p in one.rglob("*") if p.is_file())
    assert names == sorted(p.relative_to(two) for p in two.rglob("*") if p.is_file())
    compared = [name for name in names if name.name != "fit.json"]  # that one holds seconds
    # a second repeat of what draws: its folds' files and the table of the repeats
    assert len(compared) == 3 * (5 * 5 + 2) + (5 * 5 + 1) + 4
    for name in compared:
        assert (one / name).read_bytes() == (two / name).read_bytes(), name


def test_a_reader_that_has_enough_costs_no_files(toy):
    process = command("run", "--dataset", "TOY", "--algo", "regression", cwd=toy)
    process.stdout.close()
    process.wait(timeout=60)
    assert process.stderr.read() == ""
    assert (toy / "results" / "TOY" / "ndcg.pdf").is_file()
    process.stderr.close()


@pytest.mark.parametrize(("how", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.usefixtures("in_the_foreground")
def test_a_stopped_run_leaves_only_whole_files(toy, how, status):
    process = command("run", "--dataset", "TOY", "--algo", "ndcgboost", "--set",
                      "rounds=20000", cwd=toy)  # fmt: skip
    waited = time.monotonic() + 60
    while not list(toy.glob("results/TOY/*/fold1/fit.json")) and time.monotonic() < waited:
        time.sleep(0.02)
    process.send_signal(how)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == status and "letorbench: error: interrupted" in errors
    left = [path for path in (toy / "results").rglob("*") if path.is_file()]
    names = {
        "scores.txt", "validation.txt", "per_query.csv", "model.npz", "trials.npz", "fit.json",
    }  # fmt: skip
    assert left and {path.name for path in left} <= names | {"folds.csv", "summary.csv"}
    for path in left:
        if path.name == "scores.txt":
            assert len(path.read_text().splitlines()) == 56
    assert not os.path.exists(toy / "results" / "TOY" / "ndcg.png")


def test_ctrl_c_ends_a_process_whose_other_threads_hang() -> None:
    code = """
import threading
from letorbench import cli
threading.Thread(target=threading.Event().wait).start()
def interrupted(*arguments, **settings):
    raise KeyboardInterrupt
cli.cli.invoke = interrupted
cli.main()
"""
    done = subprocess.run(
        [sys.executable, "-c", code, "algos"], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 130
    assert done.stderr.endswith("error: interrupted; what is written is whole\n")


RUN = "run --dataset TOY --algo regression"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (f"{RUN} --folds 1-99999999999", "expected folds up to 1000"),
        (f"{RUN} --folds 1-{'9' * 5000}", "expected folds up to 1000"),
        (f"{RUN} --repeats 99999999999", "expected 1 to 10000"),
        (f"{RUN} --shard 1/{'9' * 5000}", "a form like 2/3"),
        (f"{RUN} --select ndcg@{'9' * 20}", "no valid cut-off"),
        (f"{RUN} --select ndcg@{'9' * 5000}", "no valid cut-off"),
        (f"{RUN} --time-limit nan", "expected a finite number"),
        (f"{RUN} --time-limit inf", "expected a finite number"),
        (f"{RUN} --time-limit -1", "not in the range"),
        (f"{RUN} --null nan", "error, min or a number"),
        (f"{RUN} --null 1e999", "error, min or a number"),
        (f"{RUN} --seed -1", "not in the range"),
        (f"{RUN} --seed {'9' * 20}", "not in the range"),
        ("compare --alpha nan", "expected a finite number"),
        ("compare --alpha 1", "not in the range"),
        ("datasets fetch QA --time-limit nan", "expected a finite number"),
        ("datasets make QA --questions 99999999999", "not in the range"),
        ("datasets split x.txt --folds 99999999999", "not in the range"),
    ],
)
def test_numbers_of_options_have_bounds(toy, words: str, said: str) -> None:
    (toy / "x.txt").touch()
    ended = CliRunner().invoke(cli, words.split())
    assert ended.exit_code == 2 and said in ended.stderr, (ended.output, ended.exception)
    assert ended.stderr.count("\n") == 1


@pytest.mark.parametrize("threads", ["abc", "0", "-1", "1.5", "99999", "²"])
def test_a_wrong_number_of_threads_is_one_line(toy, monkeypatch, threads: str) -> None:
    monkeypatch.setenv("LETORBENCH_THREADS", threads)
    ended = CliRunner().invoke(cli, ["run", "--dataset", "TOY", "--algo", "regression,ranksvm"])
    assert ended.exit_code == 2 and ended.stderr.count("\n") == 1
    assert f"LETORBENCH_THREADS={threads}: expected a number of threads" in ended.stderr
