"""One task from its data to its files: load, transform, select, score, measure, store."""

import time
import traceback
import zlib
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from letorbench.datasets.queryset import Benchmark, Fold
from letorbench.errors import FAILURES, DataError, WriteError
from letorbench.experiment.plan import Job, Protocol, Task, benchmark_of, identity
from letorbench.experiment.select import select, selection_protocol
from letorbench.features import transformation
from letorbench.files import one_writer
from letorbench.fit_warnings import FitWarning
from letorbench.measures import parse
from letorbench.rankers import plugins, ranker
from letorbench.rankers.base import Ranker
from letorbench.results.measuring import measure_fold
from letorbench.results.paths import fold_folder
from letorbench.results.scores import finite_scores
from letorbench.results.store import (
    FoldResult,
    StoredFold,
    mark_reused,
    matches,
    read_fold,
    stamp,
    write_fold,
)
from letorbench.solvers.fit_result import score_warnings
from letorbench.solvers.stopping import Validation
from letorbench.threads import limited_threads, one_blas_thread


@dataclass(frozen=True)
class Outcome:
    """What became of a task: reused from before, failed with an error, or run."""

    task: Task
    #: its result, with its numbers; None where it failed
    fold: StoredFold | None = None
    #: whether the result was stored before
    reused: bool = False
    #: what went wrong, in one line and with the traceback; "" where nothing did
    error: str = ""
    trace: str = ""
    #: the exit status that belongs to the error
    exit_status: int = 0
    #: whether the error concerns every task: the results cannot be written
    unwritable: bool = False

    @property
    def warnings(self) -> tuple[FitWarning, ...]:
        """What a user must know of the fit."""
        return () if self.fold is None else tuple(self.fold.warnings)


def attempt(
    job: Job, protocol: Protocol, plugin_files: tuple[Path, ...] = (), threads: int | None = None
) -> Outcome:
    """Run a job in whatever process, with so many threads; an error becomes part of the outcome.

    What the job lacks is found by its names, rankers of plug-ins in the files.
    """
    task = job.task
    try:
        for path in plugin_files:
            plugins.use(path)
        with limited_threads(threads), one_blas_thread():
            benchmark = job.benchmark or benchmark_of(task.dataset, protocol)
            cls = job.ranker or ranker(task.algo)
            with plugins.blamed(cls):
                facts = dict(job.identity or identity(task, protocol, benchmark, cls))
                return _perform(job, protocol, facts, benchmark, cls)
    except FAILURES as error:
        return Outcome(
            task,
            error=plugins.described(error),
            trace=traceback.format_exc(),
            exit_status=getattr(error, "exit_status", 1),
            unwritable=isinstance(error, WriteError),
        )


def _perform(
    job: Job, protocol: Protocol, facts: dict[str, Any], benchmark: Benchmark, cls: type[Ranker]
) -> Outcome:
    """Make the fold. Other runs of the same fold wait for it and reuse it."""
    task = job.task
    folder = fold_folder(protocol.out, task.dataset, task.algo, task.fold, task.repeat)
    with one_writer(folder):
        if not protocol.force:
            with suppress(DataError):  # a damaged fold is made again
                stored = read_fold(task.key, folder)
                if stored is not None and matches(stored.fit, facts, protocol.time_limit):
                    return Outcome(task, mark_reused(stored), reused=True)
        result = replace(_result(task, protocol, facts, benchmark, cls), repeats=job.repeats)
        fold = StoredFold(
            task.key, folder, write_fold(folder, result), stamp(folder) or 0, result.queries
        )
    return Outcome(task, fold)


def _result(
    task: Task, protocol: Protocol, facts: dict[str, Any], benchmark: Benchmark, cls: type[Ranker]
) -> FoldResult:
    """Train, select on validation, score the test part once."""
    start = time.perf_counter()
    fold = next(fold for fold in benchmark.folds if fold.number == task.fold)
    # the same queries for every algorithm and seed
    fold = fold.sampled(benchmark.share, np.random.default_rng([protocol.seed, task.fold]))
    # the test part stays as it is: the fitted ranker takes raw features
    transform = transformation(facts["features"]).fit(fold.train.features)
    seen = Fold(fold.number, transform(fold.train), transform(fold.validation), fold.test)
    chooses = selection_protocol(protocol.name)
    measure = parse(protocol.select)
    validation = Validation(seen.validation, measure, benchmark.convention, chooses.rule)
    selected = select(
        cls, task.settings, seen.train, validation, seed_of(task, protocol.seed),
        protocol.time_limit, chooses.grows,
    )  # fmt: skip
    fitted = selected.ranker.taking_raw_features(transform)
    scores = fitted.predict(fold.test)
    # a reference point's scores tie by design
    poor = score_warnings(scores, fold.test) if cls.learns else ()
    scores = finite_scores(scores)
    cut = [trial.ranker.learned.cut_off for trial in selected.trials]
    cut_off = {"time_limit": protocol.time_limit, "fits": sum(cut), "of": len(cut)}
    return FoldResult(
        identity=facts,
        scores=scores,
        queries=measure_fold(task.algo, fold, scores, benchmark.convention),
        convention=benchmark.convention.name,
        n_folds=len(benchmark.folds),
        ranker=fitted,
        validation_scores=finite_scores(selected.validation_scores),
        validation=selected.as_json(protocol.select),
        seconds=time.perf_counter() - start,
        warnings=(*selected.warnings, *poor),
        cut_off=cut_off if any(cut) else None,
    )


def seed_of(task: Task, seed: int) -> np.random.SeedSequence:
    """Return the task's own seed.

    It comes from names and numbers alone, so that neither the order nor the number of workers
    matters. The first repeat's is that of a run without repeats.
    """
    names = [zlib.crc32(name.encode()) for name in (task.dataset, task.algo)]
    repeat = [task.repeat] if task.repeat > 1 else []
    return np.random.SeedSequence([seed, names[0], task.fold, names[1], *repeat])
