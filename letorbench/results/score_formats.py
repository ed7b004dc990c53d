"""A system's scores, in any of the file formats that we read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.results.columns import content
from letorbench.results.ranklib import COLUMNS, read_ranklib
from letorbench.results.scores import read_scores
from letorbench.results.trec import RUN, read_run


def _plain(path: Path, queries: QuerySet) -> np.ndarray:
    return read_scores(path, queries.n_docs)


#: name -> a function from path and queries to (n_docs,) float64 scores in file order
FORMATS: dict[str, Callable[[Path, QuerySet], np.ndarray]] = {
    "scores": _plain,
    "ranklib": read_ranklib,
    "trec": read_run,
}


def detect(path: Path) -> str:
    """Return the format that the first line has by its number of columns.

    Three columns are ranklib, six are trec, anything else is scores.
    """
    width = len(content(path).lstrip()[:4096].partition(b"\n")[0].split())
    return {len(COLUMNS): "ranklib", len(RUN): "trec"}.get(width, "scores")


def read_any(path: Path, queries: QuerySet, form: str = "auto") -> np.ndarray:
    """Read the scores of a query set from a file.

    Parameters
    ----------
    path : Path
        The score file.
    queries : QuerySet
        The documents that the scores are of.
    form : str
        A name of FORMATS, or "auto" to recognise the format.

    Returns
    -------
    ndarray of shape (n_docs,), float64
        The scores in the order of the query set.

    Raises
    ------
    DataError
        The file is not right. The error names its line.
    """
    return FORMATS[detect(path) if form == "auto" else form](path, queries)
