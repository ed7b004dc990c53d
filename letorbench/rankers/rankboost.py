"""RankBoost: boosting threshold stumps on the exponential loss of pairs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.kernels import exponential_pairs
from letorbench.rankers.stump_boosting import StumpBoosting
from letorbench.solvers.boosting import Booster, Term
from letorbench.solvers.margin import pair_counts
from letorbench.solvers.stump_search import BinnedFeatures, best_stump
from letorbench.threads import in_threads

#: the longest step: that of a stump which orders every pair would be infinite
LONGEST_STEP = 5.0


@dataclass
class RankBoost(StumpBoosting):
    """Freund, Iyer, Schapire, Singer, "An Efficient Boosting Algorithm for Combining
    Preferences", JMLR 4, 2003.

    Minimises the mean of exp(s_j - s_i) over the pairs r_i > r_j of a query (the product of
    the paper's Z_t) by threshold stumps h. D, the distribution of the pairs, factorises over
    blocks of one label, as the paper shows for two labels, so a round never sees a pair. h
    maximises rho = sum of D (h_i - h_j), and alpha = 1/2 ln((1 + rho) / (1 - rho)) (the
    third of the paper's ways to choose it, r there), which multiplies the objective by at
    most sqrt(1 - rho^2): it never rises.

    rounds:   at most; the best on validation is kept.
    patience: training ends so many rounds after the best one on validation; 0: never.
    bins:     at most so many thresholds a feature, among about equal numbers of documents:
              256 keep a document's value in one byte; None tries every threshold.

    Where the paper is silent: a pair counts the same whatever its query and its labels; a
    missing value has no special output (q_def), since the data have none; a stump of
    negative rho is the opposite stump; alpha is cut off at 5, where a stump orders every
    pair; training stops where no stump has rho > 0.
    """

    name = "rankboost"
    title = "Threshold stumps boosted on the exponential loss of pairs"
    paper = (
        "Freund, Iyer, Schapire, Singer: An Efficient Boosting Algorithm for Combining "
        "Preferences, JMLR 4, 2003"
    )
    formula = "mean over pairs r_i > r_j of a query of exp(s_j - s_i)"

    patience: int = 100

    def booster(self, train: QuerySet, binned: BinnedFeatures) -> Booster:
        return _Booster(train, binned)


class _Booster:
    """Figure 1 of the paper on one training set."""

    def __init__(self, train: QuerySet, binned: BinnedFeatures) -> None:
        self.blocks = train.by_label
        self.binned = binned
        self.scale = np.full(train.n_queries, 1.0 / max(1.0, pair_counts(train).sum()))
        self.cost = train.lengths
        # threads pay off from about two thousand documents each
        self.least = max(1, 2_000 * train.n_queries // max(1, train.n_docs))

    def weigh(self, scores: np.ndarray) -> tuple[np.ndarray, float]:
        """Each document's potential under the pairs' distribution D, and the objective."""
        potential, objective = np.empty(len(scores)), np.empty(len(self.scale))
        blocks = self.blocks

        def part(start: int, stop: int) -> None:
            exponential_pairs.potentials(
                scores, blocks.order, blocks.starts, blocks.queries, self.scale,
                start, stop, potential, objective,
            )  # fmt: skip

        in_threads(part, len(self.scale), self.least, self.cost)
        total = float(objective.sum())
        return (potential / total if total > 0.0 else potential), total

    def choose(self, scores: np.ndarray, weights: np.ndarray) -> Term | None:
        """The stump with the largest rho = sum of D (h_i - h_j), and its alpha."""
        found = best_stump(self.binned, weights)
        if found is None:
            return None
        stump, cut, rho = found
        alpha = LONGEST_STEP if rho >= 1.0 else min(LONGEST_STEP, float(np.arctanh(rho)))
        return Term(stump, self.binned.flags(stump, cut), alpha)
