"""Score files, RankLib's, TREC runs and qrels, each read by ours and by a plain reader."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import plain_scores
from target import Misread, Target

from letorbench.datasets.queryset import QuerySet
from letorbench.errors import DataError
from letorbench.results.external import read_qrels, read_ranklib, read_run
from letorbench.results.scores import read_scores

READERS = ("letorbench.results.external", "letorbench.results.scores", "plain_scores")
#: five documents of two queries
QIDS, NAMES = (7, 7, 7, -12, -12), (b"GX-1", b"2", b"a", b"GX-1", b"b")
QUERIES = QuerySet(
    np.zeros((5, 1), np.float32), np.zeros(5, np.int32), np.array([0, 3, 5]), np.array([7, -12]),
    np.array(NAMES),
)  # fmt: skip


class Scores(Target):
    """One score a line."""

    name = "scores"
    watched = READERS
    words = (b"0.5\n", b"-1e-3\n", b"1e308", b"1e309", b"-1e400", b"4.9e-324")

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.path = folder / "scores.txt"

    def ours(self) -> object:
        return read_scores(self.path, 5).tolist()

    def plainly(self, data: bytes) -> object:
        return plain_scores.read_scores(data, 5)

    def taken(self, data: bytes) -> bool:
        self.path.write_bytes(data)
        return agree(lambda: self.plainly(data), self.ours)


def agree(plainly: Callable[[], object], ours: Callable[[], object]) -> bool:
    """Whether both take the file; Misread where they differ."""
    try:
        expected = plainly()
    except plain_scores.Refused:
        expected = None
    try:
        found = ours()
    except DataError as error:
        if not str(error).isprintable():
            raise Misread(f"a message that is not one line: {error}") from None
        found = None
    if found != expected:
        raise Misread(f"found {found!r}, expected {expected!r}")
    return found is not None


class RankLib(Scores):
    """Lines of qid, place, score."""

    name = "ranklib"
    words = (b"7 0 0.5\n", b"-12 1 2\n", b"-12", b"7", b"4", b"-1")

    def ours(self) -> object:
        return read_ranklib(self.path, QUERIES).tolist()

    def plainly(self, data: bytes) -> object:
        places = (0, 1, 2, 0, 1)
        documents = [(str(qid).encode(), place) for qid, place in zip(QIDS, places)]
        return plain_scores.read_ranklib(data, documents)


class Run(Scores):
    """A TREC run."""

    name = "run"
    words = (b"7 Q0 GX-1 1 0.5 me\n", b"-12 Q0 b 1 2 me\n", b"-12", b"7", b"GX-1")

    def ours(self) -> object:
        return read_run(self.path, QUERIES).tolist()

    def plainly(self, data: bytes) -> object:
        documents = [(str(qid).encode(), name) for qid, name in zip(QIDS, NAMES)]
        return plain_scores.read_run(data, documents)


class Qrels(Scores):
    """TREC's judgements."""

    name = "qrels"
    words = (
        b"7 0 GX-1 1\n",
        b"-12 0 b 2\n",
        b"1000",
        b"1001",
        b"-1",
        b"WT04-1 0 b 1\n",
        b"07 0 b 1\n",
    )

    def ours(self) -> object:
        found = read_qrels(self.path)
        parts = [slice(*pair) for pair in zip(found.offsets[:-1], found.offsets[1:])]
        judged = [list(zip(found.docids[p].tolist(), found.labels[p].tolist())) for p in parts]
        return dict(zip(found.qids.tolist(), judged))

    def plainly(self, data: bytes) -> object:
        return plain_scores.read_qrels(data)
