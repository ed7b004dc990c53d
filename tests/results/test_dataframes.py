"""Stored results as DataFrames."""

from __future__ import annotations

import subprocess
import sys

import pandas as pd
import pytest
from stored_results import store_fold

from letorbench.errors import DataError
from letorbench.results import fits_frame, folds_frame, per_query_frame, summary_frame


@pytest.fixture
def out(tmp_path):
    for dataset, algo in (("A", "x"), ("A", "y"), ("B", "x")):
        for number in (1, 2):
            store_fold(tmp_path, dataset, algo, number, {"map": [0.0, number / 2]}, n_folds=2)
    store_fold(tmp_path, "B", "z", 2, {"map": 0.5, "mrr": 1.0}, n_folds=2, seed=7)
    return tmp_path


def test_the_summary(out):
    frame = summary_frame(out)
    assert frame.columns.tolist() == [
        "dataset", "algo", "convention", "features", "folds", "n_folds", "repeats", "partial",
        "cut_off",
        "map", "mrr",
    ]  # fmt: skip
    assert list(zip(frame.dataset, frame.algo)) == [("A", "x"), ("A", "y"), ("B", "x"), ("B", "z")]
    assert frame["map"].tolist() == [0.375, 0.375, 0.375, 0.5]
    assert frame.partial.tolist() == [False, False, False, True]
    assert summary_frame(out, "A").algo.tolist() == ["x", "y"]


def test_folds_and_queries_and_fits(out):
    folds = folds_frame(out, "A", "x")
    expected = {"dataset": "A", "algo": "x", "repeat": 1, "fold": [1, 2], "map": [0.25, 0.5]}
    pd.testing.assert_frame_equal(folds, pd.DataFrame(expected))
    queries = per_query_frame(out)
    assert queries.columns.tolist() == ["dataset", "algo", "repeat", "fold", "qid", "map", "mrr"]
    assert len(queries) == 13 and per_query_frame(out, algo="z").mrr.tolist() == [1.0]
    by_fold = queries.groupby(["dataset", "algo", "fold"])["map"].mean()
    means = by_fold.groupby(["dataset", "algo"]).mean()
    assert means.tolist() == summary_frame(out)["map"].tolist()
    fits = fits_frame(out, "B")
    assert fits.seed.dropna().tolist() == [7.0] and fits.warnings.map(list).tolist() == [[]] * 3


def test_nothing_there_is_an_error(out, tmp_path):
    with pytest.raises(DataError, match="found no finished fold of A and q"):
        folds_frame(out, "A", "q")
    with pytest.raises(DataError, match="found no finished fold of C"):
        per_query_frame(out, "C")
    with pytest.raises(DataError, match="no results there"):
        summary_frame(tmp_path / "none")


def test_pandas_comes_only_with_a_frame():
    code = "import sys, letorbench.experiment.runner; print('pandas' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
