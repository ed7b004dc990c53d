"""SVM-MAP: a structural SVM whose loss is one minus average precision.

`structural_hinge` is the paper's loss of one query over all rankings, in plain Python. `MAPRisk`
finds the same maximum with the paper's greedy algorithm; a test compares the two.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from letorbench.compiled.jit import kernel
from letorbench.losses.base import ValueAndGradient, in_query_slices
from letorbench.losses.gains import query_sums
from letorbench.models.linear import Linear, weighted_rows
from letorbench.parameters import number
from letorbench.rankers.base import FitResult, Generator, QuerySet, Ranker, Validation
from letorbench.rankers.tuning import Between
from letorbench.solvers.convex import bundle
from letorbench.solvers.fit_warnings import FitWarning

NO_PAIRS = FitWarning("nothing learned", "no query has both labels 0 and more: all scores are 0")


def average_precision(relevant: np.ndarray) -> float:
    """Return AP of a ranking: whether the document at each rank is relevant."""
    ranks = np.flatnonzero(relevant) + 1
    return float(np.mean(np.arange(1, len(ranks) + 1) / ranks))


def psi_weights(relevant: np.ndarray, ranking: Sequence[int]) -> np.ndarray:
    """Return c with Psi(x, ranking) = sum of c_i x_i (the paper's equation 5)."""
    place = np.argsort(ranking)
    good, other = np.flatnonzero(relevant), np.flatnonzero(~relevant)
    y = np.where(place[good, None] < place[other], 1.0, -1.0)  # Psi is the mean of y_ij (x_i - x_j)
    c = np.zeros(len(relevant))
    c[good], c[other] = y.sum(axis=1) / y.size, -y.sum(axis=0) / y.size
    return c


def structural_hinge(scores: np.ndarray, relevant: np.ndarray) -> float:
    """Return max of 1 - AP(y') - w . (Psi(x, y) - Psi(x, y')) over all rankings y', s = w . x."""
    ideal = psi_weights(relevant, np.argsort(~relevant, kind="stable").tolist())
    return max(
        1.0
        - average_precision(relevant[list(ranking)])
        - float((ideal - psi_weights(relevant, ranking)) @ scores)
        for ranking in permutations(range(len(scores)))
    )


@dataclass
class SVMMAP(Ranker):
    """The structural SVM for average precision (Yue et al., SIGIR 2007).

    It minimises, over w, |w|^2 / 2 + (C / n) sum_q max over rankings y' of
    1 - AP(y') - w . (Psi(x, y) - Psi(x, y')), see `structural_hinge`.

    Parameters
    ----------
    C : float
        The weight of the loss against the margin.
    gap : float
        The objective ends at most this fraction of itself above the optimum.

    Notes
    -----
    The paper solves the problem with one slack for each query. A single slack gives the same
    problem with fewer planes (Joachims, Finley, Yu, Theorem 1).

    Where the paper is silent: a document is relevant if its label is 1 or more (the paper has only
    two labels); n does not count queries without relevant or without other documents, whose loss is
    the same for every ranking; the next plane is taken near the best point so far; training ends
    after at most 1000 planes, and a warning then reports the gap.

    References
    ----------
    Joachims, Finley, Yu, "Cutting-plane training of structural SVMs", Machine Learning 2009.
    """

    name = "svmmap"
    families = ("listwise", "linear")
    title = "Structural SVM for mean average precision"
    paper = (
        "Yue, Finley, Radlinski, Joachims: A support vector method for optimizing average "
        "precision, SIGIR 2007"
    )
    formula = "|w|^2/2 + (C/n) sum_q max_y' [1 - AP(y') - w.(Psi(x, y) - Psi(x, y'))]"
    grid = {"C": (0.1, 1.0, 10.0, 100.0, 1000.0)}
    ranges = {"C": Between(0.01, 1e3, log=True)}

    C: float = number(10.0, above=0)
    gap: float = number(1e-3, above=0)

    def learn(self, train: QuerySet, validation: Validation | None, rng: Generator) -> FitResult:
        risk = MAPRisk(train)
        minimum = bundle(risk, train.n_features, self.C, self.gap, deadline=self.deadline)
        return minimum.fit_result(Linear(minimum.point), *([] if risk.n else [NO_PAIRS]))


class MAPRisk:
    """The mean of `structural_hinge` over queries with relevant and other documents."""

    def __init__(self, queries: QuerySet) -> None:
        self.queries, self.relevant = queries, queries.labels >= 1
        n_relevant = query_sums(self.relevant, queries)
        counted = (n_relevant > 0) & (n_relevant < queries.lengths)
        self.n = float(queries.query_weights[counted].sum())

    def __call__(self, w: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the risk at w (n_features,), and the subgradient of the most violated rankings."""
        queries, n = self.queries, self.n or 1.0
        scores = Linear(w).predict(queries.features)
        arguments = queries, scores, self.relevant, queries.offsets
        losses, c = in_query_slices(most_violated, *arguments, documents=2_048)
        losses, c = losses * queries.query_weights, c * queries.document_weights
        risk = (float(losses.sum()) - float(np.sum(c * scores))) / n
        return risk, weighted_rows(queries.features, c) / -n


@kernel()
def most_violated(
    scores: np.ndarray, relevant: np.ndarray, offsets: np.ndarray, first: int, last: int,
    out: ValueAndGradient,
) -> None:  # fmt: skip
    """Find the most violated ranking y' of each of the queries first..last - 1, greedily.

    The value is 1 - AP(y'), the gradient is c, where Psi(x, y) - Psi(x, y') = sum of c_i x_i. Both
    are 0 for a query without relevant or without other documents.

    This is Algorithm 2 of the paper's section 3.3.1: each other document is put, independently of
    the rest, at its best place among the relevant ones. Let i and j count the R relevant and the N
    other documents from 1, best first. Document j stands before the relevant documents k_j..R,
    where k_j maximises the sum over i = k..R of (the paper's equation 11)

        delta_j(i, i + 1) = (j / (j + i) - (j - 1) / (j + i - 1)) / R - 2 (s_i - s_j) / (R N).

    The first bracket is i / ((j + i) (j + i - 1)). It falls with j, as s_j does, so k_j never
    falls. The middle document is therefore placed first, then those in the middle of the halves,
    and so on, each between its neighbours' places: O((R + N) log N) instead of the paper's O(R N) a
    query.
    """
    losses, c = out
    for q in range(first, last):
        begin, end = offsets[q], offsets[q + 1]
        rows = begin + np.argsort(scores[begin:end])[::-1]
        good, bad = rows[relevant[rows]], rows[~relevant[rows]]
        n_good, n_bad = len(good), len(bad)
        c[begin:end] = 0.0
        losses[q] = 0.0
        if n_good == 0 or n_bad == 0:
            continue
        unit = 2.0 / (n_good * n_bad)
        ahead = np.zeros(n_good + 1, np.int64)
        place = np.ones(n_bad + 1, np.int64)
        apart = 1
        while 2 * apart <= n_bad:
            apart *= 2
        while apart > 0:
            for j in range(apart, n_bad + 1, 2 * apart):
                s_j = scores[bad[j - 1]]
                delta = best = 0.0
                k = place[j + apart] if j + apart <= n_bad else n_good + 1
                for i in range(k - 1, place[j - apart] - 1, -1):
                    rise = i / (float(j + i) * (j + i - 1) * n_good)
                    delta += rise - unit * (scores[good[i - 1]] - s_j)
                    if delta > best:
                        best, k = delta, i
                place[j] = k
                ahead[k - 1] += 1
                c[bad[j - 1]] = -unit * (n_good - k + 1)
            apart //= 2
        before, precision = 0, 0.0
        for i in range(1, n_good + 1):
            before += ahead[i - 1]
            precision += i / float(i + before)
            c[good[i - 1]] = unit * before
        losses[q] = 1.0 - precision / n_good
