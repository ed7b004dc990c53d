"""Transforming features: seconds and memory beside the data, each in a process of its own.

720,000 documents of 136 features, as a fold of MSLR-WEB10K trains on, in 6,000 queries.
"""

from __future__ import annotations

import json
import subprocess
import sys

from benchmarks.table import Row, show
from letorbench.features import TRANSFORMATIONS

MOST = 1.1  # times the result: no second copy, in float64 or not

ONE = """
import json, sys, time
import numpy as np
import scipy.special, scipy.stats
from letorbench.features import transformation

def peak():
    return next(int(line.split()[1]) for line in open("/proc/self/status") if "VmHWM" in line)

rng, X = np.random.default_rng(0), np.empty((720_000, 136), dtype=np.float32)
for rows in np.split(X, 60):
    rows[:] = rng.lognormal(0.0, 3.0, rows.shape).round(1)
offsets = np.unique(np.append(rng.integers(1, len(X), 6000), [0, len(X)]))
open("/proc/self/clear_refs", "w").write("5")  # the peak counts from here on
before, start = peak(), time.perf_counter()
new = transformation(sys.argv[1]).fit(X).transform(X, offsets)
elapsed = time.perf_counter() - start
print(json.dumps([elapsed, (peak() - before) * 1024 / new.nbytes]))
"""


def rows() -> list[Row]:
    """A row a transformation: its time, and its memory beside the result's."""
    found = []
    for name in [name for name in TRANSFORMATIONS if name != "raw"]:
        command = [sys.executable, "-c", ONE, name]
        elapsed, times = json.loads(subprocess.check_output(command))
        what = f"{name}, 720,000 documents x 136 features: time; memory beside the result's"
        text = f"{elapsed:.1f} s; {times:.2f} times"
        found.append(Row(what, text, "-", f"memory <= {MOST} times", times <= MOST))
    return found


if __name__ == "__main__":
    show(rows())
