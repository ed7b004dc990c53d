"""Boosting: weigh the documents, choose a weak learner and its step, add it, and again."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.fit_warnings import FitWarning
from letorbench.models.base import Model
from letorbench.models.tree_ensemble import Tree, TreeEnsemble, joined
from letorbench.solvers.fit_result import FitResult, kept_round
from letorbench.solvers.stopping import NEVER, Deadline, EarlyStopping, Validation
from letorbench.solvers.stump_search import Stump

#: the longest step: that of a weak learner which makes no mistake would be infinite
LONGEST_STEP = 5.0
NO_VALUES = np.empty(0)
NOTHING_LEARNED = FitWarning(
    "nothing learned", "no weak learner improves on constant scores: none was added"
)


@dataclass(frozen=True, eq=False)
class Term:
    """alpha times a weak learner.

    The learner takes features (n_docs, n_features) and returns its values (n_docs,) on these
    documents; `values` (n_docs,) are those on the training documents. `counts` is how many of
    these have the value 0, and how many another one; `boost` fills it in.
    """

    learner: Callable[[np.ndarray], np.ndarray]
    values: np.ndarray
    alpha: float
    counts: tuple[int, int] = (0, 0)


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
    such as `stump_ensemble`; for patience see `EarlyStopping`.
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
        others = int(np.count_nonzero(term.values))
        counts = train.n_docs - others, others
        terms.append(replace(term, values=NO_VALUES, counts=counts))  # to save memory
        scores = scores + term.alpha * term.values
        measure = None
        if validation is not None:
            held_out = held_out + term.alpha * term.learner(validation.queries.features)
            measure = validation(held_out)
        stopping.record(measure)

    def model(count: int) -> Model:
        return to_model(terms[:count], train.n_features)

    return kept_round(stopping, model, rounds, objective, () if terms else (NOTHING_LEARNED,))


def stump_ensemble(terms: list[Term], n_features: int) -> TreeEnsemble:
    """Return the model of terms whose weak learners are stumps, which gain the size of alpha."""
    trees = []
    for term in terms:
        stump: Stump = term.learner  # type: ignore[assignment]
        low, high = (0.0, term.alpha) if stump.above else (term.alpha, 0.0)
        counts = term.counts if stump.above else term.counts[::-1]
        nodes = (
            [stump.feature, 0, 0], [stump.threshold, 0.0, 0.0], [1, 1, 2], [2, 1, 2],
            [0.0, low, high], [abs(term.alpha), 0.0, 0.0], [float(sum(counts)), *counts],
            [stump.threshold >= 0.0, False, False],
        )  # fmt: skip
        trees.append(Tree(*map(np.array, nodes)))
    return joined(trees, [1.0] * len(trees), n_features)


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
