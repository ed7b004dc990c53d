"""Benchmarks from DataFrames: every query tested once, nothing mixed between the parts."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from letorbench.datasets.load import from_frame
from letorbench.errors import DataError, UsageError


@pytest.fixture
def df(rng: np.random.Generator) -> pd.DataFrame:
    """23 queries of one to eight documents, the rows shuffled."""
    qid = np.repeat(np.arange(100, 123), rng.integers(1, 9, 23))
    table = pd.DataFrame(
        {
            "query": qid,
            "bm25": rng.normal(size=len(qid)),
            "clicks": rng.integers(0, 50, len(qid)),
            "rel": rng.integers(0, 4, len(qid)),
        }
    )
    return table.sample(frac=1, random_state=3)


@pytest.mark.parametrize("folds", [3, 4, 5, 10])
def test_folds_are_a_rotation_by_query(df: pd.DataFrame, folds: int) -> None:
    data = from_frame(df, label="rel", qid="query", folds=folds, seed=1)
    assert data.convention.name == "standard" and data.convention.max_label == 3
    assert [fold.number for fold in data.folds] == list(range(1, folds + 1))
    tested = np.concatenate([fold.test.qids for fold in data.folds])
    assert sorted(tested) == sorted(df["query"].astype(str).unique())
    for k, fold in enumerate(data.folds):
        parts = fold.parts.values()
        queries = np.concatenate([part.qids for part in parts])
        assert sorted(queries) == sorted(df["query"].astype(str).unique())
        rows = np.concatenate([part.rows for part in parts])
        assert sorted(rows) == list(range(len(df)))
        after = data.folds[(k + 1) % folds]
        assert np.shares_memory(fold.test.features, after.validation.features) or k == folds - 1
        np.testing.assert_array_equal(fold.test.features, after.validation.features)
        for part in parts:
            assert part.feature_names == ("bm25", "clicks")
            found = df.iloc[part.rows]
            np.testing.assert_array_equal(part.X, found[["bm25", "clicks"]].astype("float32"))
            np.testing.assert_array_equal(part.y, found["rel"])
            np.testing.assert_array_equal(part.qid, found["query"].astype(str))
            ordered = part.in_caller_order(part.rows)
            assert (np.diff(ordered) > 0).all()


def test_the_seed_and_the_content_decide(df: pd.DataFrame) -> None:
    def digest(table: pd.DataFrame = df, **options: object) -> str:
        return from_frame(table, "rel", "query", **options).provenance["digest"]

    changed = df.copy()
    changed.iloc[0, 1] += 1
    other = [digest(seed=1), digest(folds=4), digest(changed), digest(features=["bm25"])]
    assert digest() == digest(df.copy())
    assert len({digest(), *other}) == 5
    first, second = from_frame(df, "rel", "query"), from_frame(df, "rel", "query")
    assert first.folds[0].train.digest == second.folds[0].train.digest


def test_options(df: pd.DataFrame) -> None:
    data = from_frame(
        df, "rel", "query", features=["clicks"], convention="letor4", name="shop", folds=3
    )
    assert repr(data).startswith("Benchmark('shop', 3 folds, 23 queries, ")
    assert repr(data).endswith("1 feature, labels 0-3, letor4)")
    names = {"name", "folder", "files", "digest", "variant", "null", "rotation", "validation"}
    assert names <= set(data.provenance)


@pytest.mark.parametrize(
    "changes, error, message",
    [
        ({"label": "relevance"}, UsageError, "unknown column 'relevance'; .*expected one of"),
        ({"qid": "qeury"}, UsageError, "unknown column 'qeury'; did you mean query"),
        ({"features": ["title"]}, UsageError, "unknown column 'title'"),
        ({"folds": 2}, UsageError, "folds: found 2, expected at least 3"),
        ({"folds": 24}, DataError, "found 23 queries, expected at least 24"),
        ({"convention": "trec"}, UsageError, "unknown convention 'trec'"),
    ],
)
def test_wrong_words(df: pd.DataFrame, changes: dict, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        from_frame(df, **{"label": "rel", "qid": "query"} | changes)


def test_wrong_values(df: pd.DataFrame) -> None:
    with pytest.raises(DataError, match="column 'title': found values of type .*, expected num"):
        from_frame(df.assign(title="x"), "rel", "query")
    with pytest.raises(DataError, match="column 1: found nan"):
        from_frame(df.assign(clicks=float("nan")), "rel", "query")
    with pytest.raises(DataError, match="found -1, expected an integer from 0 to 31"):
        from_frame(df.assign(rel=-1), "rel", "query")
