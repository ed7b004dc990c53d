"""Pointwise classification: logistic regression of "relevant"."""

from dataclasses import dataclass

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.losses.logistic import Logistic
from letorbench.models.linear import LinearFamily
from letorbench.parameters import number
from letorbench.rankers.base import Ranker
from letorbench.solvers.descent import LBFGS
from letorbench.solvers.fit_result import FitResult
from letorbench.solvers.stopping import Validation


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

    l2: float = number(1e-2, least=0)
    iterations: int = number(1000, least=1)

    def learn(
        self, train: QuerySet, validation: Validation | None, rng: np.random.Generator
    ) -> FitResult:
        family = LinearFamily.conditioned(train.features, intercept=True)
        solver = LBFGS(self.iterations, self.l2, per_document=True)
        return solver.fit(family, Logistic(), train, validation, rng, self.deadline)
