"""Rankers as scikit-learn estimators: arrays and frames of any kind, queries, transformations."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import letorbench as lb
from letorbench.conventions import CONVENTIONS
from letorbench.datasets.queryset import QuerySet
from letorbench.features import TRANSFORMATIONS, transformation
from letorbench.measures import nDCG, query_metrics
from letorbench.rankers import load_model
from letorbench.solvers.stopping import Validation

same = np.testing.assert_array_equal


def arrays(seed: int = 0, n_queries: int = 12, n_docs: int = 8):
    """Features (n, 4) float64, labels that feature 1 says, string qids, rows scattered."""
    rng = np.random.default_rng(seed)
    X = rng.random((n_queries * n_docs, 4))
    y = np.digitize(X[:, 1], [0.5, 0.8])
    qid = rng.permutation(np.repeat([f"q{i}" for i in range(n_queries)], n_docs))
    return X, y, qid


def badly_scaled():
    """Feature 1 says the label within its query; each query has another offset."""
    X, y, qid = arrays()
    place = np.unique(qid, return_inverse=True)[1]
    return X * [1e6, 1e-3, 1.0, 1e3] + 1e4 * place[:, None] * [1.0, 1e-5, 0.0, 7.0], y, qid


@pytest.mark.parametrize("features", [None, "query-minmax"])
def test_documents_are_scored_in_the_callers_order_however_they_are_given(features):
    X, y, qid = arrays()
    order, every, sizes = np.argsort(qid, kind="stable"), slice(None), {"group": [8] * 12}
    frame = pd.DataFrame(X, columns=list("abcd"))
    odd, new = frame.assign(qid=0), lb.ListNet(epochs=9, features=features)
    first = lb.ListNet(epochs=9, features=features).fit(X, y, qid=qid)
    scores, standard = first.predict(X, qid), CONVENTIONS["standard"]
    value = query_metrics(y[order], scores[order], np.arange(0, 97, 8), [nDCG @ 10], standard)
    assert first.score(QuerySet.from_arrays(X, y, qid)) == first.score(X, y, qid) == value.mean()
    for rows, documents, by in (
        (order, X[order], {"qid": qid[order]}),
        (order, X[order], sizes),
        (every, frame.assign(qid=qid), {}),
        (every, odd, {"qid": qid}),
        (order, odd.iloc[order], sizes),
    ):
        for each in (first, new.fit(documents, y[rows], **by)):
            np.testing.assert_allclose(each.predict(documents, **by), scores[rows], rtol=1e-5)
            assert each.score(documents, y[rows], **by) == pytest.approx(value.mean())
            assert each.n_features_in_ == 4


def test_rounds_are_chosen_on_the_evaluation_set():
    (X, y, qid), held_out = arrays(0), arrays(1)
    queries, frame = QuerySet.from_arrays(*held_out), pd.DataFrame(held_out[0])
    by_measure = Validation(queries, nDCG @ 10, CONVENTIONS["standard"])
    sets = (held_out, queries, by_measure, [frame.assign(qid=held_out[2]), held_out[1]])
    curves = [lb.AdaRankMAP(9).fit(X, y, qid, eval_set=each).learned.curve for each in sets]
    assert len(set(curves)) == 1 and curves[0]


def test_the_seed_is_an_integer_or_a_generator():
    X, y, qid = arrays()
    fits = [lb.RankNet(epochs=2).fit(X, y, qid, None, None, *rng).predict(X).tolist()
            for rng in ([], [0], [np.random.default_rng(0)], [1])]  # fmt: skip
    assert fits[0] == fits[1] == fits[2] != fits[3]


@pytest.fixture
def routing():
    sklearn = pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def test_missing_values_of_any_array_are_taken_by_trees(routing):
    from sklearn.model_selection import GroupKFold, cross_val_score

    X, y, qid = arrays(n_queries=30)
    X[np.random.default_rng(0).random(X.shape) < 0.3] = np.nan
    X[y == 2, 0] = np.nan
    X -= 1.0  # 0 is larger than all
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = lb.MART(rounds=9, min_docs=3).fit(X, y, qid=qid, eval_set=(X, y, qid))
    again = lb.MART(rounds=9, min_docs=3).fit(frame, y, qid=qid, eval_set=(frame, y, qid))
    same(model.predict(X.astype("f4")), again.predict(frame))
    filled = lb.MART(rounds=9, min_docs=3).fit(np.nan_to_num(X, nan=-0.5), y, qid=qid)
    assert model.learned.model.has_missing and not filled.learned.model.has_missing
    model.set_fit_request(qid=True).set_score_request(qid=True)
    params = {"qid": qid, "groups": qid}
    assert cross_val_score(model, X, y, cv=GroupKFold(3), params=params).min() > 0.6
    tags = [lb.Recipe(model=name).__sklearn_tags__() for name in ("linear", "trees")]
    assert [each.input_tags.allow_nan for each in tags] == [False, True]


@pytest.mark.parametrize("name", TRANSFORMATIONS)
def test_the_model_is_that_of_sets_transformed_as_the_training_set_asks(name, tmp_path):
    train, other = (QuerySet.from_arrays(*each) for each in (badly_scaled(), arrays(1)))
    fitted = transformation(name).fit(train.features)
    plain = lb.RankNet(epochs=3).fit_sets(fitted(train), fitted(other))
    model = lb.RankNet(epochs=3, features=name).fit_sets(train, other)
    model.save(tmp_path / "model.npz")
    assert model.learned.curve == plain.learned.curve
    for each in (model, load_model(tmp_path / "model.npz")):
        same(each.predict(other), plain.predict(fitted(other)))


def test_auto_looks_at_the_features_and_at_the_ranker():
    scaled, (X, y, qid) = badly_scaled(), arrays()
    for model, given, name in (
        (lb.ListNet(epochs=3), scaled, "query-minmax"),
        (lb.RankBoost(rounds=3), scaled, "raw"),
        (lb.ListNet(epochs=3), (X, y, qid), "raw"),
    ):
        assert model.set_params(features="auto").fit(*given).transformation_.name == name
        assert model.set_params(features=None).fit(*given).transformation_.name == "raw"
    model = lb.Regression(features="zscore").fit(X, y, qid=qid)  # needs no whole queries
    same(model.predict(X[3:4]), model.predict(X, qid=qid)[3:4])
    by_vectors = lb.Recipe(model="bilinear", loss="ranknet", features="auto")
    assert by_vectors.auto_features == lb.MCL(functional="distance").auto_features == "zscore"


FRAMES = {
    "pandas": pd.DataFrame,
    "polars": lambda columns: pytest.importorskip("polars").DataFrame(columns),
    "arrow": lambda columns: pytest.importorskip("pyarrow").table(columns),
    "batch": lambda columns: pytest.importorskip("pyarrow").RecordBatch.from_pydict(columns),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_frames_of_other_libraries_are_as_those_of_pandas(kind):
    X, y, qid = arrays()
    columns = {**dict(zip("abcd", X.T)), "qid": qid, "y": y}
    frame, alone = FRAMES[kind](columns), FRAMES[kind](dict(zip("abcd", X.T)))
    without_y = FRAMES[kind]({name: values for name, values in columns.items() if name != "y"})
    plain = lb.ListNet(epochs=3).fit(X, y, qid=qid)
    for given, by in ((without_y, {}), (alone, {"qid": frame["qid"]})):
        model = lb.ListNet(epochs=3).fit(given, frame["y"], **by)
        assert model.feature_names_in_ == ("a", "b", "c", "d")
        same(model.predict(given), plain.predict(X))
        assert model.score(given, frame["y"], **by) == plain.score(X, y, qid=qid)
    scores = FRAMES[kind]({"s": plain.predict(X)})["s"]
    found = lb.evaluate(frame["y"], scores, frame["qid"], "map")["map"]
    assert found == lb.evaluate(y, plain.predict(X), qid, "map")["map"]
    mine, known = lb.from_frame(frame, "y", "qid"), lb.from_frame(pd.DataFrame(columns), "y", "qid")
    assert mine.provenance == known.provenance
    queries = QuerySet.from_arrays(alone, y, qid)
    assert queries.digest == QuerySet.from_arrays(X, y, qid).digest
    assert queries.feature_names == ("a", "b", "c", "d")


def test_numbers_of_every_kind_are_taken():
    y, qid = [0, 1, 2], [1, 1, 1]
    for column, values in (
        (pd.array([1, 2, 3], dtype="Int64"), (1, 2, 3)),
        (pd.Categorical([3, 1, 2]), (3, 1, 2)),
        ([Decimal("0.5"), Fraction(1, 4), np.float16(2)], (0.5, 0.25, 2)),
        ([True, False, True], (1, 0, 1)),
        (pd.arrays.SparseArray([0.0, 0.0, 2.5]), (0, 0, 2.5)),
    ):
        frame = pd.DataFrame({"a": column, "b": [0.5, 1.5, 2.5]})
        assert QuerySet.from_arrays(frame, y, qid).features[:, 0].tolist() == list(values)
    X = np.array([[0.0, 1.0], [2.0, 0.0], [0.0, 0.0]])
    for form in (sparse.csr_matrix, sparse.csc_array, sparse.coo_array):
        assert QuerySet.from_arrays(form(X), y, qid).features.tolist() == X.tolist()
        assert lb.Regression().fit(form(X), y, qid).predict(form(X)).shape == (3,)


def test_pipelines_and_grids_route_queries_and_weights(routing):
    """Against the same folds cut by hand."""
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
        by_query = pd.Series(weight[test]).groupby(qid[test]).first()
        plain.append(values.mean())
        weighted.append((values * by_query).sum() / by_query.sum())
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
    model = lb.Regression().fit(X, y, qid)
    uneven = np.repeat(["a", "b"], [2, len(y) - 2])  # a query counts its weight, not its rows
    values = lb.evaluate(y, model.predict(X), uneven, per_query=True)["ndcg@10"]
    expected = (3.0 * values["a"] + values["b"]) / 4.0
    assert model.score(X, y, uneven, sample_weight=[3.0, 1.0]) == pytest.approx(expected)
