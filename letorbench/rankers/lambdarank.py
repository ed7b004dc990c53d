"""LambdaRank: a net moved by forces between documents, scaled by what a swap would gain."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.losses.lambdas import Lambda, LambdaName
from letorbench.rankers.base import Ranker
from letorbench.solvers.learned import Learned
from letorbench.solvers.sgd import Schedule, descend_per_query
from letorbench.solvers.validation import Validation


@dataclass
class LambdaRank(Ranker):
    """Burges, Ragno, Le, "Learning to Rank with Nonsmooth Cost Functions", NIPS 2006.

    For each pair r_i > r_j of a query, after sorting it by score, the force (equation 9)
    lambda = 1/Z@L sigma(-(s_i - s_j)) (2^r_i - 2^r_j) |D(rank i) - D(rank j)| is added to
    document i's and subtracted from j's, and the net takes one step a query along them.

    layers:        1, a linear score; 2, one hidden layer of tanh units and a linear output.
    hidden:        hidden units of two layers, the paper's 10.
    learning_rate: of the first epoch; x 0.8 whenever 1 - NDCG@10 rose (section 6.3).
    epochs:        the paper's 300 at most, the best on validation is kept.
    patience:      training ends so many epochs after the best one on validation; 0: never.
    standardise:   steps as if features had mean 0 and variance 1, see `Schedule`.
    function:      the lambda function (`--set lambda=…`): ranknet, ranknet-ndcg, step, spring,
                   ndcg-difference, see `letorbench.losses.lambdas`.
    neighbours:    forces between documents of neighbouring ranks only.
    margin:        how far the right order must be apart before a force fades.
    truncation:    L; 0 is none: D of the whole list.

    Random weights are drawn anew where the cost has not fallen for 50 epochs. Where the
    paper is silent: D is its own 1 / log2(1 + rank) whatever the convention measures with;
    ties rank in file order; first weights uniform within 1/sqrt(inputs); queries in a new
    random order each epoch, their NDCG summed as they pass; a feature's steps are scaled by
    its largest size; training ends early, as patience says; equally good epochs: the first.
    Equation 9 is printed with D(rank i) - D(rank j), whose sign would push a pair in the wrong
    order further apart; its size is meant, "the NDCG gain found by swapping".
    """

    name = "lambdarank"
    title = "Neural net on forces between documents, scaled by the NDCG of a swap"
    paper = "Burges, Ragno, Le: Learning to Rank with Nonsmooth Cost Functions, NIPS 2006"
    formula = "lambda = 1/Z@L sigma(-(s_i - s_j)) (2^r_i - 2^r_j) |D(rank i) - D(rank j)|"
    grid = {"learning_rate": (1e-3, 1e-2, 1e-1), "layers": (1, 2)}
    spelled = {"function": "lambda"}

    layers: int = 2
    hidden: int = 10
    learning_rate: float = 1e-2
    epochs: int = 300
    patience: int = 30
    standardise: bool = False
    function: LambdaName = "ranknet-ndcg"
    neighbours: bool = False
    margin: float = 0.0
    truncation: int = 0

    def learn(
        self, train: QuerySet, validation: Validation | None, rng: np.random.Generator
    ) -> Learned:
        function = Lambda(self.function, self.neighbours, self.margin, self.truncation)
        schedule = Schedule(
            self.learning_rate, self.epochs, self.patience, standardise=self.standardise
        )
        return descend_per_query(
            function, self.layers, self.hidden, schedule, train, validation, rng
        )
