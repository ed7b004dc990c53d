"""RankLib's score files (`-rank … -score …`): qid, the document's index in it, its score."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.errors import DataError
from letorbench.results.columns import Placed, columns, number, query_numbers, shown

COLUMNS = ("qid", "index", "score")


def read_ranklib(path: Path, queries: QuerySet) -> np.ndarray:
    """Read the scores of a query set from RankLib's file.

    A document's index counts from 0 within its query. The lines may come in any order.

    Parameters
    ----------
    path : Path
        The score file.
    queries : QuerySet
        The documents that the scores are of.

    Returns
    -------
    ndarray of shape (n_docs,), float64
        The scores in the order of the query set.

    Raises
    ------
    DataError
        A line has an unknown query or index, or a document comes twice or not at all.
    """
    numbers = query_numbers(queries)
    placed = Placed(path, queries)
    for line, (qid, index, score) in columns(path, COLUMNS):
        query = numbers.get(qid)
        if query is None:
            raise DataError(f"{path}:{line}: found query {shown(qid)}, which the data do not have")
        place = int(number(path, line, index, int))
        length = int(queries.lengths[query])
        if not 0 <= place < length:
            raise DataError(
                f"{path}:{line}: found index {place} in query {shown(qid)}, "
                f"expected 0 to {length - 1}"
            )
        placed.put(line, int(queries.offsets[query]) + place, number(path, line, score))
    return placed.all()
