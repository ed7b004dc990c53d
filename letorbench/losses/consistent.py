"""Surrogates of NDCG, and the changes that make them consistent with it.

P. Ravikumar, A. Tewari, E. Yang, "On NDCG Consistency of Listwise Ranking Methods", AISTATS
2011. A surrogate is NDCG consistent where its minimiser orders documents like E[G / Z]
(theorem 6); G are the gains 2^r - 1 and Z = ||G||_D is their DCG norm. The original surrogates
divide the gains by another norm or by none (section 3.2). Dividing them by Z makes the
surrogates consistent (section 3.3). Z@k, the norm truncated at k, approximates Z (section 6).

The consistent surrogates are Bregman divergences D_psi(G / Z, g(s)), up to a term that does not
depend on s (theorem 8):

- least squares, with psi(u) = |u|^2;
- cross entropy, with psi(u) = sum u log u - u (the paper prints the conjugate, exp);
- the penalised q-norm, with psi(u) = ||u||_p^2 of the dual exponent p = q / (q - 1).

Cosine and the q-norm divide by the norm instead of penalising it.

A query without relevant documents (Z = 0) has G / Z = 0.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from letorbench.arithmetic import exp, log, power
from letorbench.datasets.queryset import QuerySet
from letorbench.errors import UsageError
from letorbench.losses.base import Loss, LossFunction, ValueAndGradient
from letorbench.losses.gains import gains, normalized_gains
from letorbench.losses.segments import (
    broadcast_to_docs,
    inverse_or_zero,
    query_maxima,
    query_sums,
)
from letorbench.losses.top_k_cross_entropy import top_k_cross_entropy

#: scores, their queries, and the target u that the scores are compared with
Surrogate = Callable[[np.ndarray, QuerySet, np.ndarray], ValueAndGradient]

#: the truncation of Z by the end of the loss's name; 0 is no truncation
TRUNCATIONS = {"-ndcg@1": 1, "-ndcg@10": 10, "-ndcg": 0}
#: from this score on, e^s is continued by its tangent, so that it is finite for all scores. The
#: minimisers are far below: their e^s is at most E[G / Z] <= 1
STEEPEST = 30.0


def q_norm(scores: np.ndarray, queries: QuerySet, p: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Return ||s||_q (n_queries,) and its gradient (n_docs,), q = p / (p - 1) for a p in (1, 2].

    p = 0 stands for q = log(m) + 2 of a query of m documents (section 6).
    """
    lengths = np.maximum(queries.lengths, 1)
    q = np.full(len(lengths), p / (p - 1.0)) if p else log(lengths) + 2.0
    size = np.abs(scores)
    largest = query_maxima(size, queries)
    share = size * broadcast_to_docs(inverse_or_zero(largest), queries)
    relative = power(query_sums(power(share, broadcast_to_docs(q, queries)), queries), 1.0 / q)
    ratio = share * broadcast_to_docs(inverse_or_zero(relative), queries)
    slope = np.sign(scores) * power(ratio, broadcast_to_docs(q, queries) - 1.0)
    return largest * relative, slope


def two_norm(scores: np.ndarray, queries: QuerySet) -> tuple[np.ndarray, np.ndarray]:
    """Return ||s||_2 (n_queries,) and its gradient (n_docs,)."""
    largest = np.abs(scores).max(initial=0.0)
    scale = largest if largest > 0.0 else 1.0
    norm = scale * np.sqrt(query_sums(np.square(scores / scale), queries))
    return norm, scores * broadcast_to_docs(inverse_or_zero(norm), queries)


def _negative_cosine(
    scores: np.ndarray, queries: QuerySet, u: np.ndarray, norm: np.ndarray, slope: np.ndarray
) -> ValueAndGradient:
    """Return -(s / N(s)) . u of a norm N (n_queries,) with gradient `slope` (n_docs,).

    At s = 0 it has no value. There the value is given as 0 and the gradient as that of -s . u,
    so that descent can leave the point.
    """
    inner = query_sums(scores * u, queries)
    scale = np.where(norm > 0.0, inverse_or_zero(norm), 1.0)
    value = -inner * scale
    gradient = -broadcast_to_docs(scale, queries) * (u + broadcast_to_docs(value, queries) * slope)
    return ValueAndGradient(value, gradient)


def cosine(scores: np.ndarray, queries: QuerySet, u: np.ndarray) -> ValueAndGradient:
    """Return 1 - (s / |s|) . u."""
    value, gradient = _negative_cosine(scores, queries, u, *two_norm(scores, queries))
    return ValueAndGradient(1.0 + value, gradient)


def least_squares(scores: np.ndarray, queries: QuerySet, u: np.ndarray) -> ValueAndGradient:
    """Return |s - u|^2."""
    difference = scores - u
    return ValueAndGradient(query_sums(np.square(difference), queries), 2.0 * difference)


def cross_entropy(scores: np.ndarray, queries: QuerySet, u: np.ndarray) -> ValueAndGradient:
    """Return KL(u || e^s) = sum u log(u / e^s) - sum u + sum e^s, with 0 log 0 = 0."""
    bounded = np.minimum(scores, STEEPEST)
    q = exp(bounded)
    log_u = log(np.where(u > 0.0, u, 1.0))
    terms = u * (log_u - scores) - u + q * (1.0 + scores - bounded)
    return ValueAndGradient(query_sums(terms, queries), q - u)


def _consistent(
    surrogate: Surrogate, truncation: int, scores: np.ndarray, queries: QuerySet
) -> ValueAndGradient:
    """Section 3.3: the surrogate of G / Z, or of G / Z@k."""
    return surrogate(scores, queries, normalized_gains(queries, truncation))


