"""A user's files of documents in any layout that `datasets split` takes."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.datasets.reader import USUAL, ReadOptions, read_queries
from letorbench.datasets.text.encodings import BOM, check_encoding
from letorbench.datasets.user_data.documents import Documents, Grades, graded
from letorbench.datasets.user_data.sidecar import sidecar_files, weights_beside
from letorbench.datasets.user_data.svmlight import read_svmlight
from letorbench.datasets.user_data.tables import Columns, read_table
from letorbench.errors import DataError

#: the layouts of files
LETOR, SVMLIGHT, TABLE = "LETOR", "SVMlight", "table"
#: the bytes of a file that are searched for its first row
_START = 1 << 16
_TABLE_ENDINGS = (".csv", ".tsv", ".parquet")
_WORD = re.compile(rb"(qid|\d+):\S*")
_LETOR = re.compile(rb"(?:[ \t\r]*(?:#.*)?\n)*[ \t\r]*-?\d+\s+qid:")
_FEATURE_0 = re.compile(rb"^[^#\n]*[ \t]0:", re.MULTILINE)


def kind_of(path: Path) -> str:
    """Return the layout of a file: `LETOR`, `SVMLIGHT` or `TABLE`, and "" for anything else.

    Text has rows of `index:value` words. A table has its name, or columns described beside it.
    """
    try:
        with path.open("rb") as file:
            start = file.read(_START)
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None
    if start.startswith(b"PAR1"):
        return TABLE
    check_encoding(path, start)
    start = start.removeprefix(BOM)
    rows = (line.partition(b"#")[0].split() for line in start.split(b"\n"))
    first, *words = next((row for row in rows if len(row) > 1), [b","])
    if b"," not in first and all(map(_WORD.fullmatch, words)):
        return LETOR if _LETOR.match(start) else SVMLIGHT
    named = path.suffix.lower() in _TABLE_ENDINGS
    return TABLE if named or (b"\0" not in start and sidecar_files(path).explain_columns) else ""


def read_files(paths: Sequence[Path], columns: Columns, grades: Grades) -> list[Documents] | None:
    """Read the files of one data set; None if all are LETOR text that may stay as it is.

    Features count from 0 in all files of SVMlight text if one has a feature 0.
    """
    kinds = {path: kind_of(path) for path in paths}
    from_0 = any(_counts_from_0(path) for path in paths if kinds[path] in (LETOR, SVMLIGHT))
    if not from_0 and grades is None and not {SVMLIGHT, TABLE} & set(kinds.values()):
        return None
    return [
        read_table(path, columns) if kinds[path] == TABLE else read_svmlight(path, from_0)
        for path in paths
    ]


def read_documents(
    path: Path, options: ReadOptions = USUAL, columns: Columns = Columns()
) -> QuerySet:
    """Read LETOR text, a table, or LightGBM's, XGBoost's or CatBoost's files.

    The documents of a query are brought together; `rows` of the set then has their rows in the
    file. DataError at the first mistake names its place in the file.
    """
    if kind_of(path) in (LETOR, ""):
        try:
            return _weighted(path, read_queries(path, options))
        except DataError:
            if not _counts_from_0(path):
                raise
    files = read_files([path], columns, None)
    if files is None:
        return _weighted(path, read_queries(path, options))
    return _query_set(files[0], options)


def _counts_from_0(path: Path) -> bool:
    return _FEATURE_0.search(path.read_bytes()) is not None


def _weighted(path: Path, queries: QuerySet) -> QuerySet:
    """Return the queries with the weights of a file beside theirs."""
    weights = weights_beside(path, queries.offsets)
    return queries if weights is None else replace(queries, weights=weights)


def _query_set(file: Documents, options: ReadOptions) -> QuerySet:
    """Return the documents with their queries together, and missing values as `null` says."""
    labels, _ = graded(file.labels, None, file.place)
    offsets, qids, rows = file.grouping
    features, docids = file.features, file.docids
    if rows is not None:
        features, labels = features[rows], labels[rows]
        docids = None if docids is None else docids[rows]
    missing = np.isnan(features)
    if options.null == "error" and missing.any():
        row, feature = np.argwhere(np.isnan(file.features))[0].tolist()
        raise DataError(
            f"{file.place(row, feature)}: found NULL as the value of feature {feature + 1}, "
            "expected a number (or --null min, --null 0)"
        )
    if options.null == "min":
        least = np.nan_to_num(np.fmin.reduceat(features, offsets[:-1], axis=0))
        features = np.where(missing, np.repeat(least, np.diff(offsets), axis=0), features)
    elif not isinstance(options.null, str):
        features = np.where(missing, np.float32(options.null), features)
    width = features.shape[1]
    features = np.pad(features, ((0, 0), (0, (options.n_features or width) - width)))
    return QuerySet(
        features, labels, offsets, qids, docids, file.feature_names, rows,
        np.array(file.query_names) if file.query_names else None, file.query_weights,
    )  # fmt: skip
