"""Ravikumar, Tewari, Yang, "On NDCG Consistency of Listwise Ranking Methods", AISTATS 2011.

The paper's theory as claims, which `surrogates` checks numerically.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import permutations

import numpy as np

from letorbench.conventions import standard_discount
from letorbench.datasets.queryset import QuerySet
from letorbench.losses import Loss, loss
from letorbench.losses.base import ValueAndGradient
from letorbench.losses.consistent import bregman
from letorbench.losses.gains import query_sums
from letorbench.papers.consistency_2011 import surrogates
from letorbench.papers.problems import labelled
from letorbench.papers.runs import Context, Estimate, exactly, kept

NAME = "consistency-2011"
#: section 3.2.1: two labellings of two documents and their probabilities
EXAMPLE = surrogates.Eta(np.array([[5, 4], [1, 3]]), np.array([0.3, 0.7]))
ORIGINAL = ("cosine", "least-squares", "cross-entropy")
CONSISTENT = ("cosine-ndcg", "least-squares-ndcg", "cross-entropy-ndcg", "qnorm", "qnorm-penalised")
#: those of them that have a unique minimiser
UNIQUE = ("least-squares-ndcg", "cross-entropy-ndcg", "qnorm-penalised")
DISTRIBUTIONS, FULL = 200, 2_000
#: further psi's for theorem 9, sums of h: their names, and the conjugate of h with its slope
PSI: dict[str, tuple[str, Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]]] = {
    "four-thirds": ("sum 3/4 |u|^(4/3)", lambda s: (s**4 / 4.0, s**3)),
    "cosh": ("sum u arsinh(u) - sqrt(1 + u^2)", lambda s: (np.cosh(s), np.sinh(s))),
}


def example(context: Context) -> dict[str, Estimate]:
    """Section 3.2.1's worked example."""
    gains, shares = ranked_by("least-squares", EXAMPLE), EXAMPLE.expected_gains()
    turned = np.sign((gains[0] - gains[1]) * (shares[0] - shares[1]))
    names = ("gain-first", "gain-second", "share-first", "share-second", "reversed")
    values = zip(names, (*gains, *shares, turned))
    return {name: exactly(float(value)) for name, value in values}


def Z(gains: np.ndarray) -> np.ndarray:
    """(n,) the ideal DCG of gains (n, m), whatever their sign."""
    discount = standard_discount(np.arange(1, gains.shape[1] + 1))
    return np.sort(np.abs(gains), axis=1)[:, ::-1] @ discount


