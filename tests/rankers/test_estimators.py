"""Rankers as scikit-learn estimators: arrays of any kind, saved files, importance of features."""

import warnings
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import letorbench as lb
from letorbench.conventions import CONVENTIONS
from letorbench.datasets.queryset import QuerySet
from letorbench.errors import DataError, UsageError
from letorbench.features import TRANSFORMATIONS, transformation
from letorbench.measures import nDCG, parse, query_metrics
from letorbench.models import Linear, save
from letorbench.rankers import load_model, names, ranker
from letorbench.solvers.fit_result import FitResult
from letorbench.solvers.stopping import Validation

REASON = "scikit-learn is not installed: python -m pip install 'letorbench[test]'"


def arrays(seed: int = 0, n_queries: int = 12, n_docs: int = 8):
    """Features (n, 4) float64, labels that feature 1 says, string qids, rows scattered."""
    rng = np.random.default_rng(seed)
    X = rng.random((n_queries * n_docs, 4))
    y = np.digitize(X[:, 1], [0.5, 0.8])
    qid = rng.permutation(np.repeat([f"q{i}" for i in range(n_queries)], n_docs))
    return X, y, qid


def test_parameters_are_checked_by_name():
    model = lb.ListNet()
    assert model.get_params() == {f: getattr(model, f) for f in model.__dataclass_fields__}
    assert model.set_params(epochs=7) is model and model.epochs == 7
    with pytest.raises(ValueError, match="found the parameter 'epoch', expected one of top"):
        model.set_params(epoch=7)
    assert repr(lb.Regression(l2=0.5)) == "Regression(gain='exp2', l2=0.5, target='label')"


def test_rows_are_scored_in_the_callers_order_by_qid_or_group():
    """The score is their mean NDCG@10."""
    X, y, qid = arrays()
    order = np.argsort(qid, kind="stable")
    scattered = lb.Regression().fit(X, y, qid=qid).predict(X)
    sorted_ = lb.Regression().fit(X[order], y[order], qid=qid[order]).predict(X)
    np.testing.assert_allclose(scattered, sorted_, rtol=1e-6)
    assert scattered.shape == (len(y),) and scattered.dtype == np.float64
    X, y, qid = X[order], y[order], qid[order]
    by_group, by_qid = lb.ListNet().fit(X, y, None, [8] * 12), lb.ListNet().fit(X, y, qid=qid)
    np.testing.assert_array_equal(by_group.predict(X), by_qid.predict(X))
    scores, standard = by_qid.predict(X), CONVENTIONS["standard"]
    values = query_metrics(y, scores, np.arange(0, 97, 8), [nDCG @ 10], standard)
    queries = QuerySet.from_arrays(X, y, qid)
    assert by_group.score(X, y, None, [8] * 12) == by_qid.score(X, y, qid) == values.mean()
    assert by_qid.score(queries) == values.mean()


#: what is said of missing values, first in a feature of that number
MISSING = (
    "found missing values (NULL, NaN), first in feature {}, expected numbers (--null min or "
    "--null 0 makes some of NULL) or a ranker of trees, such as lambdamart, mart or lightgbm"
)


