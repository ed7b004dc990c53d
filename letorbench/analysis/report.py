"""The report: one HTML page of stored results, which needs no other file and no network.

`templates/report.html` lays out what is made here: sentences, tables, and figures as images. Of
many algorithms the best few and the baseline are shown first, and the others unfold.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from letorbench import escaping
from letorbench.analysis import comparison, conclusions, figures, importance, slices
from letorbench.analysis.comparison import Pair, Procedure
from letorbench.analysis.curves import draw_curves, validation_curves
from letorbench.analysis.paired import MeanDifference
from letorbench.analysis.results_table import USUAL, best_first, comparable, label, summary_table
from letorbench.analysis.tables import Cell, Table, columns, table
from letorbench.conventions import convention
from letorbench.datasets.catalog import describe, parse
from letorbench.measures import sign
from letorbench.results.dataset_results import DatasetResults
from letorbench.results.per_query import PerQuery
from letorbench.solvers.fit_warnings import FitWarning
from letorbench.version import __version__

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: inches of a small chart
SMALL = (3.2, 2.0)
GAIN, LOSS = "#117733", "#c4420a"


def page(
    frames: Sequence[DatasetResults], baseline: str | None, procedure: Procedure, measure: str,
    words: str, by: str | Path | None = None, important: bool = False,
) -> str:  # fmt: skip
    """The HTML of data sets whose algorithms are compared by the measure.

    words: the command line that made it. important: whether the best one's features are permuted.
    """
    names = ", ".join(frame.dataset for frame in frames)
    chosen = None if by is None else slices.property_or_segments(by)
    return escaping.page(
        "report.html",
        title=f"letorbench report: {names}", heading=f"Learning to rank: {names}",
        version=__version__, words=words,
        sections={
            each.dataset: _section(each, baseline, procedure, measure, chosen, important)
            for each in frames
        },
    )  # fmt: skip


def _section(
    frame: DatasetResults, baseline: str | None, procedure: Procedure, measure: str,
    by: str | slices.Segments | None, important: bool,
) -> dict[str, Any]:  # fmt: skip
    """What the template shows of a data set."""
    if baseline is None:
        baseline = best_first(comparable(frame) or frame.rows, measure)[0].algo
    first = shown_first(frame, baseline, measure)
    pairs = conclusions.page_tests(frame, [baseline], procedure, measure)
    ordered = replace(frame, rows=tuple(best_first(frame.rows, measure)))
    usual = [name for name in dict.fromkeys([*USUAL, measure]) if name in frame.measures]
    warnings, n_warnings = _warnings(frame)
    curves = {
        row.algo: (row.algo, _small(partial(draw_curves, row=row)))
        for row in frame.rows
        if validation_curves(row)
    }
    learned = any(map(conclusions.PartMeans.of, frame.rows))
    several = len(frame.rows) > 1
    return {
        "conclusions": conclusions.conclusions(frame, pairs, baseline, procedure, measure),
        "mixed": frame.mixed,
        "results": summary_table(ordered, usual),
        "every_measure": summary_table(ordered, frame.measures),
        "warnings": warnings,
        "n_warnings": n_warnings,
        "curves": ndcg_curves(frame, baseline),
        "compared": several and _compared(frame, pairs, baseline, first, procedure, measure, by),
        "validation": _split(curves, first),
        "importance": _importance(ordered, measure) if important else None,
        "learned": conclusions.learning_table(frame) if learned else None,
        "settings": _settings(frame),
        "timings": _timings(frame),
        "conventions": [convention(name) for name in frame.conventions],
        "data": _data(frame),
        "provenance": _provenance(frame),
    }


def shown_first(frame: DatasetResults, baseline: str, measure: str) -> list[str]:
    """The algorithms whose charts do not unfold, in the order of the frame."""
    ranked = (row for row in comparable(frame) if not row.reference)
    values = {row.algo: sign(measure) * row.values[measure] for row in ranked}
    names = [row.algo for row in frame.rows]
    return figures.drawn_first(names, [values], [baseline, figures.USUAL_BASELINE])


def ndcg_curves(frame: DatasetResults, baseline: str) -> dict[str, Any] | None:
    """NDCG@n, n = 1, 2, ..., over the test queries of all folds: a chart, and its numbers."""
    every = {row.algo: points for row in frame.rows if (points := _points(row.queries))}
    if not every:
        return None
    lines = {name: [mean for mean, *_ in points] for name, points in every.items()}
    ranked = [row.algo for row in comparable(frame) if row.algo in lines]
    best = max(ranked, key=lambda name: lines[name][-1], default=baseline)
    bands = {}
    for name in {best, baseline} & {*every}:
        _, low, high = zip(*every[name])
        bands[name] = low, high
    title = f"NDCG@n on {frame.dataset}, mean over queries with 95 % intervals"
    panel = figures.Panel(
        f"{frame.dataset} dataset", "NDCG@n", lines, bands, figures.INTERVALS,
        references=[row.algo for row in frame.rows if row.reference],
    )  # fmt: skip
    longest = max(map(len, every.values()))
    rows = []
    for name, points in every.items():
        texts = [Cell(f"{mean:.4f} [{low:.4f}, {high:.4f}]", mean) for mean, low, high in points]
        rows.append([name, *texts, *[None] * (longest - len(points))])
    heads = columns(["algorithm"], {f"@{n}": "" for n in range(1, longest + 1)})
    image = figures.data_uri(figures.draw([panel], baseline))
    numbers = table(f"{title}: the numbers", heads, rows)
    return {"title": title, "image": image, "numbers": numbers}


def _points(queries: PerQuery) -> list[tuple[float, float, float]]:
    """The mean and the ends of its interval at n = 1, 2, ... up to the first gap."""
    names = takewhile(queries.values.__contains__, (f"ndcg@{n}" for n in range(1, 11)))
    with_value = (name for name in names if not np.isnan(queries.values[name]).all())
    means = (MeanDifference.of_queries(queries, name) for name in with_value)
    return [(mean.mean, *mean.interval()) for mean in means]


def _compared(
    frame: DatasetResults, pairs: Sequence[Pair], baseline: str, first: Sequence[str],
    procedure: Procedure, measure: str, by: str | slices.Segments | None,
) -> dict[str, Any]:  # fmt: skip
    """Every algorithm against the baseline: the tests, their reasons, and query by query."""
    heading = {"measure": label(measure), "baseline": baseline}
    if frame.mixed:
        return heading
    pairs = [pair for pair in pairs if pair.b == baseline]
    rules, known = frame.conventions[0], parse(frame.dataset).entry
    parts: Table | None = None
    # no other published set names its queries; large data are not read in vain
    named = known is None or known.unsplit is not None
    called = slices.query_names(frame.data) if named else {}
    if by is not None:
        systems = [row.queries for row in frame.rows]
        cut = slices.sliced(by, systems, measure, frame.data)
        compared = comparison.compare(frame.dataset, systems, measure, baseline, procedure, cut)
        parts = comparison.comparison_table(compared, procedure, rules)
    return heading | {
        "slices": parts,
        "table": comparison.comparison_table(pairs, procedure, rules),
        "power": comparison.power_table(pairs, rules),
        "reasons": [
            _reasons(frame, pair, procedure, called)
            for pair in pairs
            if pair.a in first and pair.difference.n_values
        ],
        "charts": _split(gains(frame, baseline, measure), first),
    }


def _reasons(
    frame: DatasetResults, pair: Pair, procedure: Procedure, called: Mapping[str, str]
) -> dict[str, Any]:
    """Why one of two is below the other, and on which queries most."""
    both = [row.queries for row in frame.rows if row.algo in (pair.a, pair.b)]
    shown = pair.measure, pair.b, conclusions.WHY_QUERIES, called
    return {
        "pair": (pair.a, pair.b),
        "sentences": conclusions.diagnose(frame, pair, procedure),
        "queries": [*comparison.query_tables(frame.dataset, both, *shown)],
    }


def _importance(frame: DatasetResults, measure: str) -> dict[str, Any] | None:
    """Which features the best algorithm that keeps its models needs: a chart, and the numbers."""
    row = next(filter(importance.stored_models, comparable(frame)), None)
    if row is None:
        return None
    importances = importance.stored_importance(row, frame.data(), measure)
    shown = frame.dataset, measure, frame.conventions[0], {row.algo: importances}
    image = figures.data_uri(importance.importance_figure(importances))
    return {"image": image, "numbers": importance.importance_table(*shown)}


def gains(frame: DatasetResults, baseline: str, measure: str) -> dict[str, tuple[str, str]]:
    """For each algorithm its queries' differences from the baseline, the largest gain first."""
    base = next(row for row in frame.rows if row.algo == baseline)
    shown = escaping.figure(label(measure))
    differences, cards = {}, {}
    for row in frame.rows:
        if row.algo == base.algo or measure not in row.queries.values:
            continue
        *_, d = comparison.differences_by_query(frame.dataset, row.queries, base.queries, measure)
        if len(d):
            differences[row.algo] = np.sort(d)[::-1]
    # all charts have one scale
    most = 1.05 * max((float(np.abs(d).max()) for d in differences.values()), default=0.0) or 1.0
    for algo, d in differences.items():
        up, down = int((d > 0).sum()), int((d < 0).sum())
        title = f"{algo}: better on {up} queries, worse on {down} of {len(d)}"

        def bars(axes: Axes, d: np.ndarray = d) -> None:
            axes.stairs(np.maximum(d, 0.0), fill=True, color=GAIN)
            axes.stairs(np.minimum(d, 0.0), fill=True, color=LOSS)
            axes.set(xlabel="queries, by difference", ylabel=f"difference of {shown}")
            axes.set_ylim(-most, most)

        cards[algo] = title, _small(bars)
    return cards


