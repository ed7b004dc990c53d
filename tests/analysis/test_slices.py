"""Slices of queries by difficulty favour none of the algorithms that are compared."""

import numpy as np

from letorbench.analysis.slices import sliced
from letorbench.results.per_query import PerQuery


def test_slices_by_difficulty_find_no_difference_where_there_is_none(rng):
    """Two algorithms of equal quality, each with noise of its own, and `ideal` beside them."""
    n = 4_000
    base, folds, qids = rng.random(n), np.ones(n, int), np.arange(n).astype(str)
    values = {algo: base + rng.normal(0.0, 0.3, n) for algo in ("a", "b")}
    values["ideal"] = values["a"]
    systems = [PerQuery(algo, folds, qids, {"map": own}) for algo, own in values.items()]
    slices = sliced("difficulty", systems, "map", None)
    assert [len(a.qids) for a, *_ in slices.values()] == [1_000] * 4
    for a, b, _ in slices.values():
        d = a.values["map"] - b.values["map"]
        assert abs(d.mean()) < 4.0 * d.std() / np.sqrt(len(d))
    means = [a.mean("map") + b.mean("map") for a, b, _ in slices.values()]
    assert means == sorted(means)
