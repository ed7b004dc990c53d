"""Every family of losses by its definition, one query in plain Python."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from math import exp, log, log1p, log2, prod
from statistics import mean
from typing import Any

#: the tests' sets have the labels 0 to 3: L = 4
LEVELS = 4

Query = tuple[list[float], list[int]]


def softplus(t: float) -> float:
    return max(t, 0.0) + log1p(exp(-abs(t)))


def sigmoid(t: float) -> float:
    return 1.0 / (1.0 + exp(min(-t, 700.0)))


def sign(a: float) -> int:
    return (a > 0) - (a < 0)


def log_sum_exp(values: list[float]) -> float:
    return max(values) + log(sum(exp(v - max(values)) for v in values))


def shares(r: list[int], k: int = 0) -> list[float]:
    """G / Z@k, 0 where nothing is relevant."""
    gains = [2.0**b - 1.0 for b in r]
    z = sum(g / log2(i + 2) for i, g in enumerate(sorted(gains, reverse=True)[: k or len(r)]))
    return [g / z if z > 0 else 0.0 for g in gains]


def best(r: list[int]) -> list[int]:
    return [i for i in range(len(r)) if r[i] == max(r) > 0]


def pairs(r: list[int]) -> list[tuple[int, int]]:
    return [(i, j) for i in range(len(r)) for j in range(len(r)) if r[i] > r[j]]


# --- ListNet


def log_placing(scores: list[float], places: tuple[int, ...]) -> float:
    """log of Plackett-Luce's probability that these documents come first, in this order."""
    left, total = list(range(len(scores))), 0.0
    for document in places:
        total += scores[document] - log_sum_exp([scores[i] for i in left])
        left.remove(document)
    return total


def listnet(s: list[float], r: list[int], k: int = 1) -> float:
    placings = permutations(range(len(s)), min(k, len(s)))
    return -sum(exp(log_placing(r, g)) * log_placing(s, g) for g in placings)


# --- the consistency paper


def norm(values: list[float], q: float = 2.0) -> float:
    largest = max(map(abs, values))
    return largest * sum((abs(v) / largest) ** q for v in values) ** (1 / q) if largest else 0.0


def direction(s: list[float], u: list[float], q: float = 2.0) -> float:
    """(s / |s|_q) . u, given as 0 at s = 0."""
    return sum(a * b for a, b in zip(s, u)) / (norm(s, q) or 1.0)


def cosine(s: list[float], r: list[int]) -> float:
    gains = [2.0**b - 1.0 for b in r]
    return 1.0 - direction(s, [g / (norm(gains) or 1.0) for g in gains])


def cross_entropy_ndcg(s: list[float], r: list[int], truncation: int) -> float:
    """KL(p || e^s) of positive vectors, e^s going on as its tangent beyond s = 30."""
    q = [exp(min(a, 30.0)) * (1.0 + a - min(a, 30.0)) for a in s]
    terms = zip(s, shares(r, truncation), q)
    return sum((b * (log(b) - a) if b else 0.0) - b + c for a, b, c in terms)


def exponent(s: list[float], p: float) -> float:
    return p / (p - 1.0) if p else log(len(s)) + 2.0


def penalised(s: list[float], r: list[int], truncation: int, p: float) -> float:
    inner = sum(a * b for a, b in zip(s, shares(r, truncation)))
    return norm(s, exponent(s, p)) ** 2 - 2.0 * inner


# --- the functionals paper


def in_label_order(r: list[int]) -> list[int]:
    """Documents by falling label, equal ones in file order."""
    return sorted(range(len(r)), key=lambda i: -r[i])


def at_place(r: list[int], i: int, value: Callable[[int], float], ties: str) -> float:
    """value(pi) of document i: its mean over the places of i's label, or by file order."""
    if ties == "file":
        return value(1 + in_label_order(r).index(i))
    first = 1 + sum(b > r[i] for b in r)
    return mean(value(pi) for pi in range(first, first + r.count(r[i])))


def eta(r: list[int], i: int, ties: str) -> float:
    return at_place(r, i, lambda pi: 1.0 / log2(1 + pi), ties)


def worth(label: int) -> float:
    return (2.0**label - 1.0) / 2.0 ** (LEVELS - 1)


#: Table 8: W of document i
W: dict[str, Callable[[list[int], int, str], float]] = {
    "1": lambda r, i, ties: 1.0,
    "r": lambda r, i, ties: r[i],
    "sqrt(r)": lambda r, i, ties: r[i] ** 0.5,
    "(2^r-1)/2^(L-1)": lambda r, i, ties: worth(r[i]),
    "1/pi": lambda r, i, ties: at_place(r, i, lambda pi: 1.0 / pi, ties),
    "1/log(1+pi)": eta,
}