def _small(paint: Callable[[Axes], None]) -> str:
    """A small chart as an image."""
    with figures.canvas(*SMALL) as (figure, (axes,)):
        paint(axes)
        axes.grid(axis="y", color="0.9", linewidth=0.5)
        axes.set_axisbelow(True)
    return figures.data_uri(figure)


def _split(
    cards: Mapping[str, tuple[str, str]], first: Sequence[str]
) -> dict[str, list[tuple[str, str]]]:
    """The cards of the algorithms that are shown first, and the others'."""
    shown: dict[str, list[tuple[str, str]]] = {"first": [], "others": []}
    for algo, card in cards.items():
        shown["first" if algo in first else "others"].append(card)
    return shown


def _warnings(frame: DatasetResults) -> tuple[Table, str]:
    """The warnings of training, the most serious first, and how many there are."""
    folds = defaultdict[tuple[str, FitWarning], list[int]](list)
    for row in frame.rows:
        for fold in row.by_repeat[0]:
            for warning in fold.warnings:
                folds[row.algo, warning].append(fold.number)
    rows = [
        (name, warning.kind, ", ".join(map(str, numbers)), warning.text)
        for (name, warning), numbers in sorted(folds.items(), key=lambda each: each[0][1].rank)
    ]
    count, n_algos = sum(map(len, folds.values())), len({name for name, _ in folds})
    title = f"{count} warning{'s' * (count > 1)} from {n_algos} of {len(frame.rows)} algorithms"
    heads = columns(["algorithm", "kind", "folds", "text"])
    return table("Warnings of training", heads, rows), f"{title}, the most serious first"


