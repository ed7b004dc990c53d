"""ListNet: gradient descent on the cross entropy of lists."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.errors import UsageError
from letorbench.losses import loss
from letorbench.models.linear import LinearFamily
from letorbench.rankers.base import Ranker
from letorbench.solvers.gradient_descent import GradientDescent
from letorbench.solvers.learned import Learned
from letorbench.solvers.validation import Validation


@dataclass
class ListNet(Ranker):
    """Cao, Qin, Liu, Tsai, Li, "Learning to Rank: From Pairwise Approach to Listwise
    Approach", ICML 2007.

    min over a linear s of sum over queries of -sum over g of P_r(g) log P_s(g), g the first
    `top` places under Plackett-Luce with exp of the labels and of the scores (equations 5,
    6), by gradient descent (Algorithm 1). The loss in plain NumPy, its gradient and its compiled
    form are in `letorbench.losses.top_k_cross_entropy`.

    top:           1, the paper's choice; 2 and 3 are exact and cost m^top for a query of m
                   documents, and are refused where that is too large.
    learning_rate: of the mean over queries; chosen on validation.
    epochs:        at most so many; the best on validation is kept.
    patience:      training ends so many epochs after the best one on validation; 0: never.

    Where the paper is silent: the weights start at zero; one step uses all queries (the
    algorithm's listing steps after each query); of equally good epochs the first is kept.
    """

    name = "listnet"
    title = "Linear score on the cross entropy of lists"
    paper = (
        "Cao, Qin, Liu, Tsai, Li: Learning to Rank: From Pairwise Approach to Listwise "
        "Approach, ICML 2007"
    )
    formula = "-sum_q sum_i softmax(r)_i log softmax(s)_i"
    grid = {"learning_rate": (0.1, 0.3, 1.0)}

    top: int = 1
    learning_rate: float = 0.3
    epochs: int = 500
    patience: int = 100

    def learn(
        self, train: QuerySet, validation: Validation | None, rng: np.random.Generator
    ) -> Learned:
        if self.top not in (1, 2, 3):
            raise UsageError(f"listnet: found top={self.top}, expected 1, 2 or 3")
        cross_entropy = loss("listnet" if self.top == 1 else f"listnet-{self.top}")
        solver = GradientDescent(self.learning_rate, self.epochs, self.patience)
        family = LinearFamily.plain(train.n_features)
        return solver.fit(family, cross_entropy, train, validation, rng)
