"""Tasks in this process or in several, and the files that come of all of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from letorbench.datasets.convention_check import check_convention
from letorbench.datasets.queryset import Benchmark
from letorbench.errors import UsageError
from letorbench.experiment.plan import Protocol, Task
from letorbench.experiment.settings import Settings
from letorbench.experiment.task import Outcome, attempt, benchmark_of
from letorbench.results import store
from letorbench.results.derive import measure
from letorbench.results.summary import Summary, summarise
from letorbench.threads import thread_count


@dataclass(frozen=True)
class Report:
    """What a run left: a summary a data set, every task's outcome, notes for the user."""

    summaries: tuple[Summary, ...]
    outcomes: tuple[Outcome, ...]
    notes: tuple[str, ...]


def run(
    datasets: Sequence[str],
    settings: Mapping[str, Settings],
    folds: Sequence[int] | None,
    protocol: Protocol,
    jobs: int = 1,
) -> Report:
    """Run every algorithm (with its fixed settings) on every fold of every data set.

    folds: their numbers, None for all that a data set has. The results do not depend on
    `jobs`. A task that fails is in the report; the others finish.
    """
    store.check_writable(protocol.out)
    benchmarks = {}
    for name in datasets:
        # opened here first: two workers would both parse the text
        benchmark = benchmark_of(name, protocol)
        benchmarks[benchmark.name] = benchmark
    tasks = [
        Task(name, algo, number, fixed)
        for name, benchmark in benchmarks.items()
        for algo, fixed in settings.items()
        for number in _numbers(name, [fold.number for fold in benchmark.folds], folds)
    ]
    ended = {str(o.task): o for o in _progress(_outcomes(tasks, protocol, jobs), len(tasks))}
    outcomes = tuple(ended[str(task)] for task in tasks)
    notes = [
        measure(name, algo, fixed, protocol, benchmark)
        for name, benchmark in benchmarks.items()
        for algo, fixed in settings.items()
    ]
    notes += [_doubt(benchmark, protocol) for benchmark in benchmarks.values()]
    summaries = tuple(summarise(protocol.out, name) for name in benchmarks)
    return Report(summaries, outcomes, tuple(note for note in notes if note))


def _doubt(benchmark: Benchmark, protocol: Protocol) -> str | None:
    """A note where the data look like another convention's."""
    rules = benchmark.convention
    chosen = protocol.convention != "auto"
    text = check_convention(benchmark.folds[0].train.n_features, rules.max_label or 0, rules.name, chosen)
    return f"{benchmark.name}: {text}" if text else None


def _numbers(name: str, present: list[int], asked: Sequence[int] | None) -> list[int]:
    missing = sorted(set(asked or ()) - set(present))
    if missing:
        raise UsageError(f"{name} has no fold {missing[0]}; expected {present[0]}-{present[-1]}")
    return [number for number in present if asked is None or number in asked]


def _outcomes(tasks: list[Task], protocol: Protocol, jobs: int) -> Iterator[Outcome]:
    """The outcomes in the order in which the tasks end."""
    jobs = min(jobs, len(tasks))
    if jobs < 2:
        yield from (attempt(task, protocol) for task in tasks)
        return
    import joblib

    threads = max(1, thread_count() // jobs)
    # one BLAS thread, as `letorbench.cli` sets it: with more it adds up in another order
    with joblib.parallel_config(backend="loky", inner_max_num_threads=1):
        parallel = joblib.Parallel(n_jobs=jobs, batch_size=1, return_as="generator_unordered")
        yield from parallel(joblib.delayed(attempt)(task, protocol, threads) for task in tasks)


def _progress(outcomes: Iterator[Outcome], total: int) -> Iterator[Outcome]:
    from tqdm import tqdm

    with tqdm(total=total, desc="folds", unit="fold", disable=None) as bar:
        for outcome in outcomes:
            bar.set_postfix_str(str(outcome.task), refresh=False)
            bar.update()
            yield outcome
