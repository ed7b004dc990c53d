"""A report's charts: NDCG@n with bands, per-query differences, validation curves.

Of many algorithms the few best and the baseline are drawn first; the others unfold.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from letorbench.analysis.comparison import on_common_folds
from letorbench.analysis.figures import USUAL_BASELINE, drawn_first
from letorbench.analysis.paired import bootstrap_columns
from letorbench.analysis.report.gather import Algorithm, Results
from letorbench.analysis.report.markup import Axes, Line, bars, chart, figure, folded
from letorbench.analysis.results_table import comparable, label
from letorbench.analysis.tables import Cell, Table, columns, render
from letorbench.escaping import html as escape

#: more bands than this are a blur
MOST_BANDS = 4
#: draws of a band; of every algorithm at every cut-off
RESAMPLES = 2_000
SMALL = (300.0, 190.0)


def named(results: Results, measure: str) -> list[str]:
    """The algorithms that are drawn first, in the order of the summary."""
    names = [algorithm.name for algorithm in results.algorithms]
    values = {row.algo: row.values[measure] for row in comparable(results.summary)}
    return drawn_first(names, [values], [results.baseline, USUAL_BASELINE])


def curves(results: Results, first: Sequence[str], family: str, seed: int) -> str:
    """NDCG@n, n = 1, 2, ..., pooled queries of all folds, with 95 % bootstrap bands.

    The algorithms in `first` are drawn; where there are others, a second chart of all unfolds.
    """
    # the algorithms that are drawn first come first, so that they differ in colour
    order = sorted(results.algorithms, key=lambda algorithm: algorithm.name not in first)
    drawn = (_curve(each, family, i, seed, results.dataset) for i, each in enumerate(order))
    lines = [line for line in drawn if line]
    if not lines:
        return ""
    shown = [line for line in lines if line.name in first]
    banded = _banded(results, shown)
    of = f" of {' and '.join(banded)}" if len(banded) < len(shown) else ""
    title = f"{label(family)}@n on {results.dataset}, mean over queries with 95 % intervals{of}"
    longest = max((line.xs for line in lines), key=len)
    axes = Axes(title, "n", f"{label(family)}@n", [(x, f"{x:g}") for x in longest])
    shown = [line if line.name in banded else replace(line, low=(), high=()) for line in shown]
    parts = [_switched(shown, axes, f"chart-{results.dataset}")]
    if len(shown) < len(lines):
        plain = [replace(line, low=(), high=()) for line in lines]
        title = f"{label(family)}@n of all {len(lines)} algorithms on {results.dataset}"
        every = _switched(plain, replace(axes, title=title), f"every-{results.dataset}")
        parts.append(folded(f"All {len(lines)} algorithms", every))
    title = f"{label(family)}@n on {results.dataset} with 95 % intervals: the numbers"
    numbers = render(_numbers(lines, title, longest), "html")
    return "\n".join([*parts, folded("The numbers", numbers)])


def differences(results: Results, first: Sequence[str], measure: str) -> str:
    """For each algorithm, its queries' differences from the baseline, the largest gain first."""
    base = next(a for a in results.algorithms if a.name == results.baseline)
    cards = {}
    for algorithm in results.algorithms:
        if algorithm.name == base.name or measure not in algorithm.queries.values:
            continue
        one, other = on_common_folds(results.dataset, algorithm.queries, base.queries)
        d = one.values[measure] - other.values[measure]
        d[np.abs(d) < 1e-12] = 0.0
        up, down = int((d > 0).sum()), int((d < 0).sum())
        title = f"{algorithm.name}: better on {up} queries, worse on {down} of {len(d)}"
        axes = Axes(
            f"{label(measure)} of {algorithm.name} less that of {base.name}, query by query; "
            f"{title}",
            "queries, by difference", f"difference of {label(measure)}", size=SMALL,
        )  # fmt: skip
        cards[algorithm.name] = figure(title, bars(np.sort(d)[::-1].tolist(), axes))
    return _cards(cards, first)


def validation(results: Results, first: Sequence[str]) -> str:
    """Each algorithm's validation curve, a line a fold, a dot at the round that was chosen."""
    cards = {}
    for algorithm in results.algorithms:
        measure = label(str(algorithm.shared("select")))
        by = x = "round or epoch"
        ticks: list[tuple[float, str]] = []
        lines = [line for fold in algorithm.fits if (line := _trained(algorithm, fold))]
        if not lines:
            lines, ticks = _searched(algorithm)
            by, x = "setting", " / ".join(algorithm.shared("grid") or {})
        if lines:
            caption = f"{algorithm.name}: validation {measure} by {by}, a line a fold"
            axes = Axes(caption, x, measure, ticks, SMALL)
            cards[algorithm.name] = figure(algorithm.name, chart(lines, axes))
    return _cards(cards, first)


