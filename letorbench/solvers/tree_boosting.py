"""Boosting with trees: Newton steps on any loss of scores."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.losses.base import Loss, weighted_sum
from letorbench.solvers.boosting import Term
from letorbench.solvers.tree_growing import Grower

#: scores (n_docs,) of the training documents -> the loss's derivatives by them as rows, the first
#: and, where they are known, the second ones; the loss
Differentiated = Callable[[np.ndarray], tuple[np.ndarray, float]]


def derivatives_of(loss: Loss, train: QuerySet) -> Differentiated:
    """Return the mean over queries of a loss, as a function of the training documents' scores."""

    count = float(train.query_weights.sum())

    def differentiated(scores: np.ndarray) -> tuple[np.ndarray, float]:
        total, gradient = weighted_sum(loss, scores, train)
        return gradient[None] / count, total / count

    return differentiated


@dataclass(frozen=True, eq=False)
class TreeBooster:
    """What `boost` adds trees by.

    A leaf has Newton's step. Where second derivatives are not known, a leaf has the mean step down
    the gradient, and the tree as a whole has Newton's step along it: the difference of two
    gradients says how the loss bends (Friedman, 2001, algorithm 1, with one Newton step for the
    line search).

    Parameters
    ----------
    loss : callable
        Takes the scores (n_docs,) of the training documents.
    grower : Grower
        Grows each tree.
    rng : Generator
        Draws each tree's documents and features.
    learning_rate : float
        What each tree's values are multiplied by.
    docs : float
        The share of the documents that each tree is grown on, drawn for each tree.
    weights : ndarray of shape (n_docs,) or float
        What a document counts where second derivatives are not known.
    """

    loss: Differentiated
    grower: Grower
    rng: np.random.Generator
    learning_rate: float
    docs: float
    weights: np.ndarray | float = 1.0

    def weigh(self, scores: np.ndarray) -> tuple[np.ndarray, float]:
        """Return the loss's derivatives as rows, and the loss."""
        return self.loss(scores)

    def choose(self, scores: np.ndarray, weights: np.ndarray) -> Term | None:
        """Grow a tree on the derivatives; None if it does not split or does not help."""
        rows, n_docs = None, len(scores)
        if self.docs < 1.0:
            left_out = n_docs - max(1, round(self.docs * n_docs))
            counts = np.ones(n_docs, np.bool_)
            counts[self.rng.choice(n_docs, left_out, replace=False, shuffle=False)] = False
            rows = np.flatnonzero(counts).astype(np.int32)
        gradient, newton = weights[0], len(weights) == 2
        hessian = weights[1] if newton else np.ones(n_docs) * self.weights
        tree = self.grower.grow(gradient, hessian, self.rng, rows)
        if len(tree.left) == 1:
            return None
        values = self.grower.predict(tree)
        step = 1.0 if newton else self._newton_step(scores, gradient, values)
        return Term(tree, values, step * self.learning_rate) if step else None

    def _newton_step(self, scores: np.ndarray, gradient: np.ndarray, values: np.ndarray) -> float:
        """Return the step along `values` to where the loss is least, if it bends as it does near.

        It is measured where the scores have moved by 1 in root mean square. 0 is returned where
        the values do not lower the loss; where it bends downwards, that measured step.
        """
        counts = np.ones(len(values)) * self.weights
        unit = 1.0 / float(np.sqrt((counts * values**2).sum() / counts.sum()))
        slope = float(gradient @ values)
        after = float(self.loss(scores + unit * values)[0][0] @ values)
        if not slope < 0.0:
            return 0.0
        return unit * slope / (slope - after) if after > slope else unit
