"""LambdaMART: trees boosted on LambdaRank's forces and how they change.

`newton_by_pairs` is section 7 of the paper in plain NumPy; the compiled kernel below repeats it.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np

from letorbench.compiled.arithmetic import sigmoid
from letorbench.compiled.jit import kernel, longest_query
from letorbench.compiled.threads import parallel_for
from letorbench.conventions import gains
from letorbench.datasets.queryset import QuerySet
from letorbench.losses.base import queries_a_thread, require_comparable
from letorbench.losses.gains import (
    SPAN,
    GainSettings,
    exponentials,
    inverse_ideal_dcg,
    mean_difference,
    mean_of_ranks,
    mean_swaps,
    truncated_discount,
)
from letorbench.parameters import number
from letorbench.rankers.mart import BoostedTrees, Differentiated

#: if forces are normalised, a pair of equal scores is weighted by 1 / CLOSE
CLOSE = 0.01


@dataclass
class LambdaMART(GainSettings, BoostedTrees):
    """LambdaMART of Burges, with letorbench's trees.

    For a pair r_i > r_j, rho_ij = 1 / (1 + exp(s_i - s_j)), and |dNDCG_ij| is the change of NDCG
    if i and j swap their ranks. The gradient has -|dNDCG_ij| rho_ij at i and its opposite at j,
    the second derivative |dNDCG_ij| rho_ij (1 - rho_ij) at both, and a leaf has Newton's step
    (section 7).

    Parameters
    ----------
    rounds, learning_rate, patience, l2, leaves, depth, min_docs, docs, columns, bins
        See `BoostedTrees`.
    truncation : int
        L: only pairs with a document among the first L ranks count, with the discounts of the
        whole list and Z of NDCG@L; 0 means all pairs and the whole list.
    normalised : bool
        Like LightGBM's `lambdarank_norm`: if a query's scores differ at all, a pair is weighted
        by 1 / (0.01 + |s_i - s_j|); and the forces of a query are multiplied by log2(1 + S) / S,
        where S is the sum over its pairs of twice the force.

    Notes
    -----
    Where the paper is silent: documents of equal scores have the mean of |dNDCG| over all their
    orders; a leaf's second derivatives sum to at least 0.001. The reported objective is the mean
    of 1 - NDCG@L, since the forces are not the gradient of a loss.

    Validation chose `normalised`: with rounds and leaves chosen on halves of the validation parts,
    NDCG@10 on the other halves was .5045 with it and .5033 without on MQ2008, .4389 and .4369 on
    OHSUMED (means of eight ways to halve them).

    `truncation` keeps the pairs that LightGBM keeps. NDCG@L itself has discounts of 0 after rank L.
    With them, 100 rounds on drawn documents and features learned less from long lists: NDCG@10 on
    validation parts was .4294 instead of .4355 on OHSUMED (40 seeds), .4980 instead of .4979 on
    MQ2008 (20). Chosen on halves as above, it was .4386 instead of .4390, and .5067 instead of
    .5045.

    References
    ----------
    LightGBM 4.7, src/objective/rank_objective.hpp.
    """

    name = "lambdamart"
    families = ("listwise", "boosting", "trees")
    title = "Trees boosted on forces between documents, scaled by the NDCG of a swap"
    paper = "Burges: From RankNet to LambdaRank to LambdaMART: An Overview, MSR-TR-2010-82"
    formula = "lambda = 1/Z@L sigma(-(s_i - s_j)) (2^r_i - 2^r_j) |D(rank i) - D(rank j)|"
    order_matters = (
        "the forces jump where two documents change ranks, so that the rounding of sums, whose "
        "order is the documents', grows over the rounds"
    )

    truncation: int = number(30, least=0)
    normalised: bool = True

    def differentiated(self, train: QuerySet) -> Differentiated:
        require_comparable(train)
        discount = truncated_discount(train)
        L, cost = self.truncation or len(discount), train.lengths**2
        gain, inverse_Z = gains(train.labels, self.gain), inverse_ideal_dcg(train, L, self.gain)
        order = np.arange(train.n_docs)  # by falling score; a round sorts that of the last one
        queries = train.offsets, gain, discount, inverse_Z, order

        def forces(scores: np.ndarray) -> tuple[np.ndarray, float]:
            lost, derivatives = np.empty(train.n_queries), np.empty((2, train.n_docs))
            task = partial(_forces, *queries, L, self.normalised, scores, lost, *derivatives)
            parallel_for(task, train.n_queries, queries_a_thread(train, 1_000), cost)
            mean_lost = float(np.average(lost, weights=train.query_weights))
            return derivatives * train.document_weights, mean_lost

        return forces


def newton_by_pairs(
    s: np.ndarray, labels: np.ndarray, truncation: int = 0, normalised: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Return the gradient and the second derivatives (n_docs,) of one query, pair by pair."""
    n, gain = len(s), 2.0**labels - 1.0
    L = truncation or n
    D = 1.0 / np.log2(1.0 + np.arange(1, n + 1))
    i, j = np.nonzero(labels[:, None] > labels)
    chance, difference = mean_swaps(s, i, j, D, lambda x, y: np.minimum(x, y) < L)
    swap = (gain[i] - gain[j]) * chance * difference / (np.sort(gain)[::-1][:L] @ D[:L])
    if normalised and s.min() < s.max():
        swap = swap / (CLOSE + np.abs(s[i] - s[j]))
    rho = sigmoid(s[j] - s[i])
    S = 2.0 * float(swap @ rho)
    swap = swap * (np.log2(1.0 + S) / S if normalised and S > 0.0 else 1.0)
    force, bend = swap * rho, swap * rho * (1.0 - rho)
    gradient = np.bincount(j, force, n) - np.bincount(i, force, n)
    return gradient, np.bincount(i, bend, n) + np.bincount(j, bend, n)


