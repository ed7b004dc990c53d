"""FRank: boosting threshold stumps on the fidelity loss of pairs."""

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from letorbench.compiled.arithmetic import sigmoid as sigma
from letorbench.compiled.jit import kernel, longest_query
from letorbench.compiled.threads import equal_parts, parallel_for
from letorbench.datasets.queryset import LabelBlocks
from letorbench.features.columns import BinnedFeatures
from letorbench.losses.base import ValueAndGradient, in_query_slices
from letorbench.losses.gains import (
    VECTOR,
    gather_exponentials,
    inverse_or_zero,
    over_blocks,
    padded,
    pair_counts,
    pairs,
)
from letorbench.models.tree_ensemble import stump
from letorbench.parameters import number
from letorbench.rankers.base import FitResult, Generator, QuerySet, Ranker, Validation
from letorbench.solvers.boosting import Term, adaboost_step, boost, stump_term

#: slices of the queries, summed separately so that no sum depends on the number of threads
SLICES = 8
#: documents whose pairs are summed together for one feature: their data fit into the first cache
ROWS = 8
#: the number of features that are searched first because their best cuts are likely to gain most
LIKELY = 8
#: widens a bound so that rounding excludes no feature
SLACK = 1e-9
#: a cut separates no pairs if |W+ - W-| is at most this fraction of all weights: that is rounding
NOISE = 1e-13


@dataclass
class FRank(Ranker):
    """FRank of Tsai, Liu, Qin, Chen and Ma.

    It minimises the sum over queries of the mean fidelity loss 1 - sigma(s_i - s_j)^(1/2) of their
    pairs r_i > r_j (target probability 1) over s = sum_t alpha_t h_t, where each h_t(x) in {0, 1}
    is a threshold stump. A pair has the weight W = sigma(o)^(1/2) sigma(-o) / (pairs of the query),
    o = s_i - s_j. With W+ and W- the sums of W over the pairs with h_i - h_j = 1 and -1, alpha =
    1/2 ln(W+ / W-), and h is the stump with the largest (W+^(1/2) - W-^(1/2))^2.

    The fidelity loss is concave in e^(-o), so it lies below its tangent: the objective changes by
    at most 1/2 sum of W (e^(-alpha (h_i - h_j)) - 1). This alpha minimises that bound, to -1/2
    (W+^(1/2) - W-^(1/2))^2. The objective therefore never rises, nor would it with a shorter alpha.

    Parameters
    ----------
    rounds : int, default 300
        The largest number of stumps. Validation chooses how many are kept.
    patience : int, default 50
        Training ends this many rounds after the best one on validation; 0 means never.
    bins : int or None, default 256
        Try at most this many thresholds for each feature, with about equal numbers of documents
        between them. With 256 a document's value takes one byte, and finer cuts change few pairs.
        None tries every threshold.

    Notes
    -----
    The original, whose text we could not obtain, picks the weak learner by the fidelity loss after
    its step, over all of its weak learners; here the bound picks it. The reported objective is
    divided by the number of queries with pairs.

    Where the paper is silent: alpha is cut off at 5, where a stump orders no pair wrong; a stump
    with W+ < W- is the opposite stump; queries without pairs do not count; training stops if no
    stump lowers the bound; `--features auto` normalises features by query, as for linear models, so
    that a threshold means the same in every query (this raises NDCG on validation queries here, but
    not with other stumps and trees).
    """

    name = "frank"
    families = ("pairwise", "boosting")
    title = "Threshold stumps boosted on the fidelity loss of pairs"
    figure = "boosting"
    paper = "Tsai, Liu, Qin, Chen, Ma: FRank: A Ranking Method with Fidelity Loss, SIGIR 2007"
    formula = "mean_q 1/pairs_q sum over pairs r_i > r_j of 1 - (1 + exp(s_j - s_i))^(-1/2)"
    ranges = {"bins": (8, 16, 32, 64, 128, 256)}

    rounds: int = number(300, least=1)
    patience: int = number(50, least=0)
    bins: int | None = number(256, least=2)

    def learn(self, train: QuerySet, validation: Validation | None, rng: Generator) -> FitResult:
        booster = _Booster(train, BinnedFeatures.of(train.features, self.bins))
        return boost(booster, train, self.rounds, validation, self.patience, self.deadline)


