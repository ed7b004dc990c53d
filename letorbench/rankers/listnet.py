"""ListNet: gradient descent on the cross entropy of lists."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.errors import UsageError
from letorbench.losses import loss
from letorbench.rankers.base import Ranker
from letorbench.solvers.learned import Learned
from letorbench.solvers.linear_descent import Descent, descend
from letorbench.solvers.validation import Validation


@dataclass
class ListNet(Ranker):
    """Cao, Qin, Liu, Tsai, Li, "Learning to Rank: From Pairwise Approach to Listwise
    Approach", ICML 2007.

    min over a linear s of sum over queries of -sum over g of P_r(g) log P_s(g), g the first
    `top` places under Plackett-Luce with exp of the labels and of the scores (equations 5,
    6), by gradient descent (Algorithm 1).

    top:           1, the paper's choice; 2 and 3 are exact and cost m^top a query, refused
                   where that is too large.
    learning_rate: of the mean over queries; chosen on validation.
    epochs:        at most; the best on validation is kept.
    patience:      training ends so many epochs after the best one on validation; 0: never.

    Where the paper is silent: weights start at zero; all queries make one step (the
    algorithm's listing steps after each query); equally good epochs: the first.
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
        name = "listnet" if self.top == 1 else f"listnet-{self.top}"
        descent = Descent(self.learning_rate, self.epochs, self.patience)
        return descend(loss(name), train, validation, descent)
