"""RankBoost: boosting threshold stumps on the exponential loss of pairs."""

from dataclasses import dataclass

import numpy as np

from letorbench.compiled.jit import kernel, longest_query
from letorbench.datasets.queryset import LabelBlocks
from letorbench.losses.base import ValueAndGradient, in_query_slices
from letorbench.losses.gains import extent, far_queries, gather, pair_counts, pairs
from letorbench.parameters import number
from letorbench.rankers.base import FitResult, Generator, QuerySet, Ranker, Validation
from letorbench.solvers.boosting import Term, adaboost_step, boost, stump_term
from letorbench.solvers.stump_search import Search, stump_search


@dataclass
class RankBoost(Ranker):
    """RankBoost of Freund, Iyer, Schapire and Singer, with threshold stumps.

    It minimises the mean of exp(s_j - s_i) over the pairs r_i > r_j of a query, which is the
    product of the paper's Z_t. With D the distribution of the pairs in proportion to this loss,
    each stump h maximises r = sum of D (h_i - h_j) and has the step
    alpha = 1/2 ln((1 + r) / (1 - r)), the third of the paper's choices. A round multiplies the
    objective by at most sqrt(1 - r^2), so it never rises.

    D factorises over blocks of one label, as the paper shows for two labels (section 3.2), so no
    round visits pairs.

    Parameters
    ----------
    rounds : int, default 300
        The largest number of stumps. Validation chooses how many are kept.
    patience : int, default 100
        Training ends this many rounds after the best one on validation; 0 means never.
    bins : int or None, default 256
        Try at most this many thresholds for each feature, with about equal numbers of documents
        between them. With 256 a document's value takes one byte. None tries every threshold.

    Notes
    -----
    Where the paper is silent: all pairs count the same, whatever their query and labels; missing
    values have no special output (q_def), because the data have none; a stump of negative r is
    replaced by the opposite stump; alpha is cut off at 5, where a stump orders every pair; training
    stops if no stump has r > 0.
    """

    name = "rankboost"
    families = ("pairwise", "boosting")
    title = "Threshold stumps boosted on the exponential loss of pairs"
    figure = "boosting"
    paper = (
        "Freund, Iyer, Schapire, Singer: An Efficient Boosting Algorithm for Combining "
        "Preferences, JMLR 4, 2003"
    )
    auto_features = "raw"  # stumps only compare a feature's values
    formula = "mean over pairs r_i > r_j of a query of exp(s_j - s_i)"
    ranges = {"bins": (8, 16, 32, 64, 128, 256)}

    rounds: int = number(300, least=1)
    patience: int = number(100, least=0)
    bins: int | None = number(256, least=2, most=256)

    def learn(self, train: QuerySet, validation: Validation | None, rng: Generator) -> FitResult:
        booster = _Booster(train, stump_search(train.features, self.bins))
        return boost(booster, train, self.rounds, validation, self.patience, self.deadline)


# The paper's equations, pair by pair. H: scores (n_docs,) float64.


def objective(H: np.ndarray, queries: QuerySet) -> float:
    """Return the mean over pairs of exp(H_j - H_i): the product of the paper's Z_1, Z_2, ..."""
    i, j = pairs(queries)
    return float(np.exp(H[j] - H[i]).mean())


def potentials(H: np.ndarray, queries: QuerySet) -> np.ndarray:
    """Return the paper's potential pi (n_docs,), for which r = sum_i pi_i h_i."""
    loss, sums = pair_sums(H, queries)
    return sums / loss


def pair_sums(H: np.ndarray, queries: QuerySet) -> tuple[float, np.ndarray]:
    """Return the sum over pairs of exp(H_j - H_i), and the potentials (n_docs,) times it."""
    i, j = pairs(queries)
    loss = np.exp(H[j] - H[i])
    return float(loss.sum()), np.bincount(i, loss, len(H)) - np.bincount(j, loss, len(H))


class _Booster:
    """Figure 1 of the paper on one training set."""

    def __init__(self, train: QuerySet, search: Search) -> None:
        self.train, self.search = train, search
        weights, n_pairs = train.query_weights, pair_counts(train)
        #: the weight of one pair of each query
        self.pair_weight = weights * (1.0 / ((weights * n_pairs).sum() or 1.0))

    def weigh(self, scores: np.ndarray) -> tuple[np.ndarray, float]:
        """Return the potentials and the objective."""
        arguments = self.train, scores, self.train.by_label, self.pair_weight
        losses, pi = in_query_slices(_sum_pairs, *arguments, documents=2_000)
        for q, rows, query in far_queries(losses, self.train):
            loss, sums = pair_sums(scores[rows], query)
            losses[q], pi[rows] = self.pair_weight[q] * loss, self.pair_weight[q] * sums
        total = float(losses.sum())
        return (pi / total if total > 0.0 else pi), total

    def choose(self, scores: np.ndarray, weights: np.ndarray) -> Term | None:
        """Return the stump with the largest r, with its alpha."""
        best = self.search(weights)
        if best is None:
            return None
        stump, h, r = best
        return stump_term(stump, h, adaboost_step(r))


# The kernel. The loss of a pair is exp(s_j - s_i) = u_j / u_i with u = exp(s - c). With documents
# sorted by label, the pairs of document i sum to 1 / u_i times a running sum of u, and those of
# document j to u_j times a running sum of 1 / u. So a query costs as much as its documents.

#: the widest span of a query's scores for u: with c in their middle, u and 1 / u are at most
#: exp(300), and products of two are finite. The span of `losses.gains` is narrower because
#: u is at most 1 there and up to eight are multiplied.
SPAN = 600.0


@kernel()
def _sum_pairs(
    scores: np.ndarray, blocks: LabelBlocks, pair_weight: np.ndarray, first: int, last: int,
    out: ValueAndGradient,
) -> None:  # fmt: skip
    """Fill pair_weight[q] times the `pair_sums` of each query; the potentials are in file order."""
    losses, potential = out
    u, order = np.empty(longest_query(blocks.offsets, first, last)), blocks.order
    for q in range(first, last):
        begin, end = blocks.offsets[q], blocks.offsets[q + 1]
        gather(scores, order[begin:end], u)
        top, bottom = extent(u, end - begin)
        if top - bottom > SPAN:
            losses[q] = np.nan  # `weigh` computes these
            continue
        middle = 0.5 * (top + bottom)
        for p in range(end - begin):
            u[p] = np.exp(u[p] - middle)
        starts = blocks.starts[blocks.queries[q] : blocks.queries[q + 1] + 1]
        higher = 0.0  # sum of 1 / u over the blocks before
        for b in range(len(starts) - 1):
            block = 0.0
            for p in range(starts[b], starts[b + 1]):
                potential[order[p]] = -pair_weight[q] * u[p - begin] * higher
                block += 1.0 / u[p - begin]
            higher += block
        total, lower = 0.0, 0.0  # lower: sum of u over the blocks behind
        for b in range(len(starts) - 2, -1, -1):
            block = 0.0
            for p in range(starts[b], starts[b + 1]):
                loss = lower / u[p - begin]
                potential[order[p]] += pair_weight[q] * loss
                total += loss
                block += u[p - begin]
            lower += block
        losses[q] = pair_weight[q] * total
