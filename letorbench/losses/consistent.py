"""Surrogates of NDCG, and the changes that make them consistent with it.

P. Ravikumar, A. Tewari, E. Yang, "On NDCG Consistency of Listwise Ranking Methods", AISTATS 2011. A
surrogate is NDCG consistent if its minimiser orders documents like E[G / Z] (theorem 6); G are the
gains, 2^r - 1 by default, and Z = ||G||_D is their DCG norm. The original surrogates divide the
gains by another norm or by none (section 3.2). Dividing them by Z makes the surrogates consistent
(section 3.3). Z@k, the norm truncated at k, approximates Z (section 6). A query without relevant
documents (Z = 0) has G / Z = 0.

The consistent surrogates are Bregman divergences D_psi(G / Z, g(s)), up to a term that does not
depend on s (theorem 8):

- least squares, with psi(u) = |u|^2;
- cross entropy, with psi(u) = sum u log u - u (the paper prints the conjugate, exp);
- the penalised q-norm, with psi(u) = ||u||_p^2 of the dual exponent p = q / (q - 1).

Cosine and the q-norm divide by the norm instead of penalising it.
"""

from dataclasses import dataclass

import numpy as np

from letorbench.compiled.arithmetic import exp, log, power
from letorbench.conventions import gains
from letorbench.datasets.queryset import QuerySet
from letorbench.errors import UsageError
from letorbench.losses.base import CustomLoss, Loss, LossFunction, ValueAndGradient
from letorbench.losses.gains import (
    STEEPEST,
    gain_rule,
    inverse_or_zero,
    normalized_gains,
    query_maxima,
    query_sums,
)
from letorbench.losses.plackett_luce import TopKCrossEntropy
from letorbench.parameters import number


def q_norm(scores: np.ndarray, queries: QuerySet, p: float) -> tuple[np.ndarray, np.ndarray]:
    """Return ||s||_q (n_queries,) and its gradient (n_docs,); q is the dual of p."""
    lengths = np.maximum(queries.lengths, 1)
    q = np.full(len(lengths), p / (p - 1.0)) if p else log(lengths) + 2.0  # section 6
    each_q = np.repeat(q, queries.lengths)
    size = np.abs(scores)
    largest = query_maxima(size, queries)
    fraction = size * np.repeat(inverse_or_zero(largest), queries.lengths)
    relative = power(query_sums(power(fraction, each_q), queries), 1.0 / q)
    ratio = fraction * np.repeat(inverse_or_zero(relative), queries.lengths)
    return largest * relative, np.sign(scores) * power(ratio, each_q - 1.0)


def two_norm(scores: np.ndarray, queries: QuerySet) -> tuple[np.ndarray, np.ndarray]:
    """Return ||s||_2 (n_queries,) and its gradient (n_docs,)."""
    largest = np.abs(scores).max(initial=0.0)
    scale = largest if largest > 0.0 else 1.0
    norm = scale * np.sqrt(query_sums(np.square(scores / scale), queries))
    return norm, scores * np.repeat(inverse_or_zero(norm), queries.lengths)


def _negative_cosine(
    scores: np.ndarray, queries: QuerySet, u: np.ndarray, norm: np.ndarray, slope: np.ndarray
) -> ValueAndGradient:
    """Return -(s / N(s)) . u of a norm N (n_queries,) with the gradient `slope` (n_docs,)."""
    inner = query_sums(scores * u, queries)
    # at s = 0 it is undefined: its value is 0 there, and its gradient, that of -s . u, leads away
    scale = np.where(norm > 0.0, inverse_or_zero(norm), 1.0)
    value = -inner * scale
    gradient = -np.repeat(scale, queries.lengths) * (u + np.repeat(value, queries.lengths) * slope)
    return ValueAndGradient(value, gradient)


@dataclass(frozen=True)
class Cosine(Loss):
    """RankCosine (Qin et al., IPM 2008), in this paper's form: the cosine with G / |G|."""

    name = "cosine"
    formula = "1 - (s / |s|) . (G / |G|)"

    gain: str = gain_rule()

    def __call__(self, scores: np.ndarray, queries: QuerySet) -> ValueAndGradient:
        norm = two_norm(scores, queries)
        value, gradient = _negative_cosine(scores, queries, self.target(queries), *norm)
        return ValueAndGradient(1.0 + value, gradient)

    def target(self, queries: QuerySet) -> np.ndarray:
        G = gains(queries.labels, self.gain)
        return G * np.repeat(inverse_or_zero(two_norm(G, queries)[0]), queries.lengths)


