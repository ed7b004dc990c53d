"""Measuring scores: tables of the measures of each query, or their means."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from letorbench.conventions import Convention
from letorbench.conventions import convention as convention_named
from letorbench.datasets.arrays import as_labels, as_scores, group_rows
from letorbench.datasets.queryset import QuerySet
from letorbench.errors import UsageError
from letorbench.measures import Measure, parse, query_metrics, texts

if TYPE_CHECKING:
    from pandas import DataFrame, Series


def evaluate(
    y: ArrayLike | QuerySet,
    scores: ArrayLike,
    qid: ArrayLike | None = None,
    measures: str | Measure | Sequence[str | Measure] = ("ndcg@10",),
    convention: str | Convention = "standard",
    per_query: bool = False,
    group: ArrayLike | None = None,
) -> Series | DataFrame:
    """Measure scores against labels.

    By default documents of equal scores rank in the order of the rows, and a query without relevant
    documents counts 0 and stays in the mean.

    Parameters
    ----------
    y : array-like of shape (n_docs,) or QuerySet
        Relevance labels, integers from 0. A QuerySet holds the queries as well.
    scores : array-like of shape (n_docs,)
        One score a row; a larger score ranks higher.
    qid : array-like of shape (n_docs,), optional
        The query of each row; rows of a query may be scattered.
    measures : str, Measure or sequence of them
        ``"ndcg@10"``, ``"map, p@1,5"``, ``[lb.nDCG @ 10, lb.MAP]``.
    convention : str or Convention
        Whose measuring rules: a name of ``lb.CONVENTIONS``, perhaps with rules that differ,
        ``"lightgbm"``, ``"letor4,empty=drop,gain=linear"``.
    per_query : bool
        Return the values of every query instead of their means.
    group : array-like of shape (n_queries,), optional
        The number of rows of each query, instead of `qid`.

    Returns
    -------
    Series or DataFrame
        The means by measure; or a row a query, in the order of their first rows, and a column
        a measure.

    Raises
    ------
    DataError
        A ValueError: an array's length or values are wrong.
    UsageError
        A ValueError: a measure or a convention does not exist.

    Examples
    --------
    >>> import letorbench as lb
    >>> y, scores, qid = [1, 0, 0, 1], [0.9, 0.1, 0.8, 0.3], ["a", "a", "b", "b"]
    >>> lb.evaluate(y, scores, qid=qid, measures=[lb.nDCG @ 1, "map"], per_query=True)
         ndcg@1  map
    qid
    a       1.0  1.0
    b       0.0  0.5
    """  # noqa: W291
    import pandas as pd

    rules = convention_named(convention) if isinstance(convention, str) else convention
    columns = _measures(measures)
    if isinstance(y, QuerySet):
        if qid is not None or group is not None:
            raise UsageError("y: found a QuerySet, expected no qid or group beside it")
        labels, offsets, qids, rows = y.labels, y.offsets, y.qids, None
    else:
        labels = as_labels(y)
        offsets, qids, rows = group_rows(len(labels), qid, group)
    found = as_scores(scores, len(labels))
    if rows is not None:
        labels, found = labels[rows], found[rows]
    values = query_metrics(labels, found, offsets, columns, rules)
    frame = pd.DataFrame(values, pd.Index(qids, name="qid"), [str(each) for each in columns])
    frame.attrs["convention"] = rules.name
    return frame if per_query else frame.mean().rename("mean")


def _measures(asked: str | Measure | Sequence[str | Measure]) -> list[Measure]:
    """Return the measures of names, comma lists and values."""
    found = [parse(text) for text in texts(asked)]
    if not found:
        raise UsageError("measures: found none, expected at least one, such as 'ndcg@10'")
    return found
