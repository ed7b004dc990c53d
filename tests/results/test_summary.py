"""Summaries: read from the finished folds, with CSV copies for people."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from stored_results import store_fold

from letorbench.errors import DataError, UsageError
from letorbench.results import paths
from letorbench.results.paths import present
from letorbench.results.summary import (
    Row,
    Summary,
    curve,
    read_per_query,
    read_summary,
    stored_reading,
    stored_summary,
    update_row,
)


def algorithm(out: Path, algo: str, values: dict[str, float], convention: str = "letor3") -> None:
    for number in (1, 2):
        store_fold(out, "SET", algo, number, values, convention, n_folds=2)


def test_a_summary_and_its_copy(tmp_path):
    algorithm(tmp_path, "b", {"ndcg@1": 0.1, "map": 0.30000000000000004})
    algorithm(tmp_path, "a", {"ndcg@1": 0.2, "mrr": 0.5}, "letor4")
    summary = read_summary(tmp_path, "SET")
    assert summary.rows == (
        Row("a", "letor4", 2, {"ndcg@1": 0.2, "mrr": 0.5}, 2),
        Row("b", "letor3", 2, {"ndcg@1": 0.1, "map": 0.30000000000000004}, 2),
    )
    assert summary.measures == ("ndcg@1", "mrr", "map")
    assert summary.conventions == ("letor4", "letor3") and summary.mixed
    assert summary.partial == () and stored_summary(tmp_path, "SET") == summary
    assert present(tmp_path) == ["SET"]
    assert (tmp_path / "SET" / "summary.csv").read_text() == (
        "algo,convention,folds,repeats,cut_off,ndcg@1,mrr,map\na,letor4,2,1,0,0.2,0.5,\n"
        "b,letor3,2,1,0,0.1,,0.30000000000000004\n"
    )


def test_values_are_means_of_the_folds_means(tmp_path):
    store_fold(tmp_path, "SET", "a", 1, {"map": [0.0, 1.0, 1.0]})
    store_fold(tmp_path, "SET", "a", 3, {"map": [0.25]})
    (row,) = read_summary(tmp_path, "SET").rows
    assert row.values == {"map": np.mean([np.mean([0.0, 1.0, 1.0]), 0.25])}
    assert row.partial and read_summary(tmp_path, "SET").partial == ("a: folds 2 of 5",)
    folder = tmp_path / "SET" / "a"
    assert (folder / "folds.csv").read_text().splitlines()[0::2] == ["fold,map", "3,0.25"]
    assert (folder / "per_query.csv").read_text() == (
        "fold,qid,map\n1,100,0.0\n1,101,1.0\n1,102,1.0\n3,300,0.25\n"
    )
    queries = read_per_query(tmp_path, "SET", "a")
    assert queries.folds.tolist() == [1, 1, 1, 3]
    assert queries.qids.tolist() == ["100", "101", "102", "300"]
    assert queries.mean("map") == row.values["map"]


def test_copies_are_brought_up_to_date_when_read_and_left_alone_otherwise(tmp_path):
    store_fold(tmp_path, "SET", "a", 1, {"map": 0.5})
    read_summary(tmp_path, "SET")
    copies = [path for path in tmp_path.rglob("*.csv") if path.parent.name != "fold1"]
    assert len(copies) == 3
    before = {path: (path.read_bytes(), path.stat().st_ino) for path in copies}
    read_summary(tmp_path, "SET")
    assert {path: (path.read_bytes(), path.stat().st_ino) for path in copies} == before
    for spoil in (Path.unlink, lambda path: path.write_text("stale")):
        for path in copies:
            if path.name != "per_query.csv" or spoil is Path.unlink:
                spoil(path)
        read_summary(tmp_path, "SET")
        assert all(path.read_bytes() == text for path, (text, _) in before.items())
    store_fold(tmp_path, "SET", "a", 2, {"map": 0.75})
    read_summary(tmp_path, "SET")
    assert all("2" in path.read_text() and path.read_bytes() != before[path][0] for path in copies)


def test_a_folder_that_cannot_be_written_is_read(tmp_path, monkeypatch):
    store_fold(tmp_path, "SET", "a", 1, {"map": 0.5})

    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr("letorbench.results.derived_tables.write_atomically", refuse)
    assert read_summary(tmp_path, "SET").rows[0].values == {"map": 0.5}
    assert not list(tmp_path.glob("SET/*.csv"))


def test_the_experiment_written_or_kept_last_counts(tmp_path):
    old = [store_fold(tmp_path, "SET", "a", k, {"map": 0.5}, settings={"c": 1}) for k in (1, 2, 3)]
    store_fold(tmp_path, "SET", "a", 4, {"map": 0.9}, settings={"c": 2})
    for k, folder in enumerate(old):
        os.utime(folder / paths.FIT, ns=(k, k))
    assert read_summary(tmp_path, "SET").rows == (Row("a", "letor3", 1, {"map": 0.9}, 5),)
    os.utime(old[0] / paths.FIT, ns=(2**62, 2**62))
    assert read_summary(tmp_path, "SET").rows == (Row("a", "letor3", 3, {"map": 0.5}, 5),)


def test_one_new_fold_changes_one_row(tmp_path):
    algorithm(tmp_path, "b", {"map": 0.5})
    before = read_summary(tmp_path, "SET")
    assert update_row(tmp_path, before, "c") is before
    store_fold(tmp_path, "SET", "a", 1, {"map": 0.25})
    after = update_row(tmp_path, before, "a")
    assert [row.algo for row in after.rows] == ["a", "b"] and after.rows[1] == before.rows[0]
    assert (tmp_path / "SET" / "summary.csv").read_text().splitlines()[1] == "a,letor3,1,1,0,0.25"


def test_what_is_missing_or_broken(tmp_path):
    with pytest.raises(DataError, match="found no finished fold .no results there.; `letorbench"):
        read_summary(tmp_path, "SET")
    with pytest.raises(DataError, match="`letorbench run --dataset SET --algo a` makes them"):
        read_per_query(tmp_path, "SET", "a")
    folder = store_fold(tmp_path, "SET", "a", 1, {"map": 0.5}, null="min")
    assert stored_reading(tmp_path, "SET") == ("letor3", "min")
    assert stored_reading(tmp_path, "OTHER") == ("auto", "error")
    with pytest.raises(DataError, match="results there: SET"):
        read_summary(tmp_path, "OTHER")
    store_fold(tmp_path, "SET", "b", 1, {"map": 0.5})
    for text in ("{", "[]", "{}"):
        (folder / paths.FIT).write_text(text)
        for read in (read_summary, stored_summary):
            found = read(tmp_path, "SET")
            assert [row.algo for row in found.rows] == ["b"]
            assert len(found.damaged) == 1 and "a/fold1/fit.json: damaged" in found.damaged[0]
        with pytest.raises(DataError, match="fold1/fit.json: damaged"):
            read_per_query(tmp_path, "SET", "a")
    (folder / paths.FIT).unlink()
    assert [row.algo for row in read_summary(tmp_path, "SET").rows] == ["b"]


def test_curve_ends_at_a_gap():
    values = {f"ndcg@{k}": k / 10 for k in (1, 2, 3, 5)} | {f"p@{k}": 0.0 for k in range(1, 17)}
    row = Row("a", "letor3", 5, values)
    assert curve(row, "ndcg") == (0.1, 0.2, 0.3)
    assert len(curve(row, "p")) == 10
    with pytest.raises(UsageError, match="no column err@1 .* expected one of ndcg, p"):
        curve(row, "err")


def test_only():
    summary = Summary("S", tuple(Row(a, "letor3", 5, {}) for a in "abc"))
    assert [row.algo for row in summary.only(["c", "a"]).rows] == ["a", "c"]
