"""HTML of single things, and inline SVG charts; colours come from the page's style sheet."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from letorbench.escaping import html as escape

LEFT, RIGHT, TOP, BOTTOM = 46.0, 20.0, 10.0, 34.0
#: as many colours as the style sheet has; dashes tell lines apart where colours do not
COLOURS = 12
DASHES = ("", "7 3", "2 3", "9 3 2 3")


def facts(rows: Iterable[tuple[str, str]]) -> str:
    """A list of names and what they are; a web address becomes a link."""
    items = "\n".join(f"<dt>{escape(name)}</dt><dd>{_linked(text)}</dd>" for name, text in rows)
    return f"<dl>\n{items}\n</dl>"


def _linked(text: str) -> str:
    words = map(escape, text.split(" "))
    linked = ("https://", "http://")
    return " ".join(f'<a href="{w}">{w}</a>' if w.startswith(linked) else w for w in words)


def folded(title: str, body: str) -> str:
    """A part that a click on its title shows."""
    return f"<details><summary>{escape(title)}</summary>\n{body}\n</details>"


def paragraph(text: str, classes: str = "") -> str:
    return f'<p class="{classes}">{escape(text)}</p>' if classes else f"<p>{escape(text)}</p>"


def bullets(items: Iterable[str]) -> str:
    return "<ul>\n" + "\n".join(f"<li>{item}</li>" for item in items) + "\n</ul>"


def figure(title: str, picture: str, classes: str = "card") -> str:
    return (
        f'<figure class="{classes}"><figcaption><h4>{escape(title)}</h4></figcaption>\n'
        f"{picture}</figure>"
    )


@dataclass(frozen=True)
class Line:
    """Values y at x = xs; `low` and `high` make a band; `mark` is the index of a dot."""

    name: str
    xs: Sequence[float]
    ys: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()
    mark: int | None = None
    style: int = 0

    @property
    def colour(self) -> str:
        """The class of the style sheet that has the line's colour."""
        return f"line c{self.style % COLOURS}"

    @property
    def dash(self) -> str:
        return DASHES[(self.style // COLOURS + self.style) % len(DASHES)]


@dataclass(frozen=True)
class Axes:
    """What a chart's axes say; `ticks` are (x, text), none for even ones."""

    title: str
    x: str
    y: str
    ticks: Sequence[tuple[float, str]] = ()
    size: tuple[float, float] = (420.0, 280.0)


def chart(lines: Sequence[Line], axes: Axes) -> str:
    """A line chart; every line is a group that the page can hide by its data-name."""
    xs = [x for line in lines for x in line.xs]
    ys = [y for line in lines for y in (*line.ys, *line.low, *line.high) if math.isfinite(y)]
    frame = _Frame(_span(xs, 0.02), _span(ys, 0.05), axes.size)
    parts = [_open(axes), *_grid(frame, axes, axes.ticks or _even(frame.x))]
    for line in lines:
        points = [frame.at(x, y) for x, y in zip(line.xs, line.ys) if math.isfinite(y)]
        name = escape(line.name)
        parts.append(f'<g class="{line.colour}" data-name="{name}"><title>{name}</title>')
        if line.low:
            above = [frame.at(x, y) for x, y in zip(line.xs, line.high)]
            below = [frame.at(x, y) for x, y in zip(line.xs, line.low)]
            parts.append(f'<polygon class="band" points="{_points([*above, *below[::-1]])}"/>')
        parts.append(f'<polyline points="{_points(points)}" stroke-dasharray="{line.dash}"/>')
        if line.mark is not None and line.mark < len(line.xs):
            x, y = frame.at(line.xs[line.mark], line.ys[line.mark])
            parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5"/>')
        parts.append("</g>")
    return "\n".join([*parts, "</svg>"])


def bars(values: Sequence[float], axes: Axes) -> str:
    """Bars of signed values in the order given, those above 0 and below in two colours."""
    frame = _Frame((0.0, float(max(1, len(values)))), _span([*values, 0.0], 0.05), axes.size)
    parts = [_open(axes), *_grid(frame, axes, axes.ticks)]
    zero = frame.at(0, 0.0)[1]
    for i, value in enumerate(values):
        if value:
            x, y = frame.at(i, value)
            width = frame.at(i + 1, 0.0)[0] - x
            kind = "gain" if value > 0 else "loss"
            parts.append(
                f'<rect class="{kind}" x="{x:.2f}" y="{min(y, zero):.2f}" '
                f'width="{max(width, 0.6):.2f}" height="{abs(y - zero):.2f}"/>'
            )
    right = axes.size[0] - RIGHT
    parts.append(f'<line class="zero" x1="{LEFT}" x2="{right}" y1="{zero:.1f}" y2="{zero:.1f}"/>')
    return "\n".join([*parts, "</svg>"])


@dataclass(frozen=True)
class _Frame:
    """The ranges that the axes show, and where a point lies in the picture."""

    x: tuple[float, float]
    y: tuple[float, float]
    size: tuple[float, float]

    def at(self, x: float, y: float) -> tuple[float, float]:
        width, height = self.size[0] - LEFT - RIGHT, self.size[1] - TOP - BOTTOM
        across = (x - self.x[0]) / (self.x[1] - self.x[0])
        up = (y - self.y[0]) / (self.y[1] - self.y[0])
        return LEFT + across * width, TOP + (1 - up) * height


def _open(axes: Axes) -> str:
    title = escape(axes.title)
    return (
        f'<svg viewBox="0 0 {axes.size[0]:g} {axes.size[1]:g}" role="img" aria-label="{title}">'
        f"<title>{title}</title>"
    )


def _grid(frame: _Frame, axes: Axes, ticks: Sequence[tuple[float, str]]) -> list[str]:
    width, height = axes.size
    parts = []
    for value, text in _even(frame.y):
        y = frame.at(frame.x[0], value)[1]
        ends = f'x1="{LEFT}" x2="{width - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"'
        parts.append(f'<line class="grid" {ends}/>')
        parts.append(f'<text x="{LEFT - 5}" y="{y + 3.5:.1f}" text-anchor="end">{text}</text>')
    for value, text in ticks:
        x = frame.at(value, frame.y[0])[0]
        parts.append(
            f'<text x="{x:.1f}" y="{height - BOTTOM + 14}" text-anchor="middle">'
            f"{escape(text)}</text>"
        )
    middle = (TOP + height - BOTTOM) / 2
    parts.append(
        f'<text x="{(LEFT + width - RIGHT) / 2}" y="{height - 4}" text-anchor="middle">'
        f"{escape(axes.x)}</text>"
    )
    parts.append(
        f'<text transform="translate(11 {middle}) rotate(-90)" text-anchor="middle">'
        f"{escape(axes.y)}</text>"
    )
    return parts


def _span(values: Sequence[float], margin: float) -> tuple[float, float]:
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    if high - low < 1e-9:
        low, high = low - 0.5, high + 0.5
    room = margin * (high - low)
    return low - room, high + room


def _even(span: tuple[float, float]) -> list[tuple[float, str]]:
    """Four to nine round numbers in the span."""
    rough = (span[1] - span[0]) / 5
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * k for k in (1, 2, 5, 10) if power * k >= rough)
    places = max(0, -math.floor(math.log10(step) + 1e-9))
    first = math.ceil(span[0] / step - 1e-9)
    count = math.floor(span[1] / step + 1e-9) - first + 1
    return [((first + i) * step, f"{(first + i) * step:.{places}f}") for i in range(count)]


def _points(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
