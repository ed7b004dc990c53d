"""The rankers of the rank functionals paper: a model, a loss, L-BFGS with a Gaussian prior.

T. Tran, D. Phung, S. Venkatesh, "Learning Rank Functionals: An Empirical Study", 2012. Each class
names its equation. The equations stand in plain NumPy in `letorbench.losses`: `multiclass` (5),
`smoothed` (6, 7), `weighted_pairs` (9, 18), `plackett_luce` (11, 13), `markov_field` (16); the
models are in `letorbench.models`: `linear`, `quadratic` (4), `separate` (2, 3).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from letorbench.choices import require_choice
from letorbench.datasets.queryset import QuerySet
from letorbench.losses import Loss, loss
from letorbench.losses.group_level import AGGREGATES, Aggregate, group_level
from letorbench.losses.label_order import (
    DOCUMENT_WEIGHTS,
    PAIR_WEIGHTS,
    DocumentWeightName,
    PairWeightName,
)
from letorbench.losses.ties import TIE_RULES, TieRule, draws_order, with_ties
from letorbench.losses.weighted_pairs import PAIR_LOSSES, PairLossName
from letorbench.models.families import DRAWN, SEPARATE, FamilyChoice
from letorbench.rankers.base import Ranker
from letorbench.solvers.fit_result import FitResult
from letorbench.solvers.lbfgs import LBFGS
from letorbench.solvers.stopping import Validation

Functional = Literal["linear", "quadratic", "group", "bilinear", "bilinear-tanh", "distance"]
#: what scores a group's documents: "group-level function can be in conjunction with any"
Individual = Literal["linear", "quadratic", "bilinear", "bilinear-tanh", "distance"]

#: a step that lowers the objective by a smaller share of it ends the search
FLAT = 1e-7


@dataclass
class _RankFunctional(Ranker):
    """The objective is the mean over queries of the loss + l2 c/2 |theta|^2 (equation 1).

    Parameters
    ----------
    functional : {"linear", "quadratic", "group", "bilinear", "bilinear-tanh", "distance"}
        "quadratic" has products of two features too. With "group" the loss is on groups of
        documents of one label. "bilinear" and "distance" are f1 and f2 of a query's and a
        document's vector; sigma of f1 is the sigmoid, or with "bilinear-tanh" tanh.
    l2 : float
        The strength of the prior, chosen on validation (the paper does not say how), in units
        of c, the mean curvature of the loss at the start.
    iterations : int
        L-BFGS has at most so many.
    rho : float
        quadratic: keep the products whose abs(correlation) with the label is at least rho.
    group : {"min", "max", "mean", "log-mean-exp"}
        group: how a group gets its score.
    individual : {"linear", "quadratic", "bilinear", "bilinear-tanh", "distance"}
        group: what scores a group's documents.
    standardise : bool
        linear: use the features with mean 0 and variance 1 on the training set, as section 4
        says, instead of the features as they are. "quadratic" always does.
    query_features : int
        bilinear, distance: how many features, the first ones, are the query's vector; 0 is half
        of them.
    dimensions : int
        bilinear, distance: d of the common space.
    tau : float
        distance: what it is divided by.

    Notes
    -----
    The features of "bilinear" and "distance" are never standardised. L-BFGS ends where a step
    lowers the objective by less than 1e-7 of it.

    References
    ----------
    T. Tran, D. Phung, S. Venkatesh: Learning Rank Functionals: An Empirical Study, 2012.
    """

    paper = "Tran, Phung, Venkatesh: Learning Rank Functionals: An Empirical Study, 2012"
    grid = {"l2": (1e-6, 1e-4, 1e-2, 1.0, 100.0)}

    functional: Functional = "linear"
    l2: float = 1e-2
    iterations: int = 200
    rho: float = 0.1
    group: Aggregate = "max"
    individual: Individual = "linear"
    standardise: bool = True
    query_features: int = 0
    dimensions: int = 10
    tau: float = 1.0

    def __post_init__(self) -> None:
        """Check the values; UsageError names the first wrong one."""
        require_choice(self.functional, get_args(Functional), "functional")
        require_choice(self.group, AGGREGATES, "group")
        require_choice(self.individual, get_args(Individual), "individual")
        self._family(), self._solver()  # they check their own values

    @property
    def auto_features(self) -> str:
        """What `auto` does: a normalisation by query would erase the query's vector."""
        return "zscore" if self._scored_by in SEPARATE else "query-minmax"

    @property
    def _scored_by(self) -> Individual:
        """What scores a document, on its own or in a group."""
        return self.individual if self.functional == "group" else self.functional

    def _family(self) -> FamilyChoice:
        return FamilyChoice(
            self._scored_by,
            standardise=self.standardise,
            rho=self.rho,
            query_features=self.query_features,
            dimensions=self.dimensions,
            tau=self.tau,
        )

    def _solver(self) -> LBFGS:
        return LBFGS(self.l2, self.iterations, flat=FLAT)

    def _loss(self) -> Loss:
        return loss(self.name)

    def _ties(self) -> TieRule:
        return "breslow"

    @property
    def draws(self) -> bool:
        """The first parameters are drawn where zero is a saddle point, and ties if asked for."""
        tied = self.functional != "group" and draws_order(self._loss(), self._ties())
        return tied or self._scored_by in DRAWN

    def learn(
        self, train: QuerySet, validation: Validation | None, rng: np.random.Generator
    ) -> FitResult:
        loss = self._loss()
        if self.functional == "group":  # no two groups of a query have one label
            loss = group_level(loss, self.group, train)
        else:
            loss = with_ties(loss, self._ties(), train, rng)
        family = self._family().on(train)
        return self._solver().fit(family, loss, train, validation, rng, self.deadline)


