"""The quick training measure against `measures.evaluate`, ties and odd queries included."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import random_queries

from letorbench.measures import evaluate, parse
from letorbench.measures.convention import CONVENTIONS
from letorbench.optimizers.training_measure import TrainingMeasure


@pytest.mark.parametrize("measure", ["map", "ndcg@10", "ndcg@1", "ndcg"])
@pytest.mark.parametrize("grid", [0.0, 1.0, 100.0])
def test_is_the_measure(rng: np.random.Generator, measure: str, grid: float) -> None:
    queries = random_queries(rng, [1, 30, 0, 2, 57, 10, 1, 0], levels=4)
    queries.labels[31:33] = 0
    E = TrainingMeasure.of(queries, parse(measure))
    for _ in range(5):
        scores = np.round(grid * rng.normal(size=queries.n_docs))
        expected = evaluate(
            queries.labels, scores, queries.offsets, [parse(measure)], CONVENTIONS["standard"]
        )
        np.testing.assert_allclose(E(scores), expected[:, 0], rtol=1e-12, atol=0)


def test_nothing_relevant_measures_zero(rng: np.random.Generator) -> None:
    queries = random_queries(rng, [3, 4], levels=1)
    for measure in ("map", "ndcg@10"):
        E = TrainingMeasure.of(queries, parse(measure))
        np.testing.assert_array_equal(E(rng.normal(size=7)), [0.0, 0.0])
