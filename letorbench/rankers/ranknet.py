"""RankNet: a neural net trained on the logistic loss of pairs, one gradient step a query.

`ranknet_step` is the paper's algorithm in plain NumPy. `letorbench.solvers.sgd` repeats that step
in compiled code; a test compares the two.
"""

from dataclasses import dataclass

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.losses.lambdas import Lambda
from letorbench.losses.pairwise_logistic import pairwise_logistic
from letorbench.models.mlp import Layers, net_gradient, net_scores
from letorbench.rankers.base import Ranker
from letorbench.solvers.fit_result import FitResult
from letorbench.solvers.sgd import NetDescent
from letorbench.solvers.stopping import Validation


def ranknet_step(
    net: Layers, features: np.ndarray, labels: np.ndarray, rate: float
) -> tuple[float, Layers]:
    """Take one step on one query: the scores, the pairs' forces, backpropagation, the move.

    The query's documents have features (n_docs, n_features) and labels (n_docs,). Return its cost
    before the step (equation 8 of the NIPS paper), and the net after it.
    """
    scores = net_scores(features, net)
    cost, gradient = pairwise_logistic(scores, labels)
    slope = net_gradient(features, net, gradient)
    return cost, Layers(*(theta - rate * d for theta, d in zip(net, slope, strict=True)))


@dataclass
class NetRanker(NetDescent, Ranker):
    """A net that takes one step a query.

    Parameters
    ----------
    layers, hidden, learning_rate, epochs, patience, standardise
        See `letorbench.solvers.sgd.NetDescent`.

    Notes
    -----
    New random weights are drawn if the cost has not fallen for 50 epochs. Where the papers are
    silent: the first weights are uniform within 1/sqrt(inputs); the queries have a new random
    order in each epoch; an epoch's cost is summed while it runs; the steps of a feature are
    scaled by its largest size.
    """

    figure = "nets"
    one_thread = True  # each step depends on the one before
    draws = True  # the first weights, and the order of the queries in each epoch


@dataclass
class RankNet(NetRanker):
    """RankNet (Burges et al., ICML 2005), trained as in Burges, Ragno, Le, NIPS 2006.

    The cost of a query is the sum over its pairs r_i > r_j of log(1 + e^{-(s_i - s_j)}) (equation
    8 of the NIPS paper). Its gradient is factored over documents (equations 6 and 7), and the net
    takes one step a query.

    Parameters
    ----------
    layers, hidden, learning_rate, epochs, patience, standardise
        See `NetRanker`.
    """

    name = "ranknet"
    families = ("pairwise", "nets")
    title = "Neural net on the logistic loss of pairs"
    paper = (
        "Burges et al.: Learning to Rank using Gradient Descent, ICML 2005; "
        "Burges, Ragno, Le: Learning to Rank with Nonsmooth Cost Functions, NIPS 2006"
    )
    formula = "sum over pairs r_i > r_j of log(1 + exp(-(s_i - s_j)))"
    grid = {"learning_rate": (1e-4, 1e-3, 1e-2), "layers": (1, 2)}

    def learn(
        self, train: QuerySet, validation: Validation | None, rng: np.random.Generator
    ) -> FitResult:
        return self.descend(Lambda("ranknet", gain="linear"), train, validation, rng, self.deadline)
