"""The one boosting loop: weigh the documents, choose a weak learner and its step, add it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.models import Model, StumpEnsemble
from letorbench.solvers.learned import Learned
from letorbench.solvers.stump_search import Stump
from letorbench.solvers.validation import Validation


@dataclass(frozen=True, eq=False)
class Term:
    """alpha times a weak learner.

    learner: features (n_docs, n_features) -> (n_docs,) its values on any documents.
    values:  (n_docs,) its values on the training documents.
    """

    learner: Callable[[np.ndarray], np.ndarray]
    values: np.ndarray
    alpha: float


class Booster(Protocol):
    """What tells one boosting algorithm from another."""

    def weigh(self, scores: np.ndarray) -> tuple[np.ndarray, float]:
        """The weights to choose by (of documents or queries), and the objective, at scores."""

    def choose(self, scores: np.ndarray, weights: np.ndarray) -> Term | None:
        """The next term; None where no weak learner improves the objective."""


def boost(
    booster: Booster,
    train: QuerySet,
    rounds: int,
    validation: Validation | None,
    scorer: Callable[[list[Term]], Model],
    patience: int = 0,
) -> Learned:
    """Add up to `rounds` terms from zero scores; keep the rounds that validation likes best.

    Without validation all rounds are kept. The first of equally good rounds wins; `patience`
    rounds after it without a better one end the training (0: never).
    """
    terms: list[Term] = []
    objective: list[float] = []
    curve: list[float] = []
    scores = np.zeros(train.n_docs)
    held_out = None if validation is None else np.zeros(validation.queries.n_docs)
    best = 0
    while True:
        weights, value = booster.weigh(scores)
        objective.append(value)
        over = len(terms) >= rounds or (0 < patience <= len(terms) - best)
        term = None if over else booster.choose(scores, weights)
        if term is None:
            break
        terms.append(term)
        best = len(terms) if validation is None else best
        scores = scores + term.alpha * term.values
        if validation is not None:
            held_out = held_out + term.alpha * term.learner(validation.queries.features)
            curve.append(validation(held_out))
            best = len(curve) if curve[-1] > max(curve[:-1], default=-np.inf) else best
    warnings = () if terms else ("no weak learner improves on constant scores: none was added",)
    return Learned(scorer(terms[:best]), tuple(curve), best, tuple(objective), warnings)


def stump_ensemble(terms: list[Term], n_features: int) -> StumpEnsemble:
    """The scorer of terms whose learners are `Stump`s."""
    stumps: list[Stump] = [term.learner for term in terms]
    return StumpEnsemble(
        np.array([stump.feature for stump in stumps], dtype=np.int64),
        np.array([stump.threshold for stump in stumps], dtype=np.float64),
        np.array([stump.above for stump in stumps], dtype=bool),
        np.array([term.alpha for term in terms], dtype=np.float64),
        n_features,
    )
