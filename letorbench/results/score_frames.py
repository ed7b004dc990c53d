"""Stored scores of validation and test parts as DataFrames: what ensembles are made of."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from letorbench.datasets.load import load
from letorbench.datasets.queryset import Benchmark
from letorbench.errors import DataError, UsageError
from letorbench.results import paths
from letorbench.results.scores import read_scores
from letorbench.results.stored_folds import StoredFold
from letorbench.results.summary import require_folds

if TYPE_CHECKING:
    from pandas import DataFrame

Part = Literal["validation", "test"]
#: the file of each part's scores
FILES = {"validation": paths.VALIDATION, "test": paths.SCORES}


def scores_frame(
    out: Path, data_dir: Path, dataset: str, algos: Sequence[str], part: Part
) -> DataFrame:
    """Return a row for each document of a part of each fold, a column of scores an algorithm.

    Parameters
    ----------
    out, data_dir : Path
        The folders of the results and of the data sets.
    dataset : str
        The name of the data set.
    algos : sequence of str
        The algorithms. One with several seeds has the mean of its seeds' scores.
    part : {"validation", "test"}
        The part of the folds.

    Returns
    -------
    DataFrame
        The columns are dataset, fold, qid, label, then the algorithms. Documents are in the order
        of the data files. A fold that an algorithm has not finished is NaN in its column.

    Raises
    ------
    UsageError
        There is no such part.
    DataError
        The scores are of other data than those at hand, or were not stored.
    """
    import pandas as pd

    if part not in FILES:
        raise UsageError(f"found part={part!r}, expected one of {', '.join(FILES)}")
    stored = {algo: require_folds(out, dataset, algo) for algo in algos}
    benchmark = data_of(data_dir, dataset, next(iter(stored.values())))
    frames = []
    for fold in benchmark.folds:
        queries = fold.test if part == "test" else fold.validation
        columns: dict[str, object] = {
            "dataset": dataset,
            "fold": fold.number,
            "qid": np.repeat(queries.qids, queries.lengths),
            "label": queries.labels,
        }
        for algo, folds in stored.items():
            own = [each for each in folds if each.number == fold.number]
            columns[algo] = _mean_scores(own, part, queries.n_docs, benchmark)
        frames.append(pd.DataFrame(columns))
    found = pd.concat(frames, ignore_index=True)
    return found.dropna(subset=list(algos), how="all").reset_index(drop=True)


def data_of(data_dir: Path, dataset: str, folds: Sequence[StoredFold]) -> Benchmark:
    """Return the data that stored folds are of, as they were read.

    Raises
    ------
    DataError
        The data now there are others.
    """
    identity = folds[0].identity
    benchmark = load(dataset, data_dir, folds[0].convention, identity.get("null", "error"))
    _require_data(benchmark, data_dir, folds)
    return benchmark


def _require_data(benchmark: Benchmark, data_dir: object, folds: Sequence[StoredFold]) -> None:
    for fold in folds:
        if benchmark.provenance["digest"] != fold.identity.get("data"):
            raise DataError(
                f"{fold.folder}: its data are not those now under {data_dir}, so its scores "
                "cannot be measured; run it again"
            )


def _mean_scores(
    folds: Sequence[StoredFold], part: Part, n_docs: int, benchmark: Benchmark
) -> np.ndarray:
    """Return the mean over seeds (n_docs,), NaN where no seed has finished the fold."""
    _require_data(benchmark, "the data folder", folds)
    files = [fold.folder / FILES[part] for fold in folds]
    for file in files:
        if not file.is_file():
            raise DataError(f"{file}: found no {part} scores; another system's have none")
    if not files:
        return np.full(n_docs, np.nan)
    return np.mean([read_scores(file, n_docs) for file in files], axis=0)
