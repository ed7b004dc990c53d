"""The Poincaré test on fields whose answer is known, slopes, timings, and the small figure."""

from __future__ import annotations

import numpy as np
import pytest

from letorbench.datasets.synthetic.cubic import cubic
from letorbench.losses.lambdas import Lambda
from letorbench.papers import artificial, lambdarank_2006, poincare, speed
from letorbench.papers.runs import Study, Variant


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


def test_slope_of_a_power_law():
    timings = [speed.Timing("V2", 1, n, 1e-6 * n**1.5) for n in (10, 20, 40, 80)]
    found = speed.slope(timings)
    assert (found.value, found.low, found.high) == pytest.approx((1.5, 1.5, 1.5))


def test_timings_stop_where_the_next_would_take_too_long():
    sizes = [40, 50, 60, 70]
    timings = speed.growing(sizes, (1,), patience=0.0, repeats=1)
    assert [t.documents for t in timings if t.version == "V1"] == sizes[: speed.FEWEST]
    assert [t.documents for t in timings if t.version == "V2"] == sizes[: speed.FEWEST]
    assert all(t.seconds > 0.0 for t in timings)


def test_pair_by_pair_is_slower_on_queries_of_the_web_sets_shape():
    queries = lambdarank_2006.web_shaped(0)
    assert queries.n_features == 367 and queries.n_queries == 1_000
    assert queries.n_docs / 1_000 == pytest.approx(26.1, abs=0.5)
    assert speed.ratios(queries, 1, repeats=1)[0] > 2.0


def test_generated_runs_are_kept(tmp_path, rng):
    made = artificial.Generated({"seed": 1}, *cubic(rng, [30, 10, 10], 5, 8))
    said: list[str] = []
    study = Study(tmp_path, tmp_path, jobs=2, say=said.append)
    variants = [
        Variant(f"net-{layers}", "ranknet", {"layers": layers, "epochs": 2}) for layers in (1, 2)
    ]
    first = artificial.runs(study, tmp_path / "a", made, variants, ["ndcg@3", "map"])
    again = artificial.runs(study, tmp_path / "a", made, variants, ["ndcg@3", "map"])
    assert len(said) == 2
    for label in ("net-1", "net-2"):
        np.testing.assert_array_equal(first[label].values, again[label].values)
        assert first[label]["map"].shape == (10,)
    other = artificial.Generated({"seed": 2}, made.train, made.validation, made.test)
    artificial.runs(study, tmp_path / "a", other, variants, ["ndcg@3"])
    assert len(said) == 4
