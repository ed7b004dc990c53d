"""Query sets from a caller's arrays: converted once, grouped stably, or refused."""

import pickle
from collections.abc import Callable
from dataclasses import fields, replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from letorbench.conventions import CONVENTIONS
from letorbench.datasets.arrays import as_labels
from letorbench.datasets.load import from_frame, load
from letorbench.datasets.queryset import Benchmark, Fold, LabelBlocks, QuerySet
from letorbench.datasets.reader import read_letor
from letorbench.datasets.synthetic import make
from letorbench.errors import DataError, UsageError
from letorbench.experiment.run import leak, without_relevant

X = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]


@pytest.mark.parametrize("features", [
    np.array(X), np.asfortranarray(X), np.array(X, np.int8), np.array(X, object), X,
    np.array(X)[:, ::-1][:, ::-1], pd.DataFrame(X, columns=["a", "b"]).astype("Int64"),
])  # fmt: skip
def test_every_real_dtype_and_order(features):
    found = QuerySet.from_arrays(features, [0, 1, 2], qid=[7, 7, 8])
    assert found.features.dtype == np.float32
    assert found.features.flags.c_contiguous
    np.testing.assert_array_equal(found.X, np.array(X, dtype=np.float32))
    assert (found.labels.dtype, found.offsets.dtype, found.qids.dtype) == ("i4", "i8", "U1")
    assert found.offsets.tolist() == [0, 2, 3] and found.qids.tolist() == ["7", "8"]
    assert found.qid.tolist() == ["7", "7", "8"] and found.rows is None


def test_no_array_can_be_changed(rng, tmp_path):
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


def test_the_caller_keeps_arrays_of_their_own():
    features, labels = np.array(X, dtype=np.float32), np.array([0, 1, 2], np.int32)
    queries = QuerySet.from_arrays(features, labels, group=[3])
    features[:], labels[:] = 9, 0
    assert queries.X.tolist() == X and queries.y.tolist() == [0, 1, 2]
    again = QuerySet.from_arrays(queries.X, queries.y, group=[3])
    assert np.shares_memory(again.X, queries.X)


@pytest.mark.parametrize(("n", "queries"), [(1, 6), (30, 6), (50_000, 60_000)])
@pytest.mark.parametrize("text", [False, True])
def test_scattered_rows_against_plain_python(n, queries, text, rng):
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
def test_query_ids_of_any_type_are_text(qid, names):
    assert QuerySet.from_arrays(X, [0, 0, 0], qid=qid).qids.tolist() == names


def documents(queries: QuerySet) -> list[tuple[str, list[tuple]]]:
    """Each query's name, and the features, label, name and row of each of its documents."""
    columns = (queries.X, queries.y, queries.docids, queries.rows)
    docs = list(zip(*(column.tolist() for column in columns), strict=True))
    bounds = pairwise(queries.offsets.tolist())
    return [(qid, docs[a:b]) for qid, (a, b) in zip(queries.qids.tolist(), bounds, strict=True)]


def test_parts_of_a_set_have_its_documents(rng):
    qid = rng.permutation(np.repeat(["b", "a", "d", "c"], [3, 1, 4, 2]))
    given = rng.random((10, 2)).astype(np.float32), rng.integers(0, 3, 10), qid
    whole = QuerySet.from_arrays(*given, feature_names=["x", "y"], docids=list("abcdefghij"))
    whole = replace(whole, query_names=np.char.add(whole.qids, " 1"))
    every = documents(whole)
    for numbers in ([2, 0], [], [1, 1, 3], [0, 1, 2, 3]):
        taken = whole.take(np.array(numbers, int))
        assert documents(taken) == [every[number] for number in numbers]
        assert taken.feature_names == ("x", "y") and len(taken) == len(numbers)
        assert taken.query_names.tolist() == [f"{qid} 1" for qid in taken.qids]
    for start, stop in ((0, 4), (1, 3), (2, 2)):
        part = whole.queries(start, stop)
        assert documents(part) == every[start:stop] and part.feature_names == ("x", "y")
        assert part.query_names.tolist() == [f"{qid} 1" for qid in part.qids]
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