@dataclass
class MCL(_RankFunctional):
    """Equation 5, the multiclass logistic loss. Several best ones: the mean of their losses."""

    name = "mcl"
    title = "Rank functional on which document is the best"
    formula = "-log softmax(s)_best"


@dataclass
class SmoothNDCG(_RankFunctional):
    """Equation 6 with NDCG. It is not convex: the result depends on where L-BFGS starts."""

    name = "smooth-ndcg"
    title = "Rank functional on NDCG of smoothed places"
    formula = "1 - sum_i (2^r_i - 1) / log2(1 + pi_i) / Z, pi_i = 1 + sum_j sigma(s_j - s_i)"


@dataclass
class SmoothERR(_RankFunctional):
    """Equation 6 with ERR. It is not convex: the result depends on where L-BFGS starts."""

    name = "smooth-err"
    title = "Rank functional on ERR of smoothed places"
    formula = "1 - sum_i R_i / pi_i prod over j != i of (1 - R_j sigma(s_j - s_i))"


@dataclass
class SmoothMRR(_RankFunctional):
    """Equation 6 with MRR. Several best documents: the mean of their reciprocal places.

    It is not convex: the result depends on where L-BFGS starts.
    """

    name = "smooth-mrr"
    title = "Rank functional on the reciprocal smoothed place of the best"
    formula = "1 - 1 / pi_best, pi_i = 1 + sum_j sigma(s_j - s_i)"


@dataclass
class _WeightedByDocument(_RankFunctional):
    """Each document has a weight.

    Parameters
    ----------
    weight : str
        Table 8's W. Table 8 prints R without the brackets that Table 9 has; it is read as Table
        9's (2^r - 1) / 2^(L - 1).
    ties : {"breslow", "random", "file"}
        What becomes of equal labels, see `letorbench.losses.ties`. wpll: only the weights that
        depend on the place have ties.
    """

    weight: DocumentWeightName = "1"
    ties: TieRule = "breslow"

    def __post_init__(self) -> None:
        super().__post_init__()
        require_choice(self.weight, tuple(DOCUMENT_WEIGHTS), "weight")
        require_choice(self.ties, TIE_RULES, "ties")

    def _ties(self) -> TieRule:
        return self.ties

    def _loss(self) -> Loss:
        return loss(f"{self.name}-{self.weight}")


@dataclass
class WPL(_WeightedByDocument):
    """Equation 11, weighted Plackett-Luce. Weight 1 gives ListMLE (Xia et al., ICML 2008)."""

    name = "wpl"
    title = "Rank functional on weighted Plackett-Luce (ListMLE with weight 1)"
    formula = "-sum_i W_i log(e^(s_i) / sum over r_j <= r_i of e^(s_j))"


@dataclass
class RPL(_WeightedByDocument):
    """Equation 13, weighted Plackett-Luce in reverse."""

    name = "rpl"
    title = "Rank functional on weighted Plackett-Luce, the worst dropped first"
    formula = "-sum_i W_i log(e^(-s_i) / sum over r_j >= r_i of e^(-s_j))"


@dataclass
class WPLL(_WeightedByDocument):
    """Equation 16, the weighted pseudo-likelihood of a Markov random field."""

    name = "wpll"
    title = "Rank functional on a Markov field's weighted pseudo-likelihood"
    formula = "-sum_i W_i log P(r_i | the other labels)"


@dataclass
class _WeightedByPair(_RankFunctional):
    """Each pair has a weight.

    Parameters
    ----------
    weight : str
        Table 9's V as printed there, with e for eta.
    ties : {"breslow", "random", "file"}
        What becomes of equal labels in e, see `letorbench.losses.ties`. The other weights have
        no ties.
    """

    weight: PairWeightName = "1"
    ties: TieRule = "breslow"

    def __post_init__(self) -> None:
        super().__post_init__()
        require_choice(self.weight, tuple(PAIR_WEIGHTS), "weight")
        require_choice(self.ties, TIE_RULES, "ties")

    def _ties(self) -> TieRule:
        return self.ties

    def _loss(self) -> Loss:
        return loss(f"{self.name}-{self.weight}")


@dataclass
class Pairwise(_WeightedByPair):
    """Equation 9, weighted losses of pairs.

    Parameters
    ----------
    loss : {"quadratic", "hinge", "exponential", "logistic"}
        Table 3's phi.
    """

    name = "pairwise"
    title = "Rank functional on weighted losses of pairs"
    formula = "sum over pairs r_i > r_j of V_ij phi(s_i - s_j)"

    loss: PairLossName = "logistic"

    def __post_init__(self) -> None:
        super().__post_init__()
        require_choice(self.loss, tuple(PAIR_LOSSES), "loss")

    def _loss(self) -> Loss:
        return loss(f"{self.name}-{self.loss}-{self.weight}")


@dataclass
class WUB(_WeightedByPair):
    """Equation 18, the weighted upper bound of a Markov random field by its pairs."""

    name = "wub"
    title = "Rank functional on a Markov field's weighted pairwise bound"
    formula = "-sum over pairs of V_ij log(psi(r_i, r_j) / Z_ij)"
