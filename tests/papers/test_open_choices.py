"""What papers leave open: every combination is there, and changes are taken between right pairs."""

from __future__ import annotations

import numpy as np
import pytest

from letorbench.papers import (
    consistency_2011,
    consistency_theory,
    laboratory,
    lambda_rules,
    local_optimum,
)
from letorbench.papers import consistency_specification as steps
from letorbench.papers import lambdarank_specification as leads
from letorbench.papers.claims import REPRODUCED
from letorbench.papers.runs import CUTOFFS, Study, Values
from letorbench.papers.specification import Specification, share_above, span


def test_changes_are_those_of_a_version_against_its_original():
    def level(method, steps_, tool):
        settings = {"data": "D", "method": method, "steps": steps_, "NDCG": tool}
        return Specification(settings, {"cosine": 0.5, "cosine-ndcg@10": 0.6}.get(method, 0.4))

    levels = [level(m, s, t) for m in steps.METHODS for s in ("500", "optimum")
              for t in steps.TOOLS]  # fmt: skip
    levels[0] = Specification(levels[0].settings, 0.3)  # cosine, 500 steps, standard
    found = steps.changes(levels)
    assert len(found) == 3 * 3 * 2 * 2
    of = {tuple(each.settings.values()): each.value for each in found}
    assert of["D", "cosine", "Z@10", "500", "standard"] == pytest.approx(1.0)
    assert of["D", "cosine", "Z@10", "optimum", "standard"] == pytest.approx(0.2)
    assert of["D", "cosine", "Z", "500", "own tool"] == pytest.approx(-0.2)
    assert of["D", "least-squares", "Z", "500", "standard"] == 0.0
    rows = {row[1]: row[2:] for row in steps.optima(levels)}
    assert len(rows) == len(steps.METHODS)
    np.testing.assert_allclose(rows["cosine"], [0.3, 0.5, 0.2])


def test_consistency_is_measured_by_steps_and_at_the_optimum(tmp_path, monkeypatch):
    monkeypatch.setattr(steps, "PLACES", ("DEMO",))
    monkeypatch.setattr(steps, "STEPS", {"5": 5, "500": 20})
    findings = steps.specification(Study(tmp_path, tmp_path))
    (verdict,) = findings.verdicts
    assert verdict.value in {k / 54 for k in range(55)} and "54 specifications" in verdict.note
    assert "of NDCG@10 apart" in findings.differs[0]
    names = {path.name for path in findings.files}
    assert {"specification.csv", "specification-levels.csv", "optimum.csv"} <= names


def test_leads_cover_every_open_choice(tmp_path, monkeypatch):
    monkeypatch.setattr(leads, "SIZES", (12, 8, 10))
    monkeypatch.setattr(leads, "EPOCHS", 2)
    monkeypatch.setattr(leads, "SEEDS", 1)
    findings = leads.specification(Study(tmp_path, tmp_path))
    assert "32 specifications" in findings.verdicts[0].note
    (path,) = (path for path in findings.files if path.name == "specification.csv")
    rows = path.read_text().splitlines()
    assert len(rows) == 33 and len(set(row.rpartition(",")[0] for row in rows)) == 33


def test_shares_and_spans_by_hand():
    found = [Specification({}, value) for value in (-1.0, 0.0, 2.0, 3.0)]
    assert share_above(found).value == 0.5
    whole = span(found, 2.5)
    assert (whole.value, whole.low, whole.high) == (1.0, -1.0, 3.0)
    assert "75 % of them below 2.5" in whole.note


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


def test_forces_and_the_example_of_section_4(rng):
    found = lambda_rules.measured(0)
    assert {c.judge(found).verdict for c in lambda_rules.CLAIMS} == {REPRODUCED}
    for _ in range(20):
        ranks = tuple(sorted(rng.choice(np.arange(1, 11), 3, replace=False).tolist()))
        relevant = [rank in ranks for rank in range(1, 11)]
        counted = sum(not relevant[i] and relevant[j] for j in range(10) for i in range(j))
        assert lambda_rules.pairwise_errors(ranks) == counted


def test_draws_are_joined_as_folds():
    def trained(rises, n):
        values = Values((local_optimum.MEASURE,), np.full((n, 1), rises), np.ones(n, int))
        return local_optimum.Trained((rises,), rises, rises, values, values)

    both = local_optimum.over_draws([trained(0.1, 3), trained(0.3, 2)])
    assert both.held.folds.tolist() == [1, 1, 1, 2, 2]
    share = both.share(0)
    assert (share.low, share.high) == (0.1, 0.3) and share.value == pytest.approx(0.2)