def test_documents_sorted_by_label_against_plain_python(rng):
    for n_queries in range(20):
        offsets = np.append(0, np.cumsum(rng.integers(0, 6, n_queries)))  # some without documents
        labels = rng.integers(-1, 4, offsets[-1])  # what is not judged is last
        order, starts, levels, queries = [], [], [], [0]
        for first, last in pairwise(offsets.tolist()):
            for label in (3, 2, 1, 0, -1):
                block = [row for row in range(first, last) if labels[row] == label]
                starts += [len(order)] * bool(block)
                levels += [label] * bool(block)
                order += block
            queries.append(len(starts))
        found = LabelBlocks.of(labels.astype(np.int32), offsets)
        expected = (order, [*starts, len(order)], levels, queries, offsets.tolist())
        assert tuple(each.tolist() for each in found) == expected
        assert {each.dtype for each in found} == {np.dtype(np.int64)}


def given(**changes: object) -> QuerySet:
    return QuerySet.from_arrays(**{"X": X, "y": [0, 1, 2], "qid": [1, 1, 2], **changes})


def made(**changes: object) -> QuerySet:
    """A set of arrays as kernels read them."""
    arrays = {"features": np.zeros((3, 2), np.float32), "labels": np.zeros(3, np.int32)}
    arrays |= {"offsets": np.array([0, 1, 3]), "qids": np.array([1, 2])}
    return QuerySet(**arrays | changes)


def framed(**changes: object) -> Benchmark:
    words = {"q": [1, 1, 2, 3], "rel": [0, 2, 1, 0], "bm25": range(4), "word": [1j] * 4}
    words["grade"] = ["ok", "bad", "good", "ok"]
    options = {"label": "rel", "qid": "q", "features": ["bm25"], **changes}
    frame = pd.DataFrame(words)
    return from_frame(frame[[*frame, *options.pop("again", [])]], **options)


def numbers(**options: object) -> QuerySet:
    return read_letor("a.txt", **options)


def lazy(method: str) -> object:
    """What is as a frame that is not computed yet, or a tensor with a gradient."""

    def refuse(*_: object, **__: object) -> None:
        raise RuntimeError("Use tensor.detach().numpy() instead.")

    return type("Lazy", (), {method: refuse, "columns": ("a", "b")})()