# The paper's equations, pair by pair. s: scores (n_docs,) float64; h: 0 or 1.


def pair_scales(queries: QuerySet) -> np.ndarray:
    """Return the factor of each pair: 1 / (pairs of its query) / (queries with pairs)."""
    higher, _ = pairs(queries)
    query = np.searchsorted(queries.offsets, higher, side="right") - 1
    n_pairs = np.bincount(query, minlength=1)
    return 1.0 / n_pairs[query] / max(1, int(np.count_nonzero(n_pairs)))


def objective(s: np.ndarray, queries: QuerySet) -> float:
    """Return the mean over queries of the mean fidelity loss of their pairs."""
    i, j = pairs(queries)
    return float((pair_scales(queries) * (1.0 - np.sqrt(sigma(s[i] - s[j])))).sum())


def pair_weights(s: np.ndarray, queries: QuerySet) -> np.ndarray:
    """Return W (n_pairs,), with W = -2 times the slope of the loss, in the order of `pairs`."""
    i, j = pairs(queries)
    return pair_scales(queries) * np.sqrt(sigma(s[i] - s[j])) * sigma(s[j] - s[i])


def separated(h: np.ndarray, s: np.ndarray, queries: QuerySet) -> tuple[float, float]:
    """Return W+ and W-: the weights of the pairs that h orders right and wrong."""
    i, j = pairs(queries)
    W, difference = pair_weights(s, queries), h[i].astype(int) - h[j].astype(int)
    return float(W[difference == 1].sum()), float(W[difference == -1].sum())


class _Booster:
    """The rounds on one training set. Arrays over documents are in label order.

    For every cut of every feature a round needs D = W+ - W- and S = W+ + W- = |D| + 2 min(W+, W-).
    D is a histogram of one number a document. The minimum takes all pairs, so it is computed only
    for features that may have the best cut: if the difference of a pair's scores changes by d, its
    W changes by a factor between e^-d and e^d, so an earlier round's minimum bounds the current
    one.
    """

    def __init__(self, train: QuerySet, binned: BinnedFeatures) -> None:
        self.train, self.binned = train, binned
        n_pairs = pair_counts(train)
        weights = train.query_weights
        scale = weights * inverse_or_zero(n_pairs) / (weights[n_pairs > 0].sum() or 1.0)
        u, near = np.empty(train.n_docs), np.empty(len(scale), dtype=np.bool_)
        #: the pairs, at the scores that were weighed last
        self.pairs = _Pairs(train.by_label, scale, u, near)
        self.codes = np.take(binned.codes, train.by_label.order, axis=1)
        #: the first query of each slice, and the end; slices cost about the same
        self.slices = equal_parts(len(n_pairs), SLICES, n_pairs + train.lengths)
        #: whether there is a cut above a feature's bin
        self.has_cut = np.arange(binned.n_bins.max(initial=1)) < binned.n_bins[:, None] - 1
        #: bounds of min(W+, W-) of every cut at `scores`
        self.low = np.zeros(self.has_cut.shape)
        self.high = np.ones(self.has_cut.shape)  # more than all weights
        self.scores = np.zeros(train.n_docs)

    def weigh(self, scores: np.ndarray) -> tuple[np.ndarray, float]:
        """Return each document's W as higher minus as lower one of its pairs, and the objective."""
        arguments = _sum_pairs, self.train, scores, self.pairs
        losses, sums = in_query_slices(*arguments, documents=1_000, of_pairs=True)
        return sums, float(losses.sum())

    def choose(self, scores: np.ndarray, weights: np.ndarray) -> Term | None:
        """Return the stump whose bound falls most, with its alpha."""
        D = self._differences(weights)
        moved = np.ptp(scores - self.scores) if len(scores) else 0.0
        self.scores = scores
        self.low *= np.exp(-moved)
        self.high = np.minimum(1.0, self.high * np.exp(moved))
        S, exact = np.zeros_like(D), np.zeros(len(D), dtype=np.bool_)
        for count in (LIKELY, len(D)):  # the gains of the first ones exclude most others
            most = gain(D, np.abs(D) + 2.0 * self.low).max(axis=1, initial=0.0)
            enough = gain(D, np.abs(D) + 2.0 * self.high).max(initial=0.0)
            wanted = np.flatnonzero(~exact & (most > 0.0) & (most * (1.0 + SLACK) >= enough))
            wanted = np.sort(wanted[np.argsort(-most[wanted], kind="stable")[:count]])
            wrong, difference = self._wrong(wanted), D[wanted]
            S[wanted], exact[wanted] = difference + 2.0 * wrong, True
            smaller = np.maximum(0.0, wrong + np.minimum(0.0, difference))
            noise = NOISE * (np.abs(difference) + smaller)  # a difference may be rounding alone
            self.low[wanted], self.high[wanted] = np.maximum(0.0, smaller - noise), smaller + noise
        gains = gain(D, S)  # 0 where S is 0
        if not gains.max(initial=0.0) > 0.0:
            return None
        k, cut = divmod(int(np.argmax(gains)), gains.shape[1])
        tree, h = stump(k, D[k, cut] > 0.0, *self.binned.split(k, cut))
        return stump_term(tree, h, adaboost_step(abs(float(D[k, cut])), float(S[k, cut])))

    def _differences(self, weights: np.ndarray) -> np.ndarray:
        """Return D of each feature's cuts, (n_features, cuts), 0 where there is no cut."""
        bins = np.zeros(self.has_cut.shape)
        parallel_for(partial(_fill_bins, self.codes, weights, bins), len(bins))
        below = bins.cumsum(axis=1)
        least = NOISE * np.abs(weights).sum()
        return np.where(self.has_cut & (np.abs(below) > least), -below, 0.0)

    def _wrong(self, features: np.ndarray) -> np.ndarray:
        """Return W- of the stumps above the cuts of some features, (len(features), cuts)."""
        wrong = np.zeros((SLICES, len(features), self.has_cut.shape[1]))
        task = partial(_sum_wrong, self.codes, features, self.pairs, self.slices, wrong)
        parallel_for(task, SLICES)
        return np.maximum(0.0, np.cumsum(wrong.sum(axis=0), axis=1))


