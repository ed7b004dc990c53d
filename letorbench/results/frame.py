"""The frame of a data set: a row a label, with what its queries' values are and what made them.

Tables, figures, tests and reports are functions of frames. A frame is made of the finished folds,
so that a result is shown as soon as a fold of it is finished. Measures that the folds do not hold
are computed from their scores and the data: nothing is retrained.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from letorbench.datasets.load import digest_of, load
from letorbench.datasets.queryset import Benchmark
from letorbench.errors import DataError, UsageError
from letorbench.measures import Measure, parse
from letorbench.results import paths
from letorbench.results.labels import Label
from letorbench.results.measuring import measured
from letorbench.results.per_query import PerQuery, mean_of
from letorbench.results.store import Store, StoredFold, by_repeat, current_folds, joined_queries
from letorbench.source import is_current


@dataclass(frozen=True, eq=False)
class Row:
    """One label on one data set."""

    algo: str
    #: its finished folds of one or more repeats, all of one experiment
    stored: tuple[StoredFold, ...]
    #: the queries' values, where these measures were computed that the folds do not hold
    measured: PerQuery | None = field(default=None, repr=False)
    computed: tuple[str, ...] = ()
    #: its finished folds of other experiments, which are left out
    others: tuple[StoredFold, ...] = ()

    @property
    def label(self) -> Label:
        """What made its numbers."""
        return self.stored[0].label

    @property
    def convention(self) -> str:
        """The convention that it was measured by."""
        return self.stored[0].convention

    @property
    def features(self) -> str | None:
        """The transformation of the features; None where another system made the scores."""
        return self.stored[0].identity.get("features")

    @property
    def folds(self) -> int:
        """How many of its folds are finished."""
        return len(self.stored) // self.repeats

    @property
    def n_folds(self) -> int:
        """How many folds the data set has."""
        return self.stored[0].n_folds

    @property
    def repeats(self) -> int:
        """How many repeats have all these folds."""
        return len(by_repeat(self.stored))

    @property
    def n_repeats(self) -> int | None:
        """How many seeds were asked for last; None where nothing is drawn."""
        return max(self.stored, key=lambda fold: fold.written).repeats

    @property
    def drawn(self) -> bool:
        """Whether other seeds give other numbers."""
        return self.repeats > 1 or self.n_repeats is not None

    @property
    def cut_off(self) -> int:
        """How many of the finished folds have trainings that a time limit ended."""
        return sum(fold.cut_off for fold in self.stored)

    @property
    def partial(self) -> str:
        """What is missing, not run or not finished yet: "3 of 5 folds"; "" for nothing."""
        if self.folds < self.n_folds:
            return f"{self.folds} of {self.n_folds} folds"
        if self.repeats < (self.n_repeats or 1):
            return f"{self.repeats} of {self.n_repeats} repeats"
        return ""

    @property
    def version(self) -> str:
        """The letorbench and the digest of its code that made the scores; "" for those of now."""
        identity = self.stored[0].identity
        code = identity.get("code")
        if code is None or is_current(identity):
            return ""
        return f"letorbench {identity.get('letorbench')}, code {str(code)[:8]}"

    @property
    def fits(self) -> dict[int, Mapping[str, Any]]:
        """The fit.json of each fold of the first repeat, by the fold's number."""
        return {fold.number: fold.fit for fold in by_repeat(self.stored)[0]}

    @property
    def seconds(self) -> float | None:
        """How long all folds of the first repeat took; None for another system's scores."""
        seconds = [fit["seconds"] for fit in self.fits.values()]
        return None if None in seconds else float(sum(seconds))

    @cached_property
    def queries(self) -> PerQuery:
        """The test queries' values; DataError if a file of them is damaged."""
        found = joined_queries(self.stored) if self.measured is None else self.measured
        return replace(found, algo=self.algo)

    @cached_property
    def fold_means(self) -> np.ndarray:
        """The stored measures' means, (n_repeats, n_folds, n_measures) float64."""
        repeats, names = by_repeat(self.stored), list(self.stored[0].means)
        return np.array([[[fold.means[n] for n in names] for fold in each] for each in repeats])

    @cached_property
    def values(self) -> dict[str, float]:
        """The mean of the folds' means, by measure; its mean over the repeats."""
        means = mean_of(mean_of(self.fold_means, axis=1), axis=0).tolist()
        stored = dict(zip(self.stored[0].means, means))
        return stored | {name: self.queries.mean(name) for name in self.computed}

    @cached_property
    def repeated(self) -> dict[str, tuple[float, ...]]:
        """The mean of the folds' means of each repeat, by measure; empty where nothing is drawn."""
        if not self.drawn:
            return {}
        means = zip(*mean_of(self.fold_means, axis=1).tolist())
        return dict(zip(self.stored[0].means, means)) | {
            n: self.queries.means(n) for n in self.computed
        }

    def deviation(self, measure: str) -> float | None:
        """Return a measure's standard deviation over the seeds.

        It is None where nothing is drawn, and where there is one seed: it is not known then.
        """
        values = self.repeated.get(measure, ())
        return float(np.std(values, ddof=1)) if len(values) > 1 else None

    def with_measures(self, measures: Iterable[str], data_dir: Path) -> Row:
        """Return the row with these measures.

        What its folds do not hold is measured from their scores, by the convention of their run.
        DataError says that the data now there are not those of the run.
        """
        wanted = {name: self._unstored(name) for name in measures}
        parsed = [measure for measure in wanted.values() if measure is not None]
        missing = [name for name in measures if wanted[name] is not None]
        if not missing:
            return self
        benchmark = data_of(data_dir, self.stored)
        tests = {fold.number: fold.test for fold in benchmark.folds}

        def of(fold: StoredFold) -> np.ndarray:
            test = tests[fold.number]
            table = measured(
                fold.label.algo, fold.scores(test.n_docs), test, parsed, benchmark.convention
            )
            kept = np.isin(test.qids, fold.queries.qids)
            if not np.array_equal(test.qids[kept], fold.queries.qids):
                raise DataError(
                    f"{fold.folder}: found queries that its data do not have; run it again"
                )
            return table[kept]

        repeats = [np.concatenate([of(f) for f in repeat]) for repeat in by_repeat(self.stored)]
        # (n_measures, n_repeats, n_queries)
        return self._joined(dict(zip(missing, np.stack(repeats).transpose(2, 0, 1))))

    def _unstored(self, name: str) -> Measure | None:
        """Return the measure of a name if it must be computed, None if it is stored.

        What an older form of a measure of the user's own gave is not used, unless the measure
        itself is not at hand. DataError says that it is needed.
        """
        try:
            measure = parse(name)
        except UsageError:
            if name in self.values:
                return None
            raise DataError(
                f"{self.algo}: found no values of {name!r}, expected them or --plugin with the "
                "measure"
            ) from None
        stored = name in self.values and all(fold.has(measure) for fold in self.stored)
        return None if stored else measure

    def without_value(self, measures: Iterable[str]) -> Row:
        """Return the row with NaN for those of the measures that it does not hold."""
        nan = np.full((self.repeats, len(self.queries.qids)), np.nan)
        return self._joined({name: nan for name in measures if name not in self.values})

    def _joined(self, tables: Mapping[str, np.ndarray]) -> Row:
        queries = replace(self.queries, tables={**self.queries.tables, **tables})
        return replace(self, measured=queries, computed=(*self.computed, *tables))


