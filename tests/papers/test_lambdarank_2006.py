"""The Poincaré test on fields whose answer is known, slopes, timings, and the small figure."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import random_queries

from letorbench.datasets.synthetic.cubic import cubic
from letorbench.losses.lambdas import Lambda
from letorbench.papers import (
    artificial,
    lambda_rules,
    lambdarank_artificial,
    lambdarank_timing,
    poincare,
    speed,
)
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


def test_fields_are_tested_at_labels_0_to_4(rng):
    seen = []

    def force(scores, queries):
        seen.append(sorted(queries.labels[: queries.lengths[0]].tolist()))
        return np.zeros(len(scores))

    poincare.diagnose(force, rng, documents=7, trials=2)
    assert all(labels == [0, 0, 1, 1, 2, 3, 4] for labels in seen)


def test_forces_are_summed_on_as_many_queries_as_the_claim_says(rng, monkeypatch):
    tried = []

    def trial(*of):
        tried.append(of)
        return 0.0, 0.0, 0.0, 0.0

    monkeypatch.setattr(poincare, "_trial", trial)
    poincare.diagnose(Lambda("ranknet"), rng)
    (claim,) = (each for each in lambda_rules.CLAIMS if each.id == "forces-balance")
    assert f" {len(tried)} random queries each" in claim.how


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
    for version in speed.PASSES:
        assert [t.documents for t in timings if t.version == version] == sizes[: speed.FEWEST]
    assert all(t.seconds > 0.0 for t in timings)


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


def test_pair_by_pair_is_slower_on_queries_of_the_web_sets_shape():
    train, validation = lambdarank_timing.web_shaped(0, 300)
    assert train.n_features == validation.n_features == 367 and train.n_queries == 300
    assert train.n_docs / 300 == pytest.approx(26.1, abs=0.5)
    found = speed.ratios(train, 1, repeats=1)
    assert found["V2"][0] > 1.5 and found["ours"][0] > 1.5


def test_the_timing_is_judged_and_explained(tmp_path, monkeypatch):
    """Made-up seconds: V1 is quadratic, V2 grows with the power 1.5, ours is linear."""
    power = {"V1": 2.0, "V2": 1.5, "ours": 1.0}
    last = {"V1": 4_000, "V2": 8_000, "ours": 16_000}
    timings = [
        {"version": v, "layers": layers, "documents": n, "seconds": layers * n ** power[v]}
        for v in power for layers in (1, 2) for n in (1_000, 2_000, 4_000, 8_000, 16_000)
        if n <= last[v]
    ]  # fmt: skip
    ways = {"pairwise": 2.0, "paper": 1.0, "factored": 0.5, "online": 2.1}
    made = {
        "timings": timings, "pairs": 8.25,
        "ratios": {
            "1": {"V2": [5.0, 6.0, 9.0], "ours": [7.0, 7.5, 8.0]},
            "2": {"V2": [1.0, 2.0, 3.0], "ours": [4.0, 4.0, 4.5]},
        },
        "lessons": [
            {"version": way, "seconds": [each, 2 * each], "ndcg": [0.5, 0.51]}
            for way, each in ways.items()
        ],
    }  # fmt: skip
    made["lessons"][-1]["ndcg"] = [0.5, 0.5]
    monkeypatch.setattr(lambdarank_timing, "_measured", lambda study, patience: made)
    monkeypatch.setattr(lambdarank_timing, "_drawn", lambda *of: [])
    found = lambdarank_timing.timing(Study(tmp_path, tmp_path))
    by_name = {verdict.claim.id: verdict for verdict in found.verdicts}
    assert {name: verdict.value for name, verdict in by_name.items()} == pytest.approx({
        "speed-linear": 6.0, "speed-two-layer": 2.0, "slope-v1": 2.0, "slope-v2": 1.5,
        "batch-converges": 0.02, "batch-time": 1.05,
    })  # fmt: skip
    notes = {name: verdict.note for name, verdict in by_name.items()}
    assert notes["speed-linear"].endswith("of 3; V1 over ours 7.5; 8.2 pairs a document")
    assert notes["slope-v1"] == "linear: 2.000; 500 to 4,000 documents"
    assert "linear: 1.500; 500 to 8,000 documents; with one exp" in notes["slope-v2"]
    assert "a document 1.000 to 16,000: V2 as" in notes["slope-v2"]
    assert notes["batch-converges"] == "after 2 epochs 0.5100 and 0.5000"
    assert (
        "V1 to 4,000 and V2 to 8,000, where an epoch would take more than 8 s" in found.differs[1]
    )


def test_pairs_per_document_counts_pairs_of_different_labels(rng):
    queries = random_queries(rng, [5, 1, 8], levels=3)
    pairs = sum(
        int((np.subtract.outer(part, part) > 0).sum())
        for part in np.split(queries.labels, queries.offsets[1:-1])
    )
    assert speed.pairs_per_document(queries) == pytest.approx(pairs / 14)


def test_the_recipes_outputs_are_a_third_linear():
    shares = [lambdarank_artificial.linear_share([0, draw]) for draw in range(3)]
    assert all(0.25 < share < 0.45 for share in shares)


@pytest.mark.parametrize("setting", ["default", "published"])
def test_the_artificial_figure_is_over_draws(setting, tmp_path, monkeypatch):
    sizes = (30, 15, 40)
    for name, value in {"FULL": sizes, "SMALL": sizes, "EPOCHS": 2, "ROWS": 500, "DRAWS": 2,
                        "RATES": (1e-3, 1e-2)}.items():  # fmt: skip
        monkeypatch.setattr(lambdarank_artificial, name, value)
    said: list[str] = []
    study = Study(tmp_path, tmp_path, setting=setting, say=said.append)
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
    if setting == "published":
        # both rates on the first draw, the chosen one on the second
        assert len(list((study.folder("lambdarank-2006") / "artificial/draw-1").iterdir())) == 8
        assert len(list((study.folder("lambdarank-2006") / "artificial/draw-2").iterdir())) == 4


def test_generated_runs_are_kept(tmp_path):
    def make():
        return cubic(np.random.default_rng(1), [30, 10, 10], 5, 8)

    made = artificial.Generated({"seed": 1}, make)
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
    other = artificial.Generated({"seed": 2}, make)
    artificial.runs(study, tmp_path / "a", other, variants, ["ndcg@3"])
    assert len(said) == 4


def test_forces_that_never_change_have_a_cost_without_a_bend(rng):
    class Constant:
        def __call__(self, scores, queries):
            return np.full(len(scores), 2.0)

    found = poincare.diagnose(Constant(), rng, trials=3)
    assert (found.asymmetry, found.lowest) == (0.0, 0.0)
    assert found.circulation < 1e-12
    assert found.net == pytest.approx(8.0)  # eight equal forces over one of them
