"""Measures that were not stored: from stored scores and the data."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from toy_data import write_toy

from letorbench.cli import cli
from letorbench.errors import DataError
from letorbench.results import PerQuery, check_paired, read_per_query
from letorbench.results.measuring import with_measures
from letorbench.results.per_query import read_fold_queries


@pytest.fixture(scope="module")
def ran(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("remeasure")
    write_toy(folder / "data")
    words = ["run", "--dataset", "TOY", "--algo", "regression,ndcgboost", "--set", "rounds=3"]
    places = ["--data-dir", str(folder / "data"), "--out", str(folder / "results")]
    result = CliRunner().invoke(cli, [*words, *places])
    assert result.exit_code == 0, result.stderr
    return folder


def test_measured_again_is_what_was_stored(ran, monkeypatch):
    stored = read_per_query(ran / "results", "TOY", "regression")

    def first_measure_only(*where):
        queries = read_fold_queries(*where)
        return replace(queries, values=dict(list(queries.values.items())[:1]))

    monkeypatch.setattr("letorbench.results.store.read_fold_queries", first_measure_only)
    measures = ["ndcg@1", "ndcg@10", "map", "p@7"]
    found = with_measures(ran / "results", ran / "data", "TOY", "regression", measures)
    for name in measures:
        np.testing.assert_array_equal(found.values[name], stored.values[name])


def test_new_cutoffs_in_a_table(ran):
    places = ["--data-dir", str(ran / "data"), "--out", str(ran / "results")]
    words = ["table", "TOY", "--measure", "ndcg@12,ndcg@7", "--format", "csv"]
    header, first, _ = CliRunner().invoke(cli, [*words, *places]).stdout.splitlines()
    assert header.endswith(",ndcg@12,ndcg@7")
    # the toy's queries have seven documents, so the cut-off at 12 is the one at 7
    assert first.split(",")[-1] == first.split(",")[-2]


def test_other_data_are_refused(ran, tmp_path):
    write_toy(tmp_path, seed=9)
    with pytest.raises(DataError, match="its data are not those now under"):
        with_measures(ran / "results", tmp_path, "TOY", "regression", ["ndcg@12"])
    # what is stored needs no data
    with_measures(ran / "results", tmp_path / "nowhere", "TOY", "regression", ["map"])


def test_systems_on_other_queries_are_not_paired(ran):
    one = read_per_query(ran / "results", "TOY", "regression")
    check_paired("TOY", [one, read_per_query(ran / "results", "TOY", "ndcgboost")])
    fewer = type(one)("less", one.folds[8:], one.qids[8:], {})
    with pytest.raises(DataError, match="40 queries of folds 1,2,3,4,5, less 32 of folds 2,3,4,5"):
        check_paired("TOY", [one, fewer])


def test_the_mean_is_that_of_the_folds_means():
    found = PerQuery("a", np.array([1, 1, 2]), np.arange(3), {"map": np.array([0.0, 1.0, 1.0])})
    assert found.mean("map") == 0.75
