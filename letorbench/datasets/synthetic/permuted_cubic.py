"""Artificial data of the RankNet paper: a random polynomial of three terms, cut to labels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.datasets.synthetic.cubic import REAL_SHARES, cut, query_sets


def permuted_cubic(
    rng: np.random.Generator,
    sizes: Sequence[int],
    n_features: int,
    docs: int,
    shares: Sequence[float] = REAL_SHARES,
) -> tuple[QuerySet, ...]:
    """Draw query sets that are all labelled by one random polynomial of three terms.

    Inputs are uniform in [-1, 1]. The output is the mean of v . x with a random v, of
    sum_i x_i x_Q(i) and of sum_i x_i x_R(i) x_S(i) with random permutations Q, R and S, each
    scaled to zero mean and unit variance. A linear model explains about a third of it. The
    outputs of all documents are cut so that the labels have the given shares.

    The prescription is from memory: the text of RankNet 2005 is not at hand, and the LambdaRank
    paper refers to it (section 6.3.1, "the prescription given in [2]").

    References
    ----------
    C. Burges et al.: Learning to Rank using Gradient Descent, ICML 2005 (memory).
    """
    n_queries = sum(sizes)
    shape = (n_queries * docs, n_features)
    features = rng.uniform(-1.0, 1.0, shape).astype(np.float32)
    labels = cut(outputs(rng, features), shares)
    return query_sets(features, labels, np.full(n_queries, docs), sizes)


def outputs(rng: np.random.Generator, features: np.ndarray) -> np.ndarray:
    """Return the polynomial's value of every row (n_rows, n_features), its terms drawn anew."""
    d: int = features.shape[1]
    v, (Q, R, S) = rng.uniform(-1.0, 1.0, d), (rng.permutation(d) for _ in range(3))
    terms = (
        features @ v.astype(np.float32),
        np.einsum("ni,ni->n", features, features[:, Q]),
        np.einsum("ni,ni,ni->n", features, features[:, R], features[:, S]),
    )
    exact = [term.astype(np.float64) for term in terms]
    return np.mean([(term - term.mean()) / term.std() for term in exact], axis=0)
