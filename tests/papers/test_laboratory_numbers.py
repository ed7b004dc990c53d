"""The laboratory's definitions on numbers worked out by hand, and what its report says of them."""

from __future__ import annotations

import csv
import math

import numpy as np
import pytest

from letorbench.losses import loss
from letorbench.papers import laboratory, laboratory_report, paper_figures
from letorbench.papers.laboratory import Counterexample, Eta, Regrets
from letorbench.papers.laboratory_report import LossStudy

SECOND, THIRD = 1.0 / math.log2(3.0), 0.5


def test_the_regret_is_the_ndcg_lost_by_the_order():
    u = np.array([0.2, 0.9, 0.5])
    assert laboratory.regret(np.array([1.0, 3.0, 2.0]), u) == 0.0
    # the order 2, 0, 1 instead of 1, 2, 0
    lost = (0.9 + 0.5 * SECOND + 0.2 * THIRD) - (0.5 + 0.2 * SECOND + 0.9 * THIRD)
    assert laboratory.regret(np.array([2.0, 1.0, 3.0]), u) == pytest.approx(lost)
    # equal scores keep the file's order
    lost = (0.9 + 0.5 * SECOND + 0.2 * THIRD) - (0.2 + 0.9 * SECOND + 0.5 * THIRD)
    assert laboratory.regret(np.zeros(3), u) == pytest.approx(lost)


def test_every_labelling_that_is_drawn_has_a_relevant_document(rng):
    """Where there is one document, it is that one, and has any label but 0."""
    eta = laboratory.draw_eta(rng, 1, 200)
    assert set(eta.labels.ravel().tolist()) == {1, 2, 3, 4, 5}
    assert eta.probabilities.sum() == pytest.approx(1.0)
    eta = laboratory.draw_eta(rng, 3, 200)
    assert (eta.labels.max(axis=1) > 0).all() and set(eta.labels.ravel()) == set(range(6))


@pytest.mark.parametrize(
    ("u", "scores", "wrong"),
    [
        ((0.5, 0.2), (1.0, 2.0), True),
        ((0.5, 0.2), (2.0, 1.0), False),
        ((0.5, 0.5005), (2.0, 1.0), False),  # u does not tell them apart
        ((0.5, 0.502), (2.0, 1.0), True),
        ((0.5, 0.2, 0.1), (5.0, 5.004, 0.0), False),  # less than 1 in 1,000 of the scores' range
        ((0.5, 0.2, 0.1), (5.0, 5.006, 0.0), True),
        ((0.5, 0.2), (3.0, 3.0), False),
    ],
)
def test_misordered_is_clearly_in_the_other_order(u, scores, wrong):
    assert laboratory.misordered(np.array(scores), np.array(u)) == wrong


def test_theorem_10s_constants():
    """C_F is twice the dual norm of the discounts; psi = |u|^2 has C_phi = 1."""
    two = 2.0 * math.hypot(1.0, SECOND)
    assert laboratory.theorem_10("least-squares-ndcg", 2) == pytest.approx(two)
    q = math.log(3.0) + 2.0
    norm = (1.0 + SECOND**q + THIRD**q) ** (1.0 / q)
    # p - 1 = 1 / (q - 1) where 1/p + 1/q = 1
    expected = 2.0 * norm * math.sqrt(q - 1.0)
    assert laboratory.theorem_10("qnorm-penalised", 3) == pytest.approx(expected)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_theorem_11s_bound_by_plain_python(seed, monkeypatch):
    """Four copies of one labelling: u = G / Z, and the excess is the mean squared move."""
    monkeypatch.setattr(
        laboratory, "draw_eta", lambda rng, m: Eta(np.arange(1, m + 1)[None, :], np.ones(1))
    )
    name = "least-squares-ndcg"
    short, over = laboratory.theorem_11(name, loss(name), np.random.default_rng(seed), mixtures=1)
    rng = np.random.default_rng(seed)
    m = int(rng.integers(2, 5))
    noise = np.exp(rng.uniform(-5.0, 1.0)) * rng.normal(0.0, 1.0, 4 * m)
    discounts = [1.0 / math.log2(1 + rank) for rank in range(1, m + 1)]
    best_first = [2.0 ** (m - i) - 1.0 for i in range(m)]
    Z = sum(g * d for g, d in zip(best_first, discounts))
    u = [(2.0 ** (1 + i) - 1.0) / Z for i in range(m)]
    gamma = min(
        (u[m - 1 - i] - u[m - 2 - i]) * (discounts[i] - discounts[i + 1]) for i in range(m - 1)
    )
    lost = []
    for move in noise.reshape(4, m).tolist():
        order = sorted(range(m), key=lambda i: -(u[i] + move[i]))
        lost.append(1.0 - sum(u[i] * d for i, d in zip(order, discounts)))
    C = 2.0 * math.hypot(*discounts)
    bounds = [
        (C**2 * float(noise @ noise) / 4.0) ** ((alpha + 1.0) / (alpha + 2.0))
        * (gamma**-alpha) ** (1.0 / (alpha + 2.0))
        for alpha in (0.5, 1.0, 2.0)
    ]  # fmt: skip
    assert over == pytest.approx(sum(lost) / 4.0 - min(bounds))
    assert short == pytest.approx(max([0.0, *(gamma - x for x in lost if x > 1e-12)]))


