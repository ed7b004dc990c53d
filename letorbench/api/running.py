"""Running experiments: from the words of a user to results, lines that report, an exit status."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import replace
from itertools import product
from numbers import Integral
from pathlib import Path
from warnings import warn

from letorbench.api.measuring import Asked
from letorbench.api.results import Results
from letorbench.choices import require_choice, split
from letorbench.datasets import catalog, layout
from letorbench.datasets.layout import MOST_FOLDS
from letorbench.datasets.load import redrawn
from letorbench.datasets.queryset import Benchmark
from letorbench.errors import DataError, UsageError
from letorbench.experiment.backends import Processes, Workers, shard_of
from letorbench.experiment.job import JobResult
from letorbench.experiment.plan import (
    DEFAULT_REPEATS,
    MOST_REPEATS,
    Algorithm,
    Protocol,
    systems_of,
)
from letorbench.experiment.run import RunReport, run_systems
from letorbench.features import AUTO
from letorbench.measures import measure_names
from letorbench.rankers.tuning import BUDGET
from letorbench.results.paths import FIT, FoldKey
from letorbench.solvers.fit_warnings import KINDS, FitWarning


def run(
    data: str | Benchmark | Sequence[str | Benchmark],
    algos: Algorithm | Sequence[Algorithm] | Mapping[str, Algorithm],
    *,
    out: str | Path = "results",
    folds: str | int | Iterable[int] | None = None,
    jobs: int = 1,
    seed: int = 0,
    data_dir: str | Path = "data",
    protocol: str = "default",
    budget: int = BUDGET,
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
    resplit: int = 0,
    measures: Asked | Sequence[Asked] = (),
    executor: Executor | None = None,
) -> Results:
    """Train, select on validation, test: every algorithm on every fold of every data set.

    Stored folds that are still valid are not run again. Every finished fold's files are in the
    results folder at once, so that an interrupted run is continued by the same call.

    Parameters
    ----------
    data : str, Benchmark or sequence of them
        Names of data sets (comma lists, "all"), or values of `load` and `from_frame`.
    algos : str, class, instance, sequence or mapping of them
        Names (comma lists, "all", "baselines"), rankers' classes, rankers, or estimators of other
        libraries; a mapping names its rows. A name or a class has its grid searched on validation;
        an instance keeps the hyper-parameters that it has.
    out : path-like
        The results folder.
    folds : str, int or iterable of int, optional
        "1-3" or [1, 2, 3]; all by default.
    jobs : int
        Number of processes; the results do not depend on it.
    seed : int
        Seed of all random draws.
    data_dir : path-like
        The folder of the data sets.
    protocol : {"default", "letor", "published", "tuned"}
        How the validation part chooses: our way, LETOR's (by MAP, the plain best), as the
        reproduced papers did, or our way among as many settings for each algorithm.
    budget : int
        Number of settings of each algorithm under the protocol "tuned".
    select : str, Measure or function, optional
        Measure by which validation chooses settings and rounds; by default "ndcg@10", for the
        protocol "letor" "map".
    convention : str
        Measuring rules; "auto": those of the data set's official tool.
    null : str or float
        Value of a NULL feature: "keep", "error", "min" or a number, see `load`.
    features : str
        Transformation of the features: "raw", "query-minmax", "query-zscore", "zscore",
        "signed-log", "rank", or "auto": none if the data set is published normalised, otherwise
        the one that each ranker needs.
    force : bool
        Run stored folds again.
    time_limit : float, optional
        Seconds that the training of one setting of an algorithm may take; no limit by default.
        The tables mark trainings that were cut off.
    repeats : int, optional
        Number of seeds for algorithms that draw random numbers, 5 by default; others run once.
    shard : str, optional
        The part of the run that is done, as "1/3": for machines that have only files in common.
        Copied into one folder, the results of all parts are those of the run.
    fixed : iterable of str
        Hyper-parameters as the command line has them, ``key=value``, for the algorithms that
        have the key.
    share : float or iterable of float
        Fractions of the training queries to train on, for learning curves. Results of a fraction
        are those of a data set of their own, as "OHSUMED@0.3"; of 1, those of the data set. The
        queries are drawn in each fold from the seed, the same for every algorithm, and those of a
        smaller fraction are among those of a larger one. Validation and test parts stay whole.
    resplit : int
        Number of new draws of the folds, by query, beside the official ones, to see how far other
        folds move the results; none by default. Draw 3 of OHSUMED is the data set
        "OHSUMED@split3": the same for every algorithm, seed and machine.
    measures : str, Measure, function or sequence of them
        Measures to store in addition to the usual ones, see `evaluate`. They change no training:
        for stored results they are computed from the scores.
    executor : concurrent.futures.Executor, optional
        Its workers run the folds, instead of `jobs` processes here; for a dask cluster it is
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
        One warning for each line about failures and results.
    """
    chosen = Protocol(
        data_dir=Path(data_dir), out=Path(out), name=protocol, budget=budget,
        select="".join(measure_names(select or ())), convention=convention, null=null,
        features=features, seed=seed, force=force, time_limit=time_limit,
        measures=tuple(measure_names(measures)),
        repeats=DEFAULT_REPEATS if repeats is None else repeats,
    )  # fmt: skip
    shares = [share] if isinstance(share, (int, float, str)) else share
    report = run_experiment(
        data, algos, chosen, folds=folds, fixed=fixed, jobs=jobs, shard=shard, shares=shares,
        resplit=resplit, executor=executor,
    )  # fmt: skip
    failed = failures(report)
    if failed and all(run.error for run in report.runs):
        raise first_failure(report)
    lines = (*failed, *report.notes, *closing_lines(report.runs))
    for line in lines:
        warn(line, stacklevel=2)
    stored = {row.algo for frame in report.frames for row in frame.rows}
    names = stored & {run.key.algo for run in report.runs}
    shown = catalog.without_resplits(frame.dataset for frame in report.frames)
    several = [data] if isinstance(data, (str, Benchmark)) else data
    given = {each.name: each for each in several if isinstance(each, Benchmark)}
    # a fraction of the training queries has the test parts of the whole
    frames = tuple(
        replace(
            frame, given=given.get(frame.dataset) or given.get(catalog.parse(frame.dataset).whole)
        )
        for frame in report.frames
    )
    return Results(Path(out), frames, lines).only(shown, names)


def run_experiment(
    data: str | Benchmark | Sequence[str | Benchmark],
    algos: Algorithm | Sequence[Algorithm] | Mapping[str, Algorithm],
    protocol: Protocol,
    *,
    folds: str | int | Iterable[int] | None = None,
    fixed: Iterable[str] = (),
    jobs: int = 1,
    shard: str | None = None,
    shares: Iterable[float | str] = (1.0,),
    resplit: int = 0,
    executor: Executor | None = None,
) -> RunReport:
    """Do the work of `run`; return the result of every fold, failures too."""
    if isinstance(folds, str):
        folds = fold_numbers(folds)
    numbers = None if folds is None else [*folds] if isinstance(folds, Iterable) else [folds]
    if not all(isinstance(each, Integral) for each in numbers or ()):
        raise UsageError(f"folds: found {folds!r}, expected a number or numbers")
    part = None if shard is None else shard_of(shard)
    fractions = []
    for share in shares:
        with suppress(ValueError):
            if 0.001 <= float(share) <= 1.0:
                fractions.append(round(float(share), 6))
                continue
        expected = "numbers from 0.001 to 1, as 0.1,0.3,1"
        raise UsageError(f"found the share {share!r}, expected {expected}")
    datasets = datasets_of(data, protocol.data_dir, fractions, resplit)
    systems = systems_of(algos, fixed)
    if executor is not None and not isinstance(executor, Executor):
        raise UsageError(
            f"found executor={executor!r}, expected a concurrent.futures.Executor, such as "
            "Client(address).get_executor() of dask"
        )
    if executor is not None and jobs != 1:
        raise UsageError(f"found jobs={jobs} and an executor, expected one of them")
    backend = Processes(jobs) if executor is None else Workers(executor)
    return run_systems(datasets, systems, numbers, protocol, backend, part)


def fold_numbers(text: str) -> tuple[int, ...]:
    """Read fold numbers; UsageError for other texts.

    Examples
    --------
    >>> fold_numbers("1-3,5")
    (1, 2, 3, 5)
    """
    numbers: set[int] = set()
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if not (first.isdecimal() and (last.isdecimal() or not dash)):
            raise UsageError(f"folds {text!r}: found {part!r}, expected a form like 1-5 or 1,3")
        if max(len(first), len(last)) > len(str(MOST_FOLDS)) or int(last or first) > MOST_FOLDS:
            raise UsageError(f"folds {text!r}: found {part!r}, expected folds up to {MOST_FOLDS}")
        numbers.update(range(int(first), int(last or first) + 1))
    if not numbers or min(numbers) < 1:
        raise UsageError(f"folds {text!r}: expected folds from 1 on, in a form like 1-5 or 1,3")
    return tuple(sorted(numbers))


def dataset_names(words: Iterable[str], data_dir: Path) -> dict[str, catalog.Name]:
    """Return the data sets of comma lists and `all` (those in the data folder), by their labels."""
    chosen: dict[str, catalog.Name] = {}
    for word in split(words):
        meant = layout.installed(data_dir) if word == "all" else (word,)
        if not meant:
            raise DataError(f"{data_dir}: no data set there; `letorbench datasets list` says more")
        for name in meant:
            named = catalog.parse(name)
            if named.entry is None and layout.resolve(data_dir, named.text) is None:
                known = [*catalog.CATALOG, *layout.installed(data_dir)]
                require_choice(name, known, "data set")
            chosen[named.label] = named
    if not chosen:
        raise UsageError("found no name of a data set, expected one or more, or all")
    return chosen


def datasets_of(
    data: str | Benchmark | Sequence[str | Benchmark],
    data_dir: Path,
    fractions: Sequence[float] = (1.0,),
    resplit: int = 0,
) -> list[catalog.Name | Benchmark]:
    """Return names and benchmarks, each once and in order, with each draw and fraction."""
    whole = isinstance(resplit, Integral) and not isinstance(resplit, bool)
    if not (whole and 0 <= resplit <= MOST_REPEATS):
        expected = f"a whole number from 0 to {MOST_REPEATS}"
        raise UsageError(f"resplit: found {resplit!r}, expected {expected}")
    several = [data] if isinstance(data, (str, Benchmark)) else list(data)
    names = (each.name if isinstance(each, Benchmark) else each for each in several)
    if resplit and (draw := next((n for n in split(names) if catalog.parse(n).resplit), None)):
        raise UsageError(f"{draw}: found a draw of the folds, expected a data set to draw from")
    chosen: dict[str, catalog.Name | Benchmark] = {}
    for number, each in product(range(resplit + 1), several):
        if isinstance(each, Benchmark):
            drawn = redrawn(each, number) if number else each
            for fraction in fractions:
                label = catalog.with_fraction(drawn.name, fraction)
                part = replace(drawn, name=label, train_fraction=fraction)
                chosen[label] = drawn if fraction == 1.0 else part
            continue
        for named, fraction in product(dataset_names([each], data_dir).values(), fractions):
            named = named if fraction == 1.0 else replace(named, train_fraction=fraction)
            named = replace(named, resplit=number) if number else named
            chosen[named.label] = named
    return list(chosen.values())


def failures(report: RunReport) -> list[str]:
    """Return a line for each error, folds of an algorithm that share it together."""
    folds: dict[tuple[str, str, str], list[str]] = {}
    for run in report.runs:
        if run.error:
            folds.setdefault((*run.key[:2], run.error), []).append(run.key.fold_text)
    return [
        f"{dataset}, {algo}, fold {_some(numbers)}: {text}"
        for (dataset, algo, text), numbers in folds.items()
    ]


def first_failure(report: RunReport) -> UsageError | DataError:
    """Return the first error of a run as one of its kind."""
    kind = UsageError if exit_status(report) == UsageError.exit_status else DataError
    return kind(failures(report)[0])


def _some(folds: Sequence[str]) -> str:
    """Return the first five, and how many more there are."""
    more = len(folds) - 5
    return ", ".join(folds[:5]) + (f" and {more} more" if more > 0 else "")


def exit_status(report: RunReport) -> int:
    """Return 0, or that of the errors: of usage where a fold refuses a value, else of data."""
    return max((run.exit_status for run in report.runs if run.error), default=0)


def closing_lines(runs: Iterable[JobResult]) -> list[str]:
    """Return few lines for all the warnings of a run, an algorithm in its most serious one's."""
    warnings: dict[tuple[str, str], list[tuple[FoldKey, FitWarning]]] = {}
    for run in runs:
        for warning in run.fold.warnings if run.fold else ():
            warnings.setdefault(run.key[:2], []).append((run.key, warning))
    groups: dict[str, list[tuple[str, str]]] = {kind: [] for kind in KINDS}
    for where, pairs in warnings.items():
        groups[min((each for _, each in pairs), key=lambda each: each.rank).kind].append(where)
    lines, complete = [], True
    for kind, group in groups.items():
        pairs = [pair for where in group for pair in warnings[where]]
        if len(group) == 1 and len({warning.text for _, warning in pairs}) == 1:
            folds = dict.fromkeys(key.fold_text for key, _ in pairs)
            name = ", ".join(group[0])
            lines.append(f"{name}, fold {_some([*folds])}: {pairs[0][1].text}")
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