def _original_cosine(scores: np.ndarray, queries: QuerySet) -> ValueAndGradient:
    """RankCosine (Qin et al., IPM 2008), in this paper's form: the cosine with G / |G|."""
    norm, _ = two_norm(gains(queries), queries)
    u = gains(queries) * broadcast_to_docs(inverse_or_zero(norm), queries)
    return cosine(scores, queries, u)


def _original_least_squares(scores: np.ndarray, queries: QuerySet) -> ValueAndGradient:
    return least_squares(scores, queries, gains(queries))


def _original_cross_entropy(scores: np.ndarray, queries: QuerySet) -> ValueAndGradient:
    """ListNet's cross entropy, less the entropy of softmax(r), which no score changes."""
    value, gradient = top_k_cross_entropy(scores, queries, 1)
    entropy, _ = top_k_cross_entropy(queries.labels.astype(np.float64), queries, 1)
    return ValueAndGradient(value - entropy, gradient)


def q_norm_loss(p: float = 0.0, truncation: int = 0, penalised: bool = False) -> Loss:
    """Return equation 4's loss, or the member of the Bregman family that it normalises.

    Parameters
    ----------
    p : float
        1 < p <= 2, which makes psi = ||u||_p^2 strongly convex; 0 for the dual exponent of
        q = log(m) + 2.
    truncation : int
        The k of Z@k; 0 is the whole list.
    penalised : bool
        Section 4's |s|_q^2 - 2 s . (G / Z) instead of -(s / |s|_q) . (G / Z).

    Raises
    ------
    UsageError
        p or truncation is outside its range.
    """
    if (p and not 1.0 < p <= 2.0) or truncation < 0:
        raise UsageError(f"found p={p}, truncation={truncation}, expected 0 or 1 < p <= 2, and "
                         "a truncation of 0 or more")  # fmt: skip

    def normalised(scores: np.ndarray, queries: QuerySet) -> ValueAndGradient:
        norm = q_norm(scores, queries, p)
        return _negative_cosine(scores, queries, normalized_gains(queries, truncation), *norm)

    def with_penalty(scores: np.ndarray, queries: QuerySet) -> ValueAndGradient:
        norm, slope = q_norm(scores, queries, p)
        u = normalized_gains(queries, truncation)
        gradient = 2.0 * (broadcast_to_docs(norm, queries) * slope - u)
        return ValueAndGradient(np.square(norm) - 2.0 * query_sums(scores * u, queries), gradient)

    z = f"Z@{truncation}" if truncation else "Z"
    q = f"p / (p - 1), p = {p:g}" if p else "log(m) + 2"
    ending = (f"-p={p:g}" if p else "") + (f"@{truncation}" if truncation else "")
    if penalised:
        formula = f"|s|_q^2 - 2 s . (G / {z}), q = {q}"
        return Loss(f"qnorm-penalised{ending}", formula, with_penalty)
    formula = f"-(s / |s|_q) . (G / {z}), q = {q}"
    return Loss(f"qnorm{ending}", formula, normalised, undefined_at_zero=True)


def bregman(name: str, formula: str, conjugate: LossFunction, truncation: int = 0) -> Loss:
    """Return the NDCG consistent loss of a convex psi (theorems 8 and 9).

    D_psi(u, grad psi*(s)) = psi*(s) - s . u + psi(u), with u = G / Z. psi(u) depends on no score
    and is left out.

    Parameters
    ----------
    name, formula : str
    conjugate : callable
        Takes scores (n_docs,) and their queries; returns psi* of each query and its gradient. The
        gradient must order the documents as the scores do.
    truncation : int
        The k of Z@k; 0 is the whole list.

    Examples
    --------
    psi = |u|^2 / 2 is its own conjugate, which gives the squared error:

    >>> def half_square(scores, queries):
    ...     return ValueAndGradient(query_sums(scores**2, queries) / 2, scores)
    >>> half = bregman("half-square", "|s|^2 / 2 - s . (G / Z)", half_square)
    """

    def function(scores: np.ndarray, queries: QuerySet) -> ValueAndGradient:
        value, gradient = conjugate(scores, queries)
        u = normalized_gains(queries, truncation)
        return ValueAndGradient(value - query_sums(scores * u, queries), gradient - u)

    return Loss(name, formula, function)


def _changed(ending: str, truncation: int) -> tuple[Loss, ...]:
    """Return the three surrogates that are made consistent by Z, or by Z@k."""
    z = f"Z@{truncation}" if truncation else "Z"
    return (
        Loss(
            f"cosine{ending}",
            f"1 - (s / |s|) . (G / {z})",
            partial(_consistent, cosine, truncation),
            undefined_at_zero=True,
        ),
        Loss(
            f"least-squares{ending}",
            f"|s - G / {z}|^2",
            partial(_consistent, least_squares, truncation),
        ),
        Loss(
            f"cross-entropy{ending}",
            f"KL(G / {z} || e^s)",
            partial(_consistent, cross_entropy, truncation),
            exponential=True,
        ),
    )


LOSSES = (
    Loss("cosine", "1 - (s / |s|) . (G / |G|)", _original_cosine, undefined_at_zero=True),
    Loss("least-squares", "|s - G|^2", _original_least_squares),
    Loss("cross-entropy", "KL(softmax(r) || softmax(s))", _original_cross_entropy),
    q_norm_loss(),
    q_norm_loss(penalised=True),
    *(each for ending, k in TRUNCATIONS.items() for each in _changed(ending, k)),
)
