"""Config files: they hold exactly the options, and the command line wins."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result
from toy_data import write_toy

from letorbench.cli import cli, config
from letorbench.cli.run import run


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_toy(tmp_path / "data")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def call(text: str, *words: str) -> Result:
    Path("exp.toml").write_text(text)
    return CliRunner().invoke(cli, ["run", "--config", "exp.toml", *words])


def test_a_file_is_the_command_line_it_stands_for(toy):
    words = ["--dataset", "TOY", "--algo", "regression,ndcgboost", "--folds", "1-2"]
    words += ["--set", "rounds=3", "--seed", "7", "--out", "by-words"]
    assert CliRunner().invoke(cli, ["run", *words]).exit_code == 0
    text = """
dataset = "TOY"
algo = ["regression", "ndcgboost"]
folds = "1-2"
seed = 7
out = "by-file"
[set]
rounds = 3
"""
    assert call(text).exit_code == 0
    one, two = (Path(n, "TOY", "summary.csv").read_bytes() for n in ("by-words", "by-file"))
    assert one == two


def test_the_command_line_wins(toy):
    text = 'dataset = "TOY"\nalgo = "ndcgboost"\nfolds = "1"\nout = "elsewhere"\n'
    result = call(text, "--algo", "regression", "--out", "here")
    assert result.exit_code == 0 and "regression" in result.stdout
    assert "ndcgboost" not in result.stdout
    assert Path("here/TOY/regression/fold1").is_dir() and not Path("elsewhere").exists()


def test_every_option_of_run_and_nothing_else():
    ctx = click.Context(run)
    values = {
        "dataset": ["A", "B"], "algo": "x", "folds": "1", "set": {"C": 0.5, "stumps": "exact"},
        "data-dir": "d", "out": "o", "jobs": 2, "seed": 3, "select": "map",
        "convention": "letor3", "null": 0.5, "force": True,
    }  # fmt: skip
    assert set(values) <= set(config._options(run))
    found = config.defaults(values, ctx, Path("exp.toml"))
    assert found["pairs"] == ["C=0.5", "stumps=exact"] and found["datasets"] == ["A", "B"]
    assert found["null"] == "0.5" and found["force"] is True and found["jobs"] == "2"
    assert "config" not in config._options(run) and "help" not in config._options(run)


@pytest.mark.parametrize(
    "text, status, said",
    [
        ("dataset = ", 1, "exp.toml: found no TOML"),
        ("seed = " + "1" * 5000, 1, "exp.toml: found no TOML (Exceeds the limit"),
        ("algo = " + "[" * 5000, 1, "exp.toml: found no TOML (too many brackets in brackets)"),
        ("algos = 'x'", 2, "exp.toml: unknown option 'algos'; did you mean algo?"),
        ("jobs = 0", 2, "exp.toml: jobs: 0 is not in the range"),
        ("jobs = 1.5", 2, "exp.toml: jobs: '1.5' is not a valid integer"),
        ("jobs = true", 2, "exp.toml: jobs: 'true' is not a valid integer"),
        ("force = 'yes'", 2, "exp.toml: force: found 'yes', expected true or false"),
        ("seed = {a = 1}", 2, "exp.toml: seed: found {'a': 1}, expected text, a number"),
        ("convention = 'letor5'", 2, "exp.toml: convention: 'letor5' is not one of"),
        ("algo = 'regression'", 2, "Missing option '--dataset'"),
        ("config = 'other.toml'", 2, "unknown option 'config'"),
    ],
)
def test_wrong_files_are_one_line(toy, text, status, said):
    result = call(text)
    assert result.exit_code == status and result.stdout == ""
    assert said in result.stderr and result.stderr.count("\n") == 1


def test_a_file_that_is_not_there(toy):
    result = CliRunner().invoke(cli, ["run", "--config", "nowhere.toml"])
    assert result.exit_code == 2 and "nowhere.toml" in result.stderr
