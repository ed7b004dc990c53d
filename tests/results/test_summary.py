"""Summaries: written from folds.csv, read back the same."""

from __future__ import annotations

import json

import pytest

from letorbench.errors import DataError, UsageError
from letorbench.results.summary import Row, Summary, curve, present, read_summary, summarise


def algorithm(out, algo, header, mean, convention="letor3"):
    folder = out / "SET" / algo
    (folder / "fold1").mkdir(parents=True)
    fit = {"identity": {"convention": convention}}
    (folder / "fold1" / "fit.json").write_text(json.dumps(fit))
    lines = [["fold", *header], ["1", *mean], ["2", *mean], ["mean", *mean]]
    (folder / "folds.csv").write_text("".join(",".join(line) + "\n" for line in lines))


def test_summary_is_written_and_read_back(tmp_path):
    algorithm(tmp_path, "b", ["ndcg@1", "map"], ["0.1", "0.30000000000000004"])
    algorithm(tmp_path, "a", ["ndcg@1", "mrr"], ["0.2", "0.5"], "letor4")
    summary = summarise(tmp_path, "SET")
    assert summary.rows == (
        Row("a", "letor4", 2, {"ndcg@1": 0.2, "mrr": 0.5}),
        Row("b", "letor3", 2, {"ndcg@1": 0.1, "map": 0.30000000000000004}),
    )
    assert summary.measures == ("ndcg@1", "mrr", "map")
    assert summary.conventions == ("letor4", "letor3")
    assert read_summary(tmp_path, "SET") == summary
    assert present(tmp_path) == ["SET"]
    assert (tmp_path / "SET" / "summary.csv").read_text() == (
        "algo,convention,folds,ndcg@1,mrr,map\na,letor4,2,0.2,0.5,\n"
        "b,letor3,2,0.1,,0.30000000000000004\n"
    )


def test_what_is_missing_or_broken(tmp_path):
    with pytest.raises(DataError, match="not found .no results there.; `letorbench run"):
        read_summary(tmp_path, "SET")
    (tmp_path / "SET" / "a").mkdir(parents=True)
    for text in ("", "a,b\n", "algo,convention,folds,map\nx,letor3,five,0.1\n"):
        (tmp_path / "SET" / "summary.csv").write_text(text)
        with pytest.raises(DataError, match="expected a summary"):
            read_summary(tmp_path, "SET")
    (tmp_path / "SET" / "a" / "folds.csv").write_text("fold,map\n1,0.5\n")
    with pytest.raises(DataError, match="no last line `mean`"):
        summarise(tmp_path, "SET")


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
