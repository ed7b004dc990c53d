"""Measures of stored scores.

A measure that a run did not store is computed from its stored scores and the data: nothing is
retrained.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from letorbench.conventions import Convention
from letorbench.datasets.load import load
from letorbench.datasets.queryset import Benchmark, Fold, QuerySet
from letorbench.errors import DataError, UsageError
from letorbench.measures import Measure, default_measures, parse, query_metrics
from letorbench.measures.evaluation import shares
from letorbench.results.per_query import PerQuery
from letorbench.results.store import StoredFold, by_repeat
from letorbench.results.summary import Row, Summary

#: the ranker whose numbers are means over all orders of a query, not those of the file's order
RANDOM = "random"
#: the ranker that reads the labels which it is measured by
IDEAL = "ideal"


def competes(algo: str) -> bool:
    """Return whether an algorithm is ranked and compared: `ideal` reads the test labels."""
    return algo != IDEAL


def measured(
    algo: str,
    scores: np.ndarray,
    test: QuerySet,
    measures: Sequence[Measure],
    convention: Convention,
) -> np.ndarray:
    """Measure an algorithm's scores of a test part, (n_queries, n_measures).

    The numbers of `random`, whose scores are equal, are the means over all orders of a query.
    """
    if algo == RANDOM:
        convention = replace(convention, ties="mean")
    return query_metrics(test.labels, scores, test.offsets, measures, convention, test.docids)


def measure_fold(
    algo: str,
    fold: Fold,
    scores: np.ndarray,
    convention: Convention,
    added: Sequence[Measure] = (),
) -> PerQuery:
    """Measure finite scores (n_docs,) of a fold's test part by the usual measures and some more."""
    measures = [*default_measures(convention), *added]
    table = measured(algo, scores, fold.test, measures, convention)
    counts = _counted(table)
    values = {str(measure): column for measure, column in zip(measures, table[counts].T)}
    numbers = np.full(counts.sum(), fold.number, dtype=np.int64)
    weights = None
    if convention.mean != "plain":
        weights = shares(fold.test.weights, convention, counts)
    return PerQuery(algo, numbers, fold.test.qids[counts], values, weights)


def _counted(table: np.ndarray) -> np.ndarray:
    """(n_queries,) bool: which rows the convention does not leave out."""
    return ~np.isnan(table).all(axis=1)


def with_measures(data_dir: Path, row: Row, measures: Sequence[str]) -> Row:
    """Return the row of an algorithm with these measures.

    What its folds do not hold is measured from their scores, under the run's convention. DataError
    says that the data now there are not those of the run.
    """
    wanted = {name: _unstored(row, name) for name in measures}
    missing = [name for name in measures if wanted[name] is not None]
    if not missing:
        return row
    benchmark = data_of(data_dir, row.stored)
    tests = {fold.number: fold.test for fold in benchmark.folds}
    parsed = [measure for measure in wanted.values() if measure is not None]

    def of(fold: StoredFold) -> np.ndarray:
        test = tests[fold.number]
        table = measured(row.algo, fold.scores(test.n_docs), test, parsed, benchmark.convention)
        kept = np.isin(test.qids, fold.queries.qids)
        if not np.array_equal(test.qids[kept], fold.queries.qids):
            raise DataError(f"{fold.folder}: found queries that its data do not have; run it again")
        return table[kept]

    repeats = [np.concatenate([of(fold) for fold in repeat]) for repeat in by_repeat(row.stored)]
    # (n_measures, n_repeats, n_queries)
    added = dict(zip(missing, np.stack(repeats).transpose(2, 0, 1)))
    queries = replace(row.queries, tables={**row.queries.tables, **added})
    values = row.values | {name: queries.mean(name) for name in missing}
    drawn = missing if row.repeated else []
    repeated = {**row.repeated, **{name: queries.means(name) for name in drawn}}
    return replace(row, values=values, repeated=repeated, measured=queries)


def _unstored(row: Row, name: str) -> Measure | None:
    """Return the measure of a name if it must be computed for a row, None if it is stored.

    What an older form of a measure of the user's own gave is not used, unless the measure itself
    is not at hand. DataError says that it is needed.
    """
    try:
        measure = parse(name)
    except UsageError:
        if name in row.values:
            return None
        raise DataError(
            f"{row.algo}: found no values of {name!r}, expected them or --plugin with the measure"
        ) from None
    stored = name in row.values and all(fold.has(measure) for fold in row.stored)
    return None if stored else measure


def extended(data_dir: Path, summary: Summary, measures: Sequence[str]) -> Summary:
    """Return the summary with these measures in every row, computed where not stored.

    They are NaN in a row that cannot be measured, of which `unmeasured` has a line; DataError says
    that this is every row.
    """
    rows, lines = [], []
    for row in summary.rows:
        try:
            rows.append(with_measures(data_dir, row, measures))
        except DataError as error:
            lines.append(str(error))
            missing = [name for name in measures if name not in row.values]
            nan = np.full((row.repeats, len(row.queries.qids)), np.nan)
            tables = {**row.queries.tables, **dict.fromkeys(missing, nan)}
            queries = replace(row.queries, tables=tables)
            values = row.values | dict.fromkeys(missing, np.nan)
            rows.append(replace(row, values=values, measured=queries))
    if lines and len(lines) == len(rows):
        raise DataError(f"{lines[0]} (stored are {', '.join(summary.measures)})")
    return replace(summary, rows=tuple(rows), unmeasured=tuple(dict.fromkeys(lines)))


def data_of(data_dir: Path, folds: Sequence[StoredFold]) -> Benchmark:
    """Return the data that stored folds are of; DataError if those now there are others."""
    null = folds[0].identity.get("null", "error")
    null = "keep" if null == "error" else null  # these data are in the cache
    benchmark = load(folds[0].key.dataset, data_dir, folds[0].convention, null)
    for fold in folds:
        if benchmark.provenance["digest"] != fold.identity.get("data"):
            raise DataError(
                f"{fold.folder}: found scores of other data: its data are not those now under "
                f"{data_dir}; run it again"
            )
    return benchmark