def _settings(frame: DatasetResults) -> Table:
    """What validation chose in every fold: settings from a grid, or all where there was none."""
    rows = []
    for row in frame.rows:
        for fold, fit in row.fits.items():
            validation, chosen = fit.get("validation", {}), fit.get("chosen", {})
            grid = fit.get("identity", {}).get("grid", {})
            names = [name for name in chosen if name in grid] or list(chosen)
            settings = ", ".join(f"{name} = {as_text(chosen[name])}" for name in names)
            rows.append((row.algo, settings, fold, *map(validation.get, ("best", "value"))))
    measure = next(iter(_identities(frame, "select")), "measure")
    heads = {"fold": "", "rounds or epochs": "", f"validation {label(measure)}": ".4f"}
    caption = "Chosen on the validation part of each fold"
    return table(caption, columns(["algorithm", "settings"], heads), rows)


def as_text(value: Any) -> str:
    """A setting as `--set` takes it."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ",".join(map(as_text, value))
    return "none" if value is None else str(value)


def _timings(frame: DatasetResults) -> Table:
    """Seconds of all folds, selection included."""
    rows = []
    for each in frame.rows:
        grids = [fit.get("validation", {}).get("grid", []) for fit in each.fits.values()]
        trained = sum(max(1, len(grid)) for grid in grids)
        seconds = sum(fit.get("seconds") or 0.0 for fit in each.fits.values())
        rows.append((each.algo, seconds, seconds / len(each.fits), trained))
    heads = {"seconds": ".2f", "seconds per fold": ".2f", "models trained": ""}
    caption = "Training, selection and scoring of all folds"
    return table(caption, columns(["algorithm"], heads), rows)


def _data(frame: DatasetResults) -> list[tuple[str, str]]:
    """What the catalog knows of the data set, and the test queries of each fold."""
    entry = parse(frame.dataset).entry
    rows = list(describe(entry)) if entry else [("name", f"{frame.dataset}, a folder of yours")]
    folds = max((row.queries.folds for row in frame.rows), key=len)
    counts = ", ".join(f"fold {k}: {n:,}" for k, n in zip(*np.unique(folds, return_counts=True)))
    return [*rows, ("test queries", counts)]


def _provenance(frame: DatasetResults) -> list[tuple[str, str]]:
    """Where the numbers come from: versions, the digest of the data, seeds."""
    versions = defaultdict[str, set[str]](set)
    for fit in (fit for row in frame.rows for fit in row.fits.values()):
        for name, version in fit.get("versions", {}).items():
            versions[name].add(str(version))
    rows = [(name, ", ".join(sorted(each))) for name, each in versions.items()]
    rows.append(("data (blake2b of the files)", ", ".join(sorted(_identities(frame, "data")))))
    return [*rows, ("seed", ", ".join(sorted(_identities(frame, "seed"))) or "none")]


def _identities(frame: DatasetResults, key: str) -> list[str]:
    """The values of a key in the identities of the algorithms, each once."""
    values = (row.stored[0].identity.get(key) for row in frame.rows)
    return list(dict.fromkeys(str(value) for value in values if value is not None))
