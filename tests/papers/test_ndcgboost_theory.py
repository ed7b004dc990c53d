"""NDCG Boost's theory, its misprints and its single changes."""

from dataclasses import replace

import numpy as np
import pytest
from test_pages import as_shown

from letorbench.conventions import standard_discount
from letorbench.datasets.queryset import Fold
from letorbench.datasets.synthetic.cubic import cubic
from letorbench.papers import ndcgboost_2009 as statements
from letorbench.papers import paper, rules
from letorbench.papers.ndcgboost_2009 import trainings as changes
from letorbench.papers.ndcgboost_2009.trainings import Change, tied
from letorbench.papers.paper import PartResult
from letorbench.papers.problems import labelled
from letorbench.papers.runs import Context, Estimate
from letorbench.rankers import ndcgboost
from letorbench.rankers.ndcgboost import NDCGBoost


def test_problems_are_what_the_ranker_optimises(rng):
    """M, theta, w and alpha are the ranker's, pair by pair."""
    m = 5
    (queries,) = cubic(rng, [40], 3, m, (0.4, 0.3, 0.3))
    kept = queries.labels.reshape(-1, m).max(axis=1) > 0
    queries = queries.take(np.flatnonzero(kept))
    n = queries.n_queries
    F = rng.normal(size=(n, m))
    gain = np.exp2(queries.labels.reshape(n, m)) - 1.0
    Z = np.sort(gain, axis=1)[:, ::-1] @ standard_discount(np.arange(1, m + 1))
    f = rng.integers(0, 2, (n, m)).astype(float)
    problems = statements.Problems(F, gain, Z, f, np.ones(n))
    assert problems.M().sum() == pytest.approx(ndcgboost.objective(F.ravel(), queries))
    w = ndcgboost.weights(F.ravel(), queries)
    np.testing.assert_allclose(problems.w.ravel(), w, atol=1e-12)
    up, down = (each.sum() for each in statements.sums(problems))
    alpha = ndcgboost.step(*ndcgboost.step_sums(F.ravel(), f.ravel(), queries))
    assert 0.5 * np.log(up / down) == pytest.approx(alpha)


def test_the_theory_runs_and_its_misprints_are_told(tmp_path, monkeypatch):
    for name, value in (("PROBLEMS", 2_000), ("CHUNK", 500)):
        monkeypatch.setattr(statements, name, value)
    found = statements.theory(Context(tmp_path, tmp_path))
    problems = statements.drawn(np.random.default_rng(0), 50, 4)
    for name, violation in statements.STATEMENTS.items():
        each = violation(problems)
        of = Estimate(each[np.isfinite(each)].mean(), each[np.isfinite(each)].min(), each.max())
        found[f"{name}, of 50"] = of
    as_shown("ndcgboost.txt", PartResult(numbers=found))
    own = [claim for claim in paper("ndcgboost-2009").claims if claim.part == "theory"]
    answers = {claim.id: rules.judge(claim, {}, found).answer for claim in own}
    failed = {name for name, answer in answers.items() if answer != rules.CHECKED}
    assert failed == {"theorem-1-printed", "theorem-2-printed", "exponential-fall"}


def test_a_check_notices_what_does_not_hold(rng):
    problems = statements.drawn(rng, 300, 4)
    halved = replace(problems, f=0.5 * problems.f)  # f of 0 and 1 is what (15) is made for
    assert statements.theorem_1(halved).max() > 1e-3
    assert statements.theorem_2(problems, 0.0).max() > 1e-3
    # no scores take away what every pair leaves
    far = problems.M(problems.G * 1e6)
    np.testing.assert_allclose(far, statements.floor(problems), rtol=1e-9)


@pytest.fixture
def fold(rng):
    return Fold(1, *cubic(rng, [12, 6, 6], 4, 8, (0.5, 0.3, 0.2)))


def test_the_base_is_the_ranker(fold, monkeypatch):
    monkeypatch.setattr(NDCGBoost, "rounds", 5)
    found = changes.scores(fold, Change(), np.random.default_rng(3))[1]
    model = NDCGBoost(rounds=5, stumps="sample").learn(fold.train, None, np.random.default_rng(3))
    np.testing.assert_allclose(found[-1], model.model.predict(fold.test.features))
    joined = changes.joined(fold.train, fold.validation)
    assert joined.n_queries == 18 and joined.qids[12] == fold.validation.qids[0]
    doubled = changes.scores(fold, Change(half=False), np.random.default_rng(3))[1]
    np.testing.assert_allclose(doubled[0], 2.0 * found[0])


def test_documents_are_tied_within_their_query():
    queries = labelled(np.zeros((2, 3)))
    assert tied(queries, np.array([1.0, 1.0, 2.0, 2.0, 3.0, 3.0])) == 4 / 6
    assert tied(queries, np.array([1.0, 2.0, 3.0, 1.0, 2.0, 3.0])) == 0.0


def test_the_sentence():
    seeds = np.array([-0.005, 0.005, -0.005, 0.005])
    means = {changes.BASE: 0.455, "a": 0.487, "b": 0.46, "c": 0.435}
    found = {name: mean + seeds for name, mean in means.items()}
    assert changes.sentence(found, 0.5, 0.005, 0.02) == (
        "Of 3 single changes 2 move the mean of 0.455 by 0.02 or more: a (+0.032), c (-0.020); "
        "the printed 0.50 is within reach of a."
    )
    del found["a"], found["c"]
    assert changes.sentence(found, 0.5, 0.005, 0.02) == (
        "Of 1 single changes none move the mean of 0.455 by 0.02 or more; the printed 0.50 is "
        "within reach of none."
    )
