"""The lecture's worked examples."""

from __future__ import annotations

import csv
import itertools
import math

import numpy as np
import pytest

from letorbench.papers import lecture_2018 as lecture
from letorbench.papers.claims import NOT_REPRODUCED, REPRODUCED
from letorbench.papers.runs import Study


def test_average_precision_of_the_example_list():
    assert lecture.average_precision(lecture.LIST) == pytest.approx((1 + 2 / 3 + 3 / 5) / 3)


def test_orders_are_a_distribution_and_the_best_is_by_score():
    for scores in lecture.SCORES.values():
        found = lecture.plackett_luce(scores)
        assert sum(found.values()) == pytest.approx(1.0)
        assert max(found, key=found.get) == tuple(np.argsort(-np.array(scores)))


def test_distances_between_the_ranked_lists():
    f, g, h = lecture.SCORES.values()
    assert lecture.distance(f, g) == pytest.approx(0.46, abs=0.01)
    assert lecture.distance(g, h) / np.log(2.0) == pytest.approx(2.56, abs=0.01)
    assert lecture.distance(f, f) == 0.0


def test_demonstration(tmp_path):
    findings = lecture.examples(Study(tmp_path, tmp_path))
    verdicts = {v.claim.id: v.verdict for v in findings.verdicts}
    assert verdicts.pop("distance-g-h") == NOT_REPRODUCED
    assert verdicts.pop("distance-f-g") == NOT_REPRODUCED
    assert set(verdicts.values()) == {REPRODUCED}
    assert all(path.is_file() for path in findings.files)


#: what the examples came to when they were worked through by hand and by enumeration
NUMBERS = {
    "average-precision": 0.755556, "distance-f-g": 0.467364, "distance-g-h": 1.773113,
    "pairwise-gradient": 0.0, "lambdarank-gradient": 0.0, "point-accuracy": 0.377058,
    "pair-accuracy": 0.251417,
}  # fmt: skip
ROWS = [
    0.755556, 0.467364, 1.773113, 3.289160,
    -1.980622, 1.665729, -0.170005, -1.110665, 1.595562,
    -0.316995, 0.192170, -0.008328, -0.034442, 0.167595,
]  # fmt: skip


def test_every_number_is_the_known_one(tmp_path):
    findings = lecture.examples(Study(tmp_path, tmp_path))
    found = {verdict.claim.id: verdict.value for verdict in findings.verdicts}
    assert found == pytest.approx(NUMBERS, abs=1e-6)
    with findings.files[0].open(newline="") as file:
        values = [float(row["value"]) for row in csv.DictReader(file)]
    assert values == pytest.approx(ROWS, abs=1e-6)


def test_the_notes_give_the_distances_in_bits_too(tmp_path):
    """The formula by plain Python, with the logarithm to the base of 2."""

    def chance(scores, order):
        u = [math.exp(scores[i]) for i in order]
        return math.prod(u[t] / sum(u[t:]) for t in range(3))

    findings = lecture.examples(Study(tmp_path, tmp_path))
    notes = {verdict.claim.id: verdict.note for verdict in findings.verdicts}
    for pair, said in (("fg", "0.46; in nats, {:.4f} in bits"), ("gh", "{:.3f} in bits, as")):
        p, q = (
            [chance(lecture.SCORES[name], order) for order in itertools.permutations(range(3))]
            for name in pair
        )
        bits = sum(a * math.log2(a / b) for a, b in zip(p, q))
        assert said.format(bits) in notes[f"distance-{pair[0]}-{pair[1]}"]


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
