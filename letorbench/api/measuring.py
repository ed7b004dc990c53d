"""Measuring scores: tables of the measures of each query, their means, and their differences."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from warnings import warn

import numpy as np
from numpy.typing import ArrayLike

from letorbench.conventions import Convention
from letorbench.conventions import convention as convention_named
from letorbench.datasets.arrays import (
    as_docids,
    as_frame,
    as_labels,
    as_scores,
    as_weights,
    group_rows,
)
from letorbench.datasets.queryset import QuerySet
from letorbench.errors import DataError, UsageError
from letorbench.measures import Measure, default_measures, measure_names, query_metrics
from letorbench.measures.evaluation import relative_weights
from letorbench.named_files import input_file
from letorbench.results.scores import parse

if TYPE_CHECKING:
    from pandas import DataFrame, Series

    from letorbench.api.results import Results

#: a measure as users name it: a text, a value, or a function (y_true, y_score) -> number
Asked = str | Measure | Callable
#: the names of the columns of qrels and of runs that are frames, those of several tools
QUERY = ("qid", "query_id", "query-id", "query", "topic")
DOCUMENT = ("docno", "docid", "doc_id", "corpus-id")
LABEL, SCORE = ("label", "relevance", "rel", "score"), ("score",)


def evaluate(
    y: ArrayLike | QuerySet | Mapping | DataFrame | Path,
    scores: ArrayLike | Mapping | DataFrame | Path,
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
    y : array-like of shape (n_docs,), QuerySet, mapping, DataFrame or path-like
        Relevance labels, integers from 0. A QuerySet holds the queries and ids as well. Qrels are
        a mapping ``{qid: {docno: label}}`` or a frame with the columns ``qid`` or ``query_id``,
        ``docno`` or ``doc_id``, and ``label`` or ``relevance``, or a TREC file.
    scores : array-like of shape (n_docs,), mapping, DataFrame or path-like
        One score a row; a larger score ranks higher. -inf says that a document is not retrieved:
        a relevant one counts as missed. With qrels it is a run, ``{qid: {docno: score}}`` or a
        frame with a column ``score``, or a TREC file; documents are then measured as `letorbench
        score` does.
    qid : array-like of shape (n_docs,), optional
        The query of each row; rows of a query may be scattered.
    measures : str, Measure, function or sequence of them
        ``"ndcg@10"``, ``"map, p@1,5"``, ``[lb.nDCG @ 10, lb.MAP]``; or functions of the labels and
        the scores of one query in the order of the rows, ``f(y_true, y_score)``, which return a
        number, or NaN to leave the query out of the mean.
    convention : str or Convention
        The measuring rules: a name of ``lb.CONVENTIONS``, perhaps with rules that differ,
        ``"lightgbm"``, ``"letor4,empty=drop,gain=linear"``. ERR takes 4 for the largest label, or 2
        under `letor3` and `letor4`, unless ``max_label`` sets it.
    per_query : bool
        Return the values of every query instead of their means.
    group : array-like of shape (n_queries,), optional
        The number of rows of each query, instead of `qid`.
    docids : sequence of str or bytes, optional
        The documents' ids, for conventions that break ties by them, such as ``trec_eval``. By
        default they are the positions in the query, from 1.
    sample_weight : array-like of shape (n_docs,) or (n_queries,), optional
        The weight of each query in the means of a convention with ``mean=weighted``: one value a
        row, the same in all rows of a query, or one for each query.

    Returns
    -------
    Series or DataFrame
        The means by measure; or a row for each query, in the order of their first rows, and a
        column for each measure.

    Raises
    ------
    DataError
        A ValueError: an array's length or values are wrong.
    UsageError
        A ValueError: a measure or a convention does not exist.

    Warns
    -----
    UserWarning
        Of a run: queries or documents that only the run or only the qrels have.

    Examples
    --------
    >>> import letorbench as lb
    >>> values = lb.evaluate({"q": {"a": 1, "b": 0}}, {"q": {"a": 0.2, "b": 0.9}}, measures="map")
    >>> print(values["map"])
    0.5
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
    given: Any = scores
    if isinstance(y, (Mapping, str, Path)) or hasattr(as_frame(y, "y"), "columns"):
        y, given = _of_run(y, scores, rules)
    if isinstance(y, QuerySet):
        if qid is not None or group is not None or docids is not None:
            raise UsageError(
                "y: found qrels or a QuerySet, expected no qid, group or docids beside it "
                "(measures=... says what to measure)"
            )
        labels, offsets, qids, rows, ids = y.labels, y.offsets, y.qids, None, y.docids
        sample_weight = y.weights if sample_weight is None else sample_weight
    else:
        labels = as_labels(y)
        offsets, qids, rows = group_rows(len(labels), qid, group)
        ids = None if docids is None else as_docids(docids, len(labels))
    given_scores = as_scores(given, len(labels))
    if rows is not None:
        labels, given_scores, ids = (
            labels[rows],
            given_scores[rows],
            None if ids is None else ids[rows],
        )
    values = query_metrics(labels, given_scores, offsets, columns, rules, ids)
    frame = pd.DataFrame(values, pd.Index(qids, name="qid"), [str(each) for each in columns])
    frame.attrs["convention"] = rules.name
    if per_query:
        return frame
    counts = ~frame.isna().all(axis=1).to_numpy()
    weights = None if sample_weight is None else as_weights(sample_weight, offsets, rows)
    weight = relative_weights(values, columns, weights, rules, labels, offsets)
    return frame.mul(weight)[counts].mean().rename("mean")


def compare(
    y: ArrayLike | QuerySet | Mapping | DataFrame | Path | Results,
    systems: Mapping[str, Any] | Sequence | Results | None = None,
    qid: ArrayLike | None = None,
    baseline: str | Sequence[str] | None = None,
    measures: Asked | Sequence[Asked] = "ndcg@10",
    convention: str | Convention = "standard",
    test: str = "randomization",
    correction: str = "holm",
    alpha: float = 0.05,
    seed: int = 0,
) -> DataFrame:
    """Test whether the differences between several systems' scores of the same queries are real.

    Parameters
    ----------
    y, qid, measures, convention
        As in `evaluate`. `y` may also be `Results`, whose algorithms are compared with each other
        or with those of `systems`, other `Results`, by the convention of both.
    systems : mapping, sequence or Results, optional
        Scores by name, or runs if `y` is qrels; a sequence gets the names 1, 2, ...
    baseline : str or sequence of str, optional
        The systems that the others are compared with; every pair by default.
    test, correction, alpha, seed
        As in `Results.compare`.

    Returns
    -------
    DataFrame
        A row for each measure and pair, with the columns of `Results.compare`; `dataset` only if
        `Results` are compared.

    Raises
    ------
    DataError, UsageError
        As in `evaluate`; or no query counts in two systems, or there is no such baseline.
    """
    from letorbench.analysis.comparison import Procedure, comparison_frame, comparison_table
    from letorbench.analysis.comparison import compare as compare_systems
    from letorbench.api.results import Results
    from letorbench.results.per_query import PerQuery

    columns, procedure = measures_of(measures), Procedure(test, correction, alpha, seed)
    if isinstance(y, Results) and (systems is None or isinstance(systems, Results)):
        names = [str(each) for each in columns]
        every = y if systems is None else _beside(y, systems)
        return every.compare(baseline, names, test, correction, alpha, seed)
    if isinstance(systems, (list, tuple)) and len(systems) > 1:
        if all(isinstance(each, (Mapping, str, Path)) or np.ndim(each) for each in systems):
            systems = {str(number): scores for number, scores in enumerate(systems, 1)}
    if not isinstance(systems, Mapping):
        raise UsageError(
            f"systems: found a {type(systems).__name__}, expected {{name: scores}} behind the "
            "labels, or two lb.Results"
        )
    per_query_values, weights = [], _weights(y, convention)
    for name, scores in systems.items():
        frame = evaluate(y, scores, qid, columns, convention, per_query=True)
        one_fold, qids = np.ones(len(frame), np.int64), np.array(frame.index, str)
        per_query_values.append(PerQuery(name, one_fold, qids, dict(frame.items()), weights))
    tables = []
    for measure in map(str, columns):
        pairs = compare_systems("scores", per_query_values, measure, baseline, procedure)
        if not any(pair.difference.n_values for pair in pairs):
            raise DataError(f"{measure}: found no query that counts in two systems, expected one")
        tables.append(comparison_table(pairs, procedure))
    return comparison_frame(tables, alpha).drop(columns="dataset")


def _weights(y: Any, convention: str | Convention) -> np.ndarray | None:
    """Return the queries' weights as `PerQuery` has them, None where each counts the same."""
    rules = convention_named(convention) if isinstance(convention, str) else convention
    if rules.mean == "plain":
        return None
    if not isinstance(y, QuerySet):
        raise DataError("mean=weighted: found no weights, expected a QuerySet with weights for y")
    ndcg, *_, usual = default_measures(rules)  # NDCG may have other weights than the others
    values, about = np.zeros((len(y), 2)), (y.weights, rules, y.labels, y.offsets)
    return relative_weights(values, [usual, ndcg], *about).T


