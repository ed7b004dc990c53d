"""Documents for a saved model."""

from __future__ import annotations

from pathlib import Path

from letorbench.datasets.queryset import QuerySet
from letorbench.datasets.reader import ReadOptions, read_queries
from letorbench.errors import DataError
from letorbench.rankers import Ranker


def read_for(
    ranker: Ranker, path: Path, null: str | float = "error", sparse: bool = False
) -> QuerySet:
    """Read the documents of a file with the features that the ranker learned from.

    Parameters
    ----------
    ranker : Ranker
        The fitted ranker.
    path : Path
        A file of LETOR text.
    null : str or float
        What a NULL value reads as: "error", "min" or a number.
    sparse : bool
        Whether the file may end before the last feature, which then is 0 everywhere.

    Raises
    ------
    DataError
        The file has another number of features.
    """
    width = ranker.n_features_in_
    queries = read_queries(path, ReadOptions(null=null))
    if queries.n_features == width:
        return queries
    if sparse and queries.n_features < width:
        return read_queries(path, ReadOptions(null=null, n_features=width))
    hint = "; --sparse takes those that no line has for 0" if queries.n_features < width else ""
    raise DataError(
        f"{path}: found {queries.n_features} features, expected {width}, which {ranker.name} "
        f"learned from{hint}"
    )
