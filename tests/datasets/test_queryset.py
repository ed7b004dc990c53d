"""Query sets from a caller's arrays: converted once, grouped stably, refused with a word."""

import pickle
from dataclasses import fields, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from letorbench.conventions import CONVENTIONS
from letorbench.datasets.load import load
from letorbench.datasets.queryset import Benchmark, Fold, LabelBlocks, QuerySet
from letorbench.datasets.synthetic import make
from letorbench.errors import DataError

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


@pytest.mark.parametrize(("n", "queries"), [(1, 6), (2, 6), (5, 6), (30, 6), (50_000, 60_000)])
@pytest.mark.parametrize("text", [False, True])
def test_scattered_rows_against_plain_python(n: int, queries: int, text: bool, rng) -> None:
    qid = rng.integers(-2, queries - 2, n).tolist()
    given_ids = [f"q{q}" for q in qid] if text else qid
    ids = [str(each) for each in given_ids]
    features = np.arange(len(qid), dtype=float)[:, None]
    labels = np.arange(len(qid)) % 3
    names = [f"d{i}" for i in range(len(qid))]
    found = QuerySet.from_arrays(features, labels, qid=given_ids, docids=names)
    first = {q: number for number, q in enumerate(dict.fromkeys(ids))}
    order = sorted(range(n), key=lambda row: first[ids[row]])
    assert found.qids.tolist() == list(first)
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


def documents(queries: QuerySet) -> list[tuple[str, list[tuple]]]:
    """Each query's name, and the features, label, name and row of each of its documents."""
    columns = (queries.X, queries.y, queries.docids, queries.rows)
    docs = list(zip(*(column.tolist() for column in columns), strict=True))
    bounds = pairwise(queries.offsets.tolist())
    return [(qid, docs[a:b]) for qid, (a, b) in zip(queries.qids.tolist(), bounds, strict=True)]


def test_parts_of_a_set_have_its_documents(rng: np.random.Generator) -> None:
    qid = rng.permutation(np.repeat(["b", "a", "d", "c"], [3, 1, 4, 2]))
    given = rng.random((10, 2)).astype(np.float32), rng.integers(0, 3, 10), qid
    whole = QuerySet.from_arrays(*given, feature_names=["x", "y"], docids=list("abcdefghij"))
    every = documents(whole)
    for numbers in ([2, 0], [], [1, 1, 3], [0, 1, 2, 3]):
        taken = whole.take(np.array(numbers, int))
        assert documents(taken) == [every[number] for number in numbers]
        assert taken.feature_names == ("x", "y") and len(taken) == len(numbers)
    for start, stop in ((0, 4), (1, 3), (2, 2)):
        part = whole.queries(start, stop)
        assert documents(part) == every[start:stop] and part.feature_names == ("x", "y")
        assert stop == start or np.shares_memory(part.X, whole.X)
    plain = replace(whole, rows=None)  # its own rows are the documents'
    np.testing.assert_array_equal(plain.X[plain.take([3, 1]).rows], plain.take([3, 1]).X)
    assert whole.take(np.arange(4)).digest == whole.digest != whole.take([0, 1, 3, 2]).digest
    for name in ("features", "labels", "offsets", "qids", "docids"):
        changed = getattr(whole, name).copy()
        changed[1] = changed[2] if name != "features" else 7.0
        changed = whole.labels + 1 if name == "labels" else changed
        assert replace(whole, **{name: changed}).digest != whole.digest
    weighed = [replace(whole, weights=each) for each in (None, np.ones(4), np.arange(4.0))]
    assert len({each.digest for each in weighed}) == 3
    with pytest.raises(DataError, match="^found 9 values, expected 10, one a document$"):
        whole.in_caller_order(np.zeros(9))


def test_documents_sorted_by_label_against_plain_python(rng: np.random.Generator) -> None:
    for n_queries in range(20):
        offsets = np.append(0, np.cumsum(rng.integers(0, 6, n_queries)))  # some without documents
        labels = rng.integers(0, 4, offsets[-1])
        order, starts, levels, queries = [], [], [], [0]
        for first, last in pairwise(offsets.tolist()):
            for label in (3, 2, 1, 0):
                block = [row for row in range(first, last) if labels[row] == label]
                starts += [len(order)] * bool(block)
                levels += [label] * bool(block)
                order += block
            queries.append(len(starts))
        found = LabelBlocks.of(labels.astype(np.int32), offsets)
        expected = (order, [*starts, len(order)], levels, queries, offsets.tolist())
        assert tuple(each.tolist() for each in found) == expected
        assert {each.dtype for each in found} == {np.dtype(np.int64)}


def test_values_that_travel_say_how_large_they_are() -> None:
    one, two = (QuerySet.from_arrays(X, [0, 1, 4], group=sizes) for sizes in ([3], [1, 2]))
    none = two.queries(1, 1)
    assert repr(none) == "QuerySet(0 queries, 0 documents, 2 features)"
    fold = Fold(2, two, none, one)
    assert repr(fold) == "Fold(2: train 2, validation 0, test 1 queries)"
    for folds, said in (
        ((fold,), "1 fold, 3 queries, 6 documents, 2 features, labels 0-4"),
        ((fold, fold), "2 folds, 2 queries, 6 documents, 2 features, labels 0-4"),
    ):
        found = Benchmark("B", folds, CONVENTIONS["mslr"], {})
        assert repr(found) == f"Benchmark('B', {said}, mslr)"
