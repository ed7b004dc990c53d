"""A reader of LETOR text in plain Python, written from the description of the format alone.

It shares no code with `letorbench.datasets.reader` and says the same or refuses the same line.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

#: what stands between words; every other character below the blank is out of place
BETWEEN = re.compile(rb"[ \t\r]+")
INTEGER = re.compile(rb"[+-]?[0-9]{1,18}")
NUMBER = re.compile(rb"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
PAIR = re.compile(rb"([0-9]{1,6}):(.*)", re.DOTALL)
DOCID = re.compile(rb"[ \t\r]*docid[ \t\r]*=[ \t\r]*([^\x00-\x20]*)")
LARGEST_INDEX = 65_536
LONGEST_QID = 1000


@dataclass(frozen=True)
class Refusal(Exception):
    """The first line that is wrong, from 1; 0 where it is the whole file."""

    line: int


@dataclass(frozen=True)
class Document:
    """One line: `present` are the values by index, None standing for NULL."""

    line: int
    label: int
    qid: str
    present: dict[int, np.float32 | None]
    docid: bytes


@dataclass(frozen=True)
class Table:
    """All documents of a file: features (n_docs, n_features) float32."""

    features: np.ndarray
    labels: list[int]
    qids: list[str]
    docids: list[bytes]


def read(text: bytes, null: str | float = "error", n_features: int | None = None) -> Table:
    """Read a file's content; Refusal where it is wrong."""
    if b"\0" in text[:8192]:
        raise Refusal(0)
    limit = n_features or LARGEST_INDEX
    documents: list[Document] = []
    seen: set[str] = set()
    for document in _documents(text, null != "error", limit, seen):
        documents.append(document)
    if not documents:
        raise Refusal(0)
    width = n_features or max([1, *(max(d.present, default=1) for d in documents)])
    _check_end(text, documents, width)
    features = np.zeros((len(documents), width), np.float32)
    for row, document in enumerate(documents):
        for index, value in document.present.items():
            features[row, index - 1] = np.nan if value is None else value
    qids = [document.qid for document in documents]
    _fill(features, qids, null)
    ids = [document.docid for document in documents]
    return Table(features, [d.label for d in documents], qids, ids)


def _documents(text: bytes, nulls: bool, limit: int, seen: set[str]) -> Iterator[Document]:
    last = None
    for number, line in enumerate(text.split(b"\n"), 1):
        body, _, comment = line.partition(b"#")
        words = [word for word in BETWEEN.split(body) if word]
        if not words:
            continue
        label, qid = _head(words, number)
        if qid != last and qid in seen:
            raise Refusal(number)
        seen.add(qid)
        last = qid
        present: dict[int, np.float32 | None] = {}
        for word in words[2:]:
            index, value = _pair(word, nulls, number)
            if index <= max(present, default=0) or index > limit:
                raise Refusal(number)
            present[index] = value
        yield Document(number, label, qid, present, _docid(line))


def _docid(line: bytes) -> bytes:
    _, hash_sign, comment = line.partition(b"#")
    found = DOCID.match(comment) if hash_sign else None
    return found[1] if found else b""


def _head(words: list[bytes], number: int) -> tuple[int, str]:
    if len(words) < 2 or not INTEGER.fullmatch(words[0]):
        raise Refusal(number)
    label = int(words[0])
    qid = words[1][4:]
    if not 0 <= label <= 31 or words[1][:4] != b"qid:" or not 0 < len(qid) <= LONGEST_QID:
        raise Refusal(number)
    try:
        text = qid.decode()
    except UnicodeDecodeError:
        raise Refusal(number) from None
    if any(unicodedata.category(character)[0] in "CZ" for character in text):
        raise Refusal(number)
    return label, text


def _pair(word: bytes, nulls: bool, number: int) -> tuple[int, np.float32 | None]:
    pair = PAIR.fullmatch(word)
    if not pair:
        raise Refusal(number)
    if nulls and pair[2] == b"NULL":
        return int(pair[1]), None
    if not NUMBER.fullmatch(pair[2]):
        raise Refusal(number)
    with np.errstate(over="ignore"):
        value = np.float32(float(pair[2]))
    if not np.isfinite(value):
        raise Refusal(number)
    return int(pair[1]), value


def _check_end(text: bytes, documents: list[Document], width: int) -> None:
    """Refuse a last line that seems to be cut short."""
    last = documents[-1]
    if text.endswith(b"\n") or last.line != text.count(b"\n") + 1 or len(documents) < 2:
        return
    others = min(len(document.present) for document in documents[:-1])
    if others == width and len(last.present) < width:
        raise Refusal(last.line)


def _fill(features: np.ndarray, qids: list[str], null: str | float) -> None:
    """Put numbers for NULLs."""
    for row, column in np.argwhere(np.isnan(features)).tolist():
        query = [r for r, qid in enumerate(qids) if qid == qids[row]]
        known = features[query, column][~np.isnan(features[query, column])].tolist()
        features[row, column] = min(known, default=0.0) if null == "min" else null
