"""Every loss by its definition, one query in plain Python: what the registered ones must give."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import permutations
from math import exp, log, log1p, log2, prod
from statistics import mean


def softplus(t: float) -> float:
    return max(t, 0.0) + log1p(exp(-abs(t)))


def log_sum_exp(values: list[float]) -> float:
    return max(values) + log(sum(exp(v - max(values)) for v in values))


def log_placing(scores: list[float], places: tuple[int, ...]) -> float:
    """log of Plackett-Luce's probability that these documents come first, in this order."""
    left, total = list(range(len(scores))), 0.0
    for document in places:
        total += scores[document] - log_sum_exp([scores[i] for i in left])
        left.remove(document)
    return total


def cross_entropy(scores: list[float], labels: list[int], k: int) -> float:
    placings = permutations(range(len(scores)), min(k, len(scores)))
    return -sum(exp(log_placing(labels, g)) * log_placing(scores, g) for g in placings)


def shares(r: list[int], k: int) -> list[float]:
    """G / Z@k by the definition, 0 where nothing is relevant."""
    gains = [2.0**b - 1.0 for b in r]
    z = sum(g / log2(i + 2) for i, g in enumerate(sorted(gains, reverse=True)[: k or len(r)]))
    return [g / z if z > 0 else 0.0 for g in gains]


def norm(values: list[float], q: float = 2.0) -> float:
    largest = max(map(abs, values))
    return largest * sum((abs(v) / largest) ** q for v in values) ** (1 / q) if largest else 0.0


def direction(s: list[float], u: list[float], q: float = 2.0) -> float:
    """(s / |s|_q) . u, given as 0 at s = 0."""
    return sum(a * b for a, b in zip(s, u)) / (norm(s, q) or 1.0)


def divergence(p: list[float], s: list[float]) -> float:
    """KL(p || e^s) of positive vectors, e^s going on as its tangent beyond s = 30."""
    q = [exp(min(a, 30.0)) * (1.0 + a - min(a, 30.0)) for a in s]
    return sum((b * (log(b) - a) if b else 0.0) - b + c for a, b, c in zip(s, p, q))


def cosine(s: list[float], r: list[int]) -> float:
    gains = [2.0**b - 1.0 for b in r]
    return 1.0 - direction(s, [g / (norm(gains) or 1.0) for g in gains])


CONSISTENT = {
    f"{name}-{ending}": (lambda s, r, k=k, define=define: define(s, shares(r, k)))
    for ending, k in (("ndcg@1", 1), ("ndcg@10", 10), ("ndcg", 0))
    for name, define in (
        ("cosine", lambda s, u: 1.0 - direction(s, u)),
        ("least-squares", lambda s, u: sum((a - b) ** 2 for a, b in zip(s, u))),
        ("cross-entropy", lambda s, u: divergence(u, s)),
    )
}


def in_label_order(r: list[int]) -> list[int]:
    """Documents by falling label, equal ones in file order."""
    return sorted(range(len(r)), key=lambda i: -r[i])


def place(r: list[int], i: int) -> int:
    """pi of document i, from 1, with equal labels in file order."""
    return 1 + in_label_order(r).index(i)


def shared(r: list[int], i: int, value: Callable[[int], float]) -> float:
    """The mean of value(pi) over the places that the documents of i's label take."""
    first = 1 + sum(b > r[i] for b in r)
    return mean(value(pi) for pi in range(first, first + r.count(r[i])))


def eta(r: list[int], i: int) -> float:
    """1 / log2(1 + pi), its mean over equal labels."""
    return shared(r, i, lambda pi: 1.0 / log2(1 + pi))