def test_wrong_arrays_are_refused():
    X, y, qid = arrays()
    bad, model, new = X.copy(), lb.Regression().fit(X, y, qid=qid), lb.ListNet()
    bad[3, 2] = np.nan
    train, narrow = (QuerySet.from_arrays(x, y, qid=qid) for x in (X, X[:, :3]))
    for kind, said, call, *args in (
        (DataError, "X: found 3 features, expected 4", model.predict, X[:, :3]),
        (DataError, f"regression: {MISSING.format(3)}", model.predict, bad),
        (DataError, "X: row 3, column 2: found inf, expected a number", model.predict,
         np.where(np.isnan(bad), np.inf, bad)),
        (DataError, "X: found 1 dimension, expected 2 (documents, features)", model.predict, X[0]),
        (DataError, "found no query, expected at least 1", model.score, train.queries(0, 0)),
        (DataError, f"listnet: {MISSING.format(3)}", new.fit, bad, y, qid),
        (DataError, f"listnet: {MISSING.format(3)}", new.fit, X, y, qid, None, (bad, y, qid)),
        (DataError, "mart: found infinity in the features, expected numbers", lb.MART().fit_sets,
         replace(train, features=np.where(np.isnan(bad), np.inf, bad).astype("f4"))),
        (DataError, "listnet: found 3 features in the validation set, expected 4 as in the "
         "training set", new.fit_sets, train, narrow),
        (DataError, "listnet: found no documents, expected at least 1 to learn from",
         new.fit_sets, QuerySet(train.features[:0], train.labels[:0], np.zeros(2, int),
                                train.qids[:1])),
        (UsageError, "y: found None, expected labels, one a row", new.fit, X, None, qid),
        (UsageError, "found neither of qid and group, expected one of them", new.fit, X, y),
        (UsageError, "X: found a QuerySet, expected no y, qid, group or sample_weight beside it",
         new.fit, train, y),
        (UsageError, "eval_set: found 1 values, expected (X, y, qid) or a QuerySet", new.fit, train,
         None, None, None, (X,)),
        (UsageError, "ideal: found features alone, expected a QuerySet: it reads labels",
         lb.Ideal().fit_sets(train).predict, X),
        (UsageError, "rmse: nothing is chosen by an error of scores, expected a measure of "
         "rankings, such as ndcg@10", Validation, train, parse("rmse")),
        (TypeError, "found the warning 'odd', expected a FitWarning",
         FitResult, model.learned.model, (), None, (), ("odd",)),
    ):  # fmt: skip
        with pytest.raises((ValueError, TypeError)) as error:
            call(*args)
        assert (error.type, str(error.value)) == (kind, said)


def test_a_data_frame_may_have_its_queries_in_a_column():
    X, y, qid = arrays()
    frame = pd.DataFrame(X, columns=list("abcd")).assign(qid=qid)
    model = lb.ListNet().fit(frame, y)
    np.testing.assert_array_equal(model.predict(frame), lb.ListNet().fit(X, y, qid=qid).predict(X))
    assert model.n_features_in_ == 4 and model.score(frame, y) == model.score(X, y, qid=qid)
    order, sizes = np.argsort(qid, kind="stable"), [8] * 12  # what is given counts
    odd, given = frame.assign(qid=0), ({"qid": qid}, {"group": sizes})
    for rows, by in zip((slice(None), order), given):
        scaled = lb.ListNet(features="query-minmax").fit(odd.iloc[rows], y[rows], **by)
        for each, kept in (
            (model, model),
            (scaled, lb.ListNet(features="query-minmax").fit(frame, y)),
        ):
            np.testing.assert_allclose(
                each.predict(odd.iloc[rows], **by), kept.predict(frame)[rows]
            )
            assert each.score(odd.iloc[rows], y[rows], **by) == kept.score(frame, y)
    with pytest.raises(DataError, match="found the feature 'b', expected 'a' in its place"):
        model.predict(frame[["b", "a", "c", "d"]])


def test_rounds_are_chosen_on_the_evaluation_set():
    (X, y, qid), held_out = arrays(0), arrays(1)
    queries, frame = QuerySet.from_arrays(*held_out), pd.DataFrame(held_out[0])
    by_measure = Validation(queries, nDCG @ 10, CONVENTIONS["standard"])
    sets = (held_out, queries, by_measure, [frame.assign(qid=held_out[2]), held_out[1]])
    curves = [lb.AdaRankMAP().fit(X, y, qid, eval_set=each).learned.curve for each in sets]
    assert len(set(curves)) == 1 and curves[0]


