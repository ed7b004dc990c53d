"""A report's charts: NDCG@n with bands, per-query differences, validation curves."""

from __future__ import annotations

import zlib
from html import escape

import numpy as np

from letorbench.analysis.cells import label
from letorbench.analysis.intervals import bootstrap
from letorbench.analysis.report.html import figure, folded, table
from letorbench.analysis.report.stored import Algorithm, Results
from letorbench.analysis.report.svg import COLOURS, DASHES, Axes, Line, bars, chart

#: draws of a band; of every algorithm at every cut-off
RESAMPLES = 2_000
SMALL = (300.0, 190.0)


def curves(results: Results, family: str, seed: int) -> str:
    """NDCG@n, n = 1, 2, ..., pooled queries of all folds, with 95 % bootstrap bands."""
    lines = [
        line
        for i, algorithm in enumerate(results.algorithms)
        if (line := _curve(algorithm, family, i, seed, results.dataset))
    ]
    if not lines:
        return ""
    name = f"chart-{results.dataset}"
    title = f"{label(family)}@n on {results.dataset}, mean over queries with 95 % intervals"
    longest = max((line.xs for line in lines), key=len)
    axes = Axes(title, "n", f"{label(family)}@n", [(x, f"{x:g}") for x in longest])
    picture = f'<div id="{escape(name)}">{chart(lines, axes)}</div>'
    head = ["algorithm", *(f"@{x:g}" for x in longest)]
    numbers = table(f"{title}: the numbers", head, map(_numbers, lines))
    return figure(title, picture, "main") + _legend(lines, name) + folded("The numbers", numbers)


def differences(results: Results, measure: str) -> str:
    """For each algorithm, its queries' differences from the baseline, the largest gain first."""
    base = next(a for a in results.algorithms if a.name == results.baseline)
    cards = []
    for algorithm in results.algorithms:
        if algorithm.name == base.name or measure not in algorithm.queries.values:
            continue
        d = algorithm.queries.values[measure] - base.queries.values[measure]
        d[np.abs(d) < 1e-12] = 0.0
        up, down = int((d > 0).sum()), int((d < 0).sum())
        title = f"{algorithm.name}: better on {up} queries, worse on {down} of {len(d)}"
        axes = Axes(
            f"{label(measure)} of {algorithm.name} less that of {base.name}, query by query; "
            f"{title}",
            "queries, by difference", f"difference of {label(measure)}", size=SMALL,
        )  # fmt: skip
        cards.append(figure(title, bars(np.sort(d)[::-1].tolist(), axes)))
    return _cards(cards)


def validation(results: Results) -> str:
    """Each algorithm's validation curve, a line a fold, a dot at what was kept."""
    cards = []
    for algorithm in results.algorithms:
        lines = [line for fold in algorithm.fits if (line := _trained(algorithm, fold))]
        if lines:
            measure = label(str(algorithm.shared("select")))
            title = f"{algorithm.name}: validation {measure} by round or epoch, a line a fold"
            axes = Axes(title, "round or epoch", measure, size=SMALL)
            cards.append(figure(algorithm.name, chart(lines, axes)))
            continue
        lines, ticks = _searched(algorithm)
        if lines:
            measure = label(str(algorithm.shared("select")))
            title = f"{algorithm.name}: validation {measure} by setting, a line a fold"
            axes = Axes(title, _setting_name(algorithm), measure, ticks, SMALL)
            cards.append(figure(algorithm.name, chart(lines, axes)))
    return _cards(cards)


def _curve(algorithm: Algorithm, family: str, i: int, seed: int, dataset: str) -> Line | None:
    found = algorithm.queries.values
    cutoffs = []
    while f"{family}@{len(cutoffs) + 1}" in found and len(cutoffs) < 10:
        cutoffs.append(len(cutoffs) + 1)
    if not cutoffs:
        return None
    names = [zlib.crc32(text.encode()) for text in (dataset, algorithm.name)]
    # the same queries are drawn at every cut-off
    bands = [
        bootstrap(found[f"{family}@{k}"], np.random.default_rng([seed, *names]), 0.95, RESAMPLES)
        for k in cutoffs
    ]
    return Line(
        algorithm.name, cutoffs, [b.mean for b in bands], [b.low for b in bands],
        [b.high for b in bands], style=i,
    )  # fmt: skip


def _numbers(line: Line) -> list[str]:
    points = zip(line.ys, line.low, line.high)
    return [line.name, *(f"{y:.4f} [{low:.4f}, {high:.4f}]" for y, low, high in points)]


def _trained(algorithm: Algorithm, fold: int) -> Line | None:
    found = algorithm.fits[fold].get("validation", {})
    ys = [float("nan") if y is None else float(y) for y in found.get("curve") or ()]
    if len(ys) < 2:
        return None
    best = found.get("best")
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


def _setting_name(algorithm: Algorithm) -> str:
    return " / ".join(algorithm.shared("grid") or {})


def _legend(lines: list[Line], chart_id: str) -> str:
    """A box a line, which shows or hides it."""
    boxes = []
    for line in lines:
        dash = DASHES[(line.style // COLOURS + line.style) % len(DASHES)]
        boxes.append(
            f'<label><input type="checkbox" checked data-line="{escape(line.name)}" '
            f'data-chart="{escape(chart_id)}">'
            f'<svg viewBox="0 0 32 8" aria-hidden="true"><g class="line c{line.style % COLOURS}">'
            f'<polyline points="0,4 32,4" stroke-dasharray="{dash}"/></g></svg>'
            f"{escape(line.name)}</label>"
        )
    return f"<fieldset><legend>Lines shown</legend>{''.join(boxes)}</fieldset>"


def _cards(cards: list[str]) -> str:
    return '<div class="cards">' + "\n".join(cards) + "</div>" if cards else ""
