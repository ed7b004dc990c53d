"""FRank: boosting threshold stumps on the fidelity loss of pairs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit as sigma

from letorbench.datasets.queryset import LabelBlocks, QuerySet
from letorbench.jit import kernel, longest_query
from letorbench.losses.base import query_share
from letorbench.losses.exponentials import SPAN, exponentials, gather
from letorbench.rankers.base import Ranker
from letorbench.rankers.rankboost import pairs
from letorbench.solvers.boosting import Term, adaboost_step, boost_stumps
from letorbench.solvers.learned import Learned
from letorbench.solvers.margin import pair_counts
from letorbench.solvers.stump_search import BinnedFeatures
from letorbench.solvers.validation import Validation
from letorbench.threads import in_threads


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

    Notes
    -----
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
    paper = "Tsai, Liu, Qin, Chen, Ma: FRank: A Ranking Method with Fidelity Loss, SIGIR 2007"
    formula = "mean_q 1/pairs_q sum over pairs r_i > r_j of 1 - (1 + exp(s_j - s_i))^(-1/2)"

    rounds: int = 300
    patience: int = 50
    bins: int | None = 256

    def learn(
        self, train: QuerySet, validation: Validation | None, rng: np.random.Generator
    ) -> Learned:
        booster = _Booster(train, BinnedFeatures.of(train.features, self.bins))
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


def separated(h: np.ndarray, s: np.ndarray, queries: QuerySet) -> tuple[float, float]:
    """Return W+ and W-: the weights of the pairs that h orders right and wrong."""
    i, j = pairs(queries)
    W, difference = pair_weights(s, queries), h[i].astype(int) - h[j].astype(int)
    return float(W[difference == 1].sum()), float(W[difference == -1].sum())


class _Booster:
    """The rounds on one training set."""

    def __init__(self, train: QuerySet, binned: BinnedFeatures) -> None:
        self.blocks = train.by_label
        self.binned = binned
        n_pairs = pair_counts(train)
        self.cost = n_pairs + train.lengths
        self.least = query_share(train, 1_000)
        counted = max(1, np.count_nonzero(n_pairs))
        self.share = np.where(n_pairs > 0.0, 1.0 / np.maximum(n_pairs, 1.0), 0.0) / counted

    def weigh(self, scores: np.ndarray) -> tuple[np.ndarray, float]:
        """Return each document's sum of W as the higher of its pairs minus as the lower."""
        weight, losses = np.empty(len(scores)), np.empty(len(self.share))

        def part(first: int, last: int) -> None:
            _weights(scores, self.blocks, self.share, first, last, weight, losses)

        in_threads(part, len(losses), self.least, self.cost)
        return weight, float(losses.sum())

    def choose(self, scores: np.ndarray, weights: np.ndarray) -> Term | None:
        """Return the stump with the largest (W+^(1/2) - W-^(1/2))^2, and its alpha."""
        binned = self.binned
        best = np.zeros((len(binned.n_bins), 4))

        def part(first: int, last: int) -> None:
            features = slice(first, last)
            _best_cuts(
                binned.codes[features], binned.n_bins[features], weights, scores,
                self.blocks, self.share, best[features],
            )  # fmt: skip

        in_threads(part, len(best))
        if not best[:, 0].max(initial=0.0) > 0.0:
            return None
        k = int(np.argmax(best[:, 0]))
        _, cut, difference, total = best[k].tolist()
        stump, h = binned.stump(k, int(cut), difference > 0.0)
        return Term(stump, h, adaboost_step(abs(difference), total))


# The kernels. W does not factorise, so a search sees every pair once for every feature. But it
# needs no scatter of pairs over the cuts:
#
#     W+ - W- at cut b = sum over documents with code > b of
#                        (the document's W as the higher of a pair, minus as the lower),
#     W+ + W- at cut b = sum over documents with code <= b of
#                        (the sum of its pairs' W sign(partner's code - own code)),
#
# where a pair on one side of the cut cancels itself, and the last sum runs along a row of
# partners without a branch. As in NDCG Boost, u = exp(s - max s) takes one exponential a document
# unless a query's scores span more than SPAN, and rows are padded with u = 0, whose W are zero.

#: rows are padded to a multiple of this, the compiler's unrolled vector length
VECTOR = 16


@kernel()
def _weights(
    scores: np.ndarray,
    blocks: LabelBlocks,
    share: np.ndarray,
    first: int,
    last: int,
    weight: np.ndarray,
    objective: np.ndarray,
) -> None:
    """Sum over the pairs of the queries first..last - 1; a pair of query q counts share[q].

    objective[q]: the sum of the losses; weight[i], in file order: the sum of W over document
    i's pairs as the higher one, minus as the lower one.
    """
    size = longest_query(blocks.offsets, first, last) + VECTOR
    u, w, row = np.empty(size), np.empty(size), np.empty(size)
    for q in range(first, last):
        begin, end = blocks.offsets[q], blocks.offsets[q + 1]
        order = blocks.order[begin:end]
        m = end - begin
        gather(scores, order, u)
        near = exponentials(u, m, u) <= SPAN
        w[:m] = 0.0
        objective[q] = 0.0
        for b in range(blocks.queries[q], blocks.queries[q + 1] - 1):
            below = blocks.starts[b + 1] - begin
            for i in range(blocks.starts[b] - begin, below):
                objective[q] += _fill_row(u, i, below, m, near, share[q], row)
                w[i] += _subtract_row(row[: m - below], w[below:m])
        for p in range(m):
            weight[order[p]] = w[p]


