"""FRank's rounds: the pairs' weights, and the stump that lowers the bound most.

A pair r_i > r_j has the weight W = sigma(o)^(1/2) sigma(-o) / (pairs of its query), o = s_i - s_j;
a stump h has W+ and W-, the sums of W over the pairs with h_i - h_j = 1 and -1, and the one with
the largest (W+^(1/2) - W-^(1/2))^2 is searched for (Tsai, Liu, Qin, Chen, Ma, SIGIR 2007).
`letorbench.rankers.frank` says the same in plain NumPy, pair by pair.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.losses.base import query_share, require_comparable
from letorbench.losses.exponentials import SPAN
from letorbench.solvers.boosting import Term, adaboost_step
from letorbench.solvers.fidelity_cuts import sum_bins, sum_wrong
from letorbench.solvers.fidelity_stump import wrong_weight
from letorbench.solvers.fidelity_weights import Pairs, fill_exponentials, sum_weights
from letorbench.solvers.margin import pair_counts
from letorbench.solvers.stump_search import BinnedFeatures
from letorbench.threads import parallel_for

#: features whose pairs are summed first; then twice as many of the others, and so on
FIRST = 12
#: slices of the queries that are summed apart, so that no sum depends on the number of threads
SLICES = 8
#: at most so many sums are held at a time: 32 MiB
HELD = 2**22
#: by how much a bound is raised, so that rounding excludes no feature
SLACK = 1e-9
#: a cut separates no pairs where W+ - W- is no more than this share of all weights: such is the
#: rounding of a sum that is zero
NOISE = 1e-13
#: all W that float32 takes for 0 are less, together
TINY = 2.0**-120
#: of the types that W+ + W- is summed in
EXACT, ROUGH = np.empty(0, np.float64), np.empty(0, np.float32)


class FidelityBooster:
    """The rounds on one training set. What it keeps of documents is in label order."""

    def __init__(self, train: QuerySet, binned: BinnedFeatures) -> None:
        require_comparable(train)
        n_pairs = pair_counts(train)
        counted = max(1, np.count_nonzero(n_pairs))
        share = np.where(n_pairs > 0.0, 1.0 / np.maximum(n_pairs, 1.0), 0.0) / counted
        #: the pairs, at the scores that were weighed last
        self.pairs = Pairs(
            train.by_label, share, np.empty(train.n_docs), np.empty(len(share), dtype=np.bool_)
        )
        self.binned = replace(binned, codes=_in_order(binned.codes, train.by_label.order))
        self.cost = n_pairs + train.lengths
        self.least = query_share(train, 1_000)
        spent = np.cumsum(self.cost)
        #: the first query of each slice, and the end: slices of about equal cost
        self.slices = np.searchsorted(spent, np.arange(SLICES + 1) / SLICES * spent[-1:].sum())
        self.slices[-1] = len(n_pairs)
        #: whether there is a cut above a feature's bin
        self.has_cut = np.arange(binned.n_bins.max(initial=1)) < binned.n_bins[:, None] - 1
        #: what W+ + W- of every cut at `scores` is at least
        self.lowest: np.ndarray = np.zeros(self.has_cut.shape)
        self.scores = np.zeros(train.n_docs)
        #: what rough sums are taken in: it has to tell all codes apart
        self.rough = ROUGH if binned.codes.dtype.itemsize < 4 else EXACT
        #: what a rough W+ + W- differs from the exact one by at most, as a share of the objective
        self.rounding = (int(train.lengths.max(initial=0)) + 16) * 2.0**-21
        #: the same, at the scores that were weighed last
        self.doubt = np.inf

    def weigh(self, scores: np.ndarray) -> tuple[np.ndarray, float]:
        """Return sums over each document's pairs (n_docs, 2), in label order, and the objective.

        The sums: W as the higher of its pairs minus as the lower; and what W of all its pairs
        may have fallen by since the last round, at most.

        It finds `doubt`, too, for these scores. A rough W takes fewer than 16 operations, each
        off by 2^-24 of its result at most; a document's sum takes fewer additions than its query
        has documents; the documents' sums hold each pair twice, and W+ + W- holds W- twice. And
        W is sigma(o)^(1/2) (1 + sigma(o)^(1/2)) times the loss, so all W are twice the objective
        at most.
        """
        sums, losses = np.empty((len(scores), 2)), np.empty(len(self.pairs.share))
        moved, offsets = self.scores - scores, self.pairs.blocks.offsets
        back, most = np.empty_like(moved), moved.max(initial=-np.inf)

        def part(first: int, last: int) -> None:
            own = slice(offsets[first], offsets[last])
            back[own] = np.exp(np.maximum(moved[own] - most, -SPAN))
            fill_exponentials(scores, self.pairs, first, last)
            sum_weights(self.pairs, back, first, last, sums, losses)

        parallel_for(part, len(losses), self.least, self.cost)
        objective = float(losses.sum())
        self.doubt = self.rounding * objective + TINY
        return sums, objective

    def choose(self, scores: np.ndarray, weights: np.ndarray) -> Term | None:
        """Return the stump with the largest (W+^(1/2) - W-^(1/2))^2, and its alpha.

        The scores are those that were weighed last. W+ - W- of every cut is a histogram. W+ + W-
        takes all pairs, so it is summed only for the features that may have the best cut, by the
        bounds of `_lower`; and roughly, then exactly for the cuts that may be the best by that.
        """
        D, falls = self._cuts(weights)
        self._lower(scores, falls)
        most = gain(D, np.maximum(self.lowest, np.abs(D)))
        enough = self._sum_roughly(D, most)
        promising = np.flatnonzero((most > 0.0) & (most * (1.0 + SLACK) >= enough))
        S, found = np.zeros_like(D), np.zeros_like(D)
        for n in promising[np.argsort(-most.flat[promising], kind="stable")].tolist():
            if most.flat[n] * (1.0 + SLACK) < found.max():
                break
            S.flat[n] = D.flat[n] + 2.0 * self._wrong_of(*divmod(n, D.shape[1]))
            found.flat[n] = gain(D.flat[n], S.flat[n])
        if not found.max(initial=0.0) > 0.0:
            return None
        k, cut = divmod(int(np.argmax(found)), D.shape[1])
        return self._term(k, cut, D[k, cut], S[k, cut])

    def _sum_roughly(self, D: np.ndarray, most: np.ndarray) -> float:
        """Sum W+ + W- of the features that may have the best cut; return what it gains at least.

        D: W+ - W- of every cut. most: what each gains at most, which becomes less.
        """
        highest, enough = most.max(axis=1, initial=0.0), 0.0
        others, size = np.argsort(-highest, kind="stable"), FIRST
        while len(others):
            batch, others, size = others[:size], others[size:], 2 * size
            S = self._sums(batch, D[batch], self.rough)
            self.lowest[batch] = np.maximum(S - self.doubt, np.abs(D[batch]))
            most[batch] = gain(D[batch], self.lowest[batch])
            enough = max(enough, gain(D[batch], S + self.doubt).max())
            others = others[highest[others] * (1.0 + SLACK) >= enough]
        return enough

    def best_of(self, k: int, D: np.ndarray, S: np.ndarray) -> Term:
        """Return feature k's best stump by the bound, and its alpha; D, S: of its cuts."""
        cut = int(np.argmax(gain(D, S)))
        return self._term(k, cut, D[cut], S[cut])

    def _term(self, k: int, cut: int, D: float, S: float) -> Term:
        """Return a stump of feature k, with its W+ - W- and W+ + W-, and its alpha."""
        stump, h = self.binned.stump(k, cut, D > 0.0)
        values = np.empty_like(h)
        values[self.pairs.blocks.order] = h
        return Term(stump, values, adaboost_step(abs(float(D)), float(S)))

    def _lower(self, scores: np.ndarray, falls: np.ndarray) -> None:
        """Make `lowest`, which holds for the scores of the last round, hold for these.

        Where the scores of a pair move apart by d, its W falls to e^(-d) of itself at most. And
        W+ + W- of a cut falls by no more than W of all pairs together; nor, as each pair that a
        cut separates has a document above and one below it, by more than W of all pairs of the
        documents on either side.
        """
        moved = np.ptp(scores - self.scores) if len(scores) else 0.0
        self.scores = scores
        least = self.lowest * np.exp(-moved)
        if moved <= SPAN:
            least = np.maximum(least, self.lowest - (1.0 + SLACK) * falls)
        self.lowest = (1.0 - 1e-12) * least

    def _cuts(self, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return W+ - W- of each feature's cuts, and what W+ + W- fell by since the last round.

        Both (n_features, cuts), and 0 where there is no cut. The falls are the least that is
        known to be enough.
        """
        bins = np.zeros((*self.lowest.shape, 2))

        def part(first: int, last: int) -> None:
            sum_bins(self.binned.codes[first:last], weights, bins[first:last])

        parallel_for(part, len(bins), cost=self.binned.search_cost)
        below = np.where(self.has_cut[:, :, None], bins.cumsum(axis=1), 0.0)
        whole = weights[:, 1].sum()  # each pair counts twice
        either = np.minimum(below[:, :, 1], np.maximum(whole - below[:, :, 1], 0.0))
        least = NOISE * np.abs(weights[:, 0]).sum()
        D = np.where(np.abs(below[:, :, 0]) > least, -below[:, :, 0], 0.0)
        return D, np.minimum(either, 0.5 * whole) + SLACK * whole

    def _sums(self, features: np.ndarray, D: np.ndarray, kind: np.ndarray = EXACT) -> np.ndarray:
        """Return W+ + W- of the cuts of some features (len(features), cuts), from their D.

        kind: EXACT, or `rough` for sums that differ from the exact ones by up to `doubt`.
        """
        S = np.empty_like(D)
        together = max(1, HELD // (SLICES * max(1, D.shape[1])))
        for begin in range(0, len(features), together):
            some = slice(begin, begin + together)
            W_minus = self._wrong(features[some], kind)
            S[some] = np.where(self.has_cut[features[some]], D[some] + 2.0 * W_minus, 0.0)
        return S

    def _wrong(self, features: np.ndarray, kind: np.ndarray) -> np.ndarray:
        """Return W- of the stumps above the cuts of some features, (len(features), cuts)."""
        wrong = np.zeros((SLICES, len(features), self.lowest.shape[1]))

        def part(first: int, last: int) -> None:
            for n in range(first, last):
                sum_wrong(
                    self.binned.codes, features, self.pairs,
                    self.slices[n], self.slices[n + 1], kind, wrong[n],
                )  # fmt: skip

        parallel_for(part, SLICES)
        return np.cumsum(wrong.sum(axis=0), axis=1)

    def _wrong_of(self, k: int, cut: int) -> float:
        """Return W- of the stump above a cut of feature k."""
        wrong, codes = np.zeros(SLICES), self.binned.codes[k]

        def part(first: int, last: int) -> None:
            for n in range(first, last):
                start, stop = self.slices[n], self.slices[n + 1]
                wrong[n] = wrong_weight(codes, cut, self.pairs, start, stop)

        parallel_for(part, SLICES)
        return float(wrong.sum())


def _in_order(codes: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Return the codes (n_features, n_docs) of the documents in that order."""
    ordered = np.empty_like(codes)

    def part(first: int, last: int) -> None:
        for k in range(first, last):
            np.take(codes[k], order, out=ordered[k])

    parallel_for(part, len(codes))
    return ordered


def gain(D: np.ndarray, S: np.ndarray) -> np.ndarray:
    """Return (W+^(1/2) - W-^(1/2))^2 of D = W+ - W- and S = W+ + W-, without cancellation."""
    whole = S + np.sqrt(np.maximum(0.0, S * S - D * D))
    return np.divide(D * D, whole, out=np.zeros_like(whole), where=S > 0.0)