def gain(D: np.ndarray, S: np.ndarray) -> np.ndarray:
    """Return (W+^(1/2) - W-^(1/2))^2 of D = W+ - W- and S = W+ + W-, without cancellation."""
    whole = S + np.sqrt(np.maximum(0.0, S * S - D * D))
    return np.divide(D * D, whole, out=np.zeros_like(whole), where=S > 0.0)


# The kernels. With u = exp(s - max s), sigma(o) = u_i / (u_i + u_j): one exponential a document.
# If a query's scores span more than SPAN, u is s - max s and each pair has an exponential instead.
# Documents are sorted by label, so the partners of document i are the documents behind its block.
# Rows of partners are padded, with W = 0, to whole vectors.

#: a difference of scores beyond which W is 0 for every purpose, and whose exponential is finite
FARTHEST = 700.0


class _Pairs(NamedTuple):
    """The pairs of a training set, and its scores."""

    blocks: LabelBlocks
    scale: np.ndarray  # (n_queries,), of the pairs of each query
    u: np.ndarray  # (n_docs,), from `exponentials`
    near: np.ndarray  # (n_queries,), whether the scores are near enough for u


@kernel()
def _sum_pairs(
    scores: np.ndarray, pairs: _Pairs, first: int, last: int, out: ValueAndGradient
) -> None:
    """Fill u, near, losses and sums: each document's W as higher minus as lower one of pairs."""
    (blocks, scale, all_u, near), (losses, sums) = pairs, out
    size = longest_query(blocks.offsets, first, last) + VECTOR
    u, w, row = np.empty(size), np.empty(size), np.empty(size)
    for q in range(first, last):
        begin, end = blocks.offsets[q], blocks.offsets[q + 1]
        m = end - begin
        near[q] = gather_exponentials(scores, blocks.order[begin:end], u)
        w[:] = 0.0
        losses[q] = over_blocks(_add_block, blocks, q, (scale[q], near[q], u, row, w))
        for p in range(m):
            all_u[begin + p] = u[p]
            sums[begin + p] = scale[q] * w[p]


