"""Coordinate ascent: its exact line search, and what it climbs."""

import numpy as np
import pytest
from conftest import random_queries

from letorbench.conventions import CONVENTIONS
from letorbench.measures import PreparedMetric, parse, query_metrics
from letorbench.rankers.coordinate_ascent import CoordinateAscent, middle_of_best

STANDARD = CONVENTIONS["standard"]


@pytest.mark.parametrize("measure", ["ndcg@3", "ndcg", "map"])
def test_the_measure_between_breakpoints_is_that_of_its_middle(measure, rng) -> None:
    """Of all intervals, with documents that are alike, tie, or have a constant feature."""
    queries = random_queries(rng, [1, 0, 12, 2, 150, 30], levels=4)
    scores, column = rng.normal(size=(2, queries.n_docs))
    column[5:9], scores[5:7] = 1.0, 0.5
    column[20:23], scores[20:23] = column[20], scores[20]
    scores[60:90] = np.round(scores[60:90], 1)
    metric = PreparedMetric.of(queries.labels, queries.offsets, parse(measure), STANDARD)
    steps, changes = metric.changes(scores, column)

    def total(t: float) -> float:
        args = queries.labels, scores + t * column, queries.offsets, [parse(measure)], STANDARD
        return float(query_metrics(*args).sum())

    middles = np.concatenate(([steps[0] - 1.0], (steps[1:] + steps[:-1]) / 2, [steps[-1] + 1.0]))
    wide = np.diff(steps, prepend=-9e9, append=9e9) > 1e-9
    shown = np.flatnonzero(wide)[::7]
    levels = total(middles[0]) + np.append(0.0, np.cumsum(changes))
    np.testing.assert_allclose([total(t) for t in middles[shown]], levels[shown], atol=1e-9)
    step = middle_of_best(steps, changes)
    assert total(step) == pytest.approx(levels[wide].max())


def test_no_step_where_none_is_better() -> None:
    assert middle_of_best(np.empty(0), np.empty(0)) == 0.0
    assert middle_of_best(np.array([-1.0, 3.0]), np.array([0.5, -0.5])) == 0.0
    assert middle_of_best(np.array([1.0, 3.0]), np.array([0.5, -0.5])) == 2.0


def test_trial_steps_climb_other_measures_and_the_best_climb_is_kept(rng) -> None:
    queries = random_queries(rng, [15] * 15, levels=3)
    for measure in ("err@5", "p@5", "map"):
        start, reached = (
            CoordinateAscent(measure=measure, keep="best", sweeps=3)
            .fit_sets(queries)
            .learned.objective
        )
        assert reached < start - 0.02
    mean = CoordinateAscent(measure="map", sweeps=3).fit_sets(queries).learned.objective[1]
    assert reached <= mean
