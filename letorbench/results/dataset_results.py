"""The results of the systems on a data set; all that is shown is a function of them.

Their CSV files are for people and programs; only `verify` reads them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from letorbench import escaping
from letorbench.conventions import Convention
from letorbench.datasets.catalog import parse as dataset_name
from letorbench.datasets.load import digest_of, digest_of_draw, load, with_convention
from letorbench.datasets.queryset import Benchmark, QuerySet
from letorbench.errors import DataError, UsageError
from letorbench.files import one_writer, refuse_links, write_unlocked
from letorbench.measures import Measure, measure_names
from letorbench.results import labels, paths
from letorbench.results.labels import Label
from letorbench.results.measuring import IDEAL, RANDOM, competes, measured
from letorbench.results.per_query import PerQuery, mean_of
from letorbench.results.scores import parse
from letorbench.results.store import Store, StoredFold, by_repeat, current_folds
from letorbench.source import is_current

#: measures as users write them: names, comma lists, values
Measures = str | Measure | Sequence[str | Measure]
#: the columns of summary.csv before its measures
HEAD = ("algo", "convention", "folds", "repeats", "cut_off", "not_converged")


@dataclass(frozen=True, eq=False)
class SystemResults:
    """The results of one label on one data set."""

    algo: str
    #: its finished folds of one or more repeats, all of one experiment
    stored: tuple[StoredFold, ...]
    #: its finished folds of other experiments, which are left out
    others: tuple[StoredFold, ...] = ()
    #: the measures whose values are not stored and cannot be computed, NaN for each query
    blanks: tuple[str, ...] = ()

    label: Label = field(init=False)
    convention: str = field(init=False)
    #: the transformation of the features; None where another system made the scores
    features: str | None = field(init=False)
    by_repeat: list[list[StoredFold]] = field(init=False)
    #: how many of its folds are finished, and how many folds the data set has
    folds: int = field(init=False)
    n_folds: int = field(init=False)
    #: how many repeats have all these folds
    repeats: int = field(init=False)
    #: how many seeds were asked for last; None where nothing is drawn
    n_repeats: int | None = field(init=False)
    #: what is missing, not run or not finished yet: "3 of 5 folds"; "" for nothing
    partial: str = field(init=False)
    #: whether other seeds give other numbers
    drawn: bool = field(init=False)
    #: in how many folds a time limit ended trainings, and the model is away from its optimum
    cut_off: int = field(init=False)
    not_converged: int = field(init=False)

    def __post_init__(self) -> None:
        first, last = self.stored[0], max(self.stored, key=lambda fold: fold.written)
        repeats, n_repeats = by_repeat(self.stored), last.fit.get("repeats")
        folds, partial = len(self.stored) // len(repeats), ""
        if folds < first.n_folds:
            partial = f"{folds} of {first.n_folds} folds"
        elif len(repeats) < (n_repeats or 1):
            partial = f"{len(repeats)} of {n_repeats} repeats"
        warned = [{each.kind for each in fold.warnings} for fold in self.stored]
        vars(self).update(
            label=first.label, convention=first.convention, features=first.identity.get("features"),
            by_repeat=repeats, folds=folds, n_folds=first.n_folds, repeats=len(repeats),
            n_repeats=n_repeats, partial=partial,
            drawn=len(repeats) > 1 or n_repeats is not None,
            cut_off=sum(bool(fold.fit.get("cut_off")) for fold in self.stored),
            not_converged=sum("not converged" in kinds for kinds in warned),
        )  # fmt: skip

    @property
    def reference(self) -> bool:
        """Whether it is a reference point that learns nothing, whatever the row is called."""
        return self.label.algo in (RANDOM, IDEAL)

    @property
    def version(self) -> str:
        """The letorbench and the digest of its code that made the scores; "" for those of now."""
        identity = self.stored[0].identity
        code = identity.get("code")
        if code is None or is_current(identity):
            return ""
        release = self.stored[0].fit.get("versions", {}).get("letorbench")
        return f"letorbench {release}, code {str(code)[:8]}"

    @property
    def fits(self) -> dict[int, Mapping[str, Any]]:
        """The fit.json of each fold of the first repeat, by the fold's number."""
        return {fold.number: fold.fit for fold in self.by_repeat[0]}

    @property
    def seconds(self) -> float | None:
        """How long all folds of the first repeat took; None for another system's scores."""
        seconds = [fit["seconds"] for fit in self.fits.values()]
        return None if None in seconds else float(sum(seconds))

    @cached_property
    def queries(self) -> PerQuery:
        """The test queries' values; DataError if the repeats do not hold the same queries."""
        repeats = [[fold.queries for fold in repeat] for repeat in self.by_repeat]
        joined = PerQuery.joined(repeats)
        return replace(joined, algo=self.algo, competes=competes(self.label.algo))

    @cached_property
    def fold_means(self) -> np.ndarray:
        """The means of the folds, (n_repeats, n_folds, n_measures) float64."""
        names = list(self.stored[0].means)
        rows = [[[fold.means[n] for n in names] for fold in each] for each in self.by_repeat]
        return np.array(rows)

    @cached_property
    def values(self) -> dict[str, float]:
        """The mean of the folds' means, by measure; its mean over the repeats."""
        means = mean_of(mean_of(self.fold_means, axis=1), axis=0)
        return dict(zip(self.stored[0].means, means.tolist()))

    @cached_property
    def repeated(self) -> dict[str, tuple[float, ...]]:
        """The mean of the folds' means of each repeat, by measure; empty where nothing is drawn."""
        means = zip(*mean_of(self.fold_means, axis=1).tolist())
        return dict(zip(self.stored[0].means, means)) if self.drawn else {}

    def deviation(self, measure: str) -> float | None:
        """Return a measure's standard deviation over the seeds; None where it is not known."""
        values = self.repeated.get(measure, ())
        return float(np.std(values, ddof=1)) if len(values) > 1 else None

    def with_measures(self, measures: Iterable[str], data_dir: Path | Benchmark) -> SystemResults:
        """Return the results with these measures, computed from the scores where not stored."""
        missing: dict[str, Measure] = {}
        for name in measures:
            stored = name in self.values
            try:
                measure = parse(name)
            except UsageError:
                if stored:
                    continue
                raise DataError(
                    f"{self.algo}: found no values of {name!r}, expected them or --plugin with the "
                    "measure"
                ) from None
            if not (stored and all(fold.has(measure) for fold in self.stored)):
                missing[name] = measure
        if not missing:
            return self
        benchmark = data_of(data_dir, self.stored)
        tests = {fold.number: fold.test for fold in benchmark.folds}
        rules = benchmark.convention
        folds = (_measured(fold, tests[fold.number], missing, rules) for fold in self.stored)
        return replace(self, stored=tuple(folds))

    def with_blanks(self, measures: Iterable[str]) -> SystemResults:
        """Return the results with NaN for those of the measures that they do not hold."""
        missing = tuple(name for name in measures if name not in self.values)
        blank = ({n: np.full(len(f.queries.qids), np.nan) for n in missing} for f in self.stored)
        stored = tuple(map(StoredFold.extended, self.stored, blank))
        return replace(self, stored=stored, blanks=missing)


