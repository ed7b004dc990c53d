"""Stored results as pandas DataFrames. pandas is imported when one is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from letorbench.errors import DataError, UsageError
from letorbench.results import paths
from letorbench.results.measuring import data_of
from letorbench.results.scores import read_scores
from letorbench.results.store import StoredFold
from letorbench.results.summary import Summary, deviation_column, require_folds

if TYPE_CHECKING:
    from pandas import DataFrame

#: the file of each part's scores
SCORE_FILES = {"validation": paths.VALIDATION, "test": paths.SCORES}


def frame_of(summaries: list[Summary]) -> DataFrame:
    """Return a row for each algorithm of each data set.

    Returns
    -------
    DataFrame
        The columns are dataset, algo, convention, features (the transformation), folds (how
        many are finished), n_folds (how many the data set has), repeats (finished seeds),
        partial, cut_off (in how many of the finished folds the time limit ended a training), the
        mean of the folds' means for each measure and, where there are repeats, its standard
        deviation over seeds, `<measure>-sd`, which is NaN where nothing is drawn.
    """
    import pandas as pd

    drawn = dict.fromkeys(name for summary in summaries for name in summary.drawn)
    return pd.DataFrame(
        {
            "dataset": summary.dataset,
            "algo": row.algo,
            "convention": row.convention,
            "features": row.features,
            "folds": row.folds,
            "n_folds": row.n_folds,
            "repeats": row.repeats,
            "partial": bool(row.partial),
            "cut_off": row.cut_off,
            **row.values,
            **{deviation_column(name): row.deviation(name) for name in drawn},
        }
        for summary in summaries
        for row in summary.rows
    )


def folds_frame(out: Path, dataset: str, algo: str) -> DataFrame:
    """Return a row for each finished fold of each repeat.

    The columns are dataset, algo, repeat, fold, and the mean of each measure.
    """
    import pandas as pd

    folds = require_folds(out, dataset, algo)
    return pd.DataFrame({**_place(fold), **fold.means} for fold in folds)


def fits_frame(out: Path, dataset: str, algo: str) -> DataFrame:
    """Return a row for each finished fold that says how its model came to be.

    Returns
    -------
    DataFrame
        The columns are dataset, algo, repeat, fold, features (the transformation), chosen (a
        dict of the settings), select (the measure that validation chose by), validation (its
        value), best (the round or epoch kept), curve, objective, seconds, seed and warnings (a
        list of `FitWarning`).
    """
    import pandas as pd

    return pd.DataFrame(
        {
            **_place(fold),
            "features": fold.identity.get("features"),
            "chosen": fold.fit["chosen"],
            "select": fold.fit["validation"].get("measure"),
            "validation": fold.fit["validation"].get("value"),
            "best": fold.fit["validation"].get("best"),
            "curve": fold.fit["validation"].get("curve", []),
            "objective": fold.fit["objective"],
            "seconds": fold.fit["seconds"],
            "seed": fold.identity.get("seed"),
            "warnings": fold.warnings,
        }
        for fold in require_folds(out, dataset, algo)
    )


def scores_frame(
    out: Path, data_dir: Path, dataset: str, algos: Sequence[str], part: str
) -> DataFrame:
    """Return a row for each document of a part of each fold, a column of scores an algorithm.

    The columns are dataset, fold, qid, label, then the algorithms: one with several seeds has
    the mean of its seeds' scores. Documents are in the order of the data files. A fold that an
    algorithm has not finished is NaN in its column.

    Raises
    ------
    UsageError
        The part is neither "validation" nor "test".
    DataError
        The scores are of other data than those at hand, or were not stored.
    """
    import numpy as np
    import pandas as pd

    if part not in SCORE_FILES:
        raise UsageError(f"found part={part!r}, expected one of {', '.join(SCORE_FILES)}")
    stored = {algo: require_folds(out, dataset, algo) for algo in algos}
    benchmark = data_of(data_dir, dataset, [fold for folds in stored.values() for fold in folds])
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
            files = [
                each.folder / SCORE_FILES[part] for each in folds if each.number == fold.number
            ]
            absent = [file for file in files if not file.is_file()]
            if absent:
                raise DataError(f"{absent[0]}: found no {part} scores; another system's have none")
            scores = [read_scores(file, queries.n_docs) for file in files]
            columns[algo] = np.mean(scores, axis=0) if scores else np.nan
        frames.append(pd.DataFrame(columns))
    frame = pd.concat(frames, ignore_index=True)
    return frame.dropna(subset=list(algos), how="all").reset_index(drop=True)


def _place(fold: StoredFold) -> dict[str, object]:
    return {name: getattr(fold.key, name) for name in ("dataset", "algo", "repeat", "fold")}
