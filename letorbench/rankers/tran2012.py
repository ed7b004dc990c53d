"""The rankers of the rank functionals paper: a model, a loss, L-BFGS with a Gaussian prior.

T. Tran, D. Phung, S. Venkatesh, "Learning Rank Functionals: An Empirical Study", 2012. Each ranker
names its equation. `letorbench.losses` defines them: `logistic` (5), `smoothed` (6, 7),
`weighted_pairs` (9, 16, 18), `plackett_luce` (11, 13). `letorbench.models` has the models:
`linear`, `functionals` (2, 3, 4).
"""

from dataclasses import dataclass
from typing import Any, ClassVar

from letorbench.losses.base import Loss, of_settings
from letorbench.losses.gains import GainSettings
from letorbench.losses.label_order import (
    AGGREGATES,
    DOCUMENT_WEIGHTS,
    PAIR_WEIGHTS,
    TIE_RULES,
    draws_order,
    group_level,
    with_ties,
)
from letorbench.losses.logistic import MulticlassLogistic
from letorbench.losses.plackett_luce import PlackettLuce, ReversePlackettLuce
from letorbench.losses.smoothed import SmoothedMeasure
from letorbench.losses.weighted_pairs import PAIR_LOSSES, FieldBound, PairwiseLoss, PseudoLikelihood
from letorbench.models.base import FamilySettings, ParametricFamily, family
from letorbench.parameters import number, one_of
from letorbench.rankers.base import FitResult, Generator, QuerySet, Ranker, Validation
from letorbench.rankers.tuning import Between
from letorbench.registry import preset
from letorbench.solvers.descent import LBFGS

#: the models that score a group's documents: "group-level function can be in conjunction with any"
INDIVIDUALS = ("linear", "quadratic", "bilinear", "bilinear-tanh", "distance")
FUNCTIONALS = (*INDIVIDUALS[:2], "group", *INDIVIDUALS[2:])


@dataclass
class _RankFunctional(FamilySettings, Ranker):
    """The objective is the mean over queries of the loss + l2 c/2 |theta|^2 (equation 1).

    Parameters
    ----------
    functional : {"linear", "quadratic", "group", "bilinear", "bilinear-tanh", "distance"}
        "quadratic" also has products of two features. With "group" the loss ranks groups of
        documents with the same label. "bilinear" and "distance" are f1 and f2 of a query's and a
        document's vector; sigma of f1 is the sigmoid, or tanh with "bilinear-tanh".
    l2 : float
        The strength of the prior in units of c, the mean curvature of the loss at the start.
        Validation chooses it; the paper does not say how.
    iterations : int
        The largest number of iterations of L-BFGS.
    group : {"min", "max", "mean", "log-mean-exp"}
        group: how a group gets its score.
    individual : {"linear", "quadratic", "bilinear", "bilinear-tanh", "distance"}
        group: the model that scores a group's documents.
    standardise, rho, query_features, dimensions, tau
        The model's settings, see `letorbench.models.base.FamilySettings`. Section 4
        standardises the features.

    Notes
    -----
    The features of "bilinear" and "distance" are never standardised. L-BFGS starts at zero, where
    all scores are equal, or for "bilinear" and "distance" at drawn parameters. It ends when the
    gradient is 1e-6 times as long as at the start.
    """

    paper = "Tran, Phung, Venkatesh: Learning Rank Functionals: An Empirical Study, 2012"
    families = ("listwise", "linear")
    figure = "functionals"
    grid = {"l2": (1e-6, 1e-4, 1e-2, 1.0, 100.0)}
    ranges = {"l2": Between(1e-8, 1e4, log=True)}

    #: the loss, whose parameters are attributes of the ranker
    surrogate: ClassVar[type[Loss]]

    functional: str = one_of(FUNCTIONALS, "linear")
    l2: float = number(1e-2, least=0)
    iterations: int = number(200, least=1)
    group: str = one_of(AGGREGATES, "max")
    individual: str = one_of(INDIVIDUALS, "linear")

    # fields in the rankers whose loss has weights or is not convex
    ties = "breslow"
    starts: ClassVar[int] = 1

    @property
    def _family(self) -> type[ParametricFamily]:
        return family(self.individual if self.functional == "group" else self.functional)

    @property
    def auto_features(self) -> str:
        return self._family.auto_features

    @property
    def parts(self) -> tuple[Any, ...]:
        return (self._family,)

    @property
    def draws(self) -> bool:
        """Whether it draws an order of ties or starts (at zero some models have a saddle)."""
        loss = of_settings(self.surrogate, self)
        tied = self.functional != "group" and draws_order(loss, self.ties)
        return tied or self.starts > 1 or self._family.drawn

    def learn(self, train: QuerySet, validation: Validation | None, rng: Generator) -> FitResult:
        loss = of_settings(self.surrogate, self)
        if self.functional == "group":  # no two groups of a query have one label
            loss = group_level(loss, self.group, train)
        else:
            loss = with_ties(loss, self.ties, train, rng)
        model = self._family.of(train, self)
        solver = LBFGS(self.iterations, self.l2, starts=self.starts)
        return solver.fit(model, loss, train, validation, rng, self.deadline)


