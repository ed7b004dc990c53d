"""Running experiments, and what came of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from warnings import warn

from letorbench.api.report_lines import exit_status, failures, warning_lines
from letorbench.api.results import Results, words
from letorbench.datasets.queryset import Benchmark
from letorbench.errors import DataError, UsageError
from letorbench.experiment import backends, plan
from letorbench.experiment.runner import Report
from letorbench.experiment.runner import run as run_all
from letorbench.experiment.select import selection_protocol
from letorbench.experiment.settings import settings
from letorbench.features import AUTO, features_name
from letorbench.measures import Measure, parse
from letorbench.rankers import ranker
from letorbench.rankers.base import Ranker
from letorbench.results.paths import figure, listing

#: an algorithm: its name, its class, or an instance with its hyper-parameters
Algorithm = str | type[Ranker] | Ranker


def run(
    data: str | Benchmark | Sequence[str | Benchmark],
    algos: Algorithm | Sequence[Algorithm],
    *,
    out: str | Path = "results",
    folds: str | Iterable[int] | None = None,
    jobs: int = 1,
    seed: int = 0,
    data_dir: str | Path = "data",
    protocol: str = "default",
    select: str | Measure | None = None,
    convention: str = "auto",
    null: str | float = "error",
    features: str = AUTO,
    force: bool = False,
    time_limit: float | None = None,
    repeats: int | None = None,
    shard: str | None = None,
    backend: str = "local",
    scheduler: str | None = None,
    fixed: Iterable[str] = (),
) -> Results:
    """Train, select on validation, test: every algorithm on every fold of every data set.

    Stored folds that still hold are not run again. Every finished fold's files are in the
    results folder at once, so that an interrupted run is continued by the same call.

    Parameters
    ----------
    data : str, Benchmark or sequence of them
        Names of data sets (comma lists, "all"), or what `load` and `from_frame` return.
    algos : str, class, instance or sequence of them
        Names (comma lists, "all", "baselines"), rankers' classes, or rankers. A name or a class
        has its grid searched on validation; a ranker keeps the hyper-parameters that it has.
    out : path-like
        The results folder.
    folds : str or iterable of int, optional
        "1-3" or [1, 2, 3]; all by default.
    jobs : int
        The number of processes; the results do not depend on it.
    seed : int
        Where every random draw comes from.
    data_dir : path-like
        The folder of the data sets.
    protocol : {"default", "letor", "published"}
        How the validation part chooses: our way, LETOR's (by MAP, the plain best), or as the
        reproduced papers did.
    select : str or Measure, optional
        What the validation part chooses settings and rounds by; the protocol's by default:
        "ndcg@10", "map" for letor.
    convention : str
        Whose measuring rules; "auto" are those of the data set's official tool.
    null : str or float
        What a NULL feature reads as: "error", "min" or a number.
    features : str
        What is done to the features: "raw", "query-minmax", "query-zscore", "zscore",
        "signed-log", "rank", or "auto": as they are where the data set is published normalised,
        otherwise what each ranker needs.
    force : bool
        Run again what is stored already.
    time_limit : float, optional
        How many seconds the training of one setting of an algorithm may take; no limit by
        default. What it ends is marked in the tables.
    repeats : int, optional
        How many seeds an algorithm that draws random numbers is run with; 5 by default. Others
        run once.
    shard : str, optional
        The share of the run that is done, as "1/3": for machines that share nothing but files.
        `letorbench.merge` brings the shares together.
    backend : {"local", "dask"}
        Who runs the folds: `jobs` processes on this machine, or the workers of a dask scheduler.
        The results do not depend on it.
    scheduler : str, optional
        The address of the dask scheduler, as "tcp://host:8786".
    fixed : iterable of str
        Hyper-parameters as the command line has them, ``key=value``, for the algorithms that
        have the key.

    Returns
    -------
    Results
        Those of the algorithms and data sets that were run.

    Raises
    ------
    UsageError
        A name or a value does not exist.
    DataError
        A data set cannot be read, or no fold at all could be finished.

    Warns
    -----
    UserWarning
        Once a line: what failed, and what the user must know.
    """
    report = perform(
        data, algos, out=out, folds=folds, jobs=jobs, seed=seed, data_dir=data_dir,
        protocol=protocol, select=select, convention=convention, null=null, features=features,
        force=force, time_limit=time_limit, repeats=repeats, shard=shard, backend=backend,
        scheduler=scheduler, fixed=fixed,
    )  # fmt: skip
    failed = failures(report)
    if failed and all(outcome.error for outcome in report.outcomes):
        kind = UsageError if exit_status(report) == UsageError.exit_status else DataError
        raise kind(failed[0])
    lines = (*failed, *warning_lines(report))
    for line in lines:
        warn(line, stacklevel=2)
    names = {outcome.task.algo for outcome in report.outcomes}
    return view(report, out, data_dir, lines).only(algos=names)


def perform(
    data: str | Benchmark | Sequence[str | Benchmark],
    algos: Algorithm | Sequence[Algorithm],
    *,
    out: str | Path,
    folds: str | Iterable[int] | None,
    jobs: int,
    seed: int,
    data_dir: str | Path,
    protocol: str,
    select: str | Measure | None,
    convention: str,
    null: str | float,
    features: str,
    force: bool,
    time_limit: float | None,
    repeats: int | None,
    shard: str | None,
    backend: str,
    scheduler: str | None,
    fixed: Iterable[str],
) -> Report:
    """Do what `run` does; return what became of every fold, failures too."""
    asked = plan.Protocol(
        data_dir=Path(data_dir),
        out=Path(out),
        convention=convention,
        select=str(parse(str(select or selection_protocol(protocol).measure))),
        seed=seed,
        force=force,
        null=null,
        time_limit=time_limit,
        repeats=_repeats(repeats),
        features=features_name(features),
        name=protocol,
    )
    chosen = _algorithms(algos, list(fixed))
    numbers = plan.folds(folds) if isinstance(folds, str) else None if folds is None else [*folds]
    share = None if shard is None else backends.shard(shard)
    who = backends.backend(backend, jobs, scheduler)
    return run_all(_datasets(data, asked.data_dir), chosen, numbers, asked, who, share)


def _repeats(asked: int | None) -> int:
    """Return the number of seeds, the default for None; UsageError for less than one or many."""
    if asked is None:
        return plan.DEFAULT_REPEATS
    if not 1 <= asked <= plan.MOST_REPEATS:
        raise UsageError(f"found repeats={asked}, expected 1 to {plan.MOST_REPEATS}")
    return asked


def view(
    report: Report, out: str | Path, data_dir: str | Path, said: tuple[str, ...] = ()
) -> Results:
    """Return the results that a run left, the data sets without any left out."""
    summaries = tuple(summary for summary in report.summaries if summary.rows)
    return Results(Path(out), Path(data_dir), summaries, said)


def places(found: Results) -> list[tuple[str, str]]:
    """Return what a run leaves: a word for each kind of file, and its place."""
    rows = [row for name in found.datasets for row in listing(found.out, name).items()]
    return rows + ([("figure", figure(found.out))] if len(found.datasets) > 1 else [])


def left_out(algos: Iterable[str]) -> list[str]:
    """Return a line for each algorithm that "all" leaves out because its package is missing."""
    return [
        f"all leaves {name} out: `python -m pip install '{ranker(name).extra}'` "
        f"brings {ranker(name).needs}"
        for name in plan.missing(algos)
    ]


def _datasets(
    data: str | Benchmark | Sequence[str | Benchmark], data_dir: Path
) -> list[str | Benchmark]:
    """Return benchmarks as they are, and names looked up, each once and in order."""
    several = [data] if isinstance(data, (str, Benchmark)) else list(data)
    chosen: dict[object, str | Benchmark] = {}
    for each in several:
        if isinstance(each, Benchmark):
            chosen[each.name] = each
        else:
            chosen.update({name: name for name in plan.datasets([each], data_dir)})
    return list(chosen.values())


def _algorithms(
    algos: Algorithm | Sequence[Algorithm], fixed: Sequence[str]
) -> Sequence[Algorithm] | Mapping[str, Mapping[str, object]]:
    """Return names with their settings where there are only names, else what was given."""
    several = [algos] if isinstance(algos, (str, Ranker, type)) else list(algos)
    only_names = [each for each in several if isinstance(each, str)]
    if len(only_names) == len(several):
        return settings(plan.algorithms(words(only_names)), fixed)
    if fixed:
        raise UsageError("found settings beside rankers, expected names: a ranker has its own")
    named: list[Algorithm] = []
    for each in several:
        named += plan.algorithms([each]) if isinstance(each, str) else [each]
    return named
