"""One file cut into folds by query, from LETOR text and from tables."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result
from conftest import random_queries

import letorbench as lb
from letorbench.cli import cli
from letorbench.datasets.user_data.folds import split
from letorbench.datasets.user_data.tables import Columns
from letorbench.errors import DataError

TEXT = "".join(
    f"{d % 3} qid:{q} 1:{q}.5 2:{'NULL' if (q, d) == (2, 1) else d} #docid = D{q}-{d}\n"
    for q in range(1, 8)
    for d in range(3)
)


@pytest.fixture
def frame(rng: np.random.Generator) -> pd.DataFrame:
    queries = random_queries(rng, [3, 1, 4, 2, 5, 2], n_features=3)
    values = queries.X.astype(float) * [1e-7, 1.0, 1e9]
    table = pd.DataFrame(values, columns=["bm25", "page rank", "clicks"])
    table.insert(1, "grade", queries.y)
    table["query"] = [f"q{number}" for number in queries.qid]
    return table.sample(frac=1.0, random_state=1)


def lines(folder: Path, fold: int, part: str) -> list[str]:
    return (folder / f"Fold{fold}" / f"{part}.txt").read_text().splitlines()


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_text_is_copied_line_by_line(ending, tmp_path):
    path = tmp_path / "mine.txt"
    path.write_text("# a heading\n\n" + TEXT.rstrip().replace("\n", ending), newline="")
    assert split(path, tmp_path / "data", folds=3) == "mine"
    whole = sorted(TEXT.splitlines())
    for fold in (1, 2, 3):
        parts = [lines(tmp_path / "data" / "mine", fold, p) for p in ("train", "vali", "test")]
        assert sorted(sum(parts, [])) == whole
    tests = [lines(tmp_path / "data" / "mine", fold, "test") for fold in (1, 2, 3)]
    assert sorted(sum(tests, [])) == whole
    loaded = lb.load("mine", tmp_path / "data", null="min")
    assert loaded.provenance["rotation"]
    together = [part.qids for part in loaded.folds[0].parts.values()]
    assert len(np.unique(np.concatenate(together))) == sum(map(len, together))


@pytest.mark.parametrize("form", ["csv", "tsv"])
def test_a_table_is_what_from_frame_makes_of_it(form, frame, tmp_path):
    path = tmp_path / f"mine.{form}"
    frame.to_csv(path, index=False, sep="\t" if form == "tsv" else ",")
    split(path, tmp_path, folds=3, seed=4, columns=Columns("grade", "query"))
    loaded = lb.load("mine", tmp_path)
    expected = lb.from_frame(frame, "grade", "query", folds=3, seed=4)
    for found, wanted in zip(loaded.folds, expected.folds, strict=True):
        for part in ("train", "validation", "test"):
            ours, theirs = found.parts[part], wanted.parts[part]
            np.testing.assert_array_equal(ours.X, theirs.X)
            np.testing.assert_array_equal(ours.y, theirs.y)
            np.testing.assert_array_equal(ours.offsets, theirs.offsets)
            assert ours.feature_names == ("bm25", "page rank", "clicks")


def test_columns_docids_and_missing_values(frame, tmp_path):
    frame["name"] = [f"D{row}" for row in range(len(frame))]
    frame.iloc[0, 0] = np.nan
    frame.to_csv(tmp_path / "mine.csv", index=False)
    columns = Columns("grade", "query", "name", ["clicks", "bm25"])
    split(tmp_path / "mine.csv", tmp_path, columns=columns)
    with pytest.raises(DataError, match="found NULL as the value of feature 2.*--null min"):
        lb.load("mine", tmp_path)
    parts = lb.load("mine", tmp_path, null=0.0).folds[0].parts.values()
    assert all(part.feature_names == ("clicks", "bm25") for part in parts)
    names = sorted(name.decode() for part in parts for name in part.docids)
    assert names == sorted(frame["name"])
    value = {n.decode(): x for part in parts for n, x in zip(part.docids, part.X, strict=True)}
    for _, row in frame.iterrows():
        wanted = [np.float32(row["clicks"]), np.float32(np.nan_to_num(row["bm25"]))]
        assert value[row["name"]].tolist() == wanted


@pytest.mark.parametrize(
    "words, text, status, message",
    [
        (["--qid", "q"], "label,qid,x\n0,1,2\n", 2, "unknown column 'q'.*expected one of label"),
        (
            [],
            "label,qid,x\n0.5,1,2\n",
            1,
            "csv:2: column 'label': found 0.5, expected an integer.* 31.*gain.*--grades auto",
        ),
        (
            [],
            "label,qid,x\n50,1,2\n",
            1,
            "mine.csv:2: column 'label': found 50, expected an integer from 0",
        ),
        ([], "label,qid,x\ngood,1,2\n", 1, "csv:2: column 'label': found 'good', expected numbers"),
        ([], "label,qid,x\n0,1,far\n", 1, "csv:2: column 'x': found 'far', .*numbers .--columns"),
        ([], "label,qid,x\n0,1,2\n", 1, "found 1 queries, expected at least 5, the folds"),
        ([], "", 1, "no table"),
        (["--name", "../x"], "label,qid,x\n0,1,2\n", 2, "cannot name a data set"),
        (["--name", "mq2008"], "label,qid,x\n0,1,2\n", 2, "no published set's name"),
    ],
)
def test_what_is_wrong_is_one_line(words, text, status, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine.csv").write_text(text)
    result = call("split", "mine.csv", *words)
    assert result.exit_code == status
    assert result.stderr.startswith("letorbench: error: ") and result.stderr.count("\n") == 1
    assert re.search(message, result.stderr), result.stderr
    assert not list(Path("data").glob("*"))


def call(*words: str) -> Result:
    return CliRunner().invoke(cli, ["datasets", *words])


def test_what_is_there_is_not_written_over(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine.txt").write_text(TEXT)
    assert call("split", "mine.txt").stdout == "mine  data/mine\n"
    result = call("split", "mine.txt")
    assert result.exit_code == 1 and "data/mine: is there already; --name" in result.stderr
