"""The lecture's worked examples."""

from __future__ import annotations

import itertools
import math

import pytest

from letorbench.papers import lecture_2018 as lecture
from letorbench.papers.runs import Study

#: what the examples came to when they were worked through by hand and by enumeration
NUMBERS = {
    "average-precision": 0.755556, "distance-f-g": 0.467364, "distance-g-h": 1.773113,
    "pairwise-gradient": 0.0, "lambdarank-gradient": 0.0, "point-accuracy": 0.377058,
    "pair-accuracy": 0.251417,
}  # fmt: skip


def test_every_number_is_the_known_one(tmp_path):
    findings = lecture.examples(Study(tmp_path, tmp_path))
    found = {verdict.claim.id: verdict.value for verdict in findings.verdicts}
    assert found == pytest.approx(NUMBERS, abs=1e-6)


def test_two_rankings_of_one_error_differ_by_plain_python():
    def dcg(labels):
        return sum((2**r - 1) / math.log2(1 + i) for i, r in enumerate(labels, 1))

    labels = (4, 3, 2, 0)
    by_error = {}
    for order in itertools.permutations(range(4)):
        ranked = [labels[i] for i in order]
        wrong = sum(a < b for a, b in itertools.combinations(ranked, 2))
        by_error.setdefault(wrong, []).append(dcg(ranked) / dcg(labels))
    expected = max(max(values) - min(values) for values in by_error.values())
    assert lecture.same_pair_error() == pytest.approx(expected)
