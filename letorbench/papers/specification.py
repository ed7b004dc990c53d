"""Specification curves: a number over all that a paper leaves open, and the printed one in it.

A specification is one setting of every open choice. The curve shows the values of all, sorted,
over rows of marks that say which specification has which setting.

References
----------
U. Simonsohn, J. Simmons, L. Nelson: Specification curve analysis, Nature Human Behaviour, 2020.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from letorbench.analysis.figures import COLOURS, PAGE, fixed_style, write
from letorbench.papers.claims import Measured
from letorbench.papers.kept import read_kept_json, write_kept_json
from letorbench.papers.records import write_table


@dataclass(frozen=True)
class Specification:
    """One setting of each open choice, and the number that came of it."""

    settings: Mapping[str, str]
    value: float


def levels(specifications: Sequence[Specification]) -> dict[str, list[str]]:
    """The open choices with their settings, in the order in which they come."""
    found: dict[str, dict[str, None]] = {}
    for each in specifications:
        for choice, setting in each.settings.items():
            found.setdefault(choice, {})[setting] = None
    return {choice: list(settings) for choice, settings in found.items()}


def by_level(specifications: Sequence[Specification]) -> list[list[object]]:
    """A row for each setting of a choice: how many have it, and their mean, least and most."""
    rows: list[list[object]] = []
    for choice, settings in levels(specifications).items():
        for setting in settings:
            own = np.array([s.value for s in specifications if s.settings[choice] == setting])
            rows.append(
                [choice, setting, len(own), *map(float, (own.mean(), own.min(), own.max()))]
            )
    return rows


def measured_once(
    path: Path, asked: Mapping[str, object], measure: Callable[[], list[Specification]]
) -> list[Specification]:
    """Measure the specifications, or read them where they were measured for the same `asked`."""
    wanted = json.loads(json.dumps(asked))
    stored = read_kept_json(path)
    if stored.get("asked") == wanted:
        return [Specification(**each) for each in stored["found"]]
    found = measure()
    write_kept_json(path, {"asked": wanted, "found": [asdict(each) for each in found]})
    return found


def span(specifications: Sequence[Specification], printed: float) -> Measured:
    """The mean of all, from the least to the most, and how many are below the printed number."""
    values = np.array([each.value for each in specifications])
    below = float(np.mean(values < printed))
    note = f"{len(values)} specifications, {100 * below:.0f} % of them below {printed:g}"
    return Measured(float(values.mean()), float(values.min()), float(values.max()), note)


def share_above(specifications: Sequence[Specification], least: float = 0.0) -> Measured:
    """The share of the specifications whose value is above `least`."""
    values = np.array([each.value for each in specifications])
    share = float(np.mean(values > least))
    note = (
        f"{len(values)} specifications: from {values.min():+.4f} to {values.max():+.4f}, in the "
        f"mean {values.mean():+.4f}"
    )
    return Measured(share, share, share, note)


def specification_tables(
    specifications: Sequence[Specification], title: str, stem: Path
) -> list[Path]:
    """Write a row for each specification, and stem-levels with one for each setting."""
    choices = list(specifications[0].settings)
    rows = [[*(each.settings[choice] for choice in choices), each.value] for each in specifications]
    return [
        *write_table(stem, title, [*choices, "value"], rows),
        *write_table(
            stem.with_name(f"{stem.name}-levels"), f"{title}, by what is left open",
            ["choice", "setting", "specifications", "mean", "least", "most"],
            by_level(specifications),
        ),
    ]  # fmt: skip


def specification_figure(
    specifications: Sequence[Specification],
    measure: str,
    printed: float,
    ours: Mapping[str, str],
    stem: Path,
    said: str = "printed, {:.2f}",
) -> list[Path]:
    """Draw the curve as stem.png, .svg and .pdf.

    printed: the paper's number, or where it begins to be right; `said` is what it is called.
    ours: the settings that stand for our default.
    """
    ordered = sorted(specifications, key=lambda each: each.value)
    values = [each.value for each in ordered]
    at = next(i for i, each in enumerate(ordered) if dict(each.settings) == dict(ours))
    rows = [(choice, s) for choice, settings in levels(specifications).items() for s in settings]
    with fixed_style():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(PAGE, 2.4 + 0.16 * len(rows)), layout="constrained")
        top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=(2.2, 0.16 * len(rows)))
        top.plot(values, ".", markersize=2.0, color=COLOURS[3])
        top.plot([at], [values[at]], "D", markersize=5.0, color=COLOURS[1],
                 label=f"our default, {values[at]:.3f}")  # fmt: skip
        top.axhline(printed, color=COLOURS[0], linestyle="--", label=said.format(printed))
        top.set_ylabel(measure)
        top.legend(frameon=False, loc="lower right")
        top.margins(y=0.12)
        first = {choice: i for i, (choice, _) in reversed(list(enumerate(rows)))}
        for i, (choice, setting) in enumerate(rows):
            has = [x for x, each in enumerate(ordered) if each.settings[choice] == setting]
            shade = COLOURS[3] if list(first).index(choice) % 2 else COLOURS[1]
            bottom.plot(has, [i] * len(has), "|", markersize=4.0, markeredgewidth=0.5, color=shade)
        bottom.set_yticks(range(len(rows)), [f"{choice}: {setting}" for choice, setting in rows])
        bottom.set_ylim(len(rows) - 0.5, -0.5)
        bottom.set_xlabel(f"{len(ordered)} specifications, the lowest first")
        for axis in (top, bottom):
            axis.grid(axis="y", color="0.92", linewidth=0.5)
            axis.set_axisbelow(True)
            axis.tick_params(length=2.5, width=0.6, pad=2)
        return write(figure, stem)
