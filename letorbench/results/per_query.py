"""The per-query values that a run stored: what tests, intervals and reports are made of."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from letorbench.errors import DataError


@dataclass(frozen=True, eq=False)
class PerQuery:
    """One algorithm's values on every test query of its folds.

    folds:  (n_queries,) int64, the fold whose test part holds the query.
    qids:   (n_queries,) int64.
    values: measure -> (n_queries,) float64.
    """

    algo: str
    folds: np.ndarray
    qids: np.ndarray
    values: Mapping[str, np.ndarray]

    def mean(self, measure: str) -> float:
        """The mean of the folds' means, as LETOR reports it."""
        column = self.values[measure]
        return float(np.mean([column[self.folds == k].mean() for k in np.unique(self.folds)]))


def read_per_query(out: Path, dataset: str, algo: str) -> PerQuery:
    """Read results/<dataset>/<algo>/per_query.csv; DataError names file, line and what is wrong."""
    path = Path(out) / dataset / algo / "per_query.csv"
    try:
        with path.open(newline="", encoding="utf-8") as file:
            lines = list(csv.reader(file))
    except OSError as error:
        raise DataError(
            f"{path}: {error.strerror}; `letorbench run --dataset {dataset} --algo {algo}` makes it"
        ) from None
    if len(lines) < 2 or lines[0][:2] != ["fold", "qid"]:
        raise DataError(f"{path}:1: found no header fold,qid,... with rows, expected one")
    names = lines[0][2:]
    for number, line in enumerate(lines[1:], 2):
        if len(line) != len(lines[0]):
            raise DataError(
                f"{path}:{number}: found {len(line)} cells, expected {len(lines[0])}"
            )
    try:
        keys = np.array([line[:2] for line in lines[1:]], dtype=np.int64)
        table = np.array([line[2:] for line in lines[1:]], dtype=np.float64)
    except ValueError as error:
        raise DataError(f"{path}: {error}, expected numbers") from None
    return PerQuery(algo, keys[:, 0], keys[:, 1], dict(zip(names, table.T)))


def check_paired(dataset: str, systems: Sequence[PerQuery]) -> None:
    """DataError unless all systems hold the same queries in the same order."""
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