def _banded(results: Results, lines: Sequence[Line]) -> list[str]:
    """The lines that have a band: all of a few, of more only the best and the baseline."""
    names = [line.name for line in lines]
    if len(names) <= MOST_BANDS:
        return names
    best = max(lines, key=lambda line: line.ys[-1]).name
    base = results.baseline if results.baseline != best else USUAL_BASELINE
    return [name for name in dict.fromkeys([best, base]) if name in names]


def _curve(algorithm: Algorithm, family: str, i: int, seed: int, dataset: str) -> Line | None:
    queries = algorithm.queries
    cutoffs = [k for k in range(1, 11) if f"{family}@{k}" in queries.values]
    if not cutoffs:
        return None
    names = [zlib.crc32(text.encode()) for text in (dataset, algorithm.name)]
    # (n_repeats, n_queries, n_cutoffs)
    table = np.stack([queries.by_repeat(f"{family}@{k}") for k in cutoffs], axis=2)
    rng = np.random.default_rng([seed, *names])
    bands = bootstrap_columns(table, queries.folds, rng, RESAMPLES)
    return Line(
        algorithm.name, cutoffs, [b.mean for b in bands], [b.low for b in bands],
        [b.high for b in bands], style=i,
    )  # fmt: skip


def _numbers(lines: Sequence[Line], title: str, cutoffs: Sequence[float]) -> Table:
    """What the chart shows, in digits."""
    rows = []
    for line in lines:
        points = list(zip(line.ys, line.low, line.high))
        texts = [Cell(f"{y:.4f} [{low:.4f}, {high:.4f}]", y) for y, low, high in points]
        rows.append((Cell(line.name), *texts, *[Cell("")] * (len(cutoffs) - len(points))))
    heads = columns(["algorithm"], [f"@{x:g}" for x in cutoffs])
    return Table(title, heads, tuple(rows))


def _trained(algorithm: Algorithm, fold: int) -> Line | None:
    fit = algorithm.fits[fold].get("validation", {})
    ys = [float("nan") if y is None else float(y) for y in fit.get("curve") or ()]
    if len(ys) < 2:
        return None
    best = fit.get("best")
    mark = None if best is None else min(max(int(best) - 1, 0), len(ys) - 1)
    return Line(f"fold {fold}", range(1, len(ys) + 1), ys, mark=mark, style=fold)


def _searched(algorithm: Algorithm) -> tuple[list[Line], list[tuple[float, str]]]:
    """A line a fold over the settings in their order, and the settings' names."""
    lines: list[Line] = []
    ticks: list[tuple[float, str]] = []
    for fold, fit in algorithm.fits.items():
        trials = fit.get("validation", {}).get("grid") or []
        free = list(fit.get("identity", {}).get("grid", {}))
        if len(trials) < 2:
            continue
        ys = [float("nan") if t["value"] is None else float(t["value"]) for t in trials]
        names = ["/".join(f"{t['settings'].get(key)}" for key in free) for t in trials]
        every = -(-len(names) // 6)
        ticks = [(float(i), name) for i, name in enumerate(names) if i % every == 0]
        mark = int(np.nanargmax(ys)) if np.isfinite(ys).any() else None
        lines.append(Line(f"fold {fold}", range(len(ys)), ys, mark=mark, style=fold))
    return lines, ticks


def _switched(lines: list[Line], axes: Axes, name: str) -> str:
    """A chart with a box for each line that shows or hides it."""
    boxes = "".join(
        f'<label><input type="checkbox" checked data-line="{escape(line.name)}" '
        f'data-chart="{escape(name)}">'
        f'<svg viewBox="0 0 32 8" aria-hidden="true"><g class="{line.colour}">'
        f'<polyline points="0,4 32,4" stroke-dasharray="{line.dash}"/></g></svg>'
        f"{escape(line.name)}</label>"
        for line in lines
    )
    picture = f'<div id="{escape(name)}">{chart(lines, axes)}</div>'
    legend = f"<fieldset><legend>Lines shown</legend>{boxes}</fieldset>"
    return figure(axes.title, picture, "main") + legend


def _cards(cards: Mapping[str, str], first: Sequence[str]) -> str:
    """The first algorithms' cards; the others unfold."""
    shown = [card for name, card in cards.items() if name in first]
    others = [card for name, card in cards.items() if name not in first]
    parts = ['<div class="cards">' + "\n".join(shown) + "</div>"] if shown else []
    if others:
        grid = '<div class="cards">' + "\n".join(others) + "</div>"
        parts.append(folded(f"{len(others)} other algorithms", grid))
    return "\n".join(parts)
