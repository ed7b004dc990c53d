"""A set of judged queries, a fold of three sets, a benchmark of folds."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from letorbench import escaping
from letorbench.conventions import Convention
from letorbench.datasets import UNJUDGED
from letorbench.datasets.arrays import (
    as_docids,
    as_features,
    as_labels,
    as_query_ids,
    as_weights,
    column_names,
    group_rows,
    read_only,
)
from letorbench.errors import DataError

if TYPE_CHECKING:
    from pandas import DataFrame

#: the provenance of a validation part that the data set itself has
OWN_PART = "own part"


class LabelBlocks(NamedTuple):
    """Each query's documents sorted by label, the highest first, as blocks of one label.

    A query's pairs (i, j) with r_i > r_j are then rectangles: a block times the later blocks
    of its query. A named tuple of arrays can be passed whole to a compiled kernel.
    """

    order: np.ndarray  # (n_docs,) int64: the row at each sorted position, stable within a label
    starts: np.ndarray  # (n_blocks + 1,) int64: block b owns the positions starts[b]:starts[b + 1]
    labels: np.ndarray  # (n_blocks,) int64: the label of each block
    queries: np.ndarray  # (n_queries + 1,) int64: query q owns the blocks queries[q]:queries[q + 1]
    offsets: np.ndarray  # (n_queries + 1,) int64: and the positions offsets[q]:offsets[q + 1]

    @staticmethod
    def of(labels: np.ndarray, offsets: np.ndarray) -> LabelBlocks:
        n_queries = len(offsets) - 1
        query = np.repeat(np.arange(n_queries), np.diff(offsets))
        most = int(labels.max(initial=0))
        levels = most - int(labels.min(initial=0)) + 1
        key = query * levels + (most - labels.astype(np.int64))
        order = np.argsort(key, kind="stable")
        key = key[order]
        first = np.flatnonzero(np.diff(key, prepend=-1))
        block_query, inverse = np.divmod(key[first], levels)
        blocks = (
            order,
            np.append(first, len(labels)).astype(np.int64),
            most - inverse,
            np.searchsorted(block_query, np.arange(n_queries + 1)).astype(np.int64),
            offsets,
        )
        return LabelBlocks(*map(read_only, blocks))


@dataclass(frozen=True, eq=False, repr=False)
class QuerySet:
    """Judged documents grouped by query.

    The rows stay in the order of the file or of the caller, which breaks ties. All arrays are
    read-only, since all rankers of a run share them: change a copy, such as ``queries.X.copy()``.

    Parameters
    ----------
    features : ndarray of shape (n_docs, n_features), float32, C order
    labels : ndarray of shape (n_docs,), int32
        0 is irrelevant; a larger label is more relevant. -1 is not judged.
    offsets : ndarray of shape (n_queries + 1,), int64
        Query q owns the rows offsets[q]:offsets[q + 1].
    qids : ndarray of shape (n_queries,), str
        The queries' ids. Numbers become their digits.
    docids : ndarray of shape (n_docs,), bytes, optional
        The documents' ids, if the file has them.
    feature_names : tuple of str, optional
    rows : ndarray of shape (n_docs,), int64, optional
        The row of each document in the caller's table, if the order differs.
    query_names : ndarray of shape (n_queries,), str, optional
        The user's names of the queries, such as their words, if these cannot be ids.
    weights : ndarray of shape (n_queries,), float64, optional
        The weight, at least 0, of each query in training, and in means with ``mean=weighted``.

    Raises
    ------
    DataError
        The arrays do not fit each other.
    """

    features: np.ndarray
    labels: np.ndarray
    offsets: np.ndarray
    qids: np.ndarray
    docids: np.ndarray | None = None
    feature_names: tuple[str, ...] | None = None
    rows: np.ndarray | None = None
    query_names: np.ndarray | None = None
    weights: np.ndarray | None = None

    def __post_init__(self) -> None:
        ids = self.qids  # those of a file or a part are text already
        text = isinstance(ids, np.ndarray) and ids.dtype.kind == "U" and ids.ndim == 1
        if not text or (ids == "").any():
            object.__setattr__(self, "qids", as_query_ids(ids))
        _check(self)
        arrays = (
            "features",
            "labels",
            "offsets",
            "qids",
            "docids",
            "rows",
            "query_names",
            "weights",
        )
        for name in arrays:
            array = getattr(self, name)
            if array is not None:
                object.__setattr__(self, name, read_only(array))

    def __reduce__(self) -> tuple[type[QuerySet], tuple]:
        """Pickle for a new set, since unpickled NumPy arrays are writeable."""
        return QuerySet, tuple(getattr(self, field.name) for field in fields(self))

    @classmethod
    def from_arrays(
        cls,
        X: Any,
        y: ArrayLike,
        qid: ArrayLike | None = None,
        group: ArrayLike | None = None,
        feature_names: Sequence[str] | None = None,
        docids: Sequence[str | bytes] | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> QuerySet:
        """Make a query set of arrays, lists, Series or a DataFrame, after checking them.

        Parameters
        ----------
        X : array-like of shape (n_docs, n_features)
            Real numbers of any dtype and memory order, NaN for a missing value. They become
            float32. Arrays that the caller can change are copied.
        y : array-like of shape (n_docs,)
            Relevance labels: integers from 0, also as floats; -1 is not judged.
        qid : array-like of shape (n_docs,), optional
            The query of each row, integers or text. Scattered rows of a query are moved together
            in their order.
        group : array-like of shape (n_queries,), optional
            The number of rows of each query, instead of `qid`.
        feature_names : sequence of str, optional
            The columns' names; by default those of a DataFrame.
        docids : sequence of str or bytes, optional
            The documents' ids.
        sample_weight : array-like of shape (n_docs,) or (n_queries,), optional
            The weight of each row, equal in all rows of a query, or of each query, in the order
            of their first rows.

        Returns
        -------
        QuerySet

        Raises
        ------
        DataError
            A length, a width or a value is wrong, such as infinity or a label that is neither an
            integer from 0 nor -1. The message names the found and the expected value.
        UsageError
            Both or neither of `qid` and `group` are given.

        Examples
        --------
        >>> queries = QuerySet.from_arrays([[0.1], [0.9], [0.5]], [0, 1, 2], qid=["b", "a", "b"])
        >>> queries
        QuerySet(2 queries, 3 documents, 1 feature, labels 0-2)
        >>> queries.y, queries.qid
        (array([0, 2, 1], dtype=int32), array(['b', 'b', 'a'], dtype='<U1'))
        >>> queries.in_caller_order(queries.y)
        array([0, 1, 2], dtype=int32)
        """
        features = _unshared(as_features(X), X)
        n_docs = len(features)
        labels = _unshared(as_labels(y, n_docs), y)
        offsets, qids, rows = group_rows(n_docs, qid, group)
        weights = None if sample_weight is None else as_weights(sample_weight, offsets, rows)
        names = column_names(X, feature_names, features.shape[1])
        ids = None if docids is None else as_docids(docids, n_docs)
        if rows is not None:
            features, labels = features[rows], labels[rows]
            ids = None if ids is None else ids[rows]
        return cls(features, labels, offsets, qids, ids, names, rows, weights=weights)

    def __repr__(self) -> str:
        return f"QuerySet({_sizes([self])})"

    def _repr_html_(self) -> str:
        """Show the sizes and the first documents in a notebook."""
        first = self.queries(0, min(len(self), int(np.searchsorted(self.offsets, 5))))
        return escaping.titled_frame(repr(self), first.to_frame().head())

    def __len__(self) -> int:
        """The number of queries."""
        return len(self.qids)

    def __iter__(self) -> Iterator[np.ndarray]:
        """Iterate over the arrays that a fit takes: ``X, y, qid = queries``."""
        return iter((self.X, self.y, self.qid))

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of documents and of features."""
        return self.features.shape

    def to_frame(self) -> DataFrame:
        """Return a row for each document: qid, docid and weight where known, label, the features.

        Features without names have their numbers from 1. The index has the rows of the caller's
        table. `from_frame` reads such a frame; ``weight="weight"`` names that column.
        """
        import pandas as pd

        names = self.feature_names or [str(k) for k in range(1, self.n_features + 1)]
        weights = None if self.weights is None else self.document_weights
        docids = None if self.docids is None else np.char.decode(self.docids, errors="replace")
        about = {"qid": self.qid, "docid": docids, "weight": weights, "label": self.y}
        known = {name: values for name, values in about.items() if values is not None}
        features = pd.DataFrame(self.features, self.rows, names)
        return pd.concat([pd.DataFrame(known, features.index), features], axis=1)

    @property
    def n_docs(self) -> int:
        return len(self.labels)

    @property
    def n_queries(self) -> int:
        return len(self.qids)

    @property
    def n_features(self) -> int:
        return self.features.shape[1]

    @property
    def X(self) -> np.ndarray:
        """The features, one row per document, in the set's order."""
        return self.features

    @property
    def y(self) -> np.ndarray:
        """The labels, one per document, in the set's order."""
        return self.labels

    @cached_property
    def qid(self) -> np.ndarray:
        """The query ids, one per document, in the set's order."""
        return read_only(np.repeat(self.qids, self.lengths))

    @cached_property
    def lengths(self) -> np.ndarray:
        """The number of documents of each query, of shape (n_queries,), int64."""
        return read_only(np.diff(self.offsets))

    @cached_property
    def judged(self) -> QuerySet:
        """The judged documents, without queries that have none; the same set if all are."""
        kept = self.labels != UNJUDGED
        if kept.all():
            return self
        lengths = np.diff(np.append(0, np.cumsum(kept))[self.offsets])
        offsets = np.append(0, np.cumsum(lengths[lengths > 0])).astype(np.int64)
        return self._part(np.flatnonzero(lengths), np.flatnonzero(kept), offsets)

    @cached_property
    def query_weights(self) -> np.ndarray:
        """The weight of each query, of shape (n_queries,), float64; 1 by default."""
        return np.ones(self.n_queries) if self.weights is None else self.weights

    @cached_property
    def document_weights(self) -> np.ndarray:
        """The weight of each document's query, of shape (n_docs,), float64."""
        return np.repeat(self.query_weights, self.lengths)

    @cached_property
    def by_label(self) -> LabelBlocks:
        """The documents sorted by label for kernels over pairs; never for ranking or measuring."""
        return LabelBlocks.of(self.labels, self.offsets)

    @cached_property
    def digest(self) -> str:
        """A hash (128-bit blake2b) of the arrays' content."""
        state = hashlib.blake2b(digest_size=16)
        parts = self.features, self.labels, self.offsets, self.qids, self.docids, self.weights
        for array in parts:
            if array is not None:
                state.update(f"{array.dtype.str}{array.shape}".encode())
                state.update(np.ascontiguousarray(array).view(np.uint8).data)
        return state.hexdigest()

    def in_caller_order(self, values: np.ndarray) -> np.ndarray:
        """Return values of the documents, such as scores, in the order of the caller's rows.

        Parameters
        ----------
        values : ndarray of shape (n_docs, ...)
            One value per document, in the set's order.

        Returns
        -------
        ndarray of the same shape
        """
        values = np.asarray(values)
        if len(values) != self.n_docs:
            raise DataError(f"found {len(values)} values, expected {self.n_docs}, one a document")
        return values if self.rows is None else values[np.argsort(self.rows)]

    def queries(self, start: int, stop: int) -> QuerySet:
        """Return the queries start:stop as views on the same arrays, without a copy."""
        first, last = self.offsets[start], self.offsets[stop]
        offsets = self.offsets[start : stop + 1] - first
        return self._part(slice(start, stop), slice(first, last), offsets)

    def take(self, queries: np.ndarray) -> QuerySet:
        """Return a copy with the queries of those numbers, in that order.

        Its `rows` are the documents' rows in the caller's table, or in this set.
        """
        queries = np.asarray(queries, dtype=np.int64)
        lengths = self.lengths[queries]
        offsets = np.append(0, np.cumsum(lengths)).astype(np.int64)
        rows = np.arange(offsets[-1]) + np.repeat(self.offsets[queries] - offsets[:-1], lengths)
        part = self._part(queries, rows, offsets)
        return replace(part, rows=rows) if self.rows is None else part

    def _part(
        self, queries: slice | np.ndarray, rows: slice | np.ndarray, offsets: np.ndarray
    ) -> QuerySet:
        return QuerySet(
            self.features[rows],
            self.labels[rows],
            offsets,
            self.qids[queries],
            None if self.docids is None else self.docids[rows],
            self.feature_names,
            None if self.rows is None else self.rows[rows],
            None if self.query_names is None else self.query_names[queries],
            None if self.weights is None else self.weights[queries],
        )