MCL = preset(_RankFunctional, "MCL", name="mcl", surrogate=MulticlassLogistic,
    doc="Equation 5, the multiclass logistic loss. Several best ones: the mean of their losses.",
    title="Rank functional on which document is the best",
    formula="-log softmax(s)_best")  # fmt: skip


@dataclass
class _Smoothed(_RankFunctional):
    """Equation 6. It has several minima, so the result depends on where L-BFGS starts.

    Parameters
    ----------
    starts : int
        The number of starts: zero, and others drawn around it, with scores that differ by 1 in root
        mean square. The lowest training objective wins.
    """

    surrogate = SmoothedMeasure

    iterations: int = number(1000, least=1)
    starts: int = number(3, least=1)  # type: ignore[misc]


@dataclass
class SmoothNDCG(GainSettings, _Smoothed):
    """Equation 6 with NDCG."""

    name = "smooth-ndcg"
    title = "Rank functional on NDCG of smoothed places"
    formula = "1 - sum_i (2^r_i - 1) / log2(1 + pi_i) / Z, pi_i = 1 + sum_j sigma(s_j - s_i)"
    measure, alpha = "ndcg", 1.0


SmoothERR = preset(SmoothNDCG, "SmoothERR", name="smooth-err", measure="err",
    doc="Equation 6 with ERR.",
    title="Rank functional on ERR of smoothed places",
    formula="1 - sum_i R_i / pi_i prod over j != i of (1 - R_j sigma(s_j - s_i))")  # fmt: skip

SmoothMRR = preset(_Smoothed, "SmoothMRR", name="smooth-mrr", measure="mrr", alpha=1.0, gain="exp2",
    doc="Equation 6 with MRR. Several best documents: the mean of their reciprocal places.",
    title="Rank functional on the reciprocal smoothed place of the best",
    formula="1 - 1 / pi_best, pi_i = 1 + sum_j sigma(s_j - s_i)")  # fmt: skip


@dataclass
class _WeightedByDocument(GainSettings, _RankFunctional):
    """Each document has a weight. The gain is that of (2^r-1)/2^(L-1).

    Parameters
    ----------
    weight : str
        Table 8's W. It prints 2^(r-1) / 2^(L-1), perhaps Table 9's (2^r - 1) / 2^(L-1) without its
        brackets.
    ties : {"breslow", "random", "file"}
        How equal labels are treated, see `letorbench.losses.label_order`. wpll: only weights that
        depend on the place have ties.
    """

    weight: str = one_of(DOCUMENT_WEIGHTS, "1")
    ties: str = one_of(TIE_RULES, "breslow")


WPL = preset(_WeightedByDocument, "WPL", name="wpl", surrogate=PlackettLuce,
    doc="Equation 11, weighted Plackett-Luce. Weight 1 gives ListMLE (Xia et al., ICML 2008).",
    title="Rank functional on weighted Plackett-Luce (ListMLE with weight 1)",
    formula="-sum_i W_i log(e^(s_i) / sum over r_j <= r_i of e^(s_j))")  # fmt: skip

RPL = preset(_WeightedByDocument, "RPL", name="rpl", surrogate=ReversePlackettLuce,
    doc="Equation 13, weighted Plackett-Luce in reverse.",
    title="Rank functional on weighted Plackett-Luce, the worst dropped first",
    formula="-sum_i W_i log(e^(-s_i) / sum over r_j >= r_i of e^(-s_j))")  # fmt: skip

WPLL = preset(_WeightedByDocument, "WPLL", name="wpll", surrogate=PseudoLikelihood,
    doc="Equation 16, the weighted pseudo-likelihood of a Markov random field.",
    title="Rank functional on a Markov field's weighted pseudo-likelihood",
    formula="-sum_i W_i log P(r_i | the other labels)")  # fmt: skip


@dataclass
class _WeightedByPair(GainSettings, _RankFunctional):
    """Rank functionals with a weight for each pair; `gain` is that of R and Z.

    Parameters
    ----------
    weight : str
        Table 9's V as printed there, with e for eta.
    ties : {"breslow", "random", "file"}
        How equal labels in e are treated, see `letorbench.losses.label_order`. The other weights
        have no ties.
    """

    families = ("pairwise", "linear")

    weight: str = one_of(PAIR_WEIGHTS, "1")
    ties: str = one_of(TIE_RULES, "breslow")


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
    surrogate = PairwiseLoss

    loss: str = one_of(PAIR_LOSSES, "logistic")

    @property
    def phi(self) -> str:
        return self.loss


WUB = preset(_WeightedByPair, "WUB", name="wub", surrogate=FieldBound,
    doc="Equation 18, the weighted upper bound of a Markov random field by its pairs.",
    title="Rank functional on a Markov field's weighted pairwise bound",
    formula="-sum over pairs of V_ij log(psi(r_i, r_j) / Z_ij)")  # fmt: skip
