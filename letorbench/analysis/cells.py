"""A table's cells before any format: the printed number, its rank in its column, its mark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from letorbench.conventions import convention
from letorbench.results.summary import Row, Summary

ACRONYMS = ("ndcg", "map", "mrr", "err", "wta", "auc")


@dataclass(frozen=True)
class Marks:
    """Significance against a baseline: +1 better, -1 worse, by (algorithm, measure)."""

    baseline: str
    note: str
    signs: Mapping[tuple[str, str], int]


@dataclass(frozen=True)
class Cell:
    """A number as printed ("" where there is none), 1 for a column's best, 2 for its second."""

    text: str
    place: int = 0
    sign: int = 0


def caption(summary: Summary) -> str:
    """One line: the data set, what was averaged, and the convention of the numbers."""
    folds = sorted({row.folds for row in summary.rows})
    count = "-".join(str(n) for n in (folds[0], folds[-1])[: len(folds)]) if folds else "0"
    rules = "; ".join(
        f"measures {convention(name).description} [{name}]" for name in summary.conventions
    )
    return f"{summary.dataset}: mean over {count} fold{'s' * (count != '1')}; {rules}"


def label(measure: str) -> str:
    """ndcg@10 -> NDCG@10, mean-ndcg -> Mean-NDCG."""
    name, at, cutoff = measure.partition("@")
    words = [w.upper() if w in ACRONYMS or len(w) == 1 else w.capitalize() for w in name.split("-")]
    return "-".join(words) + at + cutoff


def header(summary: Summary, measures: Sequence[str]) -> list[str]:
    """The columns' heads; a convention column where the rows differ in it."""
    return ["algorithm", *(["convention"] if summary.mixed else []), *map(label, measures)]


def heads(summary: Summary, row: Row) -> list[str]:
    """What stands before a row's numbers."""
    return [row.algo, *([row.convention] if summary.mixed else [])]


def cells(
    summary: Summary, measures: Sequence[str], marks: Marks | None = None
) -> list[list[Cell]]:
    """(rows x measures) cells. Rows of different conventions are not ranked: it would mislead."""
    columns = [_column(summary, measure, marks) for measure in measures]
    return [[column[i] for column in columns] for i in range(len(summary.rows))]


def _column(summary: Summary, measure: str, marks: Marks | None) -> list[Cell]:
    printed = [
        f"{row.values[measure]:.4f}" if measure in row.values else "" for row in summary.rows
    ]
    ranked = [] if summary.mixed else sorted({t for t in printed if t}, key=float, reverse=True)
    places = {text: place for place, text in enumerate(ranked[:2], 1)}
    signs = marks.signs if marks else {}
    return [
        Cell(text, places.get(text, 0), signs.get((row.algo, measure), 0))
        for row, text in zip(summary.rows, printed)
    ]
