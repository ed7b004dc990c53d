"""Lambda functions: forces between documents that are no loss's gradient, but rules for one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from letorbench.conventions import standard_discount
from letorbench.datasets.queryset import QuerySet
from letorbench.errors import UsageError
from letorbench.kernels import pairs
from letorbench.kernels.forces import forces
from letorbench.losses.base import query_share
from letorbench.threads import in_threads


@dataclass(frozen=True)
class LambdaFunction:
    """A rule for the force on the more relevant document i of a pair (i, j), d = s_i - s_j.

    needs_margin: whether it is undefined without a margin above zero.
    """

    name: str
    kind: int
    formula: str
    needs_margin: bool = False


LambdaName = Literal["ranknet", "ranknet-ndcg", "step", "spring", "ndcg-difference"]
#: |dNDCG| is what swapping the two at their ranks changes: (2^r_i - 2^r_j) |D_i - D_j| / Z
LAMBDAS: dict[str, LambdaFunction] = {
    function.name: function
    for function in (
        LambdaFunction("ranknet", pairs.RANKNET, "sigma(margin - d)"),
        LambdaFunction("ranknet-ndcg", pairs.RANKNET_NDCG, "|dNDCG| sigma(margin - d)"),
        LambdaFunction("step", pairs.STEP, "|dNDCG| [d < margin]"),
        LambdaFunction("spring", pairs.SPRING, "|dNDCG| max(0, margin - d)"),
        LambdaFunction(
            "ndcg-difference", pairs.NDCG_DIFFERENCE, "|dNDCG| / max(|d|, margin)", True
        ),
    )
}


@dataclass(frozen=True)
class Lambda:
    """A lambda function with its choices (Burges, Ragno, Le, NIPS 2006, section 6.2).

    function:   a name of `LAMBDAS`.
    neighbours: only pairs at neighbouring ranks, instead of all pairs of different labels.
    margin:     how far the right order must be apart before a force fades.
    truncation: L of NDCG@L: the discount of later ranks, and so of Z's, is zero; 0: no L.

    The discount is the paper's, 1 / log2(1 + rank). Documents are ranked by score, ties in
    file order. Forces of a pair are equal and opposite, so a query's sum to zero. A query
    without a relevant document has none.
    """

    function: str = "ranknet-ndcg"
    neighbours: bool = False
    margin: float = 0.0
    truncation: int = 0

    def __post_init__(self) -> None:
        if self.function not in LAMBDAS:
            raise UsageError(
                f"unknown lambda function {self.function!r}; expected one of {', '.join(LAMBDAS)}"
            )
        if self.truncation < 0:
            raise UsageError(f"found truncation={self.truncation}, expected 0 (none) or more")
        if LAMBDAS[self.function].needs_margin and not self.margin > 0.0:
            raise UsageError(f"{self.function}: found margin={self.margin}, expected more than 0")

    @property
    def kind(self) -> int:
        return LAMBDAS[self.function].kind

    def discount(self, queries: QuerySet) -> np.ndarray:
        """(longest list,) D of the ranks 1, 2, ..., zero after L."""
        return truncated_discount(queries, self.truncation)

    def scale(self, queries: QuerySet) -> np.ndarray:
        """(n_queries,) what the forces are multiplied with: 1 / Z@L, or 1 for `ranknet`."""
        if self.kind == pairs.RANKNET:
            return np.ones(queries.n_queries)
        return inverse_ideal(queries, self.discount(queries))

    def __call__(self, scores: np.ndarray, queries: QuerySet) -> np.ndarray:
        """(n_docs,) float64 scores -> (n_docs,) float64 forces, positive to move up."""
        force = np.empty(len(scores))
        blocks, gains = queries.by_label, block_gains(queries)
        scale, discount = self.scale(queries), self.discount(queries)

        def part(start: int, stop: int) -> None:
            forces(
                scores, queries.offsets, blocks.order, blocks.starts, blocks.queries, gains,
                scale, discount, self.kind, self.neighbours, self.margin, start, stop, force,
            )  # fmt: skip

        in_threads(part, queries.n_queries, query_share(queries, 2_000))
        return force


def block_gains(queries: QuerySet) -> np.ndarray:
    """(n_blocks,) 2^r - 1 of each of the set's blocks of one label."""
    return np.exp2(queries.by_label.labels) - 1.0


def truncated_discount(queries: QuerySet, truncation: int) -> np.ndarray:
    """(longest list,) 1 / log2(1 + rank), zero after `truncation` where that is not 0."""
    discount = standard_discount(np.arange(1, queries.lengths.max(initial=0) + 1))
    if truncation:
        discount[truncation:] = 0.0
    return discount


def inverse_ideal(queries: QuerySet, discount: np.ndarray) -> np.ndarray:
    """(n_queries,) 1 / Z under that discount, 0 where no document is relevant."""
    blocks, offsets = queries.by_label, queries.offsets
    gains = np.repeat(block_gains(queries), np.diff(blocks.starts))
    position = np.arange(len(gains)) - np.repeat(offsets[:-1], queries.lengths)
    total = np.append(0.0, np.cumsum(gains * discount[position]))
    z = total[offsets[1:]] - total[offsets[:-1]]
    return np.divide(1.0, z, out=np.zeros_like(z), where=z > 0.0)
