"""The laboratory of surrogates, and the theory of the papers that use it: numbers by hand."""

import math

import numpy as np
import pytest
from test_pages import as_shown

from letorbench.losses import loss
from letorbench.papers import consistency_2011 as consistency
from letorbench.papers import functionals, paper, rules
from letorbench.papers.consistency_2011 import surrogates
from letorbench.papers.consistency_2011.surrogates import Eta
from letorbench.papers.paper import PartResult
from letorbench.papers.reproduction import run_part
from letorbench.papers.runs import Context


@pytest.mark.parametrize("name", surrogates.STRONGLY_CONVEX)
def test_theorem_10_bounds_the_regret_and_a_tenth_of_it_does_not(name, monkeypatch):
    def beyond():
        return surrogates.beyond_theorem_10(name, loss(name), np.random.default_rng(0), 60)

    assert beyond() <= 1e-9
    whole = surrogates.theorem_10
    monkeypatch.setattr(surrogates, "theorem_10", lambda *of: 0.02 * whole(*of))
    assert beyond() > 1e-3


SECOND, THIRD = 1.0 / math.log2(3.0), 0.5


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


def answers(name, part, numbers):
    own = [claim for claim in paper(name).claims if claim.part == part]
    return {claim.id: rules.judge(claim, {}, numbers).answer for claim in own}


def test_the_bound_of_a_field_of_three_documents_with_two_labels():
    """As by every sum written out."""
    found = functionals.field_excesses(np.array([0.3, -0.2, 1.1]), 2, 1.0 / 3.0)
    assert found == pytest.approx((-0.0988672571, 0.0, -2.7382030586), abs=1e-9)


def test_the_appendix_holds_and_would_not_with_a_smaller_constant(tmp_path, monkeypatch):
    monkeypatch.setattr(functionals, "PROBLEMS", 40)
    monkeypatch.setattr(functionals, "QUERIES", 300)
    found = functionals.appendix(Context(tmp_path, tmp_path))
    as_shown("functionals.txt", PartResult(numbers=found))
    assert set(answers("functionals", "appendix", found).values()) == {rules.CHECKED}
    rng = np.random.default_rng(0)
    # a tenth of the loss bounds 1 - NDCG no longer
    whole = functionals.PairwiseLoss

    def tenth(name):
        return lambda scores, queries: (0.1 * whole(name)(scores, queries)[0], None)

    monkeypatch.setattr(functionals, "PairwiseLoss", tenth)
    assert functionals.beyond_loss("logistic", rng, 300) > 0.01


def test_the_order_of_the_expected_shares_is_the_best_and_others_are_not(monkeypatch):
    eta = consistency.EXAMPLE
    assert consistency.order_excess(eta) == pytest.approx(0.0, abs=1e-12)
    shares = eta.expected_gains()
    np.testing.assert_allclose(shares, [0.3216, 0.7533], atol=5e-5)
    lost = (shares[1] - shares[0]) * (1.0 - SECOND)
    assert surrogates.regret(-shares, shares) == pytest.approx(lost)
    monkeypatch.setattr(Eta, "expected_gains", lambda self: -shares)
    assert consistency.order_excess(eta) > 0.1


def test_the_worked_examples_agree(tmp_path):
    slips = {"distance-f-g", "distance-g-h"}  # in different units
    for name, part in (("consistency-2011", "example"), ("lecture-2018", "examples")):
        found = run_part(paper(name), paper(name).parts[part], Context(tmp_path, tmp_path))
        for claim, answer in answers(name, part, found.numbers).items():
            assert answer == (rules.SLIP if claim in slips else rules.AGREES)
    as_shown("lecture.txt", found)


def test_the_bound_for_cross_entropy_is_pinskers(rng):
    u, v = rng.dirichlet(np.ones(3), size=(2, 500)) * np.log2(4.0)  # of the largest mass
    D = (u * np.log(u / v)).sum(axis=1)
    C, dual = surrogates.STRONGLY_CONVEX["cross-entropy-ndcg"](3)
    share = D / np.abs(u - v).sum(axis=1) ** 2
    assert C <= share.min() < 1.2 * C and dual == np.inf
