"""Drawing in a process of its own, so that matplotlib is loaded while a run still trains."""

from __future__ import annotations

import gc
import importlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from letorbench.analysis.plots import Panel, draw, write
from letorbench.errors import DataError
from letorbench.results.summary import Summary, curve

Draw = Callable[[Sequence[Panel], Path], None]


def panel(summary: Summary, measure: str = "ndcg") -> Panel:
    """A data set's panel of measure@1, measure@2, ..., as in the NDCG Boost paper's Figure 1.

    Lines of several conventions do not compare: each then says its own.
    """
    names = ", ".join(summary.conventions)
    curves = {
        f"{row.algo} [{row.convention}]" if summary.mixed else row.algo: curve(row, measure)
        for row in summary.rows
    }
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
        shown = [_plain(each) for each in panels]
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


def _plain(each: Panel) -> list[object]:
    curves = {algo: [float(value) for value in values] for algo, values in each.curves.items()}
    return [each.title, each.measure, curves]


def main() -> None:
    """Draw what standard input asks for, one figure a line."""
    _load()
    for line in sys.stdin:
        shown, stem = json.loads(line)
        _write([Panel(*each) for each in shown], Path(stem))


def _write(panels: Sequence[Panel], stem: Path) -> None:
    """Write a figure's three formats, the PDF beside the others where processes can fork.

    Its embedded fonts take as long as the other two formats together.
    """
    import multiprocessing  # the process that asks for the drawing does without

    if "fork" not in multiprocessing.get_all_start_methods():
        write(draw(panels), stem)
        return
    pdf = multiprocessing.get_context("fork").Process(
        target=lambda: write(draw(panels), stem, ["pdf"])
    )
    pdf.start()
    write(draw(panels), stem, ["png", "svg"])
    pdf.join()
    if pdf.exitcode != 0:
        sys.exit(pdf.exitcode)


def _load() -> None:
    """Import what drawing needs while there is nothing to draw yet."""
    for name in ("figure", *(f"backends.backend_{form}" for form in ("agg", "svg", "pdf"))):
        importlib.import_module(f"matplotlib.{name}")
    importlib.import_module("fontTools.subset")


if __name__ == "__main__":
    gc.disable()  # a tenth of the imports' time, and this process does not live to need it
    main()
    # every file is closed, and taking matplotlib down takes as long as drawing a panel
    os._exit(0)
