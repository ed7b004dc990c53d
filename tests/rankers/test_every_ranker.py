"""What every ranker must do, whichever is registered: a new one is tested unasked."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields, replace
from pathlib import Path
from typing import Literal, get_args, get_origin, get_type_hints

import numpy as np
import pytest
from conftest import random_queries, unlocked

from letorbench.conventions import CONVENTIONS
from letorbench.datasets.queryset import QuerySet
from letorbench.errors import DataError, UsageError
from letorbench.losses.ties import random_order
from letorbench.measures import parse, query_metrics
from letorbench.rankers import Ranker, load_model, names, ranker
from letorbench.solvers.stopping import Validation

RANKERS = [
    pytest.param(
        ranker(name),
        id=name,
        marks=pytest.mark.skipif(
            not ranker(name).available(), reason=f"{name} needs {ranker(name).needs}"
        ),
    )
    for name in names()
    if not ranker(name).sees_labels
]


def toy(seed: int, lengths: list[int], n_features: int = 5) -> QuerySet:
    """Features in [0, 1]; the label is what feature 1 says, cut into three."""
    queries = random_queries(np.random.default_rng(seed), lengths, n_features)
    features = np.random.default_rng(seed + 1).random(queries.features.shape, dtype=np.float32)
    labels = np.digitize(features[:, 1], [0.6, 0.85]).astype(np.int32)
    return QuerySet(features, labels, queries.offsets, queries.qids)


def fitted(cls: type[Ranker], train: QuerySet, valid: QuerySet, seed: int = 0) -> Ranker:
    return cls().fit_sets(train, Validation(valid), np.random.default_rng(seed))


@pytest.mark.parametrize("cls", RANKERS)
def test_learns_a_separable_toy_set(cls: type[Ranker]) -> None:
    if not cls.learns:
        pytest.skip("a reference point, which learns nothing")
    model = fitted(cls, toy(1, [20] * 40), toy(3, [20] * 15))
    test = toy(5, [20] * 20)
    scores = model.predict(test.features)
    assert scores.shape == (test.n_docs,) and scores.dtype == np.float64
    ndcg = query_metrics(
        test.labels, scores, test.offsets, [parse("ndcg@10")], CONVENTIONS["standard"]
    )
    assert ndcg.mean() > 0.93


@pytest.mark.parametrize("cls", RANKERS)
def test_equal_seeds_give_equal_scores(cls: type[Ranker]) -> None:
    train, valid = toy(7, [8] * 10), toy(9, [8] * 5)
    first, second = (fitted(cls, train, valid, 3).predict(valid.features) for _ in range(2))
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("cls", RANKERS)
def test_threads_change_nothing(cls: type[Ranker], monkeypatch: pytest.MonkeyPatch) -> None:
    train, valid = toy(7, [60] * 60), toy(9, [8] * 5)
    scores = []
    for threads in ("1", "2"):
        monkeypatch.setenv("LETORBENCH_THREADS", threads)
        scores.append(fitted(cls, train, valid).predict(valid.features))
    np.testing.assert_array_equal(*scores)


@pytest.mark.parametrize("cls", RANKERS)
def test_saved_and_loaded_scores_equally(cls: type[Ranker], tmp_path: Path) -> None:
    train, valid = toy(11, [8] * 10), toy(13, [8] * 5)
    model = fitted(cls, train, valid)
    model.save(tmp_path / "model.npz")
    again = load_model(tmp_path / "model.npz")
    assert (again.name, again.get_params()) == (model.name, model.get_params())
    np.testing.assert_array_equal(again.predict(valid.features), model.predict(valid.features))


@pytest.mark.parametrize("cls", RANKERS)
def test_a_score_depends_on_its_own_document_alone(cls: type[Ranker]) -> None:
    """Rows in any order and number score the same: equal documents tie exactly."""
    train, valid = toy(15, [8] * 10), toy(17, [8] * 30)
    model = fitted(cls, train, valid)
    order = np.random.default_rng(0).permutation(valid.n_docs)
    scores = model.predict(valid.features)
    np.testing.assert_array_equal(model.predict(valid.features[order]), scores[order])
    np.testing.assert_array_equal(model.predict(valid.features[5:6]), scores[5:6])


def tied(seed: int, lengths: list[int], n_features: int = 5) -> QuerySet:
    """Features of eleven values, many documents alike, and labels that they do not explain."""
    queries, rng = toy(seed, lengths, n_features), np.random.default_rng(seed)
    features = np.round(queries.features, 1)
    features[1::3] = features[::3][: len(features[1::3])]
    noisy = features[:, 1] + 0.5 * features[:, 2] + 0.3 * rng.normal(size=queries.n_docs)
    labels = np.digitize(noisy, [0.6, 1.1]).astype(np.int32)
    return QuerySet(features, labels, queries.offsets, queries.qids)


@pytest.mark.parametrize("cls", RANKERS)
def test_the_order_of_documents_does_not_matter(cls: type[Ranker]) -> None:
    """But for rounding, which a net keeps as float32; a ranker may say why it does.

    Documents are alike and labels tie, so that any rule that looks at the order is found out.
    """
    train, valid = tied(27, [12] * 30), tied(29, [12] * 10)
    rows = random_order(train, np.random.default_rng(0))
    permuted = QuerySet(train.features[rows], train.labels[rows], train.offsets, train.qids)
    scores, again = (fitted(cls, each, valid).predict(valid.features) for each in (train, permuted))
    same = np.allclose(again, scores, rtol=0.0, atol=1e-6 * np.abs(scores).max())
    assert same or cls.order_matters


def in_feature_order(queries: QuerySet, order: np.ndarray) -> QuerySet:
    return replace(queries, features=np.ascontiguousarray(queries.features[:, order]))


@pytest.mark.parametrize("queries", [toy, tied])
@pytest.mark.parametrize("cls", RANKERS)
def test_the_order_of_features_does_not_matter(
    cls: type[Ranker], queries: Callable[..., QuerySet]
) -> None:
    """But for rounding, also where features are equal, constant or multiples of another.

    A ranker may say why the order matters.
    """
    train, valid = (queries(seed, [12] * 30, 8) for seed in (27, 29))
    with unlocked(train, valid):
        for x in (train.features, valid.features):
            x[:, 3], x[:, 4], x[:, 5], x[:, 6] = 0.5, x[:, 1], 2.0 * x[:, 1], 0.0
    if cls().draws:
        pytest.skip("it draws random numbers, for one feature after the other")
    scores = fitted(cls, train, valid).predict(valid.features)
    for seed in range(2):
        order = np.random.default_rng(seed).permutation(train.n_features)
        again = fitted(cls, *(in_feature_order(each, order) for each in (train, valid)))
        found = again.predict(valid.features[:, order])
        same = np.allclose(found, scores, rtol=0.0, atol=1e-6 * np.abs(scores).max())
        assert same or cls.feature_order_matters


@pytest.mark.parametrize("cls", RANKERS)
def test_scales_of_features_are_no_matter(cls: type[Ranker]) -> None:
    """To `auto` as to the transformation it asks for: powers of two leave no rounding behind."""
    train, valid = toy(15, [8] * 10), toy(17, [8] * 30)
    scales = np.float32([2.0**-20, 1.0, 2.0**30, 2.0**7, 2.0**100])
    grown = [replace(each, features=each.features * scales) for each in (train, valid)]
    settings = {"features": cls().auto_features}
    scores = cls(**settings).fit_sets(train, valid).predict(valid)
    stretched = cls(features="auto").fit_sets(*grown)
    assert stretched.transformation_.name == cls().auto_features
    np.testing.assert_array_equal(stretched.predict(grown[1]), scores)


@pytest.mark.parametrize("cls", RANKERS)
def test_odd_queries_are_survived(cls: type[Ranker]) -> None:
    """One document, nothing relevant, all equal labels, constant and repeated features."""
    train = toy(19, [1, 8, 8, 1, 12, 2])
    with unlocked(train):
        train.labels[1:9] = 0
        train.labels[9:17] = 2
        train.features[:, 3] = 0.0
        train.features[:, 4] = train.features[:, 1]
    scores = fitted(cls, train, toy(21, [1, 6, 6])).predict(train.features)
    assert np.isfinite(scores).all()


@pytest.mark.parametrize("cls", RANKERS)
def test_trains_without_validation_and_leaves_its_data_alone(cls: type[Ranker]) -> None:
    train = toy(23, [8] * 10)
    before = train.features.copy(), train.labels.copy()
    cls().fit_sets(train)
    np.testing.assert_array_equal(train.features, before[0])
    np.testing.assert_array_equal(train.labels, before[1])


@pytest.mark.parametrize("cls", RANKERS)
def test_features_that_are_no_numbers_are_refused(cls: type[Ranker]) -> None:
    train = toy(25, [8] * 3)
    with unlocked(train):
        train.features[4, 2] = np.nan
    with pytest.raises(DataError, match="NaN or infinity"):
        cls().fit_sets(train)


@pytest.mark.parametrize("cls", RANKERS)
def test_is_documented(cls: type[Ranker]) -> None:
    assert cls.title and cls.paper and cls.formula and cls.__doc__
    for parameter, values in cls.grid.items():
        assert parameter in cls().get_params() and len(values) > 1


#: what has no rounds or iterations
AT_ONCE = {"regression", "random", "best-feature"}


@pytest.mark.parametrize("validated", [True, False])
@pytest.mark.parametrize("cls", RANKERS)
def test_a_time_limit_ends_the_training(cls: type[Ranker], validated: bool) -> None:
    """With no time left, a ranker makes one round or step, says so, and scores."""
    train, valid = toy(27, [12] * 30), toy(29, [8] * 10)
    validation = Validation(valid) if validated else None
    model = cls().fit_sets(train, validation, np.random.default_rng(0), time_limit=1e-9)
    assert model.learned.cut_off == (cls.name not in AT_ONCE)
    assert len(model.learned.curve) <= 1 and (model.learned.best or 0) <= 1
    assert np.isfinite(model.predict(valid.features)).all()
    assert not cls().fit_sets(train, validation, time_limit=1e9).learned.cut_off


#: settings that are no Literal and may make a ranker draw
DRAWING = {
    "ndcgboost": [{"stumps": "sample"}],
    "lightgbm": [{"docs": 0.5, "min_docs": 2}, {"columns": 0.5, "min_docs": 2}],
    "xgboost": [{"docs": 0.5}, {"columns": 0.5}],
    "recipe": [{"loss": "ranknet", "solver": "sgd"}, {"loss": "wpl-1", "ties": "random"}],
    "wpll": [{"weight": "1/pi", "ties": "random"}],
}


def variants(cls: type[Ranker]) -> list[Ranker]:
    """The ranker, and one for each other value of a setting that has a few names."""
    hints = get_type_hints(cls)
    named = [
        {field.name: value}
        for field in fields(cls)
        if get_origin(hints[field.name]) is Literal
        and (cls.name, field.name) != ("lambdarank", "function")  # a compiled kernel for each
        for value in get_args(hints[field.name])
    ]
    found = []
    for settings in [{}, *named, *DRAWING.get(cls.name, [])]:
        with suppress(UsageError):  # this value needs another one beside it
            found.append(cls(**settings))
    return found


@pytest.mark.parametrize("cls", RANKERS)
def test_says_whether_it_draws(cls: type[Ranker], tmp_path: Path) -> None:
    """What does not draw has the same bytes for any seed; what does has other ones."""
    train, valid = toy(27, [8] * 12, 6), toy(29, [8] * 6, 6)
    for each in variants(cls):
        files = []
        for seed in (0, 1):
            rng = np.random.default_rng(seed)
            untouched = rng.bit_generator.state
            each.fit_sets(train, Validation(valid), rng).save(tmp_path / "model.npz")
            files.append((tmp_path / "model.npz").read_bytes())
            assert (rng.bit_generator.state != untouched) == each.draws, each
        assert (files[0] != files[1]) == each.draws, each
