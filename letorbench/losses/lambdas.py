"""Lambda functions: forces between documents that train a ranker without being a loss's gradient.

A lambda function gives the force on the more relevant document i of a pair (i, j) from the
difference d = s_i - s_j of the scores, a margin, and |dNDCG|, the amount by which NDCG changes if
i and j swap their ranks: (2^r_i - 2^r_j) |D(rank i) - D(rank j)| / Z. Document j feels the
opposite force, so the forces of a query sum to zero (Burges, Ragno, Le, NIPS 2006).

`pair_lambdas` says this in plain NumPy; `letorbench.losses.lambda_gradients` is compiled.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from letorbench.choices import require_choice
from letorbench.datasets.queryset import QuerySet
from letorbench.errors import UsageError
from letorbench.losses import lambda_gradients as compiled
from letorbench.losses.base import query_share, require_comparable
from letorbench.losses.gains import block_gains, inverse_ideal_dcg, truncated_discount
from letorbench.losses.pairwise_logistic import ranknet
from letorbench.threads import parallel_for

#: d, |dNDCG|, margin -> the force on the more relevant document, arrays of shape (n_pairs,)
Force = Callable[[np.ndarray, np.ndarray, float], np.ndarray]


def sigmoid(t: np.ndarray) -> np.ndarray:
    """1 / (1 + exp(-t)), without overflow."""
    return np.exp(-np.logaddexp(0.0, -t))


@dataclass(frozen=True)
class LambdaFunction:
    """One lambda function.

    Parameters
    ----------
    name : str
    kind : int
        Its number in compiled code.
    formula : str
    force : callable
        The formula in NumPy.
    needs_margin : bool
        Whether it is undefined without a margin above zero.
    """

    name: str
    kind: int
    formula: str
    force: Force
    needs_margin: bool = False


LambdaName = Literal["ranknet", "ranknet-ndcg", "step", "spring", "ndcg-difference"]
LAMBDAS: dict[str, LambdaFunction] = {
    function.name: function
    for function in (
        LambdaFunction(
            "ranknet",
            compiled.RANKNET,
            "sigma(margin - d)",
            lambda d, swap, margin: sigmoid(margin - d),
        ),
        LambdaFunction(
            "ranknet-ndcg",
            compiled.RANKNET_NDCG,
            "|dNDCG| sigma(margin - d)",
            lambda d, swap, margin: swap * sigmoid(margin - d),
        ),
        LambdaFunction(
            "step",
            compiled.STEP,
            "|dNDCG| [d < margin]",
            lambda d, swap, margin: swap * (d < margin),
        ),
        LambdaFunction(
            "spring",
            compiled.SPRING,
            "|dNDCG| max(0, margin - d)",
            lambda d, swap, margin: swap * np.maximum(0.0, margin - d),
        ),
        LambdaFunction(
            "ndcg-difference",
            compiled.NDCG_DIFFERENCE,
            "|dNDCG| / max(|d|, margin)",
            lambda d, swap, margin: swap / np.maximum(np.abs(d), margin),
            needs_margin=True,
        ),
    )
}


@dataclass(frozen=True)
class Lambda:
    """A lambda function with its choices (Burges, Ragno, Le, NIPS 2006, section 6.2).

    The discount is the paper's, 1 / log2(1 + rank). Documents are ranked by score. The forces of
    documents with equal scores are the mean over all orders that these can have. A query without
    a relevant document has no forces.

    Parameters
    ----------
    function : str
        A name of `LAMBDAS`.
    neighbours : bool
        Use only the pairs at neighbouring ranks instead of all pairs of different labels.
    margin : float
        How far apart the scores of a pair in the right order must be before its force fades.
    truncation : int
        L of NDCG@L: the discount of later ranks is zero, also in Z; 0 means the whole list.
    """

    function: str = "ranknet-ndcg"
    neighbours: bool = False
    margin: float = 0.0
    truncation: int = 0

    def __post_init__(self) -> None:
        require_choice(self.function, list(LAMBDAS), "lambda function")
        if self.truncation < 0:
            raise UsageError(f"found truncation={self.truncation}, expected 0 (none) or more")
        if LAMBDAS[self.function].needs_margin and not self.margin > 0.0:
            raise UsageError(f"{self.function}: found margin={self.margin}, expected more than 0")

    @property
    def is_ranknet(self) -> bool:
        """Whether the forces are minus the gradient of RankNet's loss."""
        return self.function == "ranknet" and not self.neighbours and self.margin == 0.0

    def rule(self, queries: QuerySet) -> compiled.LambdaRule:
        """The function on one query set, for compiled code.

        Raises DataError where the pairs of a query are too many to go over them.
        """
        if not self.is_ranknet:
            require_comparable(queries)
        kind = LAMBDAS[self.function].kind
        by_ndcg = kind != compiled.RANKNET
        return compiled.LambdaRule(
            kind,
            self.neighbours,
            float(self.margin),
            block_gains(queries),
            truncated_discount(queries, self.truncation),
            inverse_ideal_dcg(queries, self.truncation) if by_ndcg else np.ones(queries.n_queries),
        )

    def __call__(self, scores: np.ndarray, queries: QuerySet) -> np.ndarray:
        """Compute the force on every document.

        Parameters
        ----------
        scores : ndarray of shape (n_docs,), float64
            In file order.
        queries : QuerySet

        Returns
        -------
        ndarray of shape (n_docs,), float64
            Positive where the document should move up.
        """
        if self.is_ranknet:
            return -ranknet(scores, queries)[1]
        force = np.empty(len(scores))
        rule = self.rule(queries)

        def part(first: int, last: int) -> None:
            compiled.lambdas(scores, queries.by_label, rule, first, last, force)

        parallel_for(part, queries.n_queries, query_share(queries, 2_000))
        return force


