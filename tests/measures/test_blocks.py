"""Many documents are measured in blocks, which must not show."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import random_queries, unlocked

from letorbench.conventions import CONVENTIONS
from letorbench.measures import ERR, default_measures, evaluation, query_metrics


@pytest.mark.parametrize("name", CONVENTIONS)
def test_measuring_in_blocks_is_measuring_at_once(name, rng, monkeypatch):
    queries = random_queries(rng, [7, 30, 1, 12, 0, 40, 3, 25], levels=2)
    with unlocked(queries):
        queries.labels[-25:] = rng.integers(0, 5, 25)  # the largest labels are in the last block
    scores = np.round(rng.normal(size=queries.n_docs), 1)
    measures = default_measures(CONVENTIONS[name])

    def measured(block: int) -> np.ndarray:
        monkeypatch.setattr(evaluation, "BLOCK", block)
        asked = queries.labels, scores, queries.offsets, measures, CONVENTIONS[name]
        return query_metrics(*asked)

    whole = measured(1_000)
    for block in (1, 10, 50):
        np.testing.assert_array_equal(measured(block), whole)


def test_err_goes_by_the_largest_label_of_all_queries(rng):
    labels, offsets = np.array([1, 0, 4, 0]), np.array([0, 2, 4])
    values = query_metrics(labels, -np.arange(4.0), offsets, [ERR @ 10], CONVENTIONS["standard"])
    assert values[:, 0].tolist() == [1 / 16, 15 / 16]
