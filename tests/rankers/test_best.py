"""The ranker `best`: weights, the mean or one member, time, files, and what it says."""

from dataclasses import replace

import numpy as np
import pytest
from conftest import random_queries, unlocked

import letorbench as lb
from letorbench.datasets.queryset import QuerySet
from letorbench.errors import DataError, UsageError
from letorbench.models import Average, TreeEnsemble
from letorbench.models.average import standardised
from letorbench.rankers import load_model
from letorbench.rankers.best import ahead, weights_of
from letorbench.results.model_texts import ranklib_text
from letorbench.solvers.stopping import Validation

MEMBERS = "regression+listnet"


def toy(seed: int, n_queries: int, noise: float = 0.3) -> QuerySet:
    """Queries whose labels are a noisy sum of features of different scales."""
    rng = np.random.default_rng(seed)
    queries = random_queries(rng, [10] * n_queries)
    with unlocked(queries):
        queries.features[:] = rng.random(queries.features.shape) * [1, 50, 1, 1, 1]
        value = queries.features[:, 0] + queries.features[:, 1] / 50
        noisy = value + noise * rng.normal(size=len(value))
        queries.labels[:] = np.digitize(noisy, [0.9, 1.4])
    return queries


def test_weights_are_the_more_equal_the_fewer_queries_there_are():
    rng = np.random.default_rng(0)
    for n in (10, 100, 1000):
        common = rng.random(n)
        values = np.array([common, common - 0.1 + 0.05 * rng.normal(size=n)])
        weights = weights_of(values)
        trust = n / (n + 100)  # the second is far behind, so that validation gives it nothing
        assert weights == pytest.approx([0.5 + 0.5 * trust, 0.5 - 0.5 * trust], abs=1e-6)
    assert weights_of(np.ones((4, 1))).tolist() == [0.25] * 4
    assert ahead(np.array([3.0, 2.0, 4.0]), np.array([1.0, 1.0, 1.0])) == pytest.approx(12**0.5)


def test_scores_are_standardised_in_their_query():
    scores = np.array([1.0, 3.0, 7.0, 7.0, 0.0, 5.0])
    found = standardised(scores, np.array([0, 2, 4, 4, 6]))
    assert found.tolist() == [-1.0, 1.0, 0.0, 0.0, -1.0, 1.0]


def test_the_mean_is_of_the_members_own_scores_and_survives_a_file(tmp_path):
    train, valid = toy(1, 40), toy(2, 12)
    made = lb.Best(members=MEMBERS, trials=4).fit_sets(train, valid)
    model = made.learned.model
    assert isinstance(model, Average) and [each.name for each in model.parts] == MEMBERS.split("+")
    # a feature of another scale: each member transforms as it needs, and the file keeps how
    assert {each.transformation.name for each in model.parts} == {"query-minmax"}
    expected, scores = np.zeros(valid.n_docs), []
    for weight, part in zip(model.weights, model.parts):
        own = part.model.predict(part.transformation.transform(valid.features, valid.offsets))
        expected += weight * standardised(own, valid.offsets)
        scores.append(own)
    np.testing.assert_allclose(made.predict(valid), expected, rtol=1e-12)
    values = np.array([Validation(valid)(each) for each in scores])
    assert model.weights == pytest.approx(weights_of(values))
    made.save(tmp_path / "model.npz")
    again = load_model(tmp_path / "model.npz")
    np.testing.assert_array_equal(again.predict(valid), made.predict(valid))
    with pytest.raises(UsageError, match="best looks at whole queries: found no qid"):
        again.predict(valid.features)
    mixed = np.random.default_rng(0).permutation(valid.n_docs)
    by_row = again.predict(valid.features[mixed], qid=valid.qid[mixed])
    np.testing.assert_allclose(by_row, made.predict(valid)[mixed], rtol=1e-9)


def test_a_member_that_is_surely_ahead_is_taken_alone_and_exported(tmp_path):
    train, valid = toy(1, 60), toy(2, 60)
    with unlocked(train, valid):  # features are in 0..1, so that none is transformed
        for each in (train, valid):
            each.features[:, 1] /= 50
            each.labels[:] = np.abs(each.features[:, 0] - 0.5) > 0.3  # which no line can say
    made = lb.Best(members="regression+ranksvm+listnet+mart", trials=2).fit_sets(train, valid)
    model = made.learned.model
    assert isinstance(model, TreeEnsemble) and "took mart alone" in made.learned.warnings[0].text
    made.save(tmp_path / "model.npz")
    assert ranklib_text(load_model(tmp_path / "model.npz").learned.model) == ranklib_text(model)
    both = lb.Best(members=MEMBERS, trials=2).fit_sets(train, valid).learned.model
    with pytest.raises(UsageError, match="kind 'average', expected linear or trees"):
        ranklib_text(both)


def test_time_ends_the_search_after_each_members_first_setting():
    train, valid = toy(1, 40), toy(2, 12)
    made = lb.Best(members=MEMBERS, trials=10_000, seconds=0.5).fit_sets(train, valid)
    assert "after 20000 trainings" not in made.learned.warnings[0].text
    for limit in ({"seconds": 1e-9}, {}):
        few = lb.Best(members=MEMBERS, **limit).fit_sets(train, valid, time_limit=1e-9)
        assert "after 2 trainings" in few.learned.warnings[0].text and few.learned.cut_off


def test_without_validation_a_fifth_chooses_and_the_members_learn_from_all():
    train = toy(1, 40)
    made = lb.Best(members="regression", trials=1).fit(train)
    assert "on 8 validation queries" in made.learned.warnings[0].text
    alone = lb.Regression(features="auto").fit(train)
    [part] = made.learned.model.parts
    np.testing.assert_array_equal(part.model.weights, alone.learned.model.weights)
    lb.Best(members="regression", trials=1).fit(train.take(np.array([0])))  # of one query


def test_what_is_wrong_is_one_line():
    for members, match in (("listnt", "listnet"), ("best", "best"), ("", "member of best")):
        with pytest.raises(UsageError, match=match):
            lb.Best(members=members)
    model = lb.Best(members=MEMBERS, trials=1).fit_sets(toy(1, 20), toy(2, 9)).learned.model
    content = model.content.copy()
    content[len(content) // 3] ^= 1
    with pytest.raises(DataError, match="^part of an average model: found"):
        replace(model, content=content)
    with pytest.raises(DataError, match="average model: ends: found"):
        replace(model, ends=model.ends[::-1])
    with pytest.raises(DataError, match="found a part of kind average"):
        Average.of([model.parts[0]._replace(model=model)], np.ones(1))


def test_a_run_and_a_fit_say_what_was_taken(tmp_path):
    label = f"best[members={MEMBERS},trials=2]"
    results = lb.run("DEMO", label, out=tmp_path, folds=[1], repeats=1)
    assert results.algorithms == [label]
    [fold] = results.frames[0].rows[0].stored
    assert [each.text.split()[0] for each in fold.warnings if each.kind == "chosen"] == ["took"]
    assert "letorbench.rankers.listnet" in fold.identity["parts"]
    made = lb.fit("DEMO", label, out=tmp_path, repeats=1)
    assert any(each.startswith("took ") for each in made.warnings)
    made.save(tmp_path / "model.npz")
    assert load_model(tmp_path / "model.npz").name == "best"
