"""Time and memory of every algorithm against documents, documents of a query, and features.

``python -m benchmarks.scaling --write FOLDER`` trains each algorithm for a few rounds,
iterations or epochs, the same at every size, on one thread, on sets that grow along one axis;
it draws a figure for each module of rankers, and writes every point and every slope; `scaling.csv`
and `scaling-slopes.csv` beside this file are those of one run. Seconds are processor time of
the training; memory is what the process needs beyond the training set. A point that would take
longer than the patience is left out, and so are larger ones.
"""

from __future__ import annotations

import argparse
import ctypes
import multiprocessing
import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import astuple, dataclass, fields
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.boosting import synthetic
from letorbench.compiled.threads import limited_threads, one_blas_thread
from letorbench.datasets.queryset import QuerySet
from letorbench.papers.figures import Axis, lines_figure
from letorbench.papers.runs import log_slope
from letorbench.rankers import Ranker, names, ranker

#: what a training stops at; one without such a setting runs to its end
EFFORT = {"rounds": 10, "iterations": 10, "epochs": 2, "patience": 0}

#: shares of the labels 0 to 4, as in MSLR
SHARES = [0.52, 0.32, 0.13, 0.02, 0.01]
#: axis -> sizes, and the shape (queries, documents of each, features) of a size
DOCUMENTS = (10_000, 30_000, 100_000, 300_000, 1_000_000, 4_000_000)
LENGTHS = (10, 30, 100, 300, 1_000, 3_000, 10_000)
FEATURES = (10, 30, 100, 300, 1_000)
AXES = {
    "documents": {n: (n // 100, 100, 20) for n in DOCUMENTS},
    "documents of a query": {n: (max(1, 60_000 // n), n, 20) for n in LENGTHS},
    "features": {n: (300, 100, n) for n in FEATURES},
}
#: seconds: a shorter training is mostly its start; and what the logarithmic axes begin at
SHORT = 0.1
LEAST = {"seconds": 1e-3, "mebibytes": 1.0}


@dataclass(frozen=True)
class Point:
    """What one training took."""

    family: str
    algo: str
    axis: str
    size: int
    seconds: float
    mebibytes: float


def grown(axis: str, algos: dict[str, str], patience: float) -> Iterator[Point]:
    """Train every algorithm at every size of an axis, until the next size takes too long."""
    sizes = list(AXES[axis])
    growing = dict(algos)
    for size, larger in zip(sizes, [*sizes[1:], sizes[-1]]):
        queries, docs, n_features = AXES[axis][size]
        train = synthetic(np.random.default_rng(0), queries, docs, n_features, SHARES, 3)
        train.by_label  # noqa: B018  (kept on the set from its first use on)
        for algo, family in list(growing.items()):
            seconds, mebibytes = apart(algo, train)
            yield Point(family, algo, axis, size, seconds, mebibytes)
            if seconds * larger / size > patience:
                del growing[algo]


def apart(algo: str, train: QuerySet) -> tuple[float, float]:
    """Train in a child process: the seconds, and the MiB that it needs beyond the set."""
    context = multiprocessing.get_context("fork")  # it has the set and the kernels already
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_train, args=(algo, train, sender))
    process.start()
    found = receiver.recv()
    process.join()
    return found


def _train(algo: str, train: QuerySet, sender: Connection) -> None:
    if ranker(algo).needs:  # what other libraries start is not to be forked
        _warm(algo)
    ctypes.CDLL(None).malloc_trim(0)  # free memory that the parent left would not be counted
    Path("/proc/self/clear_refs").write_text("5")  # the peak counts from here
    before = _status("VmRSS")
    with limited_threads(1), one_blas_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.process_time()
        short(algo).fit_sets(train)
        seconds = time.process_time() - start
    sender.send((seconds, (_status("VmHWM") - before) / 1024.0))


def short(algo: str) -> Ranker:
    """The ranker with as little training as EFFORT says."""
    cls = ranker(algo)
    least: dict[str, Any] = {f.name: EFFORT[f.name] for f in fields(cls) if f.name in EFFORT}
    return cls(**least)


def _status(key: str) -> int:
    """A number of KiB that Linux keeps of this process."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(key))


def small_set() -> QuerySet:
    """A set that loads the kernels before anything is timed."""
    return synthetic(np.random.default_rng(0), 20, 20, 5, SHARES, 3)


def slopes(points: pd.DataFrame) -> pd.DataFrame:
    """The slope of log seconds on log size of each algorithm and axis, with a 95 % interval.

    Sizes whose training takes less than SHORT seconds are left out: their time is the start.
    """
    rows = []
    for (family, algo, axis), own in points.groupby(["family", "algo", "axis"], sort=False):
        long = own[own["seconds"] >= SHORT]
        if len(long) >= 3:  # without which there is no slope
            found = log_slope(long["size"].tolist(), long["seconds"].tolist())
            rows.append((family, algo, axis, found.value, found.low, found.high, len(long)))
    return pd.DataFrame(rows, columns=["family", "algo", "axis", "slope", "low", "high", "sizes"])


def draw(points: pd.DataFrame, found: pd.DataFrame, folder: Path) -> None:
    """A figure a family: seconds against each axis, and MiB against documents.

    A slope stands in brackets behind the name.
    """
    known = found.set_index(["algo", "axis"])["slope"].to_dict()
    for family, own in points.groupby("family", sort=False):
        panels = []
        for axis, cost in [*((axis, "seconds") for axis in AXES), ("documents", "mebibytes")]:
            lines = {}
            for algo, of in own[own["axis"] == axis].groupby("algo", sort=False):
                slope = known.get((algo, axis)) if cost == "seconds" else None
                label = algo if slope is None else f"{algo} ({slope:.2f})"
                lines[label] = (of["size"].tolist(), of[cost].clip(lower=LEAST[cost]).tolist())
            unit = "seconds" if cost == "seconds" else "MiB beyond the training set"
            panels.append(Axis(str(family), axis, unit, lines, log=True))
        for place in range(0, len(panels), 2):
            name = "time" if place == 0 else "more"
            lines_figure(panels[place : place + 2], folder / f"scaling-{family}-{name}")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scaling", description=__doc__)
    parser.add_argument("--write", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--patience", type=float, default=5.0, metavar="SECONDS")
    parser.add_argument("--algo", action="append", help="only these; repeat")
    arguments = parser.parse_args()
    asked = arguments.algo or [n for n in names() if ranker(n).published and ranker(n).learns]
    algos = {name: ranker(name).figure for name in asked if ranker(name).available()}
    for algo in algos:
        if not ranker(algo).needs:
            _warm(algo)
    points = []
    for axis in AXES:
        for point in grown(axis, algos, arguments.patience):
            print(*astuple(point), file=sys.stderr, flush=True)
            points.append(astuple(point))
    table = pd.DataFrame(points, columns=[each.name for each in fields(Point)])
    found = slopes(table)
    arguments.write.mkdir(parents=True, exist_ok=True)
    table.to_csv(arguments.write / "scaling.csv", index=False)
    found.to_csv(arguments.write / "scaling-slopes.csv", index=False)
    draw(table, found, arguments.write)
    print(found.to_string(index=False, float_format="{:.2f}".format))


def _warm(algo: str) -> None:
    """Load the kernels of a ranker."""
    with limited_threads(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        short(algo).fit_sets(small_set())


if __name__ == "__main__":
    main()
