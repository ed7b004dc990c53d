"""RMSE by hand, and what AUC is with two labels."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import random_queries, unlocked

import letorbench as lb
from letorbench.conventions import CONVENTIONS
from letorbench.measures import query_metrics


def test_rmse_is_the_root_of_each_querys_mean_square(rng):
    queries = random_queries(rng, [3, 0, 1], levels=3)
    with unlocked(queries):
        queries.labels[:] = [0, 1, 2, 1]
    found = lb.rmse(np.array([1.0, 1.0, 0.0, 1.0]), queries)
    np.testing.assert_allclose(found, [np.sqrt(5.0 / 3.0), 0.0, 0.0])
    with pytest.raises(lb.DataError, match="found 3 scores, expected 4"):
        lb.rmse(np.zeros(3), queries)


def test_auc_is_the_share_of_right_pairs_where_labels_are_binary(rng):
    queries = random_queries(rng, [1, 7, 30, 0, 12], levels=2)
    scores = rng.normal(size=queries.n_docs)
    both = query_metrics(
        queries.labels, scores, queries.offsets, [lb.AUC, lb.PairwiseCorrect],
        CONVENTIONS["standard"],
    )  # fmt: skip
    np.testing.assert_allclose(both[:, 0], both[:, 1], rtol=1e-14)
