"""One task from its data to its files: load, transform, select, score, measure, store."""

from __future__ import annotations

import time
import traceback
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from letorbench.datasets.queryset import Fold
from letorbench.errors import FAILURES, DataError, WriteError
from letorbench.experiment.plan import Job, Protocol, Task, benchmark_of, identity
from letorbench.experiment.select import Selected, select, selection_protocol
from letorbench.features import Transformation, transformation
from letorbench.files import one_writer
from letorbench.fit_warnings import FitWarning
from letorbench.measures import parse
from letorbench.rankers import plugins, ranker
from letorbench.results.measuring import measure_fold
from letorbench.results.paths import TRIALS, fold_folder
from letorbench.results.scores import finite_scores, score_warnings
from letorbench.results.store import (
    FoldResult,
    StoredFold,
    mark_reused,
    read_fold,
    stamp,
    write_fold,
)
from letorbench.results.trainings import Training, read_trainings
from letorbench.solvers.stopping import Validation
from letorbench.threads import limited_threads, one_blas_thread


@dataclass(frozen=True, eq=False)
class Worker:
    """What a task needs besides its names, in whatever process it runs.

    Attributes
    ----------
    protocol : Protocol
        What all tasks share.
    plugins : tuple of Path
        The plug-in files in use.
    threads : int, optional
        How many threads a task may use, all by default.
    """

    protocol: Protocol
    plugins: tuple[Path, ...] = ()
    threads: int | None = None


@dataclass(frozen=True)
class Outcome:
    """What became of a task: reused from before, failed with an error, or run.

    Attributes
    ----------
    task : Task
        The task.
    fold : StoredFold, optional
        Its result, with its numbers; None where it failed.
    reused : bool
        Whether the result was stored before.
    warnings : tuple of FitWarning
        What a user must know of the fit.
    error, trace : str
        What went wrong, in one line and with the traceback; "" where nothing did.
    exit_status : int
        The exit status that belongs to the error.
    unwritable : bool
        Whether the error concerns every task: the results cannot be written.
    fits : tuple of int
        How many settings of the grid needed no training, and how many there were.
    """

    task: Task
    fold: StoredFold | None = None
    reused: bool = False
    warnings: tuple[FitWarning, ...] = ()
    error: str = ""
    trace: str = ""
    exit_status: int = 0
    unwritable: bool = False
    fits: tuple[int, int] = (0, 0)


def attempt(job: Job, worker: Worker) -> Outcome:
    """Run a job; an error becomes part of the outcome."""
    task = job.task
    try:
        for path in worker.plugins:
            plugins.use(path)
        with limited_threads(worker.threads), one_blas_thread():
            benchmark = job.benchmark or benchmark_of(task.dataset, worker.protocol)
            cls = job.ranker or ranker(task.algo)
            with plugins.blamed(cls):
                facts = job.identity or identity(task, worker.protocol, benchmark, cls)
                here = replace(job, identity=facts, benchmark=benchmark, ranker=cls)
                return _perform(here, worker.protocol)
    except FAILURES as error:
        return Outcome(
            task,
            error=plugins.described(error),
            trace=traceback.format_exc(),
            exit_status=getattr(error, "exit_status", 1),
            unwritable=isinstance(error, WriteError),
        )


def _perform(job: Job, protocol: Protocol) -> Outcome:
    """Make the fold; other runs of the same fold wait, and then have it."""
    task = job.task
    folder = fold_folder(protocol.out, task.dataset, task.algo, task.fold, task.repeat)
    with one_writer(folder):
        now = stamp(folder)
        if now not in (None, job.seen) and not protocol.force:
            fold = _made_meanwhile(job, protocol.time_limit, folder)
            if fold is not None:
                return Outcome(task, fold, reused=True, warnings=tuple(fold.warnings))
        stored = read_trainings(folder / TRIALS) if job.reusable and now == job.seen else {}
        selected, result = _result(job, protocol, stored)
        fit = write_fold(folder, result)
        fold = StoredFold(task.key, folder, fit, stamp(folder) or 0, result.queries)
    fits = (selected.reused, len(selected.trials))
    return Outcome(task, fold, warnings=tuple(result.warnings), fits=fits)


def _made_meanwhile(job: Job, time_limit: float | None, folder: Path) -> StoredFold | None:
    """Return the fold that another run has stored since this one began; None for another one."""
    try:
        fold = read_fold(job.task.key, folder)
    except DataError:
        return None
    if fold is None or not fold.matches(job.identity or {}, time_limit):
        return None
    mark_reused(fold, job.repeats)
    return fold


def _result(
    job: Job, protocol: Protocol, stored: Mapping[str, Training]
) -> tuple[Selected, FoldResult]:
    """Train, select on validation, score the test part once."""
    task, benchmark, cls, facts = job.task, job.benchmark, job.ranker, job.identity
    assert benchmark is not None and cls is not None and facts is not None
    start = time.perf_counter()
    fold = next(fold for fold in benchmark.folds if fold.number == task.fold)
    transform, seen = _transformed(fold, facts["features"])
    chooses = selection_protocol(protocol.name)
    measure = parse(protocol.select)
    validation = Validation(seen.validation, measure, benchmark.convention, chooses.rule)
    selected = select(
        cls, task.settings, seen.train, validation, seed_of(task, protocol.seed),
        protocol.time_limit, chooses.grows, stored,
    )  # fmt: skip
    fitted = selected.ranker.taking_raw_features(transform)
    scores = fitted.predict(fold.test)
    # a reference point's scores tie by design
    poor = score_warnings(scores, fold.test) if cls.learns else ()
    scores = finite_scores(scores)
    cut = None
    if selected.cut_off:
        fits, of = selected.cut_off, len(selected.trials)
        cut = {"time_limit": protocol.time_limit, "fits": fits, "of": of}
    return selected, FoldResult(
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
        cut_off=cut,
        repeats=job.repeats,
        trainings=selected.trainings,
    )


def _transformed(fold: Fold, name: str) -> tuple[Transformation, Fold]:
    """Return the transformation of that name, and the fold to learn from.

    The training and the validation part are transformed. The test part is as it was: the fitted
    ranker takes raw features.
    """
    fitted = transformation(name).fit(fold.train.features)
    return fitted, Fold(fold.number, fitted(fold.train), fitted(fold.validation), fold.test)


def seed_of(task: Task, seed: int) -> np.random.SeedSequence:
    """Return the task's own seed.

    It comes from names and numbers alone, so that neither the order nor the number of workers
    matters. The first repeat's is that of a run without repeats.
    """
    names = [zlib.crc32(name.encode()) for name in (task.dataset, task.algo)]
    repeat = [task.repeat] if task.repeat > 1 else []
    return np.random.SeedSequence([seed, names[0], task.fold, names[1], *repeat])
