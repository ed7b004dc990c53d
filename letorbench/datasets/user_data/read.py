"""A user's file of documents, in any layout that `datasets split` takes, as a `QuerySet`."""

import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

from letorbench.datasets.arrays import group_rows
from letorbench.datasets.queryset import QuerySet
from letorbench.datasets.reader import USUAL, ReadOptions, read_queries
from letorbench.datasets.user_data.beside import weights_beside
from letorbench.datasets.user_data.rows import letor_lines
from letorbench.datasets.user_data.svmlight import LETOR, counts_from_0, kind_of, read_rows
from letorbench.datasets.user_data.tables import Columns
from letorbench.errors import DataError


def read_documents(
    path: Path, options: ReadOptions = USUAL, columns: Columns = Columns()
) -> QuerySet:
    """Read LETOR text, a table, or LightGBM's, XGBoost's or CatBoost's files.

    The rows of a query are brought together; `rows` of the set then says where they stand in the
    file. DataError at the first mistake names its place in the file.
    """
    if kind_of(path) in (LETOR, ""):
        try:
            return _weighted(path, read_queries(path, options))
        except DataError:
            if not counts_from_0(path):
                raise
    found = read_rows([path], columns, None)
    if found is None:
        return _weighted(path, read_queries(path, options))
    (rows,) = found
    order = group_rows(len(rows.qids), rows.qids).rows
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "rows.txt"
        copy.write_bytes(b"".join(letor_lines(found, None, lambda line: None)[0]))
        try:
            queries = read_queries(copy, options)
        except DataError as error:
            place, _, what = str(error).removeprefix(str(copy)).partition(": ")
            row = int(place[1:] or 1) - 1
            where = rows.place(row if order is None else int(order[row])) if place else path
            raise DataError(f"{where}: {what}") from None
    names = None
    if rows.query_names:
        names = np.array([rows.query_names[int(qid) - 1] for qid in queries.qids])
    return replace(
        queries, feature_names=rows.feature_names, rows=order, query_names=names,
        weights=rows.query_weights,
    )  # fmt: skip


def _weighted(path: Path, queries: QuerySet) -> QuerySet:
    """Return the queries with the weights of a file beside theirs, where there is one."""
    weights = weights_beside(path, queries.offsets)
    return queries if weights is None else replace(queries, weights=weights)
