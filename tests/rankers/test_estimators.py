"""Every ranker as a scikit-learn estimator: parameters, arrays of any kind, cross-validation."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import letorbench as lb
from letorbench.conventions import STANDARD
from letorbench.datasets.queryset import QuerySet
from letorbench.errors import DataError, UsageError
from letorbench.measures import nDCG, query_metrics
from letorbench.rankers import RANKERS, Ranker, load_model, names, ranker
from letorbench.solvers.stopping import Validation

REASON = "scikit-learn is not installed: python -m pip install 'letorbench[test]'"


@pytest.fixture(params=[name for name in names() if not ranker(name).sees_labels])
def cls(request) -> type[Ranker]:
    return ranker(request.param)


def arrays(seed: int = 0, n_queries: int = 12, n_docs: int = 8):
    """Features (n, 4) float64, labels that feature 1 says, string qids, rows scattered."""
    rng = np.random.default_rng(seed)
    X = rng.random((n_queries * n_docs, 4))
    y = np.digitize(X[:, 1], [0.5, 0.8])
    qid = rng.permutation(np.repeat([f"q{i}" for i in range(n_queries)], n_docs))
    return X, y, qid


def test_the_table_and_the_classes_agree(cls):
    assert ranker(cls.name) is cls
    assert RANKERS[cls.name].endswith(f":{cls.__name__}")
    assert getattr(lb, cls.__name__) is cls and cls.__name__ in dir(lb)
    assert cls.__module__ == f"letorbench.rankers.{RANKERS[cls.name].partition(':')[0]}"


def test_every_named_class_of_the_package_is_in_the_table():
    import importlib
    import pkgutil

    package = importlib.import_module("letorbench.rankers")
    found = set()
    for module in pkgutil.iter_modules(package.__path__):
        if module.name in ("lightgbm", "xgboost"):
            continue  # each has its class in the table, which the test above looks at
        defined = vars(importlib.import_module(f"{package.__name__}.{module.name}"))
        found |= {
            value.name
            for value in defined.values()
            if isinstance(value, type) and issubclass(value, Ranker) and "name" in vars(value)
        }
    assert found | {"lightgbm", "xgboost"} == set(RANKERS)


def test_scikit_learns_checks_of_parameters(cls):
    checks = pytest.importorskip("sklearn.utils.estimator_checks", reason=REASON)
    checks.check_no_attributes_set_in_init(cls.__name__, cls())
    checks.check_parameters_default_constructible(cls.__name__, cls())
    checks.check_get_params_invariance(cls.__name__, cls())
    checks.check_set_params(cls.__name__, cls())


def test_clones_with_parameters_and_requests(cls):
    base = pytest.importorskip("sklearn.base", reason=REASON)
    first = cls().set_fit_request(qid=True, group=False).set_score_request(qid="queries")
    copy = base.clone(first)
    assert copy is not first and type(copy) is cls and copy.get_params() == first.get_params()
    requests = copy.get_metadata_routing()
    assert requests.fit.requests["qid"] is True and requests.fit.requests["group"] is False
    assert requests.score.requests["qid"] == "queries"


def test_tags_say_that_labels_are_needed(cls):
    pytest.importorskip("sklearn", "1.6", reason=REASON)
    tags = cls().__sklearn_tags__()
    assert tags.target_tags.required and tags.estimator_type is None


def test_parameters_are_checked_by_name():
    model = lb.ListNet()
    assert model.get_params() == {f: getattr(model, f) for f in model.__dataclass_fields__}
    assert model.set_params(epochs=7) is model and model.epochs == 7
    with pytest.raises(ValueError, match="found the parameter 'epoch', expected one of top"):
        model.set_params(epoch=7)
    assert repr(lb.Regression(l2=0.5)) == "Regression(l2=0.5, target='label')"


def test_scattered_rows_are_scored_in_the_callers_order():
    X, y, qid = arrays()
    order = np.argsort(qid, kind="stable")
    scattered = lb.Regression().fit(X, y, qid=qid).predict(X)
    sorted_ = lb.Regression().fit(X[order], y[order], qid=qid[order]).predict(X)
    np.testing.assert_allclose(scattered, sorted_, rtol=1e-6)
    assert scattered.shape == (len(y),) and scattered.dtype == np.float64
    np.testing.assert_array_equal(lb.ListNet().fit(X, y, qid=qid).predict(X)[::3],
                                  lb.ListNet().fit(X, y, qid=qid).predict(X[::3]))  # fmt: skip


@pytest.mark.parametrize("name", ["ndcgboost", "rankboost", "regression", "ranknet", "adarank-map"])
@pytest.mark.parametrize("kind", ["float64", "float32", "fortran", "strided", "read-only", "frame"])
def test_arrays_of_any_kind_give_the_same_model(name, kind):
    X, y, qid = arrays()
    X = X.astype(np.float32).astype(np.float64)
    expected = ranker(name)().fit(X.astype(np.float32), y, qid=qid).predict(X)
    given = {
        "float64": X,
        "float32": X.astype(np.float32),
        "fortran": np.asfortranarray(X),
        "strided": np.repeat(X, 2, axis=1)[:, ::2],
        "read-only": X.copy(),
        "frame": pd.DataFrame(X),
    }[kind]
    if kind == "read-only":
        given.flags.writeable = False
    scores = ranker(name)().fit(given, list(y), qid=pd.Series(qid)).predict(given)
    np.testing.assert_array_equal(scores, expected)


def test_integers_and_booleans_are_features_too():
    X, y, qid = arrays()
    counts = (10 * X).astype(np.int16)
    scores = lb.NDCGBoost(rounds=3).fit(counts, y, qid=qid).predict(counts)
    again = lb.NDCGBoost(rounds=3).fit(counts.astype(float), y, qid=qid)
    np.testing.assert_array_equal(scores, again.predict(counts.astype(float)))
    assert lb.Regression().fit(X > 0.5, y, qid=qid).predict(X > 0.5).shape == y.shape


def test_group_is_taken_instead_of_qid():
    X, y, qid = arrays()
    order = np.argsort(qid, kind="stable")
    X, y, qid = X[order], y[order], qid[order]
    by_group = lb.ListNet().fit(X, y, group=[8] * 12)
    np.testing.assert_array_equal(by_group.predict(X), lb.ListNet().fit(X, y, qid=qid).predict(X))
    assert by_group.score(X, y, group=[8] * 12) == by_group.score(X, y, qid=qid)


def test_a_data_frame_may_have_its_queries_in_a_column():
    X, y, qid = arrays()
    frame = pd.DataFrame(X, columns=list("abcd")).assign(qid=qid)
    model = lb.ListNet().fit(frame, y)
    np.testing.assert_array_equal(model.predict(frame), lb.ListNet().fit(X, y, qid=qid).predict(X))
    assert model.n_features_in_ == 4 and model.score(frame, y) == model.score(X, y, qid=qid)
    with pytest.raises(DataError, match="found the feature 'b', expected 'a' in its place"):
        model.predict(frame[["b", "a", "c", "d"]])


def test_score_is_the_mean_of_ndcg_at_10():
    X, y, qid = arrays()
    model = lb.AdaRankNDCG().fit(X, y, qid=qid)
    queries = QuerySet.from_arrays(X, y, qid=qid)
    values = query_metrics(
        queries.y, model.predict(queries), queries.offsets, [nDCG @ 10], STANDARD
    )
    assert model.score(X, y, qid=qid) == model.score(queries) == values.mean()


def test_rounds_are_chosen_on_the_evaluation_set():
    X, y, qid = arrays(0)
    held_out = arrays(1)
    by_tuple = lb.AdaRankMAP().fit(X, y, qid=qid, eval_set=held_out)
    queries = QuerySet.from_arrays(*held_out)
    by_set = lb.AdaRankMAP().fit(X, y, qid=qid, eval_set=queries)
    by_measure = lb.AdaRankMAP().fit(
        X, y, qid=qid, eval_set=Validation(queries, nDCG @ 10, STANDARD)
    )
    assert by_tuple.learned.curve == by_set.learned.curve == by_measure.learned.curve != ()
    frame = pd.DataFrame(held_out[0]).assign(qid=held_out[2])
    by_frame = lb.AdaRankMAP().fit(X, y, qid=qid, eval_set=(frame, held_out[1]))
    assert by_frame.learned.curve == by_set.learned.curve
    with pytest.raises(UsageError, match="found 1 values"):
        lb.AdaRankMAP().fit(X, y, qid=qid, eval_set=(X,))
    with pytest.raises(DataError, match="found 3 features in the validation set, expected 4"):
        lb.AdaRankMAP().fit(X, y, qid=qid, eval_set=(X[:, :3], y, qid))


def test_the_seed_is_an_integer_or_a_generator():
    X, y, qid = arrays()
    fits = [
        lb.RankNet(epochs=2).fit(X, y, qid=qid, rng=rng).predict(X)
        for rng in (0, np.random.default_rng(0), 1)
    ]
    np.testing.assert_array_equal(fits[0], fits[1])
    np.testing.assert_array_equal(fits[0], lb.RankNet(epochs=2).fit(X, y, qid=qid).predict(X))
    assert not np.array_equal(fits[0], fits[2])


def test_what_is_wrong_is_a_value_error_that_says_so(cls):
    if not cls.available():
        pytest.skip(f"{cls.name} needs {cls.needs}")
    X, y, qid = arrays()
    bad = X.copy()
    bad[3, 2] = np.nan
    model = cls().fit(X, y, qid=qid)
    assert model.n_features_in_ == 4
    wrong = {
        "found 3 features, expected 4": lambda: model.predict(X[:, :3]),
        "found 5 features, expected 4": lambda: model.predict(np.hstack([X, X[:, :1]])),
        "found 6 features, expected 4": lambda: model.score(np.hstack([X, X[:, :2]]), y, qid=qid),
        "row 3, column 2: found nan": lambda: model.predict(bad),
        "column 2: found nan": lambda: cls().fit(bad, y, qid=qid),
        "found 95 values, expected 96": lambda: cls().fit(X, y[:-1], qid=qid),
        "qid: found 95 values": lambda: cls().fit(X, y, qid=qid[:-1]),
        "y: found None, expected labels": lambda: cls().fit(X, qid=qid),
        "found neither of qid and group": lambda: cls().fit(X, y),
        "is not fitted yet": lambda: cls().predict(X),
        "1 dimension": lambda: model.predict(X[0]),
    }
    for words, call in wrong.items():
        with pytest.raises(ValueError, match=words):
            call()


def test_saved_models_predict_from_arrays(tmp_path):
    X, y, qid = arrays()
    model = lb.NDCGBoost(rounds=5).fit(X, y, qid=qid)
    model.save(tmp_path / "model.npz")
    again = load_model(tmp_path / "model.npz")
    assert type(again) is lb.NDCGBoost and again.get_params() == model.get_params()
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    with pytest.raises(DataError, match="found 2 features, expected 4"):
        again.predict(X[:, :2])
    with pytest.raises(UsageError, match="not fitted"):
        lb.NDCGBoost().save(tmp_path / "none.npz")


@pytest.fixture
def routing():
    """scikit-learn with metadata routing."""
    sklearn = pytest.importorskip("sklearn", reason=REASON)
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def test_cross_validation_keeps_queries_whole(routing):
    from sklearn.model_selection import GroupKFold, cross_val_score

    X, y, qid = arrays()
    model = lb.Regression().set_fit_request(qid=True).set_score_request(qid=True)
    folds = GroupKFold(3)
    params = {"qid": qid, "groups": qid}
    found = cross_val_score(model, X, y, cv=folds, params=params, error_score="raise")
    expected = [
        lb.Regression().fit(X[a], y[a], qid=qid[a]).score(X[b], y[b], qid=qid[b])
        for a, b in folds.split(X, y, qid)
    ]
    np.testing.assert_array_equal(found, expected)


def test_grid_search_with_groups(routing):
    from sklearn.model_selection import GridSearchCV, GroupKFold

    X, y, qid = arrays()
    search = GridSearchCV(
        lb.ListNet(epochs=20), {"learning_rate": [0.01, 1.0]}, cv=GroupKFold(3), error_score="raise"
    )
    search.fit(X, y, qid=qid, groups=qid)
    assert search.best_params_ in ({"learning_rate": 0.01}, {"learning_rate": 1.0})
    assert search.best_estimator_.predict(X).shape == y.shape


def test_grid_search_of_a_data_frame_needs_no_routing():
    pytest.importorskip("sklearn", reason=REASON)
    from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score

    X, y, qid = arrays()
    frame = pd.DataFrame(X).assign(qid=qid)
    frame.columns = frame.columns.astype(str)
    scores = cross_val_score(lb.Regression(), frame, y, groups=qid, cv=GroupKFold(3))
    assert scores.shape == (3,) and (scores > 0.9).all()
    search = GridSearchCV(lb.Regression(), {"l2": [0.0, 1.0]}, cv=GroupKFold(3))
    assert search.fit(frame, y, groups=qid).best_score_ > 0.9


def test_pipelines_pass_queries_on(routing):
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    X, y, qid = arrays()
    pipeline = make_pipeline(StandardScaler(), lb.ListNet(epochs=20))
    assert pipeline.fit(X, y, qid=qid).predict(X).shape == y.shape


def badly_scaled():
    """Feature 1 says the label within its query; queries have offsets of their own."""
    X, y, qid = arrays()
    place = np.unique(qid, return_inverse=True)[1]
    return X * [1e6, 1e-3, 1.0, 1e3] + 1e4 * place[:, None] * [1.0, 1e-5, 0.0, 7.0], y, qid


def test_a_transformation_belongs_to_the_model(tmp_path):
    X, y, qid = badly_scaled()
    model = lb.ListNet(features="query-minmax").fit(X, y, qid=qid, eval_set=(X, y, qid))
    assert model.score(X, y, qid=qid) > 0.95 > lb.ListNet().fit(X, y, qid=qid).score(X, y, qid=qid)
    scores = model.predict(X, qid=qid)
    order = np.argsort(qid, kind="stable")
    counts = np.unique(qid, return_counts=True)[1]
    np.testing.assert_array_equal(model.predict(X[order], group=counts), scores[order])
    frame = pd.DataFrame(X).assign(qid=qid)
    np.testing.assert_array_equal(model.predict(frame), scores)
    queries = QuerySet.from_arrays(X, y, qid=qid)
    np.testing.assert_array_equal(queries.in_caller_order(model.predict(queries)), scores)
    model.save(tmp_path / "model.npz")
    again = load_model(tmp_path / "model.npz")
    assert again.get_params() == model.get_params()
    np.testing.assert_array_equal(again.predict(X, qid=qid), scores)
    with pytest.raises(UsageError, match="features='query-minmax' looks at whole queries"):
        again.predict(X)
    with pytest.raises(DataError, match="qid: found 95 values"):
        again.predict(X, qid=qid[:-1])
    with pytest.raises(DataError, match="found 3 features, expected 4"):
        again.predict(X[:, :3], qid=qid)


@pytest.mark.parametrize("name", ["raw", "zscore", "signed-log"])
def test_a_transformation_of_single_documents_needs_no_queries(name):
    X, y, qid = badly_scaled()
    model = lb.Regression(features=name).fit(X, y, qid=qid)
    np.testing.assert_array_equal(model.predict(X), model.predict(X, qid=qid))
    np.testing.assert_array_equal(model.predict(X[3:4]), model.predict(X)[3:4])


def test_auto_looks_at_the_features_and_at_the_ranker():
    X, y, qid = badly_scaled()
    assert lb.ListNet(features="auto").fit(X, y, qid=qid).transformation_.name == "query-minmax"
    assert lb.RankBoost(features="auto").fit(X, y, qid=qid).transformation_.name == "raw"
    X, y, qid = arrays()
    assert lb.ListNet(features="auto").fit(X, y, qid=qid).transformation_.name == "raw"
    by_vectors = lb.Recipe(model="bilinear", loss="ranknet", features="auto")
    assert by_vectors.auto_features == lb.MCL(functional="distance").auto_features == "zscore"
    with pytest.raises(UsageError, match="query-minmax"):
        lb.ListNet(features="query-minmx").fit(X, y, qid=qid)


def test_grid_search_chooses_a_transformation(routing):
    from sklearn.model_selection import GridSearchCV, GroupKFold
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    X, y, qid = badly_scaled()
    search = GridSearchCV(
        lb.ListNet(), {"features": ["raw", "query-minmax"]}, cv=GroupKFold(3), error_score="raise"
    )
    search.fit(X, y, qid=qid, groups=qid)
    assert search.best_params_ == {"features": "query-minmax"}
    pipeline = make_pipeline(StandardScaler(), lb.Regression(features="rank"))
    found = pipeline.fit(X, y, qid=qid).predict(X, qid=qid)
    expected = lb.Regression(features="rank").fit(X, y, qid=qid).predict(X, qid=qid)
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    without = make_pipeline(lb.Regression().set_predict_request(qid=False))
    assert without.fit(X, y, qid=qid).predict(X).shape == y.shape
