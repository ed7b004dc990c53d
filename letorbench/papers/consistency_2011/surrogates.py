"""Surrogates of NDCG: is a loss consistent, is it convex, what is its regret?

P. Ravikumar, A. Tewari, E. Yang, "On NDCG Consistency of Listwise Ranking Methods", AISTATS 2011.
For a distribution eta over labellings of a query's documents the order of u = E[G / Z] is optimal
(lemma 4). A loss is NDCG consistent if for every eta the minimiser of its expectation orders the
documents like u (theorem 6). An eta for which it does not is a counterexample; that a search finds
none proves nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from letorbench.conventions import standard_discount
from letorbench.losses.base import Loss
from letorbench.losses.gains import normalized_gains
from letorbench.papers.problems import LABELS, labelled

#: scores are looked for in [-BOX, BOX]: some losses fall without end
BOX = 20.0
#: the least difference of u, and of scores as a fraction of their range, that orders two documents
APART = 1e-3
#: the starts from which a loss's expectation is minimised
STARTS = 3


@dataclass(frozen=True, eq=False)
class Eta:
    """A distribution over labellings (k, m) of m documents, with probabilities (k,)."""

    labels: np.ndarray
    probabilities: np.ndarray

    def expected_gains(self) -> np.ndarray:
        """(m,) u = E[G / Z]."""
        k, m = self.labels.shape
        return self.probabilities @ normalized_gains(labelled(self.labels)).reshape(k, m)


def draw_eta(rng: np.random.Generator, documents: int, labellings: int = 2) -> Eta:
    """Random labellings, each with a relevant document, and random probabilities."""
    labels = rng.integers(0, LABELS + 1, (labellings, documents))
    rows = np.arange(labellings)
    labels[rows, rng.integers(documents, size=labellings)] = rng.integers(1, LABELS + 1, labellings)
    return Eta(labels, rng.dirichlet(np.ones(labellings)))


def regret(scores: np.ndarray, expected_gains: np.ndarray) -> float:
    """The expected NDCG lost by sorting by scores (m,) instead of by u (m,)."""
    discount = standard_discount(np.arange(1, len(scores) + 1))
    order = np.argsort(-scores, kind="stable")
    return float((np.sort(expected_gains)[::-1] - expected_gains[order]) @ discount)


class _Problems:
    """Distributions side by side: a query for each labelling, a block of scores for each."""

    def __init__(self, loss: Loss, etas: Sequence[Eta]) -> None:
        self.loss = loss
        sizes = [eta.labels.shape for eta in etas]
        self.bounds = np.cumsum([0, *(m for _, m in sizes)])
        self.queries = labelled(*(eta.labels for eta in etas))
        self.probabilities = np.concatenate([eta.probabilities for eta in etas])
        self.weights = np.repeat(self.probabilities, self.queries.lengths)
        self.eta_of = np.repeat(np.arange(len(etas)), [k for k, _ in sizes])
        self.rows = np.concatenate(
            [np.tile(np.arange(a, a + m), k) for a, (k, m) in zip(self.bounds, sizes)]
        )

    def expectations(self, scores: np.ndarray) -> np.ndarray:
        """(n_etas,) of the expected loss at the scores of all."""
        value = self.probabilities * self.loss(scores[self.rows], self.queries)[0]
        return np.bincount(self.eta_of, value, len(self.bounds) - 1)

    def __call__(self, scores: np.ndarray) -> tuple[float, np.ndarray]:
        """The sum of all expectations, and its gradient."""
        value, gradient = self.loss(scores[self.rows], self.queries)
        slope = np.bincount(self.rows, self.weights * gradient, len(scores))
        return float(self.probabilities @ value), slope


def minimisers(
    loss: Loss, etas: Sequence[Eta], rng: np.random.Generator
) -> tuple[list[np.ndarray], np.ndarray]:
    """Scores (m,) that minimise each expected loss, and the minima: the best of a few starts."""
    from scipy.optimize import minimize

    problems = _Problems(loss, etas)
    total = problems.bounds[-1]
    best, least = np.zeros(total), np.full(len(etas), np.inf)
    block = np.repeat(np.arange(len(etas)), np.diff(problems.bounds))
    for _ in range(STARTS):
        minimum = minimize(
            problems, rng.normal(0.0, 1.0, total), jac=True, method="L-BFGS-B",
            bounds=[(-BOX, BOX)] * total,
            options={"gtol": 1e-9, "ftol": 1e-16, "maxiter": 400, "maxfun": 600},
        )  # fmt: skip
        values = problems.expectations(minimum.x)
        better = values < least
        best = np.where(better[block], minimum.x, best)
        least = np.minimum(least, values)
    return np.split(best, problems.bounds[1:-1]), least


def misordered(scores: np.ndarray, expected_gains: np.ndarray) -> bool:
    """Whether scores clearly reverse two documents that u orders."""
    width = max(float(np.ptp(scores)), 1e-12)
    u = expected_gains[:, None] - expected_gains
    s = (scores[:, None] - scores) / width
    return bool(((u > APART) & (s < -APART)).any())


def counterexamples(loss: Loss, rng: np.random.Generator, trials: int) -> tuple[float, float]:
    """The fraction of counterexamples among random distributions, and their largest regret."""
    etas = [draw_eta(rng, 2 + trial % 3) for trial in range(trials)]
    lost = []
    for eta, scores in zip(etas, minimisers(loss, etas, rng)[0]):
        u = eta.expected_gains()
        if misordered(scores, u):
            # the search over all may have ended before this minimum: search again for it alone
            ((scores,), _) = minimisers(loss, [eta], rng)
            if misordered(scores, u):
                lost.append(regret(scores, u))
    return len(lost) / trials, max(lost, default=0.0)


def affine_excess(loss: Loss, rng: np.random.Generator, trials: int = 200) -> float:
    """The largest relative deviation of phi(s, r) - phi(s', r) from an affine function of G / Z.

    For a Bregman divergence it is affine (theorem 8): sum c (phi(s, r) - phi(s', r)) is 0 for
    coefficients c with sum c = 0 and sum c G / Z = 0 over labellings.
    """
    worst, m, k = 0.0, 3, 6
    for _ in range(trials):
        each = labelled(draw_eta(rng, m, k).labels)
        shares = normalized_gains(each).reshape(k, m)
        _, _, rows = np.linalg.svd(np.column_stack([shares, np.ones(k)]).T)
        c = rows[m + 1 :]
        s, other = rng.normal(size=(2, m))
        d = loss(np.tile(s, k), each)[0] - loss(np.tile(other, k), each)[0]
        worst = max(worst, float(np.abs(c @ d).max() / np.abs(d).max()))
    return worst


def nonconvexity(loss: Loss, rng: np.random.Generator, queries: int = 20_000) -> float:
    """The largest relative excess of the loss at a midpoint over the mean of its ends."""
    m = 5
    labels = rng.integers(0, LABELS + 1, (queries, m))
    labels[:, 0] = np.maximum(labels[:, 0], 1)
    each = labelled(labels)
    spread = np.repeat(np.exp(rng.uniform(-3.0, 1.5, queries)), m)
    a = rng.normal(0.0, 2.0, queries * m)
    b = a + spread * rng.normal(0.0, 1.0, queries * m)
    at_a, at_b, at_mid = (loss(s, each)[0] for s in (a, b, (a + b) / 2.0))
    excess = at_mid - (at_a + at_b) / 2.0
    size = np.abs(at_a - at_b) + (np.abs(at_a) + np.abs(at_b)).mean() / 2.0
    return float(max(0.0, (excess / size).max()))


def dual_exponent(m: int) -> float:
    """q = log(m) + 2 of the q-norm of m scores."""
    return float(np.log(m) + 2.0)


#: surrogates with a strongly convex psi: m documents -> C_phi, and the exponent of the dual norm.
#: psi = |u|^2 has D = |u - v|^2. psi = ||u||_p^2 has D >= (p - 1) ||u - v||_p^2 for 1 < p <= 2.
#: Cross entropy's psi is not strongly convex: its D is KL, which is ||u - v||_1^2 / 2M at least for
#: u and v of mass M (Pinsker). Scaling v to the mass of u lowers KL and keeps v's order, and G / Z
#: has the mass log2(1 + m) at most, as every document's discount is 1 / log2(1 + m) at least.
STRONGLY_CONVEX: dict[str, Callable[[int], tuple[float, float]]] = {
    "least-squares-ndcg": lambda m: (1.0, 2.0),
    "cross-entropy-ndcg": lambda m: (0.5 / float(np.log2(1.0 + m)), np.inf),
    "qnorm-penalised": lambda m: (1.0 / (dual_exponent(m) - 1.0), dual_exponent(m)),
}


def theorem_10(name: str, m: int) -> float:
    """C_F / sqrt(C_phi): the regret is at most this times the root of the excess."""
    C_phi, dual = STRONGLY_CONVEX[name](m)
    C_F = 2.0 * np.linalg.norm(standard_discount(np.arange(1, m + 1)), dual)
    return float(C_F / np.sqrt(C_phi))


def beyond_theorem_10(name: str, loss: Loss, rng: np.random.Generator, trials: int) -> float:
    """The largest excess of a regret over theorem 10's bound, for a name of `STRONGLY_CONVEX`."""
    etas = [draw_eta(rng, 2 + trial % 3) for trial in range(trials)]
    problems = _Problems(loss, etas)
    scores, least = minimisers(loss, etas, rng)
    gains = [eta.expected_gains() for eta in etas]
    constant = np.array([theorem_10(name, len(u)) for u in gains])
    width = np.concatenate([np.full(len(s), max(float(np.ptp(s)), 0.1)) for s in scores])
    worst = -np.inf
    for distance in (0.0, 0.01, 0.03, 0.1, 0.3, 1.0):
        moved = np.concatenate(scores) + distance * width * rng.normal(0.0, 1.0, len(width))
        excess = np.maximum(problems.expectations(moved) - least, 0.0)
        parts = np.split(moved, problems.bounds[1:-1])
        lost = np.array([regret(each, u) for each, u in zip(parts, gains)])
        worst = max(worst, float((lost - constant * np.sqrt(excess)).max()))
    return worst


def theorem_11(
    least_squares: Loss, rng: np.random.Generator, mixtures: int = 200
) -> tuple[float, float]:
    """The largest excess over equation (5)'s margin, and over theorem 11's bound."""
    short, over = 0.0, -np.inf
    for _ in range(mixtures):  # of four queries of equal probability
        m = int(rng.integers(2, 5))
        etas = [draw_eta(rng, m) for _ in range(4)]
        # the squares are least at the expected gains, whose order is the best
        gains = [eta.expected_gains() for eta in etas]
        # gamma of equation (5): the least NDCG that two neighbours in the wrong order lose
        falls = -np.diff(np.sort(gains)[:, ::-1])
        gamma = (falls * -np.diff(standard_discount(np.arange(1, m + 1)))).min(axis=1)
        if gamma.min() < 1e-9:
            continue
        problems, scores = _Problems(least_squares, etas), np.concatenate(gains)
        least = problems.expectations(scores)
        moved = scores + np.exp(rng.uniform(-5.0, 1.0)) * rng.normal(0.0, 1.0, 4 * m)
        excess = float(np.maximum(problems.expectations(moved) - least, 0.0).mean())
        lost = np.array([regret(s, u) for s, u in zip(moved.reshape(4, m), gains)])
        wrong = lost > 1e-12
        short = max(short, float((gamma[wrong] - lost[wrong]).max(initial=0.0)))
        for alpha in (0.5, 1.0, 2.0):
            power, C_gamma = (alpha + 1.0) / (alpha + 2.0), float((gamma**-alpha).mean())
            constant = theorem_10("least-squares-ndcg", m)
            bound = (constant**2 * excess) ** power * C_gamma ** (1.0 / (alpha + 2.0))
            over = max(over, float(lost.mean()) - bound)
    return short, over
