"""A user's files of documents in any layout that `datasets split` takes.

SVMlight text that is not LETOR text has other labels, features from 0, or no `qid:`.
"""

import re
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.datasets.reader import USUAL, ReadOptions, nulls_to_least, read_queries
from letorbench.datasets.text import BOM, check_encoding, odd_character, without_mark
from letorbench.datasets.text.mistakes import DECIMAL, line_error
from letorbench.datasets.user_data import (
    Documents,
    Grades,
    Words,
    graded,
    read_sizes,
    read_weights,
    sidecar_files,
    weights_beside,
)
from letorbench.datasets.user_data.tables import BINARY, JSON, Columns, read_table
from letorbench.errors import DataError

#: the layouts of files
LETOR, SVMLIGHT, TABLE = "LETOR", "SVMlight", "table"
#: the bytes of a file that are searched for its first row
_START = 1 << 16
_TABLE_ENDINGS = (".csv", ".tsv", *BINARY, *JSON)
#: a first row of cells that is not LETOR text, below comments
_CELLS = re.compile(rb"(?:\s|#[^\n]*\n)*(?!.*(?:qid|\d):)[^\n]*[,;|\t]")
_WORD = re.compile(rb"(qid|\d+):\S*")
_LETOR = re.compile(rb"(?:[ \t\r]*(?:#.*)?\n)*[ \t\r]*-?\d+\s+qid:")
_FEATURE_0 = re.compile(rb"^[^#\n]*[ \t]0:", re.MULTILINE)
#: label, query id and features of a row without its comment
_ROW = re.compile(r"(\S+)(?:\s+qid:(\S*))?(?:\s+(.*))?", re.ASCII)
_INDEX = re.compile(r"(?<!\S)\d{1,6}(?=:)", re.ASCII)
_MISSING = re.compile(r":(?:nan|na)(?!\S)", re.ASCII | re.IGNORECASE)


def kind_of(path: Path) -> str:
    """Return the layout of a file: `LETOR`, `SVMLIGHT` or `TABLE`, and "" for anything else."""
    try:
        with path.open("rb") as file:
            start = file.read(_START)
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None
    if start.startswith((*BINARY.values(),)) or path.suffix.lower() in JSON:
        return TABLE
    if start[257:262] == b"ustar":
        raise DataError(f"{path}: found a tar archive, expected text (`datasets import` unpacks)")
    check_encoding(path, start)
    start = start.removeprefix(BOM)
    rows = (line.partition(b"#")[0].split() for line in start.split(b"\n"))
    first, *words = next((row for row in rows if len(row) > 1), [b","])
    if b"," not in first and all(map(_WORD.fullmatch, words)):
        return LETOR if _LETOR.match(start) else SVMLIGHT
    if path.suffix.lower() in _TABLE_ENDINGS:
        return TABLE
    known = _CELLS.match(start) or sidecar_files(path).explain_columns
    return TABLE if known and b"\0" not in start else ""


def _kind_of(path: Path, columns: Columns) -> str:
    kind = kind_of(path)
    if kind in (LETOR, SVMLIGHT):
        columns.check_unnamed(path, "text of index:value")
    return kind


def read_files(paths: Sequence[Path], columns: Columns, grades: Grades) -> list[Documents] | None:
    """Read the files of one data set; None if all are LETOR text that may stay as it is."""
    kinds = {path: _kind_of(path, columns) for path in paths}
    from_0 = any(_counts_from_0(path) for path in paths if kinds[path] in (LETOR, SVMLIGHT))
    if not from_0 and grades is None and not {SVMLIGHT, TABLE} & set(kinds.values()):
        return None
    return [_read(path, kinds[path], from_0, columns, grades) for path in paths]


def _read(path: Path, kind: str, from_0: bool, columns: Columns, grades: Grades) -> Documents:
    if kind == TABLE:
        return read_table(path, columns, grades if isinstance(grades, Words) else ())
    if isinstance(grades, Words):
        raise DataError(f"{path}: found text of index:value, expected a table (--grades of words)")
    return _svmlight(path, from_0)


def read_documents(
    path: Path, options: ReadOptions = USUAL, columns: Columns = Columns(), grades: Grades = None
) -> QuerySet:
    """Read LETOR text, a table, or LightGBM's, XGBoost's or CatBoost's files.

    The documents of a query are brought together; `rows` has their rows in the file.
    """
    kind = _kind_of(path, columns)
    if kind in (LETOR, "") and grades is None:
        try:
            queries = read_queries(path, options)
            return replace(queries, weights=weights_beside(path, queries.offsets))
        except DataError:
            if kind == "" or not _counts_from_0(path):
                raise
    file = _read(path, kind, kind != TABLE and _counts_from_0(path), columns, grades)
    if not columns.labelled:
        file = replace(file, labels=np.zeros(len(file.labels)))
    labels, _ = graded(file.labels, grades, file.place)
    return _query_set(file, labels, options)


