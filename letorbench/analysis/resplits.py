"""Other draws of the folds: how far they move each algorithm, and the differences between them."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from letorbench.analysis import tables
from letorbench.analysis.comparison import CORRECTION_NAMES, Procedure
from letorbench.analysis.paired import TUKEY, MeanDifference, corrected
from letorbench.analysis.results_table import label
from letorbench.analysis.tables import Cell, Column, Table, Value, table
from letorbench.datasets.catalog import parse
from letorbench.results.dataset_results import DatasetResults, SystemResults
from letorbench.results.per_query import mean_of

#: the results of each draw, by its number
Draws = Mapping[int, DatasetResults]


def rows_of(draws: Draws, algo: str) -> dict[int, SystemResults]:
    """An algorithm's results on the draws that have it."""
    return {k: row for k, frame in draws.items() for row in frame.rows if row.algo == algo}


def resplit_table(frame: DatasetResults, draws: Draws, measures: Sequence[str]) -> Table:
    """A row for each algorithm: the mean over the draws of the mean over folds, and its spread."""
    rows: list[list[Cell | Value]] = []
    for algo in (row.algo for row in frame.rows):
        drawn = list(rows_of(draws, algo).values())
        if not drawn:
            continue
        values = np.array([[row.values.get(name, math.nan) for name in measures] for row in drawn])
        means = values.mean(axis=0).tolist()
        deviations = values.std(axis=0, ddof=1).tolist() if len(drawn) > 1 else [None] * len(means)
        cells = (
            Cell("-" if mean != mean else f"{mean:.4f}", mean, spread=tables.spread(deviation))
            for mean, deviation in zip(means, deviations)
        )
        rows.append([algo, len(drawn), *cells])
    columns = (
        tables.ALGORITHM, Column("draws", name="draws", form="d"),
        *(Column(label(name), name=name) for name in measures),
    )  # fmt: skip
    caption = (
        f"{_counted(frame, draws)}: mean over draws of the means over folds; "
        "± = standard deviation over draws"
    )
    return table(caption, columns, rows, _notes(frame, draws))


def difference(
    dataset: str, a: Sequence[SystemResults], b: Sequence[SystemResults], measure: str
) -> tuple[np.ndarray, MeanDifference]:
    """The differences a - b, (n_draws, n_folds), on the same draws, and what they say of the mean.

    J counts folds, not draws: each has a training and test queries of its own, as the theory asks.
    All draws test the same queries; their means do not show what other queries would change.
    """

    n_folds = a[0].n_folds

    def folds(rows: Sequence[SystemResults]) -> np.ndarray:
        means = [row.queries.fold_means(measure) for row in rows]  # a fold may have no query
        return np.array([[of.get(k, math.nan) for k in range(1, n_folds + 1)] for of in means])

    d = folds(a) - folds(b)
    ratio = 1.0 / ((n_folds - 2) * parse(dataset).train_fraction)
    return d, MeanDifference.of_resamples(d[~np.isnan(d)], ratio)


def resplit_comparison(
    frame: DatasetResults,
    draws: Draws,
    pairs: Sequence[tuple[str, str]],
    measure: str,
    procedure: Procedure,
) -> Table:
    """A row for each pair of algorithms: their difference over the draws that both have."""
    official = {row.algo: row.values[measure] for row in frame.rows}
    tested = []
    for a, b in pairs:
        one, other = rows_of(draws, a), rows_of(draws, b)
        if both := sorted(one.keys() & other.keys()):
            left, right = ([rows[k] for k in both] for rows in (one, other))
            tested.append((a, b, *difference(frame.dataset, left, right, measure)))
    # Tukey's test exchanges values of queries, which draws of the folds are not
    correction = "holm" if procedure.correction == TUKEY else procedure.correction
    known = {frozenset((a, b)): mean.p for a, b, _, mean in tested}  # from both sides, one test
    p_values = np.array([*known.values()])
    adjusted = dict(zip(known, corrected(p_values, correction).tolist()))
    rows: list[list[Cell | Value]] = []
    for a, b, d, mean in tested:
        p = adjusted[frozenset((a, b))]
        each = mean_of(d, axis=1)
        deviation = float(each.std(ddof=1)) if len(each) > 1 else None
        official_difference = official[a] - official[b]
        same = int((np.sign(each) == np.sign(official_difference)).sum())
        numbers: list[Cell | Value] = [math.nan] * 6  # where no query has a value
        if mean.n_values:
            numbers = [
                tables.mean_cell(mean.mean, deviation, "+.4f"), deviation,
                *tables.interval_cells(*mean.interval()),
                tables.p_cell(mean.p), tables.p_cell(p, p < procedure.alpha),
            ]  # fmt: skip
        counted = Cell(f"{same} of {len(each)}", same)
        rows.append(
            [frame.dataset, measure, a, b, official_difference, *numbers, counted, len(each)]
        )
    columns = (
        tables.DATASET, *tables.for_programs("measure"), tables.ALGORITHM, tables.AGAINST,
        Column("official", name="official", form="+.4f"),
        Column("re-splits", name="difference"), *tables.for_programs("sd"),
        Column("95 % interval", name="low"), *tables.for_programs("high"),
        Column("p", name="p"), Column("adjusted", name="p_adjusted"),
        Column("same sign", name="same_sign"), *tables.for_programs("draws"),
    )  # fmt: skip
    most = max((mean.n_values for *_, mean in tested), default=0)
    caption = (
        f"{_counted(frame, draws)}, {label(measure)} [{', '.join(frame.conventions)}]: "
        f"± = standard deviation over draws; corrected resampled t-test over {most} folds, "
        f"{CORRECTION_NAMES[correction]}; * = adjusted p < {procedure.alpha:g}"
    )
    return table(
        caption, columns, rows, _notes(frame.only({algo for pair in pairs for algo in pair}), draws)
    )


def _counted(frame: DatasetResults, draws: Draws) -> str:
    n = sum(bool(drawn.rows) for drawn in draws.values())
    return f"{frame.dataset}, {n} new draw{'s' * (n != 1)} of the folds"


def _notes(frame: DatasetResults, draws: Draws) -> list[str]:
    """Which draws of these algorithms are damaged, and which are of other code."""
    drawn = {row.algo: rows_of(draws, row.algo).values() for row in frame.rows}
    old = ", ".join(algo for algo, rows in drawn.items() if any(row.version for row in rows))
    damaged = [line for each in draws.values() for line in each.damaged]
    return [*damaged, *[f"other code: {old}; a new run renews the draws"] * bool(old)]
