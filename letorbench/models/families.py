"""The parametric families by their names, as a ranker's settings ask for one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from letorbench.choices import require_choice
from letorbench.datasets.queryset import QuerySet
from letorbench.errors import UsageError
from letorbench.features.moments import mean_and_scale
from letorbench.models.linear import LinearFamily
from letorbench.models.mlp import MLPFamily
from letorbench.models.parametric import ParametricFamily
from letorbench.models.quadratic import QuadraticFamily
from letorbench.models.separate import SeparateFamily

FamilyName = Literal["linear", "quadratic", "bilinear", "bilinear-tanh", "distance", "mlp"]
#: the formula of each family
FORMULAS: dict[str, str] = {
    "linear": "s = w . x + b",
    "quadratic": "s = w . x + sum over kept products of c_kj x_k x_j",
    "bilinear": "s = sigma(A'y)' B'z, x = [y | z], a query's and a document's vector",
    "bilinear-tanh": "s = tanh(A'y)' B'z, x = [y | z], a query's and a document's vector",
    "distance": "s = -|A'y - B'z|^2 / tau, x = [y | z], a query's and a document's vector",
    "mlp": "s = v . tanh(W x + b)",
}
FAMILIES: tuple[str, ...] = get_args(FamilyName)
#: the families whose first parameters are drawn at random: zero is a saddle point of theirs
DRAWN = ("bilinear", "bilinear-tanh", "distance", "mlp")
#: the families of a query's and a document's vector: within a query, the query's is constant
SEPARATE = ("bilinear", "bilinear-tanh", "distance")


@dataclass(frozen=True)
class FamilyChoice:
    """A family's name and what the families need.

    Parameters
    ----------
    name : FamilyName
    standardise : bool
        linear: whether x are the features with mean 0 and variance 1 on the training set;
        otherwise x are the features as they are. "quadratic" and "mlp" always standardise,
        the models of two vectors never do.
    intercept : bool
        linear: whether there is a b, which no prior penalises.
    rho : float
        quadratic: a product is kept where its |correlation| with the label is at least rho.
    query_features : int
        the models of two vectors: how many features, the first ones, are the query's; 0: half of
        them.
    dimensions : int
        the models of two vectors: of the space that both vectors are mapped into.
    tau : float
        distance: what it is divided by.
    hidden : int
        mlp: the number of hidden units.
    """

    name: FamilyName = "linear"
    standardise: bool = True
    intercept: bool = False
    rho: float = 0.1
    query_features: int = 0
    dimensions: int = 10
    tau: float = 1.0
    hidden: int = 10

    def __post_init__(self) -> None:
        require_choice(self.name, FAMILIES, "model")
        if self.intercept and self.name != "linear":
            raise UsageError(f"the {self.name} model has no intercept; the linear one has")
        if not 0.0 <= self.rho < 1.0:
            raise UsageError(f"found rho={self.rho}, expected 0 or more and less than 1")
        if self.hidden < 1:
            raise UsageError(f"found hidden={self.hidden}, expected 1 or more")
        if not self.tau > 0.0 or self.dimensions < 1 or self.query_features < 0:
            raise UsageError(
                f"found tau={self.tau}, dimensions={self.dimensions}, query_features="
                f"{self.query_features}, expected more than 0, 1 or more, 0 or more"
            )

    def on(self, train: QuerySet) -> ParametricFamily:
        """Return the family for the features of that training set.

        Raises
        ------
        UsageError
            If there are too few features.
        """
        if self.name == "quadratic":
            return QuadraticFamily.of(train, self.rho)
        if self.name in SEPARATE:
            return self._separate(train.n_features)
        if self.name == "mlp":
            return MLPFamily(*mean_and_scale(train.features), self.hidden)
        if self.standardise:
            return LinearFamily.standardised(train.features, self.intercept)
        return LinearFamily.conditioned(train.features, self.intercept)

    def _separate(self, n_features: int) -> SeparateFamily:
        n1 = self.query_features or n_features // 2
        if not 0 < n1 < n_features:
            raise UsageError(
                f"found query_features={n1} of {n_features} features, expected 1 to "
                f"{n_features - 1}: the other features are the document's vector"
            )
        tau = self.tau if self.name == "distance" else 0.0
        tanh = self.name == "bilinear-tanh"
        return SeparateFamily(n1, n_features - n1, self.dimensions, tau, tanh)
