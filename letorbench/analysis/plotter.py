"""Drawing in a process of its own, so that matplotlib is loaded while a run still trains."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from letorbench.analysis.aggregate import Summary, curve
from letorbench.analysis.plots import FORMATS, Panel, draw, save, write
from letorbench.errors import DataError

Draw = Callable[[Sequence[Panel], Path], None]


def panel(summary: Summary, measure: str = "ndcg") -> Panel:
    """A data set's panel of measure@1, measure@2, ..., as in the NDCG Boost paper's Figure 1."""
    names = ", ".join(summary.conventions)
    curves = {row.algo: curve(row, measure) for row in summary.rows}
    return Panel(f"{summary.dataset} dataset", f"{measure.upper()} ({names})", curves)


@contextmanager
def plotter() -> Iterator[Draw]:
    """A function that has panels drawn as stem.png, stem.svg and stem.pdf.

    They are there when the block has ended; where it ends with an error nothing is drawn.
    DataError when the drawing process failed.
    """
    process = subprocess.Popen(
        [sys.executable, "-m", "letorbench.analysis.plotter"],
        stdin=subprocess.PIPE,
        text=True,
        start_new_session=True,  # Ctrl-C is this process's to handle
    )
    jobs: list[str] = []

    def later(panels: Sequence[Panel], stem: Path) -> None:
        shown = [[each.title, each.measure, dict(each.curves)] for each in panels]
        jobs.append(json.dumps([shown, str(stem)]))

    try:
        yield later
    except BaseException:
        process.kill()
        process.communicate()
        raise
    process.communicate("".join(job + "\n" for job in jobs))
    if process.returncode != 0:
        raise DataError(f"the drawing process ended with status {process.returncode}")


def main() -> None:
    """Draw what standard input asks for, one figure a line."""
    _warm_up()
    for line in sys.stdin:
        shown, stem = json.loads(line)
        write(draw([Panel(*each) for each in shown]), Path(stem))


def _warm_up() -> None:
    """Draw once for nothing: fonts and back ends are loaded while there is time."""
    import io

    figure = draw([Panel("warm-up", "NDCG", {"line": (0.25, 0.75)})])
    for form in FORMATS:
        save(figure, io.BytesIO(), form)


if __name__ == "__main__":
    main()
