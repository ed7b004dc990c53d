"""A loss of groups: all documents of a query with the same label are one object.

T. Tran, D. Phung, S. Venkatesh, "Learning Rank Functionals: An Empirical Study", 2012, Table 2. A
group's score aggregates its documents' scores. The loss ranks the groups of a query.
"""

import numpy as np

from letorbench.compiled.arithmetic import exp, log
from letorbench.datasets.queryset import QuerySet
from letorbench.losses.base import CustomLoss, Loss, ValueAndGradient

#: how groups get their scores; "log-mean-exp" is the paper's geometric mean
AGGREGATES = ("min", "max", "mean", "log-mean-exp")


def group_level(loss: Loss, aggregate: str, train: QuerySet) -> Loss:
    """Return `loss` of the groups of a training set as a loss of the documents of that set."""
    blocks = train.by_label
    sizes, labels = np.diff(blocks.starts), blocks.labels.astype(np.int32)
    groups = QuerySet(np.empty((len(labels), 0), np.float32), labels, blocks.queries, train.qids)

    def function(scores: np.ndarray, queries: QuerySet) -> ValueAndGradient:
        group_scores, derivatives = _aggregate(scores[blocks.order], blocks.starts, aggregate)
        value, slope = loss(group_scores, groups)
        gradient = np.empty(len(scores))
        gradient[blocks.order] = np.repeat(slope, sizes) * derivatives
        return ValueAndGradient(value, gradient)

    return CustomLoss(f"{loss} of groups", f"{loss.formula}, of {aggregate} scores", function)


def _aggregate(
    ordered: np.ndarray, starts: np.ndarray, aggregate: str
) -> tuple[np.ndarray, np.ndarray]:
    """Return the groups' scores (n_blocks,) and their derivatives by the documents' (n_docs,)."""
    sizes = np.diff(starts)
    first = starts[:-1]
    if aggregate == "mean":
        return np.add.reduceat(ordered, first) / sizes, np.repeat(1.0 / sizes, sizes)
    if aggregate == "log-mean-exp":
        top = np.maximum.reduceat(ordered, first)
        e = exp(ordered - np.repeat(top, sizes))
        total = np.add.reduceat(e, first)
        return top + log(total / sizes), e / np.repeat(total, sizes)
    extreme = (np.minimum if aggregate == "min" else np.maximum).reduceat(ordered, first)
    # several extreme documents share the gradient
    hit = (ordered == np.repeat(extreme, sizes)).astype(np.float64)
    return extreme, hit / np.repeat(np.add.reduceat(hit, first), sizes)
