"""What a benchmark reports: one row a comparison, printed as a table and stored for the pages."""

from __future__ import annotations

import csv
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

#: what docs/speed.md shows
STORED = Path(__file__).parents[1] / "docs" / "speed.csv"


@dataclass(frozen=True)
class Row:
    """What was measured, ours, the peer's or the target's figure, and whether it holds.

    `took` has the seconds of each library, for the pages; it is empty where there is no peer.
    """

    what: str
    ours: str
    against: str
    target: str
    holds: bool | None
    took: Mapping[str, float] = field(default_factory=dict)


def store(rows: Sequence[Row], path: Path = STORED) -> None:
    """Put the seconds of the rows into a CSV file; what was not measured now stays in it."""
    seconds: dict[tuple[str, str], str] = {}
    if path.exists():
        with path.open(encoding="utf-8", newline="") as file:
            seconds = {(what, who): value for what, who, value in list(csv.reader(file))[1:]}
    seconds |= {(row.what, who): f"{s:.3g}" for row in rows for who, s in row.took.items()}
    with path.open("w", encoding="utf-8", newline="") as file:
        lines = [(*key, value) for key, value in seconds.items()]
        csv.writer(file, lineterminator="\n").writerows([("what", "who", "seconds"), *lines])


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
