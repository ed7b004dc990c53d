"""The weighted pseudo-likelihood of a Markov random field of a query's labels.

T. Tran, D. Phung, S. Venkatesh, "Learning Rank Functionals: An Empirical Study", 2012, equations 14
and 16: P(r) is proportional to the product over the pairs of psi(r_i, r_j) = exp(gamma sign(r_i -
r_j) (s_i - s_j)), gamma = 2 / (m (m - 1)), and each label 0 .. L - 1 of the set is possible. The
loss is -sum_i W_i log P(r_i | the other labels), where

    log P(l | the other labels) = h_i(l) - log sum_k e^{h_i(k)}
    h_i(l) = gamma sum_j sign(l - r_j) (s_i - s_j)

The other documents enter h_i(l) only through the number and the sum of scores of those with a lower
label than l, and of those with a higher one: all h of a query cost O(m L).
"""

import numpy as np

from letorbench.compiled.arithmetic import exp, log
from letorbench.datasets.queryset import QuerySet
from letorbench.errors import DataError
from letorbench.losses.base import ValueAndGradient
from letorbench.losses.gains import query_sums
from letorbench.losses.label_order import DocumentWeighted, document_weights, label_count

#: the largest number of values h, which are all in memory
MOST = 50_000_000


class PseudoLikelihood(DocumentWeighted):
    """Equation 16."""

    name = "wpll"
    formula = "-sum_i weight_i log P(r_i | the other labels)"

    def __call__(self, scores: np.ndarray, queries: QuerySet) -> ValueAndGradient:
        levels, r = label_count(queries), queries.labels
        if levels * max(queries.n_docs, levels) > MOST:
            raise DataError(
                f"wpll: found {queries.n_docs:,} documents and labels up to {levels - 1:,}, "
                f"expected at most {MOST:,} pairs of a document, or a label, and a label"
            )
        weights, order = np.empty(queries.n_docs), queries.by_label.order
        weights[order] = document_weights(self.weight, self.ties, queries, self.gain)
        query = np.repeat(np.arange(queries.n_queries), queries.lengths)
        m = queries.lengths.astype(np.float64)
        gamma = np.divide(2.0, m * (m - 1.0), out=np.zeros_like(m), where=m > 1.0)

        def by_label(values: np.ndarray) -> np.ndarray:
            """(n_docs,) -> (n_queries, L): the sums over the documents of each label."""
            size = queries.n_queries * levels
            return np.bincount(query * levels + r, values, size).reshape(-1, levels)

        # signs[k, l] = sign(l - k), so that h = slope s - middle
        signs = np.sign(np.arange(levels) - np.arange(levels)[:, None]).astype(np.float64)
        slope = gamma[:, None] * np.einsum("qk,kl->ql", by_label(np.ones(queries.n_docs)), signs)
        middle = gamma[:, None] * np.einsum("qk,kl->ql", by_label(scores), signs)
        h = slope[query] * scores[:, None] - middle[query]
        h -= h.max(axis=1, keepdims=True)
        e = exp(h)
        z = e.sum(axis=1)
        own = np.arange(queries.n_docs), r
        by_h = weights[:, None] * e / z[:, None]
        by_h[own] -= weights
        # s_i is in the document's own h, and through the sums in those of the whole query
        pulls = np.stack([query_sums(column, queries) for column in by_h.T], axis=1)
        through = gamma[:, None] * np.einsum("ql,kl->qk", pulls, signs)
        gradient = (by_h * slope[query]).sum(axis=1) - through[query, r]
        return ValueAndGradient(query_sums(weights * (log(z) - h[own]), queries), gradient)
