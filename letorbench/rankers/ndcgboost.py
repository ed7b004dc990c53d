"""NDCG Boost: boosting an upper bound on one minus the expected NDCG.

The class comes first, then the paper's equations in plain NumPy, then the booster, whose compiled
kernels compute the same numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np

from letorbench.compiled.arithmetic import sigmoid as sigma
from letorbench.compiled.jit import kernel, longest_query
from letorbench.compiled.threads import parallel_for
from letorbench.conventions import gains as gains_of
from letorbench.conventions import standard_discount
from letorbench.datasets.queryset import LabelBlocks
from letorbench.errors import UsageError
from letorbench.losses.base import require_comparable
from letorbench.losses.gains import (
    VECTOR,
    GainSettings,
    far_queries,
    gather_exponentials,
    inverse_or_zero,
    over_blocks,
    padded,
    places,
    query_sums,
    scatter,
    truncated_discount,
)
from letorbench.parameters import number, one_of
from letorbench.rankers.base import FitResult, Generator, QuerySet, Ranker, Validation
from letorbench.rankers.tuning import Between
from letorbench.solvers.boosting import LONGEST_STEP, Term, boost, stump_term
from letorbench.solvers.stump_search import BestTree, Search, stump_search
from letorbench.solvers.tree_growing import Grower
from letorbench.solvers.tree_splitting import MOST_BINS, TreeFeatures, TreeParams

#: the number of pairs, those of a document with itself included, that is worth a thread
PAIRS = 1_000_000
#: the default `sample` of "once" and "average", by validation parts (docs/papers/ndcgboost-2009.md)
HALF = 0.5
#: a weight below this fraction of the largest is rounding
NO_WEIGHT = 1e-12
#: the criteria, and those of `TreeParams`: with g = -w and h = |w|, G^2 / H is H less its Gini
#: impurity 2 p n / H of the weights p and n of both classes
CRITERIA = {"misclassification": "misclassification", "gini": "newton", "entropy": "entropy"}


@dataclass
class NDCGBoost(GainSettings, Ranker):
    """NDCG Boost of Valizadegan, Jin, Zhang and Mao.

    It minimises M (equation 11) over an additive F of binary classifiers f (Algorithm 1). Each f is
    a decision stump for the classes sign(w) and the weights abs(w) of (16). It has the step of
    Theorem 1 (15), which minimises the bound of Proposition 2, so M never rises.

    Parameters
    ----------
    rounds : int, default 100
        The number of terms of F. The paper has 100 and no validation set.
    stumps : str, default "exact"
        "exact" fits the stump to all documents with their weights. The paper fits it to documents
        drawn with probability proportional to abs(w); it does not say how they are drawn. "sample"
        can draw a document several times, "once" draws each at most once. "average" draws nothing:
        it fits the stump to the mean of many such samples, where each document counts by its chance
        of being drawn, min(1, c abs(w)). A tree is grown likewise.
    sample : float, optional
        The number of drawn documents, as a multiple of the effective number of documents, (sum
        abs(w))^2 / sum w^2. By default "sample" draws as many as there are documents, "once" and
        "average" half the effective number. The paper does not give the number.
    bins : int, optional
        Try at most this many thresholds for each feature instead of every threshold.
    truncation : int, default 0
        Z is the ideal DCG of this many first ranks; 0 is the whole list.
    weak : {"stump", "tree"}
        The binary classifiers.
    depth : int
        tree: the most splits between the root and a leaf, 1 to 10.
    criterion : {"misclassification", "gini", "entropy"}, default "gini"
        What a split makes least, of documents with weights abs(w) and classes sign(w). A stump of
        least "misclassification" has the largest eta (17). Those by "gini" and "entropy" have two
        leaves of different classes.

    Notes
    -----
    `letorbench run` chooses `stumps` on the validation part. `--protocol published` is the paper's
    algorithm by its words: as many documents as there are, drawn with replacement, and a decision
    stump fitted to them.

    The paper does not say which stump that is. Tree packages, MATLAB's included, fit the split of
    least impurity, by default Gini's. The goal eta (17) suggests the stump of the largest eta. Gini
    is the default because validation prefers it on both sets: NDCG@10 of exact stumps is .4435
    against .4247 on OHSUMED, and .2310 against .2294 on MQ2008.

    Where the paper is silent: Z is the ideal DCG of the whole list under equation (1)'s discount
    (see `truncation`); queries with Z = 0 weigh nothing; a negative alpha, which a sampled stump
    can have, is replaced by the opposite stump with -alpha, which is the same step; a tree's
    thresholds are between at most 255 bins; alpha is cut off at 5 where the second sum of (15)
    vanishes; training stops if no stump separates the classes. The objective is reported without
    the factor 1/n of (11).
    """

    name = "ndcgboost"
    families = ("listwise", "boosting")
    title = "NDCG Boost: decision stumps boosted on a bound of the expected NDCG"
    figure = "boosting"
    paper = "Valizadegan, Jin, Zhang, Mao: Learning to Rank by Optimizing NDCG Measure, NIPS 2009"
    auto_features = "raw"  # stumps only compare a feature's values
    takes_missing = property(lambda self: self.weak == "tree")
    grid = {"stumps": ("average", "exact")}
    as_published = {"stumps": "sample"}
    ranges = {
        "rounds": Between(20, 500, log=True), "stumps": ("average", "exact"),
        "sample": Between(0.1, 1.0, log=True, beside=("stumps", "average")),
        "weak": ("stump", "tree"), "depth": Between(2, 5, beside=("weak", "tree")),
    }  # fmt: skip
    formula = "M = sum_q 1/Z_q sum_i (2^r_i - 1) sum_{j != i} 1/(1 + exp(F_i - F_j))"

    rounds: int = number(100, least=1)
    stumps: str = one_of(("exact", "sample", "once", "average"), "exact")
    sample: float | None = number(None, above=0, most=10)
    bins: int | None = number(None, least=2, most=256)
    truncation: int = number(0, least=0)
    weak: str = one_of(("stump", "tree"), "stump")
    depth: int = number(3, least=1, most=10)
    criterion: str = one_of(CRITERIA, "gini")

    @property
    def draws(self) -> bool:
        return self.stumps in ("sample", "once")

    def learn(self, train: QuerySet, validation: Validation | None, rng: Generator) -> FitResult:
        if self.sample is not None and self.stumps == "exact":
            raise UsageError(
                f"found sample={self.sample} with stumps=exact, expected it with stumps=sample, "
                "stumps=once or stumps=average"
            )
        booster = self.booster(train, rng)
        return boost(booster, train, self.rounds, None, deadline=self.deadline)

    def booster(self, train: QuerySet, rng: Generator) -> BoundBooster:
        """Return Algorithm 1 on a training set."""
        trees = self.weak == "tree"
        search: Search
        if trees:
            params = TreeParams(
                2**self.depth, self.depth, least_docs=1, least_hessian=0.0,
                criterion=CRITERIA[self.criterion],
            )  # fmt: skip
            grower = Grower(TreeFeatures.of(train.features, self.bins or MOST_BINS - 1), params)
            search = partial(best_tree, grower)
        else:
            search = stump_search(train.features, self.bins, self.criterion)
        if self.stumps != "exact":
            search = partial(best_of_sample, search, self.stumps, self.sample, rng)
        return BoundBooster(train, search, self.truncation, self.gain, trees)


# The paper's equations, pair by pair. F: scores (n_docs,) float64; r: labels; f: 0 or 1; Z is of
# the first k ranks, of all if k is 0; the gain is 2^r - 1 or another one.


def objective(F: np.ndarray, queries: QuerySet, k: int = 0, gain: str = "exp2") -> float:
    """Return M of equation (11), without its factor 1/n."""
    M = 0.0
    for rows, G, Z in _judged(queries, k, gain):
        wrong = sigma(F[rows] - F[rows, None])  # [i, j] = 1 / (1 + exp(F_i - F_j))
        np.fill_diagonal(wrong, 0.0)
        M += float((G[:, None] * wrong).sum() / Z)
    return M


def weights(F: np.ndarray, queries: QuerySet, k: int = 0, gain: str = "exp2") -> np.ndarray:
    """Return w of equation (16), (n_docs,): w_i = sum_j (2^r_i - 2^r_j) / Z theta_ij."""
    w = np.zeros(len(F))
    for rows, G, Z in _judged(queries, k, gain):
        w[rows] = ((G[:, None] - G) / Z * theta(F[rows])).sum(axis=1)
    return w


def step_sums(
    F: np.ndarray, f: np.ndarray, queries: QuerySet, k: int = 0, gain: str = "exp2"
) -> tuple[float, float]:
    """Return the two sums of equation (15): where f_j < f_i, and where f_j > f_i."""
    up = down = 0.0
    for rows, G, Z in _judged(queries, k, gain):
        weight = G[:, None] / Z * theta(F[rows])
        f_i, f_j = f[rows, None].astype(int), f[rows].astype(int)
        up += float(weight[f_j < f_i].sum())
        down += float(weight[f_j > f_i].sum())
    return up, down


def step(up: float, down: float) -> float:
    """Return alpha of equation (15), half the logarithm of the ratio of its sums, from -5 to 5."""
    if up == 0.0 or down == 0.0:
        return LONGEST_STEP * float(np.sign(up - down))
    return float(np.clip(0.5 * math.log(up / down), -LONGEST_STEP, LONGEST_STEP))


def theta(F: np.ndarray) -> np.ndarray:
    """Return theta_ij = exp(F_i - F_j) / (1 + exp(F_i - F_j))^2 of one query's documents."""
    d = F[:, None] - F
    return sigma(d) * sigma(-d)


