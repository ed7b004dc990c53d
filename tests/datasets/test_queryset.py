"""Query sets from a caller's arrays: converted once, grouped stably, refused with a word."""

import pickle
from dataclasses import fields
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from letorbench.datasets.load import load
from letorbench.datasets.queryset import QuerySet
from letorbench.datasets.synthetic import make
from letorbench.errors import DataError, UsageError

X = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]


@pytest.mark.parametrize(
    "features",
    [
        np.array(X),
        np.asfortranarray(X),
        np.array(X, dtype=np.int8),
        np.array(X, dtype=object),
        np.array(X)[:, ::-1][:, ::-1],
        X,
        pd.DataFrame(X, columns=["a", "b"]).astype("Int64"),
    ],
)
def test_every_real_dtype_and_order(features) -> None:
    found = QuerySet.from_arrays(features, [0, 1, 2], qid=[7, 7, 8])
    assert found.features.dtype == np.float32
    assert found.features.flags.c_contiguous
    np.testing.assert_array_equal(found.X, np.array(X, dtype=np.float32))
    assert (found.labels.dtype, found.offsets.dtype, found.qids.dtype) == ("i4", "i8", "U1")
    assert found.offsets.tolist() == [0, 2, 3] and found.qids.tolist() == ["7", "8"]
    assert found.qid.tolist() == ["7", "7", "8"] and found.rows is None


def test_no_array_can_be_changed(rng: np.random.Generator, tmp_path: Path) -> None:
    make("DEMO", tmp_path)
    labels = rng.integers(0, 3, 9)
    made = QuerySet.from_arrays(rng.random((9, 2)), labels, qid=[2, 1] * 4 + [2], docids=range(9))
    read = load("DEMO", tmp_path).folds[0].parts.values()
    sent = pickle.loads(pickle.dumps(made))
    assert sent.digest == made.digest
    for queries in (made, made.queries(0, 1), made.take([1]), sent, *read):
        arrays = [getattr(queries, field.name) for field in fields(queries)]
        arrays += [queries.X, queries.y, queries.qid, queries.lengths, *queries.by_label]
        arrays = [each for each in arrays if isinstance(each, np.ndarray)]
        assert len(arrays) >= 12 and not any(each.flags.writeable for each in arrays)
    for part in read:  # their files are mapped: nobody can unlock them
        with pytest.raises(ValueError, match="cannot set WRITEABLE"):
            part.features.setflags(write=True)


def test_the_caller_keeps_arrays_of_their_own() -> None:
    features, labels = np.array(X, dtype=np.float32), np.array([0, 1, 2], np.int32)
    queries = QuerySet.from_arrays(features, labels, group=[3])
    features[:], labels[:] = 9, 0
    assert queries.X.tolist() == X and queries.y.tolist() == [0, 1, 2]
    again = QuerySet.from_arrays(queries.X, queries.y, group=[3])
    assert np.shares_memory(again.X, queries.X)


@pytest.mark.parametrize("n", [1, 2, 5, 30])
@pytest.mark.parametrize("text", [False, True])
def test_scattered_rows_against_plain_python(n: int, text: bool, rng) -> None:
    qid = rng.integers(-2, 4, n).tolist()
    given_ids = [f"q{q}" for q in qid] if text else qid
    ids = [str(each) for each in given_ids]
    features = np.arange(len(qid), dtype=float)[:, None]
    labels = np.arange(len(qid)) % 3
    names = [f"d{i}" for i in range(len(qid))]
    found = QuerySet.from_arrays(features, labels, qid=given_ids, docids=names)
    order = [i for q in dict.fromkeys(ids) for i in range(len(ids)) if ids[i] == q]
    assert found.qids.tolist() == list(dict.fromkeys(ids))
    assert found.X[:, 0].tolist() == order
    assert found.y.tolist() == [int(labels[i]) for i in order]
    assert found.docids.tolist() == [names[i].encode() for i in order]
    assert found.qid.tolist() == [ids[i] for i in order]
    assert found.in_caller_order(found.X[:, 0]).tolist() == list(range(len(ids)))


@pytest.mark.parametrize(
    "qid, names",
    [
        ([2**62 + 1, 2**62 + 1, 1], [str(2**62 + 1), "1"]),
        (np.array([2**64 - 1, 7, 7], np.uint64), [str(2**64 - 1), "7"]),
        (np.array([10**30, 7, 7], object), [str(10**30), "7"]),
        (["7", "07", "+7"], ["7", "07", "+7"]),
        (["WT04-182", "2003/td/5", "q" * 200], ["WT04-182", "2003/td/5", "q" * 200]),
        (["NULL", "nan", "red shoes"], ["NULL", "nan", "red shoes"]),
        ([b"\xc3\xa9", b"NP151", b"NP151"], ["é", "NP151"]),
        (pd.Categorical(["b", "a", "b"]), ["b", "a"]),
        (pd.array([7, 7, 8], "Int64"), ["7", "8"]),
        (pd.Series(["b", "a", "b"], dtype="string"), ["b", "a"]),
        (np.array(["2003", "2004", "2004"], "M8[Y]"), ["2003", "2004"]),
        (pd.Series([("a", 1), ("a", 2), ("a", 1)]), ["('a', 1)", "('a', 2)"]),
    ],
)  # fmt: skip
def test_query_ids_of_any_type_are_text(qid, names) -> None:
    assert QuerySet.from_arrays(X, [0, 0, 0], qid=qid).qids.tolist() == names