LABEL, ROW = "expected an integer from 0 to 9,999,999, or -1…--grades", "expected a real number"
#: what makes data, its wrong argument, the class of the error and what it names
REFUSED: list[tuple[Callable[..., object], dict, type[Exception], str]] = [
    (framed, {"label": "REL"}, UsageError, "unknown column 'REL'…did you mean rel?"),
    (framed, {"label": "grade"}, DataError, "y: row 0: found 'ok'…a real number…grades="),
    (framed, {"label": "grade", "grades": ["bad", "ok"]}, DataError,
     "df: row 2, column 'grade': found 'good'…expected one of bad, ok"),
    (framed, {"qid": "quer"}, UsageError, "unknown column 'quer'…expected one of q, rel"),
    (framed, {"features": ["bm26"]}, UsageError, "unknown column 'bm26'…bm25"),
    (framed, {"features": None}, DataError, f"X: row 0, column 'word'…of type complex…{ROW}"),
    (framed, {"features": ["bm25"] * 2}, DataError, "found the column 'bm25' twice…once"),
    (framed, {"again": ["bm25"]}, DataError, "found the column 'bm25' twice…each name once"),
    (framed, {"again": ["q"]}, DataError, "found the column 'q' twice…each name once"),
    (framed, {"folds": 2}, UsageError, "folds: found 2…at least 3"),
    (framed, {"folds": 4, "name": "mine"}, DataError, "mine: found 3 queries…at least 4"),
    (numbers, {"null": "max"}, UsageError, "null is 'max'…keep, error, min"),
    (numbers, {"null": 1e39}, UsageError, "null is 1e+39…a finite number"),
    (numbers, {"n_features": 65_537}, UsageError, "n_features is 65537…from 1 to 65536"),
    (given, {"X": [[1.0, 2], [3, float("nan")], [1e39, 6]]}, DataError,
     "X: row 2, column 0: found 1e+39…at most 3.4e+38"),
    (given, {"X": [1.0, 2, 3]}, DataError, "X: found 1 dimension,…expected 2"),
    (given, {"X": [[1, 2], [3], [4, 5]]}, DataError, "X: found rows of different lengths"),
    (given, {"X": np.zeros((3, 0))}, DataError, "X: found no features"),
    (given, {"X": np.zeros((3, 2), complex)}, DataError, f"row 0, column 0: found '0j'…{ROW}"),
    (given, {"X": [["a", 1, None]] * 3}, DataError, f"column 0: found 'a' of type str…{ROW}"),
    (given, {"X": lazy("collect")}, DataError, "found a Lazy…(.collect())"),
    (given, {"X": pd.DataFrame({"a": [1]}).groupby("a")}, DataError, "found a …(.obj)"),
    (given, {"y": lazy("__array__")}, DataError, "found a Lazy…detach"),
    (given, {"y": [0, {}, 1]}, DataError, f"y: row 1: found '{{}}' of type dict…{ROW}"),
    (given, {"y": [0, 1]}, DataError, "y: found 2 values…expected 3, one a document"),
    (given, {"y": [[0], [1], [2]]}, DataError, "y: found 2 dimensions…expected 1"),
    (given, {"y": [0, -2, 32]}, DataError, f"y: row 1: found -2…{LABEL}"),
    (given, {"y": [0, 0.5, 1]}, DataError, f"y: row 1: found 0.5…{LABEL}"),
    (given, {"qid": [1, 1]}, DataError, "qid: found 2 values…expected 3"),
    (given, {"qid": [1, 1.5, 2.5]}, DataError, "qid: row 1: found 1.5…an integer or text"),
    (given, {"qid": [1, 1, 2.0**63]}, DataError, "qid: row 2: found 9.223372036854776e+18"),
    (given, {"qid": np.array(["a", 1, None], object)}, DataError, "qid: row 2: found None"),
    (given, {"qid": ["a", "", "b"]}, DataError, "qid: row 1: found ''"),
    (given, {"qid": [b"a", b"\xff", b"b"]}, DataError, "qid: found b'\\xff'…UTF-8"),
    (given, {"group": [3]}, UsageError, "found both of qid and group"),
    (given, {"qid": None}, UsageError, "found neither of qid and group"),
    (given, {"qid": None, "group": [1, 1]}, DataError, "group: found counts of 2 rows…expected 3"),
    (given, {"qid": None, "group": [3, 0, -1]}, DataError, "group: query 1: found 0 rows"),
    (given, {"feature_names": ["a"]}, DataError, "feature_names: found 1 names…expected 2"),
    (given, {"docids": ["a"]}, DataError, "docids: found 1 values…expected 3"),
    (made, {"features": np.zeros((3, 2))}, DataError, "features: found float64…float32 of 2"),
    (made, {"features": np.zeros((2, 3), np.float32).T}, DataError, "in another order…in C order"),
    (made, {"labels": np.zeros(2, np.int32)}, DataError, "labels: found 2…expected 3"),
    (made, {"labels": np.zeros(3)}, DataError, "labels: found float64 of 1 dimensions"),
    (made, {"offsets": np.array([0, 3])}, DataError, "offsets: found 2…expected 3, one more"),
    (made, {"offsets": np.array([0, 2, 4])}, DataError, "offsets: found 0 to 4…from 0 to 3"),
    (made, {"offsets": np.array([0, 4, 3])}, DataError, "offsets: found 0 to 3…expected to rise"),
    (made, {"docids": np.array([b"a"])}, DataError, "docids: found 1…expected 3"),
    (made, {"rows": np.arange(2)}, DataError, "rows: found 2…expected 3"),
    (made, {"query_names": np.array(["a"])}, DataError, "query_names: found 1…expected 2"),
]  # fmt: skip


def test_words_are_labels_in_the_order_of_the_grades():
    table = pd.DataFrame({"rel": ["ok", "bad", "top", "ok "], "qid": [1, 1, 2, 3], "x": range(4)})
    order, y = ["bad", "ok", "top"], [1, 0, 2, 1]
    known = pd.Categorical(table["rel"].str.strip(), order, ordered=True)
    for frame, grades in ((table, order), (table.assign(rel=known), ())):
        folds = from_frame(frame, "rel", folds=3, grades=grades).folds
        found = {row: each for fold in folds for row, each in zip(fold.test.rows, fold.test.y)}
        assert found == dict(enumerate(y))
    assert QuerySet.from_arrays(table[["x"]], known, qid=table["qid"]).y.tolist() == y
    numbers = pd.Categorical([3, 1, 7], ordered=True)
    assert as_labels(numbers).tolist() == [3, 1, 7]
    with pytest.raises(DataError, match="y: row 1: found nan, expected an integer"):
        as_labels(pd.Categorical(["ok", None], order, ordered=True))


