"""RankNet: a neural net trained on the logistic loss of pairs, one gradient step a query.

`ranknet_step` is the paper's algorithm in plain NumPy. `letorbench.solvers.sgd` repeats that step
in compiled code; a test compares the two.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.losses.lambdas import Lambda
from letorbench.losses.pairwise_logistic import pairwise_logistic
from letorbench.models.mlp import Layers, net_gradient, net_scores
from letorbench.rankers.base import Ranker
from letorbench.solvers.fit_result import FitResult
from letorbench.solvers.sgd import Schedule, descend_per_query
from letorbench.solvers.stopping import Validation


def ranknet_step(
    net: Layers, features: np.ndarray, labels: np.ndarray, rate: float
) -> tuple[float, Layers]:
    """Take one step on one query: the scores, the pairs' forces, backpropagation, the move.

    Parameters
    ----------
    net : Layers
    features : ndarray of shape (n_docs, n_features)
        The documents of the query.
    labels : ndarray of shape (n_docs,)
    rate : float
        The learning rate.

    Returns
    -------
    cost : float
        The query's cost before the step (equation 8 of the NIPS paper).
    net : Layers
        The net after the step.
    """
    scores = net_scores(features, net)
    cost, gradient = pairwise_logistic(scores, labels)
    slope = net_gradient(features, net, gradient)
    return cost, Layers(*(theta - rate * d for theta, d in zip(net, slope, strict=True)))


@dataclass
class RankNet(Ranker):
    """RankNet (Burges et al., ICML 2005), trained as in Burges, Ragno, Le, NIPS 2006.

    The cost of a query is the sum over its pairs r_i > r_j of log(1 + e^{-(s_i - s_j)}) (equation
    8 of the NIPS paper). Its gradient is factored over documents (equations 6 and 7), and the net
    takes one step a query.

    Parameters
    ----------
    layers : int
        1 for a linear score; 2 for one hidden layer of tanh units and a linear output.
    hidden : int
        The number of hidden units of two layers. The paper uses 10.
    learning_rate : float
        The rate of the first epoch. It is multiplied by 0.8 after every epoch whose cost is
        higher than the one before.
    epochs : int
        The number of epochs, the paper's 300. Validation chooses the one kept.
    patience : int
        Training ends this many epochs after the best one on validation; 0 means never.
    standardise : bool
        Step as if features had mean 0 and variance 1, see `Schedule`.
    passes : str
        "factored" sums the forces on a document before it goes back through the net. "paper" is
        V2 as the NIPS paper times it, without stored activations and with one exponential a
        pair. "pairwise" is V1, with two passes forward and two backward for each pair. All
        three compute the same gradient, and the latter two are here to be timed. "online" is V1
        with a step after every pair.

    Notes
    -----
    New random weights are drawn if the cost has not fallen for 50 epochs. Where the papers are
    silent: the first weights are uniform within 1/sqrt(inputs); the queries have a new random
    order in each epoch; an epoch's cost is summed while it runs; the steps of a feature are
    scaled by its largest size.

    References
    ----------
    Burges et al., "Learning to Rank using Gradient Descent", ICML 2005.

    Burges, Ragno, Le, "Learning to Rank with Nonsmooth Cost Functions", NIPS 2006.
    """

    name = "ranknet"
    title = "Neural net on the logistic loss of pairs"
    figure = "nets"
    paper = (
        "Burges et al.: Learning to Rank using Gradient Descent, ICML 2005; "
        "Burges, Ragno, Le: Learning to Rank with Nonsmooth Cost Functions, NIPS 2006"
    )
    formula = "sum over pairs r_i > r_j of log(1 + exp(-(s_i - s_j)))"
    one_thread = True  # each step depends on the one before
    grid = {"learning_rate": (1e-4, 1e-3, 1e-2), "layers": (1, 2)}

    layers: int = 2
    hidden: int = 10
    learning_rate: float = 1e-3
    epochs: int = 300
    patience: int = 30
    standardise: bool = False
    passes: str = "factored"

    @property
    def draws(self) -> bool:
        """It does: the first weights, and the order of the queries in each epoch."""
        return True

    @property
    def effort(self) -> float:
        """An epoch takes about as long as there are units."""
        return float(self.hidden if self.layers == 2 else 1)

    def learn(
        self, train: QuerySet, validation: Validation | None, rng: np.random.Generator
    ) -> FitResult:
        schedule = Schedule(
            self.learning_rate, self.epochs, self.patience, standardise=self.standardise,
            passes=self.passes,
        )  # fmt: skip
        function = Lambda("ranknet")
        return descend_per_query(
            function, self.layers, self.hidden, schedule, train, validation, rng, self.deadline
        )
