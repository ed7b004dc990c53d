"""Valizadegan, Jin, Zhang, Mao, "Learning to Rank by Optimizing NDCG Measure", NIPS 2009.

Each statement is checked on small random problems, by enumeration. Its violation is the most by
which the side that is claimed to be smaller exceeds the other, relative to their size; that of a
statement that holds is rounding.

The paper writes F for the score in equations (6) and (7) and for twice the score from (8) on.
Here F is twice the score throughout, so that (6) has F/2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import permutations

import numpy as np
from scipy.special import expit as sigma

from letorbench.papers import paper
from letorbench.papers.ndcgboost_2009 import trainings
from letorbench.papers.problems import LABELS
from letorbench.papers.runs import Context, Estimate, exactly

#: random problems of a statement, and how many of them are drawn at once
PROBLEMS, CHUNK = 100_000, 5_000
#: the documents of a problem, all orders of which are enumerated
DOCUMENTS = (2, 3, 4, 5)


@dataclass(frozen=True, eq=False)
class Problems:
    """Random problems of equally many documents.

    F: (n, m) twice the scores. G: (n, m) gains 2^r - 1. Z: (n,) ideal DCG, natural logarithm.
    f: (n, m) a binary classifier's output, not constant. alpha: (n,) a step above zero.
    """

    F: np.ndarray
    G: np.ndarray
    Z: np.ndarray
    f: np.ndarray
    alpha: np.ndarray

    @property
    def a(self) -> np.ndarray:
        """(n, m) G / Z."""
        return self.G / self.Z[:, None]

    @property
    def d(self) -> np.ndarray:
        """(n, m, m) F_i - F_j."""
        return self.F[:, :, None] - self.F[:, None, :]

    @property
    def theta(self) -> np.ndarray:
        """(n, m, m) theta_ij of equation (14), 0 on the diagonal."""
        return sigma(self.d) * sigma(-self.d) * (1.0 - np.eye(self.F.shape[1]))

    @property
    def w(self) -> np.ndarray:
        """(n, m) equation (16)."""
        a = self.a
        return ((a[:, :, None] - a[:, None, :]) * self.theta).sum(axis=2)

    def M(self, F: np.ndarray | None = None) -> np.ndarray:
        """(n,) equation (11) of one query, at other scores on request."""
        return (self.a * expected_inversions(self.F if F is None else F)).sum(axis=1)


def drawn(rng: np.random.Generator, n: int, m: int) -> Problems:
    """n problems with m documents; every one has a relevant document and a pair that f parts."""
    F = rng.normal(0.0, 1.0, (n, m)) * np.exp(rng.uniform(-2.0, 1.5, (n, 1)))
    labels = rng.integers(0, LABELS, (n, m))
    labels[np.arange(n), rng.integers(m, size=n)] += 1
    G = np.exp2(labels) - 1.0
    discount = 1.0 / np.log(1.0 + np.arange(1, m + 1))
    Z = np.sort(G, axis=1)[:, ::-1] @ discount
    f = rng.integers(0, 2, (n, m))
    f[:, 0] = np.where(f.min(axis=1) == f.max(axis=1), 1 - f[:, 1], f[:, 0])
    return Problems(F, G, Z, f.astype(float), np.exp(rng.uniform(-4.0, 1.0, n)))


def expected_inversions(F: np.ndarray) -> np.ndarray:
    """(n, m) A of equation (10): sum over j != i of 1 / (1 + exp(F_i - F_j))."""
    return sigma(F[:, None, :] - F[:, :, None]).sum(axis=2) - 0.5


def order_probabilities(F: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Ranks (m!, m) of all orders, and their probabilities (n, m!) by equation (6)."""
    m = F.shape[1]
    ranks = np.array(list(permutations(range(1, m + 1))), dtype=float)
    weight = (m - 2.0 * ranks + 1.0) @ (F / 2.0).T
    weight = np.exp(weight - weight.max(axis=0))
    return ranks, (weight / weight.sum(axis=0)).T


def equation_6(p: Problems) -> np.ndarray:
    """(n,) difference of its two forms: the pairs' sum and the documents' sum."""
    ranks, _ = order_probabilities(p.F)
    s = p.F / 2.0
    before = (ranks[:, :, None] < ranks[:, None, :]).astype(float)
    pairs = np.einsum("pij,nij->np", before, s[:, :, None] - s[:, None, :])
    whole = ((p.F.shape[1] - 2.0 * ranks + 1.0) @ s.T).T
    return np.abs(pairs - whole).max(axis=1) / (1.0 + np.abs(whole).max(axis=1))


