"""What a paper leaves open: its specifications, the answers over all of them, and their figure.

U. Simonsohn, J. Simmons, L. Nelson: Specification curve analysis, Nature Human Behaviour 4, 2020.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from operator import is_
from pathlib import Path
from textwrap import fill

import numpy as np

from letorbench.analysis import figures
from letorbench.papers import rules
from letorbench.papers.figures import PRINTED, SMALL
from letorbench.papers.paper import COMPARISONS, Claim, Part, PartResult
from letorbench.papers.records import SIGNS
from letorbench.papers.rules import DEPENDS, NOT_TRIED, Outcome, Specified, Verdict

#: an answer stands in at least this fraction of the specifications
STANDS = 0.9
#: in the names of settings that the paper has
PUBLISHED = "(published)"


@dataclass(frozen=True)
class Specification:
    """One setting of every choice that a paper leaves open."""

    name: str
    #: choice -> its setting
    choices: Mapping[str, str]
    #: of the rankers that have them
    settings: Mapping[str, object]
    convention: str
    #: the measure and the protocol by which validation chooses
    select: str
    protocol: str


def specifications(part: Part, setting: str) -> list[Specification]:
    """Every combination of a part's axes and protocols, ours first; the paper's own has no axes."""
    published = setting == "published"
    axes = {} if published else part.axes
    protocols = (published and part.published) or part.protocols
    combinations = []
    for chosen in product(*(axis.items() for axis in axes.values()), protocols.items()):
        *of_axes, (way, (select, protocol)) = chosen
        settings = {key: value for _, each in of_axes for key, value in each.items()}
        choices = dict(zip(axes, (name for name, _ in of_axes)))
        choices |= {"selection": way} if len(protocols) > 1 else {}
        convention = settings.pop("convention", part.convention)
        select = settings.pop("select", select)
        name = ", ".join(choices.values()) or way
        combinations.append(Specification(name, choices, settings, convention, select, protocol))
    return combinations


def judged(claim: Claim, result: PartResult) -> Outcome:
    """The outcome of a claim over the specifications that differ for its methods."""
    outcomes, seen = dict[str, Outcome](), list[Sequence[object]]()
    between = rules.on_draws(claim, result.redrawn)
    for name, values in (result.values or {"": {}}).items():
        used = [values.get(d, {}).get(m) for d in claim.data for m in claim.methods]
        if not any(all(map(is_, used, other)) for other in seen):
            outcomes[name] = rules.judge(claim, values, result.numbers, between=between)
            seen.append(used)
    return over_specifications(outcomes, result.choices)


def over_specifications(
    outcomes: Mapping[str, Outcome], choices: Mapping[str, Mapping[str, str]] = {}
) -> Outcome:
    """The first of a claim's outcomes by specification, with answers that stand over all of them.

    Data sets whose numbers differ in sign, in any specification, have a line each.
    """
    tried = {n: o for n, o in outcomes.items() if o.answer != NOT_TRIED}
    if not tried:
        return next(iter(outcomes.values()))
    ours = next(iter(tried.values()))
    alike = {n: o for n, o in tried.items() if len(o.rows) == len(ours.rows)}  # no fold failed
    rows, curve = list[Verdict](), list[Specified]()
    for i in range(len(ours.rows)):
        apart = any(len({each.value > 0.0 for each in o.sets[i]}) > 1 for o in alike.values())
        for verdicts in zip(*(o.sets[i] if apart else (o.rows[i],) for o in alike.values())):
            row, by_name = verdicts[0], dict(zip(alike, verdicts))
            rows.append(_over(row, {n: each.answer for n, each in by_name.items()}, choices))
            if len(by_name) > 1:
                curve += [
                    (row.part, row.place, n, v.answer, v.value, v.low, v.high)
                    for n, v in by_name.items()
                ]
    answer = rules.combined(row.answer for row in rows)
    return replace(ours, answer=answer, rows=tuple(rows), curve=tuple(curve), sets=())


def _over(
    row: Verdict, answers: Mapping[str, str], choices: Mapping[str, Mapping[str, str]]
) -> Verdict:
    """Our verdict with an answer that stands, or the choice that turns it most."""
    same = {name: answer == row.answer for name, answer in answers.items()}
    if len(same) == 1:
        return row
    n, n_tried = sum(same.values()), len(same)
    note = "; ".join(filter(None, [row.note, f"in {n} of {n_tried} specifications: {row.answer}"]))
    if n >= STANDS * n_tried:
        return replace(row, note=note)

    def turned(choice: str) -> float:
        by_setting: dict[str, list[bool]] = {}
        for name, each in same.items():
            by_setting.setdefault(choices[name][choice], []).append(each)
        shares = [np.mean(each) for each in by_setting.values()]
        return float(max(shares) - min(shares))

    most = max(choices[next(iter(same))], key=turned)
    return replace(row, answer=f"{DEPENDS} {most}", note=note)


def curves_figure(outcomes: Sequence[Outcome], path: Path) -> Path:
    """Draw every specification of each part of claims, the lowest first, as a PNG."""
    panels = [
        (o.claim.says, row, every)
        for o in outcomes for row in o.rows
        if (every := [each[2:] for each in o.curve if each[:2] == (row.part, row.place)])
    ]  # fmt: skip
    rows = -(-len(panels) // 2)
    with figures.canvas(figures.PAGE, 0.6 + 1.7 * rows, 2 * rows, 2) as (figure, axes):
        for axis, (says, row, every) in zip(axes, panels):
            lead = row.kind in COMPARISONS
            unit, label = (100.0, "lead, %") if lead else (1.0, row.what)
            # ours, and the first with the most choices of the paper's own protocol
            ours = every[0][0]
            theirs = max((name for name, *_ in every), key=lambda name: name.count(PUBLISHED))
            ranked = sorted(every, key=lambda each: each[2])
            for x, (name, answer, *numbers) in enumerate(ranked, 1):
                value, low, high = (unit * n for n in numbers)
                colour = SIGNS[rules.named(answer)][1]
                axis.plot([x, x], [low, high], color=colour, linewidth=1.2)
                is_theirs = name == theirs and PUBLISHED in name
                shape = "s" if name == ours else "D" if is_theirs else "o"
                axis.plot(x, value, shape, color=colour, markersize=5.5 if shape != "o" else 3.0)
            if lead:
                axis.axhspan(-1.0, 1.0, color="0.93", zorder=0)
                axis.axhline(0.0, color="0.5", linewidth=0.8, zorder=0)
            if row.printed is not None:
                axis.axhline(unit * row.printed, color=PRINTED["color"], linewidth=0.8, zorder=0)
            title = ", ".join(filter(None, (says, row.part, row.place)))
            figures.dress(axis, "", "specifications, the lowest first", label)
            axis.set_title(fill(title, 52), fontsize=SMALL)
            axis.xaxis.get_major_locator().set_params(integer=True)
        for axis in axes[len(panels) :]:
            axis.set_axis_off()
        marks = [
            axes[0].plot([], [], shape, color="black", linestyle="", label=label)[0]
            for shape, label in (("s", "ours"), ("D", "the paper's own"), ("o", "others"))
        ]
        marks += axes[0].plot([], [], color=PRINTED["color"], linewidth=0.8, label="printed")
        for answer in dict.fromkeys(rules.named(each[1]) for *_, every in panels for each in every):
            marks += axes[0].plot([], [], color=SIGNS[answer][1], label=answer)
        figure.legend(handles=marks, frameon=False, ncols=4, fontsize=SMALL,
                      loc="outside upper center")  # fmt: skip
        return figures.write(figure, path, ("png",))[0]
