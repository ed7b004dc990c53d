"""The rankers of the functionals paper: a functional, a loss, L-BFGS with a Gaussian prior."""

from __future__ import annotations

from dataclasses import dataclass
from types import new_class

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.losses import loss
from letorbench.losses.group_level import Aggregate
from letorbench.losses.label_order import (
    DOCUMENT_WEIGHTS,
    PAIR_WEIGHTS,
    DocumentWeight,
    PairWeight,
)
from letorbench.losses.weighted_pairs import PAIR_LOSSES, PairLoss
from letorbench.rankers.base import Ranker
from letorbench.rankers.functional_choice import Choice, FunctionalName, expect
from letorbench.solvers.lbfgs import Prior, minimise
from letorbench.solvers.learned import Learned
from letorbench.solvers.validation import Validation

#: Table 9 prints R = (2^r - 1) / 2^(L-1), Table 8 loses the brackets
WEIGHT_W = "weight is Table 8's W, the rating's read as Table 9's R"

#: a step that lowers the objective by a smaller share of it ends the search
FLAT = 1e-7


@dataclass
class _Functional(Ranker):
    """What all have: the objective is the loss's mean over queries + l2/2 |theta|^2 (eq. 1).

    Features are standardised on the training set, as section 4 says, but for `bilinear` and
    `distance`. L-BFGS ends where a step lowers the objective by less than 1e-7 of it.
    """

    paper = "Tran, Phung, Venkatesh: Learning Rank Functionals: An Empirical Study, 2012"
    grid = {"l2": (1e-6, 1e-4, 1e-2, 1.0, 100.0)}

    functional: FunctionalName = "linear"
    l2: float = 1e-2
    iterations: int = 200
    rho: float = 0.1
    group: Aggregate = "max"
    query_features: int = 0
    dimensions: int = 10
    tau: float = 1.0

    def __post_init__(self) -> None:
        self._choice, self._prior  # noqa: B018  (they check their values)

    @property
    def _choice(self) -> Choice:
        return Choice(
            self.functional, self.rho, self.group, self.query_features, self.dimensions, self.tau
        )

    @property
    def _prior(self) -> Prior:
        return Prior(self.l2, self.iterations, flat=FLAT)

    @property
    def loss_name(self) -> str:
        """What the loss is called in `letorbench.losses`."""
        return self.name

    def learn(
        self, train: QuerySet, validation: Validation | None, rng: np.random.Generator
    ) -> Learned:
        functional, chosen = self._choice.on(train), loss(self.loss_name)
        level = self._choice.level(chosen, train)
        return minimise(functional, level, train, self._prior, train.n_queries, rng)


_SETTINGS = """functional:     "linear"; "quadratic": products of two features too; "group": linear,
                the loss on groups of one label; "bilinear", "distance": f1, f2 of a
                query's and a document's vector.
l2:             the prior's strength, chosen on validation (the paper does not say how).
iterations:     of L-BFGS at most.
rho:            quadratic: the least |correlation| of a product that is kept.
group:          group: "min", "max", "mean" or "log-mean-exp" of a group's scores.
query_features: bilinear, distance: the columns, the first, of the query's vector; 0: half.
dimensions:     bilinear, distance: d of the common space.
tau:            distance: what it is divided by."""


@dataclass
class _ByDocument(_Functional):
    weight: DocumentWeight = "1"

    def __post_init__(self) -> None:
        super().__post_init__()
        expect("weight", self.weight, DOCUMENT_WEIGHTS)

    @property
    def loss_name(self) -> str:
        return f"{self.name}-{self.weight}"


@dataclass
class _ByPair(_Functional):
    weight: PairWeight = "1"

    def __post_init__(self) -> None:
        super().__post_init__()
        expect("weight", self.weight, PAIR_WEIGHTS)

    @property
    def loss_name(self) -> str:
        return f"{self.name}-{self.weight}"


@dataclass
class _Pairwise(_ByPair):
    loss: PairLoss = "logistic"

    def __post_init__(self) -> None:
        super().__post_init__()
        expect("loss", self.loss, tuple(PAIR_LOSSES))

    @property
    def loss_name(self) -> str:
        return f"{self.name}-{self.loss}-{self.weight}"


#: name -> base, equation, title, formula, and what the docstring adds
_TABLE = {
    "mcl": (
        _Functional, 5, "Rank functional on which document is the best", "-log softmax(s)_best",
        "Several best ones: the mean of their losses.",
    ),
    "smooth-ndcg": (
        _Functional, 6, "Rank functional on NDCG of smoothed places",
        "1 - sum_i (2^r_i - 1) / log2(1 + pi_i) / Z, pi_i = 1 + sum_j sigma(s_j - s_i)",
        "Not convex: what L-BFGS finds from its start.",
    ),
    "smooth-err": (
        _Functional, 6, "Rank functional on ERR of smoothed places",
        "1 - sum_i R_i / pi_i prod over j != i of (1 - R_j sigma(s_j - s_i))",
        "Not convex: what L-BFGS finds from its start.",
    ),
    "smooth-mrr": (
        _Functional, 6, "Rank functional on the reciprocal smoothed place of the best",
        "1 - 1 / pi_best, pi_i = 1 + sum_j sigma(s_j - s_i)",
        "Not convex: what L-BFGS finds from its start. Several best ones: the mean.",
    ),
    "pairwise": (
        _Pairwise, 9, "Rank functional on weighted losses of pairs",
        "sum over pairs r_i > r_j of V_ij phi(s_i - s_j)",
        "loss is Table 3's phi, weight Table 9's V as printed there, e for eta.",
    ),
    "wpl": (
        _ByDocument, 11, "Rank functional on weighted Plackett-Luce (ListMLE with weight 1)",
        "-sum_i W_i log(e^(s_i) / sum over j from i on of e^(s_j)), in label order",
        f"{WEIGHT_W}; 1 gives ListMLE (Xia et al., ICML 2008).",
    ),
    "rpl": (
        _ByDocument, 13, "Rank functional on weighted Plackett-Luce, the worst dropped first",
        "-sum_i W_i log(e^(-s_i) / sum over j up to i of e^(-s_j)), in label order",
        f"{WEIGHT_W}.",
    ),
    "wpll": (
        _ByDocument, 16, "Rank functional on a Markov field's weighted pseudo-likelihood",
        "-sum_i W_i log P(r_i | the other labels)", f"{WEIGHT_W}.",
    ),
    "wub": (
        _ByPair, 18, "Rank functional on a Markov field's weighted pairwise bound",
        "-sum over pairs of V_ij log(psi(r_i, r_j) / Z_ij)",
        "weight is Table 9's V as printed there, e for eta.",
    ),
}  # fmt: skip


def _declare(
    name: str, base: type[_Functional], equation: int, title: str, formula: str, more: str
) -> None:
    source = f"{_Functional.paper}, equation {equation}."
    facts = {
        "__doc__": f"{source}\n\n{formula}\n{more}\n\n{_SETTINGS}",
        "__module__": __name__,
        "name": name,
        "title": title,
        "formula": formula,
    }
    python = {"pairwise": "Pairwise"}.get(name) or name.upper().replace("SMOOTH-", "Smooth")
    globals()[python] = dataclass(
        new_class(python, (base,), exec_body=lambda space: space.update(facts))
    )


for _name, _row in _TABLE.items():
    _declare(_name, *_row)
