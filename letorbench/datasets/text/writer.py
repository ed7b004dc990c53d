"""From a `QuerySet` to LETOR text, which is the same on every machine."""

from dataclasses import dataclass
from typing import IO

import numpy as np

from letorbench.datasets.queryset import QuerySet

#: rows that become text at a time
_ROWS = 1 << 12


@dataclass(frozen=True, eq=False)
class TextFormat:
    """The format of a release's lines."""

    decimals: int = 6  # the digits after the point, at most 6
    whole: np.ndarray | None = None  # (n_features,) bool: columns of integers, without a point
    sparse: bool = False  # whether zeros are left out
    docids: bool = False  # whether each line ends in `#docid = …`
    ending: bytes = b""  # before the newline: MSLR's lines end in a blank, those of Gov in a return


def write_text(file: IO[bytes], queries: QuerySet, form: TextFormat) -> None:
    """Write a line per document; finite values below 1e6 are rounded to the format's decimals."""
    whole = np.zeros(queries.n_features, bool) if form.whole is None else form.whole
    decimals = np.where(whole, 0, form.decimals)
    cells = [f" {index}:%.{places}f" for index, places in enumerate(decimals, 1)]
    every, scale = "".join(cells), 10.0**form.decimals
    docids = queries.docids if form.docids else None
    for row, (label, qid) in enumerate(zip(queries.labels.tolist(), queries.qid.tolist())):
        if row % _ROWS == 0:
            block = queries.features[row : row + _ROWS].astype(np.float64)
            values = np.rint(block * scale) / scale + 0.0  # which makes 0 of -0
        cell = values[row % _ROWS]
        if form.sparse:
            there = np.flatnonzero(cell).tolist()
            text = "".join([cells[k] for k in there]) % tuple(cell[there].tolist())
        else:
            text = every % tuple(cell.tolist())
        docid = b"" if docids is None else b" #docid = " + docids[row]
        file.write(f"{label} qid:{qid}{text}".encode() + docid + form.ending + b"\n")
