"""A measure's value on every test query, for tests, intervals and reports."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from letorbench import escaping
from letorbench.datasets.arrays import read_only
from letorbench.errors import DataError
from letorbench.files import read_file, write_unlocked

if TYPE_CHECKING:
    import pandas as pd


#: the columns of the weights in a fold's file; NDCG's stand there where they are others
WEIGHTS = ("weight", "ndcg-weight")


@dataclass(frozen=True, eq=False)
class PerQuery:
    """One algorithm's values on every test query of its folds, in read-only arrays."""

    algo: str
    #: (n_queries,) int64: the fold whose test part holds the query
    folds: np.ndarray
    #: (n_queries,) str
    qids: np.ndarray
    #: from a measure to (n_repeats, n_queries) float64
    tables: Mapping[str, np.ndarray]
    #: (2, n_queries) float64, where means are weighted: what each query counts in that of its fold,
    #: and what its NDCG is multiplied by; (n_queries,) where both are the same
    weights: np.ndarray | None = field(default=None, repr=False)
    #: False for `ideal`, whatever its row is called
    competes: bool = True

    def __post_init__(self) -> None:
        for name in ("folds", "qids"):
            object.__setattr__(self, name, read_only(getattr(self, name)))
        tables = {name: read_only(np.atleast_2d(table)) for name, table in self.tables.items()}
        object.__setattr__(self, "tables", tables)
        if self.weights is not None:
            object.__setattr__(self, "weights", np.atleast_2d(self.weights)[[0, -1]])

    @cached_property
    def values(self) -> Mapping[str, np.ndarray]:
        """The values of each measure, (n_queries,) float64: their means over the repeats."""
        return {name: read_only(table.mean(axis=0)) for name, table in self.tables.items()}

    @cached_property
    def keys(self) -> pd.MultiIndex:
        """The fold and the qid of each value."""
        import pandas as pd

        return pd.MultiIndex.from_arrays([self.folds, self.qids])

    def relative_weights(self, measure: str) -> np.ndarray:
        """Return query weight / mean weight of the fold's queries with a value, (n_queries,)."""
        if self.weights is None:
            return np.ones(len(self.qids))
        there = ~np.isnan(self.values[measure])
        _, fold = np.unique(self.folds, return_inverse=True)
        with np.errstate(invalid="ignore", divide="ignore"):  # a fold without a value has no mean
            means = np.bincount(fold, self.weights[0] * there) / np.bincount(fold, there)
            return self.weights[int(measure.partition("@")[0] == "ndcg")] / means[fold]

    @property
    def in_means(self) -> PerQuery:
        """The values times their relative weights, whose plain means are the weighted ones."""
        if self.weights is None:
            return self
        tables = {name: table * self.relative_weights(name) for name, table in self.tables.items()}
        return replace(self, tables=tables, weights=None)

    def counted(self, measure: str) -> PerQuery:
        """Return the queries that have a value of the measure."""
        return self.at(~np.isnan(self.values[measure]))

    def mean(self, measure: str) -> float:
        """Return the mean of the folds' means, as LETOR reports it."""
        return mean_of_folds(self.values[measure] * self.relative_weights(measure), self.folds)

    def fold_means(self, measure: str) -> dict[int, float]:
        """Return the mean of each fold, by its number."""
        values = self.values[measure] * self.relative_weights(measure)
        return {int(k): float(mean_of(values[self.folds == k])) for k in np.unique(self.folds)}

    def means(self, measure: str) -> tuple[float, ...]:
        """Return the mean of the folds' means of each repeat."""
        rows = self.tables[measure] * self.relative_weights(measure)
        return tuple(mean_of_folds(row, self.folds) for row in rows)

    def only(self, folds: np.ndarray) -> PerQuery:
        """Return the values on some of the folds."""
        return self.at(np.isin(self.folds, folds))

    def at(self, kept: np.ndarray) -> PerQuery:
        """Return the values of some of the queries; kept: (n_queries,) bool."""
        if kept.all():
            return self
        tables = {name: table[:, kept] for name, table in self.tables.items()}
        weights = None if self.weights is None else self.weights[:, kept]
        part = {"folds": self.folds[kept], "qids": self.qids[kept], "tables": tables}
        return replace(self, **part, weights=weights)

    @classmethod
    def joined(cls, repeats: Sequence[Sequence[PerQuery]]) -> PerQuery:
        """Join the folds of each repeat; DataError if these do not hold the same queries."""
        whole = [
            cls(
                folds[0].algo,
                np.concatenate([fold.folds for fold in folds]),
                np.concatenate([fold.qids for fold in folds]),
                {n: np.concatenate([f.tables[n][0] for f in folds]) for n in folds[0].tables},
                None if folds[0].weights is None else np.concatenate([f.weights for f in folds], 1),
            )
            for folds in repeats
        ]
        first = whole[0]
        check_paired(first.algo, whole)
        tables = {n: np.concatenate([each.tables[n] for each in whole]) for n in first.tables}
        return replace(first, tables=tables)


