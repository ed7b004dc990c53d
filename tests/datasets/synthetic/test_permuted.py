"""The 2005 recipe: a linear model explains about a third of the output."""

from __future__ import annotations

import numpy as np

from letorbench.datasets.synthetic.cubic import outputs, permuted_cubic


def test_linear_share_of_the_variance(rng):
    shares = []
    for _ in range(5):
        x = rng.uniform(-1.0, 1.0, (8_000, 50)).astype(np.float32)
        y = outputs(rng, x)
        assert abs(y.mean()) < 1e-6
        design = np.column_stack([x, np.ones(len(x))])
        rest = y - design @ np.linalg.lstsq(design, y, rcond=None)[0]
        shares.append(1.0 - rest.var() / y.var())
    assert 0.25 < np.mean(shares) < 0.40


def test_sets_share_one_polynomial_and_the_labels_their_shares(rng):
    train, test = permuted_cubic(rng, [300, 200], 10, 20, (0.5, 0.3, 0.2))
    assert (train.n_queries, test.n_queries, train.n_features) == (300, 200, 10)
    assert np.abs(train.features).max() <= 1.0
    labels = np.concatenate([train.labels, test.labels])
    assert (np.bincount(labels) / len(labels)).tolist() == [0.5, 0.3, 0.2]
