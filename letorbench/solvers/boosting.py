"""Boosting: weigh the documents, choose a weak learner and its step, add it, and again."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.models.base import Model
from letorbench.models.tree_ensemble import Tree, TreeEnsemble, joined
from letorbench.solvers.fit_result import FitResult, kept_round
from letorbench.solvers.fit_warnings import FitWarning
from letorbench.solvers.stopping import NEVER, Deadline, EarlyStopping, Validation

#: the longest step: that of a weak learner which makes no mistake would be infinite
LONGEST_STEP = 5.0
NOTHING_LEARNED = FitWarning(
    "nothing learned", "no weak learner improves on constant scores: none was added"
)


class Learner(Protocol):
    """A weak learner: a tree, or a feature."""

    def predict(self, features: np.ndarray) -> np.ndarray:
        """Return the values (n_docs,) of documents, features (n_docs, n_features)."""


@dataclass(frozen=True, eq=False)
class Term:
    """alpha times a weak learner, which has `values` (n_docs,) on the training documents."""

    learner: Learner
    values: np.ndarray
    alpha: float


class Booster(Protocol):
    """What distinguishes one boosting algorithm from another."""

    def weigh(self, scores: np.ndarray) -> tuple[np.ndarray, float]:
        """Return the weights of the documents or queries, and the objective, at these scores."""

    def choose(self, scores: np.ndarray, weights: np.ndarray) -> Term | None:
        """Return the next term; None if no weak learner improves the objective."""


def boost(
    booster: Booster,
    train: QuerySet,
    rounds: int,
    validation: Validation | None,
    to_model: Callable[[list[Term], int], Model],
    patience: int = 0,
    deadline: Deadline = NEVER,
) -> FitResult:
    """Add terms to scores of zero; keep the rounds up to the one that validation chooses.

    There are at most `rounds` terms, and no term but the first is added after the deadline. All
    are kept without validation. `to_model` makes the model of terms and the number of features,
    such as `tree_ensemble`; for patience see `EarlyStopping`.
    """
    terms: list[Term] = []
    objective: list[float] = []
    stopping = EarlyStopping(patience, deadline, validation)
    scores = np.zeros(train.n_docs)
    held_out = np.zeros(0 if validation is None else validation.queries.n_docs)
    while True:
        weights, value = booster.weigh(scores)
        objective.append(value)
        over = len(terms) == rounds or stopping.over
        term = None if over else booster.choose(scores, weights)
        if term is None:
            break
        terms.append(replace(term, values=np.empty(0)))  # to save memory
        scores = scores + term.alpha * term.values
        measure = None
        if validation is not None:
            held_out = held_out + term.alpha * term.learner.predict(validation.queries.features)
            measure = validation(held_out)
        stopping.record(measure)

    def model(count: int) -> Model:
        return to_model(terms[:count], train.n_features)

    return kept_round(stopping, model, rounds, objective, () if terms else (NOTHING_LEARNED,))


def tree_ensemble(terms: Sequence[Term], n_features: int) -> TreeEnsemble:
    """Return the model of terms whose weak learners are trees."""
    trees: list[Any] = [term.learner for term in terms]
    return joined(trees, [term.alpha for term in terms], n_features)


def stump_term(found: Tree, values: np.ndarray, alpha: float) -> Term:
    """Return the term of a stump, with the gain |alpha|; that of -alpha is the opposite stump's."""
    if alpha < 0.0:
        found, values, alpha = found._replace(value=found.value[[0, 2, 1]]), ~values, -alpha
    return Term(found._replace(gain=alpha * found.gain), values, alpha)


def adaboost_step(agreement: float, total: float = 1.0) -> float:
    """Return AdaBoost's step 1/2 ln(right / wrong), `LONGEST_STEP` at most, of a weak learner.

    `agreement` is the weight of what it gets right minus the weight of what it gets wrong, >= 0;
    `total` is the sum of both weights.

    Examples
    --------
    >>> adaboost_step(0.0), adaboost_step(1.0)
    (0.0, 5.0)
    """
    if agreement >= total:
        return LONGEST_STEP
    return min(LONGEST_STEP, math.atanh(agreement / total))