@kernel()
def _forces(
    offsets: np.ndarray, gain: np.ndarray, discount: np.ndarray, inverse_Z: np.ndarray,
    order: np.ndarray, L: int, normalised: bool, scores: np.ndarray, lost: np.ndarray,
    slope: np.ndarray, bend: np.ndarray, first: int, last: int,
) -> None:  # fmt: skip
    """Do as `newton_by_pairs` for the queries first..last - 1; lost: 1 - NDCG@L, 0 if Z = 0."""
    size = longest_query(offsets, first, last)
    rows = np.empty((9, size))
    s, u, g, force, curve = rows[0], rows[1], rows[2], rows[3], rows[4]
    D, counts, top, apart = rows[5], rows[6], rows[7], rows[8]
    for q in range(first, last):
        begin, m = offsets[q], offsets[q + 1] - offsets[q]
        if inverse_Z[q] == 0.0:
            lost[q], slope[begin : begin + m], bend[begin : begin + m] = 0.0, 0.0, 0.0
            continue
        for place in range(m):  # sort by insertion: since the last round little has changed
            row, a = order[begin + place], place
            while a > 0 and s[a - 1] < scores[row]:
                s[a], order[begin + a] = s[a - 1], order[begin + a - 1]
                a -= 1
            s[a], order[begin + a] = scores[row], row
        for a in range(m):
            g[a] = gain[order[begin + a]]
        end = m - 1  # the gains from here on are equal
        while end > 0 and g[end - 1] == g[m - 1]:
            end -= 1
        near = exponentials(s, m, u) <= SPAN
        a, dcg = 0, 0.0
        while a < m:  # a..b - 1 have equal scores, and each of their ranks with equal chances
            b = a + 1
            while b < m and s[b] == s[a]:
                b += 1
            within = min(b - a, max(0, L - a))
            mean, chance = mean_of_ranks(discount, a, b - a), within / (b - a)
            first_L = mean_of_ranks(discount, a, within) * chance if within > 0 else 0.0
            difference = mean_difference(discount, a, b - a, within)
            for k in range(a, b):
                D[k], counts[k], top[k], apart[k] = mean, chance, first_L, difference
                dcg += g[k] * first_L
            a = b
        lost[q] = 1.0 - dcg * inverse_Z[q]
        force[:m], curve[:m] = 0.0, 0.0
        least, slant = (CLOSE, 1.0) if normalised and s[0] > s[m - 1] else (1.0, 0.0)
        total = 0.0
        for a in range(end):
            if counts[a] == 0.0:  # neither a nor one behind it is among the first L
                break
            force_a, bend_a, total_a = _add_pairs(
                a, m, near, least, slant, s, u, g, D, counts[a], top[a], apart[a], force, curve
            )
            force[a] += force_a
            curve[a] += bend_a
            total += total_a
        factor, S = inverse_Z[q], 2.0 * total * inverse_Z[q]
        if normalised and S > 0.0:
            factor *= np.log2(1.0 + S) / S
        for a in range(m):
            slope[order[begin + a]] = -force[a] * factor
            bend[order[begin + a]] = curve[a] * factor


# counts_a: the chance that the rank of a is among the first L; top_a: the mean of D over its ranks,
# D being 0 after L; apart_a: the mean difference of D at two of its ranks, one among the first L.
# A pair is weighted by 1 / (least + slant d), d = s_a - s_b.
@kernel(reorder=True)
def _add_pairs(
    a: int, m: int, near: bool, least: float, slant: float, s: np.ndarray, u: np.ndarray,
    g: np.ndarray, D: np.ndarray, counts_a: float, top_a: float, apart_a: float,
    force: np.ndarray, curve: np.ndarray,
) -> tuple[float, float, float]:  # fmt: skip
    """Add the pairs of a with a + 1..m - 1; return the sums for a, and that of forces' sizes."""
    s_a, u_a, g_a, force_a, bend_a, total = s[a], u[a], g[a], 0.0, 0.0, 0.0
    after = slice(a + 1, m)  # from 0: can be vectorised
    s, u, g, D, force, curve = s[after], u[after], g[after], D[after], force[after], curve[after]
    for b in range(len(s)):
        difference = g_a - g[b]
        swap = difference * (apart_a if s[b] == s_a else top_a - counts_a * D[b])
        y = least + slant * (s_a - s[b])
        if near:
            x = u_a + u[b]
            r = 1.0 / (x * y)  # one division for 1/x = y r and 1/y = x r
            right, wrong, swap = u_a * y * r, u[b] * y * r, swap * x * r
        else:
            wrong = 1.0 / (1.0 + np.exp(s_a - s[b]))
            right, swap = 1.0 - wrong, swap / y
        pull = swap * (wrong if difference > 0.0 else right)
        turn = abs(swap) * right * wrong
        force_a += pull
        bend_a += turn
        total += abs(pull)
        force[b] -= pull
        curve[b] += turn
    return force_a, bend_a, total
