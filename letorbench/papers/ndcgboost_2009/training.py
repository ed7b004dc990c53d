"""NDCG Boost's chain of bounds while it trains: the expected NDCG, H, and what M bounds.

The expectation under equation (6) is enumerated for short lists. For longer ones a Markov chain
draws the orders: a pair of neighbouring ranks is put anew in order with its probability given
the rest, 1 / (1 + exp(-(F_i - F_j))), even and odd ranks in turn (F is twice the score).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit as sigma

from letorbench.conventions import standard_discount
from letorbench.datasets.queryset import QuerySet
from letorbench.datasets.synthetic.cubic import cubic
from letorbench.papers.ndcgboost_2009.statements import expected_inversions, order_probabilities
from letorbench.rankers.ndcgboost import NDCGBoost

#: lists up to so many documents are enumerated
ENUMERATED = 6
CHAINS, BURN_IN, SWEEPS = 10, 100, 200


@dataclass(frozen=True)
class Course:
    """Means over queries at some rounds.

    ndcg: the expected NDCG, L; by_rank: H with the expected ranks (3); by_logistic: H with
    Lemma 2's ranks (9).
    """

    documents: int
    rounds: tuple[int, ...]
    ndcg: tuple[float, ...]
    by_rank: tuple[float, ...]
    by_logistic: tuple[float, ...]


def course(rng: np.random.Generator, queries: int, documents: int, rounds: list[int]) -> Course:
    """Train on random queries and evaluate every bound at the rounds."""
    (train,) = cubic(rng, [queries], 5, documents, (0.5, 0.3, 0.2))
    train = judged(train)
    rows = []
    for count in rounds:
        if count:
            fitted = NDCGBoost(rounds=count).learn(train, None, rng)
            F = fitted.model.predict(train.features)
        else:
            F = np.zeros(train.n_docs)
        rows.append(bounds(F, train, rng))
    return Course(documents, tuple(rounds), *(tuple(column) for column in zip(*rows)))


def bounds(
    F: np.ndarray, queries: QuerySet, rng: np.random.Generator
) -> tuple[float, float, float]:
    """The three means of `Course` at scores F (n_docs,), queries of one length."""
    m = int(queries.lengths[0])
    F = F.reshape(-1, m)
    gain = np.exp2(queries.labels.reshape(-1, m)) - 1.0
    Z = np.sort(gain, axis=1)[:, ::-1] @ standard_discount(np.arange(1, m + 1))
    a = gain / Z[:, None]
    if m <= ENUMERATED:
        ranks, probability = order_probabilities(F)
        discount, rank = probability @ standard_discount(ranks), probability @ ranks
    else:
        discount, rank = chain(F, rng)
    A = expected_inversions(F)
    return (
        float((a * discount).sum(axis=1).mean()),
        float((a * standard_discount(rank)).sum(axis=1).mean()),
        float((a * standard_discount(1.0 + A)).sum(axis=1).mean()),
    )


def chain(F: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Expected discount and rank of every document, (n, m) each, by Gibbs sampling."""
    n, m = F.shape
    scores = np.repeat(F, CHAINS, axis=0)
    order = np.argsort(-scores, axis=1)
    rows = np.arange(len(scores))[:, None]
    places = np.arange(1, m + 1)
    discount, rank = np.zeros_like(scores), np.zeros_like(scores)
    for sweep in range(BURN_IN + SWEEPS):
        for parity in (0, 1):
            first, second = order[:, parity:-1:2], order[:, parity + 1 :: 2]
            turn = rng.random(first.shape) < sigma(scores[rows, second] - scores[rows, first])
            one, other = np.where(turn, second, first), np.where(turn, first, second)
            order[:, parity:-1:2], order[:, parity + 1 :: 2] = one, other
        if sweep >= BURN_IN:
            np.put_along_axis(rank, order, places + np.take_along_axis(rank, order, 1), 1)
            values = standard_discount(places) + np.take_along_axis(discount, order, 1)
            np.put_along_axis(discount, order, values, 1)
    shape = (n, CHAINS, m)
    return tuple((each / SWEEPS).reshape(shape).mean(axis=1) for each in (discount, rank))


def judged(queries: QuerySet) -> QuerySet:
    """Without the queries that have no relevant document; all have one length."""
    m = int(queries.lengths[0])
    kept = queries.labels.reshape(-1, m).max(axis=1) > 0
    n = int(kept.sum())
    docs = np.repeat(kept, m)
    return QuerySet(
        queries.features[docs], queries.labels[docs], np.arange(n + 1, dtype=np.int64) * m,
        np.arange(n),
    )  # fmt: skip