@dataclass(frozen=True, eq=False)
class Frame:
    """All the rows of one data set, in the order of their names."""

    dataset: str
    rows: tuple[Row, ...]
    #: a line for each finished fold that is left out because a file of it is damaged
    damaged: tuple[str, ...] = ()
    #: a line for each row whose scores could not be measured by what was asked for
    unmeasured: tuple[str, ...] = ()

    @classmethod
    def of(cls, store: Store, dataset: str) -> Frame:
        """Return the rows of a data set as the store knows them."""
        rows = []
        for algo in store.algorithms(dataset):
            current = current_folds(folds := store.of(dataset, algo))
            shown = {fold.folder for fold in current}
            others = tuple(fold for fold in folds if fold.folder not in shown)
            rows.append(Row(algo, tuple(current), others=others))
        damaged = (line for key, line in store.damaged.items() if key.dataset == dataset)
        return cls(dataset, tuple(rows), tuple(damaged))

    @property
    def conventions(self) -> tuple[str, ...]:
        """The conventions of the rows, each once."""
        return tuple(dict.fromkeys(row.convention for row in self.rows))

    @property
    def mixed(self) -> bool:
        """Whether the rows were measured by several conventions: they do not compare."""
        return len(self.conventions) > 1

    @property
    def measures(self) -> tuple[str, ...]:
        """Every measure that a row has, in the order of the first row that has it."""
        return tuple(dict.fromkeys(name for row in self.rows for name in row.values))

    @property
    def drawn(self) -> tuple[str, ...]:
        """The measures whose standard deviation over seeds is known of some row."""
        rows = self.rows
        return tuple(
            name for name in self.measures if any(row.deviation(name) is not None for row in rows)
        )

    @property
    def partial(self) -> tuple[str, ...]:
        """A line for each row that is not finished: `listnet: 3 of 5 folds`."""
        return tuple(f"{row.algo}: {row.partial}" for row in self.rows if row.partial)

    def only(self, algos: Iterable[str]) -> Frame:
        """Return the frame with these rows alone."""
        chosen = set(algos)
        return replace(self, rows=tuple(row for row in self.rows if row.algo in chosen))

    def meant(self, word: str) -> list[str]:
        """Return the rows that a user means: the one of that name, else those of that algorithm."""
        word = word.lower()
        own = [row.algo for row in self.rows if row.algo.lower() == word]
        return own or [row.algo for row in self.rows if row.label.algo == word]

    def measured(self, measures: Sequence[str], data_dir: Path) -> Frame:
        """Return the frame with these measures in every row, computed where they are not stored.

        They are NaN in a row that cannot be measured, of which `unmeasured` has a line; DataError
        says that this is every row.
        """
        rows, lines = [], []
        for row in self.rows:
            try:
                rows.append(row.with_measures(measures, data_dir))
            except (DataError, UsageError) as error:
                lines.append(str(error))
                rows.append(row.without_value(measures))
        if lines and len(lines) == len(rows):
            raise DataError(f"{lines[0]} (stored are {', '.join(self.measures)})")
        return replace(self, rows=tuple(rows), unmeasured=tuple(dict.fromkeys(lines)))

    def records(self, measures: Sequence[str]) -> list[dict[str, object]]:
        """Return what programs read of each row: what it is of, the measures, their deviations."""
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
                **{name: row.values.get(name) for name in measures},
                **{deviation_column(name): row.deviation(name) for name in drawn},
            }
            for row in self.rows
        ]


