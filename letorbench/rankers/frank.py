"""FRank: boosting threshold stumps on the fidelity loss of pairs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.kernels import fidelity
from letorbench.rankers.stump_boosting import StumpBoosting
from letorbench.solvers.boosting import Booster, Term
from letorbench.solvers.margin import pair_counts
from letorbench.solvers.stump_search import BinnedFeatures, Stump
from letorbench.threads import in_threads

#: the longest step: that of a stump which orders no pair wrong would be infinite
LONGEST_STEP = 5.0


@dataclass
class FRank(StumpBoosting):
    """Tsai, Liu, Qin, Chen, Ma, "FRank: A Ranking Method with Fidelity Loss", SIGIR 2007.

    Minimises the sum over queries of the mean fidelity loss 1 - sigma(s_i - s_j)^(1/2) of
    their pairs r_i > r_j (target probability 1) over s = sum_t alpha_t h_t, h_t(x) in {0, 1}
    a threshold stump. With W = sigma(o)^(1/2) sigma(-o) / (pairs of the query), and W+, W- the
    sums of W over the pairs with h_i - h_j = 1 and -1, alpha = 1/2 ln(W+ / W-), and h is the
    stump with the largest (W+^(1/2) - W-^(1/2))^2.

    The fidelity loss is concave in e^(-o), so it lies below its tangent there: the objective
    changes by at most 1/2 sum of W (e^(-alpha (h_i - h_j)) - 1), which that alpha makes least,
    at -1/2 (W+^(1/2) - W-^(1/2))^2. It therefore never rises, nor with a shorter alpha.

    rounds:   at most; the best on validation is kept.
    patience: training ends so many rounds after the best one on validation; 0: never.
    bins:     at most so many thresholds a feature, among about equal numbers of documents:
              256 keep a document's value in one byte, and of 256 about equal shares no
              finer cut changes many pairs; None tries every threshold.

    Where the paper is silent: alpha is cut off at 5, where a stump orders no pair wrong; a
    stump with W+ < W- is the opposite stump; queries without pairs do not count; training
    stops where no stump lowers the bound. The objective is reported divided by the number of
    queries with pairs.
    """

    name = "frank"
    title = "Threshold stumps boosted on the fidelity loss of pairs"
    paper = "Tsai, Liu, Qin, Chen, Ma: FRank: A Ranking Method with Fidelity Loss, SIGIR 2007"
    formula = "mean_q 1/pairs_q sum over pairs r_i > r_j of 1 - (1 + exp(s_j - s_i))^(-1/2)"

    def booster(self, train: QuerySet, binned: BinnedFeatures) -> Booster:
        return _Booster(train, binned)


class _Booster:
    """One training set's rounds."""

    def __init__(self, train: QuerySet, binned: BinnedFeatures) -> None:
        self.blocks = train.by_label
        self.binned = binned
        pairs = pair_counts(train)
        self.cost = pairs + train.lengths
        self.least = max(1, 1_000 * train.n_queries // max(1, train.n_docs))
        counted = max(1, np.count_nonzero(pairs))
        self.scale = np.where(pairs > 0.0, 1.0 / np.maximum(pairs, 1.0), 0.0) / counted

    def weigh(self, scores: np.ndarray) -> tuple[np.ndarray, float]:
        """Each document's sum of W as the higher of its pairs minus as the lower; the loss."""
        weight, objective = np.empty(len(scores)), np.empty(len(self.scale))
        blocks = self.blocks

        def part(start: int, stop: int) -> None:
            fidelity.weights(
                scores, blocks.order, blocks.starts, blocks.queries, self.scale,
                start, stop, weight, objective,
            )  # fmt: skip

        in_threads(part, len(self.scale), self.least, self.cost)
        return weight, float(objective.sum())

    def choose(self, scores: np.ndarray, weights: np.ndarray) -> Term | None:
        blocks, binned = self.blocks, self.binned
        best = np.zeros((len(binned.n_bins), 4))

        def part(start: int, stop: int) -> None:
            fidelity.best_cuts(
                binned.codes, binned.n_bins, weights, scores, blocks.order, blocks.starts,
                blocks.queries, self.scale, start, stop, best,
            )  # fmt: skip

        in_threads(part, len(best))
        if not best[:, 0].max(initial=0.0) > 0.0:
            return None
        k = int(np.argmax(best[:, 0]))
        cut, difference, total = int(best[k, 1]), float(best[k, 2]), float(best[k, 3])
        stump = Stump(k, float(binned.cuts[k][cut]), difference > 0.0)
        return Term(stump, binned.flags(stump, cut), _step(abs(difference), total))


def _step(difference: float, total: float) -> float:
    """alpha = 1/2 ln(W+ / W-) from W+ - W- and W+ + W-."""
    if difference >= total:
        return LONGEST_STEP
    return min(LONGEST_STEP, float(np.arctanh(difference / total)))
