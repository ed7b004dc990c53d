"""The last lines of a run: what the user must know, each algorithm in one line at most."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from letorbench.experiment.plan import Task
from letorbench.experiment.task import Outcome
from letorbench.fit_warnings import KINDS, FitWarning
from letorbench.results.paths import FIT

#: the notices of an algorithm on a data set, each with its task
Said = Mapping[tuple[str, str], Sequence[tuple[Task, FitWarning]]]


def closing_lines(outcomes: Iterable[Outcome]) -> list[str]:
    """Return few lines for all the warnings of a run, the most serious first.

    An algorithm is in the line of its most serious warning, together with all others that have
    the same. A last line says where the rest is, where something was left out.
    """
    said: dict[tuple[str, str], list[tuple[Task, FitWarning]]] = {}
    for outcome in outcomes:
        for notice in outcome.warnings:
            where = (outcome.task.dataset, outcome.task.algo)
            said.setdefault(where, []).append((outcome.task, notice))
    lines, complete = [], True
    for kind in KINDS:
        group = {where: found for where, found in said.items() if _worst(found) == kind}
        texts = {notice.text for found in group.values() for _, notice in found}
        if len(group) == len(texts) == 1:
            lines.append(_in_full(group))
        elif group:
            lines.append(f"{kind} ({KINDS[kind]}): {_in_short(group, kind)}")
            complete = False
    if not complete:
        count = sum(map(len, said.values()))
        lines.append(
            f"{count} warnings in all; each fold's {FIT} has their texts, and the page of "
            "`letorbench report` unfolds them"
        )
    return lines


def _worst(found: Sequence[tuple[Task, FitWarning]]) -> str:
    return min((notice for _, notice in found), key=lambda notice: notice.rank).kind


def _in_full(group: Said) -> str:
    """Return the one text of the one algorithm of a group."""
    [(dataset, algo)], [found] = group, group.values()
    return f"{dataset}, {algo}, fold {_folds(task for task, _ in found)}: {found[0][1].text}"


def _in_short(group: Said, kind: str) -> str:
    """Return the algorithms of a group by data set, each with the number of its fits."""
    by_dataset: dict[str, list[str]] = {}
    for (dataset, algo), found in group.items():
        count = len({str(task) for task, notice in found if notice.kind == kind})
        by_dataset.setdefault(dataset, []).append(f"{algo} {count}")
    parts = [f"{dataset} {', '.join(algos)}" for dataset, algos in by_dataset.items()]
    return f"{'; '.join(parts)} (number of fits)"


def _folds(tasks: Iterable[Task]) -> str:
    return ", ".join(dict.fromkeys(task.cell for task in tasks))
