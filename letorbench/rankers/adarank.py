"""AdaRank: boosting single features on the measure itself."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from letorbench.conventions import CONVENTIONS
from letorbench.datasets.queryset import QuerySet
from letorbench.errors import UsageError
from letorbench.measures import MAP, Measure, PreparedMetric, nDCG
from letorbench.models import Linear
from letorbench.rankers.base import Ranker
from letorbench.solvers.boosting import Term, boost
from letorbench.solvers.learned import Learned
from letorbench.solvers.validation import Validation
from letorbench.threads import in_threads

#: the longest step: that of a feature which ranks every query perfectly would be infinite
LONGEST_STEP = 5.0


@dataclass
class _AdaRank(Ranker):
    """What both have: `measure` is E, and the loop of Algorithm 1."""

    rounds: int = 200
    directions: str = "ascending"

    @property
    def measure(self) -> Measure:
        """E, with values from 0 to 1."""
        raise NotImplementedError

    def learn(
        self, train: QuerySet, validation: Validation | None, rng: np.random.Generator
    ) -> Learned:
        if self.directions not in ("ascending", "both"):
            raise UsageError(
                f"{self.name}: found directions={self.directions}, expected ascending or both"
            )
        E = PreparedMetric.of(train.labels, train.offsets, self.measure, CONVENTIONS["standard"])
        booster = _Booster(train, E, self.directions == "both")

        def model(terms: list[Term]) -> Linear:
            weights = np.zeros(train.n_features)
            for term in terms:
                weights[term.learner.feature] += term.alpha * term.learner.sign
            return Linear(weights)

        return boost(booster, train, self.rounds, validation, model)


@dataclass
class AdaRankMAP(_AdaRank):
    """Xu, Li, "AdaRank: A Boosting Algorithm for Information Retrieval", SIGIR 2007.

    Minimises sum over queries of exp(-E(q, f)) (reported divided by the number of
    queries), E = average precision, over f = sum_t alpha_t h_t, each h_t a single feature
    (Algorithm 1).

    rounds:     at most; the best on validation is kept.
    directions: "ascending": a document ranks by a feature's value, as in the paper; "both":
                or by its negative.

    Average precision counts labels >= 1 as relevant. Where the paper is silent, or would
    choose the same feature for ever: a feature that does not lower the objective at the
    alpha of Algorithm 1 is passed over for the next best, and training stops when none
    lowers it, so the objective never rises. E of the empty f is 0, which makes the first
    distribution uniform. alpha is cut off at 5, where E is 1 for every query. Features are
    taken as they are: their scales should be comparable (LETOR's are normalised by query).
    """

    name = "adarank-map"
    title = "AdaRank on MAP: single features boosted on average precision"
    paper = "Xu, Li: AdaRank: A Boosting Algorithm for Information Retrieval, SIGIR 2007"
    formula = "mean_q exp(-AP(q, f))"

    @property
    def measure(self) -> Measure:
        return MAP


@dataclass
class AdaRankNDCG(_AdaRank):
    """Xu, Li, "AdaRank: A Boosting Algorithm for Information Retrieval", SIGIR 2007.

    `adarank-map` with E = NDCG@cutoff under the convention `standard`: unlike the LETOR
    tools' rules, it gives queries with fewer documents than the cut-off their due.

    cutoff: of NDCG; 10, which the defaults here select by, where the paper uses 5.
    """

    name = "adarank-ndcg"
    title = "AdaRank on NDCG: single features boosted on NDCG@10"
    paper = AdaRankMAP.paper
    formula = "mean_q exp(-NDCG@10(q, f))"

    cutoff: int = 10

    @property
    def measure(self) -> Measure:
        if self.cutoff < 1:
            raise UsageError(f"{self.name}: found cutoff={self.cutoff}, expected 1 or more")
        return nDCG @ self.cutoff


@dataclass(frozen=True)
class _Feature:
    """The weak ranker sign * x_feature."""

    feature: int
    sign: float

    def __call__(self, features: np.ndarray) -> np.ndarray:
        """(n_docs, n_features) -> (n_docs,) float64."""
        return self.sign * features[:, self.feature].astype(np.float64)


class _Booster:
    """Algorithm 1 on one training set."""

    def __init__(self, train: QuerySet, E: PreparedMetric, both: bool) -> None:
        self.features = train.features
        self.E = E
        signs = (1.0, -1.0) if both else (1.0,)
        self.learners = [_Feature(k, sign) for sign in signs for k in range(train.n_features)]
        self.E_of = self._evaluate_all()
        self.reached = (np.zeros(train.n_docs), np.zeros(train.n_queries))

    def weigh(self, scores: np.ndarray) -> tuple[np.ndarray, float]:
        """P(q) ~ exp(-E(q, f_t)), and the mean of exp(-E(q, f_t))."""
        losses = np.exp(-self._evaluate(scores))
        return losses / losses.sum(), float(losses.mean())

    def choose(self, scores: np.ndarray, weights: np.ndarray) -> Term | None:
        """The feature with the largest sum of P(q) E(q, k) that lowers the objective."""
        objective = np.exp(-self._evaluate(scores)).mean()
        agreement = self.E_of @ weights
        for k in np.argsort(-agreement, kind="stable"):
            if agreement[k] <= 0.0:
                break
            alpha = _step(float(agreement[k]))
            values = self.learners[k](self.features)
            ahead = scores + alpha * values
            E = self.E(ahead)
            if np.exp(-E).mean() < objective:
                self.reached = (ahead, E)
                return Term(self.learners[k], values, alpha)
        return None

    def _evaluate_all(self) -> np.ndarray:
        """(n_learners, n_queries) E(q, k) of every weak ranker alone."""
        E = np.empty((len(self.learners), self.E.n_queries))

        def part(start: int, stop: int) -> None:
            for k in range(start, stop):
                E[k] = self.E(self.learners[k](self.features))

        in_threads(part, len(self.learners))
        return E

    def _evaluate(self, scores: np.ndarray) -> np.ndarray:
        """(n_queries,) E(q, scores), known already where `choose` led to these scores."""
        known, E = self.reached
        return E if np.array_equal(scores, known) else self.E(scores)


def _step(agreement: float) -> float:
    """alpha = 1/2 ln(sum P (1 + E) / sum P (1 - E)), P summing to one."""
    if agreement >= 1.0:
        return LONGEST_STEP
    return min(LONGEST_STEP, float(np.arctanh(agreement)))
