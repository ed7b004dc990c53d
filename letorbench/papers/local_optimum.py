"""Does training by a lambda function end where NDCG has a local maximum?

The weights that training ends with are moved in random directions. At a local maximum of the
mean NDCG no direction raises it; the share that does says how far from one training ends. With
no rise among n directions, less than 4.6 / n of all directions raise it, at 99 % confidence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from letorbench.conventions import CONVENTIONS
from letorbench.datasets.queryset import QuerySet
from letorbench.measures import parse, query_metrics
from letorbench.papers.claims import Measured
from letorbench.papers.permuted_cubic import permuted_cubic
from letorbench.papers.runs import Values
from letorbench.rankers.lambdarank import LambdaRank
from letorbench.solvers.stopping import Validation

MEASURE = "ndcg@10"
#: queries of the training, validation and test set, features and documents a query
SIZES, FEATURES, DOCUMENTS = (300, 200, 400), 10, 20
#: learning rates that validation chooses among, as the forces' sizes differ
RATES = (1e-4, 1e-3, 1e-2, 1e-1)
DIRECTIONS = 200
#: draws of the data, each with its own start of the nets
DRAWS = 3
#: lengths of the moves, relative to the weights
MOVES = (0.003, 0.01, 0.03, 0.1)


@dataclass(frozen=True, eq=False)
class Trained:
    """What a lambda function's training gave.

    rises: for each move, the share of directions in which the training NDCG rises; gain: the
    largest rise; validation: its mean NDCG; held, test: the NDCG of the validation and the test
    queries; every: the `rises` of each draw, where there are several.
    """

    rises: tuple[float, ...]
    gain: float
    validation: float
    held: Values
    test: Values
    every: tuple[tuple[float, ...], ...] = ()

    def share(self, move: int) -> Measured:
        """The share of directions that rise by a move, the mean of all draws and their range."""
        found = [rises[move] for rises in self.every or (self.rises,)]
        return Measured(float(np.mean(found)), min(found), max(found))


def over_draws(draws: Sequence[Trained]) -> Trained:
    """The trainings of several draws as one: means, and the queries of all; a draw is a fold."""

    def joined(parts: Sequence[Values]) -> Values:
        return Values(
            (MEASURE,),
            np.concatenate([part.values for part in parts]),
            np.repeat(np.arange(1, len(parts) + 1), [len(part.folds) for part in parts]),
        )

    every = tuple(each.rises for each in draws)
    return Trained(
        tuple(np.mean(every, axis=0).tolist()),
        max(each.gain for each in draws),
        float(np.mean([each.validation for each in draws])),
        joined([each.held for each in draws]),
        joined([each.test for each in draws]),
        every,
    )


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

    def measured(part: QuerySet) -> Values:
        values = ndcg(part, best.predict(part.features))[:, None]
        return Values((MEASURE,), values, np.ones(part.n_queries, dtype=np.int64))

    return Trained(
        tuple((change > 1e-12).mean(axis=1).tolist()), float(change.max()), scored,
        measured(validation), measured(test),
    )  # fmt: skip
