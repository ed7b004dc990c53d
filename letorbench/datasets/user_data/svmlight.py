"""Which layout a file has, and SVMlight text that is not LETOR text.

SVMlight text may have other labels, indices from 0, or no `qid:`. LightGBM and XGBoost put the
sizes of the queries into a file beside it. Yandex's sets have the query in each line's comment.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from letorbench.datasets.reader import ReadOptions, read_queries
from letorbench.datasets.text.mistakes import DECIMAL, line_error
from letorbench.datasets.user_data.beside import beside, read_sizes
from letorbench.datasets.user_data.rows import Grades, Rows
from letorbench.datasets.user_data.tables import Columns, table_rows
from letorbench.errors import DataError

#: what UTF-8 text from Windows may begin with
BOM = b"\xef\xbb\xbf"
#: the bytes in which a file's first row is looked for
_START = 1 << 16
_TABLE_ENDINGS = (".csv", ".tsv", ".parquet")
_WORD = re.compile(rb"(qid|\d+):\S*")
_LETOR = re.compile(rb"(?:[ \t\r]*(?:#.*)?\n)*[ \t\r]*\d+\s+qid:")
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
    starts = {path: start_of(path) for path in paths}
    tables = [p for p in paths if not is_svmlight(starts[p]) and _is_table(p, starts[p])]
    texts = [path for path in paths if path not in tables]
    from_0 = any(_FEATURE_0.search(p.read_bytes()) for p in texts if is_svmlight(starts[p]))
    stay = (_LETOR.match(starts[path]) or not is_svmlight(starts[path]) for path in texts)
    if not tables and not from_0 and grades is None and all(stay):
        return None
    return [
        table_rows(path, columns) if path in tables else svmlight_rows(path, from_0)
        for path in paths
    ]


def start_of(path: Path) -> bytes:
    """Return how a file begins."""
    try:
        with path.open("rb") as file:
            return file.read(_START)
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None


def is_svmlight(start: bytes) -> bool:
    """Return whether a file that begins so has rows of `index:value` words."""
    for line in start.removeprefix(BOM).split(b"\n"):
        words = line.partition(b"#")[0].split()
        if len(words) > 1:
            return b"," not in words[0] and all(map(_WORD.fullmatch, words[1:]))
    return False


def _is_table(path: Path, start: bytes) -> bool:
    """Return whether a file is a table: by its name, or by columns described beside it."""
    others = beside(path)
    named = path.suffix.lower() in _TABLE_ENDINGS or start.startswith(b"PAR1")
    return named or (b"\0" not in start and bool(others.sizes or others.description))


def svmlight_rows(path: Path, from_0: bool) -> Rows:
    """Read a file of SVMlight text.

    The query of a row is in its `qid:`, else in the sizes beside the file, else the one word of
    its comment. NaN becomes NULL.

    With `from_0`, features count from 0 and become those from 1. DataError at the first mistake.
    """
    others = beside(path)
    numbers: list[int] = []
    labels, qids, texts = [], [], []
    for number, line in enumerate(path.read_bytes().removeprefix(BOM).split(b"\n"), 1):
        try:
            row, _, comment = line.decode().strip(" \t\r").partition("#")
        except UnicodeDecodeError:
            raise line_error(path, number, "bytes that are no text", "UTF-8") from None
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
            raise line_error(
                path,
                number,
                repr((features.split() or ["the end of the row"])[0][:40]),
                f"qid: after each label, or in no row and {path.name}.query or {path.name}.group "
                "beside the file, or the query as each row's comment",
            )
        if DECIMAL.fullmatch(label.encode()) is None:
            raise line_error(path, number, f"{label[:40]!r} as the label", "a number")
        name = comment.strip() if by_comment else qid or ""
        if not name.isprintable() or (by_qid and not name):
            raise line_error(path, number, f"query id {name!r}", "printable characters")
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
        (".weight",) if others.weights else (),
    )


def _check_features(path: Path, numbers: list[int], texts: list[str]) -> None:
    """Let the reader of LETOR text find the first bad feature, in the line where it stands."""
    lines = [""] * numbers[-1]
    for number, text in zip(numbers, texts):
        lines[number - 1] = f"0 qid:1{text}"
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "features.txt"
        copy.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="")
        try:
            read_queries(copy, ReadOptions(null="min"))
        except DataError as error:
            raise DataError(str(error).replace(str(copy), str(path), 1)) from None
