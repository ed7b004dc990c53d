"""How a part's runs are shown: curves, bars, the paper's tables, and specification curves."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any

from letorbench.analysis.figures import Panel, draw, write
from letorbench.analysis.published import lookup
from letorbench.analysis.tables import write_table
from letorbench.papers.figures import Axis, bars_figure, dots_figure, lines_figure
from letorbench.papers.paper import Found, Paper, Part
from letorbench.papers.runs import ByMethod, Method, Study
from letorbench.results.per_query import PerQuery

#: the source of the baselines of LETOR 3.0
LETOR = "liu-book"
#: the keys of a specification that are not settings of rankers
NOT_SETTINGS = ("upper", "lower", "convention", "select")


def files(paper: Paper, part: Part, values: Mapping[str, ByMethod], folder: Path) -> list[Path]:
    """Write the figure and the table of the first protocol, and a table for each other one."""
    written: list[Path] = []
    for number, (protocol, found) in enumerate(values.items()):
        stem = folder / (part.name if number == 0 else f"{part.name}-protocol-{number + 1}")
        title = part.title if number == 0 else f"{part.title}; {protocol}"
        here = {name: methods for name, methods in found.items() if methods}
        if part.form == "table":
            written += printed_table(paper, part, here, stem, title)
            continue
        rows = [
            [dataset, label, *(each.mean(m) for m in part.measures)]
            for dataset, methods in here.items()
            for label, each in methods.items()
        ]
        written += write_table(stem, title, ["data", "method", *part.measures], rows)
        if number == 0 and here:
            written += _drawn(paper, part, here, stem)
    return written


def _drawn(paper: Paper, part: Part, found: ByMethod, stem: Path) -> list[Path]:
    """The figure, with a star in the colour of its line for each number in the paper's text."""
    if part.form == "bars":
        (measure,) = part.measures
        groups = {d: {m: v.mean(measure) for m, v in found[d].items()} for d in found}
        return bars_figure(part.title, measure.upper(), groups, stem)
    panels: dict[str, Panel] = {}
    for dataset, methods in found.items():
        for label, each in methods.items():
            version = paper.methods[label]
            title = f"{dataset}, {version.row}" if version.column else dataset
            panel = panels.setdefault(title, Panel(title, "NDCG", {}))
            curve = [each.mean(k) for k in part.measures]
            panel.curves[version.column or label] = curve  # type: ignore[index]
    panels |= {name: panel for name in part.data for panel in letor_panel(name, part)}
    figure = draw(list(panels.values()))
    colours = {line.get_label(): line.get_color() for axes in figure.axes for line in axes.lines}
    for axes, title in zip(figure.axes, panels):
        for (dataset, method, measure), value in paper.means.items():
            if dataset == title and method in colours:
                at = int(measure.partition("@")[2]), value
                axes.plot(*at, "*", color=colours[method], markersize=11, markeredgecolor="black")
                axes.annotate(
                    f"the paper's {method}: {value:g}", at, (8, -2), textcoords="offset points",
                    fontsize=6.5,
                )  # fmt: skip
    return write(figure, stem)


def letor_panel(dataset: str, part: Part) -> list[Panel]:
    """The panel of the baselines that LETOR 3.0 prints, from which the paper took its own."""
    rows = {
        (row.ours, int(measure.partition("@")[2])): row.value
        for measure in part.measures
        for row in lookup(dataset, measure)
        if row.source == LETOR and row.ours in part.methods
    }
    cutoffs, printed = sorted({k for _, k in rows}), {name for name, _ in rows}
    curves = {
        method: [rows.get((method, k), float("nan")) for k in cutoffs]
        for method in part.methods
        if method in printed
    }
    title = f"{dataset}, as LETOR 3.0 printed it"
    return [Panel(title, "NDCG", curves, cutoffs=cutoffs)] if curves else []


def printed_table(paper: Paper, part: Part, found: ByMethod, stem: Path, title: str) -> list[Path]:
    """The paper's table with our numbers of each data set below each of its rows, and a figure.

    A row has several methods at the last measure, or one method at all measures. The figure has the
    leads over the first row at the last measure, the paper's and ours.
    """
    at = {(paper.methods[m].row, paper.methods[m].column): m for m in part.methods}
    names, columns = (dict.fromkeys(each) for each in zip(*at))
    asked = list(product(columns, part.measures if len(columns) == 1 else part.measures[-1:]))
    shown: dict[str, Mapping[str, float]] = {"paper": paper.printed}
    for dataset, methods in found.items():
        shown[dataset] = {
            f"{label} {measure}": each.mean(measure)
            for label, each in methods.items()
            for measure in part.measures
        }

    def cell(data: str, row: str, column: str, measure: str) -> float | None:
        return shown[data].get(f"{at.get((row, column))} {measure}")

    cells = [
        [row, data, *(cell(data, row, *of) for of in asked)] for row in names for data in shown
    ]
    header = ["row", "data", *(column or measure.upper() for column, measure in asked)]
    written = list(write_table(stem, title, header, cells))
    if found:
        first, last, panels = next(iter(names)), part.measures[-1], {}
        for column in columns:
            base = {data: cell(data, first, column, last) for data in shown}
            panels[column] = {
                data: {row: 100.0 * (value / base[data] - 1.0) for row in names  # type: ignore
                       if (value := cell(data, row, column, last)) and base[data]}
                for data in shown
            }  # fmt: skip
        x = f"lead in {last.upper()} over {first}, in %"
        written += dots_figure(title, x, list(names), panels, stem)
    return written


def specification_curve(paper: str, part: Part, study: Study) -> Found:
    """Run every combination of a part's axes, which are what the paper leaves open.

    The curve has the numbers of all, sorted, and the printed one: the upper ranker's mean, or its
    lead over the lower one as a share of that. No claim is judged by it. An axis has settings of
    the rankers by name; `upper` and `lower` among them name rankers or have their `algo` and `set`,
    `convention` and `select` are what measures and what chooses. U. Simonsohn, J. Simmons,
    L. Nelson: Specification curve analysis, Nature Human Behaviour, 2020.
    """
    import pandas as pd

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
        for how in dict.fromkeys(how for _, how, _ in every):  # alike ones are run together
            methods = [side for _, each, sides in every if each == how for side in sides]
            found |= study.runs(dataset, methods, part.measures, how[0], part.repeats, how[1])
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
    written = lines_figure([Axis(part.title, "specifications, the lowest first", "", lines)], stem)
    written += write_table(stem, part.title, list(table), table.to_numpy(object).tolist())
    stem, title = stem.with_name(f"{stem.name}-levels"), f"{part.title}, by what is left open"
    written += write_table(stem, title, list(by_level), by_level.to_numpy(object).tolist())
    return Found(files=tuple(written))


def _sides(part: Part, made: dict[str, Any], label: str) -> list[Method]:
    """The rankers of one specification: the upper, and the lower if there is one."""
    settings, sides = {k: made[k] for k in made if k not in NOT_SETTINGS}, []
    for side in ("upper", "lower"):
        changed = made.get(side, {})
        facts = {**getattr(part, side)}
        facts |= changed if isinstance(changed, dict) else {"algo": changed}
        if "algo" in facts:
            every = {**facts.get("set", {}), **settings}
            sides.append(Method(f"{side}, {label}", facts["algo"], every))
    return sides
