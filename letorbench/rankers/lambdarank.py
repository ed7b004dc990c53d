"""LambdaRank: a neural net moved by forces between documents, scaled by the gain of a swap.

`lambdarank_step` is the paper's algorithm in plain NumPy. `_lambda_steps` repeats that step in
compiled code; a test compares the two.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np

from letorbench.compiled.jit import kernel
from letorbench.losses.gains import GainSettings, inverse_ideal_dcg, truncated_discount
from letorbench.losses.lambdas import LAMBDAS, Lambda, LambdaRule, pair_lambdas, query_lambdas
from letorbench.models.mlp import Layers, backward, forward, net_gradient, net_scores
from letorbench.parameters import number, one_of
from letorbench.rankers.base import FitResult, Generator, QuerySet, Ranker, Validation
from letorbench.rankers.tuning import Between
from letorbench.solvers.sgd import (
    FeatureScale,
    NetDescent,
    NetState,
    Passes,
    Steps,
    TrainingQueries,
    query_features,
    take_step,
)

#: the cost of a query is 1 minus its NDCG at this truncation (section 6.3)
COST_AT = 10


def lambdarank_step(
    net: Layers, features: np.ndarray, labels: np.ndarray, rate: float, function: Lambda
) -> Layers:
    """Return the net after a step on one query: scores, forces, backpropagation, move."""
    scores = net_scores(features, net)
    forces = pair_lambdas(function, scores, labels)
    slope = net_gradient(features, net, forces)  # a force is where a score should go: hence +
    return Layers(*(theta + rate * d for theta, d in zip(net, slope, strict=True)))


@dataclass
class LambdaRank(GainSettings, NetDescent, Ranker):
    """LambdaRank (Burges, Ragno, Le, NIPS 2006).

    The documents of a query are sorted by score. For each pair r_i > r_j the force (equation 9)
    lambda = 1/Z@L sigma(-(s_i - s_j)) (2^r_i - 2^r_j) |D(rank i) - D(rank j)| is added to
    document i and subtracted from document j. The net takes one step a query along the forces.
    The cost of an epoch is the sum of the queries' 1 - NDCG@10 (section 6.3).

    Parameters
    ----------
    layers, hidden, learning_rate, epochs, patience, standardise
        See `letorbench.solvers.sgd.NetDescent`.
    function : str
        The lambda function (`--set lambda=…`), see `letorbench.losses.lambdas`.
    neighbours : bool
        Use only pairs of documents at neighbouring ranks.
    margin : float
        How far apart the scores of a pair in the right order must be before its force fades.
    truncation : int
        L; 0 means the discount D of the whole list.

    Notes
    -----
    Where the paper is silent: D is the paper's 1 / log2(1 + rank) under every measuring
    convention; documents of equal scores feel the mean force of all their orders.

    Equation 9 prints D(rank i) - D(rank j), whose sign would push a pair in the wrong order further
    apart. The paper means its absolute value: "the NDCG gain found by swapping".
    """

    name = "lambdarank"
    families = ("listwise", "nets")
    title = "Neural net on forces between documents, scaled by the NDCG of a swap"
    paper = "Burges, Ragno, Le: Learning to Rank with Nonsmooth Cost Functions, NIPS 2006"
    formula = "lambda = 1/Z@L sigma(-(s_i - s_j)) (2^r_i - 2^r_j) |D(rank i) - D(rank j)|"
    grid = {"learning_rate": (1e-3, 1e-2, 1e-1), "layers": (1, 2)}
    ranges = {
        "learning_rate": Between(1e-4, 0.3, log=True), "layers": (1, 2),
        "hidden": Between(4, 64, log=True, beside=("layers", 2)),
    }  # fmt: skip
    spelled = {"function": "lambda"}
    order_matters = (
        "the forces jump where two documents change ranks, so that the rounding of sums, whose "
        "order is the documents', grows over the epochs"
    )

    learning_rate: float = number(1e-2, above=0)
    function: str = one_of(LAMBDAS, "ranknet-ndcg")
    neighbours: bool = False
    margin: float = number(0.0)
    truncation: int = number(0, least=0)

    def learn(self, train: QuerySet, validation: Validation | None, rng: Generator) -> FitResult:
        function = Lambda(self.function, self.neighbours, self.margin, self.truncation, self.gain)
        return self.descend(lambda_steps(function, train), train, validation, rng, self.deadline)


def lambda_steps(function: Lambda, train: QuerySet) -> Steps:
    """Return the steps of an epoch; DataError if a query has too many documents."""
    rule, discount = function.rule(train), truncated_discount(train, COST_AT)
    inverse_Z = inverse_ideal_dcg(train, COST_AT, function.gain)
    return partial(_lambda_steps, rule, discount, inverse_Z)


@kernel()
def _lambda_steps(
    rule: LambdaRule, cost_discount: np.ndarray, cost_inverse_Z: np.ndarray,
    data: TrainingQueries, sequence: np.ndarray, state: NetState, scale: FeatureScale, rate: float,
    passes: Passes,
) -> float:  # fmt: skip
    """Take a step on each query of a sequence; return the sum of their costs before."""
    net, hidden, change, scores, force = passes
    total = 0.0
    for q in sequence:
        x = query_features(data, q)
        s, f = scores[: len(x)], force[: len(x)]
        forward(x, net, hidden, s)
        dcg = query_lambdas(s, data.blocks, q, rule, cost_discount, f)
        total += data.weights[q] * (1.0 - cost_inverse_Z[q] * dcg)
        backward(x, net, hidden, f, change)
        take_step(rate * data.weights[q], scale, change, state)
    return total
