"""What a benchmark reports: one row a comparison, printed as a table."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True)
class Row:
    """What was measured, ours, the peer's or the target's figure, and whether it holds."""

    what: str
    ours: str
    against: str
    target: str
    holds: bool | None


def seconds(task: Callable[[], object], repeats: int = 5) -> float:
    """The median wall time of several calls, after one that is not counted."""
    task()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        task()
        times.append(time.perf_counter() - start)
    return median(times)


def show(rows: Sequence[Row]) -> None:
    """Print the rows; a target that is missed says so."""
    verdict = {True: "holds", False: "MISSED", None: "-"}
    cells = [("what", "ours", "against", "target", "")]
    cells += [(r.what, r.ours, r.against, r.target, verdict[r.holds]) for r in rows]
    widths = [max(len(row[c]) for row in cells) for c in range(5)]
    for row in cells:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())
