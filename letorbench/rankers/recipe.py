"""Recipes: any model, any loss and any solver that fit together.

Many published rankers are such recipes. ListNet is the linear model of unscaled features, the loss
`listnet` and gradient descent::

    letorbench run --algo recipe --set model=linear --set standardise=false --set loss=listnet
                   --set solver=gradient-descent

`letorbench algos --parts` lists the models, the losses and the solvers.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from letorbench.errors import UsageError
from letorbench.losses import loss, take
from letorbench.losses.base import weighted_sum
from letorbench.losses.custom_losses import require_gradient, source_of
from letorbench.losses.label_order import TIE_RULES, draws_order, with_ties
from letorbench.models.base import FamilySettings, families, family
from letorbench.parameters import number, one_of
from letorbench.rankers.base import FitResult, Generator, QuerySet, Ranker, Validation
from letorbench.rankers.mart import TreeBooster, TreeSettings
from letorbench.solvers.boosting import boost
from letorbench.solvers.descent import LBFGS, GradientDescent, LineSearch, Solver
from letorbench.solvers.tree_growing import Grower
from letorbench.solvers.tree_splitting import TreeFeatures

#: the only model that is not a parametric family, and its only solver
TREES, BOOSTING = "trees", "boosting"
MODELS = (*families(), TREES)
#: each solver's description
SOLVERS: dict[str, str] = {
    "lbfgs": "L-BFGS: l2, iterations, starts",
    "gradient-descent": "steps of one length, the epoch that validation chooses: l2, "
    "learning_rate, epochs, patience",
    "line-search": "gradient descent with steps of the right length: l2, iterations, starts",
    BOOSTING: "a tree an epoch, the epoch that validation chooses: l2, learning_rate, epochs, "
    "patience",
}


@dataclass
class Recipe(TreeSettings, FamilySettings, Ranker):
    """A model fitted to a loss by a solver, each of the user's choice.

    The objective is the mean over queries of the loss + l2 c/2 |theta|^2.

    Parameters
    ----------
    model : {"linear", "quadratic", "bilinear", "bilinear-tanh", "distance", "mlp", "trees"}
    loss : str
        Any loss with its parameters, such as ``wpl(weight=1/pi)``; `letorbench algos --parts` lists
        them. A loss of a plug-in is given by name. In Python it may also be a function (scores,
        labels) -> (value, gradient) of one query, or a class; its gradient is checked.
    solver : {"auto", "lbfgs", "gradient-descent", "line-search", "boosting"}
        "auto" is "boosting" for trees, which no other solver fits, and "lbfgs" for the other
        models. All fit every loss.
    l2 : float
        The strength of the prior on the parameters except intercepts, in units of c, the mean
        curvature of the loss at the start. trees: added to a leaf's number of documents.
    iterations : int
        lbfgs, line-search: the largest number of iterations; a warning says if they were not
        enough.
    starts : int
        lbfgs, line-search: the number of starts, of which the one with the lowest objective wins.
        The first is zero or drawn by the model, further ones are drawn around it. Use several for a
        loss that is not convex.
    learning_rate : float
        gradient-descent: the length of a step. boosting: the factor of each tree, in addition to
        Newton's step along it.
    epochs : int
        gradient-descent, boosting: the largest number of epochs; validation chooses the one that is
        kept.
    patience : int
        gradient-descent, boosting: training ends this many epochs after the best one on validation;
        0 means never.
    intercept : bool
        linear: add a constant, which the prior does not penalise.
    hidden : int
        mlp: the number of hidden units.
    ties : {"breslow", "random", "file"}
        How a loss that orders documents by label treats equal labels, see
        `letorbench.losses.label_order`. Other losses have no ties.
    leaves, depth, min_docs, docs, columns, bins
        Of trees, see `letorbench.rankers.mart.TreeSettings`.
    standardise, rho, query_features, dimensions, tau
        The model's settings, see `letorbench.models.base.FamilySettings`.

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
    takes_missing = property(lambda self: self.model == TREES)

    model: str = one_of(MODELS, "linear")
    loss: str = "listnet"
    solver: str = one_of(("auto", *SOLVERS), "auto")
    l2: float = number(1e-2, least=0)
    iterations: int = number(200, least=1)
    starts: int = number(1, least=1)
    learning_rate: float = number(0.1, above=0)
    epochs: int = number(300, least=1)
    patience: int = number(50, least=0)
    intercept: bool = False
    hidden: int = number(10, least=1)
    ties: str = one_of(TIE_RULES, "breslow")

    def __post_init__(self) -> None:
        if not isinstance(self.loss, str):
            self.loss = take(self.loss)
        super().__post_init__()
        loss(self.loss)
        if (self.model == TREES) != (self.chosen_solver == BOOSTING):
            raise UsageError(
                f"recipe: solver={self.chosen_solver} does not fit model={self.model}: trees are "
                "boosted, and nothing else is"
            )
        if self.intercept and self.model != "linear":
            raise UsageError(f"the {self.model} model has no intercept; the linear one has")

    @property
    def chosen_solver(self) -> str:
        if self.solver != "auto":
            return self.solver
        return BOOSTING if self.model == TREES else "lbfgs"

    @property
    def draws(self) -> bool:
        """Whether it draws an order of ties, a start, or documents or features of trees."""
        if draws_order(loss(self.loss), self.ties):
            return True
        if self.model == TREES:
            return super().draws
        return self.starts > 1 or family(self.model).drawn

    @property
    def parts(self) -> tuple[Any, ...]:
        chosen = () if self.model == TREES else (family(self.model),)
        return type(loss(self.loss)), *chosen

    @property
    def own_code(self) -> str:
        return source_of(loss(self.loss))

    @property
    def auto_features(self) -> str:
        return "raw" if self.model == TREES else family(self.model).auto_features

    def learn(self, train: QuerySet, validation: Validation | None, rng: Generator) -> FitResult:
        if self.own_code:
            require_gradient(loss(self.loss), train)
        ordered = with_ties(loss(self.loss), self.ties, train, rng)
        if self.model == TREES:
            count = float(train.query_weights.sum())

            def differentiated(scores: np.ndarray) -> tuple[np.ndarray, float]:
                total, gradient = weighted_sum(ordered, scores, train)
                return gradient[None] / count, total / count

            grower = Grower(TreeFeatures.of(train.features, self.bins), self.tree_params(self.l2))
            booster = TreeBooster(
                differentiated, grower, rng, self.learning_rate, self.docs, train.document_weights
            )
            return boost(booster, train, self.epochs, validation, self.patience, self.deadline)
        solver: Solver = LBFGS(self.iterations, self.l2, starts=self.starts)
        if self.solver == "line-search":
            solver = LineSearch(self.iterations, self.l2, starts=self.starts)
        elif self.solver == "gradient-descent":
            solver = GradientDescent(self.learning_rate, self.epochs, self.patience, self.l2)
        model = family(self.model).of(train, self)
        return solver.fit(model, ordered, train, validation, rng, self.deadline)
