"""ListNet: gradient descent on the cross entropy of lists."""

from dataclasses import dataclass

import numpy as np

from letorbench.losses.plackett_luce import TopKCrossEntropy
from letorbench.models.linear import LinearFamily
from letorbench.parameters import number, one_of
from letorbench.rankers.base import FitResult, Generator, QuerySet, Ranker, Validation
from letorbench.rankers.tuning import Between
from letorbench.solvers.descent import GradientDescent


@dataclass
class ListNet(Ranker):
    """ListNet of Cao, Qin, Liu, Tsai and Li.

    It minimises, over a linear s, the sum over queries of -sum over g of P_r(g) log P_s(g). Here
    g are the first `top` places under Plackett-Luce with exp of the labels r and of the scores s
    (equations 5 and 6). Gradient descent finds the minimum (Algorithm 1).
    `letorbench.losses.plackett_luce` has the loss in plain NumPy and in compiled code.

    Parameters
    ----------
    top : {1, 2, 3}
        1 is the paper's choice. 2 and 3 are exact and cost m^top for a query of m documents; too
        long a query is an error.
    learning_rate : float
        The length of a step, for the mean over queries; chosen on validation.
    epochs : int
        The largest number of epochs. Validation chooses the one that is kept.
    patience : int
        Training ends this many epochs after the best one on validation; 0 means never.
    steps : str
        "epoch" takes one step an epoch, along the mean of all queries' gradients; "query" takes
        one after each query, as the paper's Algorithm 1 does.

    Notes
    -----
    Where the paper is silent: a query whose documents all have the same label is left out, because
    it has no order to learn and only draws scores together; the weights start at zero; features far
    from the scale of 0 to 1 are centred and divided by four standard deviations, so that one
    learning rate suits them all.
    """

    name = "listnet"
    families = ("listwise", "linear")
    title = "Linear score on the cross entropy of lists"
    paper = (
        "Cao, Qin, Liu, Tsai, Li: Learning to Rank: From Pairwise Approach to Listwise "
        "Approach, ICML 2007"
    )
    formula = "-sum_q sum_i softmax(r)_i log softmax(s)_i"
    grid = {"learning_rate": (0.1, 0.3, 1.0)}
    ranges = {"learning_rate": Between(0.01, 10.0, log=True)}

    top: int = one_of((1, 2, 3), 1)
    learning_rate: float = number(0.3, above=0)
    epochs: int = number(500, least=1)
    patience: int = number(100, least=0)
    steps: str = one_of(("epoch", "query"), "epoch")

    def learn(self, train: QuerySet, validation: Validation | None, rng: Generator) -> FitResult:
        solver = GradientDescent(
            self.learning_rate, self.epochs, self.patience, by_query=self.steps == "query"
        )
        has_order = np.diff(train.by_label.queries) > 1
        if has_order.any() and not has_order.all():
            train = train.take(np.flatnonzero(has_order))
        family = LinearFamily.conditioned(train.features, shift_invariant=True)
        return solver.fit(family, TopKCrossEntropy(self.top), train, validation, rng, self.deadline)