def lemma_1(p: Problems) -> np.ndarray:
    """(n,) H - L: the bound by the expected rank over the expected NDCG, equations (2), (3)."""
    ranks, probability = order_probabilities(p.F)
    L = (p.a * (probability @ (1.0 / np.log(1.0 + ranks)))).sum(axis=1)
    H = (p.a / np.log(1.0 + probability @ ranks)).sum(axis=1)
    return H - L


def lemma_2(p: Problems) -> np.ndarray:
    """(n,) Pr(i behind j) - 1 / (1 + exp(F_i - F_j)) over the pairs with F_i > F_j."""
    ranks, probability = order_probabilities(p.F)
    behind = (ranks[:, :, None] > ranks[:, None, :]).astype(float)
    chance = np.einsum("np,pij->nij", probability, behind)
    return np.where(p.d > 0.0, chance - sigma(-p.d), -np.inf).max(axis=(1, 2))


def proposition_1(p: Problems) -> np.ndarray:
    """(n,) the tangent at A = 0 over 1 / log(2 + A)."""
    A = expected_inversions(p.F)
    tangent = 1.0 / np.log(2.0) - A / (2.0 * np.log(2.0) ** 2)
    return (tangent - 1.0 / np.log(2.0 + A)).max(axis=1)


def pairs_bound(p: Problems, alpha: np.ndarray) -> np.ndarray:
    """(n, m, m) the right side of equation (13), 0 on the diagonal."""
    growth = np.exp(alpha[:, None, None] * (p.f[:, None, :] - p.f[:, :, None])) - 1.0
    return sigma(-p.d) * (1.0 - np.eye(p.F.shape[1])) + p.theta * growth


def bound(p: Problems, alpha: np.ndarray) -> np.ndarray:
    """(n,) what Proposition 2 bounds M by after a step of alpha (n,): (13) put into (11)."""
    return (p.a[:, :, None] * pairs_bound(p, alpha)).sum(axis=(1, 2))


def proposition_2(p: Problems) -> np.ndarray:
    """(n,) the new expected inversion over its bound, equation (13)."""
    moved = replace(p, F=p.F + p.alpha[:, None] * p.f)
    new = sigma(-moved.d) * (1.0 - np.eye(p.F.shape[1]))
    at_most = pairs_bound(p, p.alpha)
    return ((new - at_most) / (1.0 + np.abs(at_most))).max(axis=(1, 2))


def proposition_3(p: Problems) -> np.ndarray:
    """(n,) exp(alpha (x - y)) over its bound, for x, y in [0, 1], here of F."""
    x, y = sigma(p.F[:, 0]), sigma(p.F[:, 1])
    up, down = np.exp(3.0 * p.alpha), np.exp(-3.0 * p.alpha)
    bound = (up - 1.0) / 3.0 * (x - y) + (up + down + 1.0) / 3.0
    return (np.exp(p.alpha * (x - y)) - bound) / bound


def sums(p: Problems) -> tuple[np.ndarray, np.ndarray]:
    """The two sums of equation (15), (n,) each."""
    weight, f_i, f_j = p.a[:, :, None] * p.theta, p.f[:, :, None], p.f[:, None, :]
    return (weight * (f_j < f_i)).sum(axis=(1, 2)), (weight * (f_j > f_i)).sum(axis=(1, 2))


def best_alpha(p: Problems) -> np.ndarray:
    """(n,) alpha of equation (15), 0 where one of its sums is."""
    up, down = sums(p)
    both = (up > 0.0) & (down > 0.0)
    return 0.5 * np.log(np.where(both, up, 1.0) / np.where(both, down, 1.0))


def theorem_1(p: Problems) -> np.ndarray:
    """(n,) the bound of Proposition 2 at alpha of (15), over its least value around it."""
    alpha = best_alpha(p)
    around = [bound(p, alpha + h) for h in np.linspace(-1.0, 1.0, 21)]
    excess = (bound(p, alpha) - np.min(around, axis=0)) / bound(p, alpha)
    # without one of its sums (15) has no alpha: the bound falls for ever
    return np.where(np.min(sums(p), axis=0) > 0.0, excess, -np.inf)