@dataclass(frozen=True)
class LeastSquares(Loss):
    """The squared error of the gains."""

    name = "least-squares"
    formula = "|s - G|^2"

    gain: str = gain_rule()

    def __call__(self, scores: np.ndarray, queries: QuerySet) -> ValueAndGradient:
        difference = scores - self.target(queries)
        return ValueAndGradient(query_sums(np.square(difference), queries), 2.0 * difference)

    def target(self, queries: QuerySet) -> np.ndarray:
        return gains(queries.labels, self.gain)


@dataclass(frozen=True)
class CrossEntropy(Loss):
    """ListNet's cross entropy, less the entropy of softmax(r), which no score changes."""

    name = "cross-entropy"
    formula = "KL(softmax(r) || softmax(s))"

    def __call__(self, scores: np.ndarray, queries: QuerySet) -> ValueAndGradient:
        listnet = TopKCrossEntropy()
        value, gradient = listnet(scores, queries)
        entropy, _ = listnet(queries.labels.astype(np.float64), queries)
        return ValueAndGradient(value - entropy, gradient)


@dataclass(frozen=True)
class _Consistent(Loss):
    """A surrogate with u = G / Z@truncation instead of the original's gains (section 3.3)."""

    truncation: int = number(0, least=0)
    gain: str = gain_rule()

    def target(self, queries: QuerySet) -> np.ndarray:
        return normalized_gains(queries, self.truncation, self.gain)


class CosineNDCG(_Consistent, Cosine):
    """1 - (s / |s|) . u."""

    name = "cosine-ndcg"
    formula = "1 - (s / |s|) . (G / Z)"


class LeastSquaresNDCG(_Consistent, LeastSquares):
    """|s - u|^2."""

    name = "least-squares-ndcg"
    formula = "|s - G / Z|^2"


class CrossEntropyNDCG(_Consistent):
    """KL(u || e^s) = sum u log(u / e^s) - sum u + sum e^s, with 0 log 0 = 0.

    Minimisers are far below `STEEPEST`: their e^s is at most E[G / Z] <= 1.
    """

    name = "cross-entropy-ndcg"
    formula = "KL(G / Z || e^s)"

    def __call__(self, scores: np.ndarray, queries: QuerySet) -> ValueAndGradient:
        u = self.target(queries)
        bounded = np.minimum(scores, STEEPEST)
        q = exp(bounded)
        log_u = log(np.where(u > 0.0, u, 1.0))
        terms = u * (log_u - scores) - u + q * (1.0 + scores - bounded)
        return ValueAndGradient(query_sums(terms, queries), q - u)


@dataclass(frozen=True)
class QNorm(_Consistent):
    """Equation 4: the scores divided by their q-norm, q the dual of 1 < p <= 2, or log(m) + 2."""

    name = "qnorm"
    formula = "-(s / |s|_q) . (G / Z), q = p / (p - 1), or log(m) + 2 for p = 0"

    p: float = number(0.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.p and not 1.0 < self.p <= 2.0:
            raise UsageError(f"{self.name}: found p={self.p}, expected 0 or 1 < p <= 2")

    def __call__(self, scores: np.ndarray, queries: QuerySet) -> ValueAndGradient:
        norm = q_norm(scores, queries, self.p)
        return _negative_cosine(scores, queries, self.target(queries), *norm)


class QNormPenalised(QNorm):
    """Section 4: the member of the Bregman family that `QNorm` normalises."""

    name = "qnorm-penalised"
    formula = "|s|_q^2 - 2 s . (G / Z), q = p / (p - 1), or log(m) + 2 for p = 0"

    def __call__(self, scores: np.ndarray, queries: QuerySet) -> ValueAndGradient:
        norm, slope = q_norm(scores, queries, self.p)
        u = self.target(queries)
        gradient = 2.0 * (np.repeat(norm, queries.lengths) * slope - u)
        return ValueAndGradient(np.square(norm) - 2.0 * query_sums(scores * u, queries), gradient)


def bregman(name: str, formula: str, conjugate: LossFunction, truncation: int = 0) -> Loss:
    """Return the NDCG consistent loss psi*(s) - s . u of a convex psi (theorems 8 and 9).

    With u = G / Z@truncation it is D_psi(u, grad psi*(s)) without psi(u), which depends on no
    score. `conjugate` returns psi* of each query and its gradient, which must order documents as
    the scores do.

    >>> def half_square(scores, queries):  # psi = |u|^2 / 2 is its conjugate: the squared error
    ...     return ValueAndGradient(query_sums(scores**2, queries) / 2, scores)
    >>> half = bregman("half-square", "|s|^2 / 2 - s . (G / Z)", half_square)
    """

    def function(scores: np.ndarray, queries: QuerySet) -> ValueAndGradient:
        value, gradient = conjugate(scores, queries)
        u = normalized_gains(queries, truncation)
        return ValueAndGradient(value - query_sums(scores * u, queries), gradient - u)

    return CustomLoss(name, formula, function)
