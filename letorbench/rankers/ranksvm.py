"""RankSVM: the linear ranking support vector machine, trained without building pairs.

`objective` is the paper's problem in plain NumPy, pair by pair. `MarginPairs` computes the same
objective and its derivatives from sums over documents; a test compares the two.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.errors import UsageError
from letorbench.fit_warnings import FitWarning
from letorbench.models.linear import Linear, weighted_rows
from letorbench.rankers.base import Ranker
from letorbench.solvers import cutting_planes, newton
from letorbench.solvers.fit_result import FitResult
from letorbench.solvers.margin import active_pairs, pair_counts, thinned
from letorbench.solvers.validation import Validation

#: from here on a start from a part of the documents saves more time than the part takes
MANY_DOCS = 16_384

#: the gap to which the part is minimised; its minimiser is not that of the whole anyway
ROUGH_GAP = 1e-3


def pair_differences(queries: QuerySet, normalise: bool) -> tuple[np.ndarray, np.ndarray]:
    """Build all pairs r_i > r_j of every query.

    Parameters
    ----------
    queries : QuerySet
    normalise : bool
        See `RankSVM`.

    Returns
    -------
    differences : ndarray of shape (n_pairs, n_features), float64
        x_i - x_j of each pair.
    weights : ndarray of shape (n_pairs,)
        c_q of each pair.
    """
    x = queries.features.astype(np.float64)
    differences, weights = [], []
    for begin, end in zip(queries.offsets[:-1], queries.offsets[1:], strict=True):
        labels = queries.labels[begin:end]
        i, j = np.nonzero(labels[:, None] > labels)
        differences.append(x[begin + i] - x[begin + j])
        weights.append(np.full(len(i), 1.0 / max(len(i), 1) if normalise else 1.0))
    return np.concatenate(differences), np.concatenate(weights)


def objective(w: np.ndarray, queries: QuerySet, ranker: RankSVM) -> float:
    """Compute |w|^2 / 2 + C sum_q c_q sum_{pairs of q} l(w . (x_i - x_j)), pair by pair.

    Parameters
    ----------
    w : ndarray of shape (n_features,)
    queries : QuerySet
    ranker : RankSVM
        Its C, loss and normalise are used.
    """
    differences, c = pair_differences(queries, ranker.normalise)
    hinge = np.maximum(0.0, 1.0 - differences @ w)
    loss = hinge**2 if ranker.loss == "squared-hinge" else hinge
    return float(w @ w / 2.0 + ranker.C * (c @ loss))


@dataclass
class RankSVM(Ranker):
    """The linear ranking SVM (Joachims, KDD 2002).

    Minimise over w: |w|^2 / 2 + C sum_q c_q sum_{pairs of q} l(w . (x_i - x_j)), where r_i > r_j
    and l(t) = max(0, 1 - t)^2 or max(0, 1 - t).

    Parameters
    ----------
    C : float
        The weight of the pairs against the margin.
    loss : str
        "squared-hinge", minimised by truncated Newton in the primal, or "hinge", the paper's,
        minimised by one-slack cutting planes.
    normalise : bool
        True: c_q = 1 / (number of pairs of q), so that each query counts the same. False: c_q = 1.
    gap : float
        The objective ends at most this share of itself above the optimum.

    Notes
    -----
    The paper weighs all pairs alike and leaves C open; LETOR's baselines choose C on validation.
    Each query counts the same by default because that is what the measures do. The squared hinge
    is the default because it is smooth, and so is minimised in less time.

    References
    ----------
    Joachims, "Optimizing search engines using clickthrough data", KDD 2002.

    Joachims, "Training linear SVMs in linear time", KDD 2006.

    Chapelle, Keerthi, "Efficient algorithms for ranking with SVMs", Information Retrieval 2010.

    Lee, Lin, "Large-scale linear RankSVM", Neural Computation 2014.
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
    ) -> FitResult:
        if self.loss not in ("squared-hinge", "hinge"):
            raise UsageError(f"ranksvm: found loss={self.loss}, expected squared-hinge or hinge")
        if not self.C > 0:
            raise UsageError(f"ranksvm: found C={self.C}, expected more than 0")
        if not self.gap > 0:
            raise UsageError(f"ranksvm: found gap={self.gap}, expected more than 0")
        pairs = MarginPairs(train, self.normalise)
        if self.loss == "hinge":
            found = cutting_planes.minimise(
                pairs.hinge, train.n_features, self.C, self.gap, deadline=self.deadline
            )
        else:
            start = self._start(train, pairs)
            found = newton.minimise(
                lambda w: pairs.squared_hinge(w, self.C), start, self.gap, deadline=self.deadline
            )
        warnings = found.warnings()
        if pairs.total == 0.0:
            none = FitWarning(
                "nothing learned", "no query has two different labels: all scores are 0"
            )
            warnings = (none, *warnings)
        return FitResult(
            Linear(found.point), objective=found.values, warnings=warnings, cut_off=found.late
        )

    def _start(self, train: QuerySet, pairs: MarginPairs) -> np.ndarray:
        """Return where Newton begins: 0, or for many documents the minimiser on a part of them."""
        start = np.zeros(train.n_features)
        if train.n_docs < MANY_DOCS:
            return start
        part = MarginPairs(thinned(train), self.normalise)
        C = self.C * pairs.total / max(part.total, 1.0)
        return newton.minimise(
            lambda w: part.squared_hinge(w, C), start, ROUGH_GAP, deadline=self.deadline
        ).point


