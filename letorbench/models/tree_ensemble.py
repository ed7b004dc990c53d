"""Regression trees: s = sum over t of the value of the leaf of tree t that x reaches."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from letorbench.compiled.jit import kernel
from letorbench.errors import DataError
from letorbench.models.base import Model, array

#: documents that pass all trees together: their features fit into the second cache
TOGETHER = 256
#: the number of walks through a tree that is worth a thread, which costs as much as 6,000
WALKS = 16_000


@dataclass(frozen=True, eq=False)
class TreeEnsemble(Model):
    """A sum of regression trees.

    The nodes of all trees stand one after the other. Node n sends x to left[n] if x[feature[n]] <=
    threshold[n], else to right[n], both larger than n. A leaf has left[n] = right[n] = n. A missing
    value (NaN) goes left if missing_left[n]; by default it counts as 0.

    Examples
    --------
    >>> stump = TreeEnsemble(
    ...     roots=[0], feature=[0, 0, 0], threshold=[0.5, 0, 0], left=[1, 1, 2], right=[2, 1, 2],
    ...     value=[0.0, -1.0, 1.0], gain=[2.0, 0.0, 0.0], cover=[4.0, 2.0, 2.0], n_features=1)
    >>> stump.predict([[0.5], [0.6]])
    array([-1.,  1.])
    """

    kind = "trees"

    roots: np.ndarray = array("n_trees", dtype=np.int64, below="n_nodes")
    feature: np.ndarray = array("n_nodes", dtype=np.int64, below="n_features")
    threshold: np.ndarray = array("n_nodes")
    left: np.ndarray = array("n_nodes", dtype=np.int64, below="n_nodes")
    right: np.ndarray = array("n_nodes", dtype=np.int64, below="n_nodes")
    value: np.ndarray = array("n_nodes")  # an inner node's is its score as a leaf
    gain: np.ndarray = array("n_nodes")  # the fall of the tree's objective by a split; or 0
    cover: np.ndarray = array("n_nodes")  # the number of training documents at the node
    n_features: int = array(dtype=np.int64)
    missing_left: np.ndarray = array("n_nodes", dtype=np.bool_, default=None)

    def __post_init__(self) -> None:
        if self.missing_left is None:
            object.__setattr__(self, "missing_left", np.asarray(self.threshold) >= 0.0)
        super().__post_init__()

    @property
    def has_missing(self) -> bool:
        """Whether a missing value goes elsewhere than the value 0 at some node."""
        inner = self.left != self.right
        return bool((self.missing_left != (self.threshold >= 0.0))[inner].any())

    @property
    def shares_nodes(self) -> bool:
        """Whether two splits lead to one node, as the chains for splits by category do."""
        inner = self.left != np.arange(len(self.left))
        return bool(np.bincount(np.append(self.left[inner], self.right[inner])).max(initial=0) > 1)

    @property
    def gains(self) -> np.ndarray:
        """The sum of the gains of each feature's splits, (n_features,)."""
        return np.bincount(self.feature, self.gain, self.n_features)

    @cached_property
    def docs_a_thread(self) -> int:
        return WALKS // max(1, len(self.roots))

    def _check(self) -> None:
        nodes = np.arange(len(self.left))
        leaf = (self.left == nodes) & (self.right == nodes)
        wrong = ~leaf & ((self.left <= nodes) | (self.right <= nodes))
        if wrong.any():  # a walk through such a tree might never end
            raise DataError(
                f"{self.kind} model: found a child of node {int(np.argmax(wrong))} before it, "
                "expected every child behind its parent"
            )

    def _score(self, features: np.ndarray) -> np.ndarray:
        scores = np.zeros(len(features), self.value.dtype)
        nodes = Tree._make(getattr(self, name) for name in Tree._fields)
        sum_trees(features, self.roots, nodes, scores)
        return scores


@dataclass(frozen=True, eq=False)
class Float32Trees(TreeEnsemble):
    """A sum of regression trees as XGBoost has it: values and their sums are float32."""

    kind = "trees-float32"

    value: np.ndarray = array("n_nodes", dtype=np.float32)


class Tree(NamedTuple):
    """One tree, whose root is its first node; the fields are those of `TreeEnsemble`, unchecked."""

    feature: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    right: np.ndarray
    value: np.ndarray
    gain: np.ndarray
    cover: np.ndarray
    missing_left: np.ndarray

    def predict(self, features: np.ndarray) -> np.ndarray:
        return joined([self], [1.0], features.shape[1]).predict(features)


def stump(feature: int, above: bool, threshold: float, high: np.ndarray) -> tuple[Tree, np.ndarray]:
    """Return a tree of one split, 1 above the threshold (not `above`: below it), and its values."""
    n_high, n_docs = float(np.count_nonzero(high)), float(len(high))
    nodes = (
        [feature, 0, 0], [threshold, 0.0, 0.0], [1, 1, 2], [2, 1, 2],
        [0.0, 1.0 - above, float(above)], [1.0, 0.0, 0.0], [n_docs, n_docs - n_high, n_high],
        [threshold >= 0.0, False, False],
    )  # fmt: skip
    return Tree(*map(np.array, nodes)), high == above


def joined(trees: Sequence[Tree], weights: Sequence[float], n_features: int) -> TreeEnsemble:
    """Return the weighted sum of trees."""
    roots = np.cumsum([0, *(len(each.feature) for each in trees)])[:-1]
    moved = [
        each._replace(left=each.left + root, right=each.right + root, value=weight * each.value)
        for each, root, weight in zip(trees, roots, weights, strict=True)
    ]
    none = [*np.empty((7, 0), np.int64), None]
    *columns, missing_left = map(np.concatenate, zip(*moved)) if moved else none
    every: tuple[Any, ...] = (roots, *columns, n_features, missing_left)
    return TreeEnsemble(*every)


@kernel()
def sum_trees(features: np.ndarray, roots: np.ndarray, nodes: Tree, scores: np.ndarray) -> None:
    """scores[i] += sum over trees, in their order, of the value of the leaf of features[i]."""
    feature, threshold, left, right, value, _, _, missing_left = nodes
    for first in range(0, len(features), TOGETHER):
        last = min(first + TOGETHER, len(features))
        for t in range(len(roots)):
            for i in range(first, last):
                node = roots[t]
                while left[node] != node:
                    x = features[i, feature[node]]
                    low = x <= threshold[node] or (missing_left[node] and np.isnan(x))
                    node = left[node] if low else right[node]
                scores[i] += value[node]
