"""Which layout a file has, and SVMlight text that is not LETOR text.

SVMlight text may have other labels, indices from 0, or no `qid:`. LightGBM and XGBoost put the
sizes of the queries into a file beside it. Yandex's sets have the query in each line's comment.
"""

import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from letorbench.datasets.reader import ReadOptions, read_queries
from letorbench.datasets.text.encodings import BOM, check_encoding, odd_character, without_mark
from letorbench.datasets.text.mistakes import DECIMAL, line_error
from letorbench.datasets.user_data.beside import beside, read_sizes, read_weights
from letorbench.datasets.user_data.rows import Grades, Rows
from letorbench.datasets.user_data.tables import Columns, table_rows
from letorbench.errors import DataError

#: what a file is
LETOR, SVMLIGHT, TABLE = "LETOR", "SVMlight", "table"
#: the bytes in which a file's first row is looked for
_START = 1 << 16
_TABLE_ENDINGS = (".csv", ".tsv", ".parquet")
_WORD = re.compile(rb"(qid|\d+):\S*")
_LETOR = re.compile(rb"(?:[ \t\r]*(?:#.*)?\n)*[ \t\r]*-?\d+\s+qid:")
_FEATURE_0 = re.compile(rb"^[^#\n]*[ \t]0:", re.MULTILINE)
#: label, query id and features of a row without its comment
_ROW = re.compile(r"(\S+)(?:\s+qid:(\S*))?(?:\s+(.*))?", re.ASCII)
_INDEX = re.compile(r"(?<!\S)\d{1,6}(?=:)", re.ASCII)
_MISSING = re.compile(r":(?:nan|na)(?!\S)", re.ASCII | re.IGNORECASE)


def read_rows(paths: Sequence[Path], columns: Columns, grades: Grades) -> list[Rows] | None:
    """Read the files of one data set, whatever their layouts.

    Return None where all files are LETOR text that may stay as it is. Features count from 0 in all
    files of SVMlight text if one has a feature 0.
    """
    kinds = {path: kind_of(path) for path in paths}
    from_0 = any(counts_from_0(path) for path in paths if kinds[path] in (LETOR, SVMLIGHT))
    if not from_0 and grades is None and not {SVMLIGHT, TABLE} & set(kinds.values()):
        return None
    return [
        table_rows(path, columns) if kinds[path] == TABLE else svmlight_rows(path, from_0)
        for path in paths
    ]


def counts_from_0(path: Path) -> bool:
    """Return whether a text has a feature 0."""
    return _FEATURE_0.search(path.read_bytes()) is not None


def kind_of(path: Path) -> str:
    """Return what a file is: `LETOR`, `SVMLIGHT` or `TABLE`, and "" for anything else.

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
    return TABLE if named or (b"\0" not in start and beside(path).tells_columns) else ""


def svmlight_rows(path: Path, from_0: bool) -> Rows:
    """Read a file of SVMlight text.

    The query of a row is in its `qid:`, else in the sizes beside the file, else the one word of
    its comment. NaN becomes NULL.

    With `from_0`, features count from 0 and become those from 1. DataError at the first mistake.
    """
    others = beside(path)
    numbers: list[int] = []
    labels, qids, texts = [], [], []
    for number, line in enumerate(without_mark(path, path.read_bytes()).split(b"\n"), 1):
        # a document's name may be in any encoding
        row, _, comment = line.decode("utf-8", "surrogateescape").strip(" \t\r").partition("#")
        if not row.strip():
            continue
        parts = _ROW.fullmatch(row.strip())
        assert parts is not None  # it matches any line
        label, qid, features = parts.groups()
        features = features or ""
        if not numbers:
            by_qid = qid is not None
            by_comment = not by_qid and others.sizes is None
        if (qid is not None) != by_qid or (by_comment and len(comment.split()) != 1):
            found = repr((features.split() or ["the end of the row"])[0][:40])
            expected = (
                f"qid: after each label, or in no row and {path.name}.query or {path.name}.group "
                "beside the file, or the query as each row's comment"
            )
            raise line_error(path, number, *(_odd(row) or (found, expected)))
        if DECIMAL.fullmatch(label.encode("utf-8", "surrogateescape")) is None:
            wrong = f"{label[:40]!r} as the label", "a number"
            raise line_error(path, number, *(_odd(row) or wrong))
        name = comment.strip() if by_comment else qid or ""
        if not name.isprintable() or (by_qid and not name):
            wrong = f"query id {name!r}", "printable characters"
            raise line_error(path, number, *(_odd(name) or wrong))
        if from_0:
            features = _INDEX.sub(lambda index: str(int(index[0]) + 1), features)
        shown = f" #{comment}" if comment and not by_comment else ""
        numbers.append(number)
        labels.append(float(label))
        qids.append(name)
        texts.append(f"{' ' * bool(features)}{_MISSING.sub(':NULL', features)}{shown}")
    if not numbers:
        raise DataError(f"{path}: found no rows, expected lines of label index:value")
    _check_features(path, numbers, texts)
    if by_qid or by_comment:
        by, queries = "qid:" if by_qid else "each line's comment", np.array(qids)
    else:
        assert others.sizes is not None
        by, queries = others.sizes.suffix, read_sizes(others.sizes, len(numbers), path)
    return Rows(
        path.name,
        np.array(labels),
        queries,
        texts,
        lambda row: f"{path}:{numbers[row]}",
        f"SVMlight text, features from {0 if from_0 else 1}, queries by {by}",
        weights=read_weights(others.weights),
    )


def _odd(text: str) -> tuple[str, str] | None:
    return odd_character(text.encode("utf-8", "surrogateescape"))


def _check_features(path: Path, numbers: list[int], texts: list[str]) -> None:
    """Let the reader of LETOR text find the first bad feature, in the line where it stands."""
    lines = [""] * numbers[-1]
    for number, text in zip(numbers, texts):
        lines[number - 1] = f"0 qid:1{text}"
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "features.txt"
        copy.write_bytes("\n".join([*lines, ""]).encode("utf-8", "surrogateescape"))
        try:
            read_queries(copy, ReadOptions(null="min"))
        except DataError as error:
            raise DataError(str(error).replace(str(copy), str(path), 1)) from None
