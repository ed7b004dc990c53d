"""Section 4 of the LambdaRank paper: what it says of forces, and its example of a wrong cost."""

from __future__ import annotations

from itertools import product

import numpy as np

from letorbench.losses.lambdas import LAMBDAS, Lambda
from letorbench.papers import checks, poincare
from letorbench.papers.claims import Claim, Measured, exactly

NAME = "lambdarank-2006"
PART = "jacobian"
#: documents of the example, of which two are relevant
N = 100
ROUNDING = 1e-9


def _claim(name: str, text: str, how: str, value: float, sense: str, nature: str) -> Claim:
    return Claim(
        NAME, name, PART, text, "none", "value", how, value, 0.0, sense, nature,
        check=checks.number(name),
    )  # fmt: skip


CLAIMS = (
    _claim("forces-balance", "the forces of a query sum to zero",
           "largest |sum| over the largest force, five functions, all pairs and neighbours, 20 "
           "random queries each", ROUNDING, "at most", "own code"),
    _claim("pairwise-errors-fall", "the example: moving relevant documents from ranks 1 and n to 2 "
           "and 3 lowers the pairwise errors by n - 4", f"counted, n = {N}", N - 4.0, "equal",
           "worked example"),
    _claim("winner-lost", "the example: the winner-takes-all error is then the largest",
           f"counted, n = {N}", 1.0, "equal", "worked example"),
)  # fmt: skip


def pairwise_errors(ranks: tuple[int, ...]) -> int:
    """Irrelevant documents above relevant ones, whose ranks are given."""
    return sum(rank - 1 - sum(other < rank for other in ranks) for rank in ranks)


def imbalance(seed: int) -> float:
    """The largest sum of a query's forces over the largest of them."""
    return max(
        poincare.diagnose(
            Lambda(name, neighbours, 0.1 if name == "ndcg-difference" else 0.0),
            np.random.default_rng(seed),
        ).net
        for name, neighbours in product(LAMBDAS, (False, True))
    )


def measured(seed: int) -> dict[str, Measured]:
    """What the claims are judged by."""
    before, after = (1, N), (2, 3)
    found = {
        "forces-balance": imbalance(seed),
        "pairwise-errors-fall": float(pairwise_errors(before) - pairwise_errors(after)),
        "winner-lost": float(min(after) > 1) - float(min(before) > 1),
    }
    return {name: exactly(value) for name, value in found.items()}
