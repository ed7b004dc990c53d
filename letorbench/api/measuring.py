"""Measuring scores: tables of the measures of each query, or their means."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from letorbench.conventions import Convention
from letorbench.conventions import convention as convention_named
from letorbench.datasets.arrays import as_docids, as_labels, as_scores, as_weights, group_rows
from letorbench.datasets.queryset import QuerySet
from letorbench.errors import UsageError
from letorbench.measures import Measure, parse, query_metrics, texts
from letorbench.measures.evaluation import relative_weights

if TYPE_CHECKING:
    from pandas import DataFrame, Series

#: a measure as users name it: a text, a value, or a function (y_true, y_score) -> number
Asked = str | Measure | Callable


def evaluate(
    y: ArrayLike | QuerySet,
    scores: ArrayLike,
    qid: ArrayLike | None = None,
    measures: Asked | Sequence[Asked] = ("ndcg@10",),
    convention: str | Convention = "standard",
    per_query: bool = False,
    group: ArrayLike | None = None,
    docids: Sequence[str | bytes] | None = None,
    sample_weight: ArrayLike | None = None,
) -> Series | DataFrame:
    """Measure scores against labels.

    By default documents of equal scores rank in the order of the rows, and a query without relevant
    documents counts 0 and stays in the mean.

    Parameters
    ----------
    y : array-like of shape (n_docs,) or QuerySet
        Relevance labels, integers from 0. A QuerySet holds the queries and ids as well.
    scores : array-like of shape (n_docs,)
        One score a row; a larger score ranks higher. -inf says that a document is not retrieved:
        a relevant one counts as missed.
    qid : array-like of shape (n_docs,), optional
        The query of each row; rows of a query may be scattered.
    measures : str, Measure, function or sequence of them
        ``"ndcg@10"``, ``"map, p@1,5"``, ``[lb.nDCG @ 10, lb.MAP]``; or functions of the labels and
        the scores of one query in the order of the rows, ``f(y_true, y_score)``, which return a
        number, or NaN to leave the query out of the mean.
    convention : str or Convention
        Whose measuring rules: a name of ``lb.CONVENTIONS``, perhaps with rules that differ,
        ``"lightgbm"``, ``"letor4,empty=drop,gain=linear"``. ERR takes 4 for the largest label, in
        the LETOR conventions 2, unless ``max_label`` says it.
    per_query : bool
        Return the values of every query instead of their means.
    group : array-like of shape (n_queries,), optional
        The number of rows of each query, instead of `qid`.
    docids : sequence of str or bytes, optional
        The documents' ids, for conventions that break ties by them, such as ``trec_eval``. By
        default they are the positions in the query, from 1.
    sample_weight : array-like of shape (n_docs,) or (n_queries,), optional
        The weight of each query in the means of a convention with ``mean=weighted``: one value a
        row, the same in all rows of a query, or one a query.

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
    columns = measures_of(measures)
    if isinstance(y, QuerySet):
        if qid is not None or group is not None or docids is not None:
            raise UsageError("y: found a QuerySet, expected no qid, group or docids beside it")
        labels, offsets, qids, rows, ids = y.labels, y.offsets, y.qids, None, y.docids
        sample_weight = y.weights if sample_weight is None else sample_weight
    else:
        labels = as_labels(y)
        offsets, qids, rows = group_rows(len(labels), qid, group)
        ids = None if docids is None else as_docids(docids, len(labels))
    found = as_scores(scores, len(labels))
    if rows is not None:
        labels, found, ids = labels[rows], found[rows], None if ids is None else ids[rows]
    values = query_metrics(labels, found, offsets, columns, rules, ids)
    frame = pd.DataFrame(values, pd.Index(qids, name="qid"), [str(each) for each in columns])
    frame.attrs["convention"] = rules.name
    if per_query:
        return frame
    counts = ~frame.isna().all(axis=1).to_numpy()
    weights = None if sample_weight is None else as_weights(sample_weight, offsets, rows)
    weight = relative_weights(values, columns, weights, rules, labels, offsets)
    return frame.mul(weight)[counts].mean().rename("mean")


def measures_of(asked: Asked | Sequence[Asked]) -> list[Measure]:
    """Return the measures of names, comma lists, values and functions."""
    found = [parse(text) for text in texts(asked)]
    if not found:
        raise UsageError("measures: found none, expected at least one, such as 'ndcg@10'")
    return found
