"""One job from its data to its files: load, transform, select, score, measure, store."""

import platform
import time
import traceback
import zlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from letorbench.compiled.threads import limited_threads, one_blas_thread
from letorbench.datasets.queryset import Benchmark, Fold
from letorbench.errors import FAILURES, DataError, UsageError, WriteError
from letorbench.experiment.plan import Job, benchmark_of, identity
from letorbench.experiment.select import PROTOCOLS, select
from letorbench.features import transformation
from letorbench.files import one_writer
from letorbench.measures import parse
from letorbench.rankers import plugins, ranker
from letorbench.rankers.any_model import OWN_FILE
from letorbench.rankers.base import Ranker
from letorbench.results import paths
from letorbench.results.labels import configured
from letorbench.results.measuring import measure_fold
from letorbench.results.paths import FoldKey
from letorbench.results.scores import finite_scores
from letorbench.results.store import (
    StoredFold,
    add_measures,
    mark_reused,
    matches,
    read_fold,
    stamp,
    write_files,
    write_fold,
)
from letorbench.solvers.fit_result import score_warnings
from letorbench.solvers.stopping import Validation
from letorbench.source import is_current
from letorbench.version import __version__


@dataclass(frozen=True)
class JobResult:
    """The outcome of a job: its result, new or stored before, or its error."""

    key: FoldKey
    fold: StoredFold | None = None  # with its numbers; None if the job failed
    reused: bool = False  # whether the result was stored before
    error: str = ""  # in one line; "" without an error
    trace: str = ""  # the error with its traceback
    exit_status: int = 0  # that belongs to the error
    unwritable: bool = False  # whether the error concerns every job: the results cannot be written


def run_job(
    job: Job,
    force: bool = False,
    user_code: plugins.UserCode | None = None,
    threads: int | None = None,
) -> JobResult:
    """Run a job in any process; what it lacks is found by name, an error is in the result."""
    try:
        if user_code is not None:
            plugins.load_user_code(user_code)
        with limited_threads(threads), one_blas_thread():
            benchmark = job.benchmark
            if benchmark is None:
                benchmark = benchmark_of(job.source or job.key.dataset, job.protocol)
            cls = job.ranker or ranker(job.label.algo)
            with plugins.blamed(cls):
                facts = job.identity
                if facts is None:  # errors of the job are raised here
                    facts = identity(job.key.dataset, cls, job.settings, job.protocol, benchmark)
                job = replace(job, identity=facts)
                # other runs of the same fold wait for it and reuse it
                with one_writer(job.place, job.protocol.out):
                    if (stored := _reused(job, benchmark, force)) is not None:
                        return stored
                    fold = _fit_and_score(job, benchmark, cls)
                    # an error of a user-defined measure costs no training: the fold is stored
                    return JobResult(job.key, _with_measures(job, benchmark, fold))
    except FAILURES as error:
        return _failed(job, error)


def _failed(job: Job, error: BaseException) -> JobResult:
    return JobResult(
        job.key,
        error=plugins.error_text(error),
        trace=traceback.format_exc(),
        exit_status=getattr(error, "exit_status", 1),
        unwritable=isinstance(error, WriteError),
    )


def run_job_remotely(
    job: Job, user_code: plugins.UserCode
) -> tuple[JobResult, dict[str, bytes]] | None:
    """Run a job without shared folders; return run and files, None where its data are missing."""
    facts = job.identity
    if facts is not None and not is_current(facts):
        here = f"{platform.node()}: found other code of letorbench ({__version__})"
        raise DataError(f"{here}, expected that of the machine that asks")
    with TemporaryDirectory() as folder:
        if job.benchmark is None and facts is not None:
            try:
                named = job.source or job.key.dataset
                benchmark = job.protocol.data_dir.is_dir() and benchmark_of(named, job.protocol)
            except (DataError, OSError):
                return None
            if not benchmark or benchmark.provenance["digest"] != facts["data"]:
                return None
        job = replace(job, folder=Path(folder))
        run = run_job(job, user_code=user_code)
        names = (*paths.CHECKED, OWN_FILE, paths.FIT)
        files = {n: (job.place / n).read_bytes() for n in names if (job.place / n).is_file()}
        return replace(run, fold=None), files


def store_remote_result(
    job: Job, run: JobResult, files: Mapping[str, bytes], force: bool
) -> JobResult:
    """Write the files of a fold from another machine; return its run with the fold."""
    if paths.FIT not in files:
        return run
    try:
        assert job.benchmark is not None
        with one_writer(job.place, job.protocol.out):
            stored = _reused(job, job.benchmark, force)
            if stored is not None:
                return stored
            write_files(job.place, files)
            return replace(run, fold=read_fold(job.key, job.place))
    except FAILURES as error:
        return _failed(job, error)


