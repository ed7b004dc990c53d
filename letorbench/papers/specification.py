"""Specification curves: a number over all that a paper leaves open, and the printed one in it.

A specification is one setting of every open choice. The curve shows the values of all, sorted,
over rows of marks that say which specification has which setting. It is for view: no claim is
judged by it.

References
----------
U. Simonsohn, J. Simmons, L. Nelson: Specification curve analysis, Nature Human Behaviour, 2020.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from letorbench.analysis.figures import COLOURS, PAGE, fixed_style, write
from letorbench.papers.paper import Found, Part
from letorbench.papers.records import write_table
from letorbench.papers.runs import Study, Variant


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


def run(paper: str, part: Part, study: Study) -> Found:
    """Run every combination of a part's axes on the data at hand.

    An axis has settings of the rankers by name; among them `upper` and `lower` name rankers, and
    `convention` and `select` what measures and chooses. The number is the upper ranker's mean, or
    its lead over the lower one as a share of that.
    """
    found: list[Specification] = []
    for dataset in filter(study.has, part.data):
        for chosen in product(*(axis.items() for axis in part.axes.values())):
            settings = {"data": dataset} if len(part.data) > 1 else {}
            settings |= dict(zip(part.axes, (name for name, _ in chosen)))
            made = {key: value for _, each in chosen for key, value in each.items()}
            number = _number(paper, part, study, dataset, made, ", ".join(settings.values()))
            if number is not None:
                found.append(Specification(settings, number))
    if not found:
        return Found()
    stem = study.folder(paper) / part.name
    files = specification_tables(found, part.title, stem)
    printed = float(part.upper.get("printed", 0.0))
    files += specification_figure(found, part.title, printed, stem)
    return Found(files=tuple(files))


def _number(
    paper: str, part: Part, study: Study, dataset: str, made: dict[str, Any], label: str
) -> float | None:
    """The number of one specification; None where a run of it failed."""
    how = {key: made.pop(key) for key in ("convention", "select") if key in made}
    (measure,) = part.measures
    means = []
    for side in ("upper", "lower"):
        facts = {**getattr(part, side), **({"algo": made[side]} if side in made else {})}
        if "algo" not in facts:
            continue
        own = {key: value for key, value in made.items() if key not in ("upper", "lower")}
        variant = Variant(f"{side}, {label}", facts["algo"], {**facts.get("set", {}), **own})
        drawn = replace(study, repeats=part.repeats)
        runs = drawn.runs(
            paper, dataset, [variant], [measure], how.get("convention", part.convention),
            select=how.get("select", "ndcg@10"),
        )  # fmt: skip
        if not runs:
            return None
        means.append(runs[variant.label].mean(measure))
    return means[0] / means[1] - 1.0 if len(means) == 2 else means[0]


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
    stem: Path,
) -> list[Path]:
    """Draw the curve as stem.png, .svg and .pdf.

    printed: the paper's number, or 0 where a lead begins.
    """
    ordered = sorted(specifications, key=lambda each: each.value)
    values = [each.value for each in ordered]
    rows = [(choice, s) for choice, settings in levels(specifications).items() for s in settings]
    with fixed_style():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(PAGE, 2.4 + 0.16 * len(rows)), layout="constrained")
        top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=(2.2, 0.16 * len(rows)))
        top.plot(values, ".", markersize=2.0, color=COLOURS[3])
        said = f"printed, {printed:.2f}" if printed else "no lead"
        top.axhline(printed, color=COLOURS[0], linestyle="--", label=said)
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