@dataclass(frozen=True, eq=False)
class DatasetResults:
    """The results of all the systems on one data set, in the order of their names."""

    dataset: str
    rows: tuple[SystemResults, ...]
    #: a line for each finished fold that is left out because a file of it is damaged
    damaged: tuple[str, ...] = ()
    #: a line for each system whose scores could not be measured by what was asked for
    unmeasured: tuple[str, ...] = ()
    #: the folder of the data sets
    data_dir: Path = Path("data")
    #: the data set itself, where a program made it
    given: Benchmark | None = None

    @classmethod
    def of(cls, store: Store, data_dir: Path = Path("data")) -> DatasetResults:
        """Return the results of a data set as its store knows them."""
        rows = []
        for algo, folds in store.rows().items():
            current = current_folds(folds)
            shown = {fold.folder for fold in current}
            others = tuple(fold for fold in folds if fold.folder not in shown)
            rows.append(SystemResults(algo, tuple(current), others))
        return cls(store.dataset, tuple(rows), tuple(store.damaged.values()), data_dir=data_dir)

    @classmethod
    def read(cls, out: Path, dataset: str, data_dir: Path = Path("data")) -> DatasetResults:
        """Read the finished folds of a data set; DataError says that there is none."""
        results = cls.of(Store(out, dataset).look(), data_dir)
        if not (results.rows or results.damaged):
            have = paths.present(out)
            there = f"results there: {', '.join(have)}" if have else "no results there"
            raise DataError(
                f"{out / dataset}: found no finished fold ({there}); "
                f"`letorbench run --dataset {dataset}` makes them"
            )
        return results

    @property
    def conventions(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(row.convention for row in self.rows))

    @property
    def mixed(self) -> bool:
        """Whether the systems were measured by several conventions: they do not compare."""
        return len(self.conventions) > 1

    @cached_property
    def measures(self) -> tuple[str, ...]:
        """Every measure that a system has, in the order of the first that has it."""
        return tuple(dict.fromkeys(name for row in self.rows for name in row.values))

    @cached_property
    def drawn(self) -> tuple[str, ...]:
        """The measures whose standard deviation over seeds is known of some system."""
        known = {n for row in self.rows for n in row.repeated if row.deviation(n) is not None}
        return tuple(name for name in self.measures if name in known)

    @property
    def partial(self) -> tuple[str, ...]:
        """A line for each system that is not finished: `listnet: 3 of 5 folds`."""
        return tuple(f"{row.algo}: {row.partial}" for row in self.rows if row.partial)

    def only(self, algos: Iterable[str]) -> DatasetResults:
        """Return the results of these systems alone."""
        chosen = set(algos)
        return replace(self, rows=tuple(row for row in self.rows if row.algo in chosen))

    def systems_named(self, word: str) -> list[str]:
        """Return the systems that a user means: that of the name, else those of the algorithm."""
        word = word.lower()
        named = [row.algo for row in self.rows if row.algo.lower() == word]
        if "[" in word:
            meant = labels.parse(word).unordered
            return named or [row.algo for row in self.rows if row.label.unordered == meant]
        return named or [row.algo for row in self.rows if row.label.algo == word]

    def data(self) -> Benchmark:
        """Return the data that the scores are of; DataError if those now there are others."""
        folds = [fold for row in self.rows for fold in row.stored]
        return data_of(self.given or self.data_dir, folds)

    def of_other_data(self) -> list[str]:
        """Return lines for folds and systems of other data than those now in the data folder."""
        now, lines = digest_of(self.dataset, self.data_dir), dict[str, list[str]]()
        for row in self.rows:
            data = row.stored[0].identity.get("data")
            left = {fold.number for fold in row.others if fold.identity.get("data") != data}
            if left:
                listed = ", ".join(map(str, sorted(left)))
                lines.setdefault(f"fold {listed}, of other data, is left out", []).append(row.algo)
            if now not in (None, data):
                what = f"every fold is of other data than those now under {self.data_dir}"
                lines.setdefault(what, []).append(row.algo)
        return [f"{self.dataset}, {', '.join(algos)}: {what}" for what, algos in lines.items()]

    def names(self, measures: Measures) -> list[str]:
        """Return measures as text, also those that are not stored; "all" is every stored one."""
        names = measure_names(measures)
        if names == ["all"]:
            return list(self.measures)
        return [name if name in self.measures else str(parse(name)) for name in names]

    def measured(self, measures: Measures) -> DatasetResults:
        """Return the results with these measures, NaN where they cannot be computed."""
        names, rows, lines = self.names(measures), [], []
        for row in self.rows:
            try:
                rows.append(row.with_measures(names, self.given or self.data_dir))
            except (DataError, UsageError) as error:
                lines.append(str(error))
                rows.append(row.with_blanks(names))
        if lines and len(lines) == len(rows):
            raise DataError(f"{lines[0]} (stored are {', '.join(self.measures)})")
        return replace(self, rows=tuple(rows), unmeasured=tuple(dict.fromkeys(lines)))

    def records(self, measures: Sequence[str]) -> list[dict[str, object]]:
        """Return a row per system for programs: its facts, the measures, their deviations."""
        drawn = [name for name in measures if name in self.drawn]
        return [
            {
                "dataset": self.dataset,
                "algo": row.algo,
                "convention": row.convention,
                "features": row.features,
                "folds": row.folds,
                "n_folds": row.n_folds,
                "repeats": row.repeats,
                "partial": bool(row.partial),
                "cut_off": row.cut_off,
                "not_converged": row.not_converged,
                **{name: row.values.get(name) for name in measures},
                **{deviation_column(name): row.deviation(name) for name in drawn},
            }
            for row in self.rows
        ]


