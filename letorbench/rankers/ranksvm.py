"""RankSVM: the linear ranking support vector machine, trained without building pairs.

`objective` is the paper's problem in plain NumPy, pair by pair. `MarginPairs` computes the same
objective and its derivatives from sums over documents; a test compares the two.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np

from letorbench.compiled.arithmetic import dot
from letorbench.compiled.jit import kernel
from letorbench.compiled.threads import parallel_for
from letorbench.losses.base import queries_a_thread
from letorbench.losses.gains import pair_counts, pairs
from letorbench.measures import rank
from letorbench.models.linear import Linear, weighted_rows
from letorbench.parameters import number, one_of
from letorbench.rankers.base import FitResult, Generator, QuerySet, Ranker, Validation
from letorbench.rankers.tuning import Between
from letorbench.solvers.convex import Expansion, bundle, newton
from letorbench.solvers.fit_warnings import FitWarning

NO_PAIRS = FitWarning("nothing learned", "no query has two different labels: all scores are 0")


def pair_differences(queries: QuerySet, normalise: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return x_i - x_j (n_pairs, n_features) and c_q (n_pairs,) of all pairs r_i > r_j."""
    x = queries.features.astype(np.float64)
    i, j = pairs(queries)
    query = np.searchsorted(queries.offsets, i, side="right") - 1
    weights = 1.0 / pair_counts(queries)[query] if normalise else np.ones(len(i))
    return x[i] - x[j], weights


def objective(w: np.ndarray, queries: QuerySet, ranker: "RankSVM") -> float:
    """Compute |w|^2 / 2 + C sum_q c_q sum_{pairs of q} l(w . (x_i - x_j)), pair by pair."""
    D, c = pair_differences(queries, ranker.normalise)
    hinge = np.maximum(0.0, 1.0 - D @ w)
    loss = hinge**2 if ranker.loss == "squared-hinge" else hinge
    return float(w @ w / 2.0 + ranker.C * (c @ loss))


@dataclass
class RankSVM(Ranker):
    """The linear ranking SVM (Joachims, KDD 2002).

    It minimises, over w, |w|^2 / 2 + C sum_q c_q sum_{pairs of q} l(w . (x_i - x_j)), where
    r_i > r_j and l(t) = max(0, 1 - t)^2 or max(0, 1 - t).

    Parameters
    ----------
    C : float
        The weight of the pairs against the margin.
    loss : str
        "squared-hinge", minimised by truncated Newton in the primal, or "hinge", the paper's,
        minimised by one-slack cutting planes.
    normalise : bool
        True: c_q = 1 / (pairs of q), so that all queries count the same. False: c_q = 1.
    gap : float
        The objective ends at most this fraction of itself above the optimum.

    Notes
    -----
    The paper weighs all pairs alike and uses the hinge. Here, by default, all queries count the
    same, as in the measures, and the hinge is squared, which makes it smooth and faster to
    minimise.

    Where the paper is silent: C is chosen on validation, as for LETOR's baselines.

    References
    ----------
    Joachims, "Training linear SVMs in linear time", KDD 2006.

    Chapelle, Keerthi, "Efficient algorithms for ranking with SVMs", Information Retrieval 2010.

    Lee, Lin, "Large-scale linear RankSVM", Neural Computation 2014.
    """

    name = "ranksvm"
    families = ("pairwise", "linear")
    title = "Linear ranking SVM on pairs"
    paper = "Joachims: Optimizing search engines using clickthrough data, KDD 2002"
    formula = "|w|^2/2 + C sum_q c_q sum_{r_i > r_j} l(w.(x_i - x_j)), l = (squared) hinge"
    grid = {"C": (0.001, 0.01, 0.1, 1.0, 10.0, 100.0)}
    ranges = {"C": Between(1e-4, 1e3, log=True)}

    C: float = number(1.0, above=0)
    loss: str = one_of(("squared-hinge", "hinge"), "squared-hinge")
    normalise: bool = True
    gap: float = number(1e-6, above=0)

    def learn(self, train: QuerySet, validation: Validation | None, rng: Generator) -> FitResult:
        sums, n = MarginPairs(train, self.normalise), train.n_features
        if self.loss == "hinge":
            minimum = bundle(sums.hinge, n, self.C, self.gap, deadline=self.deadline)
        else:
            expand = partial(sums.squared_hinge, C=self.C)
            minimum = newton(expand, np.zeros(n), self.gap, deadline=self.deadline)
        return minimum.fit_result(Linear(minimum.point), *([] if sums.any else [NO_PAIRS]))


