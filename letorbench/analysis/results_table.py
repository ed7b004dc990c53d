"""Tables of a data set's algorithms: a row an algorithm, a column a measure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from letorbench.analysis.rendering import render as render_table
from letorbench.analysis.tabular import Cell, Table, columns, data_table, to_frame
from letorbench.conventions import convention
from letorbench.results.summary import Row, Summary

if TYPE_CHECKING:
    import pandas as pd

#: what a table shows unless told otherwise
USUAL = ("ndcg@1", "ndcg@3", "ndcg@5", "ndcg@10", "map")
ACRONYMS = ("ndcg", "map", "mrr", "err", "wta", "auc")


@dataclass(frozen=True)
class Marks:
    """Significance against a baseline: +1 better, -1 worse, by (algorithm, measure)."""

    baseline: str
    note: str
    signs: Mapping[tuple[str, str], int]


def render(
    summary: Summary, measures: Sequence[str], form: str, marks: Marks | None = None
) -> str:
    """The results in a form of `rendering.FORMATS`; CSV has every digit, the others four places."""
    make = summary_data if form == "csv" else summary_table
    return render_table(make(summary, measures, marks), form)


def summary_table(
    summary: Summary, measures: Sequence[str], marks: Marks | None = None
) -> Table:
    """The table for people: numbers to four places, the two best of each column marked.

    Rows of different conventions do not compare, so that nothing is marked among them. A
    partial algorithm says how many folds it has, and takes no part in the marks.
    """
    lacking = partial(summary)
    shown = [_column(summary, measure, marks, lacking) for measure in measures]
    rows = tuple(
        (*_heads(summary, row, lacking), *(column[i] for column in shown))
        for i, row in enumerate(summary.rows)
    )
    left = ["algorithm", *(["convention"] if summary.mixed else [])]
    return Table(
        caption(summary),
        columns(left, [label(measure) for measure in measures]),
        rows,
        notes=(partial_note(summary),) if lacking else (),
        name=summary.dataset,
        ranked=not summary.mixed,
        against=f"{marks.baseline} ({marks.note})" if marks else "",
    )


def summary_data(
    summary: Summary, measures: Sequence[str], marks: Marks | None = None
) -> Table:
    """The table for programs: every digit, the convention and the number of folds of each row."""
    signs = [f"{measure}-sign" for measure in measures] if marks else []
    rows = [
        [
            summary.dataset, row.algo, row.convention, row.folds,
            *(row.values.get(measure) for measure in measures),
            *(marks.signs.get((row.algo, measure), 0) for measure in measures if marks),
        ]
        for row in summary.rows
    ]  # fmt: skip
    return data_table(["dataset", "algo", "convention", "folds", *measures, *signs], rows)


def summary_frame(summary: Summary, measures: Sequence[str] | None = None) -> pd.DataFrame:
    """The results as a DataFrame.

    Parameters
    ----------
    summary : Summary
        The algorithms of one data set.
    measures : sequence of str, optional
        The columns, such as `ndcg@10`; all that are stored by default.

    Returns
    -------
    pandas.DataFrame
        Columns `dataset`, `algo`, `convention`, `folds`, then one for each measure. A value is
        the mean of the folds' means, NaN where it was not measured.
    """
    return to_frame(summary_data(summary, summary.measures if measures is None else measures))


def caption(summary: Summary) -> str:
    """One line: the data set, what was averaged, and the convention of the numbers."""
    folds = sorted({row.folds for row in summary.rows})
    count = "-".join(str(n) for n in (folds[0], folds[-1])[: len(folds)]) if folds else "0"
    rules = "; ".join(
        f"measures {convention(name).description} [{name}]" for name in summary.conventions
    )
    return f"{summary.dataset}: mean over {count} fold{'s' * (count != '1')}; {rules}"


def label(measure: str) -> str:
    """A measure as it is printed.

    Examples
    --------
    >>> label("ndcg@10"), label("mean-ndcg")
    ('NDCG@10', 'Mean-NDCG')
    """
    name, at, cutoff = measure.partition("@")
    words = [w.upper() if w in ACRONYMS or len(w) == 1 else w.capitalize() for w in name.split("-")]
    return "-".join(words) + at + cutoff


def partial(summary: Summary) -> dict[str, str]:
    """The algorithms with fewer folds than the others -> "3 of 5 folds"."""
    most = max((row.folds for row in summary.rows), default=0)
    return {
        row.algo: f"{row.folds} of {most} folds" for row in summary.rows if row.folds < most
    }


def partial_note(summary: Summary) -> str:
    """One line that names the partial algorithms; "" where there are none."""
    lacking = partial(summary)
    if not lacking:
        return ""
    named = ", ".join(f"{algo} ({folds})" for algo, folds in lacking.items())
    return f"partial: {named}; a mean over fewer folds does not compare with the others"


def _heads(summary: Summary, row: Row, lacking: Mapping[str, str]) -> list[Cell]:
    """What stands before a row's numbers."""
    name = f"{row.algo} ({lacking[row.algo]})" if row.algo in lacking else row.algo
    heads = [Cell(name, row.algo)]
    return [*heads, Cell(row.convention, row.convention)] if summary.mixed else heads


def _column(
    summary: Summary, measure: str, marks: Marks | None, lacking: Mapping[str, str]
) -> list[Cell]:
    """A cell for each row; equal printed numbers share a place."""
    printed = {
        row.algo: f"{row.values[measure]:.4f}" for row in summary.rows if measure in row.values
    }
    ranked = {text for algo, text in printed.items() if algo not in lacking and not summary.mixed}
    best = sorted(ranked, key=float, reverse=True)[:2]
    places = {text: place for place, text in enumerate(best, 1)}
    signs = marks.signs if marks else {}
    return [
        Cell(
            printed.get(row.algo, ""),
            row.values.get(measure),
            0 if row.algo in lacking else places.get(printed.get(row.algo, ""), 0),
            signs.get((row.algo, measure), 0),
        )
        for row in summary.rows
    ]
