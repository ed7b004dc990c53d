"""A functional by its name, as a ranker's settings ask for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from letorbench.datasets.queryset import QuerySet
from letorbench.errors import UsageError
from letorbench.losses import Loss
from letorbench.losses.group_level import AGGREGATES, Aggregate, group_level
from letorbench.models.functional import Functional
from letorbench.models.linear_functional import LinearFunctional, moments
from letorbench.models.quadratic_functional import QuadraticFunctional
from letorbench.models.separate_functional import SeparateFunctional

FunctionalName = Literal["linear", "quadratic", "group", "bilinear", "distance"]
FUNCTIONALS = get_args(FunctionalName)


@dataclass(frozen=True)
class Choice:
    """Which functional, with what it needs.

    functional:     "linear" and "quadratic" of standardised features; "group": linear, the
                    loss on groups of one label; "bilinear" and "distance": f1 and f2 of a
                    query's and a document's vector.
    rho:            quadratic: the least |correlation| to the label of a product that is kept.
    group:          group: what a group's score is, one of `AGGREGATES`.
    query_features: bilinear, distance: how many columns, the first, are the query's vector;
                    0: half of them.
    dimensions:     bilinear, distance: of the space that both vectors are mapped into.
    tau:            distance: what it is divided by.
    """

    functional: FunctionalName = "linear"
    rho: float = 0.1
    group: Aggregate = "max"
    query_features: int = 0
    dimensions: int = 10
    tau: float = 1.0

    def __post_init__(self) -> None:
        expect("functional", self.functional, FUNCTIONALS)
        expect("group", self.group, AGGREGATES)
        if not 0.0 <= self.rho < 1.0:
            raise UsageError(f"found rho={self.rho}, expected 0 or more and less than 1")
        if not self.tau > 0.0 or self.dimensions < 1 or self.query_features < 0:
            raise UsageError(
                f"found tau={self.tau}, dimensions={self.dimensions}, query_features="
                f"{self.query_features}, expected more than 0, 1 or more, 0 or more"
            )

    def on(self, train: QuerySet) -> Functional:
        """The functional of that training set's features; UsageError where it has too few."""
        if self.functional == "quadratic":
            return QuadraticFunctional.of(train, self.rho)
        if self.functional in ("bilinear", "distance"):
            n1 = self.query_features or train.n_features // 2
            if not 0 < n1 < train.n_features:
                raise UsageError(
                    f"found query_features={n1} of {train.n_features} features, expected 1 to "
                    f"{train.n_features - 1}: a document's vector needs the others"
                )
            tau = self.tau if self.functional == "distance" else 0.0
            return SeparateFunctional(n1, train.n_features - n1, self.dimensions, tau)
        return LinearFunctional(*moments(train.features))

    def level(self, loss: Loss, train: QuerySet) -> Loss:
        """The loss on what is ranked: documents, or groups of documents of one label."""
        return group_level(loss, self.group, train) if self.functional == "group" else loss


def expect(name: str, value: str, choices: tuple[str, ...]) -> None:
    """UsageError where a setting is none of the choices."""
    if value not in choices:
        raise UsageError(f"found {name}={value}, expected one of {', '.join(choices)}")