NAN = float("nan")


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"X": [[1.0, NAN], [3, 4], [5, 6]]}, "X: row 0, column 1: found nan, expected a number"),
        ({"X": [[1.0, 2], [-1e39, 4], [5, 6]]}, "row 1, column 0: found -1e.39, expected at most"),
        ({"X": [1.0, 2, 3]}, "X: found 1 dimension, expected 2"),
        ({"X": [[1, 2], [3], [4, 5]]}, "X: found rows of different lengths"),
        ({"X": np.zeros((3, 0))}, "X: found no features, expected at least 1"),
        ({"X": np.zeros((3, 2), complex)}, "X: found values of type complex128, expected real"),
        ({"X": [["a", "b"]] * 3}, "X: found values of type <U1, expected real numbers"),
        ({"y": [0, 1]}, "y: found 2 values, expected 3, one a document"),
        ({"y": [[0], [1], [2]]}, "y: found 2 dimensions, expected 1"),
        ({"y": [0, -1, 1]}, "y: row 1: found -1, expected an integer from 0 to 31"),
        ({"y": [0, 0.5, 1]}, "y: row 1: found 0.5, expected an integer from 0 to 31"),
        ({"y": [0, 31, 32]}, "y: row 2: found 32, expected an integer from 0 to 31, a grade r"),
        ({"qid": [1, 1]}, "qid: found 2 values, expected 3"),
        ({"qid": [1, 1, 1.5]}, "qid: row 2: found 1.5, expected an integer or text"),
        ({"qid": np.array(["a", 1, None], object)}, "qid: row 2: found None, expected an integer"),
        (
            {"qid": pd.array([1, None, 2], "Int64")},
            "qid: row 1: found (nan|<NA>), expected an integer",
        ),
        ({"qid": ["a", "", "b"]}, "qid: row 1: found '', expected an integer or text"),
        ({"qid": [b"a", b"\xff", b"b"]}, "qid: found b'.xff', expected UTF-8"),
        ({"qid": None, "group": [1, 1]}, "group: found counts of 2 rows in all, expected 3"),
        ({"qid": None, "group": [3, 0]}, "group: query 1: found 0 rows, expected at least 1"),
        ({"feature_names": ["a"]}, "feature_names: found 1 names, expected 2"),
        ({"docids": ["a"]}, "docids: found 1 values, expected 3"),
    ],
)
def test_wrong_input_is_refused(changes: dict, message: str) -> None:
    given_arrays = {"X": X, "y": [0, 1, 2], "qid": [1, 1, 2]} | changes
    with pytest.raises(DataError, match=message) as error:
        QuerySet.from_arrays(**given_arrays)
    assert isinstance(error.value, ValueError) and "\n" not in str(error.value)


def test_one_of_qid_and_group() -> None:
    for both in ({}, {"qid": [1, 1, 1], "group": [3]}):
        with pytest.raises(UsageError, match="of qid and group, expected one of them"):
            QuerySet.from_arrays(X, [0, 1, 2], **both)


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"features": np.zeros((3, 2))}, "features: found float64"),
        ({"features": np.zeros((2, 3), np.float32).T}, "another order"),
        ({"labels": np.zeros(2, np.int32)}, "labels: found 2, expected 3"),
        ({"labels": np.zeros(3)}, "labels: found float64"),
        ({"offsets": np.array([0, 3])}, "offsets: found 2, expected 3"),
        ({"offsets": np.array([0, 2, 4])}, "offsets: found 0 to 4"),
        ({"offsets": np.array([0, 4, 3])}, "expected to rise"),
        ({"docids": np.array([b"a"])}, "docids: found 1, expected 3"),
    ],
)
def test_arrays_that_kernels_could_not_read_make_no_set(changes: dict, message: str) -> None:
    good = {
        "features": np.zeros((3, 2), np.float32),
        "labels": np.zeros(3, np.int32),
        "offsets": np.array([0, 1, 3]),
        "qids": np.array([1, 2]),
    }
    with pytest.raises(DataError, match=message):
        QuerySet(**good | changes)


def test_take_and_queries_agree(rng: np.random.Generator) -> None:
    lengths = [3, 1, 4, 2]
    whole = QuerySet.from_arrays(
        rng.random((10, 2)), rng.integers(0, 3, 10), group=lengths, docids=list("abcdefghij")
    )
    taken = whole.take(np.array([2, 0]))
    assert taken.qids.tolist() == ["3", "1"] and taken.offsets.tolist() == [0, 4, 7]
    assert taken.docids.tolist() == [c.encode() for c in "efghabc"]
    np.testing.assert_array_equal(taken.features[:4], whole.queries(2, 3).features)
    assert whole.take(np.arange(4)).digest == whole.digest != taken.digest
