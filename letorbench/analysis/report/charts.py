"""A report's charts: NDCG@n with bands, per-query differences, validation curves.

matplotlib draws them, and the page holds the images. Of many algorithms the few best and the
baseline are shown first; the others unfold.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import takewhile
from typing import TYPE_CHECKING

import numpy as np

from letorbench import escaping
from letorbench.analysis.comparison import on_common_folds, with_values
from letorbench.analysis.figures import (
    INTERVALS,
    USUAL_BASELINE,
    Panel,
    draw,
    drawn_first,
    fixed_style,
    new_figure,
    save,
)
from letorbench.analysis.leads import Lead
from letorbench.analysis.paired import differences
from letorbench.analysis.results_table import comparable, label
from letorbench.analysis.tables import Cell, Table, columns, render, table
from letorbench.analysis.validation import courses, paint
from letorbench.escaping import html as escape
from letorbench.measures import sign
from letorbench.results.frame import Frame
from letorbench.results.per_query import PerQuery

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: inches of a small chart
SMALL = (3.2, 2.0)
GAIN, LOSS = "#117733", "#c4420a"


def named(frame: Frame, baseline: str, measure: str) -> list[str]:
    """The algorithms that are drawn first, in the order of the frame."""
    names = [row.algo for row in frame.rows]
    values = {row.algo: sign(measure) * row.values[measure] for row in comparable(frame)}
    return drawn_first(names, [values], [baseline, USUAL_BASELINE])


def curves(frame: Frame, baseline: str, family: str) -> str:
    """NDCG@n, n = 1, 2, ..., over the pooled queries of all folds.

    The best and the baseline have bands of 95 % intervals; the numbers of all unfold.
    """
    every = {each.algo: _points(each.queries, family) for each in frame.rows}
    every = {name: points for name, points in every.items() if points}
    if not every:
        return ""
    lines = {name: [mean for mean, *_ in points] for name, points in every.items()}
    best = max(lines, key=lambda name: lines[name][-1])
    bands = {
        name: ([low for _, low, _ in every[name]], [high for *_, high in every[name]])
        for name in (best, baseline)
        if name in every
    }
    title = f"{label(family)}@n on {frame.dataset}, mean over queries with 95 % intervals"
    panel = Panel(f"{frame.dataset} dataset", f"{label(family)}@n", lines, bands, INTERVALS)
    numbers = render(_numbers(every, title), "html")
    chart = framed("main", title, draw([panel], baseline))
    return f"{chart}\n{folded('The numbers', numbers)}"


def _points(queries: PerQuery, family: str) -> list[tuple[float, float, float]]:
    """The mean and the ends of its interval at n = 1, 2, ... up to the first gap."""
    names = takewhile(queries.values.__contains__, (f"{family}@{k}" for k in range(1, 11)))
    own = ((name, queries.counted(name)) for name in names)
    leads = [Lead.over_nothing(q.tables[name], q.folds) for name, q in own if len(q.qids)]
    return [(float(lead.mean), *lead.interval()) for lead in leads]


def _numbers(every: Mapping[str, Sequence[tuple[float, float, float]]], title: str) -> Table:
    """What the chart shows, in digits."""
    longest = max(map(len, every.values()))
    rows = []
    for name, points in every.items():
        texts = [Cell(f"{mean:.4f} [{low:.4f}, {high:.4f}]", mean) for mean, low, high in points]
        rows.append([name, *texts, *[None] * (longest - len(points))])
    heads = columns(["algorithm"], {f"@{n}": "" for n in range(1, longest + 1)})
    return table(f"{title}: the numbers", heads, rows)


def gains(frame: Frame, baseline: str, first: Sequence[str], measure: str) -> str:
    """For each algorithm, its queries' differences from the baseline, the largest gain first."""
    base = next(row for row in frame.rows if row.algo == baseline)
    shown = escaping.figure(label(measure))
    cards = {}
    for row in frame.rows:
        if row.algo == base.algo or measure not in row.queries.values:
            continue
        both = on_common_folds(frame.dataset, row.queries, base.queries)
        one, other = with_values(*both, measure)
        if not len(one.qids):
            continue
        d = np.sort(sign(measure) * differences(one.values[measure], other.values[measure]))[::-1]
        up, down = int((d > 0).sum()), int((d < 0).sum())
        title = f"{row.algo}: better on {up} queries, worse on {down} of {len(d)}"

        def bars(axes: Axes, d: np.ndarray = d) -> None:
            axes.stairs(np.maximum(d, 0.0), fill=True, color=GAIN)
            axes.stairs(np.minimum(d, 0.0), fill=True, color=LOSS)
            axes.set(xlabel="queries, by difference", ylabel=f"difference of {shown}")

        cards[row.algo] = _card(title, bars)
    return _cards(cards, first)


def validation(frame: Frame, first: Sequence[str]) -> str:
    """Each algorithm's validation curve, a line a fold, a dot at what was chosen."""
    cards = {
        row.algo: _card(row.algo, partial(paint, row=row)) for row in frame.rows if courses(row)
    }
    return _cards(cards, first)


def _card(title: str, painted: Callable[[Axes], None]) -> str:
    """A small chart below its title."""
    with fixed_style():
        drawn = new_figure(*SMALL)
        axes = drawn.add_subplot()
        painted(axes)
        axes.grid(axis="y", color="0.9", linewidth=0.5)
        axes.set_axisbelow(True)
    return framed("card", title, drawn)


def framed(kind: str, title: str, drawn: Figure) -> str:
    """The figure below its title, as an image that the page holds."""
    file = io.BytesIO()
    save(drawn, file, "png")
    data, title = base64.b64encode(file.getvalue()).decode(), escape(title)
    return (
        f'<figure class="{kind}"><figcaption><h4>{title}</h4></figcaption>\n'
        f'<img alt="{title}" src="data:image/png;base64,{data}"></figure>'
    )


def _cards(cards: Mapping[str, str], first: Sequence[str]) -> str:
    """The first algorithms' cards; the others unfold."""
    shown = [card for name, card in cards.items() if name in first]
    others = [card for name, card in cards.items() if name not in first]
    parts = ['<div class="cards">' + "\n".join(shown) + "</div>"] if shown else []
    if others:
        grid = '<div class="cards">' + "\n".join(others) + "</div>"
        parts.append(folded(f"{len(others)} other algorithms", grid))
    return "\n".join(parts)


def folded(title: str, body: str) -> str:
    """A part that a click on its title shows."""
    return f"<details><summary>{escape(title)}</summary>\n{body}\n</details>"