#: the fixture's largest label is 3: L = 4
LEVELS = 4
WORTH = [(2.0**b - 1.0) / 2.0 ** (LEVELS - 1) for b in range(LEVELS)]
W = {
    "1": lambda r, i: 1.0,
    "r": lambda r, i: r[i],
    "sqrt(r)": lambda r, i: r[i] ** 0.5,
    "(2^r-1)/2^(L-1)": lambda r, i: WORTH[r[i]],
    "1/pi": lambda r, i: shared(r, i, lambda pi: 1.0 / pi),
    "1/log(1+pi)": eta,
}
W_IN_FILE_ORDER = {
    **W,
    "1/pi": lambda r, i: 1.0 / place(r, i),
    "1/log(1+pi)": lambda r, i: 1.0 / log2(1 + place(r, i)),
}
V = {
    "1": lambda r, i, j: 1.0,
    "|ri-rj|": lambda r, i, j: abs(r[i] - r[j]),
    "(Ri-Rj)(ei-ej)": lambda r, i, j: (WORTH[r[i]] - WORTH[r[j]]) * (eta(r, i) - eta(r, j)),
    "Ri-Rj": lambda r, i, j: abs(WORTH[r[i]] - WORTH[r[j]]),
}
V_IN_FILE_ORDER = {
    "(Ri-Rj)(ei-ej)": lambda r, i, j: (
        (WORTH[r[i]] - WORTH[r[j]]) * (1.0 / log2(1 + place(r, i)) - 1.0 / log2(1 + place(r, j)))
    )
}
for table in (V, V_IN_FILE_ORDER):
    table["(Ri-Rj)(ei-ej)/Z"] = lambda r, i, j, v=table["(Ri-Rj)(ei-ej)"]: (
        v(r, i, j) * sum(shares(r, 0)) / (sum(2.0**b - 1.0 for b in r) or 1.0)
    )
for short, long in (("1", "1/m"), ("|ri-rj|", "|ri-rj|/m"), ("Ri-Rj", "(Ri-Rj)/m")):
    V[long] = lambda r, i, j, v=V[short]: v(r, i, j) / len(r)
PHI = {
    "quadratic": lambda d: (1.0 - d) ** 2,
    "hinge": lambda d: max(0.0, 1.0 - d),
    "exponential": lambda d: exp(min(-d, 30.0)) * (1.0 - d - min(-d, 30.0)),
    "logistic": lambda d: softplus(-d),
}


def chain(s: list[float], order: list[int], w: list[float]) -> float:
    """-sum of w log(e^s / the sum of e^s from there on)."""
    return sum(w[i] * (log_sum_exp([s[j] for j in order[t:]]) - s[i]) for t, i in enumerate(order))


def at_once(s: list[float], r: list[int], w: list[float]) -> float:
    """-sum of w log(e^s / the sum of e^s of the labels that are not higher)."""
    return sum(
        w[i] * (log_sum_exp([s[j] for j in range(len(r)) if r[j] <= r[i]]) - s[i])
        for i in range(len(r))
    )


def pseudo(s: list[float], r: list[int], w: list[float]) -> float:
    return sum(w[i] * conditional(s, r, i) for i in range(len(r)))


def weighted_pairs(phi: str, v: Callable, s: list[float], r: list[int]) -> float:
    return sum(v(r, i, j) * PHI[phi](s[i] - s[j]) for i, j in pairs(r))


def field_bound(v: Callable, s: list[float], r: list[int]) -> float:
    return sum(v(r, i, j) * pair_bound(s, r, i, j) for i in range(len(r)) for j in range(i))


def sign(a: float) -> int:
    return (a > 0) - (a < 0)


def gamma(r: list[int]) -> float:
    return 2.0 / (len(r) * (len(r) - 1)) if len(r) > 1 else 0.0


def conditional(s: list[float], r: list[int], i: int) -> float:
    """-log P(r_i | the other labels)."""
    h = [
        gamma(r) * sum(sign(label - r[j]) * (s[i] - s[j]) for j in range(len(r)) if j != i)
        for label in range(LEVELS)
    ]
    return log_sum_exp(h) - h[r[i]]


def pair_bound(s: list[float], r: list[int], i: int, j: int) -> float:
    """-log (psi(r_i, r_j) / Z_ij)."""
    t = gamma(r) * (s[i] - s[j])
    both = [sign(a - b) * t for a in range(LEVELS) for b in range(LEVELS)]
    return log_sum_exp(both) - sign(r[i] - r[j]) * t


def smoothed(s: list[float], i: int) -> float:
    return 1.0 + sum(1.0 / (1.0 + exp(min(s[i] - a, 700.0))) for j, a in enumerate(s) if j != i)


