"""Readers in plain Python, written from the descriptions of the formats alone.

They share no code with `letorbench`, and take and refuse what it takes and refuses: LETOR text,
score files, RankLib's, TREC runs and qrels.
"""

import codecs
import json
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import dropwhile

import numpy as np

#: what stands between words; every other character below the blank is out of place
BETWEEN = re.compile(rb"[ \t\r]+")
LABEL = re.compile(rb"[+-]?[0-9]{1,7}")
NULL = re.compile(rb"NULL|[+-]?[nN][aA][nN]")
INTEGER = re.compile(rb"[+-]?[0-9]+")
#: how an error of a server begins
JSON = re.compile(rb"\s*(\{\s*[\"}]|\[\s*[][{\"0-9-])")
NUMBER = re.compile(rb"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
PAIR = re.compile(rb"([0-9]{1,6}):(.*)", re.DOTALL)
DOCID = re.compile(rb"[ \t\r]*docid[ \t\r]*=[ \t\r]*([^\x00-\x20]*)")
LARGEST_INDEX = 65_536
LONGEST_QID = 1000
BLANK = b" \t\r\v\f"

Key = tuple[bytes, bytes]


@dataclass(frozen=True)
class Refusal(Exception):
    """The file is wrong: its first wrong line, from 1, or 0 for the whole file."""

    line: int = 0


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


def read_letor(
    text: bytes, null: str | float = "error", n_features: int | None = None, clip: bool = False
) -> Table:
    """Read LETOR text; Refusal where it is wrong."""
    text = text.removeprefix("\ufeff".encode())
    start = text[:8192]
    if (
        b"\0" in start
        or start[:2] in ("\ufeff".encode("utf-16-le"), "\ufeff".encode("utf-16-be"))
        or (b"\r" in start[:-1] and b"\n" not in start)
    ):
        raise Refusal
    documents = list(_documents(text, null != "error", clip, n_features or LARGEST_INDEX))
    if not documents:
        raise Refusal
    width = n_features or max([1, *(max(d.present, default=1) for d in documents)])
    last = documents[-1]
    if not text.endswith(b"\n") and last.line == text.count(b"\n") + 1 and len(documents) > 1:
        # a last line that seems to be cut short
        if min(len(d.present) for d in documents[:-1]) == width > len(last.present):
            raise Refusal(last.line)
    features = np.zeros((len(documents), width), np.float32)
    for row, document in enumerate(documents):
        for index, value in document.present.items():
            features[row, index - 1] = np.nan if value is None else value
    qids = [document.qid for document in documents]
    for row, column in np.argwhere(np.isnan(features)).tolist():
        query = [r for r, qid in enumerate(qids) if qid == qids[row]]
        known = features[query, column][~np.isnan(features[query, column])].tolist()
        features[row, column] = min(known, default=0.0) if null == "min" else null
    return Table(features, [d.label for d in documents], qids, [d.docid for d in documents])


def _documents(text: bytes, nulls: bool, clip: bool, limit: int) -> Iterator[Document]:
    last, seen = None, set[str]()
    for number, line in enumerate(text.split(b"\n"), 1):
        body, hash_sign, comment = line.partition(b"#")
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
            index, value = _pair(word, nulls, clip, number)
            if index <= max(present, default=0) or index > limit:
                raise Refusal(number)
            present[index] = value
        docid = DOCID.match(comment) if hash_sign else None
        yield Document(number, label, qid, present, docid[1] if docid else b"")


def _head(words: list[bytes], number: int) -> tuple[int, str]:
    if len(words) < 2 or not LABEL.fullmatch(words[0]) or words[1][:4] != b"qid:":
        raise Refusal(number)
    qid = query_id(words[1][4:], number)
    if int(words[0]) < -1 or not qid:
        raise Refusal(number)
    return int(words[0]), qid


def query_id(text: bytes, line: int = 0) -> str:
    """The name of a query: at most 1000 bytes of UTF-8, no blanks or control characters."""
    try:
        decoded = text.decode()
    except UnicodeDecodeError:
        raise Refusal(line) from None
    categories = {unicodedata.category(character)[0] for character in decoded}
    if len(text) > LONGEST_QID or categories & {"C", "Z"}:
        raise Refusal(line)
    return decoded


def _pair(word: bytes, nulls: bool, clip: bool, number: int) -> tuple[int, np.float32 | None]:
    pair = PAIR.fullmatch(word)
    if not pair:
        raise Refusal(number)
    if nulls and NULL.fullmatch(pair[2]):
        return int(pair[1]), None
    if not NUMBER.fullmatch(pair[2]):
        raise Refusal(number)
    with np.errstate(over="ignore"):
        value = np.float32(float(pair[2]))
    if clip and np.isinf(value):
        value = np.copysign(np.finfo(np.float32).max, value)
    if not np.isfinite(value):
        raise Refusal(number)
    return int(pair[1]), value


def read_scores(text: bytes, n_docs: int) -> list[float]:
    """One score a line."""
    lines = text.removeprefix(codecs.BOM_UTF8).rstrip(BLANK + b"\n").split(b"\n")
    scores = [_number(line.strip(BLANK)) for line in lines] if lines != [b""] else []
    if len(scores) != n_docs:
        raise Refusal
    return scores


def read_ranklib(text: bytes, documents: list[tuple[bytes, int]]) -> list[float]:
    """Lines of qid, place in the query, score."""
    rows = _cells(text, 3)
    named = [(qid, str(place).encode()) for qid, place in documents]
    return _in_order([((qid, place), score) for qid, place, score in rows], named)


def read_run(text: bytes, documents: list[Key]) -> list[float]:
    """A TREC run, or its scores as JSON."""
    rows = _json(text) or [(row[0], row[2], row[4]) for row in _cells(text, 6)]
    return _in_order([((qid, docno), score) for qid, docno, score in rows], documents)


def read_qrels(text: bytes) -> dict[str, list[tuple[bytes, int]]]:
    """The judged documents of each query with their labels: 2, 2.0 or L2."""
    queries: dict[str, list[tuple[bytes, int]]] = {}
    for qid, docno, label in _json(text) or [(row[0], *row[2:]) for row in _cells(text, 4)]:
        judged = queries.setdefault(query_id(qid), [])
        ntcir, whole = re.fullmatch(rb"L([0-9]+)", label), re.fullmatch(rb"(.*)\.0*", label)
        grade = _integer((ntcir or whole or [b"", label])[1])
        if docno in [name for name, _ in judged] or grade > 1_000_000:
            raise Refusal
        judged.append((docno, max(-1, grade)))
    return queries


def _json(text: bytes) -> list[tuple[bytes, bytes, bytes]]:
    """Query, document and number of JSON, {query: {document: number}}; none of other text."""
    if not re.match(rb"\{\s*[\"}]", text):
        return []
    try:
        queries = json.loads(text, object_pairs_hook=list)
        rows = [(qid, name, json.dumps(n)) for qid, names in queries for name, n in names]
    except (ValueError, TypeError):
        raise Refusal from None
    return [tuple(cell.encode("utf-8", "surrogatepass") for cell in row) for row in rows]


def _in_order(rows: list[tuple[tuple, bytes]], documents: list) -> list[float]:
    scores = {key: _number(score) for key, score in rows}
    if len(scores) != len(rows) or scores.keys() != set(documents):
        raise Refusal
    return [scores[key] for key in documents]


def _cells(text: bytes, count: int) -> list[list[bytes]]:
    """The cells of all lines that have any, below comments; all must have `count`."""
    text = text.removeprefix(codecs.BOM_UTF8)
    lines = [cells for cells in map(bytes.split, text.split(b"\n")) if cells]
    lines = [*dropwhile(lambda cells: cells[0] == b"#", lines)]
    if not lines or b"\0" in text or any(len(cells) != count for cells in lines):
        raise Refusal
    if JSON.match(text):
        raise Refusal
    return lines


def _number(text: bytes) -> float:
    if not NUMBER.fullmatch(text) or abs(float(text)) == float("inf"):
        raise Refusal
    return float(text)


def _integer(text: bytes) -> int:
    if not INTEGER.fullmatch(text) or abs(float(text)) == float("inf"):
        raise Refusal
    return int(text)