def _beside(one: Results, other: Results) -> Results:
    """Return the results of both on the data sets that both have.

    An algorithm of both has its folder behind its name in `other`.
    """
    frames = []
    for frame, more in product(one.frames, other.frames):
        if frame.dataset == more.dataset:
            names = {row.algo for row in frame.rows}
            rows = [
                replace(row, algo=f"{row.algo} ({other.out})") if row.algo in names else row
                for row in more.rows
            ]
            frames.append(replace(frame, rows=(*frame.rows, *rows)))
    if not frames:
        found = f"{', '.join(one.datasets)} and {', '.join(other.datasets)}"
        raise DataError(f"found results of {found}, expected a data set that both have")
    return replace(one, frames=tuple(frames))


def _of_run(y: Any, run: Any, rules: Convention) -> tuple[QuerySet, np.ndarray]:
    """Return the documents of qrels and of a run, and their scores."""
    from letorbench.results.external import matched, without_features

    labels = {}
    for qid, each in _documents(y, LABEL, "y").items():
        # as in files of qrels, every negative label says that nobody judged the document
        grades = [
            -1 if isinstance(label, Real) and label < -1 else label for label in each.values()
        ]
        labels[qid] = dict(zip(each, as_labels(grades).tolist()))
    scored = {
        qid: dict(zip(each, as_scores([*each.values()], len(each)).tolist()))
        for qid, each in _documents(run, SCORE, "scores").items()
    }
    queries, scores, notes = matched("scores", scored, without_features(labels), rules)
    for note in notes:
        warn(note, stacklevel=3)
    return queries, scores


