"""Users' arrays, checked and converted once to those of a `QuerySet`.

Every function takes lists, NumPy arrays, and columns and frames of pandas, polars and Arrow. Every
error is a `DataError`, which is a `ValueError`, with the found and the expected value.
"""

import numbers
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from letorbench.datasets import LARGEST_LABEL, UNJUDGED
from letorbench.errors import DataError, UsageError

LARGEST_FLOAT32 = float(np.finfo(np.float32).max)
#: the expected values in messages that refuse a label, and those that refuse another number
A_LABEL = f"an integer from 0 to {LARGEST_LABEL:,}, or {UNJUDGED} for a document that is not judged"
EXPECTED_LABEL = (
    f"{A_LABEL} (`letorbench datasets import` and `split` make grades of others: --grades 0.5,1.5 "
    "by bounds, --grades auto by values)"
)


class Grouping(NamedTuple):
    """The rows of each query."""

    offsets: np.ndarray  # (n_queries + 1,) int64: query q owns the rows offsets[q]:offsets[q + 1]
    qids: np.ndarray  # (n_queries,) str: the queries in the order in which they first appear
    rows: np.ndarray | None  # (n_docs,) int64: the caller's row of each; None: unchanged


def as_features(X: Any, n_features: int | None = None) -> np.ndarray:
    """Return numbers (n_docs, n_features) as read-only float32 in C order, a view if possible."""
    # NaN is a missing value
    given = _real_numbers(X, "X")
    if given.ndim != 2:
        raise DataError(f"X: found {_dimensions(given)}, expected 2 (documents, features)")
    if n_features is not None and given.shape[1] != n_features:
        raise DataError(f"X: found {given.shape[1]} features, expected {n_features}")
    if given.shape[1] == 0:
        raise DataError("X: found no features, expected at least 1")
    with np.errstate(over="ignore"):
        features = np.require(given, np.float32, ["C", "A"])
    infinite = np.isinf(features)
    if infinite.any():
        place = tuple(np.argwhere(infinite)[0])
        value = given[place]
        expected = f"at most {LARGEST_FLOAT32:.3g} in size" if np.isfinite(value) else "a number"
        raise DataError(f"X: {_at(place, X)}: found {value:g}, expected {expected}")
    return read_only(features)


def float32_features(X: np.ndarray) -> np.ndarray:
    """Return X as (n_docs, n_features) float32 in C order, a view if possible; else DataError."""
    given = np.asarray(X)
    if given.ndim != 2 or given.dtype.kind not in "biuf":
        raise DataError(
            f"found features of shape {given.shape} and type {given.dtype}, expected real "
            "numbers of shape (n_docs, n_features)"
        )
    with np.errstate(over="ignore"):
        features = np.require(given, np.float32, ["C", "ALIGNED"]).view()
    if given.dtype.itemsize > 4:
        lost = np.isinf(features) & np.isfinite(given)
        if lost.any():
            raise DataError(
                f"found a feature of {given[lost][0]}, expected none beyond float32 (3.4e38)"
            )
    features.flags.writeable = False  # as in query sets: kernels are compiled for one kind
    return features


def missing_features(features: np.ndarray) -> np.ndarray:
    """Return the columns that hold NaN, ascending."""
    return np.flatnonzero(np.isnan(features.min(axis=0, initial=0.0)))


def as_labels(y: ArrayLike, n_docs: int | None = None) -> np.ndarray:
    """Return relevance labels, integers of any dtype, as read-only int32."""
    given = _vector(_real_numbers(ordered_words(y), "y"), "y", n_docs)
    good = is_label(given)
    if not good.all():
        row = int(np.flatnonzero(~good)[0])
        raise DataError(f"y: row {row}: found {given[row]:g}, expected {EXPECTED_LABEL}")
    return read_only(np.require(given, np.int32, ["C", "A"]))


def ordered_words(y: Any) -> Any:
    """Return the places of an ordered Categorical's words, from 0; all else as it is."""
    dtype: Any = getattr(y, "dtype", None)
    if not getattr(dtype, "ordered", False):
        return y
    import pandas as pd

    if pd.api.types.is_numeric_dtype(dtype.categories):
        return y
    codes = pd.Categorical(y).codes
    return np.where(codes < 0, np.nan, codes)  # NaN for a missing word


def word_grades(
    words: Iterable[Any], grades: Sequence[str], place: Callable[[int], str]
) -> np.ndarray:
    """Return the places of words among `grades`; DataError names the place of another word."""
    grades = [str(each) for each in grades]
    known, found = {word: grade for grade, word in enumerate(grades)}, list[float]()
    for row, word in enumerate(str(each).strip() for each in words):
        if word not in known:
            expected = f"one of {', '.join(grades)}"
            raise DataError(f"{place(row)}: found {word[:40]!r}, expected {expected}")
        found.append(known[word])
    return np.array(found, np.float64)