def deviation_column(measure: str) -> str:
    """Return the name of the column with a measure's standard deviation over seeds."""
    return f"{measure}-sd"


def require_row(out: Path, dataset: str, algo: str) -> Row:
    """Read a row's last experiment, by its name or its algorithm's if that has no other.

    DataError if no fold of it is finished.
    """
    store = Store(out).look(dataset)
    frame = Frame.of(store, dataset)
    for row in frame.rows:
        if row.algo in frame.meant(algo)[:1]:
            return row
    raise DataError(
        next(iter(store.damaged.values()), "")
        or f"{paths.algo_folder(out, dataset, algo)}: found no finished fold; "
        f"`letorbench run --dataset {dataset} --algo {algo}` makes them"
    )


def of_other_data(frame: Frame, data_dir: Path) -> list[str]:
    """Return a line for what is left out as of other data, and for rows not of the data there."""
    now, rows = digest_of(frame.dataset, data_dir), dict[str, list[str]]()
    for row in frame.rows:
        data = row.stored[0].identity.get("data")
        left = {fold.number for fold in row.others if fold.identity.get("data") != data}
        if left:
            listed = ", ".join(map(str, sorted(left)))
            rows.setdefault(f"fold {listed}, of other data, is left out", []).append(row.algo)
        if now not in (None, data):
            what = f"every fold is of other data than those now under {data_dir}"
            rows.setdefault(what, []).append(row.algo)
    return [f"{frame.dataset}, {', '.join(algos)}: {what}" for what, algos in rows.items()]


def data_of(data_dir: Path, folds: Sequence[StoredFold]) -> Benchmark:
    """Return the data that stored folds are of; DataError if those now there are others."""
    null = folds[0].identity.get("null", "error")
    null = "keep" if null == "error" else null  # these data are in the cache
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
