"""When a convention looks wrong for the data it is to measure."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from toy_data import write_toy

from letorbench.cli import cli
from letorbench.datasets.catalog import CATALOG
from letorbench.datasets.checks import check_convention


@pytest.mark.parametrize("entry", CATALOG.values(), ids=lambda entry: entry.name)
def test_no_known_data_set_is_doubted_under_its_own_convention(entry):
    found = check_convention(entry.n_features, entry.max_label, entry.convention, chosen=False)
    assert found is None


@pytest.mark.parametrize(
    "features, largest, convention, chosen, said",
    [
        (20, 4, "letor3", True, "labels up to 4, where letor3's data sets have 0 to 2"),
        (20, 3, "letor4", True, "labels up to 3, where letor4's"),
        (136, 4, "letor3", True, "--convention mslr may be meant"),
        (46, 2, "letor3", True, "--convention letor4 may be meant"),
        (45, 2, "letor4", True, "--convention letor3 may be meant"),
        (46, 2, "standard", False, "--convention letor4 may be meant"),
        (46, 2, "standard", True, None),
        (20, 2, "mslr", True, "relevant is from 2 on"),
        (20, 4, "mslr", True, None),
        (20, 0, "mslr", True, None),
        (20, 4, "standard", False, None),
        (20, 1, "letor3", True, None),
    ],
)
def test_doubts(features, largest, convention, chosen, said):
    text = check_convention(features, largest, convention, chosen)
    assert text is None if said is None else said in text


def test_run_and_score_say_it(tmp_path: Path, monkeypatch):
    folder = write_toy(tmp_path / "data")
    monkeypatch.chdir(tmp_path)
    words = ["run", "--dataset", "TOY", "--algo", "regression", "--convention", "mslr"]
    result = CliRunner().invoke(cli, words)
    assert result.exit_code == 0 and result.stderr.startswith("letorbench: warning: TOY: found")
    path = folder / "Fold1" / "test.txt"
    path.write_text("".join(f"4{line[1:]}" for line in path.read_text().splitlines(True)))
    Path("scores.txt").write_text("1\n" * 56)
    words = ["score", "--data", str(path), "--scores", "scores.txt"]
    assert CliRunner().invoke(cli, words).stderr == ""
    result = CliRunner().invoke(cli, [*words, "--convention", "letor3"])
    assert result.exit_code == 0 and "test.txt: found labels up to 4" in result.stderr
