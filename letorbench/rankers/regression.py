"""Pointwise linear rankers: least squares on the labels, logistic regression of relevance."""

from dataclasses import dataclass

import numpy as np

from letorbench.conventions import gains
from letorbench.features.columns import centred_products
from letorbench.losses.gains import GainSettings
from letorbench.losses.logistic import Logistic
from letorbench.models.linear import Linear, LinearFamily, weighted_rows
from letorbench.parameters import number, one_of
from letorbench.rankers.base import FitResult, Generator, QuerySet, Ranker, Validation
from letorbench.rankers.tuning import Between
from letorbench.solvers.descent import LBFGS

#: eigenvalues of the correlation matrix below this fraction of the largest are rounding noise
NOISE = 1e-10


@dataclass
class Regression(GainSettings, Ranker):
    """Linear least squares with an intercept, pointwise.

    It minimises, over w and b, sum_i (w . x_i + b - y_i)^2 + l2 c |w|^2 over all documents of all
    queries. With X the centred features, c is the mean of the diagonal of X'X, and the solution is

        w = (X'X + l2 c I)^-1 X'(y - mean y),  b = mean y - w . mean x,

    or, with fewer documents than features, w = X'(XX' + l2 c I)^-1 (y - mean y), which is the same.

    Parameters
    ----------
    l2 : float
        The strength of the prior in units of c. Validation chooses it; 0 is plain least squares.
    target : str
        "label" is y = r, "gain" is y = 2^r - 1 or another `gain`.

    Notes
    -----
    LETOR 3.0's baseline "Regression" has no prior, and `--protocol published` has none. LETOR's
    "Regression+L2reg" has one, whose strength is not printed. Features far from the scale of 0 to 1
    are divided by four standard deviations, so that one prior suits them all. Without a prior the
    solution is not unique if features are collinear or constant. Then the shortest one for features
    scaled to variance 1 is taken.
    """

    name = "regression"
    families = ("pointwise", "linear")
    title = "Linear least squares on the labels"
    paper = (
        "Qin, Liu, Xu, Li: LETOR: A benchmark collection for research on learning to rank for "
        "information retrieval, Information Retrieval 2010"
    )
    formula = "sum_i (w.x_i + b - y_i)^2 + l2 c |w|^2, y = r or 2^r - 1"
    grid = {"l2": (1e-3, 1e-2, 1e-1, 1.0, 10.0)}
    ranges = {"l2": Between(1e-6, 1e3, log=True)}
    as_published = {"l2": 0.0}

    l2: float = number(0.0, least=0)
    target: str = one_of(("label", "gain"), "label")

    def learn(self, train: QuerySet, validation: Validation | None, rng: Generator) -> FitResult:
        y = gains(train.labels, "linear" if self.target == "label" else self.gain)
        mean, weights = train.features.mean(axis=0, dtype=np.float64), None
        if train.weights is not None:
            weights = train.document_weights
            mean = weighted_rows(train.features, weights) / weights.sum()
        mean_y = np.average(y, weights=weights)
        unit = LinearFamily.conditioned(train.features, intercept=True).scale
        if train.n_docs < train.n_features:
            root = np.ones(train.n_docs) if weights is None else np.sqrt(weights)
            x, target = (train.features - mean) * root[:, None], (y - mean_y) * root
            w = _of_few_documents(x / unit, target, self.l2) / unit
            return FitResult(Linear(w, float(mean_y - mean @ w)))
        covariance, correlation = centred_products(train.features, mean, y - mean_y, weights)
        c = np.mean(np.diag(covariance) / unit**2)
        covariance[np.diag_indices_from(covariance)] += self.l2 * c * unit**2
        scale = np.sqrt(np.diag(covariance))
        scale[scale == 0.0] = 1.0
        w = _smallest_solution(covariance / np.outer(scale, scale), correlation / scale) / scale
        return FitResult(Linear(w, float(mean_y - mean @ w)))


def _of_few_documents(x: np.ndarray, target: np.ndarray, l2: float) -> np.ndarray:
    """Return w of centred features x (n_docs, n_features) from n_docs equations."""
    scale = np.sqrt((x * x).sum(axis=0)) if l2 == 0.0 else np.ones(x.shape[1])
    scale[scale == 0.0] = 1.0
    x = x / scale
    matrix = x @ x.T
    matrix[np.diag_indices_from(matrix)] += l2 * np.mean((x * x).sum(axis=0))
    return x.T @ _smallest_solution(matrix, target) / scale


def _smallest_solution(matrix: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Return the shortest x with matrix x = target, of a positive semidefinite matrix."""
    values, vectors = np.linalg.eigh(matrix)
    kept = values > NOISE * values.max(initial=0.0)
    return vectors[:, kept] @ ((vectors[:, kept].T @ target) / values[kept])


@dataclass
class Classification(Ranker):
    """Rank documents by their log-odds of being relevant, r >= 1.

    It minimises, over w and b, the mean over documents of log(1 + e^{-y (w . x + b)}) plus
    l2 c/2 |w|^2, where y = 1 for r >= 1, else -1, and c is the loss's mean curvature at 0.
    L-BFGS finds the minimum; `letorbench.losses.logistic` has the loss and its gradient.

    Parameters
    ----------
    l2 : float
        The strength of the penalty in units of c, chosen on validation.
    iterations : int
        The largest number of iterations of L-BFGS; a warning says if they were not enough.

    Notes
    -----
    This is Nallapati's pointwise approach with logistic regression as the classifier.

    Where the paper is silent: all labels from 1 on are one class; the intercept is not penalised;
    features far from the scale of 0 to 1 are centred and divided by four standard deviations, so
    that one penalty suits them all.
    """

    name = "classification"
    families = ("pointwise", "linear")
    title = "Linear logistic regression of relevance, pointwise"
    paper = "Nallapati: Discriminative Models for Information Retrieval, SIGIR 2004"
    formula = "mean_i log(1 + exp(-y_i (w.x_i + b))) + l2 c/2 |w|^2, y = 1 if r >= 1 else -1"
    grid = {"l2": (1e-4, 1e-3, 1e-2, 1e-1, 1.0)}
    ranges = {"l2": Between(1e-6, 1e3, log=True)}

    l2: float = number(1e-2, least=0)
    iterations: int = number(1000, least=1)

    def learn(self, train: QuerySet, validation: Validation | None, rng: Generator) -> FitResult:
        family = LinearFamily.conditioned(train.features, intercept=True)
        solver = LBFGS(self.iterations, self.l2, per_document=True)
        return solver.fit(family, Logistic(), train, validation, rng, self.deadline)
