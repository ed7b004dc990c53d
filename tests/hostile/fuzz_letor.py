"""LETOR text, read by our reader and by a plain one: equal numbers, or both name the line."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import plain_reader
from target import Misread, Target

from letorbench.datasets import reader
from letorbench.datasets.queryset import QuerySet
from letorbench.datasets.reader import ReadOptions, read_queries
from letorbench.errors import DataError

#: the last byte of an input chooses: how NULL is read, the width, the size of blocks
NULLS = ("error", "min", 2.5)
WIDTHS = (None, None, 4, 9)
BLOCKS = (*[1 << 20] * 8, 7, 64)


class Letor(Target):
    name = "letor"
    watched = ("plain_reader", "letorbench.datasets.text.read_errors")
    words = (
        b"qid:", b" qid:1 ", b"1:", b" 2:1", b"300:1", b"#docid = ", b"#docid=", b"docid", b"NULL",
    b"qid:07 ", b"qid:WT04-182 ", b"qid:2003/td/5 ", b"qid:\xc3\xa9 ",
    )  # fmt: skip

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.path = folder / "data.txt"
        self.place = f"{self.path}:"

    def seeds(self) -> list[bytes]:
        return [text + bytes([choice]) for text in super().seeds() for choice in (0, 1, 6, 98, 110)]

    def taken(self, data: bytes) -> bool:
        text, choice = data[:-1], data[-1] if data else 0
        null, width = NULLS[choice % 3], WIDTHS[choice // 3 % 4]
        self.path.write_bytes(text)
        try:
            expected = plain_reader.read(text, null, width)
        except plain_reader.Refusal as refusal:
            expected = refusal
        before, reader.BLOCK = reader.BLOCK, BLOCKS[choice // 12 % 10]
        try:
            found = read_queries(self.path, ReadOptions(null, width))
        except DataError as error:
            found = error
        finally:
            reader.BLOCK = before
        if isinstance(expected, plain_reader.Table):
            if isinstance(found, DataError):
                raise Misread(f"refused: {found}")
            compare(found, expected)
            return True
        if isinstance(found, QuerySet):
            raise Misread(f"taken, expected a refusal of line {expected.line}")
        line = re.match(r"(\d+): ", str(found).removeprefix(self.place))
        if int(line[1] if line else 0) != expected.line or not str(found).isprintable():
            raise Misread(f"expected a refusal of line {expected.line}, found {str(found)!r}")
        return False


def compare(found: QuerySet, expected: plain_reader.Table) -> None:
    """Raise Misread where the two differ; -0 and 0 are not the same."""
    features = found.features, expected.features
    if features[0].shape != features[1].shape or features[0].tobytes() != features[1].tobytes():
        if not np.array_equal(*features):  # the least of -0 and 0 may be either
            raise Misread("other features")
    if found.labels.tolist() != expected.labels:
        raise Misread("other labels")
    if np.repeat(found.qids, np.diff(found.offsets)).tolist() != expected.qids:
        raise Misread("other qids")
    ids = [b""] * found.n_docs if found.docids is None else found.docids.tolist()
    if ids != expected.docids:
        raise Misread("other document ids")