@kernel()
def _add_block(
    total: float, above: int, below: int, end: int,
    state: tuple[float, bool, np.ndarray, np.ndarray, np.ndarray],
) -> float:  # fmt: skip
    """Add the pairs (above..below - 1) x (below..end - 1): W to w, the losses to the total."""
    scale, near, u, row, w = state
    stop = below + padded(end - below)
    for i in range(above, below):
        total += scale * _fill_row(u[i], u[below:stop], end - below, near, row)
        w[i] += _take_above(row, -np.inf, u[below:stop], w[below:stop])
    return total


@kernel()
def _fill_row(u_i: float, u: np.ndarray, size: int, near: bool, row: np.ndarray) -> float:
    """Fill row with W / scale of a document's pairs with u[:size]; return their losses' sum."""
    if near:
        return _fill_near_row(u_i, u, row)
    for j in range(size):
        row[j] = np.exp(min(max(u[j] - u_i, -FARTHEST), FARTHEST))
    row[size : len(u)] = 0.0
    return _fill_near_row(1.0, row[: len(u)], row)


@kernel(reorder=True)
def _fill_near_row(u_i: float, u: np.ndarray, row: np.ndarray) -> float:
    """Do as `_fill_row` with exponentials u; the loss is sigma(-o) / (1 + sigma(o)^(1/2))."""
    total = 0.0
    for j in range(len(u)):
        r = 1.0 / (u_i + u[j])
        wrong, root = u[j] * r, np.sqrt(u_i * r)
        row[j] = root * wrong
        total += wrong / (1.0 + root)
    return total


@kernel()
def _fill_bins(
    codes: np.ndarray, weights: np.ndarray, bins: np.ndarray, first: int, last: int
) -> None:
    """Add the weights of the documents to their bins of the features first..last - 1."""
    for k in range(first, last):
        row, sums = codes[k], bins[k]
        for i in range(len(row)):
            sums[row[i]] += weights[i]


@kernel()
def _sum_wrong(
    all_codes: np.ndarray, features: np.ndarray, pairs: _Pairs, slices: np.ndarray,
    wrong: np.ndarray, first: int, last: int,
) -> None:  # fmt: skip
    """Add to wrong[slice, n, b] by how much W- of the stumps on features[n] grows at bin b."""
    blocks, scale, all_u, near = pairs
    size = longest_query(blocks.offsets, slices[first], slices[last]) + VECTOR
    u, rows = np.empty(size), np.empty((ROWS, size))
    codes, signed = np.zeros((len(features), size)), np.zeros((len(features), size))
    for part in range(first, last):
        for q in range(slices[part], slices[part + 1]):
            begin, m = blocks.offsets[q], blocks.offsets[q + 1] - blocks.offsets[q]
            u[m:] = 0.0
            for p in range(m):
                u[p] = all_u[begin + p]
            for n, k in enumerate(features):
                for p in range(m):
                    codes[n, p], signed[n, p] = all_codes[k, begin + p], 0.0
            over_blocks(_add_wrong, blocks, q, (near[q], u, rows, codes, signed))
            for n, k in enumerate(features):
                of_bins = wrong[part, n]
                for p in range(m):
                    of_bins[all_codes[k, begin + p]] += scale[q] * signed[n, p]


@kernel()
def _add_wrong(
    total: float, above: int, below: int, end: int,
    state: tuple[bool, np.ndarray, np.ndarray, np.ndarray, np.ndarray],
) -> float:  # fmt: skip
    """Add W of the pairs (above..below - 1) x (below..end - 1) that the stumps get wrong."""
    near, u, rows, codes, signed = state
    stop = below + padded(end - below)
    for first in range(above, below, ROWS):
        last = min(first + ROWS, below)
        for i in range(first, last):
            _fill_row(u[i], u[below:stop], end - below, near, rows[i - first])
        for n in range(len(codes)):
            for i in range(first, last):
                signed[n, i] += _take_above(
                    rows[i - first], codes[n, i], codes[n, below:stop], signed[n, below:stop]
                )
    return total


@kernel(reorder=True)
def _take_above(row: np.ndarray, code: float, codes: np.ndarray, lower: np.ndarray) -> float:
    """Return the sum of W of pairs with a larger code; subtract each from its lower document."""
    total = 0.0  # a stump gets these pairs wrong at the cuts from bin `code` to before bin codes[j]
    for j in range(len(codes)):
        w = row[j] if codes[j] > code else 0.0
        total += w
        lower[j] -= w
    return total
