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
    """Return a row for each algorithm of each data set; see `lb.Results.summary`."""
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


def means_of(fold: StoredFold) -> dict[str, object]:
    """Return a row of `lb.Results.folds`."""
    return {**fold.key._asdict(), **fold.means}


def fit_of(fold: StoredFold) -> dict[str, object]:
    """Return a row of `lb.Results.fits`."""
    validation = fold.fit["validation"]
    return {
        **fold.key._asdict(),
        "features": fold.identity.get("features"),
        "chosen": fold.fit["chosen"],
        "select": validation.get("measure"),
        "validation": validation.get("value"),
        "best": validation.get("best"),
        "curve": validation.get("curve", []),
        "objective": fold.fit["objective"],
        "seconds": fold.fit["seconds"],
        "seed": fold.identity.get("seed"),
        "warnings": fold.warnings,
    }


def scores_frame(
    out: Path, data_dir: Path, dataset: str, algos: Sequence[str], part: str
) -> DataFrame:
    """Return a row for each document of a part of each fold; see `lb.Results.scores`.

    Documents are in the order of the data files. A fold that an algorithm has not finished is NaN
    in its column. UsageError says that the part is neither "validation" nor "test"; DataError that
    the scores are of other data than those at hand, or were not stored.
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