def pair_lambdas(function: Lambda, scores: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Compute the force on every document of one query, pair by pair, in plain NumPy.

    Parameters
    ----------
    function : Lambda
    scores : ndarray of shape (n_docs,)
        In file order.
    labels : ndarray of shape (n_docs,)

    Returns
    -------
    ndarray of shape (n_docs,), float64

    Examples
    --------
    Swapping two documents costs (2^1 - 2^0) (1 - 1 / log2(3)) of NDCG; equal scores give half:

    >>> pair_lambdas(Lambda(), np.array([0.0, 0.0]), np.array([1, 0])).round(4)
    array([ 0.1845, -0.1845])
    """
    n = len(scores)
    gain = 2.0**labels - 1.0
    D = 1.0 / np.log2(1.0 + np.arange(1, n + 1))
    if function.truncation:
        D[function.truncation :] = 0.0
    Z = np.sort(gain)[::-1] @ D
    i, j = np.nonzero(labels[:, None] > labels)
    chance, difference = _places(function, scores, i, j, D)
    swap = (gain[i] - gain[j]) * difference / Z
    pull = LAMBDAS[function.function].force(scores[i] - scores[j], swap, function.margin)
    return np.bincount(i, chance * pull, n) - np.bincount(j, chance * pull, n)


def _places(
    function: Lambda, scores: np.ndarray, i: np.ndarray, j: np.ndarray, D: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return how likely each pair (i, j) counts, and its mean |D(rank i) - D(rank j)| then.

    Documents of equal scores have all orders, each as likely.
    """
    first = (scores[:, None] < scores).sum(axis=1)
    tied = (scores[:, None] == scores).sum(axis=1)
    chance, difference = np.zeros(len(i)), np.zeros(len(i))
    for pair, (a, b) in enumerate(zip(i, j, strict=True)):
        x, y = np.meshgrid(
            np.arange(first[a], first[a] + tied[a]), np.arange(first[b], first[b] + tied[b])
        )
        possible = x != y
        counts = possible & ((np.abs(x - y) == 1) | (not function.neighbours))
        chance[pair] = counts.sum() / possible.sum()
        if counts.any():
            difference[pair] = np.abs(D[x] - D[y])[counts].mean()
    return chance, difference
