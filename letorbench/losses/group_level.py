"""A loss of groups: a query's documents of one label are one object.

Tran, Phung, Venkatesh, "Learning Rank Functionals: An Empirical Study", 2012, Table 2. A group's
score is an aggregate of its documents'; the loss ranks groups, of which a query has one a label.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.losses.base import Loss

Aggregate = Literal["min", "max", "mean", "log-mean-exp"]
AGGREGATES = get_args(Aggregate)


def group_level(loss: Loss, aggregate: str, train: QuerySet) -> Loss:
    """`loss` on the groups of that training set, a loss of its documents' scores.

    aggregate: one of `AGGREGATES`; "log-mean-exp" is the paper's geometric mean, and of equal
    extreme scores the first one's document takes the gradient.
    """
    groups = _groups(train)

    def function(scores: np.ndarray, queries: QuerySet) -> tuple[np.ndarray, np.ndarray]:
        ordered = scores[train.by_label.order]
        level, shares = _aggregate(ordered, train.by_label.starts, aggregate)
        value, slope = loss(level, groups)
        gradient = np.empty(len(scores))
        sizes = np.diff(train.by_label.starts)
        gradient[train.by_label.order] = np.repeat(slope, sizes) * shares
        return value, gradient

    return Loss(f"{loss.name} of groups", f"{loss.formula}, of {aggregate} scores", function)


def _groups(queries: QuerySet) -> QuerySet:
    """Each block of one label as a document without features."""
    blocks = queries.by_label
    return QuerySet(
        np.empty((len(blocks.labels), 0), np.float32),
        blocks.labels.astype(np.int32),
        blocks.queries,
        queries.qids,
    )


def _aggregate(
    ordered: np.ndarray, starts: np.ndarray, aggregate: str
) -> tuple[np.ndarray, np.ndarray]:
    """(n_blocks,) scores of the blocks, (n_docs,) their derivatives by the documents' scores."""
    sizes = np.diff(starts)
    first = starts[:-1]
    if aggregate == "mean":
        return np.add.reduceat(ordered, first) / sizes, np.repeat(1.0 / sizes, sizes)
    if aggregate == "log-mean-exp":
        top = np.maximum.reduceat(ordered, first)
        e = np.exp(ordered - np.repeat(top, sizes))
        total = np.add.reduceat(e, first)
        return top + np.log(total / sizes), e / np.repeat(total, sizes)
    level = (np.minimum if aggregate == "min" else np.maximum).reduceat(ordered, first)
    hit = np.flatnonzero(ordered == np.repeat(level, sizes))
    shares = np.zeros(len(ordered))
    block = np.repeat(np.arange(len(sizes)), sizes)[hit]
    shares[hit[np.unique(block, return_index=True)[1]]] = 1.0
    return level, shares