def test_the_steepest_regret_leaves_rounding_out():
    found = Regrets(np.array([1e-9, 4e-4, 1.0]), np.array([0.5, 0.01, 0.3]), np.array([2, 2, 3]))
    assert found.steepest() == pytest.approx(0.01 / 0.02)
    assert found.beyond("cosine") is None
    two, three = (laboratory.theorem_10("least-squares-ndcg", m) for m in (2, 3))
    expected = max(0.5 - two * math.sqrt(1e-9), 0.01 - two * 0.02, 0.3 - three)
    assert found.beyond("least-squares-ndcg") == pytest.approx(expected)
    assert Regrets(np.zeros(2), np.ones(2), np.array([2, 2])).steepest() == 0.0


def test_scores_are_moved_by_shares_of_their_width(monkeypatch):
    """With |s - u|^2 the excess is the squared move: its size is the distance times the width."""
    monkeypatch.setattr(laboratory, "draw_eta", lambda rng, m: Eta(np.full((1, m), 3), np.ones(1)))
    found = laboratory.regrets(loss("least-squares-ndcg"), np.random.default_rng(0), 150)
    by_distance = found.excess.reshape(6, 150)
    documents = found.documents.reshape(6, 150)
    assert (documents == 2 + np.arange(150) % 3).all()
    assert (found.lost == 0.0).all()  # all documents are alike
    # all minimisers are of width 0, which counts as a tenth
    expected = np.square([0.0, 0.01, 0.03, 0.1, 0.3, 1.0]) * 0.1**2
    got = (by_distance / documents).mean(axis=1)
    assert got == pytest.approx(expected, rel=0.25, abs=1e-12)


def test_an_excess_is_relative_to_the_ends_and_the_mean_size_of_the_loss(rng):
    """The loss of two queries at the one ends, at the others, and midway."""
    values = iter([[1.0, 3.0], [1.0, 1.0], [2.0, 2.5]])

    def made_up(scores, queries):
        return np.array(next(values)), scores

    # excesses of 1 and .5; differences of 0 and 2; a mean size of (2 + 4) / 2 / 2
    found = laboratory.nonconvexity(made_up, rng, queries=2)
    assert found == pytest.approx(1.0 / 1.5)
    values = iter([[1.0, 3.0], [1.0, 1.0], [1.0, 2.0]])
    assert laboratory.nonconvexity(made_up, rng, queries=2) == 0.0


def test_known_queries_have_the_mean_of_two_labellings(rng):
    made = laboratory.known(rng, 400, 4)
    assert made.queries.n_queries == 400 and made.u.shape == (400, 4)
    x = made.queries.features.astype(float)
    assert x.shape == (1_600, 8)
    u = made.u.ravel()
    np.testing.assert_allclose(x[:, 0], u, rtol=1e-6)
    np.testing.assert_allclose(x[:, 1], np.log(np.maximum(u, 1e-3)), rtol=1e-5)
    assert x[:, 2].min() >= 0.0 and x[:, 2].max() == pytest.approx(3.1, abs=0.15)
    assert x[:, 3].min() >= 0.0 and 4.5 < x[:, 3].max() <= 5.0
    assert np.abs(x[:, 4:].mean(axis=0)).max() < 0.15 and x[:, 4:].std() == pytest.approx(1.0, 0.1)
    assert made.regret(u) == 0.0
    assert made.regret(-u) > 0.1
    # each query's ideal DCG is 1 in both labellings, so that E[G / Z] sums to at least 1
    assert (made.u.sum(axis=1) >= 1.0).all()
    labels = made.queries.labels
    assert set(labels.tolist()) == {0, 1, 2, 3, 4, 5}
    assert (labels.reshape(400, 4).max(axis=1) > 0).all()
    # the labels that were drawn go with the expected ones
    assert np.corrcoef(labels, x[:, 3])[0, 1] > 0.7


def test_the_curve_has_a_point_for_each_size():
    sizes = (5, 20)
    curve = laboratory.learning_curve(
        loss("least-squares-ndcg"), np.random.default_rng(1), sizes
    )  # fmt: skip
    assert [n for n, _ in curve] == [5, 20]
    assert all(0.0 <= regret < 0.5 for _, regret in curve)


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


def test_the_summary_says_every_number():
    text = "\n".join(laboratory_report.summary(study()))
    assert "12.5 % of 80 distributions are counterexamples, the worst loses 0.1593" in text
    assert "a midpoint is above its ends' mean by 0.25 of them" in text
    assert "regret is at most 1.000 sqrt(excess)" in text  # .001 over the root of 1e-6
    assert "regret 0.5000 from 30 queries, 0.1250 from 3000" in text
    text = "\n".join(laboratory_report.summary(study(worst=False, nonconvexity=1e-10)))
    assert "no counterexample in 80 distributions: may be NDCG consistent" in text
    assert "no violation: may be convex" in text


def test_the_files_hold_every_number(tmp_path, monkeypatch):
    figures = []

    def keep(figure, stem):
        figures.append(figure)
        return []

    monkeypatch.setattr(paper_figures, "write", keep)
    files = laboratory_report.write_study(study(), tmp_path)
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
    three = laboratory.theorem_10("least-squares-ndcg", 3)
    np.testing.assert_allclose(bound[:, 1], np.minimum(three * np.sqrt(bound[:, 0]), 1.0))
    assert learning.get_lines()[0].get_xydata().tolist() == [[30, 0.5], [3000, 0.125]]
    scores = worst.get_lines()[1].get_xydata()
    assert scores.tolist() == [[1.0, 1.0], [2.0, 0.0]]
