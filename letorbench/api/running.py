"""Running experiments, and what became of them: results, lines for the user, an exit status."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import replace
from itertools import product
from pathlib import Path
from warnings import warn

from letorbench.api.measuring import Asked
from letorbench.api.results import Results
from letorbench.choices import split
from letorbench.datasets.catalog import with_share
from letorbench.datasets.queryset import Benchmark
from letorbench.errors import DataError, UsageError
from letorbench.experiment import plan
from letorbench.experiment.backends import Processes, Workers, shard_of
from letorbench.experiment.entrants import Algorithm, entrants
from letorbench.experiment.plan import Protocol
from letorbench.experiment.run import Run
from letorbench.experiment.runner import Report
from letorbench.experiment.runner import run as run_all
from letorbench.features import AUTO
from letorbench.measures import texts
from letorbench.rankers import names, ranker
from letorbench.results import labels
from letorbench.results.paths import FIT, FoldKey, figure, listing
from letorbench.solvers.fit_warnings import KINDS, FitWarning


def run(
    data: str | Benchmark | Sequence[str | Benchmark],
    algos: Algorithm | Sequence[Algorithm] | Mapping[str, Algorithm],
    *,
    out: str | Path = "results",
    folds: str | Iterable[int] | None = None,
    jobs: int = 1,
    seed: int = 0,
    data_dir: str | Path = "data",
    protocol: str = "default",
    select: Asked | None = None,
    convention: str = "auto",
    null: str | float = "keep",
    features: str = AUTO,
    force: bool = False,
    time_limit: float | None = None,
    repeats: int | None = None,
    shard: str | None = None,
    fixed: Iterable[str] = (),
    share: float | Iterable[float] = 1.0,
    measures: Asked | Sequence[Asked] = (),
    executor: Executor | None = None,
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
    select : str, Measure or function, optional
        What the validation part chooses settings and rounds by; the protocol's by default:
        "ndcg@10", "map" for letor.
    convention : str
        Whose measuring rules; "auto" are those of the data set's official tool.
    null : str or float
        What a NULL feature reads as: "keep", "error", "min" or a number, see `load`.
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
        Copied into one folder, the shares' results are those of the run.
    fixed : iterable of str
        Hyper-parameters as the command line has them, ``key=value``, for the algorithms that
        have the key.
    share : float or iterable of float
        Shares of the training queries to train on, for learning curves. Results of a share are
        those of a data set of their own, as "OHSUMED@0.3"; of 1, those of the data set. The queries
        are drawn in each fold from the seed, the same for every algorithm, and those of a smaller
        share are part of those of a larger one. Validation and test parts stay whole.
    measures : str, Measure, function or sequence of them
        What is measured and stored beside the usual measures, see `evaluate`. It changes nothing
        of what is trained: where results are stored already, it is computed from their scores.
    executor : concurrent.futures.Executor, optional
        Whose workers run the folds, instead of `jobs` processes here: of a dask cluster
        ``Client(address).get_executor()``. They need no shared folder: this process writes all
        results, and data that a worker does not have go with the fold.

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
        data, algos, folds, fixed,
        Protocol(
            Path(data_dir), Path(out), convention, "".join(texts(select or ())), seed, force, null,
            time_limit, plan.DEFAULT_REPEATS if repeats is None else repeats, features, protocol,
            tuple(texts(measures)),
        ),
        jobs, shard,
        [share] if isinstance(share, (int, float, str)) else share, executor,
    )  # fmt: skip
    failed = failures(report)
    if failed and all(run.error for run in report.runs):
        kind = UsageError if exit_status(report) == UsageError.exit_status else DataError
        raise kind(failed[0])
    lines = (*failed, *report.notes, *closing_lines(report.runs))
    for line in lines:
        warn(line, stacklevel=2)
    names = {run.key.algo for run in report.runs}
    return Results(Path(out), report.frames, lines).only(algos=names)


def perform(
    data: str | Benchmark | Sequence[str | Benchmark],
    algos: Algorithm | Sequence[Algorithm] | Mapping[str, Algorithm],
    folds: str | Iterable[int] | None,
    fixed: Iterable[str],
    protocol: Protocol,
    jobs: int,
    shard: str | None,
    shares: Iterable[float | str],
    executor: Executor | None = None,
) -> Report:
    """Do what `run` does; return what became of every fold, failures too."""
    numbers = plan.folds(folds) if isinstance(folds, str) else None if folds is None else [*folds]
    share = None if shard is None else shard_of(shard)
    datasets = _datasets(data, protocol.data_dir, [_share(each) for each in shares])
    systems = entrants(algos, fixed)
    if executor is not None and not isinstance(executor, Executor):
        raise UsageError(
            f"found executor={executor!r}, expected a concurrent.futures.Executor, such as "
            "Client(address).get_executor() of dask"
        )
    if executor is not None and jobs != 1:
        raise UsageError(f"found jobs={jobs} and an executor, expected one of them")
    backend = Processes(jobs) if executor is None else Workers(executor)
    return run_all(datasets, systems, numbers, protocol, backend, share)


def _datasets(
    data: str | Benchmark | Sequence[str | Benchmark], data_dir: Path, shares: Sequence[float]
) -> list[str | Benchmark]:
    """Return benchmarks, and names looked up, each once and in order, with each share."""
    several = [data] if isinstance(data, (str, Benchmark)) else list(data)
    chosen: dict[str, str | Benchmark] = {}
    for each in several:
        names = [each.name] if isinstance(each, Benchmark) else plan.datasets([each], data_dir)
        for name, share in product(names, shares):
            label = with_share(name, share)
            if isinstance(each, str):
                chosen[label] = label
            else:
                chosen[label] = each if share == 1.0 else replace(each, name=label, share=share)
    return list(chosen.values())


def _share(value: float | str) -> float:
    """Return a share of the training queries from a number or its text."""
    with suppress(ValueError):
        if 0.001 <= float(value) <= 1.0:
            return round(float(value), 6)
    raise UsageError(f"found the share {value!r}, expected numbers from 0.001 to 1, as 0.1,0.3,1")


def places(results: Results) -> list[tuple[str, str]]:
    """Return what a run leaves: a word for each kind of file, and its place."""
    rows = [row for name in results.datasets for row in listing(results.out, name).items()]
    return rows + ([("figure", figure(results.out))] if len(results.datasets) > 1 else [])


def left_out(algos: Iterable[str]) -> list[str]:
    """Return a line for each algorithm that "all" leaves out because its package is missing."""
    asked = {labels.parse(word).algo for word in split(algos)}
    everything = map(ranker, names() if "all" in asked else [])
    return [
        f"all leaves {cls.name} out: `python -m pip install '{cls.extra}'` brings {cls.needs}"
        for cls in everything
        if not cls.available()
    ]


def failures(report: Report) -> list[str]:
    """Return a line for each error, folds of an algorithm that share it together."""
    folds: dict[tuple[str, str, str], list[str]] = {}
    for run in report.runs:
        if run.error:
            folds.setdefault((*run.key[:2], run.error), []).append(run.key.fold_text)
    return [
        f"{dataset}, {algo}, fold {', '.join(numbers)}: {text}"
        for (dataset, algo, text), numbers in folds.items()
    ]


def exit_status(report: Report) -> int:
    """Return 0, or that of the errors: of usage where a fold refuses a value, else of data."""
    return max((run.exit_status for run in report.runs if run.error), default=0)


def closing_lines(runs: Iterable[Run]) -> list[str]:
    """Return few lines for all the warnings of a run, the most serious first.

    An algorithm is in the line of its most serious warning, together with all others that have
    the same. A last line says where the rest is, if something was left out.
    """
    warnings: dict[tuple[str, str], list[tuple[FoldKey, FitWarning]]] = {}
    for run in runs:
        for warning in run.warnings:
            warnings.setdefault(run.key[:2], []).append((run.key, warning))
    groups: dict[str, list[tuple[str, str]]] = {kind: [] for kind in KINDS}
    for where, pairs in warnings.items():
        groups[min((each for _, each in pairs), key=lambda each: each.rank).kind].append(where)
    lines, complete = [], True
    for kind, group in groups.items():
        pairs = [pair for where in group for pair in warnings[where]]
        if len(group) == 1 and len({warning.text for _, warning in pairs}) == 1:
            folds = dict.fromkeys(key.fold_text for key, _ in pairs)
            lines.append(f"{', '.join(group[0])}, fold {', '.join(folds)}: {pairs[0][1].text}")
        elif group:
            fits = Counter(key[:2] for key in {key for key, w in pairs if w.kind == kind})
            counts: dict[str, list[str]] = {}
            for dataset, algo in group:
                number = fits[dataset, algo]
                counts.setdefault(dataset, []).append(f"{algo} in {number} fit{'s' * (number > 1)}")
            parts = [f"{dataset} {', '.join(algos)}" for dataset, algos in counts.items()]
            lines.append(f"{kind} ({KINDS[kind]}): {'; '.join(parts)}")
            complete = False
    if not complete:
        count = sum(map(len, warnings.values()))
        lines.append(
            f"{count} warnings in all; their texts are in each fold's {FIT} and in the page of "
            "`letorbench report`"
        )
    return lines
