"""MART: regression trees fitted to the labels by gradient boosting."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from letorbench.compiled.arithmetic import dot
from letorbench.parameters import number
from letorbench.rankers.base import FitResult, Generator, QuerySet, Ranker, Validation
from letorbench.rankers.tuning import Between
from letorbench.solvers.boosting import Term, boost
from letorbench.solvers.tree_growing import Grower
from letorbench.solvers.tree_splitting import TreeFeatures, TreeParams

#: scores (n_docs,) of the training documents -> the loss's first and, if known, second derivatives
#: by them, as rows; the loss
Differentiated = Callable[[np.ndarray], tuple[np.ndarray, float]]


@dataclass
class TreeSettings:
    """The hyper-parameters of a ranker that grows trees.

    Parameters
    ----------
    leaves : int
        trees: the most leaves of a tree.
    depth : int
        trees: the most splits between the root and a leaf; 0 means any number.
    min_docs : int
        trees: the fewest documents of a leaf.
    docs : float
        trees: the fraction of the documents that each tree is grown on, drawn for each tree.
    columns : float
        trees: the fraction of the features that each split is chosen from, drawn for each split.
    bins : int
        trees: the most bins of a feature, 2 to 256. A threshold is between two bins.
    """

    leaves: int = number(10, least=2)
    depth: int = number(0, least=0)
    min_docs: int = number(20, least=1)
    docs: float = number(1.0, above=0, most=1)
    columns: float = number(1.0, above=0, most=1)
    bins: int = number(255, least=2, most=256)

    @property
    def draws(self) -> bool:
        return self.docs < 1.0 or self.columns < 1.0

    def tree_params(self, l2: float = 0.0) -> TreeParams:
        return TreeParams(self.leaves, self.depth, True, self.min_docs, l2=l2, columns=self.columns)


@dataclass
class BoostedTrees(TreeSettings, Ranker):
    """Boosted regression trees. Validation chooses how many are kept.

    Parameters
    ----------
    leaves, depth, min_docs, docs, columns, bins
        See `TreeSettings`.
    rounds : int
        The largest number of trees.
    learning_rate : float
        The factor of each tree's values.
    patience : int
        Training ends this many rounds after the best one on validation; 0 means never.
    l2 : float
        Added to a leaf's sum of second derivatives.
    """

    auto_features = "raw"  # trees only compare a feature's values
    takes_missing = True
    feature_order_matters = "of splits that gain as much, the lowest feature's is taken"
    figure = "boosting"
    grid = {"leaves": (4, 10, 31)}
    ranges = {
        "learning_rate": Between(0.01, 0.3, log=True), "leaves": Between(4, 255, log=True),
        "min_docs": Between(1, 100, log=True), "l2": Between(1e-3, 10.0, log=True),
        "columns": Between(0.5, 1.0),
    }  # fmt: skip

    rounds: int = number(1000, least=1)
    learning_rate: float = number(0.1, above=0)
    patience: int = number(50, least=0)
    l2: float = number(0.0, least=0)

    def learn(self, train: QuerySet, validation: Validation | None, rng: Generator) -> FitResult:
        loss = self.differentiated(train)
        grower = Grower(TreeFeatures.of(train.features, self.bins), self.tree_params(self.l2))
        booster = TreeBooster(loss, grower, rng, self.learning_rate, self.docs)
        return boost(booster, train, self.rounds, validation, self.patience, self.deadline)

    @abstractmethod
    def differentiated(self, train: QuerySet) -> Differentiated:
        """Return the loss on a training set, with its derivatives."""


@dataclass
class MART(BoostedTrees):
    """Multiple additive regression trees: Friedman's gradient boosting on squared errors.

    A round fits a tree to the residuals r_i - F(x_i) of the labels r. A leaf has the mean of its
    documents' residuals (algorithm 2, LS_Boost), and F gets `learning_rate` times the tree.

    Parameters
    ----------
    rounds, learning_rate, patience, l2, leaves, depth, min_docs, docs, columns, bins
        See `BoostedTrees`.

    Notes
    -----
    Where the paper is silent: F starts at the mean label, which changes no ranking and which the
    model leaves out; thresholds are between the bins of a feature; a tree grows leaf by leaf, and
    the leaf that gains most is split next.

    References
    ----------
    J. H. Friedman: Greedy Function Approximation: A Gradient Boosting Machine, Annals of
    Statistics 2001.
    """

    name = "mart"
    families = ("pointwise", "boosting", "trees")
    title = "Regression trees boosted on squared errors of the labels"
    paper = "Friedman: Greedy Function Approximation: ..., Annals of Statistics 2001"
    formula = "sum_i (r_i - F(x_i))^2 / 2"

    def differentiated(self, train: QuerySet) -> Differentiated:
        weights = train.document_weights
        r = train.labels - np.average(train.labels, weights=weights)

        def squared_errors(F: np.ndarray) -> tuple[np.ndarray, float]:
            loss = 0.5 * float((weights * (F - r) ** 2).sum())
            return np.array([weights * (F - r), weights]), loss

        return squared_errors


@dataclass(frozen=True, eq=False)
class TreeBooster:
    """Adds trees for `boost`, each times `learning_rate`.

    With second derivatives, a leaf has Newton's step. Without them, a leaf has the mean step down
    the gradient, and the tree as a whole has Newton's step along it, with the curvature from the
    difference of two gradients (Friedman, 2001, algorithm 1, with one Newton step for the line
    search).
    """

    loss: Differentiated
    grower: Grower
    rng: Generator
    learning_rate: float
    docs: float  # the fraction of the documents that each tree is grown on
    weights: np.ndarray | float = 1.0  # (n_docs,), if second derivatives are not known

    def weigh(self, scores: np.ndarray) -> tuple[np.ndarray, float]:
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
        """Return the step along `values` to the least loss, 0 if `values` do not lower the loss."""
        weights = np.ones(len(values)) * self.weights
        # the curvature is measured where the scores have moved by 1 in root mean square
        unit = 1.0 / float(np.sqrt(np.average(values**2, weights=weights)))
        slope = dot(gradient, values)
        after = dot(self.loss(scores + unit * values)[0][0], values)
        if not slope < 0.0:
            return 0.0
        return unit * slope / (slope - after) if after > slope else unit