def test_the_seed_is_an_integer_or_a_generator():
    X, y, qid = arrays()
    fits = [lb.RankNet(epochs=2).fit(X, y, qid, None, None, *rng).predict(X).tolist()
            for rng in ([], [0], [np.random.default_rng(0)], [1])]  # fmt: skip
    assert fits[0] == fits[1] == fits[2] != fits[3]


def test_missing_values_of_any_array_are_taken_by_trees(routing, tmp_path):
    """In training, in validation, and afterwards; scikit-learn is told."""
    from sklearn.model_selection import GroupKFold, cross_val_score

    X, y, qid = arrays(n_queries=30)
    X[np.random.default_rng(0).random(X.shape) < 0.3] = np.nan
    X[y == 2, 0] = np.nan
    X -= 1.0  # 0 is larger than all
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = lb.MART(rounds=20, min_docs=3).fit(X, y, qid=qid, eval_set=(X, y, qid))
    again = lb.MART(rounds=20, min_docs=3).fit(frame, y, qid=qid, eval_set=(frame, y, qid))
    np.testing.assert_array_equal(model.predict(X.astype("f4")), again.predict(frame))
    model.save(tmp_path / "model.npz")
    np.testing.assert_array_equal(load_model(tmp_path / "model.npz").predict(X), model.predict(X))
    full = np.nan_to_num(X, nan=-0.5)
    filled = lb.MART(rounds=20, min_docs=3).fit(full, y, qid=qid)
    assert model.learned.model.has_missing and not filled.learned.model.has_missing
    model.set_fit_request(qid=True).set_score_request(qid=True)
    params = {"qid": qid, "groups": qid}
    assert cross_val_score(model, X, y, cv=GroupKFold(3), params=params).min() > 0.6
    tags = {name: lb.Recipe(model=name).__sklearn_tags__() for name in ("linear", "trees")}
    assert [tags[name].input_tags.allow_nan for name in tags] == [False, True]
    table = frame.assign(q=qid, y=y)
    part = lb.from_frame(table, "y", "q", folds=3).folds[0].train
    np.testing.assert_array_equal(part.X, X[part.rows].astype("f4"))


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


def badly_scaled():
    """Feature 1 says the label within its query; queries have offsets of their own."""
    X, y, qid = arrays()
    place = np.unique(qid, return_inverse=True)[1]
    return X * [1e6, 1e-3, 1.0, 1e3] + 1e4 * place[:, None] * [1.0, 1e-5, 0.0, 7.0], y, qid


def test_a_transformation_belongs_to_the_model():
    X, y, qid = badly_scaled()
    model = lb.ListNet(features="query-minmax").fit(X, y, qid=qid, eval_set=(X, y, qid))
    assert model.score(X, y, qid=qid) > 0.95 > lb.ListNet().fit(X, y, qid=qid).score(X, y, qid=qid)
    scores = model.predict(X, qid)
    order = np.argsort(qid, kind="stable")
    counts = np.unique(qid, return_counts=True)[1]
    np.testing.assert_array_equal(model.predict(X[order], None, counts), scores[order])
    frame = pd.DataFrame(X).assign(qid=qid)
    np.testing.assert_array_equal(model.predict(frame), scores)
    queries = QuerySet.from_arrays(X, y, qid=qid)
    np.testing.assert_array_equal(queries.in_caller_order(model.predict(queries)), scores)
    with pytest.raises(DataError, match="qid: found 95 values"):
        model.predict(X, qid=qid[:-1])
    with pytest.raises(DataError, match="found 3 features, expected 4"):
        model.predict(X[:, :3], qid=qid)
    plain = lb.ListNet().fit(X, y, qid=qid).predict(X)  # the next fit begins anew
    model.set_params(features=None)
    np.testing.assert_array_equal(model.fit(X, y, qid=qid).predict(X), plain)


