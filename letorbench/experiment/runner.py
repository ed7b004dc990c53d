"""A run: its tasks, done by a backend, and the tables that come of all of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from letorbench.datasets.checks import check_convention, leak
from letorbench.datasets.queryset import OWN_PART, Benchmark
from letorbench.errors import FAILURES, DataError
from letorbench.experiment.backends import Backend, Job, Processes
from letorbench.experiment.grids import draws
from letorbench.experiment.identity import identity
from letorbench.experiment.plan import (
    Algorithm,
    Entrant,
    Protocol,
    Task,
    benchmark_of,
    entrants,
    fold_numbers,
)
from letorbench.experiment.settings import Settings
from letorbench.experiment.shard import Shard
from letorbench.experiment.task import Outcome
from letorbench.rankers import plugins
from letorbench.rankers.base import Ranker
from letorbench.results.fold_result import check_writable
from letorbench.results.paths import algo_folder
from letorbench.results.stored_folds import current_folds, experiment_of, read_folds
from letorbench.results.summary import Summary, refreshed_summary, stored_summary, update_row


@dataclass(frozen=True)
class Report:
    """What a run left.

    Attributes
    ----------
    summaries : tuple of Summary
        One for each data set.
    outcomes : tuple of Outcome
        What became of each task, in the order of the tasks.
    notes : tuple of str
        What the user must know besides.
    """

    summaries: tuple[Summary, ...]
    outcomes: tuple[Outcome, ...]
    notes: tuple[str, ...]


def run(
    datasets: Sequence[str | Benchmark],
    algos: Mapping[str, Settings] | Sequence[Algorithm],
    folds: Sequence[int] | None,
    protocol: Protocol,
    backend: Backend = Processes(),
    shard: Shard | None = None,
) -> Report:
    """Run every algorithm on every fold of every data set, repeated where it draws.

    As soon as a fold is finished its files are there, and the tables have it. The results do
    not depend on the backend. A task that fails is in the report; the others finish.

    Parameters
    ----------
    datasets : sequence of str or Benchmark
        Names of data sets on disk, or data sets in memory.
    algos : mapping or sequence
        The algorithms: a mapping of names to the settings that are fixed, or a sequence of
        names, rankers' classes, and rankers, whose settings are all fixed.
    folds : sequence of int, optional
        The numbers of the folds; None for all that a data set has.
    protocol : Protocol
        What all tasks share.
    backend : Backend
        Who runs the tasks; this process by default.
    shard : Shard, optional
        The share of the run that is done; all of it by default.

    Raises
    ------
    UsageError
        An algorithm or a fold does not exist.
    DataError
        A data set cannot be read, or results cannot be written: what is stored until then stays.
    """
    check_writable(protocol.out)
    systems = entrants(algos)
    # data sets are opened here first: two workers would both parse the text
    opened = [(each, benchmark_of(each, protocol)) for each in datasets]
    on_disk = {benchmark.name: isinstance(each, str) for each, benchmark in opened}
    benchmarks = {benchmark.name: benchmark for _, benchmark in opened}
    jobs = [
        Job(task, benchmark, on_disk[task.dataset], _unknown_by_name(system.ranker))
        for task, system, benchmark in _cells(benchmarks, systems, folds, protocol)
        if shard is None or shard.has(task)
    ]
    notes: list[str] = []
    summaries = {name: stored_summary(protocol.out, name) for name in benchmarks}
    ended: dict[str, Outcome] = {}
    for outcome in _progress(backend.outcomes(jobs, protocol), len(jobs)):
        task = outcome.task
        if outcome.unwritable:
            raise DataError(outcome.error)  # no other task could store its result either
        ended[str(task)] = outcome
        summaries[task.dataset] = update_row(protocol.out, summaries[task.dataset], task.algo)
        if outcome.damaged:
            notes.append(outcome.damaged)
    # another run may have stored results of other algorithms meanwhile
    summaries = {name: refreshed_summary(protocol.out, name) for name in benchmarks}
    for summary in summaries.values():
        notes += summary.damaged
    for benchmark in benchmarks.values():
        notes += [_other_folds(protocol, benchmark, system) for system in systems]
        notes += [_convention_note(benchmark, protocol), *_data_notes(benchmark)]
    outcomes = tuple(ended[str(job.task)] for job in jobs)
    return Report(tuple(summaries.values()), outcomes, tuple(dict.fromkeys(filter(None, notes))))


def _cells(
    benchmarks: Mapping[str, Benchmark],
    systems: Sequence[Entrant],
    folds: Sequence[int] | None,
    protocol: Protocol,
) -> Iterator[tuple[Task, Entrant, Benchmark]]:
    """Yield all tasks: a whole first repeat of everything before any second one."""
    counts = {system.name: _repeats(system, protocol) for system in systems}
    for name, benchmark in benchmarks.items():
        numbers = fold_numbers(benchmark, folds)
        for repeat in range(1, max(counts.values(), default=0) + 1):
            for system in systems:
                if repeat <= counts[system.name]:
                    for number in numbers:
                        settings, features = system.settings, system.features
                        task = Task(name, system.name, number, settings, repeat, features)
                        yield task, system, benchmark


def _unknown_by_name(cls: type[Ranker]) -> type[Ranker] | None:
    return None if plugins.found_by_name(cls) else cls


def _repeats(system: Entrant, protocol: Protocol) -> int:
    """Return how many seeds the algorithm is run with: one where it draws nothing."""
    try:
        return protocol.repeats if draws(system.ranker, system.settings) else 1
    except FAILURES:
        return 1  # settings that the ranker refuses: every task will say so


def _other_folds(protocol: Protocol, benchmark: Benchmark, system: Entrant) -> str:
    """Return a note where stored folds of an algorithm are of other settings or data."""
    name, algo, out = benchmark.name, system.name, protocol.out
    stored = read_folds(out, name, algo)
    try:
        task = Task(name, algo, 0, system.settings, features=system.features)
        asked = experiment_of(identity(task, protocol, benchmark, system.ranker))
    except FAILURES:
        return ""  # settings that the ranker refuses: every task has said so
    others = sorted({fold.number for fold in stored if fold.experiment != asked})
    if not others:
        return ""
    shown = current_folds(stored)[0].experiment
    what = "is left out of the means" if shown == asked else "is what the table shows"
    listed = ", ".join(map(str, others))
    folder = algo_folder(out, name, algo)
    return f"{name}, {algo}: fold {listed} in {folder}, of other settings or data, {what}"


def _convention_note(benchmark: Benchmark, protocol: Protocol) -> str:
    """Return a note where the data look like another convention's."""
    rules = benchmark.convention
    chosen = protocol.convention != "auto"
    width = benchmark.folds[0].train.n_features
    text = check_convention(width, rules.max_label or 0, rules.name, chosen)
    return f"{benchmark.name}: {text}" if text else ""


def _data_notes(benchmark: Benchmark) -> list[str]:
    """Return what a user must know of how a data set is cut into parts."""
    validation = benchmark.provenance.get("validation", OWN_PART)
    held_out = "" if validation == OWN_PART else f"no validation part: {validation} validates"
    return [f"{benchmark.name}: {text}" for text in (held_out, leak(benchmark)) if text]


def _progress(outcomes: Iterator[Outcome], total: int) -> Iterator[Outcome]:
    from tqdm import tqdm

    with tqdm(total=total, desc="folds", unit="fold", disable=None) as bar:
        for outcome in outcomes:
            bar.set_postfix_str(str(outcome.task), refresh=False)
            bar.update()
            yield outcome