def theorem_2(p: Problems, sign: float = -1.0) -> np.ndarray:
    """(n,) M after a step over its bound, equation (18); sign of its last term: +1 is printed."""
    up, down = np.exp(3.0 * p.alpha), np.exp(-3.0 * p.alpha)
    gamma = (up + down - 2.0) / 3.0 * (p.a[:, :, None] * p.theta).sum(axis=(1, 2))
    last = sign * (up - 1.0) / 3.0 * (p.f * p.w).sum(axis=1)
    before, after = p.M(), p.M(p.F + p.alpha[:, None] * p.f)
    return (after - (before + gamma + last)) / (before + gamma + np.abs(last))


def theorem_1_printed(p: Problems) -> np.ndarray:
    """(n,) M at the step of Theorem 1 over M's least value on a grid."""
    alpha = best_alpha(p)
    grid = [p.M(p.F + (alpha + h)[:, None] * p.f) for h in np.linspace(-2.0, 2.0, 21)]
    return (p.M(p.F + alpha[:, None] * p.f) - np.min(grid, axis=0)) / p.M()


def floor(p: Problems) -> np.ndarray:
    """(n,) what M cannot go below: a pair adds at least min(a_i, a_j) to it at any scores."""
    least = np.minimum(p.a[:, :, None], p.a[:, None, :])
    return (least * np.triu(np.ones(least.shape[1:]), 1)).sum(axis=(1, 2))


#: a name of the theory -> what computes its violation
STATEMENTS: dict[str, Callable[[Problems], np.ndarray]] = {
    "equation-6": equation_6,
    "lemma-1": lemma_1,
    "lemma-2": lemma_2,
    "proposition-1": proposition_1,
    "proposition-2": proposition_2,
    "proposition-3": proposition_3,
    "theorem-1": theorem_1,
    "theorem-1-printed": theorem_1_printed,
    "theorem-2": theorem_2,
    "theorem-2-printed": lambda p: theorem_2(p, 1.0),
    # M after the step of Theorem 1 over M before it
    "never-rises": lambda p: (p.M(p.F + best_alpha(p)[:, None] * p.f) - p.M()) / p.M(),
    "floor": lambda p: (floor(p) - p.M()) / p.M(),
}


def data(context: Context) -> dict[str, Estimate]:
    """Section 4.1: the counts of the data sets at hand."""
    numbers = {}
    for dataset in filter(context.has, paper(trainings.NAME).parts["figure-1"].data):
        test = [fold.test for fold in context.benchmark(dataset).folds]
        numbers[f"{dataset} queries"] = exactly(float(sum(part.n_queries for part in test)))
        numbers[f"{dataset} documents"] = exactly(float(sum(part.n_docs for part in test)))
        numbers[f"{dataset} features"] = exactly(float(test[0].n_features))
    return numbers


def theory(context: Context) -> dict[str, Estimate]:
    """Section 3: every statement on random problems, and the bounds through training."""
    numbers = {}
    for number, (name, violation) in enumerate(STATEMENTS.items()):
        context.say(f"{trainings.NAME}: {name}")
        rng, largest = np.random.default_rng([context.seed, number]), 0.0
        for i in range(PROBLEMS // CHUNK):
            problems = drawn(rng, CHUNK, DOCUMENTS[i % len(DOCUMENTS)])
            largest = max(largest, float(violation(problems).max()))
        numbers[name] = exactly(largest)
    rng = np.random.default_rng(context.seed)
    # the fraction of M at equal scores that no scores can take away
    p = drawn(rng, 1_000, 5)
    numbers["floor-share"] = exactly(float((floor(p) / p.M(np.zeros_like(p.F))).mean()))
    # equation (8)'s expected ranks, where (6)'s orders are exact
    p = drawn(rng, 1_000, 5)
    ranks, probability = order_probabilities(p.F)
    error = np.abs(1.0 + expected_inversions(p.F) - probability @ ranks).mean()
    note = f"equation (8) takes it as equal: its expected ranks are off by {error:.2f}"
    numbers["lemma-2"] = replace(numbers["lemma-2"], note=note)
    return numbers


PARTS = {
    "data": data,
    "theory": theory,
    "sampling": trainings.sampling,
    "single-changes": trainings.single_changes,
}