@dataclass(frozen=True, eq=False, repr=False)
class Fold:
    """One fold of cross-validation.

    Parameters
    ----------
    number : int
        The fold's number, from 1.
    train, validation, test : QuerySet
        The parts for learning, for choosing settings, and for measuring.
    """

    number: int
    train: QuerySet
    validation: QuerySet
    test: QuerySet

    def sampled(self, fraction: float, rng: np.random.Generator) -> Fold:
        """Return the fold with a random part of its training queries, at least one, in order."""
        # with one state of the generator a smaller fraction is part of a larger one
        if fraction == 1.0:
            return self
        n = self.train.n_queries
        chosen = rng.permutation(n)[: max(1, round(fraction * n))]
        return replace(self, train=self.train.take(np.sort(chosen)))

    def __repr__(self) -> str:
        sizes = (f"{name} {len(part):,}" for name, part in self.parts.items())
        return f"Fold({self.number}: {', '.join(sizes)} queries)"

    def __iter__(self) -> Iterator[QuerySet]:
        """Iterate over the parts: ``train, validation, test = fold``."""
        return iter(self.parts.values())

    @property
    def parts(self) -> dict[str, QuerySet]:
        """The three parts by their names."""
        return {"train": self.train, "validation": self.validation, "test": self.test}


@dataclass(frozen=True, eq=False, repr=False)
class Benchmark:
    """A data set for an experiment.

    Parameters
    ----------
    name : str
        The data set's name, valid as a folder's name.
    folds : tuple of Fold
    convention : Convention
        The measuring rules.
    provenance : dict
        The origin of the data, for JSON. `provenance["digest"]` is a hash of the content.
    train_fraction : float
        The fraction of the training queries that a run draws in each fold, for learning curves. The
        folds here have all of them.
    """

    name: str
    folds: tuple[Fold, ...]
    convention: Convention
    provenance: dict[str, Any]
    train_fraction: float = 1.0

    def __repr__(self) -> str:
        folds = f"{len(self.folds)} fold{'s' if len(self.folds) > 1 else ''}"
        return f"Benchmark({self.name!r}, {folds}, {_sizes(self.parts)}, {self.convention.name})"

    def _repr_html_(self) -> str:
        """Show the sizes, and the queries and documents of each part of the folds in a notebook."""
        import pandas as pd

        counts = {
            fold.number: {
                (name, what): size
                for name, part in fold.parts.items()
                for what, size in (("queries", len(part)), ("documents", part.n_docs))
            }
            for fold in self.folds
        }
        frame = pd.DataFrame.from_dict(counts, orient="index").rename_axis(index="fold")
        return escaping.titled_frame(repr(self), frame)

    def __len__(self) -> int:
        """The number of folds."""
        return len(self.folds)

    def __iter__(self) -> Iterator[Fold]:
        """Iterate over the folds."""
        return iter(self.folds)

    def __getitem__(self, index: int) -> Fold:
        """Return a fold by its place from 0; fold 1 is ``benchmark[0]``."""
        return self.folds[index]

    @property
    def parts(self) -> tuple[QuerySet, ...]:
        """Every query once: the folds' test parts, or the three parts of the only fold."""
        if len(self.folds) > 1:
            return tuple(fold.test for fold in self.folds)
        return tuple(self.folds[0].parts.values())


