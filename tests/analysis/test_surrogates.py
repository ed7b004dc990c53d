"""The laboratory of surrogates: losses of known properties, numbers by hand, its report."""

from __future__ import annotations

import csv
import math

import numpy as np
import pytest
from click.testing import CliRunner

from letorbench.analysis import line_figures, surrogate_report, surrogates
from letorbench.analysis.surrogate_report import LossStudy
from letorbench.analysis.surrogates import Counterexample, Eta, Regrets
from letorbench.cli.study import study as study_command
from letorbench.losses import loss

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
    (found,), (least,) = surrogates.minimisers(loss("least-squares"), [eta], rng)
    np.testing.assert_allclose(found, [10.0, 9.4], atol=1e-5)
    assert least == pytest.approx(0.3 * (21**2 + 5.6**2) + 0.7 * (9**2 + 2.4**2), rel=1e-9)
    np.testing.assert_allclose(eta.expected_gains(), [0.3216, 0.7533], atol=5e-5)
    assert surrogates.misordered(found, eta.expected_gains())
    assert surrogates.regret(found, eta.expected_gains()) == pytest.approx(
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
    worst, share = surrogates.counterexample(loss(name), np.random.default_rng(0), 100)
    assert (worst is None) == consistent and (share == 0.0) == consistent
    violation = surrogates.nonconvexity(loss(name), np.random.default_rng(0), 4_000)
    assert (violation < 1e-9) == convex


@pytest.mark.parametrize("name", surrogates.STRONGLY_CONVEX)
def test_theorem_10_bounds_the_regret_and_a_tenth_of_it_does_not(name, monkeypatch):
    found = surrogates.regrets(loss(name), np.random.default_rng(0), 60)
    assert found.beyond(name) <= 1e-9
    whole = surrogates.theorem_10
    monkeypatch.setattr(surrogates, "theorem_10", lambda *of: 0.02 * whole(*of))
    assert found.beyond(name) > 1e-3


def test_a_loss_of_a_file_is_studied(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(MINE)
    arguments = [str(path), "--trials", "5", "--out", str(tmp_path / "results")]
    result = CliRunner().invoke(study_command, arguments)
    assert result.exit_code == 0, result.output
    assert "not NDCG consistent" in result.output and "may be convex" in result.output
    folder = tmp_path / "results/study/backwards"
    assert {"counterexample.csv", "convexity.csv", "regret.csv", "learning.csv", "study.png"} <= {
        file.name for file in folder.iterdir()
    }
    for wrong in (f"{path}:other", str(tmp_path / "none.py"), "no-such-loss"):
        assert CliRunner().invoke(study_command, [wrong, "--out", str(tmp_path)]).exit_code != 0


SECOND, THIRD = 1.0 / math.log2(3.0), 0.5


def test_the_regret_is_the_ndcg_lost_by_the_order():
    u = np.array([0.2, 0.9, 0.5])
    assert surrogates.regret(np.array([1.0, 3.0, 2.0]), u) == 0.0
    # the order 2, 0, 1 instead of 1, 2, 0
    lost = (0.9 + 0.5 * SECOND + 0.2 * THIRD) - (0.5 + 0.2 * SECOND + 0.9 * THIRD)
    assert surrogates.regret(np.array([2.0, 1.0, 3.0]), u) == pytest.approx(lost)
    # equal scores keep the file's order
    lost = (0.9 + 0.5 * SECOND + 0.2 * THIRD) - (0.2 + 0.9 * SECOND + 0.5 * THIRD)
    assert surrogates.regret(np.zeros(3), u) == pytest.approx(lost)


def test_misordered_is_clearly_in_the_other_order():
    for u, scores, wrong in (
        ((0.5, 0.2), (1.0, 2.0), True),
        ((0.5, 0.2), (2.0, 1.0), False),
        ((0.5, 0.5005), (2.0, 1.0), False),  # u does not tell them apart
        ((0.5, 0.502), (2.0, 1.0), True),
        ((0.5, 0.2, 0.1), (5.0, 5.004, 0.0), False),  # less than 1 in 1,000 of the range
        ((0.5, 0.2, 0.1), (5.0, 5.006, 0.0), True),
    ):
        assert surrogates.misordered(np.array(scores), np.array(u)) == wrong


def test_theorem_10s_constants():
    """C_F is twice the dual norm of the discounts; psi = |u|^2 has C_phi = 1."""
    two = 2.0 * math.hypot(1.0, SECOND)
    assert surrogates.theorem_10("least-squares-ndcg", 2) == pytest.approx(two)
    q = math.log(3.0) + 2.0
    norm = (1.0 + SECOND**q + THIRD**q) ** (1.0 / q)
    # p - 1 = 1 / (q - 1) where 1/p + 1/q = 1
    expected = 2.0 * norm * math.sqrt(q - 1.0)
    assert surrogates.theorem_10("qnorm-penalised", 3) == pytest.approx(expected)


def study(worst=True, nonconvexity=0.25):
    eta = Eta(np.array([[5, 4], [1, 3]]), np.array([0.3, 0.7]))
    example = Counterexample(eta, np.array([10.0, 8.0]), eta.expected_gains(), 0.1593)
    regrets = Regrets(
        np.array([0.0, 1e-6, 0.01]), np.array([0.0, 0.001, 0.05]), np.array([2, 2, 3])
    )
    return LossStudy(
        loss("least-squares-ndcg"), example if worst else None, 0.125, 80, nonconvexity, regrets,
        [(30, 0.5), (3000, 0.125)],
    )  # fmt: skip


def test_the_files_hold_every_number(tmp_path, monkeypatch):
    figures = []

    def keep(figure, stem):
        figures.append(figure)
        return []

    monkeypatch.setattr(line_figures, "write", keep)
    files = surrogate_report.write_study(study(), tmp_path)
    tables = {path.stem: list(csv.reader(path.open())) for path in files if path.suffix == ".csv"}
    head, first, second = tables["counterexample"]
    assert head == ["document", "label (p 0.3000)", "label (p 0.7000)", "E[G/Z]", "score"]
    assert first[:3] == ["0", "5", "1"] and second[:3] == ["1", "4", "3"]
    assert [float(first[3]), float(second[3])] == pytest.approx([0.3216, 0.7533], abs=5e-5)
    assert [float(first[4]), float(second[4])] == [10.0, 8.0]
    assert tables["convexity"][1] == ["least-squares-ndcg", "0.25"]
    assert [list(map(float, row)) for row in tables["regret"][1:]] == [
        [2.0, 0.0, 0.0], [2.0, 1e-6, 0.001], [3.0, 0.01, 0.05]
    ]  # fmt: skip
    assert tables["learning"][1:] == [["30", "0.5"], ["3000", "0.125"]]
    regret, learning, worst = figures[0].axes
    seen, bound = (line.get_xydata() for line in regret.get_lines())
    assert len(seen) == len(bound) == 25
    assert seen[0].tolist() == pytest.approx([1e-6, 0.001]) and seen[-1, 1] == 0.05
    assert (np.diff(seen[:, 1]) >= 0.0).all()
    three = surrogates.theorem_10("least-squares-ndcg", 3)
    np.testing.assert_allclose(bound[:, 1], np.minimum(three * np.sqrt(bound[:, 0]), 1.0))
    assert learning.get_lines()[0].get_xydata().tolist() == [[30, 0.5], [3000, 0.125]]
    scores = worst.get_lines()[1].get_xydata()
    assert scores.tolist() == [[1.0, 1.0], [2.0, 0.0]]