def _judged(queries: QuerySet, k: int, gain: str) -> Iterator[tuple[slice, np.ndarray, float]]:
    """Yield the rows, the gains and Z / weight of each query with gains and a weight above 0."""
    each_G, weight = gains_of(queries.labels, gain), queries.query_weights
    for q, (begin, end) in enumerate(pairwise(queries.offsets)):
        G = each_G[begin:end]
        if G.any() and weight[q] > 0.0:
            best = np.sort(G)[::-1][: k or None]
            Z = best @ standard_discount(np.arange(1, len(best) + 1))
            yield slice(begin, end), G, Z / weight[q]


def best_tree(grower: Grower, w: np.ndarray) -> BestTree | None:
    """Grow a tree whose leaves have the classes of their weights: a `Search`."""
    tree = grower.grow(-w, np.abs(w))
    f = grower.predict(tree) > 0.0
    eta = float(w[f].sum())
    tree = tree._replace(value=(tree.value > 0.0).astype(np.float64))
    return (tree, f, eta) if eta > 0.0 and len(tree.left) > 1 else None


def best_of_sample(
    search: Search, how: str, size: float | None, rng: Generator, w: np.ndarray
) -> BestTree | None:
    """Find the best classifier of documents drawn with probability ~ abs(w): a `Search`."""
    # Each draw or each document takes one random number, whatever the weights are: a weight that is
    # zero but for rounding must not move the draws of others, and it has no vote.
    a = np.abs(w)
    total = a.sum()
    if total == 0.0:
        return None
    effective = total**2 / (a * a).sum()  # not by BLAS, whose sums have no fixed order
    if how == "sample":
        n = len(w) if size is None else max(1, round(size * effective))
        drawn = rng.choice(len(w), n, p=a / total)
        return search(np.bincount(drawn, minlength=len(w)) * np.sign(w))
    (rows,) = np.nonzero(a > NO_WEIGHT * a.max())
    n = min(max(1, round((size or HALF) * effective)), len(rows))
    votes = np.zeros(len(w))
    if how == "once":
        # the n earliest of exponential times with rates a: P. Efraimidis, P. Spirakis, Weighted
        # random sampling with a reservoir, Information Processing Letters 97, 2006
        times = rng.exponential(size=len(w))[rows] / a[rows]
        rows = rows[np.argpartition(times, n - 1)[:n]]
        votes[rows] = np.sign(w[rows])
    else:
        votes[rows] = np.sign(w[rows]) * chances(a[rows], n)
    return search(votes)


