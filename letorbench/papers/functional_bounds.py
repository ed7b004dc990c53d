"""The functionals paper's statements that need no data, checked on random small problems.

The appendix bounds the log loss of the Markov random field P(r) = prod psi(r_i, r_j) / Z (equation
14) by a sum over pairs (equation 17). Every labelling of a problem is enumerated. With P pairs,
the inequality of Hoelder (19) is taken with q = P for each, which meets sum 1/q = 1.
"""

from __future__ import annotations

from itertools import permutations

import numpy as np
from scipy.special import logsumexp

from letorbench.conventions import CONVENTIONS
from letorbench.losses.weighted_pairs import PairwiseLoss
from letorbench.measures import parse, query_metrics
from letorbench.papers import checks
from letorbench.papers.claims import Claim, exactly
from letorbench.papers.laboratory import LABELS, labelled
from letorbench.papers.paper import Findings
from letorbench.papers.records import write_table
from letorbench.papers.runs import Study

NAME = "functionals"
PART = "appendix"
#: random problems, and random queries of each length for the bounds of 1 - NDCG
PROBLEMS, QUERIES, LENGTHS = 3_000, 20_000, (2, 3, 4, 6)
#: the pairwise losses that section 2 calls upper bounds
BOUNDING = ("hinge", "exponential", "logistic")
ROUNDING = 1e-9


def _claim(name: str, text: str, how: str, value: float, sense: str) -> Claim:
    return Claim(
        NAME, name, PART, text, "none", "value", how, value, 0.0, sense, "theory",
        check=checks.number(name),
    )  # fmt: skip


_ENUMERATED = f"{PROBLEMS:,} random problems of 2 to 4 documents and labels, all enumerated"
CLAIMS = (
    _claim("hoelder", "equation 19: Z is at most the product of the pairs' norms",
           f"largest log excess, {_ENUMERATED}", ROUNDING, "at most"),
    _claim("powers", "equation 21: a sum of powers is at most the power of the sum",
           f"largest log excess, exponents 1 to 10, {_ENUMERATED}", ROUNDING, "at most"),
    _claim("upper-bound", "equation 17: the log loss is at most the pairs' sum and (N - 2) log |L|",
           f"largest excess over all labellings, {_ENUMERATED}", ROUNDING, "at most"),
    _claim("bound-not-tight", "equation 17 is a bound, not an equality",
           f"the least that the bound is above the log loss, {_ENUMERATED}, of 3 documents or "
           "more", 1e-3, "at least"),
    *(
        _claim(f"{name}-bounds-ndcg", f"section 2: the unweighted {name} loss bounds 1 - NDCG",
               f"largest 1 - NDCG less the loss, {len(LENGTHS) * QUERIES:,} random queries",
               ROUNDING, "at most")
        for name in BOUNDING
    ),
    _claim("reverse-differs", "section 3: the reverse model differs from Plackett-Luce",
           "largest difference of an order's two probabilities, 100 random queries of 3 documents",
           1e-3, "at least"),
)  # fmt: skip


def field_excesses(f: np.ndarray, levels: int, gamma: float) -> tuple[float, float, float, float]:
    """What a field's equations 19, 21 and 17 are exceeded by, and how far 17 is from equality.

    f: (N,) scores; levels: |L|; gamma: the field's scale.
    """
    N = len(f)
    i, j = np.triu_indices(N, 1)
    r = np.indices((levels,) * N).reshape(N, -1)
    log_psi = gamma * np.sign(r[i] - r[j]) * (f[i] - f[j])[:, None]
    own = np.sign(np.subtract.outer(np.arange(levels), np.arange(levels))).ravel()
    of_pair = gamma * own * (f[i] - f[j])[:, None]
    log_Z = logsumexp(log_psi.sum(axis=0))
    log_Z_pair = logsumexp(of_pair, axis=1)
    P = len(i)
    hoelder = log_Z - float((logsumexp(P * log_psi, axis=1) / P).sum())
    powers = max(
        float((logsumexp(q * of_pair, axis=1) - q * log_Z_pair).max()) for q in range(1, 11)
    )
    C = (N - 2) * np.log(levels)
    log_loss = log_Z - log_psi.sum(axis=0)
    bound = (log_Z_pair[:, None] - log_psi).sum(axis=0) + C
    return hoelder, powers, float((log_loss - bound).max()), float((bound - log_loss).min())


def fields(rng: np.random.Generator, problems: int) -> dict[str, float]:
    """The largest excesses over random fields, and the least distance from equality."""
    worst, nearest = np.full(3, -np.inf), np.inf
    for _ in range(problems):
        N, levels = rng.integers(2, 5, size=2)
        f = np.exp(rng.uniform(-2.0, 2.0)) * rng.normal(size=N)
        gamma = 2.0 / (N * (N - 1)) * np.exp(rng.uniform(-1.0, 1.0))
        *excesses, distance = field_excesses(f, int(levels), float(gamma))
        worst = np.maximum(worst, excesses)
        if N > 2:
            nearest = min(nearest, distance)
    named = dict(zip(("hoelder", "powers", "upper-bound"), worst.tolist()))
    return {**named, "bound-not-tight": nearest}


def beyond_loss(name: str, rng: np.random.Generator, queries: int) -> float:
    """The most by which 1 - NDCG exceeds a sum of pairwise losses on random queries."""
    worst = -np.inf
    for m in LENGTHS:
        labels = rng.integers(0, LABELS, (queries, m))
        labels[:, 0] = np.maximum(labels[:, 0], 1)
        drawn = labelled(labels)
        scores = np.repeat(np.exp(rng.uniform(-4.0, 2.0, queries)), m) * rng.normal(
            size=queries * m
        )
        measured = query_metrics(
            drawn.labels, scores, drawn.offsets, [parse("ndcg")], CONVENTIONS["standard"]
        )[:, 0]
        value, _ = PairwiseLoss(name)(scores, drawn)
        worst = max(worst, float((1.0 - measured - value).max()))
    return worst


def order_probability(f: np.ndarray, order: tuple[int, ...], reverse: bool = False) -> float:
    """Of an order, best first, by Plackett-Luce; or by elimination of the worst (equation 12)."""
    worth = np.exp(-f if reverse else f)
    left = list(order[::-1] if reverse else order)
    probability = 1.0
    while left:
        probability *= float(worth[left[0]] / worth[left].sum())
        left.pop(0)
    return probability


def reverse_difference(rng: np.random.Generator) -> float:
    """The largest difference of the two models' probabilities of an order."""
    return max(
        abs(order_probability(f, order) - order_probability(f, order, reverse=True))
        for f in rng.normal(size=(100, 3))
        for order in permutations(range(3))
    )


def appendix(study: Study) -> Findings:
    """The appendix's bound and the statements of sections 2 and 3 that can be enumerated."""
    rng = np.random.default_rng(study.seed)
    found = fields(rng, PROBLEMS)
    for name in BOUNDING:
        found[f"{name}-bounds-ndcg"] = beyond_loss(name, rng, QUERIES)
    found["reverse-differs"] = reverse_difference(rng)
    rows = [[claim.id, claim.text, f"{found[claim.id]:.3g}"] for claim in CLAIMS]
    files = write_table(
        study.folder(NAME) / PART, "Appendix, and sections 2 and 3",
        ["statement", "text", "measured"], rows,
    )  # fmt: skip
    numbers = {name: exactly(value) for name, value in found.items()}
    return Findings(tuple(claim.judge(numbers) for claim in CLAIMS), files)