def smooth_err(s: list[float], r: list[int]) -> float:
    chance = [(2.0**b - 1.0) / 2.0 ** (LEVELS - 1) for b in r]
    above = lambda j, i: 1.0 / (1.0 + exp(min(s[i] - s[j], 700.0)))  # noqa: E731
    return sum(
        chance[i] / smoothed(s, i)
        * prod(1.0 - chance[j] * above(j, i) for j in range(len(s)) if j != i)
        for i in range(len(s))
    )  # fmt: skip


def best(r: list[int]) -> list[int]:
    return [i for i in range(len(r)) if r[i] == max(r) > 0]


def pairs(r: list[int]) -> list[tuple[int, int]]:
    return [(i, j) for i in range(len(r)) for j in range(len(r)) if r[i] > r[j]]


FUNCTIONALS = {
    "mcl": lambda s, r: sum(log_sum_exp(s) - s[i] for i in best(r)) / max(1, len(best(r))),
    "smooth-ndcg": lambda s, r: (
        max(r) > 0 and 1.0 - sum(u / log2(1.0 + smoothed(s, i)) for i, u in enumerate(shares(r, 0)))
    ),
    "smooth-err": lambda s, r: max(r) > 0 and 1.0 - smooth_err(s, r),
    "smooth-mrr": lambda s, r: (
        max(r) > 0 and 1.0 - sum(1.0 / smoothed(s, i) for i in best(r)) / len(best(r))
    ),
    **{
        f"pairwise-{phi}-{weight}": partial(weighted_pairs, phi, v)
        for phi in PHI
        for weight, v in V.items()
    },
    **{f"wub-{weight}": partial(field_bound, v) for weight, v in V.items()},
    **{
        f"{name}-{weight}": lambda s, r, w=w, define=define: define(
            s, r, [w(r, i) for i in range(len(r))]
        )
        for weight, w in W.items()
        for name, define in (
            ("wpl", at_once),
            ("rpl", lambda s, r, w: at_once([-a for a in s], [-b for b in r], w)),
            ("wpll", pseudo),
        )
    },
}

#: the losses whose equal labels may stay in file order, where they do
IN_FILE_ORDER = {
    **{
        f"{name}-{weight}": lambda s, r, w=w, define=define: define(
            s, r, [w(r, i) for i in range(len(r))]
        )
        for weight, w in W_IN_FILE_ORDER.items()
        for name, define in (
            ("wpl", lambda s, r, w: chain(s, in_label_order(r), w)),
            ("rpl", lambda s, r, w: chain([-a for a in s], in_label_order(r)[::-1], w)),
            ("wpll", pseudo),
        )
        if name != "wpll" or "pi" in weight
    },
    **{
        f"pairwise-{phi}-{weight}": partial(weighted_pairs, phi, v)
        for phi in PHI
        for weight, v in V_IN_FILE_ORDER.items()
    },
    **{f"wub-{weight}": partial(field_bound, v) for weight, v in V_IN_FILE_ORDER.items()},
}

#: one query's loss from its scores and labels; a loss without an entry here fails its test
DEFINITIONS = {
    "logistic": lambda s, r: sum(softplus(-a if b >= 1 else a) for a, b in zip(s, r)),
    "ranknet": lambda s, r: sum(
        softplus(s[j] - s[i]) for i in range(len(s)) for j in range(len(s)) if r[i] > r[j]
    ),
    "listnet": lambda s, r: cross_entropy(s, r, 1),
    "listnet-2": lambda s, r: cross_entropy(s, r, 2),
    "listnet-3": lambda s, r: cross_entropy(s, r, 3),
    "cosine": cosine,
    "least-squares": lambda s, r: sum((a - (2.0**b - 1.0)) ** 2 for a, b in zip(s, r)),
    "cross-entropy": lambda s, r: cross_entropy(s, r, 1) - cross_entropy(r, r, 1),
    "qnorm": lambda s, r: -direction(s, shares(r, 0), log(len(s)) + 2.0),
    "qnorm-penalised": lambda s, r: (
        norm(s, log(len(s)) + 2.0) ** 2 - 2.0 * sum(a * b for a, b in zip(s, shares(r, 0)))
    ),
    **CONSISTENT,
    **FUNCTIONALS,
}
