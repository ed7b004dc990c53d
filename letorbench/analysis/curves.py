"""Curves of training: validation by rounds or settings, and a measure by the training queries."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from letorbench import escaping
from letorbench.analysis import figures, tables
from letorbench.analysis.figures import Panel
from letorbench.analysis.paired import MeanDifference
from letorbench.analysis.results_table import label
from letorbench.analysis.tables import Column, Table, table
from letorbench.datasets.catalog import parse
from letorbench.errors import DataError, UsageError
from letorbench.results.dataset_results import DatasetResults, SystemResults

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: validation curves side by side, and inches of the height of one
ACROSS, HEIGHT = 3, 1.9


class LearningCurves(NamedTuple):
    """The algorithms of one data set that were trained on parts of its training queries."""

    table: Table
    #: NaN at fractions that an algorithm was not trained on
    panel: Panel


def learning_curves(frames: Sequence[DatasetResults], measure: str) -> list[LearningCurves]:
    """The learning curves of each data set with results of several fractions."""
    sets = defaultdict[str, list[DatasetResults]](list)
    for frame in frames:
        sets[parse(frame.dataset).whole].append(frame)
    several = {name: fractions for name, fractions in sets.items() if len(fractions) > 1}
    if not several:
        raise UsageError(
            "found no data set with several fractions of its training queries; "
            "`letorbench run --share 0.1,0.3,1` makes them"
        )
    return [_learning(name, fractions, measure) for name, fractions in several.items()]


def _learning(dataset: str, fractions: Sequence[DatasetResults], measure: str) -> LearningCurves:
    rows = [(row, parse(frame.dataset).train_fraction) for frame in fractions for row in frame.rows]
    rows.sort(key=lambda each: (each[0].algo, each[1]))
    folds = reduce(np.intersect1d, [row.queries.folds for row, _ in rows])
    if not len(folds):
        raise DataError(f"{dataset}: its fractions have no fold in common: run the missing folds")
    x = sorted({fraction for _, fraction in rows})
    cells = []
    lines = {row.algo: np.full((3, len(x)), math.nan) for row, _ in rows}
    for row, fraction in rows:
        mean = MeanDifference.of_queries(row.queries.only(folds), measure)
        low, high = mean.interval()
        interval = tables.interval_cells(low, high, ".4f")
        cells.append((dataset, row.algo, fraction, mean.mean, *interval))
        lines[row.algo][:, x.index(fraction)] = mean.mean, low, high
    columns = (
        tables.DATASET, tables.ALGORITHM, Column("share", name="share", form="g"),
        Column(label(measure), name=measure, form=".4f"),
        Column("95 % interval", name="low"), *tables.for_programs("high"),
    )  # fmt: skip
    conventions = ", ".join(dict.fromkeys(row.convention for row, _ in rows))
    intervals = f"{figures.INTERVALS}, over queries and seeds"
    caption = (
        f"{dataset}, {label(measure)} [{conventions}] by the fraction of the training queries: "
        f"mean over the queries of the folds that all have; {intervals}"
    )
    means = {algo: mean.tolist() for algo, (mean, *_) in lines.items()}
    bands = {algo: (low, high) for algo, (_, low, high) in lines.items()}
    y = f"{label(measure)} ({conventions})"
    references = {row.algo for row, _ in rows if row.reference}
    panel = Panel(f"{dataset} dataset", y, means, bands, intervals, x, references=references)
    return LearningCurves(table(caption, columns, cells), panel)


def validation_curves(row: SystemResults) -> dict[int, tuple[list[str], np.ndarray, list[int]]]:
    """The validation curve of each fold of the first seed, where there was a choice.

    It has the names of settings (none for rounds), the values, and the place of what was kept.
    """
    curves = {fold: _validation(fit) for fold, fit in row.fits.items()}
    return {fold: curve for fold, curve in curves.items() if len(curve[1]) > 1}


def _validation(fit: Mapping[str, Any]) -> tuple[list[str], np.ndarray, list[int]]:
    facts = fit.get("validation", {})
    curve, best = facts.get("curve") or [], facts.get("best")
    if len(curve) > 1:
        chosen = [] if best is None else [min(max(int(best) - 1, 0), len(curve) - 1)]
        return [], np.array(curve, dtype=np.float64), chosen
    trials = facts.get("grid") or []
    values = np.array([trial["value"] for trial in trials], dtype=np.float64)
    # the first of the best is kept
    best = [int(np.nanargmax(values))] if np.isfinite(values).any() else []
    free, order = list(fit.get("identity", {}).get("grid", {})), list(range(len(trials)))
    if len(free) == 1 and all(type(t["settings"].get(free[0])) in (int, float) for t in trials):
        order.sort(key=lambda k: trials[k]["settings"][free[0]])  # as it grew
    names = ["/".join(escaping.figure(str(t["settings"].get(k))) for k in free) for t in trials]
    return [names[k] for k in order], values[order], [order.index(k) for k in best]


def draw_curves(axes: Axes, row: SystemResults) -> None:
    """Draw a validation curve per fold with a dot at the model that was kept; name the axes."""
    curves = validation_curves(row)
    for fold, (names, values, chosen) in curves.items():
        axes.plot(
            range(1, len(values) + 1), values, color=figures.COLOURS[fold % len(figures.COLOURS)],
            linestyle=figures.DASHES[fold % len(figures.DASHES)], marker="o", markevery=chosen,
        )  # fmt: skip
        every = -(-len(names) // 6) or 1
        if names:
            axes.set_xticks(range(1, len(names) + 1, every), names[::every])
    searched = any(names for names, _, _ in curves.values())
    x = " / ".join(row.stored[0].identity.get("grid") or {}) if searched else "round or epoch"
    y = label(str(row.stored[0].identity.get("select")))
    axes.set(xlabel=escaping.figure(x), ylabel=escaping.figure(f"validation {y}"))


def draw_validation(
    frames: Sequence[DatasetResults], width: float | None = None, title: str | None = None
) -> Figure:
    """Draw a panel for each algorithm with a choice on validation; DataError if there is none."""
    rows = [(f.dataset, row) for f in frames for row in f.rows if validation_curves(row)]
    if not rows:
        raise DataError("found no algorithm with rounds, epochs or settings that validation chose")
    across = min(len(rows), ACROSS)
    width, height = width or figures.PAGE * across / ACROSS, HEIGHT * -(-len(rows) // across) + 0.2
    with figures.canvas(width, height, len(rows), across) as (figure, panels):
        if title:
            figure.suptitle(escaping.figure(title))
        for axes, (dataset, row) in zip(panels, rows):
            draw_curves(axes, row)
            name = row.algo if len(frames) == 1 else f"{dataset}, {row.algo}"
            figures.dress(axes, name, axes.get_xlabel(), axes.get_ylabel())
        legend = "one line per fold; the dot marks the model that was kept"
        figure.supxlabel(legend, size=6.5, color="0.4")
    return figure
