"""LambdaRank's artificial data: what is said over draws, and how linear the outputs are."""

from __future__ import annotations

import numpy as np
import pytest

from letorbench.papers import lambdarank_artificial as artificial
from letorbench.papers.runs import Values


def test_the_interval_over_draws_is_students(rng):
    """The draws' means are the sample; they weigh the same whatever their sizes."""
    draws = artificial.DRAWS
    means = np.linspace(0.5, 0.6, draws) ** 2
    folds = np.repeat(np.arange(1, draws + 1), np.arange(2, draws + 2))
    spread = rng.normal(0.0, 0.1, len(folds))
    for draw in range(1, draws + 1):
        spread[folds == draw] -= spread[folds == draw].mean()
    columns = np.column_stack([np.zeros(len(folds)), means[folds - 1] + spread])
    found = Values(("ndcg@1", "map"), columns, folds)
    assert draws == 5
    half = 2.776445 * means.std(ddof=1) / np.sqrt(5.0)  # t with 4 degrees of freedom, 97.5 %
    expected = (means.mean(), means.mean() - half, means.mean() + half)
    assert artificial._over_draws(found, "map") == pytest.approx(expected, rel=1e-5)


def test_a_linear_model_explains_all_of_a_line_and_nothing_of_a_square(monkeypatch):
    monkeypatch.setattr(artificial, "ROWS", 4_000)
    monkeypatch.setattr(artificial, "outputs", lambda rng, x: 3.0 * x[:, 0] - x[:, 1] + 2.0)
    assert artificial.linear_share([1, 2]) == pytest.approx(1.0, abs=1e-9)
    monkeypatch.setattr(artificial, "outputs", lambda rng, x: x[:, 0].astype(float) ** 2)
    assert 0.0 <= artificial.linear_share([1, 2]) < 0.05
    monkeypatch.setattr(artificial, "outputs", lambda rng, x: x[:, 0].astype(float) ** 3)
    assert artificial.linear_share([1, 2]) == pytest.approx(0.84, abs=0.02)  # 21 / 25