class MarginPairs:
    """The sums over the pairs of one query set, from sums over its documents.

    Parameters
    ----------
    queries : QuerySet
    normalise : bool
        See `RankSVM`.

    Attributes
    ----------
    weight : ndarray of shape (n_docs,), float64
        c_q of each document's query.
    total : float
        The sum of c_q over all pairs; 0 if there is none.
    """

    def __init__(self, queries: QuerySet, normalise: bool) -> None:
        self.features = queries.features
        self.active_pairs = active_pairs(queries)
        n_pairs = pair_counts(queries)
        per_query = 1.0 / np.maximum(n_pairs, 1.0) if normalise else np.ones(queries.n_queries)
        self.weight = np.repeat(per_query, queries.lengths)
        self.total = float(per_query @ n_pairs)

    def squared_hinge(self, w: np.ndarray, C: float) -> newton.Expansion:
        """Expand |w|^2 / 2 + C sum of c_q max(0, 1 - (s_i - s_j))^2 at w (n_features,).

        Let L be the Laplacian of the active pairs, and e_i the active pairs in which document i is
        the lower one minus those in which it is the upper one. The gradient of the sum by the
        scores is 2 (L s + e), and its Hessian is 2 L.
        """
        scores = Linear(w).predict(self.features)
        active = self.active_pairs(scores)

        def hessian_times(direction: np.ndarray) -> np.ndarray:
            product = active.laplacian(Linear(direction).predict(self.features))
            return direction + (2.0 * C) * weighted_rows(self.features, self.weight * product)

        product = active.laplacian(scores)
        e = active.lower - active.upper
        value = float(np.sum(self.weight * (active.upper + scores * (product + 2.0 * e))))
        slope = 2.0 * self.weight * (product + e)
        return newton.Expansion(
            float(w @ w) / 2.0 + C * value,
            w + C * weighted_rows(self.features, slope),
            hessian_times,
        )

    def hinge(self, w: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the sum of c_q max(0, 1 - (s_i - s_j)) at w, and a subgradient (n_features,)."""
        scores = Linear(w).predict(self.features)
        active = self.active_pairs(scores)
        slope = self.weight * (active.lower - active.upper)
        value = float(np.sum(self.weight * active.upper + scores * slope))
        return value, weighted_rows(self.features, slope)
