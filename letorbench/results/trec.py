"""TREC's two files: runs (qid Q0 docno rank score tag) and qrels (qid iter docno label).

A document is named by its id. Where the data have no ids, its name is its position in its
query, counted from 1.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from letorbench.datasets.arrays import LONGEST_QID
from letorbench.datasets.queryset import QuerySet
from letorbench.errors import DataError, UsageError
from letorbench.files import write_atomically
from letorbench.measures import rank
from letorbench.results.columns import (
    Placed,
    columns,
    document_names,
    number,
    query_numbers,
    shown,
)

RUN = ("qid", "Q0", "docno", "rank", "score", "tag")
QRELS = ("qid", "iter", "docno", "label")
#: the largest label whose gain 2^label - 1 is finite, with room to spare
LARGEST_LABEL = 1000


def read_run(path: Path, queries: QuerySet) -> np.ndarray:
    """Read the scores of a query set from a run.

    Documents rank by their scores, as in trec_eval. The rank column is not read.

    Parameters
    ----------
    path : Path
        The run file.
    queries : QuerySet
        The documents that the scores are of.

    Returns
    -------
    ndarray of shape (n_docs,), float64
        The scores in the order of the query set.

    Raises
    ------
    DataError
        A line has an unknown query or document, or a document comes twice or not at all.
    """
    rows = _rows(path, queries)
    known = query_numbers(queries)
    placed = Placed(path, queries)
    for line, (qid, _, docno, _, score, _) in columns(path, RUN):
        row = rows.get((qid, docno))
        if row is None:
            what = f"document {shown(docno)} of query {shown(qid)}"
            what = what if qid in known else f"query {shown(qid)}"
            raise DataError(f"{path}:{line}: found {what}, which the data do not have")
        placed.put(line, row, number(path, line, score))
    return placed.all()


def read_qrels(path: Path) -> QuerySet:
    """Read the judged documents of a qrels file, in the order of its lines.

    The lines of a query need not stay together. Labels below 0 count as 0, as in trec_eval.

    Returns
    -------
    QuerySet
        The documents, without features.

    Raises
    ------
    DataError
        A query's id is not printable, a label is no number, or a document comes twice.
    """
    found: dict[str, dict[bytes, int]] = {}
    for line, (qid, _, docno, label) in columns(path, QRELS):
        query = qid.decode("utf-8", "surrogateescape")
        if len(qid) > LONGEST_QID or not query.isprintable():
            expected = f"printable characters in UTF-8, at most {LONGEST_QID:,} bytes"
            raise DataError(f"{path}:{line}: found query id {shown(qid)!r}, expected {expected}")
        documents = found.setdefault(query, {})
        if docno in documents:
            what = f"document {shown(docno)} of query {shown(qid)}"
            raise DataError(f"{path}:{line}: found {what} again, expected it once")
        grade = int(number(path, line, label, int))
        if grade > LARGEST_LABEL:
            raise DataError(f"{path}:{line}: found label {grade}, expected at most {LARGEST_LABEL}")
        documents[docno] = max(0, grade)
    labels = np.array([g for documents in found.values() for g in documents.values()], np.int32)
    lengths = [len(documents) for documents in found.values()]
    return QuerySet(
        np.zeros((len(labels), 0), np.float32),
        labels,
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        np.array(list(found)),
        np.array([docno for documents in found.values() for docno in documents]),
    )


def write_run(path: Path, queries: QuerySet, scores: np.ndarray, tag: str) -> None:
    """Write scores of shape (n_docs,) as a run: every query by rank, ties in file order."""
    if len(tag.split()) != 1:
        raise UsageError(f"tag {tag!r}: expected one word")
    names = document_names(queries)
    _rows(path, queries)
    order = rank(scores, queries.offsets).tolist()
    values = np.asarray(scores, dtype=np.float64).tolist()
    with write_atomically(path) as file:
        for query, qid in enumerate(queries.qids.tolist()):
            rows = order[queries.offsets[query] : queries.offsets[query + 1]]
            file.writelines(
                f"{qid} Q0 {names[row].decode()} {place} {values[row]!r} {tag}\n"
                for place, row in enumerate(rows, 1)
            )


def write_qrels(path: Path, queries: QuerySet) -> None:
    """Write the labels of the documents as qrels, in file order."""
    qids = np.repeat(queries.qids, queries.lengths).tolist()
    cells = zip(qids, document_names(queries), queries.labels.tolist())
    with write_atomically(path) as file:
        file.writelines(f"{qid} 0 {name.decode()} {label}\n" for qid, name, label in cells)


def _rows(path: Path, queries: QuerySet) -> dict[tuple[bytes, bytes], int]:
    """Return each document's row by qid and name; DataError where two have the same."""
    qids = [qid.encode() for qid in np.repeat(queries.qids, queries.lengths).tolist()]
    rows: dict[tuple[bytes, bytes], int] = {}
    for row, key in enumerate(zip(qids, document_names(queries))):
        if rows.setdefault(key, row) != row:
            raise DataError(
                f"{path}: the data have two documents {shown(key[1])} in query {shown(key[0])}, "
                "which a TREC file cannot tell apart"
            )
    return rows
