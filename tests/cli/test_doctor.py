"""`doctor` says what is here and what is missing."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
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
    now, before = tmp_path / "kernels-now", tmp_path / "kernels-before"
    for path in (now / "losses/a.nbi", now / "losses/b.nbi", now / "solvers/c.nbi",
                 now / "losses/a.1.nbc", before / "losses/a.nbi"):  # fmt: skip
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    monkeypatch.setattr(machine, "kernel_folder", lambda: now)
    monkeypatch.setattr(machine, "stale_kernel_folders", lambda: [before])
    assert machine.compiled() == (3, 1)


def test_machine_code_that_does_not_belong_to_the_source_is_told(tmp_path: Path):
    """After an edit of any compiled source nothing that was compiled before is used."""
    package = tmp_path / "letorbench"
    shutil.copytree(
        Path(machine.__file__).parents[1], package, ignore=shutil.ignore_patterns("__pycache__")
    )

    def run(*words: str) -> str:
        return subprocess.run(
            [sys.executable, *words], cwd=tmp_path, capture_output=True, text=True, check=True,
            env=os.environ | {"PYTHONPATH": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path / "k")},
        ).stdout  # fmt: skip

    def kernels() -> str:
        return re.search(r"^kernels +(.*)$", run("-m", "letorbench", "doctor"), re.MULTILINE)[1]

    use = "import numpy as np; from letorbench.jit import longest_query as f; f(np.arange(3), 0, 2)"
    advice = "0 compiled; `python -m letorbench.compile` compiles them once"
    assert kernels() == advice
    run("-c", use)
    assert kernels() == "1 compiled"
    edited = package / "losses" / "exponentials.py"
    edited.write_text(edited.read_text().replace("SPAN = 80.0", "SPAN = 800.0"))
    stale = "1 of an earlier version, removed by `python -m letorbench.compile`"
    assert kernels() == f"{advice}; {stale}"
    run("-c", use)
    assert kernels() == f"1 compiled; {stale}"


def test_packages_that_only_some_commands_need_are_told_apart(monkeypatch):
    monkeypatch.setattr(
        machine_facts, "installed_version", lambda name: "1.2" if name == "xgboost" else None
    )
    out = call().stdout
    assert re.search(r"^xgboost +1\.2$", out, re.MULTILINE)
    assert re.search(r"^lightgbm +not installed \(optional: --algo lightgbm\)$", out, re.MULTILINE)
