"""From scores in file order to every query's value of every measure."""

from collections.abc import Sequence

import numpy as np

from letorbench.conventions import Convention
from letorbench.errors import DataError, UsageError
from letorbench.measures.measure import Measure
from letorbench.measures.orders import mean_of_orders
from letorbench.measures.rankings import Rankings, kept_offsets


def shares(weights: np.ndarray | None, convention: Convention, counts: np.ndarray) -> np.ndarray:
    """Return what is multiplied by the value of each query that counts in a mean, (counts.sum(),).

    It is 1, or by ``mean=weighted`` the query's weight (of all, (n_queries,)) / their mean.
    DataError says that there are no weights or none above 0. counts: (n_queries,) bool.
    """
    if convention.mean == "plain":
        return np.ones(int(counts.sum()))
    if weights is None or not weights[counts].any():
        found = "no weights" if weights is None else "no weight above 0"
        raise DataError(f"mean=weighted: found {found}, expected weights of the queries measured")
    return weights[counts] / weights[counts].mean()


def column_shares(
    values: np.ndarray, weights: np.ndarray | None, convention: Convention
) -> np.ndarray:
    """Return `shares` of each measure alone, which may count other queries than another one.

    values: (n_queries, n_measures), NaN where a measure leaves a query out. The shares there are 1.
    """
    out = np.ones(values.shape)
    for column, counts in zip(out.T, ~np.isnan(values.T)):
        if counts.any():
            column[counts] = shares(weights, convention, counts)
    return out


def query_metrics(
    labels: np.ndarray,
    scores: np.ndarray,
    offsets: np.ndarray,
    measures: Sequence[Measure],
    convention: Convention,
    docids: np.ndarray | None = None,
) -> np.ndarray:
    """Measure every query.

    Parameters
    ----------
    labels : ndarray of shape (n_docs,), integers
        In file order; -1 for a document that is not judged.
    scores : ndarray of shape (n_docs,)
        In file order; -inf for a document that is not retrieved. It is not ranked, but counts
        where a measure asks for all judged documents.
    offsets : ndarray of shape (n_queries + 1,)
        Query q owns the rows ``offsets[q]:offsets[q + 1]``.
    measures : sequence of Measure
    convention : Convention
        The measuring rules.
    docids : ndarray of shape (n_docs,), bytes, optional
        The documents' ids, for conventions that break ties by them; by default the positions in
        the query, from 1, as exported runs name documents without ids.

    Returns
    -------
    ndarray of shape (n_queries, n_measures), float64
        NaN for the queries that the convention leaves out.

    Raises
    ------
    DataError
        A score is NaN, scores, labels and offsets do not fit each other, or a label is too
        large for the convention's gain or for ERR.
    UsageError
        The convention has both `depth` and ``ties=mean``.
    """
    scores = np.require(scores, np.float64, ["C", "W"])
    if not (scores.shape == np.shape(labels) == (offsets[-1],)):
        raise DataError(
            f"found {len(scores)} scores and {len(labels)} labels, expected one of each "
            f"for the {offsets[-1]} documents"
        )
    nan = np.isnan(scores)
    if nan.any():
        raise DataError(f"scores: found NaN for document {nan.argmax() + 1}, expected numbers")
    if convention.depth and convention.ties == "mean":
        raise UsageError(f"{convention.name}: depth does not go with ties=mean; drop one of them")
    offsets = np.asarray(offsets, dtype=np.int64)
    values = np.empty((len(offsets) - 1, len(measures)))
    measured = mean_of_orders if convention.ties == "mean" else Measure.__call__
    rankings = Rankings.of(labels, scores, offsets, convention, docids)
    for column, measure in enumerate(measures):
        values[:, column] = measured(measure, rankings)
    if convention.empty == "drop":
        values[rankings.relevant == 0] = np.nan
    if convention.missing == "drop":
        values[np.diff(kept_offsets(scores > -np.inf, offsets)) == 0] = np.nan
    return values
