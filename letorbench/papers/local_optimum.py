"""Does training by a lambda function end where NDCG has a local maximum?

The weights that training ends with are moved in random directions. At a local maximum of the
mean NDCG no direction raises it; the share that does says how far from one training ends. With
no rise among n directions, less than 4.6 / n of all directions raise it, at 99 % confidence.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from letorbench.conventions import CONVENTIONS
from letorbench.datasets.queryset import QuerySet
from letorbench.datasets.synthetic.permuted import permuted_cubic
from letorbench.measures import parse, query_metrics
from letorbench.papers.runs import Values
from letorbench.rankers.lambdarank import LambdaRank
from letorbench.solvers.validation import Validation

MEASURE = "ndcg@10"
#: queries of the training, validation and test set, features and documents a query
SIZES, FEATURES, DOCUMENTS = (300, 200, 400), 10, 20
#: learning rates that validation chooses among, as the forces' sizes differ
RATES = (1e-4, 1e-3, 1e-2, 1e-1)
DIRECTIONS = 200
#: lengths of the moves, relative to the weights
MOVES = (0.003, 0.01, 0.03, 0.1)


@dataclass(frozen=True, eq=False)
class Trained:
    """What a lambda function's training gave.

    rises: for each move, the share of directions in which the training NDCG rises; gain: the
    largest rise; validation, test: its NDCG.
    """

    rises: tuple[float, ...]
    gain: float
    validation: float
    test: Values


def sets(seed: int) -> tuple[QuerySet, ...]:
    """The three sets that all functions share."""
    return permuted_cubic(np.random.default_rng(seed), SIZES, FEATURES, DOCUMENTS)


def ndcg(queries: QuerySet, scores: np.ndarray) -> np.ndarray:
    """(n_queries,) NDCG@10."""
    rules = CONVENTIONS["standard"]
    return query_metrics(queries.labels, scores, queries.offsets, [parse(MEASURE)], rules)[:, 0]


def trained(
    function: str, neighbours: bool, margin: float, parts: tuple[QuerySet, ...], seed: int
) -> Trained:
    """Train linear nets, choose the rate on validation, and move the weights."""
    train, validation, test = parts
    checked = Validation(validation, parse(MEASURE), CONVENTIONS["standard"])
    best, scored = None, -1.0
    for rate in RATES:
        net = LambdaRank(
            layers=1, learning_rate=rate, epochs=60, function=function, neighbours=neighbours,
            margin=margin,
        )  # fmt: skip
        model = net.learn(train, checked, np.random.default_rng(seed)).model
        found = float(ndcg(validation, model.predict(validation.features)).mean())
        if found > scored:
            best, scored = model, found
    x = train.features.astype(np.float64)
    # a linear model's weights, from its scores
    w = np.linalg.lstsq(np.column_stack([x, np.ones(len(x))]), best.predict(x), rcond=None)[0][:-1]
    start = float(ndcg(train, x @ w).mean())
    rng = np.random.default_rng(seed)
    directions = rng.normal(size=(DIRECTIONS, len(w)))
    directions *= np.linalg.norm(w) / np.linalg.norm(directions, axis=1, keepdims=True)
    change = np.array(
        [[ndcg(train, x @ (w + move * d)).mean() - start for d in directions] for move in MOVES]
    )
    values = ndcg(test, best.predict(test.features))[:, None]
    return Trained(
        tuple((change > 1e-12).mean(axis=1).tolist()), float(change.max()), scored,
        Values((MEASURE,), values, np.ones(test.n_queries, dtype=np.int64)),
    )  # fmt: skip