def deviation_column(measure: str) -> str:
    """Return the name of the column with a measure's standard deviation over seeds."""
    return f"{measure}-sd"


def require_system(out: Path, dataset: str, algo: str) -> SystemResults:
    """Read a system's results, by its name or its algorithm's; DataError if it has none."""
    results = DatasetResults.of(Store(out, dataset).look())
    for row in results.only(results.systems_named(algo)[:1]).rows:
        return row
    raise DataError(
        next(iter(results.damaged), "")
        or f"{out / dataset / algo}: found no finished fold; "
        f"`letorbench run --dataset {dataset} --algo {algo}` makes them"
    )


def data_of(data_dir: Path | Benchmark, folds: Sequence[StoredFold]) -> Benchmark:
    """Return the data that stored folds are of; DataError if those now there are others."""
    null = folds[0].identity.get("null", "error")
    null = "keep" if null == "error" else null  # these data are in the cache
    if isinstance(data_dir, Benchmark):
        benchmark = with_convention(data_dir, folds[0].convention)
        data_dir = Path(data_dir.name)
    else:
        benchmark = load(folds[0].key.dataset, data_dir, folds[0].convention, null)
    numbers = {fold.number for fold in benchmark.folds}
    for fold in folds:
        other = benchmark.provenance["digest"] != fold.identity.get("data")
        if other or fold.number not in numbers:
            raise DataError(
                f"{fold.folder}: found scores of other data: its data are not those now under "
                f"{data_dir}; run it again"
            )
    return benchmark