class MarginPairs:
    """Sums over the pairs of a query set, computed from sums over its documents."""

    def __init__(self, queries: QuerySet, normalise: bool) -> None:
        self.queries = queries
        labels, self.level = np.unique(queries.labels, return_inverse=True)
        self.n_levels = len(labels)
        self.least = queries_a_thread(queries, 2_048)
        n_pairs = pair_counts(queries)
        per_query = 1.0 / np.maximum(n_pairs, 1.0) if normalise else np.ones(queries.n_queries)
        # c_q of each document, times the weight of its query
        self.weight = np.repeat(per_query * queries.query_weights, queries.lengths)
        self.first = np.repeat(queries.offsets[:-1], queries.lengths)  # row of the query
        self.any = bool(n_pairs.any())

    def squared_hinge(self, w: np.ndarray, C: float) -> Expansion:
        """Expand |w|^2 / 2 + C sum of c_q max(0, 1 - (s_i - s_j))^2 at w (n_features,)."""
        features = self.queries.features
        scores = Linear(w).predict(features)
        # how many active pairs each document is the lower and the upper one of
        order, lower, upper = self.active(scores)

        # With the Laplacian L of the active pairs and e = lower - upper, the sum has by the scores
        # the gradient 2 (L s + e) and the Hessian 2 L.
        def laplacian(x: np.ndarray) -> np.ndarray:
            # L maps constants to 0: sums of differences from one document lose the fewest digits
            x = x - x[self.first]
            of_upper, of_lower = self.partner_sums(scores, order, x)
            return (upper + lower) * x - of_upper - of_lower

        def hessian_times(direction: np.ndarray) -> np.ndarray:
            product = laplacian(Linear(direction).predict(features))
            return direction + (2.0 * C) * weighted_rows(features, self.weight * product)

        product = laplacian(scores)
        e = lower - upper
        value = float(np.sum(self.weight * (upper + scores * (product + 2.0 * e))))
        slope = 2.0 * self.weight * (product + e)
        gradient = w + C * weighted_rows(features, slope)
        return Expansion(dot(w, w) / 2.0 + C * value, gradient, hessian_times)

    def hinge(self, w: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the sum of c_q max(0, 1 - (s_i - s_j)) at w, and a subgradient (n_features,)."""
        scores = Linear(w).predict(self.queries.features)
        _, lower, upper = self.active(scores)
        slope = self.weight * (lower - upper)
        value = float(np.sum(self.weight * upper + scores * slope))
        return value, weighted_rows(self.queries.features, slope)

    def active(self, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return each query's rows by ascending score, and each document's active pairs."""
        order = rank(-scores, self.queries.offsets)
        # a pair r_i > r_j is active if its hinge loss is not 0, s_i < s_j + 1
        return order, *self.partner_sums(scores, order, np.ones(len(scores)))

    def partner_sums(
        self, scores: np.ndarray, order: np.ndarray, x: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the sums of x (n_docs,) over each document's upper and its lower partners."""
        upper, lower = np.empty((2, len(x)))
        labels, offsets = (self.level, self.n_levels), self.queries.offsets
        task = partial(_partner_sums, x, scores, order, *labels, offsets, upper, lower)
        parallel_for(task, self.queries.n_queries, self.least)
        return upper, lower


# The kernel. With the documents in order of score, the partners of a document are those with a
# higher (or, in the opposite order, a lower) label that a pointer has passed. A pointer that never
# turns back and a sum for each label give the sums of all documents in O(m (log m + labels)) time
# for a query of m documents (Lee & Lin, section 3). No pair is visited.


@kernel()
def _partner_sums(
    x: np.ndarray, scores: np.ndarray, order: np.ndarray, level: np.ndarray, n_levels: int,
    offsets: np.ndarray, upper: np.ndarray, lower: np.ndarray, first: int, last: int,
) -> None:  # fmt: skip
    """Fill the sums of x of the queries first..last - 1; level: the labels as 0..n_levels - 1."""
    passed_sums = np.empty(n_levels)  # of x, by label
    for q in range(first, last):
        for rising in (True, False):
            rows = order[offsets[q] : offsets[q + 1]][:: 1 if rising else -1]
            passed_sums[:] = 0.0
            passed = 0
            for row in rows:
                while passed < len(rows):
                    i, j = (rows[passed], row) if rising else (row, rows[passed])
                    if not scores[i] < scores[j] + 1.0:
                        break
                    passed_sums[level[rows[passed]]] += x[rows[passed]]
                    passed += 1
                begin, end = (level[row] + 1, n_levels) if rising else (0, level[row])
                total = 0.0
                for k in range(begin, end):
                    total += passed_sums[k]
                if rising:
                    upper[row] = total
                else:
                    lower[row] = total