@pytest.mark.parametrize("name", TRANSFORMATIONS)
def test_the_model_is_that_of_sets_transformed_as_the_training_set_asks(name, tmp_path):
    train, other = (QuerySet.from_arrays(*each) for each in (badly_scaled(), arrays(1)))
    fitted = transformation(name).fit(train.features)
    plain = lb.RankNet(epochs=3).fit_sets(fitted(train), fitted(other))
    model = lb.RankNet(epochs=3, features=name).fit_sets(train, other)
    model.save(tmp_path / "model.npz")
    assert model.learned.curve == plain.learned.curve
    for each in (model, load_model(tmp_path / "model.npz")):
        np.testing.assert_array_equal(each.predict(other), plain.predict(fitted(other)))


def test_auto_looks_at_the_features_and_at_the_ranker():
    X, y, qid = badly_scaled()
    by_query = lb.ListNet(features="auto").fit(X, y, qid=qid)
    with pytest.raises(UsageError, match="features='query-minmax' looks at whole queries: found"):
        by_query.predict(X)
    assert lb.RankBoost(features="auto").fit(X, y, qid=qid).transformation_.name == "raw"
    X, y, qid = arrays()
    assert lb.ListNet(features="auto").fit(X, y, qid=qid).transformation_.name == "raw"
    model = lb.Regression(features="zscore").fit(X, y, qid=qid)  # needs no whole queries
    np.testing.assert_array_equal(model.predict(X[3:4]), model.predict(X, qid=qid)[3:4])
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


GOOD = {"ranker": "ranksvm", "settings": {}, "features": 3, "transformation": {"name": "raw"}}


@pytest.mark.parametrize(
    "changes, message",
    [
        ({}, ""),
        ({"ranker": ["ranksvm"]}, "found ranker"),
        ({"ranker": "nobody"}, "'nobody', expected a known one; a plug-in's model needs"),
        ({"settings": {"odd": 1}}, "found the parameter 'odd', expected one of"),
        ({"settings": "odd"}, "settings that ranksvm does not take"),
        ({"ranker": "recipe", "settings": {"l2": "x"}}, "that recipe does not take"),
        ({"ranker": "recipe", "settings": {"model": "cubic"}}, "unknown model of recipe 'cubic'"),
        ({"transformation": None}, "found a damaged feature transformation"),
        (
            {"transformation": {"name": "zscore", "mean": [0.0], "scale": [1.0]}},
            "with 3 finite numbers in each",
        ),
        (
            {"transformation": {"name": "zscore", "mean": [0.0] * 3, "scale": [1.0, -1.0, 1.0]}},
            "scale: found -1, expected 0 or more",
        ),
    ],
)
def test_only_facts_that_fit_are_taken(changes: dict, message: str, tmp_path: Path) -> None:
    save(Linear(np.ones(3)), tmp_path / "m.npz", GOOD | changes)
    if not changes:
        assert load_model(tmp_path / "m.npz").predict(np.ones((1, 3))).tolist() == [3.0]
        return
    with pytest.raises(DataError, match=message) as error:
        load_model(tmp_path / "m.npz")
    assert "\n" not in str(error.value) and str(error.value).startswith(str(tmp_path))


