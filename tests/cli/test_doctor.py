"""`doctor` says what is here and what is missing."""

from __future__ import annotations

import re
from pathlib import Path

from click.testing import CliRunner
from toy_data import write_toy

from letorbench.api import machine_facts
from letorbench.cli import cli
from letorbench.experiment import machine


def call(*words: str):
    return CliRunner().invoke(cli, ["doctor", *words])


def test_what_is_here(tmp_path: Path, monkeypatch):
    write_toy(tmp_path / "data")
    (tmp_path / "data" / ".cache").mkdir()
    (tmp_path / "data" / ".cache" / "x").write_bytes(b"0" * 1_500_000)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LETORBENCH_THREADS", "3")
    result = call()
    assert result.exit_code == 0
    for pattern in (
        r"numpy +\d+\.", r"click +\d+\.", r"python +3\.\d+", r"cores +\d+",
        r"threads +3 \(LETORBENCH_THREADS=3\)", r"kernels +\d+ compiled",
        r"data sets +TOY$", r"cache +1\.5 MB", r"results +none yet",
    ):  # fmt: skip
        assert re.search(rf"^{pattern}", result.stdout, re.MULTILINE), pattern


def test_nothing_is_here_yet(tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = call()
    assert result.exit_code == 0 and "data (not there yet)" in result.stdout
    assert "none but DEMO" in result.stdout and not list(tmp_path.iterdir())


def test_a_missing_package_is_an_error(monkeypatch):
    found = machine.installed_version
    monkeypatch.setattr(
        machine, "installed_version", lambda name: None if name == "tqdm" else found(name)
    )
    result = call()
    assert result.exit_code == 1 and re.search(r"tqdm +MISSING, expected >=", result.stdout)
    assert result.stderr == (
        "letorbench: error: missing: tqdm; `python -m pip install letorbench`\n"
    )


def test_requirements_of_extras_are_not_required():
    names = [name for name, _, _ in machine.packages()]
    assert {"numpy", "scipy", "click"} <= set(names) and "pytest" not in names


def test_what_is_required_here(monkeypatch):
    lines = [
        "a>=1.26", "b (>=2)", 'c>=3; extra == "x"', 'd; python_version < "3.0"',
        'e; python_version >= "3.0"',
    ]  # fmt: skip
    monkeypatch.setattr(machine, "requires", lambda name: lines)
    wanted = [(name, what) for name, _, what in machine.packages()[2:]]
    assert wanted == [("a", ">=1.26"), ("b", ">=2"), ("e", "any version")]


def test_compiled_kernels_are_counted_by_their_indexes(tmp_path: Path, monkeypatch):
    for name in ("losses/a.nbi", "losses/b.nbi", "solvers/c.nbi", "losses/a.1.nbc"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    monkeypatch.setattr(machine_facts, "kernel_root", lambda: tmp_path)
    told = f"3 compiled in {tmp_path} (may be deleted)"
    assert re.search(rf"^kernels +{re.escape(told)}$", call().stdout, re.MULTILINE)


def test_packages_that_only_some_commands_need_are_told_apart(monkeypatch):
    monkeypatch.setattr(
        machine_facts, "installed_version", lambda name: "1.2" if name == "xgboost" else None
    )
    out = call().stdout
    assert re.search(r"^xgboost +1\.2$", out, re.MULTILINE)
    assert re.search(r"^lightgbm +not installed \(optional: --algo lightgbm\)$", out, re.MULTILINE)
