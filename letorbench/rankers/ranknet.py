"""RankNet: a neural net trained on the logistic loss of pairs, one gradient step a query.

`ranknet_step` is the paper's algorithm in plain NumPy. `ranknet_steps` repeats that step in
compiled code; a test compares the two.
"""

from dataclasses import dataclass

import numpy as np

from letorbench.compiled.jit import kernel
from letorbench.losses.base import require_comparable
from letorbench.losses.logistic import pairwise_logistic, ranknet_lambdas
from letorbench.models.mlp import Layers, backward, forward, net_gradient, net_scores
from letorbench.rankers.base import FitResult, Generator, QuerySet, Ranker, Validation
from letorbench.rankers.tuning import Between
from letorbench.solvers.sgd import (
    FeatureScale,
    NetDescent,
    NetState,
    Passes,
    TrainingQueries,
    query_features,
    take_step,
)


def ranknet_step(
    net: Layers, features: np.ndarray, labels: np.ndarray, rate: float
) -> tuple[float, Layers]:
    """Return one query's cost (equation 8 of the NIPS paper), and the net after a step on it."""
    scores = net_scores(features, net)
    cost, gradient = pairwise_logistic(scores, labels)
    slope = net_gradient(features, net, gradient)
    return cost, Layers(*(theta - rate * d for theta, d in zip(net, slope, strict=True)))


@dataclass
class RankNet(NetDescent, Ranker):
    """RankNet (Burges et al., ICML 2005), trained as in Burges, Ragno, Le, NIPS 2006.

    The cost of a query is the sum over its pairs r_i > r_j of log(1 + e^{-(s_i - s_j)}) (equation
    8 of the NIPS paper). Its gradient is factored over documents (equations 6 and 7), and the net
    takes one step a query.

    Parameters
    ----------
    layers, hidden, learning_rate, epochs, patience, standardise
        See `letorbench.solvers.sgd.NetDescent`.
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
    ranges = {
        "learning_rate": Between(1e-5, 0.1, log=True), "layers": (1, 2),
        "hidden": Between(4, 64, log=True, beside=("layers", 2)),
    }  # fmt: skip

    def learn(self, train: QuerySet, validation: Validation | None, rng: Generator) -> FitResult:
        require_comparable(train)
        return self.descend(ranknet_steps, train, validation, rng, self.deadline)


@kernel()
def ranknet_steps(
    data: TrainingQueries, sequence: np.ndarray, state: NetState, scale: FeatureScale, rate: float,
    passes: Passes,
) -> float:  # fmt: skip
    """Take a `ranknet_step` on each query of a sequence; return the sum of their costs before."""
    net, hidden, change, scores, force = passes
    total = 0.0
    for q in sequence:
        x = query_features(data, q)
        s, f = scores[: len(x)], force[: len(x)]
        forward(x, net, hidden, s)
        total += data.weights[q] * ranknet_lambdas(s, data.blocks, q, f)
        backward(x, net, hidden, f, change)
        take_step(rate * data.weights[q], scale, change, state)
    return total
