"""Boosting: weigh the documents, choose a weak learner and its step, add it, repeat."""

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

#: without a bound, the step of a weak learner that makes no mistake would be infinite
LONGEST_STEP = 5.0
NOTHING_LEARNED = FitWarning(
    "nothing learned", "no weak learner improves on constant scores: none was added"
)


@dataclass(frozen=True, eq=False)
class Term:
    """`alpha` times a weak learner, whose values (n_docs,) on the training set are `values`."""

    learner: Any  # a tree or a feature: features (n_docs, n_features) are what `predict` takes
    values: np.ndarray
    alpha: float


def tree_ensemble(terms: Sequence[Term], n_features: int) -> TreeEnsemble:
    """Return the model of terms whose weak learners are trees."""
    return joined([term.learner for term in terms], [term.alpha for term in terms], n_features)


class Booster(Protocol):
    """The two steps in which boosting algorithms differ."""

    def weigh(self, scores: np.ndarray) -> tuple[np.ndarray, float]:
        """Return the weights of the documents or queries, and the objective, at these scores."""

    def choose(self, scores: np.ndarray, weights: np.ndarray) -> Term | None:
        """Return the next term; None if no weak learner improves the objective."""


def boost(
    booster: Booster,
    train: QuerySet,
    rounds: int,
    validation: Validation | None,
    patience: int = 0,
    deadline: Deadline = NEVER,
    to_model: Callable[[list[Term], int], Model] = tree_ensemble,
) -> FitResult:
    """Add at most `rounds` terms to scores of zero; keep the number that validation chooses."""
    terms: list[Term] = []
    objective: list[float] = []
    stopping = EarlyStopping(patience, deadline, validation)
    scores = np.zeros(train.n_docs)
    held_out = np.zeros(0 if validation is None else validation.queries.n_docs)
    while True:
        weights, value = booster.weigh(scores)
        objective.append(value)
        # the first term is added even if the deadline has passed
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


def stump_term(stump: Tree, values: np.ndarray, alpha: float) -> Term:
    """Return the term of a stump with the gain |alpha|; a negative alpha turns the stump round."""
    if alpha < 0.0:
        stump, values, alpha = stump._replace(value=stump.value[[0, 2, 1]]), ~values, -alpha
    return Term(stump._replace(gain=alpha * stump.gain), values, alpha)


def adaboost_step(agreement: float, total: float = 1.0) -> float:
    """Return AdaBoost's step 1/2 ln(right / wrong); agreement = right - wrong, total their sum."""
    if agreement >= total:
        return LONGEST_STEP
    return min(LONGEST_STEP, math.atanh(agreement / total))
