"""Artificial data of the LambdaRank and RankNet papers: random polynomials, cut to labels."""

from collections.abc import Sequence

import numpy as np

from letorbench.datasets.queryset import QuerySet

#: the shares of the labels 0..4. They are MSLR-WEB10K's: the paper takes those of "real
#: datasets" and does not print them.
REAL_SHARES = (0.5201, 0.3218, 0.1329, 0.0178, 0.0074)
_CHUNK = 50_000


def cubic(
    rng: np.random.Generator,
    sizes: Sequence[int],
    n_features: int = 50,
    docs: int | tuple[int, int] = 50,
    shares: Sequence[float] = REAL_SHARES,
) -> tuple[QuerySet, ...]:
    """Draw query sets that are all labelled by one random polynomial.

    Inputs and all coefficients of degree 0 to 3 are drawn from N(0, 1). The outputs of all
    documents are cut so that the labels have the given shares. The qids count from 1 through all
    sets. The paper has 50 inputs, 50 documents a query, five labels and 10,000, 5,000 and 10,000
    queries. `docs` are the documents of every query, or the fewest and the most.

    References
    ----------
    C. Burges, R. Ragno, Q. Le: Learning to Rank with Nonsmooth Cost Functions, NIPS 2006,
    section 6.3.1.
    """
    n_queries = sum(sizes)
    least, most = (docs, docs) if isinstance(docs, int) else docs
    lengths = rng.integers(least, most + 1, n_queries)
    polynomial = _coefficients(rng, n_features)
    features = rng.standard_normal((int(lengths.sum()), n_features), dtype=np.float32)
    labels = cut(evaluate(polynomial, features), shares)
    return query_sets(features, labels, lengths, sizes)


def cut(outputs: np.ndarray, shares: Sequence[float]) -> np.ndarray:
    """Return labels 0, 1, ... of the given shares, larger where the output is larger.

    The documents of each label are n times its share, rounded so that they add up to n. Equal
    outputs are cut in the order of the rows.
    """
    bounds = np.rint(np.cumsum(shares) / np.sum(shares) * len(outputs)).astype(np.int64)
    labels = np.empty(len(outputs), dtype=np.int32)
    labels[np.argsort(outputs, kind="stable")] = np.searchsorted(
        bounds, np.arange(len(outputs)), side="right"
    )
    return labels


def _coefficients(rng: np.random.Generator, d: int) -> tuple[np.ndarray, ...]:
    """Draw the coefficients of degrees 0 to 3; those of i <= j <= k, and 0 elsewhere."""
    i, j, k = np.ogrid[:d, :d, :d]
    return (
        rng.standard_normal(()),
        rng.standard_normal(d),
        np.triu(rng.standard_normal((d, d))),
        np.where((i <= j) & (j <= k), rng.standard_normal((d, d, d)), 0.0),
    )


def evaluate(polynomial: tuple[np.ndarray, ...], features: np.ndarray) -> np.ndarray:
    """Return c + Σ c_i x_i + Σ c_ij x_i x_j + Σ c_ijk x_i x_j x_k of each row x."""
    constant, linear, square, cube = polynomial
    result = np.empty(len(features))
    for start in range(0, len(features), _CHUNK):
        x = features[start : start + _CHUNK].astype(np.float64)
        value = constant + x @ linear
        for i in range(x.shape[1]):
            later = x[:, i:]
            value += x[:, i] * (
                later @ square[i, i:] + np.einsum("nj,nj->n", later @ cube[i, i:, i:], later)
            )
        result[start : start + _CHUNK] = value
    return result


def query_sets(
    features: np.ndarray, labels: np.ndarray, lengths: np.ndarray, sizes: Sequence[int]
) -> tuple[QuerySet, ...]:
    """Return query sets of the given sizes, their queries numbered through all of them."""
    offsets = np.append(0, np.cumsum(lengths)).astype(np.int64)
    whole = QuerySet(features, labels, offsets, np.arange(1, len(lengths) + 1))
    bounds = np.append(0, np.cumsum(sizes)).tolist()
    return tuple(whole.queries(a, b) for a, b in zip(bounds[:-1], bounds[1:]))


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
