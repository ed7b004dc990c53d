"""The lecture's worked examples."""

from __future__ import annotations

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
