"""A run: its jobs are planned, what is stored is reused, processes do the rest."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from letorbench.datasets.checks import check_convention, leak
from letorbench.datasets.queryset import OWN_PART, Benchmark
from letorbench.errors import DataError, UsageError
from letorbench.experiment.backends import Processes, Shard
from letorbench.experiment.plan import Algorithm, Job, Protocol, benchmark_of, entrants, plan_runs
from letorbench.experiment.settings import Settings
from letorbench.experiment.task import Outcome
from letorbench.results.paths import FoldKey, algo_folder
from letorbench.results.store import Store, check_writable, current_folds, experiment_of
from letorbench.results.summary import Summary, summarise, write_tables


@dataclass(frozen=True)
class Report:
    """What a run left."""

    #: one for each data set with results
    summaries: tuple[Summary, ...]
    #: what became of each task, in the order of the tasks
    outcomes: tuple[Outcome, ...]
    #: what the user must know besides
    notes: tuple[str, ...]


def run(
    datasets: Sequence[str | Benchmark],
    algos: Mapping[str, Settings] | Sequence[Algorithm],
    folds: Sequence[int] | None,
    protocol: Protocol,
    processes: Processes = Processes(),
    shard: Shard | None = None,
) -> Report:
    """Run every algorithm on every fold of every data set, with several seeds if it draws.

    As soon as a fold is finished its files are there, and the tables have it. A task that fails
    is in the report; the others finish.

    The data sets are names of those on disk, or in memory. `entrants` says what the algorithms may
    be. `folds` are numbers, None for all that a data set has. Without a `shard`, all is done.
    """
    check_writable(protocol.out)
    systems = entrants(algos)
    # data sets are opened here first: two workers would both parse the text
    opened = [(each, benchmark_of(each, protocol)) for each in datasets]
    benchmarks = {benchmark.name: benchmark for _, benchmark in opened}
    on_disk = {benchmark.name for each, benchmark in opened if isinstance(each, str)}
    jobs = plan_runs(benchmarks, systems, folds, protocol, on_disk)
    if not jobs:
        raise UsageError("found nothing to run, expected data sets, shares, algorithms and folds")
    jobs = [job for job in jobs if shard is None or shard.has(job.task)]
    store = Store(protocol.out)
    for name in benchmarks:
        store.look(name)
    notes = list(store.damaged.values())
    ended = _reused(store, jobs, protocol)
    left = [job for job in jobs if job.task.key not in ended]
    for outcome in _progress(processes.outcomes(left, protocol), len(ended), len(jobs)):
        if outcome.unwritable:
            raise DataError(outcome.error)  # no other task could store its result either
        ended[outcome.task.key] = outcome
        if outcome.fold is not None:
            store.add(outcome.fold)
            write_tables(store, outcome.task.dataset, [outcome.task.algo])
    for name, benchmark in benchmarks.items():
        write_tables(store, name, [system.ranker.name for system in systems])
        notes += _other_folds(store, [job for job in jobs if job.benchmark is benchmark])
        notes += _data_notes(benchmark, chosen=protocol.convention != "auto")
    summaries = (summarise(store, name) for name in benchmarks)
    return Report(
        tuple(summary for summary in summaries if summary.rows),
        tuple(ended[job.task.key] for job in jobs),
        tuple(notes),
    )


def _reused(store: Store, jobs: Sequence[Job], protocol: Protocol) -> dict[FoldKey, Outcome]:
    """Return the outcomes of the jobs whose results are stored already."""
    ended = {}
    for job in jobs:
        if job.identity is None or protocol.force:
            continue
        fold = store.reuse(job.task.key, job.identity, protocol.time_limit)
        if fold is not None:
            ended[job.task.key] = Outcome(job.task, fold, reused=True)
    return ended


def _other_folds(store: Store, jobs: Sequence[Job]) -> Iterator[str]:
    """Yield a note for each algorithm whose stored folds are of other settings or data."""
    shared = {job.task.key[:2]: job.identity for job in jobs if job.identity is not None}
    for (name, algo), identity in shared.items():
        requested = experiment_of(identity)
        stored = store.of(name, algo)
        others = sorted({fold.number for fold in stored if fold.experiment != requested})
        if others:
            shown = current_folds(stored)[0].experiment
            what = "is left out of the means" if shown == requested else "is what the table shows"
            listed = ", ".join(map(str, others))
            folder = algo_folder(store.out, name, algo)
            yield f"{name}, {algo}: fold {listed} in {folder}, of other settings or data, {what}"


def _data_notes(benchmark: Benchmark, chosen: bool) -> list[str]:
    """Return what a user must know of a data set's convention and of how it is cut into parts."""
    rules, width = benchmark.convention, benchmark.folds[0].train.n_features
    convention = check_convention(width, rules.max_label or 0, rules.name, chosen)
    validation = benchmark.provenance.get("validation", OWN_PART)
    held_out = "" if validation == OWN_PART else f"no validation part: {validation} validates"
    texts = (convention, held_out, leak(benchmark))
    return [f"{benchmark.name}: {text}" for text in texts if text]


def _progress(outcomes: Iterator[Outcome], done: int, total: int) -> Iterator[Outcome]:
    from tqdm import tqdm

    with tqdm(total=total, initial=done, desc="folds", unit="fold", disable=None) as bar:
        for outcome in outcomes:
            bar.set_postfix_str(str(outcome.task), refresh=False)
            bar.update()
            yield outcome
