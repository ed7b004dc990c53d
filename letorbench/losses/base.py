"""What a loss is, and how a compiled loss runs over many queries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.errors import DataError
from letorbench.threads import parallel_for

#: the most documents of a query whose pairs are compared one by one: 10^9 pairs take seconds
LONGEST_COMPARED = 50_000


class ValueAndGradient(NamedTuple):
    """A loss at some scores: value (n_queries,) and gradient (n_docs,), both float64."""

    value: np.ndarray
    gradient: np.ndarray


class LinearValueAndGradient(NamedTuple):
    """A loss of the scores w . x + b: value (n_queries,), its sum's gradient by w and by b."""

    value: np.ndarray
    by_weights: np.ndarray
    by_bias: float


#: scores (n_docs,) float64 and their queries -> the loss there
LossFunction = Callable[[np.ndarray, QuerySet], ValueAndGradient]
#: weights (n_features,), bias and queries -> the loss of their linear scores
LinearLossFunction = Callable[[np.ndarray, float, QuerySet], LinearValueAndGradient]


@dataclass(frozen=True)
class Loss:
    """A differentiable loss of scores. A smaller value is better.

    Call it with scores (n_docs,) float64 in file order and their queries. It returns its value
    for each query and its derivative by each score.

    Parameters
    ----------
    name : str
        What users call it.
    formula : str
        The value of one query, in plain text.
    function : callable
        Computes it.
    exponential : bool
        Whether it grows like e^s. Far from 0, finite differences then drown in rounding.
    undefined_at_zero : bool
        Whether it has no value where all scores of a query are 0, and so no derivative there.
        What it returns there is a convention.
    in_file_order : callable, optional
        The same loss where equal labels stay in file order. None where it does not put documents
        in the order of their labels. See `letorbench.losses.ties`.
    of_linear : callable, optional
        The same loss of linear scores, with one look at the features instead of two: they are
        read for the gradient while they are in the cache.
    """

    name: str
    formula: str
    function: LossFunction
    exponential: bool = False
    undefined_at_zero: bool = False
    in_file_order: LossFunction | None = None
    of_linear: LinearLossFunction | None = None

    def __call__(self, scores: np.ndarray, queries: QuerySet) -> ValueAndGradient:
        return self.function(scores, queries)


def query_share(queries: QuerySet, documents: int) -> int:
    """Return how many queries hold about that many documents: the least work for a thread."""
    return max(1, documents * queries.n_queries // max(1, queries.n_docs))


def require_comparable(queries: QuerySet, most: int = LONGEST_COMPARED) -> None:
    """Refuse queries of so many documents that going over all of their pairs takes too long.

    Raises
    ------
    DataError
        A query has more than `most` documents.
    """
    lengths = queries.lengths
    longest = int(lengths.max(initial=0))
    if longest > most:
        raise DataError(
            f"query {queries.qids[lengths.argmax()]}: found {longest} documents, expected at most "
            f"{most}, since each pair of a query's documents is compared"
        )


def in_query_slices(
    kernel: Callable[..., None],
    queries: QuerySet,
    *arguments: object,
    documents: int,
    cost: np.ndarray | None = None,
) -> ValueAndGradient:
    """Run a compiled loss over slices of the queries, on all threads.

    Parameters
    ----------
    kernel : callable
        kernel(*arguments, start, stop, out) fills a `ValueAndGradient` for the queries
        start..stop - 1.
    queries : QuerySet
    *arguments : object
        The kernel's first arguments.
    documents : int
        The smallest slice, in documents. A thread costs more than it saves on fewer.
    cost : ndarray of shape (n_queries,), optional
        What each query costs; without it, all cost the same.
    """
    out = ValueAndGradient(np.empty(queries.n_queries), np.empty(queries.n_docs))

    def part(start: int, stop: int) -> None:
        kernel(*arguments, start, stop, out)

    parallel_for(part, queries.n_queries, query_share(queries, documents), cost)
    return out