def is_label(labels: np.ndarray) -> np.ndarray:
    """Return which numbers are labels: integers from `UNJUDGED` to `LARGEST_LABEL`."""
    return (labels >= UNJUDGED) & (labels <= LARGEST_LABEL) & (labels == np.floor(labels))


def read_only(array: np.ndarray) -> np.ndarray:
    """Return the array if it is read-only, else a read-only view."""
    if type(array) is np.ndarray and not array.flags.writeable:
        return array
    view = np.asarray(array).view()
    view.flags.writeable = False
    return view


def group_rows(
    n_docs: int, qid: ArrayLike | None = None, group: ArrayLike | None = None
) -> Grouping:
    """Return the queries of rows, from the query of each row or the number of rows of each query.

    Queries are in the order of their first rows; without ids they are named 1, 2, ...
    """
    if (qid is None) == (group is None):
        found = "neither" if qid is None else "both"
        raise UsageError(f"found {found} of qid and group, expected one of them")
    if group is not None:
        return _of_counts(group, n_docs)
    ids = _numbers_or_text(qid, n_docs)
    first = np.flatnonzero(np.append(True, ids[1:] != ids[:-1])[:n_docs])
    if len(np.unique(ids[first])) == len(first):
        return Grouping(np.append(first, n_docs).astype(np.int64), _as_text(ids[first]), None)
    names, first, inverse = np.unique(ids, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty(len(names), dtype=np.int64)
    place[order] = np.arange(len(names))
    of_row = place[inverse.reshape(-1)]
    offsets = np.append(0, np.cumsum(np.bincount(of_row, minlength=len(names))))
    rows = np.argsort(of_row, kind="stable")
    return Grouping(offsets.astype(np.int64), _as_text(names[order]), rows.astype(np.int64))


def as_query_ids(qid: ArrayLike) -> np.ndarray:
    """Return query ids as text: `"7"` and `7` are one query, `"7"` and `"07"` are two.

    >>> as_query_ids([7, 8.0]), as_query_ids(["WT04-182", "07"])
    (array(['7', '8'], dtype='<U1'), array(['WT04-182', '07'], dtype='<U8'))
    """
    return _as_text(_numbers_or_text(qid, None))


def _as_text(ids: np.ndarray) -> np.ndarray:
    """Return ids as text no wider than the longest; NumPy makes an int64 21 characters wide."""
    return ids if ids.dtype.kind == "U" else np.array([str(each) for each in ids.tolist()], str)


def _numbers_or_text(qid: Any, n_docs: int | None) -> np.ndarray:
    """Return query ids as integers if they are numbers, else as text."""
    given = _vector(np.asarray(as_frame(qid, "qid")), "qid", n_docs)
    if given.dtype.kind == "O" and all(isinstance(value, numbers.Real) for value in given):
        whole = all(isinstance(value, numbers.Integral) for value in given)
        given = given.astype(str if whole else np.float64)
    if given.dtype.kind in "biu":
        return given.astype(np.uint64 if given.dtype.kind == "u" else np.int64)
    if given.dtype.kind == "f":
        _refuse_ids(given, ~((given == np.floor(given)) & (np.abs(given) < 2.0**63)))
        return given.astype(np.int64)
    if given.dtype.kind == "S":
        try:
            text = np.char.decode(given, "utf-8")
        except UnicodeDecodeError as error:
            raise DataError(f"qid: found {error.object!r}, expected UTF-8") from None
    elif given.dtype.kind == "O":
        import pandas as pd

        _refuse_ids(given, pd.isna(given))
        text = np.array([str(value) for value in given], dtype=str)
    else:
        text = given.astype(str, copy=False)
    _refuse_ids(text, text == "")
    return text


def _refuse_ids(given: np.ndarray, bad: np.ndarray) -> None:
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise DataError(
            f"qid: row {row}: found {given.tolist()[row]!r}, expected an integer or text"
        )


def as_docids(docids: Sequence[str | bytes], n_docs: int) -> np.ndarray:
    """Return document ids as an array of bytes ("S"); DataError unless there are n_docs."""
    given = _vector(np.asarray(docids), "docids", n_docs)
    if given.dtype.kind == "S":
        return given
    return np.char.encode(given.astype(str), "utf-8")


def as_scores(scores: ArrayLike, n_docs: int) -> np.ndarray:
    return _vector(_real_numbers(scores, "scores"), "scores", n_docs)


def as_weights(
    weights: ArrayLike,
    offsets: np.ndarray,
    rows: np.ndarray | None = None,
    what: str = "sample_weight",
) -> np.ndarray:
    """Return weights of queries, (n_queries,) float64, from one per row or per query."""
    given = _vector(_real_numbers(weights, what), what, None).astype(np.float64)
    n_docs, n_queries = int(offsets[-1]), len(offsets) - 1
    if len(given) not in (n_docs, n_queries):
        expected = f"{n_docs}, one a row, or {n_queries}, one a query"
        raise DataError(f"{what}: found {len(given)} weights, expected {expected}")
    for bad in np.flatnonzero(~(np.isfinite(given) & (given >= 0.0))).tolist():
        raise DataError(f"{what}: weight {bad + 1}: found {given[bad]:g}, expected 0 or more")
    if len(given) == n_queries:
        return given
    given = given if rows is None else given[rows]
    first = given[offsets[:-1]]
    for row in np.flatnonzero(given != np.repeat(first, np.diff(offsets))).tolist():
        query = int(np.searchsorted(offsets, row, side="right"))
        raise DataError(
            f"{what}: found {first[query - 1]:g} and {given[row]:g} in query {query}, expected "
            "one weight in all rows of a query"
        )
    return first


def column_names(
    X: Any, feature_names: Sequence[str] | None, n_features: int
) -> tuple[str, ...] | None:
    """Return the given names, else those of a DataFrame's columns, else None."""
    names = _names(X) if feature_names is None else feature_names
    if names is None:
        return None
    names = tuple(str(name) for name in names)
    if len(names) != n_features:
        raise DataError(f"feature_names: found {len(names)} names, expected {n_features}")
    return names


def _of_counts(group: ArrayLike, n_docs: int) -> Grouping:
    counts = _vector(_real_numbers(group, "group"), "group", None)
    bad = ~((counts >= 1) & (counts == np.floor(counts)))
    if bad.any():
        query = int(np.flatnonzero(bad)[0])
        raise DataError(f"group: query {query}: found {counts[query]:g} rows, expected at least 1")
    offsets = np.append(0, np.cumsum(counts)).astype(np.int64)
    if offsets[-1] != n_docs:
        raise DataError(f"group: found counts of {offsets[-1]} rows in all, expected {n_docs}")
    return Grouping(offsets, _as_text(np.arange(1, len(counts) + 1)), None)


def as_frame(X: Any, what: str = "X") -> Any:
    """Return frames of polars and Arrow as frames of pandas, all else as is; DataError if lazy."""
    for how in (how for method, how in _LAZY.items() if hasattr(type(X), method)):
        raise DataError(f"{what}: found a {type(X).__name__}, expected its data (.{how})")
    names = _names(X)
    if names is None or hasattr(X, "iloc") or not hasattr(X, "__arrow_c_stream__"):
        return X
    import pandas as pd

    return pd.DataFrame({name: np.asarray(X[name]) for name in names})


#: a method of an object that is lazy or grouped, and how to get its data
_LAZY = {
    "toPandas": "toPandas()", "collect": "collect()", "read_all": "read_all()", "ngroups": "obj",
}  # fmt: skip


def _names(X: Any) -> Sequence[Any] | None:
    """Return the names of a frame's columns; Arrow's `columns` are not names."""
    return getattr(X, "column_names", getattr(X, "columns", None))


def _at(place: Sequence[int], X: Any) -> str:
    """Return a row, and the column by its name if it has one."""
    row, *column = place
    names = _names(X)
    return f"row {row}" + "".join(
        f", column {i if names is None else repr(names[i])}" for i in column
    )


def _real_numbers(values: Any, what: str) -> np.ndarray:
    """Return values as an array of a real dtype; an array of objects must hold numbers."""
    frame = values.toarray() if hasattr(values, "toarray") else as_frame(values, what)
    try:
        given = np.asarray(frame)
        if given.dtype.kind in "cUS":  # the numbers beside such a value are converted as well
            frame = frame.astype(object) if hasattr(frame, "astype") else frame
            given = np.asarray(frame, dtype=object)
    except ValueError:  # rows of different lengths
        raise DataError(f"{what}: found rows of different lengths, expected equal ones") from None
    except (RuntimeError, TypeError) as error:  # a tensor with a gradient, or on another device
        raise DataError(f"{what}: found a {type(values).__name__}: {error}") from None
    if np.ma.is_masked(values):
        raise DataError(f"{what}: found masked values, expected real numbers")
    if given.dtype.kind in "biuf":
        return given.astype(np.int8) if given.dtype.kind == "b" else given
    real = (numbers.Real, Decimal, np.bool_) if given.dtype.kind == "O" else ()
    for place, value in np.ndenumerate(given):
        if not isinstance(value, real):
            found = f"{str(value)[:40]!r} of type {type(value).__name__}"
            where = f"{_at(place, values)}: " if place else ""
            hint = " (`from_frame` takes words: grades=[lowest, ..., highest])" * (what == "y")
            raise DataError(f"{what}: {where}found {found}, expected a real number{hint}")
    return given.astype(np.float64)


def _vector(given: np.ndarray, what: str, length: int | None) -> np.ndarray:
    if given.ndim != 1:
        raise DataError(f"{what}: found {_dimensions(given)}, expected 1")
    if length is not None and len(given) != length:
        raise DataError(f"{what}: found {len(given)} values, expected {length}, one a document")
    return given


def _dimensions(given: np.ndarray) -> str:
    return f"{given.ndim} dimension{'' if given.ndim == 1 else 's'}"
