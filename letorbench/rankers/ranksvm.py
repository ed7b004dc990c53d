"""RankSVM: the linear ranking support vector machine, trained without building pairs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.errors import UsageError
from letorbench.models import Linear
from letorbench.models.weighted_rows import weighted_rows
from letorbench.rankers.base import Ranker
from letorbench.solvers import cutting_planes, newton
from letorbench.solvers.learned import Learned
from letorbench.solvers.margin import active_pairs, pair_counts, thinned
from letorbench.solvers.validation import Validation

#: from here on a start from a part of the documents saves more than the part costs
MANY_DOCS = 16_384

#: the part is minimised to this gap: its own minimiser is not the whole's
ROUGH_GAP = 1e-3


@dataclass
class RankSVM(Ranker):
    """The linear ranking SVM.

    min over w of |w|^2 / 2 + C sum_q c_q sum_{pairs of q} l(w . (x_i - x_j)), r_i > r_j,
    l(t) = max(0, 1 - t)^2 or max(0, 1 - t).

    C:         the weight of the pairs against the margin.
    loss:      "squared-hinge", by truncated Newton in the primal (Chapelle & Keerthi, 2010;
               Lee & Lin, 2014), or "hinge" (Joachims, KDD 2002), by one-slack cutting planes
               (Joachims, KDD 2006).
    normalise: c_q = 1 / (pairs of q), so that each query counts the same; else c_q = 1.
    gap:       the objective is at most this share of itself above the optimum.

    Joachims' paper weighs all pairs alike and leaves C open; LETOR's baselines choose C on
    validation. Each query counting the same is the default here because that is what the
    measures do. The squared hinge is the default because it is smooth, hence quick.
    """

    name = "ranksvm"
    title = "Linear ranking SVM on pairs"
    paper = "Joachims: Optimizing search engines using clickthrough data, KDD 2002"
    formula = "|w|^2/2 + C sum_q c_q sum_{r_i > r_j} l(w.(x_i - x_j)), l = (squared) hinge"
    grid = {"C": (0.001, 0.01, 0.1, 1.0, 10.0, 100.0)}

    C: float = 1.0
    loss: str = "squared-hinge"
    normalise: bool = True
    gap: float = 1e-6

    def learn(
        self, train: QuerySet, validation: Validation | None, rng: np.random.Generator
    ) -> Learned:
        if self.loss not in ("squared-hinge", "hinge"):
            raise UsageError(f"ranksvm: found loss={self.loss}, expected squared-hinge or hinge")
        if not self.C > 0:
            raise UsageError(f"ranksvm: found C={self.C}, expected more than 0")
        if not self.gap > 0:
            raise UsageError(f"ranksvm: found gap={self.gap}, expected more than 0")
        pairs = MarginPairs(train, self.normalise)
        if self.loss == "hinge":
            found = cutting_planes.minimise(pairs.hinge, train.n_features, self.C, self.gap)
        else:
            found = newton.minimise(
                lambda w: pairs.squared_hinge(w, self.C), self._start(train, pairs), self.gap
            )
        warnings = []
        if pairs.total == 0.0:
            warnings.append("no query has two different labels: all scores are 0")
        if not found.converged:
            warnings.append(
                f"stopped after {len(found.values) - 1} iterations with a gap of"
                f" {found.gap / found.value:.1e} of the objective, asked for {self.gap:.1e}"
            )
        return Learned(Linear(found.point), objective=found.values, warnings=tuple(warnings))

    def _start(self, train: QuerySet, pairs: MarginPairs) -> np.ndarray:
        """Where Newton begins: 0, or for many documents the minimiser on a part of them."""
        start = np.zeros(train.n_features)
        if train.n_docs < MANY_DOCS:
            return start
        part = MarginPairs(thinned(train), self.normalise)
        C = self.C * pairs.total / max(part.total, 1.0)
        return newton.minimise(lambda w: part.squared_hinge(w, C), start, ROUGH_GAP).point


class MarginPairs:
    """The two objectives, of the pairs of one query set.

    weight: (n_docs,) float64, c_q of each document's query.
    total:  sum of c_q over all pairs, 0 where there is none.
    """

    def __init__(self, queries: QuerySet, normalise: bool) -> None:
        self.features = queries.features
        self.active_pairs = active_pairs(queries)
        n_pairs = pair_counts(queries)
        per_query = 1.0 / np.maximum(n_pairs, 1.0) if normalise else np.ones(queries.n_queries)
        self.weight = np.repeat(per_query, queries.lengths)
        self.total = float(per_query @ n_pairs)

    def squared_hinge(self, w: np.ndarray, C: float) -> newton.Expansion:
        """|w|^2 / 2 + C sum of c_q max(0, 1 - (s_i - s_j))^2 at w.

        With L the Laplacian of the active pairs and e_i = the active pairs below minus those
        above i, the sum's gradient by the scores is 2 (L s + e), its Hessian 2 L.
        """
        scores = Linear(w).predict(self.features)
        active = self.active_pairs(scores)

        def hessian_times(direction: np.ndarray) -> np.ndarray:
            product = active.laplacian(Linear(direction).predict(self.features))
            return direction + (2.0 * C) * weighted_rows(self.features, self.weight * product)

        spread = active.laplacian(scores)
        excess = active.lower - active.upper
        value = float(np.sum(self.weight * (active.upper + scores * (spread + 2.0 * excess))))
        slope = 2.0 * self.weight * (spread + excess)
        return newton.Expansion(
            float(w @ w) / 2.0 + C * value,
            w + C * weighted_rows(self.features, slope),
            hessian_times,
        )

    def hinge(self, w: np.ndarray) -> tuple[float, np.ndarray]:
        """sum of c_q max(0, 1 - (s_i - s_j)) at w, and the subgradient of the active pairs."""
        scores = Linear(w).predict(self.features)
        active = self.active_pairs(scores)
        excess = self.weight * (active.lower - active.upper)
        value = float(np.sum(self.weight * active.upper + scores * excess))
        return value, weighted_rows(self.features, excess)
