"""The papers' numbers, LETOR's printed baselines and ours: which meet, and what leads are then."""

import numpy as np
import pytest

from letorbench.papers import paper, printed
from letorbench.papers.runs import Values

PAPER = paper("ndcgboost-2009")
PART = PAPER.parts["printed"]


def constant(mean):
    return Values(PART.measures, np.full((1, 4, len(PART.measures)), mean), np.arange(4))


def test_a_lead_over_the_printed_baseline_differs_from_one_over_ours():
    told = printed.of_paper(PAPER)
    assert told["OHSUMED", "frank", "ndcg@3"] == pytest.approx(0.50 / 1.04)  # implied
    assert printed.baseline("TD2003", "frank", "ndcg@3").value == 0.267
    assert printed.baseline("MQ2007", "listnet", "ndcg@3").source == "letor4-site"  # more digits
    ours = {"a": {"OHSUMED": {"ndcgboost": constant(0.46), "frank": constant(0.43)},
                  "TD2003": {"ranksvm": constant(0.3465)}}}  # fmt: skip
    rows = {tuple(row[:3]): row[3:] for row in printed.numbers(PAPER, PART, ours)}
    assert rows["OHSUMED", "frank", "NDCG@3"] == [pytest.approx(0.4808, abs=1e-4), None, 0.43,
                                                  "by 0 of 1"]  # fmt: skip
    assert rows["TD2003", "ranksvm", "NDCG@3"] == [0.34, 0.344, pytest.approx(0.3465), "by 1 of 1"]
    assert rows["TD2003", "frank", "NDCG@1"] == [None, 0.3, None, "-"]
    leads = {tuple(row[:3]): row[3:] for row in printed.leads(PAPER, PART, ours)}
    assert leads["OHSUMED", "NDCG@3", "ndcgboost over frank"] == ["+4.0 %", "-4.3 %", "+7.0 %"]
    assert leads["TD2003", "NDCG@3", "regression over frank"] == ["+15.0 %", "-", "-"]
    said = printed.sentence(
        printed.numbers(PAPER, PART, ours), printed.leads(PAPER, PART, ours)
    )  # fmt: skip
    assert "frank on OHSUMED 0 of 1" in said and said.endswith("frank on OHSUMED at NDCG@3.")


def test_only_methods_with_a_printed_number_are_run():
    assert printed.compared(PAPER, PART, "OHSUMED") == ["frank", "ndcgboost"]
    assert "frank" not in printed.compared(PAPER, PART, "MQ2008")
    assert printed.meets(0.347, 0.344, 3) and not printed.meets(0.3485, 0.344, 3)
