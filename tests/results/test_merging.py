"""Results folders brought together: what is copied, kept, left out and refused."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from click.testing import CliRunner
from stored_results import store_fold

from letorbench.cli import cli
from letorbench.errors import DataError
from letorbench.results.merging import merge
from letorbench.results.store import read_folds
from letorbench.results.summary import read_summary


def store(out: Path, number: int, algo: str = "net", value: float = 0.5, **more: object) -> Path:
    return store_fold(out, "SET", algo, number, {"map": [value]}, n_folds=3, **more)


def files(out: Path) -> list[str]:
    return sorted(str(path.relative_to(out)) for path in out.rglob("*") if path.is_file())


def test_folds_of_all_folders_are_copied_with_their_times(tmp_path):
    first, second, out = tmp_path / "a", tmp_path / "b", tmp_path / "out"
    store(first, 1, value=0.1)
    folder = store(second, 2, value=0.3)
    os.utime(folder / "fit.json", ns=(10**18, 10**18))
    merged = merge([first, second], out)
    assert (merged.copied, merged.reused, merged.damaged) == (2, 0, ())
    assert read_summary(out, "SET").rows[0].values["map"] == pytest.approx(0.2)
    assert [fold.written for fold in read_folds(out, "SET", "net")][1] == 10**18
    again = merge([first, second, out], out)
    assert (again.copied, again.reused) == (0, 2)


def test_repeats_and_several_algorithms_come_along(tmp_path):
    store(tmp_path / "a", 1, repeat=1, repeats=2)
    store(tmp_path / "b", 1, repeat=2, repeats=2)
    store(tmp_path / "b", 1, algo="other")
    merge([tmp_path / "a", tmp_path / "b"], tmp_path / "out")
    row = {row.algo: row for row in read_summary(tmp_path / "out", "SET").rows}
    assert (row["net"].repeats, row["other"].repeats) == (2, 1)


def test_a_damaged_fold_is_left_out_and_replaced(tmp_path):
    store(tmp_path / "a", 1)
    (store(tmp_path / "out", 1) / "scores.txt").write_text("1\n2\n3\n")
    (store(tmp_path / "a", 2) / "scores.txt").write_text("1\n2\n3\n")
    merged = merge([tmp_path / "a"], tmp_path / "out")
    assert merged.copied == 1
    assert len(merged.damaged) == 1 and "fold2/scores.txt" in merged.damaged[0]
    assert len(read_folds(tmp_path / "out", "SET", "net")) == 1


@pytest.mark.parametrize("number", [1, 2], ids=["the same fold", "another fold"])
@pytest.mark.parametrize("there", [False, True], ids=["two folders", "the folder there"])
def test_two_experiments_are_not_merged(number, there, tmp_path):
    out = tmp_path / "out"
    store(out if there else tmp_path / "b", 1, seed=1)
    store(tmp_path / "a", number, seed=2)
    before = files(tmp_path)
    sources = [tmp_path / "a"] if there else [tmp_path / "a", tmp_path / "b"]
    with pytest.raises(DataError, match=r"SET, net.* has seed [12], .* has [12]: .*not merged"):
        merge(sources, out)
    assert files(tmp_path) == before


def test_other_bytes_of_one_identity_are_refused(tmp_path):
    store(tmp_path / "a", 1, value=0.5)
    store(tmp_path / "b", 1, value=0.6)
    with pytest.raises(DataError, match="SET, net, fold 1: .*per_query.csv and .* differ"):
        merge([tmp_path / "a", tmp_path / "b"], tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("names", ["ab", "ba"])
def test_what_no_time_limit_cut_off_is_preferred(names, tmp_path):
    store(tmp_path / "a", 1, value=0.4, cut_off={"time_limit": 1.0, "fits": 1, "of": 2})
    store(tmp_path / "b", 1, value=0.6)
    merge([tmp_path / name for name in names], tmp_path / "out")
    assert read_summary(tmp_path / "out", "SET").rows[0].values["map"] == 0.6


def test_a_folder_without_results_is_refused(tmp_path):
    store(tmp_path / "a", 1)
    with pytest.raises(DataError, match="b: found no finished fold"):
        merge([tmp_path / "a", tmp_path / "b"], tmp_path / "out")


def test_the_command_says_what_it_did(tmp_path):
    store(tmp_path / "a", 1)
    (store(tmp_path / "a", 2) / "scores.txt").unlink()
    words = ["results", "merge", str(tmp_path / "a"), "--out", str(tmp_path / "out")]
    result = CliRunner().invoke(cli, words)
    assert result.exit_code == 0
    expected = f"{tmp_path / 'out'}: 1 fold copied\nSET: partial: net: 1 of 3 folds\n"
    assert result.stdout == expected
    assert "letorbench: warning: " in result.stderr and "fold2/scores.txt" in result.stderr
