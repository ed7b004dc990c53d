"""What became of a run's folds: lines for the user, each algorithm in one at most, and a status."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from letorbench.experiment.plan import Task
from letorbench.experiment.runner import Report
from letorbench.experiment.task import Outcome
from letorbench.fit_warnings import KINDS, FitWarning
from letorbench.results.paths import FIT

#: the warnings of each algorithm on a data set, each with its task
Warnings = Mapping[tuple[str, str], Sequence[tuple[Task, FitWarning]]]


def failures(report: Report) -> list[str]:
    """Return a line for each error, folds of an algorithm that share it together."""
    folds: dict[tuple[str, str, str], list[str]] = {}
    for outcome in report.outcomes:
        if outcome.error:
            task = outcome.task
            folds.setdefault((task.dataset, task.algo, str(outcome.error)), []).append(task.cell)
    return [
        f"{dataset}, {algo}, fold {', '.join(numbers)}: {text}"
        for (dataset, algo, text), numbers in folds.items()
    ]


def exit_status(report: Report) -> int:
    """Return 0, or that of the errors: of usage where a fold refuses a value, else of data."""
    return min((o.exit_status for o in report.outcomes if o.error), default=0)


def reused_lines(report: Report) -> list[str]:
    """Return what was chosen anew among stored trainings, and what was trained beside it."""
    made = [outcome for outcome in report.outcomes if outcome.fits[1]]
    reused = sum(outcome.fits[0] for outcome in made)
    if not reused:
        return []
    total = sum(outcome.fits[1] for outcome in made)
    trained = dict.fromkeys(o.task.algo for o in made if o.fits[0] < o.fits[1])
    rest = f"; trained: {', '.join(trained)}" if trained else ""
    return [f"{reused} of {total} fits were stored already and were chosen among anew{rest}"]


def warning_lines(report: Report) -> list[str]:
    """Return what the user must know in few lines, see `closing_lines`."""
    return [*report.notes, *closing_lines(report.outcomes)]


def closing_lines(outcomes: Iterable[Outcome]) -> list[str]:
    """Return few lines for all the warnings of a run, the most serious first.

    An algorithm is in the line of its most serious warning, together with all others that have
    the same. A last line says where the rest is, if something was left out.
    """
    warnings: dict[tuple[str, str], list[tuple[Task, FitWarning]]] = {}
    for outcome in outcomes:
        for warning in outcome.warnings:
            where = (outcome.task.dataset, outcome.task.algo)
            warnings.setdefault(where, []).append((outcome.task, warning))
    worst = {
        w: min((each for _, each in a), key=lambda e: e.rank).kind for w, a in warnings.items()
    }
    lines, complete = [], True
    for kind in KINDS:
        group = {where: each for where, each in warnings.items() if worst[where] == kind}
        texts = {warning.text for each in group.values() for _, warning in each}
        if len(group) == len(texts) == 1:
            [((dataset, algo), each)] = group.items()
            cells = ", ".join(dict.fromkeys(task.cell for task, _ in each))
            lines.append(f"{dataset}, {algo}, fold {cells}: {texts.pop()}")
        elif group:
            lines.append(f"{kind} ({KINDS[kind]}): {_in_short(group, kind)}")
            complete = False
    if not complete:
        count = sum(map(len, warnings.values()))
        lines.append(
            f"{count} warnings in all; each fold's {FIT} has their texts, and the page of "
            "`letorbench report` unfolds them"
        )
    return lines


def _in_short(group: Warnings, kind: str) -> str:
    """Return the algorithms of a group by data set, each with the number of its fits."""
    by_dataset: dict[str, list[str]] = {}
    for (dataset, algo), warnings in group.items():
        count = len({str(task) for task, warning in warnings if warning.kind == kind})
        by_dataset.setdefault(dataset, []).append(f"{algo} {count}")
    parts = [f"{dataset} {', '.join(algos)}" for dataset, algos in by_dataset.items()]
    return f"{'; '.join(parts)} (number of fits)"
