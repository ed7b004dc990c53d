"""One task from its data to its files: what a worker process runs."""

from __future__ import annotations

import time
import traceback
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from letorbench.datasets.queryset import Benchmark
from letorbench.errors import FAILURES, WriteError
from letorbench.experiment.grids import draws
from letorbench.experiment.identity import identity, training_identity
from letorbench.experiment.plan import Protocol, Task, benchmark_of
from letorbench.experiment.protocols import selection_protocol
from letorbench.experiment.select import select
from letorbench.experiment.transforming import transformed
from letorbench.files import one_writer
from letorbench.fit_warnings import FitWarning
from letorbench.measures import parse
from letorbench.rankers import plugins, ranker
from letorbench.rankers.base import Ranker
from letorbench.results.fit_file import answers, fit_or_damage, is_done, keep
from letorbench.results.fold_result import CutOff, FoldResult, write_fold
from letorbench.results.measure_fold import measure_fold
from letorbench.results.paths import TRIALS, fold_folder
from letorbench.results.scores import finite_scores, score_warnings
from letorbench.results.trials_file import Training, read_trainings
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
    """What became of a task: kept from before, failed with an error, or run.

    `unwritable` says that the error concerns every task: the results cannot be written.
    `damaged` says what was found damaged of a stored fold that was therefore run again. `fits`
    are how many settings of the grid needed no training, and how many there were.
    """

    task: Task
    kept: bool = False
    warnings: tuple[FitWarning, ...] = ()
    error: str = ""
    exit_status: int = 0
    trace: str = ""
    unwritable: bool = False
    damaged: str = ""
    fits: tuple[int, int] = (0, 0)


def attempt(
    task: Task,
    worker: Worker,
    benchmark: Benchmark | None = None,
    cls: type[Ranker] | None = None,
) -> Outcome:
    """Run a task; an error becomes part of the outcome.

    Parameters
    ----------
    task : Task
        What to run.
    worker : Worker
        How to run it.
    benchmark : Benchmark, optional
        The data, where they are not on disk under the task's name.
    cls : type of Ranker, optional
        The ranker, where it is not known by the task's name.
    """
    try:
        for path in worker.plugins:
            plugins.use(path)
        with limited_threads(worker.threads), one_blas_thread():
            benchmark = benchmark or benchmark_of(task.dataset, worker.protocol)
            cls = cls or ranker(task.algo)
            with plugins.blamed(cls):
                return perform(task, worker.protocol, benchmark, cls)
    except FAILURES as error:
        status = getattr(error, "exit_status", 1)
        unwritable = isinstance(error, WriteError)
        return Outcome(
            task, error=plugins.described(error), exit_status=status, trace=traceback.format_exc(),
            unwritable=unwritable,
        )  # fmt: skip


def is_kept(task: Task, protocol: Protocol, benchmark: Benchmark, cls: type[Ranker]) -> bool:
    """Whether the fold is stored as it would be made, so that nothing is left to train.

    It is a look without waiting for other runs; `perform` looks when no other writes the fold.
    """
    if protocol.force:
        return False
    try:
        facts = identity(task, protocol, benchmark, cls)
        folder = fold_folder(protocol.out, task.dataset, task.algo, task.fold, task.repeat)
        return is_done(folder, facts, protocol.time_limit)
    except FAILURES:
        return False  # running the task says what is wrong


def perform(task: Task, protocol: Protocol, benchmark: Benchmark, cls: type[Ranker]) -> Outcome:
    """Keep the fold that is stored, or make it; other runs of the same fold wait."""
    facts = identity(task, protocol, benchmark, cls)
    folder = fold_folder(protocol.out, task.dataset, task.algo, task.fold, task.repeat)
    repeats = protocol.repeats if draws(cls, task.settings) else None
    with one_writer(folder):
        fit, damaged = fit_or_damage(folder)
        if not protocol.force and answers(fit, facts, protocol.time_limit):
            return Outcome(task, kept=True, warnings=tuple(keep(folder, fit, repeats)))
        stored = {} if protocol.force else stored_trainings(folder, fit, facts)
        result = _result(task, protocol, benchmark, cls, facts, stored)
        write_fold(folder, replace(result, repeats=repeats))
    fits = (result.reused, result.tried)
    return Outcome(task, warnings=tuple(result.warnings), damaged=damaged, fits=fits)


def stored_trainings(
    folder: Path, fit: Mapping[str, Any], facts: Mapping[str, object]
) -> dict[str, Training]:
    """Return the trainings of a stored fold that this identity shares, by their settings."""
    before, now = fit.get("identity", {}), training_identity(facts)
    if now is None or training_identity(before) != now:
        return {}
    return read_trainings(folder / TRIALS)


def _result(
    task: Task,
    protocol: Protocol,
    benchmark: Benchmark,
    cls: type[Ranker],
    facts: Mapping[str, object],
    stored: Mapping[str, Training],
) -> FoldResult:
    """Train, select on validation, score the test part once."""
    start = time.perf_counter()
    fold = next(fold for fold in benchmark.folds if fold.number == task.fold)
    transformation, learned_from = transformed(fold, facts["features"])
    chooses, measure = selection_protocol(protocol.name), parse(protocol.select)
    validation = Validation(learned_from.validation, measure, benchmark.convention, chooses.rule)
    seed = seed_of(task, protocol.seed)
    selected = select(
        cls, task.settings, learned_from.train, validation, seed, protocol.time_limit,
        chooses.grows, stored,
    )  # fmt: skip
    fitted = selected.ranker.taking_raw_features(transformation)
    scores = fitted.predict(fold.test)
    # a reference point's scores tie by design
    poor = score_warnings(scores, fold.test) if cls.learns else ()
    warnings = (*selected.warnings, *poor)
    scores = finite_scores(scores)
    return FoldResult(
        identity=facts,
        scores=scores,
        measured=measure_fold(task.algo, fold, scores, benchmark.convention, len(benchmark.folds)),
        ranker=fitted,
        validation_scores=finite_scores(selected.validation_scores),
        validation=selected.as_json(protocol.select),
        seconds=time.perf_counter() - start,
        warnings=warnings,
        cut_off=CutOff.of_fits(selected.cut_off, len(selected.trials), protocol.time_limit),
        trainings=selected.trainings,
        reused=selected.reused,
        tried=len(selected.trials),
    )


def seed_of(task: Task, seed: int) -> np.random.SeedSequence:
    """Return the task's own seed.

    It comes from names and numbers alone, so that neither the order nor the number of workers
    matters. The first repeat's is that of a run without repeats.
    """
    names = [zlib.crc32(name.encode()) for name in (task.dataset, task.algo)]
    repeat = [task.repeat] if task.repeat > 1 else []
    return np.random.SeedSequence([seed, names[0], task.fold, names[1], *repeat])
