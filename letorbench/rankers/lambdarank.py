"""LambdaRank: a neural net moved by forces between documents, scaled by what a swap would gain.

`lambdarank_step` is the paper's algorithm in plain NumPy. `letorbench.solvers.sgd` repeats that
step in compiled code; a test compares the two.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.losses.lambdas import Lambda, pair_lambdas
from letorbench.models.mlp import Layers, net_gradient, net_scores
from letorbench.rankers.base import Ranker
from letorbench.solvers.fit_result import FitResult
from letorbench.solvers.sgd import Schedule, descend_per_query
from letorbench.solvers.stopping import Validation


def lambdarank_step(
    net: Layers, features: np.ndarray, labels: np.ndarray, rate: float, function: Lambda
) -> Layers:
    """Take one step on one query: the scores, the forces, backpropagation, the move.

    Parameters
    ----------
    net : Layers
    features : ndarray of shape (n_docs, n_features)
        The documents of the query.
    labels : ndarray of shape (n_docs,)
    rate : float
        The learning rate.
    function : Lambda
        The force between two documents; `Lambda()` is the paper's equation 9.

    Returns
    -------
    Layers
        The net after the step. A force is where a score should go, hence the plus.
    """
    scores = net_scores(features, net)
    forces = pair_lambdas(function, scores, labels)
    slope = net_gradient(features, net, forces)
    return Layers(*(theta + rate * d for theta, d in zip(net, slope, strict=True)))


@dataclass
class LambdaRank(Ranker):
    """LambdaRank (Burges, Ragno, Le, NIPS 2006).

    The documents of a query are sorted by score. For each pair r_i > r_j the force (equation 9)
    lambda = 1/Z@L sigma(-(s_i - s_j)) (2^r_i - 2^r_j) |D(rank i) - D(rank j)| is added to
    document i and subtracted from document j. The net takes one step a query along the forces.

    Parameters
    ----------
    layers : int
        1 for a linear score; 2 for one hidden layer of tanh units and a linear output.
    hidden : int
        The number of hidden units of two layers. The paper uses 10.
    learning_rate : float
        The rate of the first epoch. It is multiplied by 0.8 after every epoch whose 1 - NDCG@10
        is higher than the one before (section 6.3).
    epochs : int
        The number of epochs, the paper's 300. Validation chooses the one kept.
    patience : int
        Training ends this many epochs after the best one on validation; 0 means never.
    standardise : bool
        Step as if features had mean 0 and variance 1, see `Schedule`.
    function : str
        The lambda function (`--set lambda=…`): ranknet, ranknet-ndcg, step, spring or
        ndcg-difference, see `letorbench.losses.lambdas`.
    neighbours : bool
        Use only the pairs of documents at neighbouring ranks.
    margin : float
        How far apart the scores of a pair in the right order must be before its force fades.
    truncation : int
        L; 0 means the discount D of the whole list.

    Notes
    -----
    New random weights are drawn if the cost has not fallen for 50 epochs. Where the paper is
    silent: D is its own 1 / log2(1 + rank), whichever convention measures; documents of equal
    scores feel the mean force of all their orders; the first weights are uniform within
    1/sqrt(inputs); the queries have a new random order in each epoch, and their NDCG is summed as
    they pass; the steps of a feature are scaled by its largest size.

    Equation 9 is printed with D(rank i) - D(rank j), whose sign would push a pair in the wrong
    order further apart. Its absolute value is meant: "the NDCG gain found by swapping".

    References
    ----------
    Burges, Ragno, Le, "Learning to Rank with Nonsmooth Cost Functions", NIPS 2006.
    """

    name = "lambdarank"
    title = "Neural net on forces between documents, scaled by the NDCG of a swap"
    figure = "nets"
    paper = "Burges, Ragno, Le: Learning to Rank with Nonsmooth Cost Functions, NIPS 2006"
    formula = "lambda = 1/Z@L sigma(-(s_i - s_j)) (2^r_i - 2^r_j) |D(rank i) - D(rank j)|"
    one_thread = True  # each step depends on the one before
    grid = {"learning_rate": (1e-3, 1e-2, 1e-1), "layers": (1, 2)}
    spelled = {"function": "lambda"}
    order_matters = (
        "the forces jump where two documents change ranks, so that the rounding of sums, whose "
        "order is the documents', grows over the epochs"
    )

    layers: int = 2
    hidden: int = 10
    learning_rate: float = 1e-2
    epochs: int = 300
    patience: int = 30
    standardise: bool = False
    function: str = "ranknet-ndcg"
    neighbours: bool = False
    margin: float = 0.0
    truncation: int = 0

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
        function = Lambda(self.function, self.neighbours, self.margin, self.truncation)
        schedule = Schedule(
            self.learning_rate, self.epochs, self.patience, standardise=self.standardise
        )
        return descend_per_query(
            function, self.layers, self.hidden, schedule, train, validation, rng, self.deadline
        )
