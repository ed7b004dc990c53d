"""The base of all losses: values that print and parse as text and run over slices of queries."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, ClassVar, NamedTuple, cast

import numpy as np

from letorbench.compiled.threads import parallel_for
from letorbench.datasets.queryset import QuerySet
from letorbench.errors import DataError
from letorbench.parameters import check

#: the most documents of a query whose pairs are compared one by one: 50 million pairs with an
#: exponential each take a second. LightGBM's lambdarank has the same limit
LONGEST_COMPARED = 10_000


class ValueAndGradient(NamedTuple):
    """A loss at some scores: value (n_queries,) and gradient (n_docs,), both float64."""

    value: np.ndarray
    gradient: np.ndarray


#: scores (n_docs,) float64 and their queries -> the loss there
LossFunction = Callable[[np.ndarray, QuerySet], ValueAndGradient]


class Loss(ABC):
    """A differentiable loss of scores. A smaller value is better.

    Called with scores (n_docs,) float64 in file order and their queries, it returns the value of
    each query and the derivative by each score.

    A subclass is a family of losses: a frozen dataclass whose fields are its parameters, each with
    a default. It prints as its name and the parameters that differ from their defaults,
    ``pairwise(phi=hinge, weight=1/m)``, and `letorbench.losses.loss` parses that. For a field
    `gain` see `gains.GainSettings`.
    """

    #: the family's name; a family with a name in this folder is registered
    name: str
    #: the value of one query, in plain text
    formula: str
    #: whether a linear model has the same minimum from every start: true of convex losses, and of
    #: the cosine and the q-norm from all starts that were tried
    one_minimum: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check(self, self.name)

    @abstractmethod
    def __call__(self, scores: np.ndarray, queries: QuerySet) -> ValueAndGradient:
        """Return the loss of each query, and its derivative by each score."""

    @property
    def reads_order(self) -> bool:
        """Whether it orders equal labels, if its parameter `ties` says so."""
        return False

    def __str__(self) -> str:
        given = [
            f"{key}={getattr(self, key)}"
            for key, default in defaults(type(self)).items()
            if getattr(self, key) != default
        ]
        return f"{self.name}({', '.join(given)})" if given else self.name


@dataclass(frozen=True)
class CustomLoss(Loss):
    """A loss made of a function; `source` is the digest of the code if a user wrote it."""

    one_minimum = False

    name: str
    formula: str
    function: LossFunction
    source: str = ""

    def __call__(self, scores: np.ndarray, queries: QuerySet) -> ValueAndGradient:
        return self.function(scores, queries)

    def __str__(self) -> str:
        return self.name


def defaults(family: type[Loss]) -> dict[str, Any]:
    return {each.name: each.default for each in fields(cast(Any, family))}


def of_settings(family: type[Loss], settings: object) -> Loss:
    """Return the loss of a family whose parameters, except `ties`, are an object's attributes."""
    names = defaults(family).keys() - {"ties"}
    return family(**{name: getattr(settings, name) for name in names})


def weighted_sum(loss: Loss, scores: np.ndarray, queries: QuerySet) -> tuple[float, np.ndarray]:
    """Return the weighted sum of a loss over the queries, and its gradient (n_docs,)."""
    value, gradient = loss(scores, queries)
    if queries.weights is not None:
        value, gradient = queries.weights * value, queries.document_weights * gradient
    return float(value.sum()), gradient


def queries_a_thread(queries: QuerySet, documents: int) -> int:
    """Return how many queries hold about that many documents: the least work of a thread."""
    return max(1, documents * queries.n_queries // max(1, queries.n_docs))


def require_comparable(queries: QuerySet) -> None:
    """Raise DataError if a query has more than `LONGEST_COMPARED` documents."""
    lengths = queries.lengths
    longest = int(lengths.max(initial=0))
    if longest > LONGEST_COMPARED:
        raise DataError(
            f"query {queries.qids[lengths.argmax()]}: found {longest} documents, expected at most "
            f"{LONGEST_COMPARED}, since each pair of a query's documents is compared"
        )


def in_query_slices(
    kernel: Callable[..., None],
    queries: QuerySet,
    *arguments: object,
    documents: int,
    of_pairs: bool = False,
) -> ValueAndGradient:
    """Run kernel(*arguments, start, stop, out) over slices of queries of at least `documents`.

    A kernel `of_pairs` costs the square of a query's documents, of which there may not be too many.
    """
    if of_pairs:
        require_comparable(queries)
    cost = queries.lengths**2 if of_pairs else None
    out = ValueAndGradient(np.empty(queries.n_queries), np.empty(queries.n_docs))

    def part(start: int, stop: int) -> None:
        kernel(*arguments, start, stop, out)

    parallel_for(part, queries.n_queries, queries_a_thread(queries, documents), cost)
    return out