@kernel()
def _best_cuts(
    codes: np.ndarray,
    n_bins: np.ndarray,
    weight: np.ndarray,
    scores: np.ndarray,
    blocks: LabelBlocks,
    share: np.ndarray,
    best: np.ndarray,
) -> None:
    """Find each feature's cut whose step lowers the bound most.

    best[k] = ((W+^(1/2) - W-^(1/2))^2, the cut, W+ - W-, W+ + W-), the first 0 where no cut
    lowers it. codes, n_bins: see `BinnedFeatures`; weight: what `_weights` gave at these scores.
    """
    n, n_queries, width = len(n_bins), len(blocks.offsets) - 1, max(1, n_bins.max())
    size = longest_query(blocks.offsets, 0, n_queries) + VECTOR
    u, row = np.empty(size), np.empty(size)
    own, signed = np.zeros((n, size)), np.empty((n, size))
    differences, sums = np.zeros((n, width)), np.zeros((n, width))
    for q in range(n_queries):
        if blocks.queries[q + 1] - blocks.queries[q] < 2:  # one label: no pairs
            continue
        begin, end = blocks.offsets[q], blocks.offsets[q + 1]
        order = blocks.order[begin:end]
        m = end - begin
        gather(scores, order, u)
        near = exponentials(u, m, u) <= SPAN
        for k in range(n):
            for p in range(m):
                own[k, p] = codes[k, order[p]]
                signed[k, p] = 0.0
        for b in range(blocks.queries[q], blocks.queries[q + 1] - 1):
            below = blocks.starts[b + 1] - begin
            stop = below + (m - below + VECTOR - 1) // VECTOR * VECTOR
            for i in range(blocks.starts[b] - begin, below):
                _fill_row(u, i, below, m, near, share[q], row)
                for k in range(n):
                    signed[k, i] += _subtract_signed_row(
                        row[: stop - below], own[k, i], own[k, below:stop], signed[k, below:stop]
                    )
        for k in range(n):
            for p in range(m):
                code = codes[k, order[p]]
                differences[k, code] += weight[order[p]]
                sums[k, code] += signed[k, p]
    for k in range(n):
        _scan(differences[k], sums[k], n_bins[k], best[k])


@kernel()
def _fill_row(
    u: np.ndarray, i: int, below: int, m: int, near: bool, share: float, row: np.ndarray
) -> float:
    """Fill row with W of document i and below..m - 1, padded with zeros; return their losses."""
    stop = below + (m - below + VECTOR - 1) // VECTOR * VECTOR
    if near:
        return _fill_near_row(u[i], u[below:stop], share, row[: stop - below])
    loss = 0.0
    for j in range(below, m):
        t = np.exp(-abs(u[i] - u[j]))
        right = (1.0 if u[i] > u[j] else t) / (1.0 + t)
        wrong = (t if u[i] > u[j] else 1.0) / (1.0 + t)
        row[j - below] = share * np.sqrt(right) * wrong
        loss += wrong / (1.0 + np.sqrt(right))
    row[m - below : stop - below] = 0.0
    return share * loss


@kernel(reorder=True)
def _fill_near_row(u_i: float, u: np.ndarray, share: float, row: np.ndarray) -> float:
    """Do as `_fill_row` from u; 1 - sigma(o)^(1/2) is sigma(-o) / (1 + sigma(o)^(1/2))."""
    loss = 0.0
    for j in range(len(u)):
        r = 1.0 / (u_i + u[j])
        root = np.sqrt(u_i * r)
        wrong = share * (u[j] * r)
        row[j] = root * wrong
        loss += wrong / (1.0 + root)
    return loss


@kernel(reorder=True)
def _subtract_row(row: np.ndarray, w: np.ndarray) -> float:
    """Subtract the row from w; return its sum."""
    total = 0.0
    for j in range(len(row)):
        total += row[j]
        w[j] -= row[j]
    return total


@kernel(reorder=True)
def _subtract_signed_row(
    row: np.ndarray, own: float, codes: np.ndarray, signed: np.ndarray
) -> float:
    """Subtract row sign(code - own) from signed; return its sum."""
    total = 0.0
    for j in range(len(row)):
        sign = min(max(codes[j] - own, -1.0), 1.0)  # codes are whole numbers
        total += row[j] * sign
        signed[j] -= row[j] * sign
    return total


@kernel()
def _scan(differences: np.ndarray, sums: np.ndarray, n_bins: int, best: np.ndarray) -> None:
    """Find a feature's best cut from what each bin adds to W- - W+ and to W+ + W-."""
    best[0], best[1] = 0.0, -1.0
    D = S = 0.0
    for b in range(n_bins - 1):
        D -= differences[b]
        S += sums[b]
        gain = S - np.sqrt(max(0.0, S * S - D * D))
        if gain > best[0]:
            best[0], best[1], best[2], best[3] = gain, b, D, S
