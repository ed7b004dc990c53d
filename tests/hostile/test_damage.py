"""Damaged results are refused: a short version of `damage.py`, and what users see."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner
from damage import stored_run, undetected, undetected_of_models

from letorbench.cli import cli


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("damage")
    stored_run(folder)
    return folder


def test_no_damage_goes_unnoticed(place: Path) -> None:
    assert not undetected(place / "results", "TOY", 300)


def test_no_damage_of_a_model_goes_unnoticed(tmp_path: Path) -> None:
    assert not undetected_of_models(tmp_path, 500)


def test_the_damage_of_a_fold_costs_that_fold(place: Path, tmp_path: Path) -> None:
    results = tmp_path / "results"
    shutil.copytree(place / "results", results)
    before = {p: p.read_bytes() for p in results.rglob("*") if p.is_file()}
    scores = results / "TOY" / "regression" / "fold2" / "scores.txt"
    scores.write_text(scores.read_text().replace("1", "2", 1))
    words = ["TOY", "--out", str(results), "--data-dir", str(place / "data")]
    shown = CliRunner().invoke(cli, ["table", *words, "--format", "csv"])
    assert shown.exit_code == 0 and "TOY,regression,standard,4," in shown.stdout, shown.output
    assert shown.stderr.count("\n") == 1 and str(scores) in shown.stderr
    assert "TOY,adarank-ndcg,standard,5," in shown.stdout
    again = ["run", "--dataset", "TOY", "--algo", "regression", *words[1:]]
    made = CliRunner().invoke(cli, again)
    assert made.exit_code == 0 and "4 of 5 folds were stored already" in made.stdout
    assert made.stderr.count(str(scores)) == 1
    after = {path: path.read_bytes() for path in before}
    changed = {path.name for path in before if before[path] != after[path]}
    assert changed <= {"fit.json"}  # its seconds


def test_edited_tables_are_made_again(place: Path, tmp_path: Path) -> None:
    results = tmp_path / "results"
    shutil.copytree(place / "results", results)
    tables = [p for p in results.rglob("*.csv") if not p.parent.name.startswith("fold")]
    assert len(tables) == 5
    before = {path: path.read_bytes() for path in tables}
    for path in tables:
        path.write_bytes(before[path].replace(b"0.", b"0.9", 1))
    shown = CliRunner().invoke(cli, ["table", "TOY", "--out", str(results)])
    assert shown.exit_code == 0
    assert {path: path.read_bytes() for path in tables} == before


def test_a_fold_of_another_place_is_refused(place: Path, tmp_path: Path) -> None:
    results = tmp_path / "results"
    shutil.copytree(place / "results", results)
    regression = results / "TOY" / "regression"
    shutil.rmtree(regression / "fold2")
    shutil.copytree(regression / "fold1", regression / "fold2")
    shown = CliRunner().invoke(cli, ["table", "TOY", "--out", str(results)])
    assert "found the fold 1, expected 2" in shown.stderr
