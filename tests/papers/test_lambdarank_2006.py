"""The Poincaré test on fields whose answer is known, slopes, timings, and the small figure."""

from __future__ import annotations

import numpy as np
import pytest

from letorbench.datasets.synthetic.cubic import cubic
from letorbench.losses.lambdas import Lambda
from letorbench.papers import (
    lambdarank_artificial,
    lambdarank_timing,
    poincare,
    speed,
)
from letorbench.papers.runs import Study


class Rotation:
    """lambda = A s with A antisymmetric: no cost has it as its gradient."""

    def __call__(self, scores, queries):
        n = int(queries.lengths[0])
        matrix = np.triu(np.ones((n, n)), 1)
        return (scores.reshape(-1, n) @ (matrix.T - matrix)).ravel()


class Saddle:
    """lambda = minus the gradient of a cost that is concave along the first score."""

    def __call__(self, scores, queries):
        first = np.arange(len(scores)) % queries.lengths[0] == 0
        return np.where(first, 2.0, -1.0) * scores


def test_a_field_without_a_cost_is_told_from_one_with(rng):
    rotation = poincare.diagnose(Rotation(), rng, trials=3)
    assert rotation.asymmetry == pytest.approx(2.0)
    assert rotation.circulation > 0.01
    saddle = poincare.diagnose(Saddle(), rng, trials=3)
    assert saddle.asymmetry < 1e-6 and saddle.circulation < 1e-6
    assert saddle.lowest == pytest.approx(-1.0)


def test_ranknet_has_a_convex_cost_and_lambdarank_jumps(rng):
    plain = poincare.diagnose(Lambda("ranknet"), rng, trials=3)
    assert plain.asymmetry < 1e-6 and plain.lowest > -1e-6 and plain.circulation < 1e-10
    scaled = poincare.diagnose(Lambda("ranknet-ndcg"), rng, trials=3)
    assert scaled.asymmetry < 1e-6 and scaled.circulation > 1e-3
    assert scaled.net < 1e-12


def test_jacobian_is_the_derivative_of_the_forces(rng):
    (queries,) = cubic(rng, [1], 5, 6)
    scores = np.array([0.0, 0.7, -0.4, 1.9, 3.0, -2.0])
    matrix = poincare.jacobian(Lambda("ranknet"), scores, queries)
    labels = queries.labels
    for i in range(6):
        for j in range(6):
            if i != j:
                pull = 1.0 / (1.0 + np.exp(scores[i] - scores[j]))
                expected = pull * (1.0 - pull) * (labels[i] != labels[j])
                assert matrix[i, j] == pytest.approx(expected, abs=1e-8)


def test_no_timing_holds_the_time_of_making_machine_code(tmp_path, monkeypatch):
    calls = []

    def fit_seconds(queries, passes, layers, epochs):
        calls.append(passes)
        return 0.01 * epochs if len(calls) > 1 else 30.0

    monkeypatch.setattr(speed, "_fit_seconds", fit_seconds)
    monkeypatch.setattr(lambdarank_timing, "SIZES", (10, 20, 30))
    monkeypatch.setattr(
        lambdarank_timing,
        "web_shaped",
        lambda seed: cubic(np.random.default_rng(seed), [5, 5], 4, 9),
    )
    made = lambdarank_timing._measured(Study(tmp_path, tmp_path), 8.0)
    assert max(timing["seconds"] for timing in made["timings"]) < 0.1


def test_the_artificial_figure_is_over_draws(tmp_path, monkeypatch):
    sizes = (30, 15, 40)
    for name, value in {"FULL": sizes, "SMALL": sizes, "EPOCHS": 2, "ROWS": 500, "DRAWS": 2,
                        "RATES": (1e-3, 1e-2)}.items():  # fmt: skip
        monkeypatch.setattr(lambdarank_artificial, name, value)
    said: list[str] = []
    study = Study(tmp_path, tmp_path, setting="published", say=said.append)
    verdicts, files, _ = lambdarank_artificial.figure(study)
    assert {v.claim.id for v in verdicts} == {c.id for c in lambdarank_artificial.CLAIMS}
    assert all("of 2 draws" in v.note for v in verdicts)
    data = lambdarank_artificial.made(study, 1).sets
    assert [each.n_queries for each in data] == list(sizes)
    assert set(np.unique(data[0].labels)) <= {0, 2, 3, 4, 5}
    assert any(path.name == "figure-2.png" for path in files)
    count = len(said)
    again, _, _ = lambdarank_artificial.figure(study)
    assert [v.value for v in again] == [v.value for v in verdicts]
    assert len(said) == count  # nothing is drawn or trained again
    # both rates on the first draw, the chosen one on the second
    folder = study.folder("lambdarank-2006") / "artificial"
    assert [len(list((folder / f"draw-{draw}").iterdir())) for draw in (1, 2)] == [8, 4]
