"""Surrogates of NDCG, and the changes that make them consistent with it.

P. Ravikumar, A. Tewari, E. Yang, "On NDCG Consistency of Listwise Ranking Methods", AISTATS
2011: a surrogate is NDCG consistent where its minimiser orders documents like E[G / Z], G the
gains 2^r - 1 and Z = ||G||_D their DCG norm (theorem 6). The originals normalise by something
else, or not at all (section 3.2); dividing G by Z restores consistency (section 3.3). Z@k, the
norm truncated at k, approximates Z (section 6).

The consistent ones are Bregman divergences D_psi(G / Z, g(s)), up to what does not depend on s
(theorem 8): least squares with psi = |u|^2, cross entropy with psi = sum u log u - u (for
which the paper prints the conjugate, exp), the penalised q-norm with psi = ||u||_p^2 of the
dual exponent p = q / (q - 1). Cosine and the q-norm divide by the norm where those penalise it.

A query without relevant documents (Z = 0) has G / Z = 0.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.losses.base import register
from letorbench.losses.lambdas import inverse_ideal, truncated_discount
from letorbench.losses.listwise import top_k
from letorbench.losses.segments import inverse, maxima, spread, sums

Result = tuple[np.ndarray, np.ndarray]
#: scores, their queries and u, what they are compared with -> values, gradient
Form = Callable[[np.ndarray, QuerySet, np.ndarray], Result]

#: the truncation of Z by the names' endings; 0: none
NORMS = {"-ndcg@1": 1, "-ndcg@10": 10, "-ndcg": 0}
#: e^s goes on as its tangent from here: finite for all scores, and far above any minimiser,
#: whose e^s is at most E[G / Z] <= 1
STEEPEST = 30.0


def gains(queries: QuerySet) -> np.ndarray:
    """(n_docs,) G = 2^r - 1."""
    return np.exp2(queries.labels) - 1.0


def shares(queries: QuerySet, truncation: int = 0) -> np.ndarray:
    """(n_docs,) G / Z@k with the discount 1 / log2(1 + rank); 0 where Z is."""
    z = inverse_ideal(queries, truncated_discount(queries, truncation))
    return gains(queries) * spread(z, queries)


def directed(
    scores: np.ndarray, queries: QuerySet, u: np.ndarray, norm: np.ndarray, slope: np.ndarray
) -> Result:
    """-(s / N(s)) . u of a norm N (n_queries,) with gradient slope (n_docs,).

    It has no value at s = 0: there it is given as 0, and its gradient as that of -s . u, so
    that descent can leave it.
    """
    inner = sums(scores * u, queries)
    scale = np.where(norm > 0.0, inverse(norm), 1.0)
    value = -inner * scale
    return value, -spread(scale, queries) * (u + spread(value, queries) * slope)


def q_norm(scores: np.ndarray, queries: QuerySet) -> Result:
    """||s||_q with q = log(m) + 2 of each query's m documents (section 6), and its gradient."""
    q = np.log(np.maximum(queries.lengths, 1)) + 2.0
    size = np.abs(scores)
    largest = maxima(size, queries)
    share = size * spread(inverse(largest), queries)
    relative = sums(share ** spread(q, queries), queries) ** (1.0 / q)
    slope = np.sign(scores) * (share * spread(inverse(relative), queries)) ** (
        spread(q, queries) - 1.0
    )
    return largest * relative, slope


def two_norm(scores: np.ndarray, queries: QuerySet) -> Result:
    """||s||_2 of each query, and its gradient."""
    largest = np.abs(scores).max(initial=0.0)
    scale = largest if largest > 0.0 else 1.0
    norm = scale * np.sqrt(sums(np.square(scores / scale), queries))
    return norm, scores * spread(inverse(norm), queries)


def _cosine(scores: np.ndarray, queries: QuerySet, u: np.ndarray) -> Result:
    value, gradient = directed(scores, queries, u, *two_norm(scores, queries))
    return 1.0 + value, gradient


def _squares(scores: np.ndarray, queries: QuerySet, u: np.ndarray) -> Result:
    difference = scores - u
    return sums(np.square(difference), queries), 2.0 * difference


def _divergence(scores: np.ndarray, queries: QuerySet, u: np.ndarray) -> Result:
    """KL(u || e^s) = sum u log(u / e^s) - sum u + sum e^s, 0 log 0 = 0."""
    bounded = np.minimum(scores, STEEPEST)
    q = np.exp(bounded)
    log_u = np.log(u, out=np.zeros_like(u), where=u > 0.0)
    terms = u * (log_u - scores) - u + q * (1.0 + scores - bounded)
    return sums(terms, queries), q - u


def _consistent(form: Form, truncation: int, scores: np.ndarray, queries: QuerySet) -> Result:
    """Section 3.3: the form of G / Z, or of G / Z@k."""
    return form(scores, queries, shares(queries, truncation))


for _ending, _k in NORMS.items():
    _z = f"Z@{_k}" if _k else "Z"
    register(f"cosine{_ending}", f"1 - (s / |s|) . (G / {_z})", undefined_at_zero=True)(
        partial(_consistent, _cosine, _k)
    )
    register(f"least-squares{_ending}", f"|s - G / {_z}|^2")(partial(_consistent, _squares, _k))
    register(f"cross-entropy{_ending}", f"KL(G / {_z} || e^s)", exponential=True)(
        partial(_consistent, _divergence, _k)
    )


@register("cosine", "1 - (s / |s|) . (G / |G|)", undefined_at_zero=True)
def cosine(scores: np.ndarray, queries: QuerySet) -> Result:
    """RankCosine's (Qin et al., IPM 2008), in the paper's form."""
    norm, _ = two_norm(gains(queries), queries)
    return _cosine(scores, queries, gains(queries) * spread(inverse(norm), queries))


@register("least-squares", "|s - G|^2")
def least_squares(scores: np.ndarray, queries: QuerySet) -> Result:
    """Squared error of the gains."""
    return _squares(scores, queries, gains(queries))


@register("cross-entropy", "KL(softmax(r) || softmax(s))")
def cross_entropy(scores: np.ndarray, queries: QuerySet) -> Result:
    """ListNet's, less the entropy of softmax(r), which no score changes."""
    value, gradient = top_k(scores, queries, 1)
    entropy, _ = top_k(queries.labels.astype(np.float64), queries, 1)
    return value - entropy, gradient


@register("qnorm", "-(s / |s|_q) . (G / Z), q = log(m) + 2", undefined_at_zero=True)
def qnorm(scores: np.ndarray, queries: QuerySet) -> Result:
    """Equation 4: the new one."""
    return directed(scores, queries, shares(queries), *q_norm(scores, queries))


@register("qnorm-penalised", "|s|_q^2 - 2 s . (G / Z), q = log(m) + 2")
def qnorm_penalised(scores: np.ndarray, queries: QuerySet) -> Result:
    """Section 4: the member of the Bregman family that equation 4 normalises."""
    norm, slope = q_norm(scores, queries)
    u = shares(queries)
    gradient = 2.0 * (spread(norm, queries) * slope - u)
    return np.square(norm) - 2.0 * sums(scores * u, queries), gradient
