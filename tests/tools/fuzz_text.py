"""LETOR text, score files, RankLib's, TREC runs and qrels: ours and a plain reader must agree."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

import numpy as np
import plain_readers
from fuzz import Misread, Target, one_line
from plain_readers import Refusal, Table

from letorbench.compiled.threads import limited_threads
from letorbench.datasets import reader
from letorbench.datasets.queryset import QuerySet
from letorbench.datasets.reader import ReadOptions, read_queries
from letorbench.errors import DataError
from letorbench.results.external import read_qrels, read_ranklib, read_run
from letorbench.results.scores import read_scores

#: the last byte of an input chooses: how NULL is read, the width, the size of blocks and the
#: threads, which cost more than all else where other processes run; from CLIP on, also that values
#: beyond float32 are clipped
CLIP = 120
NULLS = ("error", "min", 2.5)
WIDTHS = (None, None, 4, 9)
BLOCKS = (*[(1 << 20, 1)] * 7, (7, 2), (7, 1), (64, 1))


class Letor(Target):
    """LETOR text: equal numbers, or both name the line."""

    short = 500
    words = (
        b"qid:", b" qid:1 ", b"1:", b" 2:1", b"300:1", b"#docid = ", b"#docid=", b"docid", b"NULL",
        b"qid:07 ", b"qid:WT04-182 ", b"qid:2003/td/5 ", b"qid:\xc3\xa9 ", b"q" * 200, b"q" * 1000,
    )  # fmt: skip

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.path = folder / "data.txt"

    def seeds(self) -> list[bytes]:
        texts = super().seeds()
        texts += [text.replace(b"qid:", b"qid:WT04-") for text in texts]
        return [text + bytes([choice]) for text in texts for choice in (0, 1, 6, 98, 110, 121)]

    def taken(self, data: bytes) -> bool:
        text, choice = data[:-1], data[-1] if data else 0
        null, width = NULLS[choice % 3], WIDTHS[choice // 3 % 4]
        self.path.write_bytes(text)
        try:
            expected = plain_readers.read_letor(text, null, width, choice >= CLIP)
        except Refusal as refusal:
            expected = refusal
        before = reader.BLOCK
        reader.BLOCK, threads = BLOCKS[choice // 12 % 10]
        try:
            with limited_threads(threads):
                result = read_queries(self.path, ReadOptions(null, width, choice >= CLIP))
        except DataError as error:
            result = error
        finally:
            reader.BLOCK = before
        if isinstance(expected, Table):
            if isinstance(result, DataError):
                raise Misread(f"refused: {result}")
            compare(result, expected)
            return True
        if isinstance(result, QuerySet):
            raise Misread(f"taken, expected a refusal of line {expected.line}")
        one_line(result)
        line = re.match(r"(\d+): ", str(result).removeprefix(f"{self.path}:"))
        if int(line[1] if line else 0) != expected.line:
            raise Misread(f"expected a refusal of line {expected.line}, found {str(result)!r}")
        return False


def compare(result: QuerySet, expected: Table) -> None:
    """Raise Misread where the two differ; -0 and 0 are not the same."""
    ours, plain = result.features, expected.features
    if ours.shape != plain.shape or ours.tobytes() != plain.tobytes():
        if not np.array_equal(ours, plain):  # the least of -0 and 0 may be either
            raise Misread("other features")
    if result.labels.tolist() != expected.labels:
        raise Misread("other labels")
    if np.repeat(result.qids, np.diff(result.offsets)).tolist() != expected.qids:
        raise Misread("other qids")
    ids = [b""] * result.n_docs if result.docids is None else result.docids.tolist()
    if ids != expected.docids:
        raise Misread("other document ids")


#: five documents of two queries
QIDS, NAMES = (7, 7, 7, -12, -12), (b"GX-1", b"2", b"a", b"GX-1", b"b")
QUERIES = QuerySet(
    np.zeros((5, 1), np.float32), np.zeros(5, np.int32), np.array([0, 3, 5]), np.array([7, -12]),
    np.array(NAMES),
)  # fmt: skip
PLACES = [(str(qid).encode(), place) for qid, place in zip(QIDS, (0, 1, 2, 0, 1))]
DOCUMENTS = [(str(qid).encode(), name) for qid, name in zip(QIDS, NAMES)]


def judged(path: Path) -> dict[str, list[tuple[bytes, int]]]:
    """Return TREC's judgements by query."""
    result = read_qrels(path)
    parts = [slice(*pair) for pair in zip(result.offsets[:-1], result.offsets[1:])]
    pairs = [list(zip(result.docids[p].tolist(), result.labels[p].tolist())) for p in parts]
    return dict(zip(result.qids.tolist(), pairs))


class Lines(Target):
    """Lines that ours and the plain reader, of a file and of its bytes, must read alike."""

    ours: ClassVar[Callable[[Path], object]]
    plainly: ClassVar[Callable[[bytes], object]]

    def taken(self, data: bytes) -> bool:
        path = self.folder / "lines.txt"
        path.write_bytes(data)
        try:
            expected = self.plainly(data)
        except Refusal:
            expected = None
        try:
            result = self.ours(path)
        except DataError as error:
            one_line(error)
            result = None
        if result != expected:
            raise Misread(f"found {result!r}, expected {expected!r}")
        return result is not None


class Scores(Lines):
    words = (b"0.5\n", b"-1e-3\n", b"1e308", b"1e309", b"-1e400", b"4.9e-324")
    ours = staticmethod(lambda path: read_scores(path, 5).tolist())
    plainly = staticmethod(lambda data: plain_readers.read_scores(data, 5))


class RankLib(Lines):
    words = (b"7 0 0.5\n", b"-12 1 2\n", b"-12", b"7", b"4", b"-1")
    ours = staticmethod(lambda path: read_ranklib(path, QUERIES).tolist())
    plainly = staticmethod(lambda data: plain_readers.read_ranklib(data, PLACES))


class Run(Lines):
    words = (b"7 Q0 GX-1 1 0.5 me\n", b"-12 Q0 b 1 2 me\n", b"-12", b"7", b"GX-1", b"# a\n",
             b'{"7": {"GX-1": 0.5, "b": 1}, ', b'"-12": {"b": 2}}')  # fmt: skip
    ours = staticmethod(lambda path: read_run(path, QUERIES).tolist())
    plainly = staticmethod(lambda data: plain_readers.read_run(data, DOCUMENTS))


class Qrels(Lines):
    words = (b"7 0 GX-1 1\n", b"-12 0 b 2\n", b"1000", b"1001", b"-1", b"WT04-1 0 b 1\n",
             b"07 0 b 1\n", b"# a\n", b"2.0", b"L2", b'{"7": {"GX-1": 1}}')  # fmt: skip
    ours, plainly = staticmethod(judged), staticmethod(plain_readers.read_qrels)
