"""FRank's rounds: the pairs' weights, and the stump that lowers the bound most.

A pair r_i > r_j has the weight W = sigma(o)^(1/2) sigma(-o) / (pairs of its query), o = s_i - s_j;
a stump h has W+ and W-, the sums of W over the pairs with h_i - h_j = 1 and -1, and the one with
the largest (W+^(1/2) - W-^(1/2))^2 is searched for (Tsai, Liu, Qin, Chen, Ma, SIGIR 2007).
`letorbench.rankers.frank` says the same in plain NumPy, pair by pair.
"""

from __future__ import annotations

import numpy as np

from letorbench.datasets.queryset import LabelBlocks, QuerySet
from letorbench.jit import kernel, longest_query
from letorbench.losses.base import query_share, require_comparable
from letorbench.losses.exponentials import SPAN, exponentials, gather
from letorbench.solvers.boosting import Term, adaboost_step
from letorbench.solvers.margin import pair_counts
from letorbench.solvers.stump_search import BinnedFeatures
from letorbench.threads import in_threads

#: features whose pairs are summed at a time
TOGETHER = 8
#: by how much a bound is raised, so that rounding excludes no feature
SLACK = 1e-9
#: rows are padded to a multiple of this, the compiler's unrolled vector length
VECTOR = 16


class FidelityBooster:
    """The rounds on one training set."""

    def __init__(self, train: QuerySet, binned: BinnedFeatures) -> None:
        require_comparable(train)
        self.blocks = train.by_label
        self.binned = binned
        n_pairs = pair_counts(train)
        self.cost = n_pairs + train.lengths
        self.least = query_share(train, 1_000)
        counted = max(1, np.count_nonzero(n_pairs))
        #: what W+ + W- of every cut at `scores` is at least
        self.lowest = np.zeros((len(binned.n_bins), binned.n_bins.max(initial=1)))
        self.scores = np.zeros(train.n_docs)
        self.share = np.where(n_pairs > 0.0, 1.0 / np.maximum(n_pairs, 1.0), 0.0) / counted

    def weigh(self, scores: np.ndarray) -> tuple[np.ndarray, float]:
        """Return each document's sum of W as the higher of its pairs minus as the lower."""
        weight, losses = np.empty(len(scores)), np.empty(len(self.share))

        def part(first: int, last: int) -> None:
            _weights(scores, self.blocks, self.share, first, last, weight, losses)

        in_threads(part, len(losses), self.least, self.cost)
        return weight, float(losses.sum())

    def choose(self, scores: np.ndarray, weights: np.ndarray) -> Term | None:
        """Return the stump with the largest (W+^(1/2) - W-^(1/2))^2, and its alpha.

        W+ - W- of every cut is a histogram. W+ + W- takes all pairs, so it is summed only for
        the features that may have the best cut: where the scores of a pair move apart by d, its
        W falls to e^(-d) of itself at most, and what W+ + W- was before therefore bounds it.
        """
        D = self._differences(weights)
        moved = scores - self.scores
        self.scores = scores
        self.lowest *= np.exp(-np.ptp(moved)) if len(moved) else 1.0
        highest = gain(D, np.maximum(self.lowest, np.abs(D))).max(axis=1, initial=0.0)
        order = np.argsort(-highest, kind="stable")
        found = np.zeros(len(D))
        for batch in np.split(order, range(TOGETHER, len(order), TOGETHER)):
            if highest[batch].max(initial=0.0) * (1.0 + SLACK) < found.max(initial=0.0):
                break
            self.lowest[batch] = self._sums(batch, scores)
            found[batch] = gain(D[batch], self.lowest[batch]).max(axis=1)
        if not found.max(initial=0.0) > 0.0:
            return None
        k = int(np.argmax(found))
        return self.best_of(k, D[k], self.lowest[k])

    def best_of(self, k: int, D: np.ndarray, S: np.ndarray) -> Term:
        """Return feature k's best stump by the bound, and its alpha; D, S: of its cuts."""
        cut = int(np.argmax(gain(D, S)))
        stump, h = self.binned.stump(k, cut, D[cut] > 0.0)
        return Term(stump, h, adaboost_step(abs(float(D[cut])), float(S[cut])))

    def _differences(self, weights: np.ndarray) -> np.ndarray:
        """Return W+ - W- of each feature's cuts, (n_features, cuts), 0 where there is no cut."""
        codes, n_bins = self.binned.codes, self.binned.n_bins
        D = np.zeros(self.lowest.shape)

        def part(first: int, last: int) -> None:
            _differences(codes[first:last], n_bins[first:last], weights, D[first:last])

        in_threads(part, len(D), cost=self.binned.search_cost)
        return D

    def _sums(self, features: np.ndarray, scores: np.ndarray) -> np.ndarray:
        """Return W+ + W- of the cuts of some features, (len(features), cuts)."""
        codes, n_bins = self.binned.codes, self.binned.n_bins
        S = np.zeros((len(features), self.lowest.shape[1]))

        def part(first: int, last: int) -> None:
            chosen = features[first:last]
            _sums(codes, n_bins, chosen, scores, self.blocks, self.share, S[first:last])

        in_threads(part, len(features))
        return S


def gain(D: np.ndarray, S: np.ndarray) -> np.ndarray:
    """Return (W+^(1/2) - W-^(1/2))^2 of D = W+ - W- and S = W+ + W-, without cancellation."""
    whole = S + np.sqrt(np.maximum(0.0, S * S - D * D))
    return np.divide(D * D, whole, out=np.zeros_like(whole), where=S > 0.0)


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
def _differences(codes: np.ndarray, n_bins: np.ndarray, weight: np.ndarray, D: np.ndarray) -> None:
    """D[k, b] = W+ - W- of the stump code > b; weight: what `_weights` gave at these scores."""
    for k in range(len(n_bins)):
        for i in range(codes.shape[1]):
            D[k, codes[k, i]] -= weight[i]
        for b in range(1, n_bins[k] - 1):
            D[k, b] += D[k, b - 1]
        D[k, n_bins[k] - 1] = 0.0  # no cut


@kernel()
def _sums(
    codes: np.ndarray,
    n_bins: np.ndarray,
    features: np.ndarray,
    scores: np.ndarray,
    blocks: LabelBlocks,
    share: np.ndarray,
    S: np.ndarray,
) -> None:
    """S[n, b] = W+ + W- of the stump code > b of feature features[n]; see `BinnedFeatures`."""
    n, n_queries = len(features), len(blocks.offsets) - 1
    size = longest_query(blocks.offsets, 0, n_queries) + VECTOR
    u, row = np.empty(size), np.empty(size)
    own, signed = np.zeros((n, size)), np.empty((n, size))
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
                own[k, p] = codes[features[k], order[p]]
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
                S[k, codes[features[k], order[p]]] += signed[k, p]
    for k in range(n):
        for b in range(1, n_bins[features[k]] - 1):
            S[k, b] += S[k, b - 1]
        S[k, n_bins[features[k]] - 1] = 0.0  # no cut


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