def reused(job: Job, known: StoredFold) -> JobResult | None:
    """Return the run of a job whose fold is stored, as it was when it was `known`, or None."""
    if job.identity is None or job.benchmark is None:
        return None
    if not matches(known.fit, job.identity, job.protocol.time_limit):
        return None
    try:
        with one_writer(job.place, job.protocol.out):
            # if another run has begun it anew, the job waits for that run and looks again
            there = stamp(job.place) == known.written
            return _reused(job, job.benchmark, known=known) if there else None
    except FAILURES as error:
        return _failed(job, error)


def _reused(
    job: Job, benchmark: Benchmark, force: bool = False, known: StoredFold | None = None
) -> JobResult | None:
    """Return the run of a stored fold, marked as requested last, or None if it must be made."""
    assert job.identity is not None
    with suppress(DataError):  # a damaged fold is made again
        known = known or read_fold(job.key, job.place)
    if known is None:
        return None
    if not force and matches(known.fit, job.identity, job.protocol.time_limit):
        return JobResult(job.key, mark_reused(_with_measures(job, benchmark, known)), reused=True)
    if configured(known.identity) != configured(job.identity):
        raise UsageError(
            f"{job.place}: found results of {known.label}, expected those of {job.label}; "
            "choose another name"
        )
    return None


def _with_measures(job: Job, benchmark: Benchmark, stored: StoredFold) -> StoredFold:
    """Return a stored fold with the requested measures, computed from its scores."""
    missing = [each for each in map(parse, job.protocol.measures) if not stored.has(each)]
    if not missing:
        return stored
    fold = next(fold for fold in benchmark.folds if fold.number == job.key.fold)
    scores, rules = stored.scores(fold.test.n_docs), benchmark.convention
    return add_measures(stored, measure_fold(job.label.algo, fold, scores, rules, missing), missing)


def _fit_and_score(job: Job, benchmark: Benchmark, cls: type[Ranker]) -> StoredFold:
    """Train, select on validation, score the test part once, and store the fold."""
    assert job.identity is not None
    start, protocol, number = time.perf_counter(), job.protocol, job.key.fold
    fold = next(fold for fold in benchmark.folds if fold.number == number)
    # the same queries for every algorithm and seed
    fold = fold.sampled(benchmark.train_fraction, np.random.default_rng([protocol.seed, number]))
    # the test part is not transformed: the fitted ranker takes raw features
    transform = transformation(job.identity["features"]).fit(fold.train.features)
    seen = Fold(fold.number, transform(fold.train), transform(fold.validation), fold.test)
    chooses = PROTOCOLS[protocol.name]
    measure = parse(protocol.select)
    validation = Validation(seen.validation, measure, benchmark.convention, chooses.rule)
    selected = select(
        cls, job.settings, seen.train, validation, seed_of(job.key, cls.name, protocol.seed),
        protocol.time_limit, chooses.grows, protocol.tuning,
    )  # fmt: skip
    fitted = selected.chosen.ranker
    fitted.features, fitted.transformation_ = transform.name, transform
    scores = fitted.predict(fold.test)
    # for comparison only, to show over- and underfitting; it chooses nothing
    known = replace(validation, queries=fold.train)
    on_training = float(known(finite_scores(fitted.predict(fold.train))).mean())
    # scores of a reference method tie by design
    poor = score_warnings(scores, fold.test) if cls.learns else ()
    scores = finite_scores(scores)
    cut = [trial.ranker.learned.cut_off for trial in selected.trials]
    cut_off = {"time_limit": protocol.time_limit, "fits": sum(cut), "of": len(cut)}
    queries = measure_fold(cls.name, fold, scores, benchmark.convention)
    facts = write_fold(
        job.place, job.identity, job.label, scores, queries, benchmark.convention.name,
        job.n_folds or len(benchmark.folds), ranker=fitted,
        validation_scores=finite_scores(selected.chosen.scores),
        validation={**selected.as_json(protocol.select), "training": on_training},
        warnings=(*selected.warnings, *poor), cut_off=cut_off if any(cut) else None,
        seconds=time.perf_counter() - start, repeats=job.repeats,
    )  # fmt: skip
    return StoredFold(job.key, job.place, facts, stamp(job.place) or 0, queries)


def seed_of(key: FoldKey, algo: str, seed: int) -> np.random.SeedSequence:
    """Return the seed of a fold of an algorithm, whatever the label of its row."""
    # from names and numbers alone, so that the order and the number of workers do not matter; the
    # first repeat has the seed of a run without repeats
    names = [zlib.crc32(name.encode()) for name in (key.dataset, algo)]
    repeat = [key.repeat] if key.repeat > 1 else []
    return np.random.SeedSequence([seed, names[0], key.fold, names[1], *repeat])
