"""Several seeds of an algorithm as stored: means, deviations, what is unfinished."""

from __future__ import annotations

import csv
import json
import pickle

import numpy as np
import pytest
from stored_results import store_fold

from letorbench.results import paths
from letorbench.results.added_measures import extended
from letorbench.results.fit_file import keep, stored_fit
from letorbench.results.per_query import PerQuery
from letorbench.results.stored_folds import read_folds
from letorbench.results.summary import Row, read_per_query, read_summary

#: values of two queries a fold: VALUES[repeat][fold]
VALUES = {1: {1: [0.0, 0.2], 2: [0.4, 0.8]}, 2: {1: [0.2, 0.4], 2: [0.6, 0.8]},
          3: {1: [0.1, 0.1], 2: [0.2, 0.0]}}  # fmt: skip


def store(out, algo="net", asked=3, values=VALUES):
    for repeat, folds in values.items():
        for number, found in folds.items():
            store_fold(out, "SET", algo, number, {"map": found}, n_folds=2, repeat=repeat,
                       repeats=asked)  # fmt: skip


def rows(path):
    return [
        [cell if cell.isalpha() else float(cell) for cell in row]
        for row in list(csv.reader(path.open()))[1:]
    ]


def test_the_mean_and_the_deviation_are_over_the_repeats(tmp_path):
    store(tmp_path)
    (row,) = read_summary(tmp_path, "SET").rows
    each = [np.mean([np.mean(v) for v in folds.values()]) for folds in VALUES.values()]
    assert row.repeated["map"] == pytest.approx(each)
    assert row.values["map"] == pytest.approx(np.mean(each))
    assert row.deviation("map") == pytest.approx(np.std(each, ddof=1))
    assert (row.folds, row.repeats, row.n_repeats, row.partial) == (2, 3, 3, False)


def test_the_files_of_the_algorithm(tmp_path):
    store(tmp_path)
    read_summary(tmp_path, "SET")
    folder = tmp_path / "SET" / "net"
    mean = {k: np.mean([VALUES[r][k] for r in VALUES], axis=0) for k in (1, 2)}
    expected = [[k, 100 * k + i, mean[k][i]] for k in (1, 2) for i in (0, 1)]
    np.testing.assert_allclose(rows(folder / "per_query.csv"), expected)
    folds = rows(folder / "folds.csv")
    np.testing.assert_allclose(folds[0] + folds[1], [1, mean[1].mean(), 2, mean[2].mean()])
    each = [np.mean([np.mean(v) for v in found.values()]) for found in VALUES.values()]
    assert folds[2] == ["mean", pytest.approx(np.mean(each))]
    repeats = rows(folder / "repeats.csv")
    assert [row[0] for row in repeats] == [1, 2, 3, "mean", "sd"]
    spread = [*each, np.mean(each), np.std(each, ddof=1)]
    assert [row[1] for row in repeats] == pytest.approx(spread)
    header = (tmp_path / "SET" / "summary.csv").read_text().splitlines()[0]
    assert header == "algo,convention,folds,repeats,cut_off,map,map-sd"


def test_per_query_values_of_each_repeat(tmp_path):
    store(tmp_path)
    queries = read_per_query(tmp_path, "SET", "net")
    assert queries.by_repeat("map").tolist() == [[*f[1], *f[2]] for f in VALUES.values()]
    assert queries.means("map") == pytest.approx(
        read_summary(tmp_path, "SET").rows[0].repeated["map"]
    )
    one = queries.only(np.array([2]))
    assert one.by_repeat("map").tolist() == [f[2] for f in VALUES.values()]
    assert one.qids.tolist() == ["200", "201"]


def test_an_unfinished_repeat_does_not_count_and_is_said(tmp_path):
    unfinished = {**VALUES, 3: {1: [0.9, 0.9]}}
    store(tmp_path, asked=4, values=unfinished)
    summary = read_summary(tmp_path, "SET")
    (row,) = summary.rows
    assert row.repeats == 2 and row.partial
    assert summary.partial == ("net: repeats 2 of 4",)
    assert row.values["map"] == pytest.approx(np.mean(row.repeated["map"]))
    assert len(read_folds(tmp_path, "SET", "net")) == 5


def test_a_first_repeat_that_goes_on_is_partial_by_its_folds(tmp_path):
    store(tmp_path, values={1: {1: [0.5]}})
    summary = read_summary(tmp_path, "SET")
    assert summary.partial == ("net: folds 1 of 2",) and summary.rows[0].repeats == 1


def test_one_seed_has_no_deviation_and_no_table_of_repeats(tmp_path):
    store(tmp_path)
    read_summary(tmp_path, "SET")
    assert (tmp_path / "SET" / "net" / paths.REPEATS).is_file()
    for repeat in (2, 3):
        for number in (1, 2):
            (paths.fold_folder(tmp_path, "SET", "net", number, repeat) / paths.FIT).unlink()
    (row,) = read_summary(tmp_path, "SET").rows
    assert row.repeats == 1 and row.deviation("map") is None
    assert not (tmp_path / "SET" / "net" / paths.REPEATS).exists()


def test_nothing_drawn_needs_no_repeats():
    row = Row("a", "letor3", 5, {"map": 0.5}, 5)
    assert (row.repeats, row.partial, row.deviation("map")) == (1, False, None)


def test_a_kept_fold_says_how_many_seeds_are_asked_for_now(tmp_path):
    store(tmp_path)
    folder = paths.fold_folder(tmp_path, "SET", "net", 2, 3)
    before = stored_fit(folder)
    assert keep(folder, before, 5) == []
    assert stored_fit(folder) == {**before, "repeats": 5}
    assert read_summary(tmp_path, "SET").partial == ("net: repeats 3 of 5",)
    assert json.loads((folder / paths.FIT).read_text())["identity"]["repeat"] == 3


def test_folds_of_repeats_alone_are_found(tmp_path):
    store(tmp_path, values={2: VALUES[2]})
    assert paths.algorithms(tmp_path, "SET") == ["net"] and paths.present(tmp_path) == ["SET"]
    (row,) = read_summary(tmp_path, "SET").rows
    assert row.repeats == 1 and row.folds == 2


def test_stored_measures_need_no_data(tmp_path):
    store(tmp_path)
    summary = read_summary(tmp_path, "SET")
    assert extended(tmp_path, tmp_path / "none", summary, ["map"]) == summary


def test_no_stored_value_can_be_changed() -> None:
    columns = {"map": np.array([0.1, 0.9])}
    made = PerQuery("a", np.array([1, 1]), np.array(["7", "07"]), columns, {"map": np.ones((2, 2))})
    for each in (made, pickle.loads(pickle.dumps(made))):
        arrays = [each.folds, each.qids, *each.values.values(), *each.repeated.values()]
        assert len(arrays) == 4 and not any(array.flags.writeable for array in arrays)
