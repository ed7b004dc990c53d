"""LambdaMART against the paper's section 7, and what a tree's step does."""

from itertools import pairwise

import numpy as np
import pytest
from conftest import random_queries

from letorbench.conventions import CONVENTIONS
from letorbench.losses.lambdas import Lambda, pair_lambdas
from letorbench.measures import PreparedMetric, nDCG, parse
from letorbench.rankers import MART, LambdaMART, RandomForests
from letorbench.rankers.lambdamart import newton_by_pairs


@pytest.mark.parametrize("truncation", [0, 3, 30])
@pytest.mark.parametrize("scale", [0.0, 1.0, 100.0])
@pytest.mark.parametrize("normalised", [False, True])
def test_the_forces_are_those_of_the_paper(scale, truncation, normalised, rng):
    queries = random_queries(rng, [1, 7, 12, 40, 2])
    s = np.round(rng.normal(size=queries.n_docs) * 3.0) * scale
    ranker = LambdaMART(truncation=truncation, normalised=normalised)
    (gradient, hessian), lost = ranker.differentiated(queries)(s)
    ndcg, standard = nDCG @ truncation if truncation else parse("ndcg"), CONVENTIONS["standard"]
    metric = PreparedMetric.of(queries.labels, queries.offsets, ndcg, standard)
    relevant = np.maximum.reduceat(queries.labels, queries.offsets[:-1]) > 0
    assert lost == pytest.approx(
        np.where(relevant, 1.0 - metric.expectation_over_ties(s), 0.0).mean()
    )
    for a, b in pairwise(queries.offsets):
        labels = queries.labels[a:b]
        expected = np.zeros((2, b - a))
        if labels.any():
            expected = newton_by_pairs(s[a:b], labels, truncation, normalised)
            by_pairs = pair_lambdas(Lambda(), s[a:b], labels)
            if not normalised and truncation == 0:
                np.testing.assert_allclose(expected[0], -by_pairs, rtol=0.0, atol=1e-12)
        np.testing.assert_allclose(gradient[a:b], expected[0], rtol=0.0, atol=1e-12)
        np.testing.assert_allclose(hessian[a:b], expected[1], rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("cls", [MART, LambdaMART])
def test_each_leaf_takes_newtons_step(cls, rng):
    """Round by round, from the derivatives at the scores before; MART's without l2 are means."""
    queries, F = random_queries(rng, [30] * 10), np.zeros(300)
    settings = {"learning_rate": 0.5, "leaves": 5, "min_docs": 10, "l2": 2.0}
    objective = cls(rounds=3, **settings).fit_sets(queries).learned.objective
    for rounds in (1, 2, 3):
        ranker = cls(rounds=rounds, **settings).fit_sets(queries)
        (gradient, hessian), value = ranker.differentiated(queries)(F)
        assert value == pytest.approx(objective[rounds - 1], rel=1e-12)
        after = ranker.predict(queries.features)
        steps = np.round(after - F, 12)
        assert len(set(steps)) == 5
        for step in set(steps):
            G, H = gradient[steps == step].sum(), hessian[steps == step].sum()
            assert step == pytest.approx(-0.5 * G / (H + 2.0), abs=1e-8)
            assert (steps == step).sum() >= 10
        F = after
    assert ranker.differentiated(queries)(F)[1] == pytest.approx(objective[3], rel=1e-12)
    if cls is MART:
        residuals = queries.labels - queries.labels.mean() - F
        assert objective[3] == pytest.approx(0.5 * (residuals**2).sum())


def test_boosting_ends_where_nothing_splits_and_a_forest_draws_whole_queries(rng):
    queries = random_queries(rng, [30] * 4)
    for cls in (MART, LambdaMART):
        learned = cls(rounds=9, min_docs=61).fit_sets(queries).learned
        assert len(learned.model.roots) == 0 and len(learned.objective) == 1
    forest = RandomForests(bags=9, depth=1, docs=0.1).fit_sets(random_queries(rng, [9] * 20))
    model = forest.learned.model
    assert len(model.feature) == 3 * 9 and set(model.cover[model.roots]) == {18.0}
