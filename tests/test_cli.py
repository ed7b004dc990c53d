"""The command line: what it prints, where, and how it ends."""

import re
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from conftest import call, commands, refused
from toy_data import store_fold, write_toy

from letorbench.cli import cli
from letorbench.losses import LOSSES


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with data/TOY in it, as the current one."""
    write_toy(tmp_path / "data")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("words", [words for words, _ in commands(cli)], ids=" ".join)
def test_help_says_every_option_and_its_default(words):
    result = call(*words, "--help")
    assert result.exit_code == 0 and " ".join(["Usage: letorbench", *words]) in result.stdout
    for option in dict(commands(cli))[words].params:
        if isinstance(option, click.Option):
            assert option.opts[-1] in result.stdout and option.help
            if isinstance(option.default, str | int | float | Path) and not option.is_flag:
                assert option.show_default or "[default" in option.help or option.default == ""
    assert all(f"\n  {name} " in result.stdout for name in getattr(
        dict(commands(cli))[words], "commands", ()))  # fmt: skip


RUN = "run --dataset TOY --algo regression"


@pytest.mark.parametrize(
    "words, status, text",
    [
        ("rnu", 2, "did you mean run"),
        ("run", 2, "Missing option"),
        ("run --dataset TOY --algo regresion", 2, "did you mean regression"),
        ("run --dataset TOI --algo regression", 2, "did you mean TOY"),
        ("run --dataset TD2003 --algo regression", 1, "TD2003: no such data set"),
        (f"{RUN} --jobs 0", 2, "--jobs"),
        (f"{RUN} --folds 1-{'9' * 5000}", 2, "expected folds up to 1000"),
        (f"{RUN} --null x", 2, "error, min or a number"),
        (f"{RUN} --repeats 99999999999", 2, "expected 1 to 10000"),
        (f"{RUN} --shard 1/{'9' * 5000}", 2, "a form like 2/3"),
        (f"{RUN} --time-limit nan", 2, "expected a finite number"),
        ("algos listnet --parts", 2, "found listnet beside it"),
        ("datasets show OHSUMD", 2, "did you mean OHSUMED"),
        ("table", 1, "no results there"),
        ("score --data nowhere --scores nowhere", 2, "nowhere"),
        ("compare stored --algo regression", 2, "stored: found regression, expected two"),
        ("compare stored --baseline regresion", 2, "did you mean regression"),
        ("compare stored --algo all,crad", 2, "unknown algorithm 'crad'"),
        ("compare stored --alpha nan", 2, "expected a finite number"),
        ("compare stored --measure ndgc@10", 2, "did you mean ndcg@10"),
        ("table stored --alpha 0.1 --published", 2, "not go with --alpha"),
        ("table stored --baseline regression --published", 2, "not go with --baseline"),
    ],
)
def test_errors_are_one_line(toy, words, status, text):
    if "stored" in words:
        for algo in ("regression", "classification"):
            store_fold(toy / "results", "stored", algo, 1, {"ndcg@10": [0.1, 0.2]})
    assert text in refused(status, *words.split())
    assert "Traceback" in call(*words.split(), "--debug").stderr


def test_run_table_plot(toy, request):
    write_toy(toy / "data", "OTHER", seed=2)
    result = call("run", "--dataset", "all", "--algo", "regression,ndcgboost")
    assert result.exit_code == 0, result.stderr
    assert "by the textbook" in result.stdout and "[standard]" in result.stdout
    assert re.search(r"^regression +0\.\d{4}\*? ", result.stdout, re.MULTILINE)
    folder = toy / "results" / "TOY"
    for name in ("summary.csv", "ndcg.png", "ndcg.svg", "ndcg.pdf", "regression/per_query.csv"):
        assert (folder / name).is_file()
    assert "OTHER: mean over 5 folds" in result.stdout
    figure = (toy / "results" / "ndcg.svg").read_text()
    assert "TOY dataset" in figure and "OTHER dataset" in figure
    assert call("table", "TOY").stdout in result.stdout
    csv = call("table", "TOY", "--format", "csv").stdout
    header, *lines = (folder / "summary.csv").read_text().splitlines()
    assert csv.splitlines() == ["dataset," + header, *("TOY," + line for line in lines)]
    one = call("table", "TOY", "--measure", "map,P@2", "--algo", "ndcgboost").stdout
    assert re.search(r"^algorithm +MAP +P@2$", one, re.MULTILINE) and "regression" not in one
    before = (folder / "ndcg.png").read_bytes()
    assert call("plot", "TOY").exit_code == 0 and (folder / "ndcg.png").read_bytes() == before
    request.getfixturevalue("no_figures")
    again = call("run", "--dataset", "TOY", "--algo", "regression")
    assert "5 of 5 folds were stored already" in again.stdout


@pytest.mark.usefixtures("no_figures")
def test_a_failing_task_is_named_and_the_others_finish(toy):
    words = ("--dataset", "TOY", "--algo", "regression,ndcgboost", "--set", "sample=5")
    result = call("run", *words, "--folds", "1,2")
    assert result.exit_code == 2 and result.stderr.count("\n") == 1
    assert "error: TOY, ndcgboost, fold 1, 2: found sample=5 with stumps=exact" in result.stderr
    assert re.search(r"^regression \(2 of 5 folds\) +[01]\.\d{4}", result.stdout, re.MULTILINE)
    path = toy / "data" / "TOY" / "Fold1" / "test.txt"
    path.write_text(path.read_text().replace(" 2:", " 2:x", 3))
    error = refused(1, "run", "--dataset", "TOY", "--algo", "regression", "--force")
    assert "test.txt:1" in error


def test_datasets(toy, monkeypatch):
    assert call("datasets").stdout == call("datasets", "list").stdout
    rows = call("datasets", "list").stdout.splitlines()
    assert rows[0].startswith("name") and any(row.startswith("TOY") for row in rows)
    assert "letor3" in call("datasets", "show", "OHSUMED").stdout
    assert re.search(r"^documents +280$", call("datasets", "show", "TOY").stdout, re.MULTILINE)
    assert call("datasets", "verify", "TOY").exit_code == 0
    made = call("datasets", "make", "DEMO", "--data-dir", "other")
    assert made.exit_code == 0 and (toy / "other" / "DEMO").is_dir()
    moved = call("datasets", "import", "data/TOY", "--data-dir", "third")
    assert moved.exit_code == 0 and (toy / "third" / "TOY" / "Fold5" / "test.txt").is_file()


def test_algos():
    listed = call("algos").stdout
    for name in (line.split()[0] for line in listed.splitlines()):
        shown = call("algos", name).stdout
        assert "paper " in shown and "formula " in shown
    lines = call("algos", "--parts").stdout.splitlines()
    rows = {line.split()[0]: line for line in lines if line.startswith("  ")}
    assert set(LOSSES) < set(rows) and "kept products" in rows["quadratic"]


def test_score_prints_what_the_official_tools_print(toy, shared):
    data = shared / "archives" / "MSLR-sample.test.txt"
    for scores in sorted((shared / "golden").glob("MSLR*.scores.txt")):
        expected = Path(str(scores).replace(".scores.", ".official.")).read_text()
        words = ("--data", str(data), "--scores", str(scores), "--convention", "mslr")
        assert call("score", *words, "--per-query").stdout == expected
    Path("short.txt").write_text("0.5\n" * 55)
    words = ("--data", "data/TOY/Fold1/test.txt", "--scores", "short.txt")
    assert "short.txt:56: found 55 scores, expected 56" in refused(1, "score", *words)


def test_doctor(toy, monkeypatch):
    monkeypatch.setenv("LETORBENCH_THREADS", "3")
    result = call("doctor")
    assert result.exit_code == 0
    for pattern in (r"numpy +\d+\.", r"threads +3 \(LETORBENCH_THREADS=3\)", r"data sets +TOY$",
                    r"kernels +\d+ compiled", r"results +none yet"):  # fmt: skip
        assert re.search(rf"^{pattern}", result.stdout, re.MULTILINE), pattern
    missing = ("tqdm", "xgboost")
    there = "letorbench.cli.doctor._installed"
    monkeypatch.setattr(there, lambda name: None if name in missing else "1.0")
    result = call("doctor")
    assert result.exit_code == 1 and re.search(r"tqdm +MISSING, expected >=", result.stdout)
    assert "not installed (optional: --algo xgboost)" in result.stdout
    assert "error: missing: tqdm; `python -m pip install letorbench`" in result.stderr


def test_a_wrong_number_of_threads_is_one_line(toy, monkeypatch) -> None:
    monkeypatch.setenv("LETORBENCH_THREADS", "0")
    text = refused(2, *RUN.split())
    assert "LETORBENCH_THREADS=0: expected a number of threads" in text


@pytest.mark.parametrize(
    "line, names",
    [
        ("run --dataset T", ["TOY"]),
        ("run --data-dir nowhere --dataset T", []),
        ("run --algo regression,ndcgb", ["regression,ndcgboost"]),
        ("run --algo ndcgboost,NDCGB", []),
        ("datasets show mslr", ["MSLR-WEB10K", "MSLR-WEB30K"]),
        ("reproduce lambdarank-2006 --part figure-", ["figure-1", "figure-2", "figure-3"]),
    ],
)
def test_completion_as_bash_asks_for_it(toy, line, names):
    words = f"letorbench {line}"
    env = {"_LETORBENCH_COMPLETE": "bash_complete", "COMP_WORDS": words}
    env["COMP_CWORD"] = str(words.count(" "))
    out = CliRunner().invoke(cli, [], prog_name="letorbench", env=env).stdout
    assert [name for row in out.splitlines() if (name := row.partition(",")[2])] == names


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