def V(weight: str, r: list[int], i: int, j: int, ties: str) -> float:
    """Table 9: V of the pair i, j."""
    value = 1.0
    if weight.startswith("|ri-rj|"):
        value = abs(r[i] - r[j])
    if "Ri-Rj" in weight:
        value = abs(worth(r[i]) - worth(r[j]))
    if "ei-ej" in weight:
        value *= abs(eta(r, i, ties) - eta(r, j, ties))
    if weight.endswith("/m"):
        value /= len(r)
    if weight.endswith("/Z"):
        value *= sum(shares(r)) / (sum(2.0**b - 1.0 for b in r) or 1.0)
    return value


PHI: dict[str, Callable[[float], float]] = {
    "quadratic": lambda d: (1.0 - d) ** 2,
    "hinge": lambda d: max(0.0, 1.0 - d),
    "exponential": lambda d: exp(min(-d, 30.0)) * (1.0 - d - min(-d, 30.0)),
    "logistic": lambda d: softplus(-d),
}


def wpl(s: list[float], r: list[int], weight: str, ties: str) -> float:
    """-sum of W log(e^s / the sum of e^s of the documents that are not chosen before)."""
    order, total = in_label_order(r), 0.0
    for t, i in enumerate(order):
        left = order[t:] if ties == "file" else [j for j in order if r[j] <= r[i]]
        total += W[weight](r, i, ties) * (log_sum_exp([s[j] for j in left]) - s[i])
    return total


def rpl(s: list[float], r: list[int], weight: str, ties: str) -> float:
    order, total = in_label_order(r), 0.0
    for t, i in enumerate(order):
        left = order[: t + 1] if ties == "file" else [j for j in order if r[j] >= r[i]]
        total += W[weight](r, i, ties) * (log_sum_exp([-s[j] for j in left]) + s[i])
    return total


def gamma(r: list[int]) -> float:
    return 2.0 / (len(r) * (len(r) - 1)) if len(r) > 1 else 0.0


def wpll(s: list[float], r: list[int], weight: str, ties: str) -> float:
    """-sum of W log P(r_i | the other labels)."""
    total = 0.0
    for i in range(len(r)):
        h = [
            gamma(r) * sum(sign(label - r[j]) * (s[i] - s[j]) for j in range(len(r)) if j != i)
            for label in range(LEVELS)
        ]
        total += W[weight](r, i, ties) * (log_sum_exp(h) - h[r[i]])
    return total


def pair_bound(s: list[float], r: list[int], i: int, j: int) -> float:
    """-log (psi(r_i, r_j) / Z_ij)."""
    t = gamma(r) * (s[i] - s[j])
    both = [sign(a - b) * t for a in range(LEVELS) for b in range(LEVELS)]
    return log_sum_exp(both) - sign(r[i] - r[j]) * t


def smooth(s: list[float], r: list[int], measure: str) -> float:
    if not any(r):
        return 0.0
    others = [[j for j in range(len(s)) if j != i] for i in range(len(s))]
    pi = [1.0 + sum(sigmoid(s[j] - s[i]) for j in others[i]) for i in range(len(s))]
    if measure == "mrr":
        return 1.0 - mean(1.0 / pi[i] for i in best(r))
    if measure == "ndcg":
        return 1.0 - sum(u / log2(1.0 + place) for u, place in zip(shares(r), pi))
    R = [worth(b) for b in r]
    passed = [prod(1.0 - R[j] * sigmoid(s[j] - s[i]) for j in others[i]) for i in range(len(s))]
    return 1.0 - sum(R[i] / pi[i] * passed[i] for i in range(len(s)))


#: a family's value of one query, from its scores, labels and parameters
DEFINITIONS: dict[str, Callable[..., Any]] = {
    "logistic": lambda s, r: sum(softplus(-a if b >= 1 else a) for a, b in zip(s, r)),
    "mcl": lambda s, r: sum(log_sum_exp(s) - s[i] for i in best(r)) / max(1, len(best(r))),
    "ranknet": lambda s, r: sum(softplus(s[j] - s[i]) for i, j in pairs(r)),
    "listnet": listnet,
    "cosine": cosine,
    "least-squares": lambda s, r: sum((a - (2.0**b - 1.0)) ** 2 for a, b in zip(s, r)),
    "cross-entropy": lambda s, r: listnet(s, r) - listnet(r, r),
    "cosine-ndcg": lambda s, r, truncation: 1.0 - direction(s, shares(r, truncation)),
    "least-squares-ndcg": lambda s, r, truncation: sum(
        (a - b) ** 2 for a, b in zip(s, shares(r, truncation))
    ),
    "cross-entropy-ndcg": cross_entropy_ndcg,
    "qnorm": lambda s, r, truncation, p: -direction(s, shares(r, truncation), exponent(s, p)),
    "qnorm-penalised": penalised,
    "wpl": wpl,
    "rpl": rpl,
    "wpll": wpll,
    "pairwise": lambda s, r, phi, weight, ties: sum(
        V(weight, r, i, j, ties) * PHI[phi](s[i] - s[j]) for i, j in pairs(r)
    ),
    "wub": lambda s, r, weight, ties: sum(
        V(weight, r, i, j, ties) * pair_bound(s, r, i, j) for i in range(len(r)) for j in range(i)
    ),
    "smooth": smooth,
}
