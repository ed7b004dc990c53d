"""Summaries: read from the finished folds of one or more seeds, with CSV copies for people."""

import os
from pathlib import Path

import numpy as np
import pytest
from toy_data import store_fold

from letorbench.results import paths
from letorbench.results.csv_files import write_tables
from letorbench.results.dataset_results import DatasetResults
from letorbench.results.per_query import PerQuery
from letorbench.results.store import Store, read_folds

#: values of two queries a fold: VALUES[repeat][fold]
VALUES = {1: {1: [0.0, 0.2], 2: [0.4, 0.8]}, 2: {1: [0.2, 0.4], 2: [0.6, 0.8]},
          3: {1: [0.1, 0.1], 2: [0.2, 0.0]}}  # fmt: skip


def algorithm(out: Path, algo: str, values: dict[str, float], convention: str = "letor3") -> None:
    for number in (1, 2):
        store_fold(out, "SET", algo, number, values, convention, n_folds=2)


def store_repeats(out: Path, repeats: int = 3, values=VALUES) -> None:
    for repeat, folds in values.items():
        for number, each in folds.items():
            store_fold(out, "SET", "net", number, {"map": each}, n_folds=2, repeat=repeat,
                       repeats=repeats)  # fmt: skip


def write(out: Path) -> None:
    """Write the copies, as a run does."""
    store = Store(out).look("SET")
    write_tables(store, "SET", store.algorithms("SET"))


def test_a_summary_and_its_copy(tmp_path):
    algorithm(tmp_path, "b", {"ndcg@1": 0.1, "map": 0.30000000000000004})
    algorithm(tmp_path, "a", {"ndcg@1": 0.2, "mrr": 0.5}, "letor4")
    write(tmp_path)
    summary = DatasetResults.read(tmp_path, "SET")
    assert [(row.algo, row.convention, row.folds, row.n_folds) for row in summary.rows] == [
        ("a", "letor4", 2, 2), ("b", "letor3", 2, 2)
    ]  # fmt: skip
    assert [row.values for row in summary.rows] == [
        {"ndcg@1": 0.2, "mrr": 0.5}, {"ndcg@1": 0.1, "map": 0.30000000000000004}
    ]  # fmt: skip
    assert summary.measures == ("ndcg@1", "mrr", "map")
    assert summary.conventions == ("letor4", "letor3") and summary.mixed
    assert summary.partial == ()
    assert [row.algo for row in summary.only(["b", "c"]).rows] == ["b"]
    assert (tmp_path / "SET" / "summary.csv").read_text() == (
        "algo,convention,folds,repeats,cut_off,ndcg@1,mrr,map\na,letor4,2,1,0,0.2,0.5,\n"
        "b,letor3,2,1,0,0.1,,0.30000000000000004\n"
    )


def test_a_run_writes_the_copies_that_say_something_else_and_a_reader_none(tmp_path):
    store_fold(tmp_path, "SET", "a", 1, {"map": 0.5})
    DatasetResults.read(tmp_path, "SET")
    assert list(tmp_path.rglob("summary.csv")) == []
    write(tmp_path)
    copies = [path for path in tmp_path.rglob("*.csv") if path.parent.name != "fold1"]
    assert len(copies) == 3
    before = {path: (path.read_bytes(), path.stat().st_ino) for path in copies}
    write(tmp_path)
    assert {path: (path.read_bytes(), path.stat().st_ino) for path in copies} == before
    [fit] = tmp_path.rglob("fit.json")
    os.utime(fit)  # as a run does that reuses the fold: its tables are up to date
    write_tables(Store(tmp_path), "SET")
    [last] = tmp_path.rglob("folds.csv")  # which says that all of them are up to date
    assert last.stat().st_mtime_ns >= fit.stat().st_mtime_ns
    for spoil in (Path.unlink, lambda path: path.write_bytes(b"stale\xff")):
        for path in copies:
            spoil(path)
        write(tmp_path)
        assert all(path.read_bytes() == text for path, (text, _) in before.items())
    store_fold(tmp_path, "SET", "a", 2, {"map": 0.75})
    assert DatasetResults.read(tmp_path, "SET").rows[0].values == {"map": 0.625}
    assert all(path.read_bytes() == text for path, (text, _) in before.items())
    write(tmp_path)
    assert all("2" in path.read_text() and path.read_bytes() != before[path][0] for path in copies)


def test_the_experiment_written_or_reused_last_counts(tmp_path):
    old = [store_fold(tmp_path, "SET", "a", k, {"map": 0.5}, settings={"c": 1}) for k in (1, 2, 3)]
    store_fold(tmp_path, "SET", "a", 4, {"map": 0.9}, settings={"c": 2})
    for k, folder in enumerate(old):
        os.utime(folder / paths.FIT, ns=(k, k))
    [row] = DatasetResults.read(tmp_path, "SET").rows
    assert (row.folds, row.values) == (1, {"map": 0.9})
    os.utime(old[0] / paths.FIT, ns=(2**62, 2**62))
    [row] = DatasetResults.read(tmp_path, "SET").rows
    assert (row.folds, row.values) == (3, {"map": 0.5})


def test_a_run_does_not_lose_the_rows_of_another(tmp_path):
    """Two runs write the tables of one folder, each with what it knows and what it finds."""
    algorithm(tmp_path, "b", {"map": 0.5})
    one, other = Store(tmp_path).look("SET"), Store(tmp_path).look("SET")
    store_fold(tmp_path, "SET", "a", 1, {"map": 0.25})
    write_tables(one, "SET", ["a"])
    store_fold(tmp_path, "SET", "c", 1, {"map": 0.75})
    write_tables(other, "SET", ["c"])
    lines = (tmp_path / "SET" / "summary.csv").read_text().splitlines()[1:]
    assert lines == ["a,letor3,1,1,0,0.25", "b,letor3,2,1,0,0.5", "c,letor3,1,1,0,0.75"]
    assert (tmp_path / "SET" / "c" / "folds.csv").is_file()


@pytest.mark.parametrize(
    "values, line, repeats",
    [
        ({**VALUES, 3: {1: [0.9, 0.9]}}, "net: 2 of 4 repeats", 2),
        ({1: {1: [0.5]}}, "net: 1 of 2 folds", 1),
        ({1: {4: [0.5]}, 2: VALUES[2]}, "net: 1 of 4 repeats", 1),
    ],
)
def test_an_unfinished_repeat_does_not_count(tmp_path, values, line, repeats):
    store_repeats(tmp_path, 4, values)
    write(tmp_path)
    summary = DatasetResults.read(tmp_path, "SET")
    (row,) = summary.rows
    assert row.repeats == repeats and summary.partial == (line,)
    assert row.values["map"] == pytest.approx(np.mean(row.repeated["map"]))
    assert (row.deviation("map") is None) == (repeats == 1)
    assert (tmp_path / "SET" / "net" / "repeats.csv").is_file() == (repeats > 1)
    assert len(read_folds(tmp_path, "SET", "net")) == sum(map(len, values.values()))


def test_no_stored_value_can_be_changed() -> None:
    tables = {"map": np.array([[0.1, 0.9], [0.1, 0.8]])}
    made = PerQuery("a", np.array([1, 1]), np.array(["7", "07"]), tables)
    arrays = [made.folds, made.qids, *made.values.values(), *made.tables.values()]
    assert len(arrays) == 4 and not any(array.flags.writeable for array in arrays)
