"""From a `QuerySet` to LETOR text, whole blocks of rows as one array of characters.

Every cell has room for the longest text it can need and is filled up with zero bytes. All zero
bytes of a block are removed at once. The text is the same on every machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import IO

import numpy as np

from letorbench.datasets.queryset import QuerySet

#: the values that become text at a time; a block's characters then take some ten MB
_BLOCK = 1 << 19


@dataclass(frozen=True, eq=False)
class TextFormat:
    """How a release writes its lines.

    Parameters
    ----------
    decimals : int
        The digits after the point, at most 6.
    whole : ndarray of shape (n_features,), bool, optional
        The columns of whole numbers, which are written without a point.
    sparse : bool
        Whether zeros are left out.
    docids : bool
        Whether each line ends in `#docid = …`.
    ending : bytes
        What stands before the newline: MSLR's lines end in a blank, those of Gov in a return.
    """

    decimals: int = 6
    whole: np.ndarray | None = None
    sparse: bool = False
    docids: bool = False
    ending: bytes = b""


def write_text(file: IO[bytes], queries: QuerySet, form: TextFormat) -> None:
    """Write every document of a set as a line.

    The values must be finite and below a million in size. They are rounded to the format's
    decimals.
    """
    qids = np.repeat(np.char.encode(queries.qids, "utf-8"), queries.lengths)
    step = max(1, _BLOCK // queries.n_features)
    for start in range(0, queries.n_docs, step):
        rows = slice(start, min(start + step, queries.n_docs))
        columns = [
            _number(queries.labels[rows], 4),
            _constant(b" qid:", rows),
            qids[rows, None].view(np.uint8),
            _features(queries.features[rows], form),
        ]
        if form.docids:
            columns += [_constant(b" #docid = ", rows), queries.docids[rows, None].view(np.uint8)]
        columns.append(_constant(form.ending + b"\n", rows))
        text = np.concatenate(columns, axis=1)
        file.write(text[text != 0].tobytes())


def _features(values: np.ndarray, form: TextFormat) -> np.ndarray:
    """Return " index:value" of every cell, (rows, n_features * width) uint8, zeros between."""
    n_docs, n_features = values.shape
    prefixes = np.zeros(n_features, dtype="S8")
    prefixes[:] = [f" {index}:".encode() for index in range(1, n_features + 1)]
    prefix = prefixes[:, None].view(np.uint8)
    scale = 10**form.decimals
    scaled = np.rint(values.astype(np.float64) * scale).astype(np.int64)
    whole, rest = np.divmod(np.abs(scaled), scale)
    cells = np.zeros((n_docs, n_features, 8 + 1 + 6 + 1 + form.decimals), dtype=np.uint8)
    cells[:, :, :8] = prefix
    cells[:, :, 8] = np.where(scaled < 0, ord("-"), 0)
    cells[:, :, 9:15] = _digits(whole, 6)
    if form.decimals:
        point = np.zeros(n_features, bool) if form.whole is None else form.whole
        cells[:, ~point, 15] = ord(".")
        high, low = np.divmod(rest * 10 ** (6 - form.decimals), 1000)
        places = np.concatenate([_THREE[high], _THREE[low]], axis=2)[:, :, : form.decimals]
        cells[:, :, 16:] = np.where(point[:, None], 0, places)
    if form.sparse:
        cells *= (scaled != 0)[:, :, None]
    return cells.reshape(n_docs, -1)


def _constant(text: bytes, rows: slice) -> np.ndarray:
    return np.broadcast_to(np.frombuffer(text, np.uint8), (rows.stop - rows.start, len(text)))


def _number(values: np.ndarray, width: int) -> np.ndarray:
    """Return the digits of whole numbers below 10^width, (n, width) uint8, after zero bytes."""
    places = 10 ** np.arange(width - 1, -1, -1)
    shifted = values[:, None] // places
    return np.where((shifted > 0) | (places == 1), shifted % 10 + ord("0"), 0).astype(np.uint8)


def _digits(whole: np.ndarray, width: int) -> np.ndarray:
    """Return the digits of numbers below a million, (…, 6) uint8, by tables of three digits."""
    high, low = np.divmod(whole, 1000)
    return np.concatenate([_LEAD[high], _LOW[low + 1000 * (high > 0)]], axis=-1)


def _table(numbers: range, form: str) -> np.ndarray:
    texts = np.array([format(number, form).rjust(3, "\0").encode() for number in numbers], "S3")
    return texts[:, None].view(np.uint8).reshape(len(texts), 3)


_THREE = _table(range(1000), "03d")
_PLAIN = _table(range(1000), "d")
_LEAD = np.concatenate([np.zeros((1, 3), np.uint8), _PLAIN[1:]])
_LOW = np.concatenate([_PLAIN, _THREE])
