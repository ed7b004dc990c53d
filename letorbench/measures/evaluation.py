"""From scores in file order to every query's value of every measure."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from letorbench.conventions import Convention
from letorbench.errors import DataError, UsageError
from letorbench.measures.measure import Measure
from letorbench.measures.orders import mean_of_orders
from letorbench.measures.rankings import Rankings, kept_offsets


def rules_of(measure: Measure, convention: Convention) -> Convention:
    """Return the rules of a measure; a user's measure has those of the convention."""
    return convention if measure.source else convention.of(str(measure))


def shares(
    values: np.ndarray, measures: Sequence[Measure], weights: np.ndarray | None,
    convention: Convention, labels: np.ndarray, offsets: np.ndarray,
) -> np.ndarray:  # fmt: skip
    """Return the factor of each value of `query_metrics` in a mean, of the same shape.

    It is 1, or with ``mean=weighted`` the query's weight (n_queries,) / the mean weight of the
    queries that the measure counts. Queries that do not count (NaN) have 1. DataError if no weight
    is above 0.
    """
    out = np.ones(values.shape)
    for measure, column, counts in zip(measures, out.T, ~np.isnan(values.T)):
        if convention.mean == "plain" or not counts.any():
            continue
        if weights is None or not weights[counts].any():
            found = "no weights" if weights is None else "no weight above 0"
            raise DataError(
                f"mean=weighted: found {found}, expected weights of the queries measured"
            )
        above, rules = weights, rules_of(measure, convention)
        if rules.empty_weight == "1":
            empty = np.diff(kept_offsets(labels >= rules.relevant, offsets)) == 0
            above = np.where(empty, 1.0, weights)
        column[counts] = above[counts] / weights[counts].mean()
    return out


def query_metrics(
    labels: np.ndarray,  # (n_docs,) integers in file order; -1 if not judged
    scores: np.ndarray,  # (n_docs,); -inf if not retrieved: not ranked, though judged
    offsets: np.ndarray,  # (n_queries + 1,)
    measures: Sequence[Measure],
    convention: Convention,
    docids: np.ndarray | None = None,  # (n_docs,) bytes, for ties; by default the places, from 1
) -> np.ndarray:
    """Return every query's measures, (n_queries, n_measures) float64; NaN if a query is left out.

    DataError: a score is NaN, shapes do not fit, or a label is too large for the gain or for ERR.
    UsageError: the convention has both `depth` and ``ties=mean``, or its library lacks a measure.
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
    known: dict[Convention, Rankings] = {}
    for column, measure in enumerate(measures):
        rules = rules_of(measure, convention)
        # the rules that a measure has apart change no order, except those for ties
        if rules not in known:
            like = next((found for each, found in known.items() if each.ties == rules.ties), None)
            ranked = like or Rankings.of(labels, scores, offsets, rules, docids)
            known[rules] = replace(ranked, convention=rules)
        measured = mean_of_orders if rules.ties == "mean" else Measure.__call__
        values[:, column] = measured(measure, known[rules])
        if rules.empty == "drop":
            values[known[rules].relevant == 0, column] = np.nan
    if convention.missing == "drop":
        values[np.diff(kept_offsets(scores > -np.inf, offsets)) == 0] = np.nan
    return values
