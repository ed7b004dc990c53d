"""What became of a run's folds, in lines and as an exit status."""

from __future__ import annotations

from collections.abc import Sequence

from letorbench.api.closing_lines import closing_lines
from letorbench.experiment.plan import Task
from letorbench.experiment.runner import Report


def failures(report: Report) -> list[str]:
    """Return a line for each error, folds of an algorithm that share it together."""
    return _by_fold([(str(o.error), o.task) for o in report.outcomes if o.error])


def warning_lines(report: Report) -> list[str]:
    """Return what the user must know in few lines, see `closing_lines`."""
    return [*report.notes, *closing_lines(report.outcomes)]


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


def exit_status(report: Report) -> int:
    """Return 0, or that of the errors: of usage where a fold refuses a value, else of data."""
    return min((o.exit_status for o in report.outcomes if o.error), default=0)


def _by_fold(messages: Sequence[tuple[str, Task]]) -> list[str]:
    """Return one line for a message that several folds of an algorithm share."""
    folds: dict[tuple[str, str, str], list[str]] = {}
    for text, task in messages:
        folds.setdefault((task.dataset, task.algo, text), []).append(task.cell)
    return [
        f"{dataset}, {algo}, fold {', '.join(numbers)}: {text}"
        for (dataset, algo, text), numbers in folds.items()
    ]