FRAMES = {
    "pandas": pd.DataFrame,
    "polars": lambda columns: pytest.importorskip("polars").DataFrame(columns),
    "arrow": lambda columns: pytest.importorskip("pyarrow").table(columns),
    "batch": lambda columns: pytest.importorskip("pyarrow").RecordBatch.from_pydict(columns),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_frames_of_other_libraries_are_as_those_of_pandas(kind: str) -> None:
    X, y, qid = arrays()
    columns = {**dict(zip("abcd", X.T)), "qid": qid, "y": y}
    frame, alone = FRAMES[kind](columns), FRAMES[kind](dict(zip("abcd", X.T)))
    without_y = FRAMES[kind]({name: values for name, values in columns.items() if name != "y"})
    plain = lb.ListNet(epochs=3).fit(X, y, qid=qid)
    for given, by in ((without_y, {}), (alone, {"qid": frame["qid"]})):
        model = lb.ListNet(epochs=3).fit(given, frame["y"], **by)
        assert model.feature_names_in_ == ("a", "b", "c", "d")
        np.testing.assert_array_equal(model.predict(given), plain.predict(X))
        assert model.score(given, frame["y"], **by) == plain.score(X, y, qid=qid)
    scores = FRAMES[kind]({"s": plain.predict(X)})["s"]
    found = lb.evaluate(frame["y"], scores, frame["qid"], "map")
    assert found["map"] == lb.evaluate(y, plain.predict(X), qid, "map")["map"]
    mine, known = lb.from_frame(frame, "y", "qid"), lb.from_frame(pd.DataFrame(columns), "y", "qid")
    assert mine.provenance == known.provenance
    queries = QuerySet.from_arrays(alone, y, qid)
    assert queries.digest == QuerySet.from_arrays(X, y, qid).digest
    assert queries.feature_names == ("a", "b", "c", "d")


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
@pytest.mark.parametrize("value", ["abc", "1.5", datetime(2020, 1, 2)], ids=str)
def test_a_wrong_value_is_named_with_its_row_and_column(kind: str, value: object) -> None:
    odd = [value, value]
    frame = FRAMES[kind]({"bm25": [1.0, 2.0], "title": odd, "n": [1, 2], "q": [1, 1], "y": [0, 1]})
    for call in (
        lambda: lb.from_frame(frame, "y", "q"),
        lambda: lb.Regression().fit(frame, [0, 1], [1, 1]),
        lambda: QuerySet.from_arrays(frame, [0, 1], [1, 1]),
    ):
        with pytest.raises(DataError, match="^X: row 0, column 'title': found .*, expected a"):
            call()


def test_numbers_of_every_kind_are_taken_and_nothing_else() -> None:
    y, qid = [0, 1, 2], [1, 1, 1]
    for column, values in (
        (pd.array([1, 2, 3], dtype="Int64"), (1, 2, 3)),
        (pd.Categorical([3, 1, 2]), (3, 1, 2)),
        ([Decimal("0.5"), Fraction(1, 4), np.float16(2)], (0.5, 0.25, 2)),
        ([True, False, True], (1, 0, 1)),
        (pd.arrays.SparseArray([0.0, 0.0, 2.5]), (0, 0, 2.5)),
    ):
        frame = pd.DataFrame({"a": column, "b": [0.5, 1.5, 2.5]})
        features = QuerySet.from_arrays(frame, y, qid).features
        assert features[:, 0].tolist() == list(values)
    for form in (sparse.csr_matrix, sparse.csc_array, sparse.coo_array):
        X = np.array([[0.0, 1.0], [2.0, 0.0], [0.0, 0.0]])
        assert QuerySet.from_arrays(form(X), y, qid).features.tolist() == X.tolist()
        assert lb.Regression().fit(form(X), y, qid).predict(form(X)).shape == (3,)
    for X, said in (
        (
            np.array([[1.0], [2 + 1j], [3]]),
            "row 0, column 0: found .*of type complex, expected a real",
        ),
        (np.array([[1], [2], [3]], "m8[s]"), "row 0, column 0: found .*, expected a real"),
        (np.array([["1"], ["2"], ["3"]]), "row 0, column 0: found '1' of type str, expected"),
        ([[1.0], ["x"], [2.0]], "row 1, column 0: found 'x'"),
        ([[1.0], [2.0, 3.0], [2.0]], "found rows of different lengths"),
        (np.ma.masked_less([[0.0], [1.0], [2.0]], 1.0), "found masked values"),
        (pd.DataFrame({"a": pd.Categorical(["x", "y", "x"])}), "row 0, column 'a': found 'x'"),
    ):
        with pytest.raises(DataError, match=f"^X: (?:{said})"):
            lb.Regression().fit(X, y, qid)
    for name, wrong in (("y", ["a", "b", "c"]), ("scores", ["a", "b", "c"]), ("scores", [1.0, 2])):
        given = {"y": y, "scores": [1.0, 2.0, 3.0]} | {name: wrong}
        with pytest.raises(DataError, match=f"^{name}: (row 0: found 'a'|found 2 values)"):
            lb.evaluate(given["y"], given["scores"], qid)


def test_pipelines_and_grids_route_queries_and_weights() -> None:
    """Against the same folds cut by hand."""
    sklearn = pytest.importorskip("sklearn", reason=REASON)
    from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    X, y, qid = arrays()
    y = np.random.default_rng(7).permutation(y)  # nothing to learn: no value is 1
    weight = np.unique(qid, return_inverse=True)[1] % 5 + 1.0
    plain, weighted = [], []
    for train, test in GroupKFold(3).split(X, y, qid):
        scaler = StandardScaler().fit(X[train])
        model = lb.Regression().fit(scaler.transform(X[train]), y[train], qid[train])
        scores = model.predict(scaler.transform(X[test]))
        values = lb.evaluate(y[test], scores, qid[test], per_query=True)["ndcg@10"]
        own = pd.Series(weight[test]).groupby(qid[test]).first()
        plain.append(values.mean())
        weighted.append((values * own).sum() / own.sum())
    with sklearn.config_context(enable_metadata_routing=True):
        for request, params, expected in (
            ({}, {}, plain),
            ({"sample_weight": True}, {"sample_weight": weight}, weighted),
        ):
            ranker = lb.Regression().set_fit_request(qid=True, sample_weight=False)
            scaler = StandardScaler().set_fit_request(sample_weight=False)
            pipe = make_pipeline(scaler, ranker.set_score_request(qid=True, **request))
            routed = {"qid": qid, "groups": qid, **params}
            found = cross_val_score(pipe, X, y, cv=GroupKFold(3), params=routed)
            np.testing.assert_allclose(found, expected)
            assert max(found) < 0.95 and not np.allclose(plain, weighted)
            grid = GridSearchCV(pipe, {"regression__l2": [pipe[-1].l2]}, cv=GroupKFold(3))
            assert grid.fit(X, y, **routed).best_score_ == pytest.approx(np.mean(expected))
            assert 0.0 < grid.score(X, y, qid=qid, **params) <= 1.0
    by_query = pd.Series(weight).groupby(qid, sort=False).first().to_numpy()
    model = lb.Regression().fit(X, y, qid)
    assert model.score(X, y, qid, sample_weight=weight) == model.score(
        X, y, qid, sample_weight=by_query
    )
    uneven = np.repeat(["a", "b"], [2, len(y) - 2])  # a query counts its weight, not its rows
    values = lb.evaluate(y, model.predict(X), uneven, per_query=True)["ndcg@10"]
    expected = (3.0 * values["a"] + values["b"]) / 4.0
    assert model.score(X, y, uneven, sample_weight=[3.0, 1.0]) == pytest.approx(expected)
    for wrong in (weight[:5], -weight, 0 * weight, np.arange(len(y))):
        with pytest.raises(DataError, match="^sample_weight: "):
            model.score(X, y, qid, sample_weight=wrong)


@pytest.mark.parametrize("name", [each for each in names() if ranker(each).learns])
def test_a_fit_that_learned_nothing_warns(name: str) -> None:
    """Equal features say nothing; those that vary do."""
    if not ranker(name).available():
        pytest.skip(f"{name} needs a package")
    (X, y, qid), model = arrays(n_queries=60), ranker(name)()
    with pytest.warns(UserWarning, match=f"^{name}: (constant training scores|no weak learner)"):
        model.fit(np.ones_like(X), y, qid=qid)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model.fit(X, y, qid=qid)
    assert not [each for each in told if "constant" in str(each.message)]