def _counts_from_0(path: Path) -> bool:
    return _FEATURE_0.search(path.read_bytes()) is not None


def _query_set(file: Documents, labels: np.ndarray, options: ReadOptions) -> QuerySet:
    """Return the documents with their queries together, and missing values as `null` says."""
    offsets, qids, rows = file.grouping
    features, docids = file.features, file.docids
    if rows is not None:
        features, labels = features[rows], labels[rows]
        docids = None if docids is None else docids[rows]
    if options.null == "error" and np.isnan(features).any():
        row, feature = np.argwhere(np.isnan(file.features))[0].tolist()
        raise DataError(
            f"{file.place(row, feature)}: found NULL as the value of feature {feature + 1}, "
            "expected a number (or --null min, --null 0)"
        )
    width = features.shape[1]
    features = np.pad(features, ((0, 0), (0, (options.n_features or width) - width)))
    if options.null == "min":
        nulls_to_least(features, offsets)
    elif not isinstance(options.null, str):
        features[np.isnan(features)] = options.null
    return QuerySet(
        features, labels, offsets, qids, docids, file.feature_names, rows,
        np.array(file.query_names) if file.query_names else None, file.query_weights,
    )  # fmt: skip


def _svmlight(path: Path, from_0: bool) -> Documents:
    """Read a file of SVMlight text; with `from_0` its features count from 0."""
    # the query of a row is in its `qid:`, in the sizes beside the file as LightGBM and XGBoost put
    # them, or it is the one word of the row's comment as in Yandex's sets
    sidecar = sidecar_files(path)
    by_qid = by_comment = False
    numbers, labels, qids, words = list[int](), list[float](), list[str](), list[str]()
    for number, line in enumerate(without_mark(path, path.read_bytes()).split(b"\n"), 1):
        # a document's name may be in any encoding
        row, _, comment = line.decode("utf-8", "surrogateescape").strip(" \t\r").partition("#")
        parts = _ROW.fullmatch(row.strip())
        if parts is None:
            continue  # a blank line
        label, qid, features = parts.groups(default="")
        if not numbers:
            by_qid = parts[2] is not None
            by_comment = not by_qid and sidecar.sizes is None
        name = comment.strip() if by_comment else qid
        mistake = None
        if (parts[2] is not None) != by_qid or (by_comment and len(comment.split()) != 1):
            found = repr((features.split() or ["the end of the row"])[0][:40])
            expected = (
                f"qid: after each label, or in no row and {path.name}.query or {path.name}.group "
                "beside the file, or the query as each row's comment"
            )
            mistake = found, expected
        elif DECIMAL.fullmatch(_encoded(label)) is None:
            mistake = f"{label[:40]!r} as the label", "a number"
        elif not name.isprintable() or "#" in name or (by_qid and not name):
            row, mistake = name, (f"query id {name!r}", "printable characters and no #")
        if mistake is not None:
            raise line_error(path, number, *(odd_character(_encoded(row)) or mistake))
        if from_0:
            features = _INDEX.sub(lambda index: str(int(index[0]) + 1), features)
        shown = f" #{comment}" if comment and not by_comment else ""
        numbers.append(number)
        labels.append(float(label))
        qids.append(name)
        words.append(f"{' ' * bool(features)}{_MISSING.sub(':NULL', features)}{shown}")
    if not numbers:
        raise DataError(f"{path}: found no rows, expected lines of label index:value")
    read = _features(path, numbers, words)
    if by_qid or by_comment:
        grouping, queries = "qid:" if by_qid else "each line's comment", np.array(qids)
    else:
        assert sidecar.sizes is not None
        grouping, queries = sidecar.sizes.suffix, read_sizes(sidecar.sizes, len(numbers), path)
    return Documents(
        path.name,
        np.array(labels),
        queries,
        read.features,
        lambda row, *feature: f"{path}:{numbers[row]}",
        read.docids,
        words,
        f"SVMlight text, features from {0 if from_0 else 1}, queries by {grouping}",
        weights=read_weights(sidecar.weights),
    )


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _features(path: Path, numbers: list[int], words: list[str]) -> QuerySet:
    """Let the compiled reader of LETOR text read the features, each row in its line."""
    lines = [""] * numbers[-1]
    for number, text in zip(numbers, words):
        lines[number - 1] = f"0 qid:1{text}"
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "features.txt"
        copy.write_bytes(_encoded("\n".join([*lines, ""])))
        try:
            return read_queries(copy)
        except DataError as error:
            raise DataError(str(error).replace(str(copy), str(path), 1)) from None
