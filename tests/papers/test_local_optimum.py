"""Random moves of trained weights: what ends at a maximum of NDCG, and what does not."""

from __future__ import annotations

import numpy as np

from letorbench.papers import local_optimum


def test_moves_rise_from_bad_weights_and_seldom_from_good_ones(monkeypatch):
    monkeypatch.setattr(local_optimum, "SIZES", (60, 40, 40))
    monkeypatch.setattr(local_optimum, "FEATURES", 4)
    monkeypatch.setattr(local_optimum, "DIRECTIONS", 40)
    parts = local_optimum.sets(0)
    monkeypatch.setattr(local_optimum, "RATES", (1e-2,))
    good = local_optimum.trained("ranknet-ndcg", False, 0.0, parts, 0)
    monkeypatch.setattr(local_optimum, "RATES", (1e-12,))
    bad = local_optimum.trained("ranknet-ndcg", False, 0.0, parts, 0)
    assert good.validation > bad.validation
    assert bad.gain > good.gain >= 0.0
    assert len(good.rises) == len(local_optimum.MOVES)
    assert all(0.0 <= share <= 1.0 for share in (*good.rises, *bad.rises))
    assert good.test.values.shape == (40, 1)
    assert np.isfinite(good.test.values).all()
