"""The laboratory of surrogates on losses whose properties are known, and on a file's loss."""

from __future__ import annotations

import numpy as np
import pytest
from click.testing import CliRunner

from letorbench.cli.study import study
from letorbench.losses import loss
from letorbench.papers import laboratory
from letorbench.papers.laboratory import Eta

MINE = """
import numpy as np
from letorbench.losses.base import CustomLoss, ValueAndGradient

def backwards(scores, queries):
    d = scores + queries.labels
    value = np.add.reduceat(d * d, queries.offsets[:-1])
    return ValueAndGradient(value, 2.0 * d)

LOSS = CustomLoss("backwards", "|s + r|^2", backwards)
"""


def test_minimiser_of_squares_is_the_mean(rng):
    eta = Eta(np.array([[5, 4], [1, 3]]), np.array([0.3, 0.7]))
    (found,), (least,) = laboratory.minimisers(loss("least-squares"), [eta], rng)
    np.testing.assert_allclose(found, [10.0, 9.4], atol=1e-5)
    assert least == pytest.approx(0.3 * (21**2 + 5.6**2) + 0.7 * (9**2 + 2.4**2), rel=1e-9)
    np.testing.assert_allclose(eta.expected_gains(), [0.3216, 0.7533], atol=5e-5)
    assert laboratory.misordered(found, eta.expected_gains())
    assert laboratory.regret(found, eta.expected_gains()) == pytest.approx(
        (0.7533 - 0.3216) * (1.0 - 1.0 / np.log2(3.0)), abs=1e-4
    )


@pytest.mark.parametrize(
    ("name", "consistent", "convex"),
    [
        ("least-squares", False, True),
        ("cross-entropy", False, True),
        ("least-squares-ndcg", True, True),
        ("qnorm-penalised", True, True),
        ("cosine-ndcg", True, False),
    ],
)
def test_known_properties_are_found(name, consistent, convex):
    worst, share = laboratory.counterexample(loss(name), np.random.default_rng(0), 100)
    assert (worst is None) == consistent and (share == 0.0) == consistent
    violation = laboratory.nonconvexity(loss(name), np.random.default_rng(0), 4_000)
    assert (violation < 1e-9) == convex


@pytest.mark.parametrize("name", laboratory.STRONGLY_CONVEX)
def test_theorem_10_bounds_the_regret_and_a_tenth_of_it_does_not(name, monkeypatch):
    found = laboratory.regrets(loss(name), np.random.default_rng(0), 60)
    assert found.beyond(name) <= 1e-9
    whole = laboratory.theorem_10
    monkeypatch.setattr(laboratory, "theorem_10", lambda *of: 0.02 * whole(*of))
    assert found.beyond(name) > 1e-3


def test_theorem_11_and_the_margin():
    name = "least-squares-ndcg"
    short, over = laboratory.theorem_11(name, loss(name), np.random.default_rng(0), 60)
    assert short < 1e-9 and over < 1e-9
    assert laboratory.margin(np.array([0.2, 0.9, 0.5])) == pytest.approx(
        0.3 * (1.0 / np.log2(3.0) - 0.5)
    )


def test_a_loss_of_a_file_is_studied(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(MINE)
    arguments = [str(path), "--trials", "20", "--out", str(tmp_path / "results")]
    result = CliRunner().invoke(study, arguments)
    assert result.exit_code == 0, result.output
    assert "not NDCG consistent" in result.output and "may be convex" in result.output
    folder = tmp_path / "results/study/backwards"
    assert {"counterexample.csv", "convexity.csv", "regret.csv", "learning.csv", "study.png"} <= {
        file.name for file in folder.iterdir()
    }
    for wrong in (f"{path}:other", str(tmp_path / "none.py"), "no-such-loss"):
        assert CliRunner().invoke(study, [wrong, "--out", str(tmp_path)]).exit_code != 0
