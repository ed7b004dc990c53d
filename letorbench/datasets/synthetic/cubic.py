"""Artificial data of the RankNet and LambdaRank papers: a random cubic polynomial, cut."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from letorbench.datasets.queryset import QuerySet

#: shares of the labels 0..4: MSLR-WEB10K's, since the paper takes "real datasets'" unprinted
REAL_SHARES = (0.5201, 0.3218, 0.1329, 0.0178, 0.0074)
_CHUNK = 50_000


def cubic(
    rng: np.random.Generator,
    sizes: Sequence[int],
    n_features: int = 50,
    docs: int | tuple[int, int] = 50,
    shares: Sequence[float] = REAL_SHARES,
) -> tuple[QuerySet, ...]:
    """One QuerySet for each number of queries in `sizes`, all labelled by one polynomial.

    LambdaRank (Burges, Ragno, Le 2006, section 6.3.1): 50-dimensional inputs, 50 documents a
    query, five levels, 10,000/5,000/10,000 queries. Inputs and all coefficients of degree 0
    to 3 are drawn from N(0, 1); the outputs of all documents are cut so that the labels
    0, 1, ... have the given shares. docs: documents of every query, or the least and the
    most. The qids count from 1 through all sets.
    """
    n_queries = sum(sizes)
    least, most = (docs, docs) if isinstance(docs, int) else docs
    lengths = rng.integers(least, most + 1, n_queries)
    polynomial = _coefficients(rng, n_features)
    features = rng.standard_normal((int(lengths.sum()), n_features), dtype=np.float32)
    labels = cut(evaluate(polynomial, features), shares)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    whole = QuerySet(features, labels, offsets, np.arange(1, n_queries + 1))
    bounds = np.concatenate([[0], np.cumsum(sizes)])
    return tuple(whole.queries(int(a), int(b)) for a, b in zip(bounds[:-1], bounds[1:]))


def cut(outputs: np.ndarray, shares: Sequence[float]) -> np.ndarray:
    """(n,) int32 labels 0, 1, ... with the shares given, larger where the output is larger.

    The numbers of documents are n times the shares, rounded so that they add up; equal
    outputs are split in the order of the rows.
    """
    bounds = np.rint(np.cumsum(shares) / np.sum(shares) * len(outputs)).astype(np.int64)
    labels = np.empty(len(outputs), dtype=np.int32)
    labels[np.argsort(outputs, kind="stable")] = np.searchsorted(
        bounds, np.arange(len(outputs)), side="right"
    )
    return labels


def _coefficients(rng: np.random.Generator, d: int) -> tuple[np.ndarray, ...]:
    """Degrees 0 to 3; squares and cubes have a coefficient for i <= j <= k, 0 elsewhere."""
    i, j, k = np.ogrid[:d, :d, :d]
    return (
        rng.standard_normal(()),
        rng.standard_normal(d),
        np.triu(rng.standard_normal((d, d))),
        np.where((i <= j) & (j <= k), rng.standard_normal((d, d, d)), 0.0),
    )


def evaluate(polynomial: tuple[np.ndarray, ...], features: np.ndarray) -> np.ndarray:
    """(n,) float64: c + Σ c_i x_i + Σ c_ij x_i x_j + Σ c_ijk x_i x_j x_k of each row x."""
    constant, linear, square, cube = polynomial
    result = np.empty(len(features))
    for start in range(0, len(features), _CHUNK):
        x = features[start : start + _CHUNK].astype(np.float64)
        value = constant + x @ linear
        for i in range(x.shape[1]):
            later = x[:, i:]
            value += x[:, i] * (
                later @ square[i, i:] + np.einsum("nj,nj->n", later @ cube[i, i:, i:], later)
            )
        result[start : start + _CHUNK] = value
    return result
