"""Comparisons as tables: for people, for CSV, and as DataFrames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from letorbench.analysis.comparison import Pair, Procedure
from letorbench.analysis.rendering import render as render_table
from letorbench.analysis.results_table import label, spread
from letorbench.analysis.tabular import Cell, Table, Value, columns, data_table, to_frame

if TYPE_CHECKING:
    import pandas as pd

#: the forms that a comparison is printed in
FORMS = ("text", "csv", "markdown")
LEFT = ("algorithm", "against")
RIGHT = ("mean", "other", "difference", "95 % interval", "p", "adjusted", "effect",
         "win/tie/loss")  # fmt: skip
DATA = ("dataset", "measure", "algo", "against", "queries", "mean", "mean_against",
        "difference", "low", "high", "test", "method", "p", "correction", "p_adjusted",
        "effect", "wins", "ties", "losses", "repeats", "repeats_against", "sd", "sd_against",
        "turned", "open")  # fmt: skip
#: what a comparison with repeats says of them
SEEDS_NOTE = (
    "± = standard deviation over seeds; intervals and p count queries and seeds; turned = share of "
    "pairs of single seeds with the other order; ~ = other seeds could turn the order of the means"
)
WILCOXON_NOTE = "Wilcoxon's p counts queries alone"


def render(pairs: Sequence[Pair], convention: str, procedure: Procedure, form: str) -> str:
    """The pairs of one data set and measure in one of `FORMS`."""
    if form == "csv":
        return render_table(comparison_data(pairs, procedure, convention), form)
    return render_table(comparison_table(pairs, convention, procedure), form)


def comparison_table(pairs: Sequence[Pair], convention: str, procedure: Procedure) -> Table:
    """The table for people: a row a pair, significant adjusted p-values starred."""
    first = pairs[0]
    sizes = [pair.significance.n for pair in pairs]
    partly = [pair for pair in pairs if pair.folds]
    seeded = any(pair.seeds for pair in pairs)
    caption = (
        f"{first.dataset}, {label(first.measure)} [{convention}]: mean over {max(sizes)} "
        f"queries of all folds{' and the seeds' * seeded}; {procedure}; * = p < {procedure.alpha:g}"
    )
    notes = tuple(
        f"{pair.a}, {pair.b}: compared on folds {','.join(map(str, pair.folds))} "
        f"({pair.significance.n} queries), which both have"
        for pair in partly
    )
    if not seeded:
        rows = tuple(_row(pair, procedure) for pair in pairs)
        return Table(caption, columns(LEFT, RIGHT), rows, notes)
    rows = tuple((*_row(pair, procedure), _turned(pair)) for pair in pairs)
    told = (SEEDS_NOTE, *((WILCOXON_NOTE,) if procedure.test == "wilcoxon" else ()))
    return Table(caption, columns(LEFT, (*RIGHT, "turned")), rows, (*notes, *told))


def comparison_data(
    pairs: Sequence[Pair], procedure: Procedure, convention: str | None = None
) -> Table:
    """The table for programs, every digit; with a column for the convention where it is given."""
    rows = [
        [
            pair.dataset, pair.measure, pair.a, pair.b, pair.significance.n, *pair.means,
            pair.interval.mean, pair.interval.low, pair.interval.high, pair.significance.test,
            pair.significance.method, pair.significance.p, procedure.correction, pair.adjusted,
            pair.effect, pair.counts.wins, pair.counts.ties, pair.counts.losses,
            *_seed_values(pair),
            *([] if convention is None else [convention]),
        ]
        for pair in pairs
    ]  # fmt: skip
    return data_table([*DATA, *([] if convention is None else ["convention"])], rows)


def comparison_frame(pairs: Sequence[Pair], procedure: Procedure = Procedure()) -> pd.DataFrame:
    """The pairs as a DataFrame, with the columns of the CSV form.

    Parameters
    ----------
    pairs : sequence of Pair
        What `letorbench.analysis.comparison.compare` returned, of any data sets and measures.
    procedure : Procedure
        The one that they were compared by; it names the correction.
    """
    return to_frame(comparison_data(pairs, procedure))


def probability(p: float) -> str:
    """A p-value to four places.

    Examples
    --------
    >>> probability(0.0123), probability(0.000001), probability(1.0)
    ('.0123', '<.0001', '1')
    """
    return "<.0001" if p < 0.00005 else f"{p:.4f}".removeprefix("0") if p < 1 else "1"


def _row(pair: Pair, procedure: Procedure) -> tuple[Cell, ...]:
    interval, counts = pair.interval, pair.counts
    deviations = pair.seeds.deviations if pair.seeds else (None, None)
    return (
        Cell(pair.a, pair.a),
        Cell(pair.b, pair.b),
        *(
            Cell(f"{mean:.4f}", mean, spread=spread(deviation))
            for mean, deviation in zip(pair.means, deviations)
        ),
        Cell(f"{interval.mean:+.4f}", interval.mean, open=bool(pair.seeds and pair.seeds.open)),
        Cell(f"[{interval.low:+.4f}, {interval.high:+.4f}]", interval.low),
        Cell(probability(pair.significance.p), pair.significance.p),
        Cell(probability(pair.adjusted), pair.adjusted, starred=pair.sign(procedure.alpha) != 0),
        Cell(f"{pair.effect:+.2f}", pair.effect),
        Cell(f"{counts.wins}/{counts.ties}/{counts.losses}", counts.wins),
    )


def _seed_values(pair: Pair) -> list[Value]:
    """The last six columns of the table for programs; nothing is open where nothing is drawn."""
    found = pair.seeds
    if found is None:
        return [1, 1, None, None, 0.0, 0]
    return [*found.repeats, *found.deviations, found.turned, int(found.open)]


def _turned(pair: Pair) -> Cell:
    if pair.seeds is None:
        return Cell("")
    return Cell(f"{pair.seeds.turned:.2f}".removeprefix("0"), pair.seeds.turned)
