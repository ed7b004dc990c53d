"""Readers of score files, TREC runs and qrels in plain Python, from their descriptions alone.

They share no code with `letorbench.results`. `Refused` stands for any mistake.
"""

from __future__ import annotations

import re
import unicodedata

NUMBER = re.compile(rb"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
INTEGER = re.compile(rb"[+-]?[0-9]+")
#: Python would take minutes for an integer of more digits, and refuses it
MOST_DIGITS = 4300
BLANK = b" \t\r\v\f"

Key = tuple[bytes, bytes]


class Refused(Exception):
    """The file is not what it should be."""


def number(text: bytes) -> float:
    if not NUMBER.fullmatch(text) or abs(float(text)) == float("inf"):
        raise Refused
    return float(text)


def integer(text: bytes) -> int:
    if not INTEGER.fullmatch(text) or len(text.lstrip(b"+-")) > MOST_DIGITS:
        raise Refused
    return int(text)


def cells(text: bytes, count: int) -> list[list[bytes]]:
    """The cells of all lines that have any; all must have `count`."""
    lines = [line.split() for line in text.split(b"\n")]
    found = [line for line in lines if line]
    if not found or b"\0" in text or any(len(line) != count for line in found):
        raise Refused
    return found


def read_scores(text: bytes, n_docs: int) -> list[float]:
    lines = text.rstrip(BLANK + b"\n").split(b"\n")
    found = [number(line.strip(BLANK)) for line in lines] if lines != [b""] else []
    if len(found) != n_docs:
        raise Refused
    return found


def read_ranklib(text: bytes, documents: list[tuple[bytes, int]]) -> list[float]:
    """Documents are known by their qid and their place in the query."""
    found: dict[tuple[bytes, int], float] = {}
    for qid, place, score in cells(text, 3):
        put(found, (qid, integer(place)), number(score), documents)
    return in_order(found, documents)


def read_run(text: bytes, documents: list[Key]) -> list[float]:
    found: dict[Key, float] = {}
    for qid, _, docno, _, score, _ in cells(text, 6):
        put(found, (qid, docno), number(score), documents)
    return in_order(found, documents)


def put(found: dict, key: tuple, score: float, documents: list) -> None:
    if key in found or key not in documents:
        raise Refused
    found[key] = score


def in_order(found: dict, documents: list) -> list[float]:
    if len(found) != len(documents):
        raise Refused
    return [found[key] for key in documents]


def query_id(text: bytes) -> str:
    try:
        decoded = text.decode()
    except UnicodeDecodeError:
        raise Refused from None
    if len(text) > 1000 or any(unicodedata.category(each)[0] in "CZ" for each in decoded):
        raise Refused
    return decoded


def read_qrels(text: bytes) -> dict[str, list[tuple[bytes, int]]]:
    """The judged documents of each query with their labels."""
    found: dict[str, list[tuple[bytes, int]]] = {}
    for qid, _, docno, label in cells(text, 4):
        judged = found.setdefault(query_id(qid), [])
        if docno in [name for name, _ in judged] or integer(label) > 1000:
            raise Refused
        judged.append((docno, max(0, integer(label))))
    return found
