"""Compile the kernels ahead of the first run: `python -m letorbench.compile`.

Numba compiles a kernel when it is first called and keeps the machine code on disk. This module
calls what users will call, on a small data set: the reader, every ranker, every loss, every
transformation of features and every measure.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from tqdm import tqdm

from letorbench.conventions import CONVENTIONS
from letorbench.datasets.queryset import QuerySet
from letorbench.datasets.reader import read_queries
from letorbench.datasets.text.writer import TextFormat, write_text
from letorbench.features import TRANSFORMATIONS, transformation
from letorbench.losses import every_loss
from letorbench.measures import default_measures, query_metrics
from letorbench.models.parametric import families
from letorbench.processes import in_processes
from letorbench.rankers import names, ranker
from letorbench.threads import thread_count


def small_set(seed: int, levels: int, n_queries: int = 12, n_features: int = 6) -> QuerySet:
    """Draw queries of 5 to 30 documents with random features and labels 0..levels - 1."""
    rng = np.random.default_rng(seed)
    offsets = np.append(0, np.cumsum(rng.integers(5, 31, n_queries))).astype(np.int64)
    features = rng.random((offsets[-1], n_features), dtype=np.float32)
    labels = (features[:, 0] * levels).astype(np.int32)
    return QuerySet(features, labels, offsets, np.arange(1, n_queries + 1))


def fit(name: str, **settings: object) -> None:
    """Train a ranker and score with it."""
    for levels in (2, 3, 12):  # pair sums take another path where there are many labels
        train, valid = small_set(1, levels), small_set(2, levels)
        ranker(name)(**settings).fit_sets(train, valid).predict(valid)


def compute() -> None:
    """Compute every loss, and transform features in every way."""
    queries = small_set(3, 3)
    for each in every_loss():
        each(queries.features[:, 0].astype(np.float64) + 0.5, queries)
    for name in TRANSFORMATIONS:
        transformation(name).fit(queries.features)(queries)


def read_and_measure() -> None:
    """Read a text file and compute every measure of every convention."""
    queries = small_set(4, 3)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "small.txt"
        with path.open("wb") as file:
            write_text(file, queries, TextFormat())
        read_queries(path)
    scores = queries.features[:, 1].astype(np.float64)
    for convention in CONVENTIONS.values():
        measures = default_measures(convention)
        query_metrics(queries.labels, scores, queries.offsets, measures, convention)


def compile_all(jobs: int) -> int:
    """Compile in that many processes; return the number of calls made."""
    usable = [name for name in names() if ranker(name).available()]
    calls: list[Callable[[], None]] = [
        read_and_measure,
        compute,
        *(partial(fit, name) for name in usable),
        *(partial(fit, "recipe", model=family, iterations=2) for family in families()),
    ]
    done = in_processes(_called, calls, min(jobs, len(calls)), _lost)
    list(tqdm(done, "compiling", len(calls), unit="call", disable=None))
    # two processes that compile the same kernel can lose each other's entry in the index of the
    # cache: this pass loads what is there and compiles what was lost
    for call in calls:
        call()
    return len(calls)


def _called(call: Callable[[], None]) -> None:
    call()


def _lost(call: Callable[[], None], how: str) -> None:
    raise RuntimeError(f"a process {how} at {call}")


def main() -> None:
    """Compile all, on as many processes as there are threads."""
    start = time.perf_counter()
    compile_all(thread_count())
    print(f"compiled in {time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
