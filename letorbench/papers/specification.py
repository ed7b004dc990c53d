"""Specification curves: a number over all that a paper leaves open, and the printed one in it.

A specification is one setting of every open choice. The curve shows the values of all, sorted,
with a table by setting. It is for view: no claim is judged by it.

References
----------
U. Simonsohn, J. Simmons, L. Nelson: Specification curve analysis, Nature Human Behaviour, 2020.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import pandas as pd

from letorbench.analysis.tables import write_table
from letorbench.papers.figures import Axis, lines_figure
from letorbench.papers.paper import Found, Part
from letorbench.papers.runs import Study, Variant
from letorbench.results.per_query import PerQuery

#: what a setting of an axis may have beside the rankers' settings
NOT_SETTINGS = ("upper", "lower", "convention", "select")


def run(paper: str, part: Part, study: Study) -> Found:
    """Run every combination of a part's axes on the data at hand.

    An axis has settings of the rankers by name; among them `upper` and `lower` name rankers or
    have their `algo` and `set`, and `convention` and `select` what measures and chooses. The number
    is the upper ranker's mean, or its lead over the lower one as a share of that. The files are the
    curve, a row for each specification, and one for each setting.
    """
    rows = []
    for dataset in filter(study.has, part.data):
        every = []
        for chosen in product(*(axis.items() for axis in part.axes.values())):
            settings = {"data": dataset} if len(part.data) > 1 else {}
            settings |= dict(zip(part.axes, (name for name, _ in chosen)))
            made = {key: value for _, each in chosen for key, value in each.items()}
            sides = _sides(part, made, ", ".join(settings.values()))
            how = made.get("convention", part.convention), made.get("select", "ndcg@10")
            every.append((settings, how, sides))
        found: dict[str, PerQuery] = {}
        for how in dict.fromkeys(how for _, how, _ in every):  # what is alike is run at once
            own = [side for _, each, sides in every if each == how for side in sides]
            found |= study.runs(dataset, own, part.measures, how[0], part.repeats, how[1])
        for settings, _, sides in every:
            means = [found[s.label].mean(part.measures[0]) for s in sides if s.label in found]
            if len(means) == len(sides):
                value = means[0] / means[1] - 1.0 if len(means) == 2 else means[0]
                rows.append({**settings, "value": value})
    if not rows:
        return Found()
    table, stem = pd.DataFrame(rows), study.folder(paper) / part.name
    of_choices = table.melt("value", var_name="choice", value_name="setting")
    levels = of_choices.groupby(["choice", "setting"], sort=False)["value"]
    by_level = levels.agg(specifications="size", mean="mean", least="min", most="max").reset_index()
    ends, printed = (1, len(table)), float(part.upper.get("printed", 0.0))
    lines = {
        "specifications": (range(1, len(table) + 1), sorted(table["value"])),
        f"printed, {printed:.4g}" if printed else "no lead": (ends, (printed, printed)),
    }
    files = lines_figure([Axis(part.title, "specifications, the lowest first", "", lines)], stem)
    files += write_table(stem, part.title, list(table), table.to_numpy(object).tolist())
    stem, title = stem.with_name(f"{stem.name}-levels"), f"{part.title}, by what is left open"
    files += write_table(stem, title, list(by_level), by_level.to_numpy(object).tolist())
    return Found(files=tuple(files))


def _sides(part: Part, made: dict[str, Any], label: str) -> list[Variant]:
    """The rankers of one specification: the upper, and the lower where there is one."""
    settings, sides = {k: made[k] for k in made if k not in NOT_SETTINGS}, []
    for side in ("upper", "lower"):
        own = made.get(side, {})
        facts = {**getattr(part, side), **(own if isinstance(own, dict) else {"algo": own})}
        if "algo" in facts:
            every = {**facts.get("set", {}), **settings}
            sides.append(Variant(f"{side}, {label}", facts["algo"], every))
    return sides