@pytest.mark.parametrize(("make", "change", "kind", "said"), REFUSED, ids=[r[3] for r in REFUSED])
def test_what_is_no_data_is_refused(make, change, kind, said):
    with pytest.raises(kind) as caught:
        make(**change)
    assert all(each in str(caught.value) for each in said.split("…"))


def test_the_least_the_largest_and_the_empty_are_taken():
    assert repr(made()) == "QuerySet(2 queries, 3 documents, 2 features, labels 0-0)"
    many = given(X=np.zeros((1500, 1)), y=[1] * 1500, qid=None, group=[1] * 1500)
    assert repr(many) == "QuerySet(1,500 queries, 1,500 documents, 1 feature, labels 1-1)"
    assert given(y=[True, False, True]).y.tolist() == [1, 0, 1]
    assert given(y=[0.0, 9_999_999.0, -1.0]).y.tolist() == [0, 9_999_999, -1]
    assert given(docids=["a", "é", "c"]).docids.tolist() == [b"a", "é".encode(), b"c"]
    assert given(docids=[b"a", b"", b"c"]).docids.tolist() == [b"a", b"", b"c"]
    assert given(qid=[2.0**31, 2.0**31, 2.0**40]).qids.tolist() == ["2147483648", "1099511627776"]
    assert len(given(X=np.zeros((0, 2)), y=[], qid=[])) == 0
    assert len(given(X=np.zeros((0, 2)), y=[], qid=None, group=[])) == 0


def test_a_table_may_have_numbers_for_names():
    table = pd.DataFrame([[1, 0, 5.0], [1, 2, 6.0], [2, 1, 7.0], [3, 0, 8.0]])
    found = from_frame(table, 1, 0, folds=3, features=[2], name="mine")
    assert found.provenance.pop("digest") and found.provenance == {"rotation": True}
    assert [(f.test.qids.tolist(), f.test.rows.tolist()) for f in found.folds] == [
        (["2"], [2]), (["3"], [3]), (["1"], [0, 1]),
    ]  # fmt: skip
    assert found.folds[0].train.feature_names == ("2",) and found.convention.max_label == 2
    assert framed(folds=3, convention="letor4").convention.name == "letor4"
    assert found.train_fraction == 1.0


def test_a_smaller_sample_of_a_fold_is_part_of_a_larger_one():
    nine = given(X=np.zeros((9, 1)), y=[0] * 9, qid=range(9))
    samples = [
        Fold(1, nine, nine, nine).sampled(share, np.random.default_rng(2)).train.qids.tolist()
        for share in (0.01, 0.4, 0.7, 1.0)
    ]
    assert samples[:2] == [["2"], ["2", "5", "6", "7"]] and list(map(len, samples)) == [1, 4, 6, 9]
    assert all(set(few) <= set(many) and many == sorted(many) for few, many in pairwise(samples))


def test_a_query_in_two_parts_of_a_fold_is_a_leak():
    nine = given(X=np.zeros((9, 1)), y=[0] * 9, qid=range(9))
    none = nine.queries(0, 0)
    for spans, said in (
        (((0, 3), (3, 6), (6, 9)), ""),
        (((0, 4), (3, 6), (6, 9)), "fold 2 has 1 query (such as 3) in its train and its validatio"),
        (((0, 3), (3, 6), (4, 9)), "fold 2 has 2 queries (such as 4) in its validation and its te"),
    ):
        folds = (Fold(1, nine, none, none), Fold(2, *(nine.queries(*span) for span in spans)))
        found = leak(Benchmark("B", folds, CONVENTIONS["standard"], {}))
        assert found.startswith(said) and bool(found) == bool(said)


def test_a_part_without_a_relevant_document_is_named():
    for labels, said in ((range(9), ""), ([1, 0, 0, 1, -1, 0, -1, -1, 0], "fold 1 has no label")):
        nine = given(X=np.zeros((9, 1)), y=labels, qid=range(9))
        fold = Fold(1, nine.queries(0, 3), nine.queries(3, 6), nine.queries(6, 9))
        found = without_relevant(Benchmark("B", (fold,), CONVENTIONS["standard"], {}))
        assert found.startswith(said) and ("in its test part" in found) == bool(said)
