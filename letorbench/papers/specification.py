"""Specification curves: a number over all that a paper leaves open, and the printed one in it.

A specification is one setting of every open choice. The curve shows the values of all, sorted,
with a table by setting. It is for view: no claim is judged by it.

References
----------
U. Simonsohn, J. Simmons, L. Nelson: Specification curve analysis, Nature Human Behaviour, 2020.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from letorbench.analysis.tables import Value, write_table
from letorbench.papers.paper import Found, Part
from letorbench.papers.runs import Study, Variant

#: a specification: its setting of each open choice by name, and the number that came of it
Specification = tuple[Mapping[str, str], float]


def by_level(specifications: Sequence[Specification]) -> list[list[Value]]:
    """A row for each setting of a choice: how many have it, and their mean, least and most."""
    values: dict[tuple[str, str], list[float]] = {}
    for settings, value in specifications:
        for level in settings.items():
            values.setdefault(level, []).append(value)
    rows: list[list[Value]] = [
        [*level, len(v), float(np.mean(v)), min(v), max(v)] for level, v in values.items()
    ]
    return sorted(rows, key=lambda row: list(specifications[0][0]).index(str(row[0])))


def run(paper: str, part: Part, study: Study) -> Found:
    """Run every combination of a part's axes on the data at hand.

    An axis has settings of the rankers by name; among them `upper` and `lower` name rankers or
    have their `algo` and `set`, and `convention` and `select` what measures and chooses. The number
    is the upper ranker's mean, or its lead over the lower one as a share of that.
    """
    found: list[Specification] = []
    for dataset in filter(study.has, part.data):
        for chosen in product(*(axis.items() for axis in part.axes.values())):
            settings = {"data": dataset} if len(part.data) > 1 else {}
            settings |= dict(zip(part.axes, (name for name, _ in chosen)))
            made = {key: value for _, each in chosen for key, value in each.items()}
            number = _number(part, study, dataset, made, ", ".join(settings.values()))
            if number is not None:
                found.append((settings, number))
    if not found:
        return Found()
    stem = study.folder(paper) / part.name
    printed = float(part.upper.get("printed", 0.0))
    return Found(files=tuple(_files(found, part.title, printed, stem)))


def _number(
    part: Part, study: Study, dataset: str, made: dict[str, Any], label: str
) -> float | None:
    """The number of one specification; None where a run of it failed."""
    how = {key: made.pop(key) for key in ("convention", "select") if key in made}
    (measure,) = part.measures
    means = []
    for side in ("upper", "lower"):
        own = made.get(side, {})
        facts = {**getattr(part, side), **(own if isinstance(own, dict) else {"algo": own})}
        if "algo" not in facts:
            continue
        rest = {key: value for key, value in made.items() if key not in ("upper", "lower")}
        variant = Variant(f"{side}, {label}", facts["algo"], {**facts.get("set", {}), **rest})
        runs = study.runs(
            dataset, [variant], [measure], how.get("convention", part.convention), part.repeats,
            how.get("select", "ndcg@10"),
        )  # fmt: skip
        if not runs:
            return None
        means.append(runs[variant.label].mean(measure))
    return means[0] / means[1] - 1.0 if len(means) == 2 else means[0]


def _files(found: Sequence[Specification], title: str, printed: float, stem: Path) -> list[Path]:
    """The curve, a row for each specification, and stem-levels with one for each setting."""
    from letorbench.papers.line_figures import Axis, Line, lines_figure

    choices = list(found[0][0])
    rows = [[*settings.values(), value] for settings, value in found]
    header = ["choice", "setting", "specifications", "mean", "least", "most"]
    levels = stem.with_name(f"{stem.name}-levels")
    values = sorted(value for _, value in found)
    ends = [1, len(values)]
    said = f"printed, {printed:.4g}" if printed else "no lead"
    lines = {
        "specifications": Line(range(1, len(values) + 1), values),
        said: Line(ends, [printed] * 2),
    }
    return [
        *write_table(stem, title, [*choices, "value"], rows),
        *write_table(levels, f"{title}, by what is left open", header, by_level(found)),
        *lines_figure([Axis(title, "specifications, the lowest first", "", lines)], stem),
    ]
