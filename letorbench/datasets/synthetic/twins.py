"""Synthetic twins: made-up queries in the shape of a published data set, part by part.

A document has a hidden quality. The labels cut it into the published shares. Most features are
noisy monotone functions of it, so that there is something to learn.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO

import numpy as np

from letorbench.datasets.catalog import Entry, TwinShape
from letorbench.datasets.queryset import QuerySet
from letorbench.datasets.synthetic.cubic import cut
from letorbench.errors import UsageError

#: about how many values are made at a time
_BLOCK = 1 << 20
#: the share of the variance of the hidden quality that lies between queries
_QUERY_SHARE = 0.3
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


@dataclass(frozen=True, eq=False)
class Plan:
    """All of a twin but its features, which are made block by block."""

    entry: Entry
    shape: TwinShape
    #: the documents of each query
    lengths: np.ndarray
    #: of each document
    labels: np.ndarray
    quality: np.ndarray
    #: the correlation of each feature with the quality; 0 for constant ones
    weights: np.ndarray
    #: the spread and the level of each feature's values
    steep: np.ndarray
    level: np.ndarray
    #: 0 for a constant feature; of raw values, 1 for counts, 2 for reals, 3 for log probabilities
    kind: np.ndarray

    @property
    def form(self) -> TextFormat:
        """How the original's release writes its lines."""
        if self.shape.values == "sparse":
            return TextFormat(sparse=True)
        if self.shape.values == "raw":
            return TextFormat(whole=self.kind <= 1, ending=b" ")
        return TextFormat(whole=self.kind == 0, docids=True, ending=self.shape.ending.encode())


def plan(rng: np.random.Generator, entry: Entry, scale: float = 1.0) -> Plan:
    """Draw the lengths, labels and feature properties of a twin of a share of the queries."""
    if not 0 < scale <= 1:
        raise UsageError(f"scale is {scale}, expected more than 0 and at most 1")
    shape = entry.twin
    assert shape is not None and entry.queries and entry.documents  # as every twin has them
    n_queries = max(10, round(entry.queries * scale))
    total = round(entry.documents * n_queries / entry.queries)
    lengths = _lengths(rng, n_queries, total, shape)
    of_query = np.repeat(rng.standard_normal(n_queries), lengths)
    quality = np.sqrt(_QUERY_SHARE) * of_query
    quality += np.sqrt(1 - _QUERY_SHARE) * rng.standard_normal(total)
    kind = rng.integers(1, 4, entry.n_features)
    kind[rng.choice(entry.n_features, shape.constant, replace=False)] = 0
    return Plan(
        entry,
        shape,
        lengths,
        cut(quality, entry.published_shares() or shape.shares),
        quality.astype(np.float32),
        np.where(kind > 0, rng.uniform(0.0, 0.5, entry.n_features), 0.0).astype(np.float32),
        rng.uniform(0.3, 1.2, entry.n_features).astype(np.float32),
        rng.uniform(0.0, 5.0, entry.n_features).astype(np.float32),
        kind,
    )


def parts(twin: Plan) -> list[tuple[int, int]]:
    """Return (first, last + 1) query of each part: five of one size, or the fixed split's."""
    n_queries = len(twin.lengths)
    shares = twin.shape.split or (1 / twin.entry.n_folds,) * twin.entry.n_folds
    bounds = np.rint(np.concatenate([[0], np.cumsum(shares)]) * n_queries).astype(int)
    return [(int(a), int(b)) for a, b in zip(bounds[:-1], bounds[1:])]


def blocks(rng: np.random.Generator, twin: Plan, start: int, stop: int) -> Iterator[QuerySet]:
    """Yield the queries start:stop with their features, some thousand documents at a time."""
    offsets = np.concatenate([[0], np.cumsum(twin.lengths)])
    rows_at_once = _BLOCK // twin.entry.n_features
    while start < stop:
        last = int(np.searchsorted(offsets, offsets[start] + rows_at_once, side="right")) - 1
        last = min(max(last, start + 1), stop)
        rows = slice(int(offsets[start]), int(offsets[last]))
        local = offsets[start : last + 1] - offsets[start]
        yield QuerySet(
            _features(rng, twin, twin.quality[rows], local),
            twin.labels[rows],
            local,
            np.array([twin.shape.qid.format(query) for query in range(start + 1, last + 1)]),
            np.array([f"synthetic{row:08d}".encode() for row in range(rows.start, rows.stop)]),
        )
        start = last


def _features(
    rng: np.random.Generator, twin: Plan, quality: np.ndarray, offsets: np.ndarray
) -> np.ndarray:
    shape = (len(quality), len(twin.weights))
    noise = rng.standard_normal(shape, dtype=np.float32)
    latent = twin.weights * quality[:, None] + np.sqrt(1 - twin.weights**2) * noise
    if twin.shape.values == "unit":
        values = _normalised(np.exp(twin.steep * latent), offsets)
    elif twin.shape.values == "sparse":
        values = np.clip(0.5 + 0.2 * latent, 0.0, 1.0)
        values[rng.random(shape, dtype=np.float32) < twin.level / 6] = 0.0
    else:
        values = _raw(twin, latent)
    values[:, twin.kind == 0] = 0.0
    return values


def _raw(twin: Plan, latent: np.ndarray) -> np.ndarray:
    grown = np.minimum(np.exp(twin.steep * latent + twin.level), 900_000).astype(np.float32)
    values = np.where(twin.kind == 1, np.floor(grown), grown)
    return np.where(twin.kind == 3, 3 * latent - 4 * twin.level, values)


def _normalised(values: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Move and stretch each query's values of a feature to [0, 1], as LETOR does."""
    lengths = np.diff(offsets)
    least = np.repeat(np.minimum.reduceat(values, offsets[:-1]), lengths, axis=0)
    most = np.repeat(np.maximum.reduceat(values, offsets[:-1]), lengths, axis=0)
    span = most - least
    return np.where(span > 0, (values - least) / np.where(span > 0, span, 1), 0).astype(np.float32)


def _lengths(rng: np.random.Generator, n_queries: int, total: int, shape: TwinShape) -> np.ndarray:
    """Draw lengths within the shape's bounds that add up to `total`, (n_queries,) int64."""
    raw = np.exp(shape.spread * rng.standard_normal(n_queries))
    factor = total / raw.sum()
    for _ in range(20):
        factor *= total / np.clip(raw * factor, shape.least, shape.most).sum()
    lengths = np.clip(np.rint(raw * factor), shape.least, shape.most).astype(np.int64)
    while (missing := total - int(lengths.sum())) != 0:
        room = lengths < shape.most if missing > 0 else lengths > shape.least
        chosen = rng.permutation(np.flatnonzero(room))[: abs(missing)]
        lengths[chosen] += np.sign(missing)
    return lengths