def _measured(
    fold: StoredFold, test: QuerySet, measures: Mapping[str, Measure], rules: Convention
) -> StoredFold:
    """Return a fold with further measures of its scores of the test part."""
    scores, parsed = fold.scores(test.n_docs), list(measures.values())
    table = measured(fold.label.algo, scores, test, parsed, rules)
    kept = np.isin(test.qids, fold.queries.qids)
    if not np.array_equal(test.qids[kept], fold.queries.qids):
        raise DataError(f"{fold.folder}: found queries that its data do not have; run it again")
    codes = {name: each.code for name, each in measures.items()}
    return fold.extended(dict(zip(measures, table[kept].T)), codes)


def resplits(frame: DatasetResults, out: Path) -> dict[int, DatasetResults]:
    """Return the results of the draws of a data set's folds, by the draws' numbers."""
    data = {row.algo: row.stored[0].identity.get("data") for row in frame.rows}
    folders = sorted(Path(out).glob("*@split*"))
    names = [folder.name for folder in folders if folder.name != frame.dataset]
    numbers = {
        dataset_name(n).resplit: n for n in names if dataset_name(n).official == frame.dataset
    }
    by_number = {}
    for number, name in sorted(numbers.items()):
        drawn = DatasetResults.of(Store(out, name).look(), frame.data_dir)
        whole = drawn.only(
            row.algo
            for row in drawn.rows
            if row.algo in data
            and row.folds == row.n_folds
            and row.stored[0].identity.get("data") == digest_of_draw(data[row.algo], number)
        )
        if whole.rows or whole.damaged:
            by_number[number] = whole
    return by_number


def write_tables(
    store: Store, algos: Collection[str] = (), data_dir: Path = Path("data")
) -> DatasetResults:
    """Write the CSV files of a data set, its algorithms and outdated ones; return its results."""
    if not paths.finished(store.out, store.dataset):
        return DatasetResults.of(store.look(), data_dir)
    folder = store.out / store.dataset
    with one_writer(folder, store.out):
        results = DatasetResults.of(store.look(), data_dir)
        for row in results.rows:
            if not (row.algo in algos or _outdated(row)):
                continue
            of_algo, tables = row.stored[0].folder_of_algo, algorithm_tables(row)
            refuse_links(store.out, of_algo)
            if paths.REPEATS not in tables:
                (of_algo / paths.REPEATS).unlink(missing_ok=True)
            for name, text in tables.items():  # who finds the last one finds all up to date
                with write_unlocked(of_algo / name) as file:
                    file.write(text)
        with write_unlocked(folder / paths.SUMMARY) as file:
            file.write(summary_csv(results))
    return results


def _outdated(row: SystemResults) -> bool:
    """Return whether a fold is newer than the table that is written last."""
    try:
        path = row.stored[0].folder_of_algo / paths.FOLDS
        return path.lstat().st_mtime_ns < max(fold.written for fold in row.stored)
    except OSError:
        return True


def summary_csv(results: DatasetResults) -> str:
    """Return the lines of a data set's summary.csv."""
    names = [*HEAD, *results.measures, *map(deviation_column, results.drawn)]
    lines = [[record[name] for name in names] for record in results.records(results.measures)]
    return escaping.csv_table([names, *lines])


def algorithm_tables(row: SystemResults) -> dict[str, str]:
    """Return the text of an algorithm's CSV files by their names, folds.csv last."""
    queries, repeats, means = row.queries, row.by_repeat, row.fold_means
    columns = [queries.folds, queries.qids, *queries.values.values()]
    lines = zip(*(column.tolist() for column in columns))
    tables = {paths.QUERIES: escaping.csv_table([["fold", "qid", *queries.values], *lines])}

    def text(head: str, labels: Iterable[object], values: np.ndarray) -> str:
        lines = [[label, *line] for label, line in zip(labels, values.tolist())]
        return escaping.csv_table([[head, *row.stored[0].means], *lines])

    if len(repeats) > 1:
        each = mean_of(means, axis=1)
        numbers = [repeat[0].key.repeat for repeat in repeats]
        table = np.vstack([each, each.mean(axis=0), each.std(axis=0, ddof=1)])
        tables[paths.REPEATS] = text("repeat", [*numbers, "mean", "sd"], table)
    table = np.vstack([mean_of(means, axis=0), mean_of(means, axis=(0, 1))])
    tables[paths.FOLDS] = text("fold", [*(fold.number for fold in repeats[0]), "mean"], table)
    return tables
