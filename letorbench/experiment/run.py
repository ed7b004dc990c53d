"""A run: plan the jobs, reuse stored results, run the other jobs in processes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations
from pathlib import Path

import numpy as np

from letorbench.compiled.jit import on_compile
from letorbench.datasets.catalog import Name, check_convention, parse
from letorbench.datasets.queryset import OWN_PART, Benchmark
from letorbench.errors import DataError, UsageError
from letorbench.experiment.backends import Processes, Shard, Workers
from letorbench.experiment.job import JobResult, reused
from letorbench.experiment.plan import Job, Protocol, System, benchmark_of, plan_runs
from letorbench.files import one_writer
from letorbench.results.dataset_results import DatasetResults, write_tables
from letorbench.results.paths import FIT
from letorbench.results.store import Store, experiment_of


@dataclass(frozen=True)
class RunReport:
    """What a run left."""

    #: one for each data set with results
    frames: tuple[DatasetResults, ...]
    #: what became of each job, in the order of the jobs
    runs: tuple[JobResult, ...]
    #: what the user must know besides
    notes: tuple[str, ...]


def run_systems(
    datasets: Sequence[str | Name | Benchmark],
    systems: Sequence[System],
    folds: Sequence[int] | None,
    protocol: Protocol,
    backend: Processes | Workers = Processes(),
    shard: Shard | None = None,
) -> RunReport:
    """Run every algorithm on every fold of every data set; failures are in the report."""
    with one_writer(protocol.out, protocol.out):
        pass  # a folder that cannot be written is refused now rather than after an hour of training
    # data sets are opened here first: two workers would both parse the text
    named = [each if isinstance(each, Benchmark) else parse(each) for each in datasets]
    opened = [(each, benchmark_of(each, protocol)) for each in named]
    benchmarks = {benchmark.name: benchmark for _, benchmark in opened}
    sources = {benchmark.name: each for each, benchmark in opened if isinstance(each, Name)}
    jobs = plan_runs(benchmarks, systems, folds, protocol, sources)
    if not jobs:
        raise UsageError(
            "found nothing to run, expected data sets, fractions, algorithms and folds"
        )
    jobs = [job for job in jobs if shard is None or shard.has(job)]
    stores = {name: Store(protocol.out, name).look() for name in benchmarks}
    jobs = [replace(j, folder=stores[j.key.dataset].folder(j.label, j.identity)) for j in jobs]
    notes = [line for store in stores.values() for line in store.damaged.values()]
    stored = []
    for job in () if protocol.force else jobs:
        known = stores[job.key.dataset].folds.get(job.place)
        if known is not None and (run := reused(job, known)) is not None:
            stored.append(run)
    ended = {run.key: run for run in stored}
    left = [job for job in jobs if job.key not in ended]
    of_dataset = {name: [job for job in jobs if job.key.dataset == name] for name in benchmarks}
    waiting = {name: {job.key for job in each} for name, each in of_dataset.items()}
    results: dict[str, DatasetResults] = {}
    for run in chain(stored, _progress(backend.runs(left, protocol.force), len(ended), len(jobs))):
        if run.unwritable:
            raise DataError(run.error)  # no other job could store its result either
        ended[run.key] = run
        name = run.key.dataset
        if run.fold is not None:
            stores[name].folds[run.fold.folder] = run.fold
        waiting[name].discard(run.key)
        if not waiting[name]:
            algos = {job.key.algo for job in of_dataset[name]}
            results[name] = write_tables(stores[name], algos, protocol.data_dir)
    for key, run in ended.items():
        if run.fold is not None and not (run.fold.folder / FIT).is_file():
            gone = "its files were removed while the run went on"
            ended[key] = JobResult(key, error=gone, exit_status=1)
    for name, benchmark in benchmarks.items():
        if name not in results:  # this shard has no job of it
            results[name] = DatasetResults.of(stores[name], protocol.data_dir)
        notes += _other_folds(results[name], of_dataset[name])
        if not parse(name).resplit:
            notes += _data_notes(benchmark, chosen=protocol.convention != "auto")
    return RunReport(
        tuple(results[name] for name in benchmarks if results[name].rows),
        tuple(ended[job.key] for job in jobs),
        tuple(notes),
    )


def _other_folds(results: DatasetResults, jobs: Sequence[Job]) -> Iterator[str]:
    """Yield a note for the algorithms whose same stored folds are of other code or data."""
    notes: dict[tuple[str, str], dict[str, Path]] = {}
    rows = {row.algo: row for row in results.rows}
    for algo, job in {job.key.algo: job for job in jobs if job.identity is not None}.items():
        requested, row = experiment_of(job.identity or {}), rows.get(algo)
        stored = (*row.stored, *row.others) if row else ()
        others = sorted({fold.number for fold in stored if fold.experiment != requested})
        if others:
            shown = stored[0].experiment
            what = "is left out of the means" if shown == requested else "is what the table shows"
            notes.setdefault((", ".join(map(str, others)), what), {})[algo] = job.folder
    for (listed, what), algos in notes.items():
        where = "" if len(algos) > 1 else f" in {next(iter(algos.values()))}"
        named = f"{results.dataset}, {', '.join(algos)}"
        yield f"{named}: fold {listed}{where}, of other code or data, {what}"


def _data_notes(benchmark: Benchmark, chosen: bool) -> list[str]:
    """Return notes on a data set's convention and its parts."""
    rules, width = benchmark.convention, benchmark.folds[0].train.n_features
    convention = check_convention(width, rules.max_label or 0, rules.name, chosen)
    validation = benchmark.provenance.get("validation", OWN_PART)
    held_out = "" if validation == OWN_PART else f"no validation part: {validation} validates"
    texts = (convention, held_out, leak(benchmark), without_relevant(benchmark))
    return [f"{benchmark.name}: {text}" for text in texts if text]


def leak(benchmark: Benchmark) -> str:
    """Return a line on the first fold that has a query in two of its parts, "" for none."""
    for fold in benchmark.folds:
        for (one, left), (other, right) in combinations(fold.parts.items(), 2):
            # each file may number its own queries, and then their names tell
            both = np.intersect1d(left.qids, right.qids)
            if left.query_names is not None and right.query_names is not None:
                both = np.intersect1d(left.query_names, right.query_names)
            if len(both):
                queries = "1 query" if len(both) == 1 else f"{len(both)} queries"
                return (
                    f"fold {fold.number} has {queries} (such as {both[0]}) in its {one} and its "
                    f"{other} part; this is a leak, unless each file numbers its own queries"
                )
    return ""


def without_relevant(benchmark: Benchmark) -> str:
    """Return a line on the first part without a relevant document, "" for none."""
    for fold in benchmark.folds:
        for name, part in fold.parts.items():
            if part.labels.max(initial=0) < 1:
                found = f"fold {fold.number} has no label of 1 or more in its {name} part"
                return f"{found}; its numbers say nothing about the algorithms"
    return ""


def _progress(runs: Iterator[JobResult], done: int, total: int) -> Iterator[JobResult]:
    """Show how many folds are done, and that kernels are compiled until the next one is."""
    from tqdm import tqdm

    def compiling() -> None:
        if not bar.disable and "(" not in bar.desc:
            bar.set_description("folds (compiling kernels, only once)")

    bar = tqdm(total=total, initial=done, desc="folds", unit="fold", disable=None)
    with bar, on_compile(compiling):
        for run in runs:
            bar.set_description("folds", refresh=False)
            bar.set_postfix_str(str(run.key), refresh=False)
            bar.update()
            yield run