def chances(a: np.ndarray, n: int) -> np.ndarray:
    """Return min(1, c a) for weights a > 0, (n_docs,), with the c that makes their sum n."""
    falling = np.sort(a)[::-1]
    rest = np.cumsum(falling[::-1])[::-1]
    sure = np.arange(n)  # the number of documents with the chance 1
    c = (n - sure) / rest[:n]
    return np.minimum(1.0, c[np.argmax(c * falling[:n] <= 1.0 + 1e-12)] * a)


class BoundBooster:
    """Lines 3 to 7 of Algorithm 1 on one training set."""

    def __init__(
        self, train: QuerySet, search: Search, truncation: int, gain: str = "exp2",
        trees: bool = False,
    ) -> None:  # fmt: skip
        require_comparable(train)
        self.train, self.search, self.norm = train, search, (truncation, gain)
        self.to_term = Term if trees else stump_term
        self.blocks = train.by_label
        self.gains = np.repeat(gains_of(self.blocks.labels, gain), np.diff(self.blocks.starts))
        discount = truncated_discount(train, truncation)[places(train) - 1]
        #: 1 / Z times the query's weight
        self.inverse_Z = inverse_or_zero(query_sums(self.gains * discount, train))
        self.inverse_Z *= train.query_weights
        self.cost = train.lengths**2
        self.least = 1 + PAIRS * train.n_queries // max(1, int(self.cost.sum()))

    def weigh(self, scores: np.ndarray) -> tuple[np.ndarray, float]:
        """Return w of equation (16) and M of equation (11)."""
        w, M = np.empty(len(scores)), np.empty(len(self.inverse_Z))
        task = partial(_weights, scores, self.blocks, self.gains, self.inverse_Z, w, M)
        parallel_for(task, len(M), self.least, self.cost)
        for q, rows, query in far_queries(M, self.train):
            w[rows] = weights(scores[rows], query, *self.norm)
            M[q] = objective(scores[rows], query, *self.norm)
        return w, float(M.sum())

    def choose(self, scores: np.ndarray, weights: np.ndarray) -> Term | None:
        """Return the classifier that the search finds, with its alpha (15)."""
        best = self.search(weights)
        if best is None:
            return None
        classifier, f, _ = best
        sums = np.empty((len(self.inverse_Z), 2))
        task = partial(_step_sums, scores, f, self.blocks, self.gains, self.inverse_Z, sums)
        parallel_for(task, len(sums), self.least, self.cost)
        for q, rows, query in far_queries(sums[:, 0], self.train):
            sums[q] = step_sums(scores[rows], f[rows], query, *self.norm)
        alpha = step(*sums.sum(axis=0))
        return self.to_term(classifier, f, alpha) if alpha else None


