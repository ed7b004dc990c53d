"""A measure's value on every test query: what tests, intervals and reports are made of."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from letorbench.datasets.arrays import read_only
from letorbench.errors import DataError
from letorbench.files import write_atomically


@dataclass(frozen=True, eq=False)
class PerQuery:
    """One algorithm's values on every test query of its folds, in read-only arrays.

    Attributes
    ----------
    algo : str
        The name of the algorithm.
    folds : ndarray of shape (n_queries,), int64
        The fold whose test part holds the query.
    qids : ndarray of shape (n_queries,), str
        The queries' ids.
    values : mapping of str to ndarray of shape (n_queries,), float64
        The values of each measure, their means where there are repeats.
    repeated : mapping of str to ndarray of shape (n_repeats, n_queries), float64
        The values of each repeat; empty where there is one.
    """

    algo: str
    folds: np.ndarray
    qids: np.ndarray
    values: Mapping[str, np.ndarray]
    repeated: Mapping[str, np.ndarray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("folds", "qids"):
            object.__setattr__(self, name, read_only(getattr(self, name)))
        for name in ("values", "repeated"):
            columns = {key: read_only(column) for key, column in getattr(self, name).items()}
            object.__setattr__(self, name, columns)

    def mean(self, measure: str) -> float:
        """Return the mean of the folds' means, as LETOR reports it."""
        return mean_of_folds(self.values[measure], self.folds)

    def fold_means(self, measure: str) -> dict[int, float]:
        """Return the mean of each fold, by its number."""
        values = self.values[measure]
        return {int(k): float(values[self.folds == k].mean()) for k in np.unique(self.folds)}

    def by_repeat(self, measure: str) -> np.ndarray:
        """Return the values of a measure in each repeat, (n_repeats, n_queries)."""
        return self.repeated.get(measure, self.values[measure][None])

    def means(self, measure: str) -> tuple[float, ...]:
        """Return the mean of the folds' means of each repeat."""
        return tuple(mean_of_folds(row, self.folds) for row in self.by_repeat(measure))

    def only(self, folds: np.ndarray) -> PerQuery:
        """Return the values on some of the folds."""
        kept = np.isin(self.folds, folds)
        if kept.all():
            return self
        return PerQuery(
            self.algo,
            self.folds[kept],
            self.qids[kept],
            {name: column[kept] for name, column in self.values.items()},
            {name: table[:, kept] for name, table in self.repeated.items()},
        )

    @classmethod
    def averaged(cls, repeats: Sequence[PerQuery]) -> PerQuery:
        """Return the means of an algorithm's repeats, with the values of each; DataError where
        they do not hold the same queries.
        """
        first = repeats[0]
        if len(repeats) == 1:
            return first
        check_paired(first.algo, repeats)
        repeated = {
            name: np.stack([repeat.values[name] for repeat in repeats]) for name in first.values
        }
        means = {name: table.mean(axis=0) for name, table in repeated.items()}
        return cls(first.algo, first.folds, first.qids, means, repeated)

    @classmethod
    def joined(cls, parts: Sequence[PerQuery]) -> PerQuery:
        """Join parts that have the same algorithm and measures."""
        return cls(
            parts[0].algo,
            np.concatenate([part.folds for part in parts]),
            np.concatenate([part.qids for part in parts]),
            {
                name: np.concatenate([part.values[name] for part in parts])
                for name in parts[0].values
            },
        )


def mean_of_folds(values: np.ndarray, folds: np.ndarray) -> float:
    """Return the mean of the folds' means, as LETOR reports it; values, folds: (n_queries,).

    Examples
    --------
    >>> mean_of_folds(np.array([0.0, 0.0, 1.0]), np.array([1, 1, 2]))
    0.5
    """
    return float(np.mean([values[folds == fold].mean() for fold in np.unique(folds)]))


def write_fold_queries(path: Path, queries: PerQuery) -> None:
    """Write the values of one fold: the qid, then a column for each measure."""
    table = np.stack(list(queries.values.values()), axis=1).tolist()
    with write_atomically(path) as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(["qid", *queries.values])
        lines.writerows([qid, *row] for qid, row in zip(queries.qids.tolist(), table))


def read_fold_queries(path: Path, algo: str, number: int) -> PerQuery:
    """Read what `write_fold_queries` wrote for a fold; DataError if the file holds other things."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            header, *lines = csv.reader(file)
        qids = np.array([line[0] for line in lines], dtype=str)
        table = np.array([line[1:] for line in lines], dtype=np.float64)
        values = dict(zip(header[1:], table.T, strict=True))
    except OSError as error:
        raise DataError(f"{path}: {error.strerror}; run it again") from None
    except (ValueError, LookupError) as error:
        raise DataError(f"{path}: {error}; expected a qid and numbers in each line") from None
    return PerQuery(algo, np.full(len(qids), number, dtype=np.int64), qids, values)


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
