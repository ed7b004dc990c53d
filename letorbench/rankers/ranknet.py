"""RankNet: a net trained on the logistic loss of pairs, one step a query."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.errors import UsageError
from letorbench.losses.lambdas import Lambda
from letorbench.rankers.base import Ranker
from letorbench.solvers.learned import Learned
from letorbench.solvers.sgd import Schedule, descend_per_query
from letorbench.solvers.validation import Validation


@dataclass
class RankNet(Ranker):
    """Burges et al., "Learning to Rank using Gradient Descent", ICML 2005, trained as in
    Burges, Ragno, Le, "Learning to Rank with Nonsmooth Cost Functions", NIPS 2006.

    C = sum over the pairs r_i > r_j of a query of log(1 + e^{-(s_i - s_j)}) (their equation
    8), its gradient factored over documents (equations 6, 7), one step a query.

    layers:        1, a linear score; 2, one hidden layer of tanh units and a linear output.
    hidden:        hidden units of two layers, the paper's 10.
    learning_rate: of the first epoch; x 0.8 whenever an epoch's cost exceeds the last one's.
    epochs:        the paper's 300 at most, the best on validation is kept.
    patience:      training ends so many epochs after the best one on validation; 0: never.
    standardise:   steps as if features had mean 0 and variance 1, see `Schedule`.
    passes:        "factored" (V2 of the NIPS paper) or "pairwise" (V1: two passes forward and
                   two backward for each pair; the same gradient, for timing).

    Random weights are drawn anew where the cost has not fallen for 50 epochs. Where the
    papers are silent: first weights uniform within 1/sqrt(inputs); queries in a new random
    order each epoch; an epoch's cost is summed as it runs; a feature's steps are scaled by its
    largest size; training ends early, as patience says; equally good epochs: the first.
    """

    name = "ranknet"
    title = "Neural net on the logistic loss of pairs"
    paper = (
        "Burges et al.: Learning to Rank using Gradient Descent, ICML 2005; "
        "Burges, Ragno, Le: Learning to Rank with Nonsmooth Cost Functions, NIPS 2006"
    )
    formula = "sum over pairs r_i > r_j of log(1 + exp(-(s_i - s_j)))"
    grid = {"learning_rate": (1e-4, 1e-3, 1e-2), "layers": (1, 2)}

    layers: int = 2
    hidden: int = 10
    learning_rate: float = 1e-3
    epochs: int = 300
    patience: int = 30
    standardise: bool = False
    passes: str = "factored"

    def learn(
        self, train: QuerySet, validation: Validation | None, rng: np.random.Generator
    ) -> Learned:
        if self.passes not in ("factored", "pairwise"):
            raise UsageError(f"ranknet: found passes={self.passes}, expected factored or pairwise")
        schedule = Schedule(
            self.learning_rate,
            self.epochs,
            self.patience,
            standardise=self.standardise,
            pairwise=self.passes == "pairwise",
        )
        function = Lambda("ranknet")
        return descend_per_query(
            function, self.layers, self.hidden, schedule, train, validation, rng
        )