# The kernels. With u = exp(F - max F), theta_ij = u_i u_j / (u_i + u_j)^2: one exponential a
# document and one division for two pairs, 1/x = y 1/(xy) and 1/y = x 1/(xy). This holds for scores
# that span at most SPAN. Documents are sorted by label, so the partners of document i are the
# documents behind its block. Rows of partners are padded with u = 0, whose terms are zero, to whole
# vectors.

#: u of a dummy that is paired with the last of an odd number of documents: its terms vanish beside
#: those of u >= exp(-SPAN), and the product of its sum and another's is a normal number
BEYOND = 1e100


@kernel()
def _weights(
    scores: np.ndarray, blocks: LabelBlocks, gains: np.ndarray, inverse_Z: np.ndarray,
    weight: np.ndarray, objective: np.ndarray, first: int, last: int,
) -> None:  # fmt: skip
    """Fill `weights`, in file order, and each query's part of `objective`, NaN beyond SPAN."""
    size = longest_query(blocks.offsets, first, last) + VECTOR
    u, w, g = np.empty(size + 1), np.empty(size + 1), np.empty(size + 1)
    for q in range(first, last):
        begin, end = blocks.offsets[q], blocks.offsets[q + 1]
        order = blocks.order[begin:end]
        if inverse_Z[q] == 0.0:
            for row in order:
                weight[row] = 0.0
            objective[q] = 0.0
            continue
        m = end - begin
        if not gather_exponentials(scores, order, u):
            objective[q] = np.nan
            continue
        u[size] = BEYOND
        w[:] = 0.0
        g[m:] = 0.0
        for i in range(m):
            g[i] = gains[begin + i]
        total = over_blocks(_add_block, blocks, q, (u, g, w))
        lowest = blocks.starts[blocks.queries[q + 1] - 1] - begin
        total += _same_label(g[lowest], m - lowest)
        scatter(w, order, inverse_Z[q], weight)
        objective[q] = total * inverse_Z[q]


