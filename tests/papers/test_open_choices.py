"""What papers leave open: every combination is there, and changes are taken between right pairs."""

from __future__ import annotations

import numpy as np
import pytest

from letorbench.papers import (
    consistency_2011,
    consistency_theory,
    laboratory,
    lambda_rules,
)
from letorbench.papers.runs import CUTOFFS, Values


def test_the_best_case_is_picked_on_other_folds(rng):
    folds = np.repeat([1, 2], 20)

    def values(first, second):
        level = np.where(folds == 1, first, second)[:, None]
        return Values(CUTOFFS, np.repeat(level, len(CUTOFFS), axis=1), folds)

    found = {
        "cross-entropy": values(0.4, 0.4),
        # the best of its own fold is the worst by the other: nothing is gained by picking
        "cross-entropy-ndcg@1": values(0.8, 0.2),
        "cross-entropy-ndcg@10": values(0.2, 0.7),
        "cross-entropy-ndcg": values(0.3, 0.3),
    }
    (claim,) = (c for c in consistency_2011.CLAIMS if c.id == "hp2003-best-case")
    verdict = claim.judge(found)
    assert verdict.value == pytest.approx(0.2 / 0.4 - 1.0)
    assert "picked by all queries: cross-entropy-ndcg@1, +25.0 %" in verdict.note


def test_the_order_of_the_expected_shares_is_the_best_and_others_are_not(rng):
    eta = laboratory.Eta(consistency_2011.LABELLINGS, consistency_2011.PROBABILITIES)
    assert consistency_theory.order_excess(eta) == pytest.approx(0.0, abs=1e-12)
    # section 3.2.1: E[G] ranks the first document first, E[G / Z] the second
    assert np.argmax(consistency_theory.ranked_by("least-squares", eta)) == 0
    assert np.argmax(eta.expected_gains()) == 1
    swapped = laboratory.Eta(eta.labels[:, ::-1], eta.probabilities)
    shares = swapped.expected_gains

    class Wrong(laboratory.Eta):
        def expected_gains(self):
            return -shares()

    assert consistency_theory.order_excess(Wrong(swapped.labels, swapped.probabilities)) > 0.1


@pytest.mark.parametrize("name", consistency_theory.PSI)
def test_a_surrogate_of_ones_own_psi_is_least_at_the_slope_of_psi(name, rng):
    """grad psi* at the minimiser is E[G / Z]."""
    own = consistency_theory.psi_loss(name)
    eta = laboratory.draw_eta(rng, 3)
    ((scores,), _) = laboratory.minimisers(own, [eta], rng)
    _, slope = consistency_theory.PSI[name][1](scores)
    np.testing.assert_allclose(slope, eta.expected_gains(), atol=1e-4)


def test_pairwise_errors_are_counted(rng):
    for _ in range(20):
        ranks = tuple(sorted(rng.choice(np.arange(1, 11), 3, replace=False).tolist()))
        relevant = [rank in ranks for rank in range(1, 11)]
        counted = sum(not relevant[i] and relevant[j] for j in range(10) for i in range(j))
        assert lambda_rules.pairwise_errors(ranks) == counted