def mean_of(values: np.ndarray, axis: int | tuple[int, ...] | None = None) -> np.ndarray:
    """Return the mean over axes of the values that are not NaN; NaN where there is none.

    Examples
    --------
    >>> mean_of(np.array([[1.0, np.nan], [2.0, np.nan]]), axis=0)
    array([1.5, nan])
    """
    missing = np.isnan(values)
    if values.size and not missing.any():
        return values.mean(axis)
    with np.errstate(invalid="ignore"):
        return np.where(missing, 0.0, values).sum(axis) / (~missing).sum(axis)


def mean_of_folds(values: np.ndarray, folds: np.ndarray) -> float:
    """Return the mean of the folds' means, as LETOR reports it; values, folds: (n_queries,).

    A fold in which no value is a number is left out.

    Examples
    --------
    >>> mean_of_folds(np.array([0.0, 0.0, 1.0]), np.array([1, 1, 2]))
    0.5
    """
    return float(mean_of(np.array([mean_of(values[folds == fold]) for fold in np.unique(folds)])))


def write_fold_queries(path: Path, queries: PerQuery) -> None:
    """Write the values of one fold: the qid, weights that count, a column for each measure."""
    weights = [] if queries.weights is None else list(queries.weights)
    differ = bool(weights) and not np.array_equal(*weights)
    values = {**dict(zip(WEIGHTS[: 1 + differ], weights)), **queries.values}
    qids = [escaping.formula_as_text(qid) for qid in queries.qids.tolist()]
    with write_unlocked(path) as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(["qid", *values])
        lines.writerows(zip(qids, *(column.tolist() for column in values.values())))


def read_fold_queries(path: Path, algo: str, number: int) -> PerQuery:
    """Read what `write_fold_queries` wrote for a fold; DataError if the file holds other things."""
    try:
        text = io.StringIO(read_file(path).decode(), newline="")
        header, *lines = csv.reader(text)
        qids = np.array([escaping.of_csv(line[0]) for line in lines], dtype=str)
        table = np.array([[*map(float, line[1:])] for line in lines], dtype=np.float64)
        if np.isinf(table).any():
            raise ValueError("found an infinite value")
        table.flags.writeable = False  # and with it every column
        values = dict(zip(header[1:], table.reshape(len(lines), len(header) - 1).T, strict=True))
    except OSError as error:
        raise DataError(f"{path}: {error.strerror}; run it again") from None
    except (ValueError, LookupError, csv.Error) as error:
        raise DataError(f"{path}: {error}; expected a qid and numbers in each line") from None
    weights = [values.pop(name) for name in WEIGHTS if name in values]
    folds = np.full(len(qids), number, dtype=np.int64)
    return PerQuery(algo, folds, qids, values, np.stack(weights) if weights else None)


def check_paired(dataset: str, systems: Sequence[PerQuery]) -> None:
    """Raise DataError unless all systems hold the same queries in the same order."""
    first = systems[0]
    for other in systems[1:]:
        if np.array_equal(first.folds, other.folds) and np.array_equal(first.qids, other.qids):
            continue
        folds = [",".join(map(str, np.unique(each.folds))) for each in (first, other)]
        raise DataError(
            f"{dataset}: {first.algo} has {len(first.qids)} queries of folds {folds[0]}, "
            f"{other.algo} {len(other.qids)} of folds {folds[1]}; expected the same queries: "
            "run the missing folds, or --force"
        )
