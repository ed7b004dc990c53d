"""What a loss is, and the table of all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.errors import UsageError

#: scores (n_docs,) float64 and their queries -> value (n_queries,), gradient (n_docs,)
LossFunction = Callable[[np.ndarray, QuerySet], tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class Loss:
    """A differentiable loss of scores, the smaller the better.

    Called with scores (n_docs,) float64 in file order and their queries it gives its value
    for each query (n_queries,) and its gradient (n_docs,), both float64.

    exponential:       whether it grows like e^s: finite differences drown in rounding far from 0.
    undefined_at_zero: whether it has no value where a query's scores are all 0, and so no
                       derivative there; the value and the gradient it gives are a convention.
    """

    name: str
    formula: str
    function: LossFunction
    exponential: bool = False
    undefined_at_zero: bool = False

    def __call__(self, scores: np.ndarray, queries: QuerySet) -> tuple[np.ndarray, np.ndarray]:
        return self.function(scores, queries)


LOSSES: dict[str, Loss] = {}


def register(name: str, formula: str, **facts: bool) -> Callable[[LossFunction], Loss]:
    """Make the function below a loss of that name; facts: of its further fields."""

    def enter(function: LossFunction) -> Loss:
        LOSSES[name] = Loss(name, formula, function, **facts)
        return LOSSES[name]

    return enter


def loss(name: str) -> Loss:
    """The loss of that name; UsageError lists the names."""
    try:
        return LOSSES[name]
    except KeyError:
        raise UsageError(
            f"unknown loss {name!r}; expected one of {', '.join(sorted(LOSSES))}"
        ) from None


def query_share(queries: QuerySet, documents: int) -> int:
    """How many queries hold about that many documents: a thread's least share of the work."""
    return max(1, documents * queries.n_queries // max(1, queries.n_docs))