@kernel()
def _same_label(gain: float, count: int) -> float:
    """Return the part of M of documents of one label: sigma(F_j - F_i) + sigma(F_i - F_j) = 1."""
    return gain * count * (count - 1) / 2.0


@kernel()
def _add_block(
    total: float, above: int, below: int, end: int, state: tuple[np.ndarray, np.ndarray, np.ndarray]
) -> float:
    """Add the pairs of above..below - 1 with each other and with below..end - 1 to w and M."""
    u, g, w = state
    total += _same_label(g[above], below - above)
    lower_gains = 0.0
    for j in range(below, end):
        lower_gains += g[j]
    total += lower_gains * (below - above)
    stop = below + padded(end - below)
    for i in range(above, below, 2):
        other = i + 1 if i + 1 < below else len(u) - 1
        total += _add_pairs(u, g, w, i, other, below, stop)
    return total


@kernel(reorder=True)
def _add_pairs(
    u: np.ndarray, g: np.ndarray, w: np.ndarray, a: int, b: int, start: int, stop: int
) -> float:
    """Add pairs of a and b to w; return the sum of (gain_i - gain_j) sigma(F_j - F_i)."""
    u_a, u_b, gain, w_a, w_b, inverted = u[a], u[b], g[a], 0.0, 0.0, 0.0
    u_j, g_j, w_j = u[start:stop], g[start:stop], w[start:stop]  # from 0: can be vectorised
    for j in range(len(u_j)):
        x, y = u_a + u_j[j], u_b + u_j[j]
        r = 1.0 / (x * y)
        r_a, r_b = y * r, x * r
        s = (gain - g_j[j]) * u_j[j]
        inverted += s * (r_a + r_b)
        pair_a, pair_b = s * r_a * r_a, s * r_b * r_b
        w_a += pair_a
        w_b += pair_b
        w_j[j] -= u_a * pair_a + u_b * pair_b
    w[a] += u_a * w_a
    w[b] += u_b * w_b
    return inverted


@kernel()
def _step_sums(
    scores: np.ndarray, f: np.ndarray, blocks: LabelBlocks, gains: np.ndarray,
    inverse_Z: np.ndarray, totals: np.ndarray, first: int, last: int,
) -> None:  # fmt: skip
    """Compute each query's part of the two sums of `step`; f is in file order."""
    size = longest_query(blocks.offsets, first, last) + VECTOR
    u = np.empty(size)
    side_u, side_g = np.empty((2, size)), np.empty((2, size))
    count, relevant = np.empty(2, np.int64), np.empty(2, np.int64)
    for q in range(first, last):
        totals[q, 0] = totals[q, 1] = 0.0
        if inverse_Z[q] == 0.0:
            continue
        begin, end = blocks.offsets[q], blocks.offsets[q + 1]
        order = blocks.order[begin:end]
        if not gather_exponentials(scores, order, u):
            totals[q, 0] = np.nan
            continue
        side_u[:] = 0.0
        count[:] = 0
        relevant[:] = 0
        for i in range(end - begin):  # relevant documents come first, so they also lead each side
            s = 1 if f[order[i]] else 0
            side_u[s, count[s]] = u[i]
            side_g[s, count[s]] = gains[begin + i]
            count[s] += 1
            relevant[s] += 1 if gains[begin + i] > 0.0 else 0
        for s in range(2):
            others = side_u[1 - s, : padded(count[1 - s])]
            weighted = 0.0
            for i in range(0, relevant[s], 2):
                k = min(i + 1, relevant[s] - 1)
                gain = side_g[s, k] if k > i else 0.0
                weighted += _sum_theta(side_u[s, i], side_g[s, i], side_u[s, k], gain, others)
            totals[q, 1 - s] = weighted * inverse_Z[q]


@kernel(reorder=True)
def _sum_theta(u_a: float, gain_a: float, u_b: float, gain_b: float, u: np.ndarray) -> float:
    """Sum gain times theta of two documents with others."""
    total, a, b = 0.0, gain_a * u_a, gain_b * u_b
    for j in range(len(u)):
        x, y = u_a + u[j], u_b + u[j]
        r = 1.0 / (x * y)
        r_a, r_b = y * r, x * r
        total += u[j] * (a * r_a * r_a + b * r_b * r_b)
    return total
