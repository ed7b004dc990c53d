"""What users are told of wrong arrays, settings, weights and model files: class and nouns."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pytest
from conftest import random_queries
from test_estimators import FRAMES

import letorbench as lb
from letorbench.datasets.queryset import QuerySet
from letorbench.errors import DataError, UsageError
from letorbench.losses.lambdas import Lambda
from letorbench.measures import parse
from letorbench.models import Linear, save
from letorbench.rankers import load_model
from letorbench.rankers.any_model import ranker_of
from letorbench.solvers.fit_result import FitResult
from letorbench.solvers.stopping import Validation

RNG = np.random.default_rng(0)
X, y, qid = RNG.random((24, 4)), np.arange(24) % 3, np.repeat(list("abcd"), 6)
SET, NARROW = (QuerySet.from_arrays(each, y, qid) for each in (X, X[:, :3]))
FRAME, HOLED = pd.DataFrame(X, columns=list("abcd")), X.copy()
HOLED[3, 2] = np.nan
INFINITE = np.where(np.isnan(HOLED), np.inf, HOLED)
MANY_LABELS = QuerySet.from_arrays(X, 10_000 * y, qid)
NO_DOCUMENTS = QuerySet(SET.features[:0], SET.labels[:0], np.zeros(2, int), SET.qids[:1])
INFINITE_SET = QuerySet(INFINITE.astype("f4"), SET.labels, SET.offsets, SET.qids)


class TwoColumns:
    """A model whose predictions have two columns and whose fit takes no weights."""

    def fit(self, X, y): ...

    def predict(self, X):
        return np.zeros((len(X), 2))


class Own(lb.Ranker):
    """A plug-in's ranker, whose `learn` is not letorbench's."""

    name = "own"

    def learn(self, train, validation, rng):
        return lb.Random().learn(train, validation, rng)


@cache
def fitted() -> lb.Ranker:
    return lb.Regression(features="zscore").fit(X, y, qid)


def fit(
    X: object = X, y: object = y, qid: object = qid, cls: type = lb.ListNet, **more: object
) -> lb.Ranker:
    return cls(**{"epochs": 1} if cls is lb.ListNet else {}).fit(X, y, qid, **more)


def read_again(ranker: lb.Ranker) -> lb.Ranker:
    with TemporaryDirectory() as folder:
        ranker.save(Path(folder) / "m.npz")
        return load_model(Path(folder) / "m.npz")


def weighed(weights: object, learner: lb.Ranker | None = None) -> lb.Ranker:
    return (learner or lb.Regression()).fit(X, y, qid, sample_weight=weights)


#: a call, the class of its error, and what its one line must name
ERRORS: list[tuple[Callable[[], object], type[Exception], str, str]] = [
    # arrays
    (lambda: fitted().predict(X[:, :3]), DataError, "X: found 3 features", "expected 4"),
    (lambda: fitted().predict(X[0]), DataError, "X: found 1 dimension", "expected 2"),
    (lambda: fit(FRAME).predict(FRAME[list("bacd")]), DataError, "the feature 'b'", "'a'"),
    (lambda: fit(FRAME).predict(replace(SET, feature_names=tuple("bacd"))), DataError,
     "the feature 'b'", "'a'"),
    (lambda: fitted().predict(HOLED), DataError, "regression: found missing", "feature 3"),
    (lambda: fitted().predict(INFINITE), DataError, "X: row 3, column 2", "inf"),
    (lambda: fit(HOLED), DataError, "listnet: found missing values", "feature 3"),
    (lambda: fit(HOLED), DataError, "--null", "lambdamart"),
    (lambda: fit(eval_set=(HOLED, y, qid)), DataError, "listnet: found missing", "feature 3"),
    (lambda: fit(eval_set=(X,)), UsageError, "eval_set: found 1 values", "(X, y, qid)"),
    (lambda: fit(eval_set=NARROW), DataError, "3 features in the validation", "expected 4"),
    (lambda: fit(y=None), UsageError, "y: found None", "labels"),
    (lambda: fit(qid=None), UsageError, "neither of qid and group", "one of them"),
    (lambda: fit(SET, y, None), UsageError, "X: found a QuerySet", "no y, qid"),
    (lambda: lb.ListNet().fit_sets(NO_DOCUMENTS), DataError, "listnet: found no doc", "1"),
    (lambda: lb.MART().fit_sets(INFINITE_SET), DataError, "mart: found infinity", "numbers"),
    (lambda: fitted().score(SET.queries(0, 0)), DataError, "no query", "at least 1"),
    (lambda: lb.Ideal().fit_sets(SET).predict(X), UsageError, "ideal: found features", "QuerySet"),
    (lambda: Validation(SET, parse("rmse")), UsageError, "rmse", "measure of rankings"),
    (lambda: FitResult(Linear(np.ones(2)), warnings=("odd",)), TypeError, "'odd'", "FitWarning"),
    (lambda: FitResult(TwoColumns()), TypeError, "a TwoColumns as the model", "models.base.Model"),
    # what an array holds
    (lambda: fit(np.full((24, 1), 2 + 1j)), DataError, "X: row 0, column 0", "type complex"),
    (lambda: fit(np.full((24, 1), 1, "m8[s]")), DataError, "X: row 0, column 0", "expected a real"),
    (lambda: fit(np.full((24, 1), "1")), DataError, "X: row 0, column 0: found '1'", "type str"),
    (lambda: fit([[1.0], ["x"]], [0, 1], [1, 1]), DataError, "X: row 1, column 0", "'x'"),
    (lambda: fit([[1.0], [2.0, 3.0]], [0, 1], [1, 1]), DataError, "X: found rows", "lengths"),
    (lambda: fit(np.ma.masked_less(X, 0.5)), DataError, "X: found masked", "values"),
    (lambda: lb.evaluate(list("abc"), [1.0, 2, 3], [1] * 3), DataError, "y: row 0", "'a'"),
    (lambda: lb.evaluate([0, 1, 2], list("abc"), [1] * 3), DataError, "scores: row 0", "'a'"),
    (lambda: lb.evaluate([0, 1, 2], [1.0, 2], [1] * 3), DataError, "scores: found 2", "values"),
    # transformations
    (lambda: fit(cls=lambda: lb.ListNet(features="query-minmx")), UsageError, "query-minmx'",
     "query-minmax"),
    (lambda: lb.Regression(features="rank").fit(X, y, qid).predict(X), UsageError,
     "features='rank'", "found no qid"),
    (lambda: lb.Regression(features="rank").fit(X, y, qid).predict(X, qid[:-1]), DataError,
     "qid: found 23 values", "24"),
    # settings
    (lambda: read_again(fit(FRAME)).predict(FRAME[list("bacd")]), DataError, "feature 'b'", "'a'"),
    (lambda: lb.ListNet().set_params(epoch=7), UsageError, "'epoch'", "expected one of top"),
    (lambda: lb.Recipe(loss="listnett"), UsageError, "unknown loss 'listnett'", "listnet"),
    (lambda: lb.Recipe(model="quadratic", intercept=True), UsageError, "quadratic", "intercept"),
    (lambda: lb.NDCGBoost(sample=0.5).fit_sets(SET), UsageError, "sample=0.5 with stumps=exact",
     "stumps=once"),
    (lambda: Lambda("ndcg-difference"), UsageError, "margin=0.0", "more than 0"),
    (lambda: lb.Recipe(model="bilinear", query_features=4).fit_sets(SET), UsageError,
     "query_features=4 of 4", "1 to 3"),
    (lambda: lb.WPLL().fit_sets(MANY_LABELS), DataError, "labels up to 20,000", "at most 50"),
    # weights
    (lambda: weighed([1.0, 1, 1, 1], Own()), UsageError, "own: found weights", "not use"),
    (lambda: weighed([1.0, 2, 0, 1], ranker_of(TwoColumns())), UsageError, "two-columns",
     "weights of queries"),
    (lambda: weighed([0.0] * 4, lb.ListNet()), DataError, "listnet: found no query", "weight"),
    (lambda: weighed(np.arange(24)), DataError, "found 0 and 1 in query 1", "one weight"),
    (lambda: weighed([1.0] * 3), DataError, "found 3 weights", "24, one a row, or 4"),
    (lambda: weighed([-1.0] * 4), DataError, "weight 1: found -1", "0 or more"),
    (lambda: weighed([np.nan] * 4), DataError, "weight 1: found nan", "0 or more"),
    (lambda: weighed([["a"]]), DataError, "sample_weight: row 0, column 0", "'a'"),
    *((lambda w=w: fitted().score(X, y, qid, sample_weight=w), DataError, "sample_weight", "found")
      for w in ([1.0] * 5, [-1.0] * 4, [0.0] * 4, np.arange(24))),
    # models of others
    (lambda: ranker_of(TwoColumns()).fit(X, y, qid).predict(X), DataError, "TwoColumns.predict",
     "shape (24, 2)"),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    ("call", "kind", "first", "second"),
    ERRORS,
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_a_wrong_call_is_one_line(call, kind, first, second):
    with pytest.raises((ValueError, TypeError)) as error:
        call()
    line = str(error.value)
    assert error.type is kind and first in line and second in line and "\n" not in line, line


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
@pytest.mark.parametrize("value", ["abc", "1.5", datetime(2020, 1, 2)], ids=str)
def test_a_wrong_value_is_named_with_its_row_and_column(kind, value):
    frame = FRAMES[kind]({"bm25": [1.0, 2.0], "title": [value] * 2, "q": [1, 1], "y": [0, 1]})
    for call in (
        lambda: lb.from_frame(frame, "y", "q"),
        lambda: lb.Regression().fit(frame, [0, 1], [1, 1]),
        lambda: QuerySet.from_arrays(frame, [0, 1], [1, 1]),
    ):
        with pytest.raises(DataError, match="^X: row 0, column 'title': found .*, expected a"):
            call()
    odd = pd.DataFrame({"a": pd.Categorical(["x", "y"])})
    with pytest.raises(DataError, match="^X: row 0, column 'a': found 'x'"):
        lb.Regression().fit(odd, [0, 1], [1, 1])


#: facts beside a stored model, and what is said of them
FACTS = [
    ({"ranker": ["ranksvm"]}, "found ranker", "expected a known one"),
    ({"ranker": "nobody"}, "'nobody'", "--plugin"),
    ({"settings": {"odd": 1}}, "found the parameter 'odd'", "expected one of"),
    ({"settings": "odd"}, "settings", "ranksvm does not take"),
    ({"ranker": "recipe", "settings": {"l2": "x"}}, "l2='x'", "expected a number"),
    ({"ranker": "recipe", "settings": {"model": "cubic"}}, "unknown model", "'cubic'"),
    ({"names": ["a", "b"]}, "feature_names: found 2 names", "expected 3"),
    ({"transformation": None}, "damaged feature transformation", "expected one of"),
]


def test_only_facts_that_fit_are_taken(tmp_path):
    path, good = tmp_path / "m.npz", {"ranker": "ranksvm", "settings": {}, "features": 3}
    good["transformation"] = {"name": "raw"}
    save(Linear(np.ones(3)), path, good)
    assert load_model(path).predict(np.ones((1, 3))).tolist() == [3.0]
    for changes, first, second in FACTS:
        save(Linear(np.ones(3)), path, good | changes)
        with pytest.raises(DataError) as error:
            load_model(path)
        line = str(error.value)
        assert line.startswith(f"{path}: ") and "\n" not in line
        assert first in line and second in line, line


def test_weights_that_a_plug_in_uses_are_taken():
    Own.weighted = True
    weighed([1.0, 2, 1, 1], Own())
    with pytest.raises(DataError, match="mean=weighted: found no weights, expected weights"):
        rules = lb.conventions.convention("standard,mean=weighted")
        Validation(random_queries(RNG, [3]), convention=rules)(np.zeros(3))
