"""The libraries' LambdaMART, against the libraries' own estimators with the same settings.

The model files that the libraries write are read, whatever is in them.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from conftest import random_queries

from letorbench.errors import DataError, UsageError
from letorbench.rankers import load_model, ranker


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("name", ["lightgbm", "xgboost"])
def test_every_setting_is_what_the_library_calls_by_another_name(name, missing, rng) -> None:
    """Also where values are missing, in training or, as by LightGBM alone, only afterwards."""
    library = pytest.importorskip(name)
    pytest.importorskip("sklearn", reason="the libraries' estimators need scikit-learn")
    train = random_queries(rng, [12, 40, 1, 30, 25], levels=4)
    new = rng.permuted(train.features, axis=0)
    new[rng.random(new.shape) < 0.4] = np.nan
    if missing:  # a feature has no missing value in training
        gone = rng.random(new.shape) < [0.3, 0.0, 0.6, 0.9, 0.1]
        train = replace(train, features=np.where(gone, np.float32(np.nan), train.features))
    X, y, sizes = train.features, train.labels, train.lengths
    common = {"n_estimators": 9, "learning_rate": 0.3, "random_state": 0}
    for truncation, depth in ((1, 3), (2, 0), (5, 3)):  # 0: of any depth
        settings = {"rounds": 9, "learning_rate": 0.3, "truncation": truncation}
        if name == "lightgbm":
            settings |= {"leaves": 5, "min_docs": 7}
            theirs = library.LGBMRanker(
                num_leaves=5, min_child_samples=7, lambdarank_truncation_level=truncation,
                verbosity=-1, **common,
            ).fit(X, y, group=sizes)  # fmt: skip
        else:
            settings |= {"depth": depth, "min_weight": 0.2}
            theirs = library.XGBRanker(
                max_depth=depth, min_child_weight=0.2, lambdarank_pair_method="topk",
                lambdarank_num_pair_per_sample=truncation, tree_method="hist", **common,
            ).fit(X, y, group=sizes)  # fmt: skip
        model = ranker(name)(**settings).fit_sets(train).learned.model
        assert model.has_missing == missing
        for each in (X, new) if missing or name == "lightgbm" else (X,):
            np.testing.assert_allclose(model.predict(each), theirs.predict(each), 1e-6, 1e-6)
        if name == "lightgbm":
            gains = theirs.booster_.feature_importance("gain")
        else:
            scores = theirs.get_booster().get_score(importance_type="total_gain")
            gains = [scores.get(f"f{k}", 0.0) for k in range(5)]
        np.testing.assert_allclose(np.bincount(model.feature, model.gain, 5), gains, rtol=1e-5)


@pytest.mark.parametrize("name", ["lightgbm", "xgboost"])
def test_trees_without_a_split_have_learned_nothing(name, rng) -> None:
    pytest.importorskip(name)
    train = random_queries(rng, [12, 40, 1, 30, 25], levels=4)
    none = {"lightgbm": {"min_docs": 99}, "xgboost": {"min_weight": 1e9}}[name]
    for settings, kinds in ((none, ["nothing learned"]), ({}, [])):
        for validation in (None, train):
            fitted = ranker(name)(rounds=3, **settings).fit_sets(train, validation)
            assert [each.kind for each in fitted.learned.warnings] == kinds
            assert np.ptp(fitted.predict(train)) == 0.0 or not kinds


def theirs(name: str, kind: str, folder: Path) -> tuple[Path, np.ndarray, np.ndarray]:
    """A model file of a library, features (n_docs, 5) and what the library itself says of them."""
    library = pytest.importorskip(name)
    pytest.importorskip("sklearn", reason="the libraries' estimators need scikit-learn")
    rng = np.random.default_rng(4)
    X, y, qid = rng.normal(size=(300, 5)), rng.integers(0, 3, 300), np.repeat(range(15), 20)
    X[:, 4] = rng.integers(0, 6, 300)
    X = X.astype(np.float32)
    given: np.ndarray | pd.DataFrame = X
    if kind in ("names", "categories"):
        given = pd.DataFrame(X, columns=["bm25 title", "b", "Column_0", "pr", "é"])
        given = given if kind == "names" else given.astype({"é": int}).astype({"é": "category"})
    if kind == "missing":
        X[::3, 1] = np.nan
    path = folder / "some.model"
    if name == "lightgbm":
        more = {"linear_tree": True} if kind == "linear" else {}
        if kind == "binary":
            model = library.LGBMClassifier(n_estimators=9, verbosity=-1).fit(given, y > 0)
            model.booster_.save_model(path)
            return path, X, model.predict_proba(given)[:, 1]
        model = library.LGBMRanker(n_estimators=9, min_child_samples=5, verbosity=-1, **more)
        model.fit(given, y, group=[20] * 15).booster_.save_model(path)
    else:
        more = {"early_stopping_rounds": 2} if kind == "stopped" else {}
        more |= {"booster": kind} if kind in ("dart", "gblinear") else {}
        model = library.XGBRanker(n_estimators=60, enable_categorical=True, **more)
        held_out = {"eval_set": [(X[::-1], y)], "eval_qid": [qid]} if kind == "stopped" else {}
        model.fit(given, y, qid=qid, verbose=False, **held_out)
        path.write_bytes(model.get_booster().save_raw("ubj" if kind == "ubj" else "json"))
    return path, X, model.predict(given)


KINDS = {
    "lightgbm": ["numbers", "names", "categories", "missing", "linear", "binary"],
    "xgboost": ["numbers", "ubj", "names", "categories", "missing", "stopped", "dart", "gblinear"],
}


@pytest.mark.parametrize("name, kind", [(name, kind) for name in KINDS for kind in KINDS[name]])
def test_a_model_file_scores_as_its_library(name, kind, tmp_path) -> None:
    path, X, expected = theirs(name, kind, tmp_path)
    fitted = load_model(path)
    assert fitted.name == name and fitted.n_features_in_ == 5 and np.ptp(expected) > 0.0
    np.testing.assert_array_equal(fitted.learned.model.predict(X), expected)
    fitted.save(tmp_path / "own.npz")
    again = load_model(tmp_path / "own.npz").learned.model
    np.testing.assert_array_equal(again.predict(X[:7]), expected[:7])
    with pytest.raises(DataError, match="found 4 features, expected 5"):
        fitted.predict(X[:, :4])
    if kind == "names":
        with pytest.raises(DataError, match="found the feature 'z', expected '.*' in its place"):
            fitted.predict(pd.DataFrame(X, columns=list("zbcde")))
        np.testing.assert_array_equal(fitted.predict(X), expected)
    if kind == "numbers":
        np.testing.assert_array_equal(fitted.predict(pd.DataFrame(X)), expected)


@pytest.mark.parametrize("name, kind", [("lightgbm", ""), ("xgboost", "json"), ("xgboost", "ubj")])
def test_a_model_file_that_is_not_whole_is_refused_in_a_line(name, kind, tmp_path) -> None:
    path, _, _ = theirs(name, kind, tmp_path)
    whole = path.read_bytes()
    end = whole.index(b"end of trees") if name == "lightgbm" else len(whole)
    sizes = [*range(0, 30, 7), 60, 400, end // 3, end // 2, end - 400, end - 3, end - 1]
    for size in [*sizes, *range(500, end, 211)]:  # XGBoost by itself ends the process at some
        path.write_bytes(whole[:size])
        refused(path)
    for text in (b"{}", b'{"learner": {}}', b"[1]", b"tree\n", b"\x80\x04\x95", b"## LambdaMART\n"):
        path.write_bytes(text)
        refused(path)
    with pytest.raises(DataError):
        load_model(tmp_path)


def refused(path: Path) -> None:
    with pytest.raises(DataError) as error:
        load_model(path)
    said = str(error.value)
    assert said.startswith(f"{path}: found no ") and "\n" not in said and len(said) < 400


def test_several_scores_of_a_document_are_refused(tmp_path, rng) -> None:
    lightgbm = pytest.importorskip("lightgbm")
    data = lightgbm.Dataset(rng.normal(size=(200, 5)), rng.integers(0, 3, 200))
    options = {"objective": "multiclass", "num_class": 3, "verbosity": -1}
    lightgbm.train(options, data, 2).save_model(tmp_path / "m.txt")
    with pytest.raises(DataError, match=r"found scores of shape \(9, 3\), expected \(9,\)"):
        load_model(tmp_path / "m.txt").predict(np.ones((9, 5)))


@pytest.mark.parametrize("name, begin", [("lightgbm", "tree\n"), ("xgboost", "{")])
def test_a_model_file_names_the_package_that_it_needs(name, begin, tmp_path, monkeypatch) -> None:
    (tmp_path / "m").write_text(begin)
    monkeypatch.setattr(ranker(name), "needs", "no_such_package")
    with pytest.raises(UsageError, match="needs the package no_such_package; `python -m pip"):
        load_model(tmp_path / "m")
