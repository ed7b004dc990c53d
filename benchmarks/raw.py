"""Every algorithm on the features of real MSLR files as they are, from 1e-6 to 5e7.

The sample of 18 queries is shuffled with seed 0 and cut into five parts, as `lb.from_frame` does:
three to train on, one to validate on, one to test on. The sample is read from
../shared/archives/MSLR-sample.test.txt.
"""

from __future__ import annotations

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


def sample_fold() -> Benchmark:
    """The sample as a benchmark of five folds."""
    queries = lb.read_letor(SAMPLE)
    frame = pd.DataFrame(queries.features)
    frame = frame.assign(rel=queries.labels, qid=np.repeat(queries.qids, queries.lengths))
    return lb.from_frame(frame, label="rel", qid="qid", folds=5, seed=0, name="MSLR-sample")


def rows() -> list[Row]:
    bench, found = sample_fold(), []
    published = [n for n in names() if ranker(n).published and ranker(n).available()]
    with tempfile.TemporaryDirectory() as out, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        level = 0.0
        for name in sorted(published, key=lambda name: name != "random"):
            lb.run(bench, name, out=out, folds=[1], features="raw", time_limit=1e-9)  # compiles
            start = time.perf_counter()
            res = lb.run(bench, name, out=out, folds=[1], features="raw", force=True)
            seconds = time.perf_counter() - start
            value = float(res.summary().set_index("algo").loc[name, "ndcg@10"])
            level = value if name == "random" else level
            said = f"NDCG@10 {value:.3f}, random {level:.3f}"
            took = f"{seconds:.1f} s"
            what = f"raw MSLR sample, {name}"
            found.append(Row(what, took, said, f"<= {SECONDS:.0f} s", seconds <= SECONDS))
    return found


if __name__ == "__main__":
    show(rows())
