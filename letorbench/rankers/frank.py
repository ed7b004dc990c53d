"""FRank: boosting threshold stumps on the fidelity loss of pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from scipy.special import expit as sigma

from letorbench.choices import require_choice
from letorbench.datasets.queryset import QuerySet
from letorbench.rankers.base import Ranker
from letorbench.rankers.rankboost import pairs
from letorbench.solvers.boosting import Term, boost_stumps
from letorbench.solvers.fidelity_search import FidelityBooster, gain
from letorbench.solvers.fit_result import FitResult
from letorbench.solvers.stump_search import BinnedFeatures
from letorbench.solvers.validation import Validation

Pick = Literal["bound", "loss"]


@dataclass
class FRank(Ranker):
    """FRank of Tsai, Liu, Qin, Chen and Ma.

    It minimises the sum over queries of the mean fidelity loss 1 - sigma(s_i - s_j)^(1/2) of
    their pairs r_i > r_j (target probability 1) over s = sum_t alpha_t h_t, where each h_t(x) in
    {0, 1} is a threshold stump. A pair has the weight
    W = sigma(o)^(1/2) sigma(-o) / (pairs of the query), o = s_i - s_j. With W+ and W- the sums
    of W over the pairs with h_i - h_j = 1 and -1, alpha = 1/2 ln(W+ / W-), and h is the stump
    with the largest (W+^(1/2) - W-^(1/2))^2.

    The fidelity loss is concave in e^(-o), so it lies below its tangent there: the objective
    changes by at most 1/2 sum of W (e^(-alpha (h_i - h_j)) - 1). That alpha makes this bound
    least, -1/2 (W+^(1/2) - W-^(1/2))^2. The objective therefore never rises, nor does it with a
    shorter alpha.

    Parameters
    ----------
    rounds : int, default 300
        The largest number of stumps. Validation chooses how many are kept.
    patience : int, default 50
        Training ends this many rounds after the best one on validation; 0 means never.
    bins : int or None, default 256
        Try at most so many thresholds a feature, among about equal numbers of documents: 256
        keep a document's value in one byte, and no finer cut changes many pairs. None tries
        every threshold.
    pick : {"bound", "loss"}, default "bound"
        How a round's stump is picked. "bound": the one whose bound falls most, of all thresholds
        of all features. "loss": of the stumps that are the best of their features by the bound,
        the one after whose step the fidelity loss itself is least.

    Notes
    -----
    The original picks the weak learner by the fidelity loss after its step, over all of its weak
    learners (from memory: its text is not at hand). "loss" is as near to that as one more pass
    over the pairs for each feature comes; it takes several times as long.

    Where the paper is silent: alpha is cut off at 5, where a stump orders no pair wrong; a stump
    with W+ < W- is the opposite stump; queries without pairs do not count; training stops where
    no stump lowers the bound. The objective is reported divided by the number of queries with
    pairs. `--features auto` normalises features by query for it, as for linear models: its pairs
    are of one query, and a threshold then means the same in every query. Validation queries say
    so, and do not for other stumps and trees (`benchmarks.stump_features`).

    References
    ----------
    M.-F. Tsai, T.-Y. Liu, T. Qin, H.-H. Chen, W.-Y. Ma: FRank: A Ranking Method with Fidelity
    Loss, SIGIR 2007.
    """

    name = "frank"
    title = "Threshold stumps boosted on the fidelity loss of pairs"
    figure = "boosting"
    paper = "Tsai, Liu, Qin, Chen, Ma: FRank: A Ranking Method with Fidelity Loss, SIGIR 2007"
    formula = "mean_q 1/pairs_q sum over pairs r_i > r_j of 1 - (1 + exp(s_j - s_i))^(-1/2)"

    rounds: int = 300
    patience: int = 50
    bins: int | None = 256
    pick: Pick = "bound"

    def learn(
        self, train: QuerySet, validation: Validation | None, rng: np.random.Generator
    ) -> FitResult:
        require_choice(self.pick, get_args(Pick), "pick of frank")
        booster = BOOSTERS[self.pick](train, BinnedFeatures.of(train.features, self.bins))
        return boost_stumps(booster, train, self.rounds, validation, self.patience, self.deadline)


# The paper's equations, pair by pair. s: scores (n_docs,) float64; h: 0 or 1.


def pair_shares(queries: QuerySet) -> np.ndarray:
    """Return 1 / (pairs of its query) / (queries with pairs) of each of the `pairs`."""
    higher, _ = pairs(queries)
    query = np.searchsorted(queries.offsets, higher, side="right") - 1
    n_pairs = np.bincount(query, minlength=1)
    return 1.0 / n_pairs[query] / max(1, np.count_nonzero(n_pairs))


def objective(s: np.ndarray, queries: QuerySet) -> float:
    """Return the mean over queries of the mean fidelity loss of their pairs."""
    i, j = pairs(queries)
    return float((pair_shares(queries) * (1.0 - np.sqrt(sigma(s[i] - s[j])))).sum())


def pair_weights(s: np.ndarray, queries: QuerySet) -> np.ndarray:
    """Return W (n_pairs,), with W = -2 times the slope of the loss, in the order of `pairs`."""
    i, j = pairs(queries)
    return pair_shares(queries) * np.sqrt(sigma(s[i] - s[j])) * sigma(s[j] - s[i])


def falls(s: np.ndarray, before: np.ndarray, queries: QuerySet) -> np.ndarray:
    """Return what W has fallen by at most since the scores `before`, in the order of `pairs`.

    W is concave in sigma(o), so it was below its tangent at the sigma(o) of now.
    """
    i, j = pairs(queries)
    now, was = sigma(s[i] - s[j]), sigma(before[i] - before[j])
    slope = (0.5 - 1.5 * now) / np.sqrt(now)
    return pair_shares(queries) * np.maximum(slope * (was - now), 0.0)


def separated(h: np.ndarray, s: np.ndarray, queries: QuerySet) -> tuple[float, float]:
    """Return W+ and W-: the weights of the pairs that h orders right and wrong."""
    i, j = pairs(queries)
    W, difference = pair_weights(s, queries), h[i].astype(int) - h[j].astype(int)
    return float(W[difference == 1].sum()), float(W[difference == -1].sum())


class ByLoss(FidelityBooster):
    """The rounds with the pick by the loss."""

    def choose(self, scores: np.ndarray, weights: np.ndarray) -> Term | None:
        """Return the feature's best stump by the bound after whose step the loss is least."""
        D, _ = self._cuts(weights)
        S = self._sums(np.arange(len(D)), D)
        promising = np.flatnonzero(gain(D, S).max(axis=1, initial=0.0) > 0.0).tolist()
        tried = [self.best_of(k, D[k], S[k]) for k in promising]
        after = [self.weigh(scores + term.alpha * term.values)[1] for term in tried]
        return tried[int(np.argmin(after))] if tried else None


BOOSTERS: dict[Pick, type[FidelityBooster]] = {"bound": FidelityBooster, "loss": ByLoss}