def _documents(given: Any, value: Sequence[str], what: str) -> dict[str, dict[bytes, Any]]:
    """Return the value of each document of each query of a mapping, a frame or a TREC file."""
    from letorbench.results.external import labels_of, scores_of

    if isinstance(given, (str, Path)):
        return cast(Any, labels_of if value is LABEL else scores_of)(input_file(given))
    frame = as_frame(given, what)
    heads = list(getattr(frame, "columns", ()))
    names = [next((n for n in some if n in heads), "") for some in (QUERY, DOCUMENT, value)]
    rows: Iterable[tuple[Any, ...]]
    if isinstance(given, Mapping) and all(isinstance(each, Mapping) for each in given.values()):
        rows = [(qid, docno, v) for qid, each in given.items() for docno, v in each.items()]
    elif all(names):
        rows = zip(*(frame[name].tolist() for name in names))
    else:
        got = f"the columns {', '.join(map(str, heads))}" if heads else f"a {type(given).__name__}"
        raise DataError(
            f"{what}: found {got}, expected {{qid: {{docno: value}}}}, or columns of a query "
            f"({', '.join(QUERY)}), a document ({', '.join(DOCUMENT)}) and {' or '.join(value)}"
        )
    documents_of: dict[str, dict[bytes, Any]] = {}
    for qid, docno, each in rows:
        documents, name = documents_of.setdefault(str(qid), {}), str(docno).encode()
        if name in documents:
            raise DataError(f"{what}: found document {docno} of query {qid} again, expected once")
        documents[name] = each
    return documents_of


def measures_of(measures: Asked | Sequence[Asked]) -> list[Measure]:
    """Return the measures of names, comma lists, values and functions."""
    parsed = [parse(text) for text in measure_names(measures)]
    if not parsed:
        raise UsageError("measures: found none, expected at least one, such as 'ndcg@10'")
    return parsed