def norm_excess(rng: np.random.Generator, pairs: int = 20_000) -> float:
    """The most by which Z breaks the triangle inequality or homogeneity, relative to Z."""
    worst = 0.0
    for m in (2, 3, 5):
        G, H = rng.exponential(size=(2, pairs // 3, m))
        a = rng.exponential(size=pairs // 3)
        both = Z(G) + Z(H)
        worst = max(worst, float(((Z(G + H) - both) / both).max()))
        worst = max(worst, float(np.abs(Z(a[:, None] * G) / (a * Z(G)) - 1.0).max()))
    return worst


def order_excess(eta: surrogates.Eta) -> float:
    """The largest expected NDCG of any order, less that of the order of E[G / Z]."""
    gains = np.exp2(eta.labels) - 1.0
    discount = standard_discount(np.arange(1, gains.shape[1] + 1))

    def expected(order: Sequence[int]) -> float:
        return float(eta.probabilities @ (gains[:, list(order)] @ discount / Z(gains)))

    by_share = np.argsort(-eta.expected_gains(), kind="stable").tolist()
    return max(map(expected, permutations(range(len(discount))))) - expected(by_share)


def ranked_by(name: str, eta: surrogates.Eta) -> np.ndarray:
    """(m,) the values by which the minimiser of an original surrogate ranks (section 3.2.2)."""
    gains = np.exp2(eta.labels) - 1.0
    if name == "cosine":
        gains = gains / np.linalg.norm(gains, axis=1, keepdims=True)
    if name == "cross-entropy":
        e = np.exp(eta.labels)
        gains = e / e.sum(axis=1, keepdims=True)
    return eta.probabilities @ gains


def _otherwise(
    name: str, etas: Sequence[surrogates.Eta], rng: np.random.Generator, printed: bool = False
) -> float:
    """The fraction of the distributions whose minimiser does not order as section 3.2.2 says."""
    scores, _ = surrogates.minimisers(loss(name), etas, rng)
    targets = [eta.expected_gains() if printed else ranked_by(name, eta) for eta in etas]
    wrong = [surrogates.misordered(s, target / target.max()) for s, target in zip(scores, targets)]
    return float(np.mean(wrong))


def flatness(surrogate: Loss, eta: surrogates.Eta, rng: np.random.Generator) -> float:
    """How much the expected loss rises from its minimiser s to 2 s, relative to its size."""
    ((scores,), (least,)) = surrogates.minimisers(surrogate, [eta], rng)
    queries = labelled(eta.labels)
    values = surrogate(np.tile(2.0 * scores, len(eta.probabilities)), queries)[0]
    return float(abs(eta.probabilities @ values - least) / max(abs(least), 1e-12))


def psi_loss(name: str) -> Loss:
    """Theorem 9's surrogate of one of `PSI`."""
    formula, conjugate = PSI[name]

    def summed(scores: np.ndarray, queries: QuerySet) -> ValueAndGradient:
        value, slope = conjugate(scores)
        return ValueAndGradient(query_sums(value, queries), slope)

    return bregman(f"psi-{name}", f"psi = {formula}", summed)


def theory(context: Context) -> dict[str, Estimate]:
    """Sections 3 to 5: counterexamples, convexity, and the bounds of the regret."""
    trials = FULL if context.full else DISTRIBUTIONS
    settings = {"trials": trials, "seed": context.seed}
    path, folder = context.folder(NAME) / "theory.json", "papers/consistency_2011"
    files = f"{folder}/__init__.py", f"{folder}/surrogates.py", "papers/problems.py"
    measured = kept(path, settings, partial(_measured, context, trials), *files)
    return {name: Estimate(**each) for name, each in measured.items()}


def _measured(context: Context, trials: int) -> dict[str, Estimate]:
    """The number of each claim, and further ones of each surrogate."""
    numbers: dict[str, Estimate] = {}
    for name in (*ORIGINAL, *CONSISTENT):
        context.say(f"{NAME}: {name}")
        surrogate, rng = loss(name), np.random.default_rng(context.seed)
        fraction, lost = surrogates.counterexamples(surrogate, rng, trials)
        note = f"{100 * fraction:.1f} % of {trials} distributions are counterexamples"
        numbers[f"lost-{name}"] = exactly(lost, note)
        # a larger fraction would have shown a counterexample in 95 % of cases
        unseen = f"none of {trials}: at most {100 * (1 - 0.05 ** (1 / trials)):.1f} % are, at 95 %"
        numbers[f"counterexamples-{name}"] = exactly(fraction, "" if fraction else unseen)
        numbers[f"nonconvexity-{name}"] = exactly(surrogates.nonconvexity(surrogate, rng))
        if name in surrogates.STRONGLY_CONVEX:
            beyond = surrogates.beyond_theorem_10(name, surrogate, rng, trials)
            numbers[f"theorem-10-{name}"] = exactly(beyond)
    rng = np.random.default_rng(context.seed)
    short, over = surrogates.theorem_11(loss("least-squares-ndcg"), rng)
    numbers["margin"], numbers["theorem-11"] = exactly(short), exactly(over)
    etas = [surrogates.draw_eta(rng, 2 + trial % 3) for trial in range(trials)]
    numbers["lemma-1"] = exactly(norm_excess(rng))
    numbers["lemma-4"] = exactly(max(order_excess(eta) for eta in etas))
    numbers["flatness-cosine-ndcg"] = exactly(flatness(loss("cosine-ndcg"), etas[0], rng))
    for name in (*UNIQUE, "least-squares"):
        numbers[f"affine-{name}"] = exactly(surrogates.affine_excess(loss(name), rng))
    for name in ORIGINAL:
        numbers[f"order-{name}"] = exactly(_otherwise(name, etas, rng))
    numbers["order-cosine-printed"] = exactly(_otherwise("cosine", etas, rng, printed=True))
    for name in PSI:
        psi = psi_loss(name)
        fraction = surrogates.counterexamples(psi, rng, trials)[0]
        numbers[f"theorem-9-{name}"] = exactly(max(fraction, surrogates.nonconvexity(psi, rng)))
    return numbers


PARTS = {"example": example, "theory": theory}
