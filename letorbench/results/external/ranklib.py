"""RankLib's score files (`-rank … -score …`): qid, the document's index in it, its score."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.errors import DataError
from letorbench.results.external.lines import Placed, columns, number, query_numbers, shown


def read_ranklib(path: Path, queries: QuerySet) -> np.ndarray:
    """(n_docs,) float64 scores in the order of the query set; indexes count from 0 in a query.

    The lines may come in any order. DataError names the line of an unknown query or index, of
    a document that comes twice, or the first document that has no score.
    """
    numbers = query_numbers(queries)
    placed = Placed(path, queries)
    for line, (qid, index, score) in columns(path, ("qid", "index", "score")):
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
