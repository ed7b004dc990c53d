"""Every algorithm on the features of real MSLR files as they are, from 1e-6 to 5e7.

The sample of 18 queries is shuffled with seed 0 and cut into five parts, as `lb.from_frame` does:
three to train on, one to validate on, one to test on. Times are those of the first fold, with its
whole grid and all repeats. Where other work keeps the processors, processor time is what counts:
on an idle machine nothing takes longer than that. Each algorithm is compared with `random` on the
test queries of all folds, by the paired randomisation test; p is that of one test, without a
correction for the number of algorithms. The sample is read from
../shared/archives/MSLR-sample.test.txt.
"""

from __future__ import annotations

import os
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

import letorbench as lb
from benchmarks.table import Row, show
from letorbench.datasets.queryset import Benchmark
from letorbench.rankers import names, ranker

SAMPLE = Path("../shared/archives/MSLR-sample.test.txt")
#: no algorithm, its whole grid included, may take longer
SECONDS = 30.0
#: an algorithm is significantly below `random` where p is less
LEVEL = 0.05


def sample_fold() -> Benchmark:
    """The sample as a benchmark of five folds."""
    queries = lb.read_letor(SAMPLE)
    frame = pd.DataFrame(queries.features)
    frame = frame.assign(rel=queries.labels, qid=np.repeat(queries.qids, queries.lengths))
    return lb.from_frame(frame, label="rel", qid="qid", folds=5, seed=0, name="MSLR-sample")


def processor_seconds() -> float:
    """Processor time of this process and of those that it started and that have ended."""
    now = os.times()
    return now.user + now.system + now.children_user + now.children_system


def rows() -> list[Row]:
    bench, found = sample_fold(), []
    published = [n for n in names() if ranker(n).published and ranker(n).available()]
    with tempfile.TemporaryDirectory() as out, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in published:
            lb.run(bench, name, out=out, folds=[1], features="raw", time_limit=1e-9)  # compiles
            start, before = time.perf_counter(), processor_seconds()
            lb.run(bench, name, out=out, folds=[1], features="raw", force=True)
            wall, cpu = time.perf_counter() - start, processor_seconds() - before
            what = f"raw MSLR sample, fold 1, {name}"
            took, target = f"{wall:.1f} s, {cpu:.1f} s of processors", f"<= {SECONDS:.0f} s"
            found.append(Row(what, took, "-", target, min(wall, cpu) <= SECONDS))
        results = lb.run(bench, published, out=out, features="raw")
        pairs = results.compare(baseline="random", correction="none").set_index("algo")
        corrected = results.compare(baseline="random").set_index("algo")["p_adjusted"]
    for name, row in pairs.iterrows():
        value = f"NDCG@10 {row['mean']:.3f}, {row['difference']:+.3f}, p = {row['p']:.3f}"
        below = row["difference"] < 0.0 and row["p"] < LEVEL
        against = f"random {row['mean_against']:.3f}, p after Holm {corrected[name]:.3f}"
        what = f"raw MSLR sample, all queries, {name}"
        found.append(Row(what, value, against, "not significantly below", not below))
    return found


if __name__ == "__main__":
    show(rows())
