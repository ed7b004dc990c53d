"""One task from its data to its files; what a worker process runs."""

from __future__ import annotations

import time
import traceback
import zlib
from dataclasses import dataclass

import numpy as np

from letorbench.datasets.load import load
from letorbench.datasets.queryset import Benchmark, QuerySet
from letorbench.errors import LetorError
from letorbench.experiment.plan import Protocol, Task
from letorbench.experiment.select import select
from letorbench.measures import parse
from letorbench.rankers import ranker
from letorbench.results import store
from letorbench.solvers.validation import Validation
from letorbench.threads import limited_threads

#: what may go wrong inside a task without stopping the others
FAILURES = (
    LetorError, ArithmeticError, AssertionError, AttributeError, LookupError, MemoryError,
    OSError, RuntimeError, TypeError, ValueError,
)  # fmt: skip
#: scores that stand for those a file of numbers cannot hold
LAST, FIRST = -1e300, 1e300


@dataclass(frozen=True)
class Outcome:
    """What became of a task: kept from before, failed with an error, or run."""

    task: Task
    kept: bool = False
    warnings: tuple[str, ...] = ()
    error: str = ""
    exit_status: int = 0
    trace: str = ""


def attempt(task: Task, protocol: Protocol, threads: int | None = None) -> Outcome:
    """Run a task on at most `threads` threads; an error becomes part of the outcome."""
    try:
        with limited_threads(threads):
            return perform(task, protocol)
    except FAILURES as error:
        text = " ".join(str(error).split()) or type(error).__name__
        if not isinstance(error, LetorError):
            text = f"{type(error).__name__}: {text}"
        status = getattr(error, "exit_status", 1)
        return Outcome(task, error=text, exit_status=status, trace=traceback.format_exc())


def perform(task: Task, protocol: Protocol) -> Outcome:
    """Train, select on validation, score the test part once, write the fold's files."""
    benchmark = benchmark_of(task.dataset, protocol)
    facts = store.identity(task, protocol, benchmark)
    folder = store.fold_folder(protocol.out, task)
    if not protocol.force and store.is_done(folder, facts):
        return Outcome(task, kept=True, warnings=tuple(store.stored(folder)["warnings"]))
    start = time.perf_counter()
    fold = next(fold for fold in benchmark.folds if fold.number == task.fold)
    validation = Validation(fold.validation, parse(protocol.select), benchmark.convention)
    selected = select(
        ranker(task.algo), task.settings, fold.train, validation, seed_of(task, protocol.seed)
    )
    scores = selected.ranker.predict(fold.test.features)
    warnings = [*selected.warnings, *score_warnings(scores, fold.test)]
    scores = np.nan_to_num(scores, nan=LAST, posinf=FIRST, neginf=LAST)
    store.write_fold(folder, facts, selected, scores, time.perf_counter() - start, warnings)
    return Outcome(task, warnings=tuple(warnings))


def benchmark_of(dataset: str, protocol: Protocol) -> Benchmark:
    """The data set as the protocol reads it; opening it from the cache takes milliseconds."""
    return load(dataset, protocol.data_dir, protocol.convention, protocol.null)


def seed_of(task: Task, seed: int) -> np.random.SeedSequence:
    """The task's own seed, from names alone: neither order nor number of workers matters."""
    names = [zlib.crc32(name.encode()) for name in (task.dataset, task.algo)]
    return np.random.SeedSequence([seed, names[0], task.fold, names[1]])


def score_warnings(scores: np.ndarray, test: QuerySet) -> list[str]:
    """What makes a model's test scores no ranking: NaN, infinity, all equal."""
    bad = int(np.count_nonzero(~np.isfinite(scores)))
    if bad:
        return [f"{bad} of {len(scores)} test scores are NaN or infinite (NaN is ranked last)"]
    filled = test.offsets[:-1][test.lengths > 0]
    spread = np.maximum.reduceat(scores, filled) > np.minimum.reduceat(scores, filled)
    several = test.lengths[test.lengths > 0] > 1
    if several.any() and not spread[several].any():
        return ["constant test scores: every query is ranked in file order"]
    return []

