"""SVMlight text that is not LETOR text: other labels, features from 0, or no `qid:`."""

import re
import tempfile
from pathlib import Path

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.datasets.reader import read_queries
from letorbench.datasets.text.encodings import odd_character, without_mark
from letorbench.datasets.text.mistakes import DECIMAL, line_error
from letorbench.datasets.user_data.documents import Documents
from letorbench.datasets.user_data.sidecar import read_sizes, read_weights, sidecar_files
from letorbench.errors import DataError

#: label, query id and features of a row without its comment
_ROW = re.compile(r"(\S+)(?:\s+qid:(\S*))?(?:\s+(.*))?", re.ASCII)
_INDEX = re.compile(r"(?<!\S)\d{1,6}(?=:)", re.ASCII)
_MISSING = re.compile(r":(?:nan|na)(?!\S)", re.ASCII | re.IGNORECASE)


def read_svmlight(path: Path, from_0: bool) -> Documents:
    """Read a file of SVMlight text; with `from_0` its features count from 0.

    The query of a row is in its `qid:`, or in the sizes beside the file as LightGBM and XGBoost
    put them, or it is the one word of the row's comment as in Yandex's sets.
    """
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
            mistake = found, (
                f"qid: after each label, or in no row and {path.name}.query or {path.name}.group "
                "beside the file, or the query as each row's comment"
            )
        elif DECIMAL.fullmatch(_bytes(label)) is None:
            mistake = f"{label[:40]!r} as the label", "a number"
        elif not name.isprintable() or (by_qid and not name):
            row, mistake = name, (f"query id {name!r}", "printable characters")
        if mistake is not None:
            raise line_error(path, number, *(odd_character(_bytes(row)) or mistake))
        if from_0:
            features = _INDEX.sub(lambda index: str(int(index[0]) + 1), features)
        shown = f" #{comment}" if comment and not by_comment else ""
        numbers.append(number)
        labels.append(float(label))
        qids.append(name)
        words.append(f"{' ' * bool(features)}{_MISSING.sub(':NULL', features)}{shown}")
    if not numbers:
        raise DataError(f"{path}: found no rows, expected lines of label index:value")
    read = _read_features(path, numbers, words)
    if by_qid or by_comment:
        by, queries = "qid:" if by_qid else "each line's comment", np.array(qids)
    else:
        assert sidecar.sizes is not None
        by, queries = sidecar.sizes.suffix, read_sizes(sidecar.sizes, len(numbers), path)
    return Documents(
        path.name,
        np.array(labels),
        queries,
        read.features,
        lambda row, *feature: f"{path}:{numbers[row]}",
        read.docids,
        words,
        f"SVMlight text, features from {0 if from_0 else 1}, queries by {by}",
        weights=read_weights(sidecar.weights),
    )


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _read_features(path: Path, numbers: list[int], words: list[str]) -> QuerySet:
    """Let the compiled reader of LETOR text read the features, each row in its line."""
    lines = [""] * numbers[-1]
    for number, text in zip(numbers, words):
        lines[number - 1] = f"0 qid:1{text}"
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "features.txt"
        copy.write_bytes(_bytes("\n".join([*lines, ""])))
        try:
            return read_queries(copy)
        except DataError as error:
            raise DataError(str(error).replace(str(copy), str(path), 1)) from None
