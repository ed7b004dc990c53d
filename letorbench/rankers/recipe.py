"""Recipes: any model, any loss and any solver that fit together.

Many published rankers are such a recipe. ListNet is the linear model of the features as they are,
the loss `listnet` and gradient descent::

    letorbench run --algo recipe --set model=linear --set standardise=false --set loss=listnet
                   --set solver=gradient-descent

`letorbench algos --parts` lists the models, the losses and the solvers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.errors import UsageError
from letorbench.losses import loss
from letorbench.losses.label_order import TIE_RULES, draws_order, with_ties
from letorbench.losses.lambdas import Lambda
from letorbench.models.parametric import FamilySettings, families, family
from letorbench.rankers.base import Ranker, one_of
from letorbench.solvers.descent import LBFGS, GradientDescent, LineSearch, Solver
from letorbench.solvers.fit_result import FitResult
from letorbench.solvers.sgd import NetDescent
from letorbench.solvers.stopping import Validation

#: what each solver does
SOLVERS: dict[str, str] = {
    "lbfgs": "L-BFGS: l2, iterations",
    "gradient-descent": "steps of one length, the epoch that validation chooses: l2, "
    "learning_rate, epochs, patience",
    "line-search": "gradient descent with steps of the right length: l2, iterations",
    "sgd": "one step a query, the epoch that validation chooses: learning_rate, epochs, patience",
}
#: what `sgd` can train: its epochs are compiled for these
SGD_MODELS, SGD_LOSS = ("linear", "mlp"), "ranknet"


def misfit(model: str, loss: str, solver: str) -> str | None:
    """Return in one line why the parts do not fit together; None if they do."""
    if solver != "sgd" or (model in SGD_MODELS and loss == SGD_LOSS):
        return None
    return (
        f"solver=sgd does not fit model={model} with loss={loss}: it trains the models "
        f"{' and '.join(SGD_MODELS)} on the loss {SGD_LOSS}; "
        "the other solvers fit every model and loss"
    )


@dataclass
class Recipe(FamilySettings, Ranker):
    """A model fitted to a loss by a solver, each of the user's choice.

    The objective is the mean over queries of the loss + l2 c/2 |theta|^2.

    Parameters
    ----------
    model : {"linear", "quadratic", "bilinear", "bilinear-tanh", "distance", "mlp"}
    loss : str
        Any loss, with its parameters: ``wpl(weight=1/pi)``; `letorbench algos --parts` lists them.
    solver : {"lbfgs", "gradient-descent", "line-search", "sgd"}
        "sgd" takes one step a query, as RankNet does. It fits the models "linear" and "mlp" to
        the loss "ranknet", without l2. The other solvers fit every model to every loss.
    l2 : float
        The strength of the prior on the parameters, but for intercepts, in units of c, the mean
        curvature of the loss at the start.
    iterations : int
        lbfgs, line-search: at most so many; a warning says where they were not enough.
    learning_rate : float
        gradient-descent, sgd: the length of a step.
    epochs : int
        gradient-descent, sgd: at most so many; validation chooses the one that is kept.
    patience : int
        gradient-descent, sgd: training ends so many epochs after the best one on validation;
        0 means never.
    intercept : bool
        linear: add a constant, which the prior does not penalise. "sgd" always has one.
    hidden : int
        mlp: the number of hidden units.
    ties : {"breslow", "random", "file"}
        What becomes of equal labels in a loss that orders documents by label, see
        `letorbench.losses.label_order`. Other losses have no ties.
    standardise, rho, query_features, dimensions, tau
        The model's settings, see `letorbench.models.parametric.FamilySettings`. With "sgd",
        `standardise` steps as if the features were standardised.

    Examples
    --------
    >>> Recipe(model="quadratic", loss="wpl(weight=1/pi)", solver="lbfgs").loss
    'wpl(weight=1/pi)'
    """

    name = "recipe"
    title = "A model, a loss and a solver of your choice (see `algos --parts`)"
    paper = "none: a combination of parts of the other algorithms"
    formula = "mean over queries of the loss + l2 c/2 |theta|^2"
    published = False

    model: str = one_of(families(), "linear")
    loss: str = "listnet"
    solver: str = one_of(SOLVERS, "lbfgs")
    l2: float = 1e-2
    iterations: int = 200
    learning_rate: float = 0.1
    epochs: int = 300
    patience: int = 50
    intercept: bool = False
    hidden: int = 10
    ties: str = one_of(TIE_RULES, "breslow")

    def __post_init__(self) -> None:
        super().__post_init__()
        loss(self.loss)
        self.check_family(self.model)
        reason = misfit(self.model, self.loss, self.solver)
        if reason:
            raise UsageError(f"recipe: {reason}")
        if self.solver != "sgd":
            self._solver()

    @property
    def draws(self) -> bool:
        """Sgd draws the order of the queries, some models draw where they begin, ties an order."""
        tied = draws_order(loss(self.loss), self.ties)
        return self.solver == "sgd" or family(self.model).drawn or tied

    @property
    def auto_features(self) -> str:
        """What `auto` does, which the model decides."""
        return family(self.model).auto_features

    def learn(
        self, train: QuerySet, validation: Validation | None, rng: np.random.Generator
    ) -> FitResult:
        if self.solver == "sgd":
            layers = 2 if self.model == "mlp" else 1
            descent = NetDescent(
                layers, self.hidden, self.learning_rate, self.epochs, self.patience,
                self.standardise,
            )  # fmt: skip
            return descent.fit(Lambda("ranknet"), train, validation, rng, self.deadline)
        model = family(self.model).of(train, self)
        ordered = with_ties(loss(self.loss), self.ties, train, rng)
        return self._solver().fit(model, ordered, train, validation, rng, self.deadline)

    def _solver(self) -> Solver:
        if self.solver == "lbfgs":
            return LBFGS(self.l2, self.iterations, flat=1e-7)
        if self.solver == "line-search":
            return LineSearch(self.iterations, l2=self.l2)
        return GradientDescent(self.learning_rate, self.epochs, self.patience, self.l2)