def _sizes(sets: Sequence[QuerySet]) -> str:
    """Describe the numbers of queries, documents and features, and the labels."""
    counts = (
        (sum(len(each) for each in sets), "query", "queries"),
        (sum(each.n_docs for each in sets), "document", "documents"),
        (sets[0].n_features, "feature", "features"),
    )
    text = ", ".join(f"{n:,} {one if n == 1 else many}" for n, one, many in counts)
    labels = np.concatenate([each.labels for each in sets])
    judged = labels[labels != UNJUDGED]
    if len(judged):
        text += f", labels {judged.min()}-{judged.max()}"
    return text + f", {len(labels) - len(judged):,} not judged" * (len(judged) < len(labels))


def _unshared(array: np.ndarray, given: ArrayLike) -> np.ndarray:
    """Return the array, or a copy if the caller could change it through `given`."""
    shared = isinstance(given, np.ndarray) and given.flags.writeable
    return array.copy() if shared and np.may_share_memory(array, given) else array


def _check(queries: QuerySet) -> None:
    """Raise DataError unless compiled code may read the arrays without checks."""
    features, labels, offsets = queries.features, queries.labels, queries.offsets
    if features.dtype != np.float32 or features.ndim != 2 or not features.flags.c_contiguous:
        order = "C" if features.flags.c_contiguous else "another"
        raise DataError(
            f"features: found {features.dtype} of {features.ndim} dimensions in {order} order, "
            "expected float32 of 2 dimensions in C order (`QuerySet.from_arrays` converts)"
        )
    if labels.dtype.kind not in "iu" or labels.ndim != 1:
        raise DataError(
            f"labels: found {labels.dtype} of {labels.ndim} dimensions, expected integers of 1"
        )
    lengths = {
        "labels": (labels, len(features), "one a document"),
        "offsets": (offsets, len(queries.qids) + 1, "one more than qids"),
        "docids": (queries.docids, len(features), "one a document"),
        "rows": (queries.rows, len(features), "one a document"),
        "query_names": (queries.query_names, len(queries.qids), "one a query"),
        "weights": (queries.weights, len(queries.qids), "one a query"),
    }
    for name, (values, expected, why) in lengths.items():
        if values is not None and len(values) != expected:
            raise DataError(f"{name}: found {len(values)}, expected {expected}, {why}")
    if offsets[0] != 0 or offsets[-1] != len(labels) or (offsets[1:] < offsets[:-1]).any():
        raise DataError(
            f"offsets: found {offsets[0]} to {offsets[-1]}, expected to rise from 0 to "
            f"{len(labels)}, the number of documents"
        )
