"""The libraries' LambdaMART, against the libraries' own estimators with the same settings.

The model files that the libraries write are read, whatever is in them.
"""

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from conftest import random_queries
from forged_models import FORGED, LIGHTGBM, XGBOOST

from letorbench.conventions import CONVENTIONS
from letorbench.errors import DataError, UsageError
from letorbench.experiment.plan import ranker_identity, systems_of
from letorbench.measures import parse
from letorbench.models.base import load
from letorbench.rankers import load_model, ranker
from letorbench.rankers.tree_libraries import threads_for
from letorbench.results.labels import of as label_of
from letorbench.results.model_texts import lightgbm_text
from letorbench.solvers.stopping import Validation, best

EACH = pytest.mark.parametrize("name", ["lightgbm", "xgboost"])


@pytest.mark.parametrize(
    ("name", "more"),
    [("lightgbm", {}), ("xgboost", {}), ("catboost", {"depth": 3}),
     ("lightgbm", {"boosting": "dart", "drop_rate": 0.5}),
     ("xgboost", {"booster": "dart", "rate_drop": 0.5})],
)  # fmt: skip
def test_our_measure_chooses_the_rounds(name, more, rng):
    """Also where later rounds change the weights of earlier trees."""
    pytest.importorskip(name)
    train, valid = random_queries(rng, [12] * 40), random_queries(rng, [6] * 30)
    validation = Validation(valid, parse("map"), CONVENTIONS["letor4"], best)
    never = {} if name == "catboost" else {"patience": 0}
    model = ranker(name)(rounds=40, **never, **more).fit_sets(train, validation)
    curve = model.learned.curve
    assert len(curve) == 40 and model.learned.best == int(np.argmax(curve)) + 1
    assert validation(model.predict(valid.features)).mean() == pytest.approx(max(curve), abs=1e-12)
    again = ranker(name)(rounds=model.learned.best, **more).fit_sets(train)  # that many rounds
    np.testing.assert_array_equal(again.predict(valid.features), model.predict(valid.features))


def test_a_thread_is_for_two_million_feature_values(monkeypatch):
    monkeypatch.setenv("LETORBENCH_THREADS", "3")
    sets = [np.broadcast_to(np.float32(0.0), (rows, 1000)) for rows in (0, 1999, 4000, 9000)]
    assert [threads_for(each) for each in sets] == [1, 1, 2, 3]


#: settings that a library calls by another name, then its own parameters; and the same for its
#: own estimator
LIGHTGBM_OPTIONS = {"n_estimators": 9, "learning_rate": 0.3, "verbosity": -1, "random_state": 0}
XGBOOST_OPTIONS = {"n_estimators": 9, "learning_rate": 0.3, "random_state": 0,
                   "lambdarank_pair_method": "topk", "tree_method": "hist"}  # fmt: skip
THEIRS: list[tuple[str, str, dict[str, object]]] = [
    *(("lightgbm", f"rounds=9,learning_rate=0.3,leaves=5,min_docs=7,truncation={k}",
       LIGHTGBM_OPTIONS | {"num_leaves": 5, "min_child_samples": 7,
                           "lambdarank_truncation_level": k}) for k in (1, 5)),
    *(("xgboost", f"rounds=9,learning_rate=0.3,depth={depth},min_weight=0.2,truncation={k}",
       XGBOOST_OPTIONS | {"max_depth": depth, "min_child_weight": 0.2,
                          "lambdarank_num_pair_per_sample": k}) for k, depth in ((1, 3), (2, 0))),
    ("lightgbm",
     "num_leaves=5,min_child_samples=7,lambda_l2=5,max_bin=15,"
     "monotone_constraints=(1,0,0,0,-1),n_estimators=9,eta=0.3,categories=(b,d),cat_smooth=1",
     LIGHTGBM_OPTIONS | {"cat_smooth": 1, "categorical_feature": [1, 3], "num_leaves": 5,
                         "min_child_samples": 7, "reg_lambda": 5, "max_bin": 15,
                         "monotone_constraints": [1, 0, 0, 0, -1]}),
    ("xgboost",
     "max_depth=3,lambda=5,max_bin=8,num_parallel_tree=3,monotone_constraints=(1,0,0,0,-1),"
     "num_boost_round=9,eta=0.3,lambdarank_num_pair_per_sample=5,categories=(b,d)",
     XGBOOST_OPTIONS | {"feature_types": list("qcqcq"), "enable_categorical": True,
                        "max_depth": 3, "reg_lambda": 5, "max_bin": 8, "num_parallel_tree": 3,
                        "monotone_constraints": "(1,0,0,0,-1)",
                        "lambdarank_num_pair_per_sample": 5}),
    ("catboost",
     "max_depth=3,l2_leaf_reg=9,iterations=9,eta=0.3,grow_policy=Lossguide,max_leaves=5",
     {"depth": 3, "l2_leaf_reg": 9, "iterations": 9, "learning_rate": 0.3, "max_leaves": 5,
      "grow_policy": "Lossguide", "loss_function": "YetiRank", "thread_count": 1,
      "silent": True, "allow_writing_files": False}),
]  # fmt: skip
ESTIMATORS = {"lightgbm": "LGBMRanker", "xgboost": "XGBRanker", "catboost": "CatBoostRanker"}


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize(("name", "text", "given"), THEIRS)
def test_parameters_do_what_they_do_in_the_librarys_estimator(name, text, given, missing, rng):
    """Also where values are missing, in training or, as by LightGBM alone, only afterwards."""
    library = pytest.importorskip(name)
    pytest.importorskip("sklearn", reason="the libraries' estimators need scikit-learn")
    train = random_queries(rng, [12, 40, 1, 30, 25], levels=4)
    X = train.features.copy()
    if "monotone" in text:
        X[:, [1, 3]] = rng.integers(0, 9, (len(X), 2))
    new = rng.permuted(X, axis=0)
    new[rng.random(X.shape) < [0.4, 0.0, 0.4, 0.0, 0.4]] = np.nan
    if missing:  # a feature has no missing value in training
        X[rng.random(X.shape) < [0.3, 0.0, 0.6, 0.0, 0.1]] = np.nan
    train = replace(train, features=X, feature_names=tuple("abcde"))
    [system] = systems_of([f"{name}[{text}]"])
    by = {"group": train.lengths}
    if name == "catboost":
        seed = int(np.random.default_rng(0).integers(1 << 31))
        given, by = given | {"random_seed": seed}, {"group_id": np.repeat(range(5), train.lengths)}
    theirs = getattr(library, ESTIMATORS[name])(**given).fit(X, train.labels, **by)
    ours = system.ranker(**system.settings).fit_sets(train)
    assert len(np.unique(ours.predict(X))) > 5
    if name != "catboost":
        assert ours.learned.model.has_missing == missing
    for each in (X, new) if missing or name == "lightgbm" else (X,):
        close = {"lightgbm": 0.0}.get(name, 1e-6)
        np.testing.assert_allclose(ours.predict(each), theirs.predict(each), 10 * close, close)
    if name != "catboost":
        gains = np.array(list(of_features(theirs)))
        found = np.bincount(ours.learned.model.feature, ours.learned.model.gain, 5)
        np.testing.assert_allclose(found, gains, rtol=1e-5)
    [same] = systems_of([str(label_of(name, system.settings, {}))])  # a label is read again
    assert same == system and ours.set_params(**ours.get_params()).get_params() == ours.get_params()
    facts = ranker_identity(system.ranker, system.settings)
    assert facts["library"] == f"{name} {library.__version__}"
    if "rounds=9" not in text:
        assert set(facts["fixed"]) == set(system.settings) <= set(facts["settings"])


def of_features(theirs) -> Iterator[float]:
    if hasattr(theirs, "booster_"):
        return iter(theirs.booster_.feature_importance("gain"))
    scores = theirs.get_booster().get_score(importance_type="total_gain")
    names = theirs.get_booster().feature_names or [f"f{k}" for k in range(5)]
    return (scores.get(each, 0.0) for each in names)


@pytest.mark.parametrize(
    ("label", "said"),
    [("lightgbm[numleaves=3]", "has no parameter 'numleaves'; it has .* and those of lightgbm"),
     ("catboost[foo=3]", "has no parameter 'foo'"),
     ("lightgbm[lambda_l2=-1]", "^lightgbm says: .*lambda_l2"),
     ("lightgbm[linear_tree=true]", "^found linear trees"),
     ("lightgbm[monotone_constraints=(1,0)]", "^lightgbm says: .*"),
     ("xgboost[max_bin=x]", "^xgboost says: Invalid Parameter format for max_bin expect int"),
     ("xgboost[foo=3,max_bin=9]", "has no parameter 'foo'"),
     ("xgboost[rate_drop=0.5]", "^xgboost: found rate_drop, which XGBoost .* does not use"),
     ("xgboost[categories=(1,brand)]", "feature 'brand'"),
     ("catboost[l2_leaf_reg=-1]", "^catboost says: L2LeafRegularizer should be >= 0")],
)  # fmt: skip
def test_what_a_library_refuses_it_says_in_a_line(label, said, rng):
    pytest.importorskip(label.partition("[")[0])
    with pytest.raises((UsageError, DataError), match=said) as error:
        [system] = systems_of([label])
        system.ranker(rounds=2, **system.settings).fit_sets(random_queries(rng, [12, 40, 30]))
    assert "\n" not in str(error.value)


@EACH
def test_trees_without_a_split_have_learned_nothing(name, rng):
    pytest.importorskip(name)
    train = random_queries(rng, [12, 40, 1, 30, 25], levels=4)
    none = {"lightgbm": {"min_docs": 99}, "xgboost": {"min_weight": 1e9}}[name]
    for settings, kinds in ((none, ["nothing learned"]), ({}, [])):
        for validation in (None, train):
            fitted = ranker(name)(rounds=3, **settings).fit_sets(train, validation)
            assert [each.kind for each in fitted.learned.warnings] == kinds
            assert np.ptp(fitted.predict(train)) == 0.0 or not kinds


def theirs(name: str, kind: str, folder: Path) -> tuple[Path, np.ndarray, np.ndarray]:
    """A model file of a library, features (n_docs, 5) and the library's own scores of them."""
    library = pytest.importorskip(name)
    rng = np.random.default_rng(4)
    X, sizes = rng.normal(size=(300, 5)), [20] * 15
    X[:, 4], X[rng.random(300) < 0.3, 2] = rng.integers(0, 9, 300), 0.0
    y = rng.integers(0, 2, 300) + (X[:, 4] % 3 == 1) + (X[:, 2] == 0.0)
    new = np.concatenate([X, rng.permuted(X, axis=0), np.zeros((1, 5)), -np.eye(5), 40 * np.eye(5)])
    given, category = X.astype(np.float32), "categor" in kind
    if "missing" in kind:
        given[rng.random(X.shape) < 0.2] = np.nan
        new[rng.random(new.shape) < 0.4] = np.nan
    new = new.astype(np.float32)
    path = folder / "some.model"
    if name == "catboost":
        named = [*"abcd", "é"] if kind == "names" else None
        given[:, 3] = 1.0  # constant, so of no use
        options = {"loss_function": "YetiRank", "iterations": 9, "depth": 3, "random_seed": 1}
        options |= {"silent": True, "allow_writing_files": False, **OF_CATBOOST[kind]}
        query = np.repeat(np.arange(15), 20)
        both: list[Any] = [given, new]
        if category:  # CatBoost takes no missing category
            both[1] = new = np.abs(new)
            both = [pd.DataFrame(each).fillna({4: -1}).astype({4: int}) for each in both]
        pool = library.Pool(both[0], y, [4] if category else None, group_id=query,
                            feature_names=named)  # fmt: skip
        model = library.CatBoost(options).fit(pool)
        model.save_model(str(path), format="json", pool=pool)
        return path, new, model.predict(both[1])
    names = ["bm25_title", "b", "Column_0", "pr", "é"] if kind == "names" else None
    if name == "lightgbm":
        options = {"objective": "lambdarank", "verbosity": -1, "min_data_in_leaf": 5, "seed": 1}
        options |= OF_LIGHTGBM[kind]
        label = (y > 0).astype(int) if kind == "binary" else y
        data = library.Dataset(
            given, label, group=sizes, feature_name=names or "auto",
            categorical_feature=[4] if category else "auto",
        )  # fmt: skip
        library.train(options, data, 9).save_model(path)
        raw = kind != "forest"
        return path, new, library.Booster(model_file=path).predict(new, raw_score=raw)
    options = {"objective": "rank:ndcg", "verbosity": 0, "seed": 1} | OF_XGBOOST[kind]
    types = ["q"] * 4 + ["c"] if category else None
    more = {"feature_names": names, "feature_types": types, "enable_categorical": category}
    data, some = library.DMatrix(given, y, **more), library.DMatrix(given[::-1], y, **more)
    data.set_group(sizes)
    some.set_group(sizes)
    stop = {"evals": [(some, "")], "early_stopping_rounds": 2} if "stopped" in kind else {}
    if kind in ("logistic", "poisson"):
        data.set_label(y > 0)
    booster = library.train(options, data, 30, verbose_eval=False, **stop)
    path.write_bytes(booster.save_raw("json"))
    if category:
        new = np.abs(new)  # the library refuses a negative category
    rounds = booster.best_iteration + 1 if stop else 0
    every = library.DMatrix(new, **more)
    found = booster.predict(every, output_margin=True, iteration_range=(0, rounds))
    return path, new, found


CATEGORIES = {"min_data_per_group": 1, "cat_smooth": 1, "max_cat_to_onehot": 1}
#: kinds of models, and how they are trained
OF_LIGHTGBM: dict[str, dict[str, object]] = {
    "numbers": {}, "names": {}, "missing": {}, "categories": CATEGORIES,
    "categories missing": CATEGORIES, "zero is missing": {"zero_as_missing": True},
    "zero is missing too": {"zero_as_missing": True}, "ignored missing": {"use_missing": False},
    "binary": {"objective": "binary"}, "constant": {"min_data_in_leaf": 999},
    "dart": {"boosting": "dart"}, "leaves": {"num_leaves": 200, "min_data_in_leaf": 1},
    "forest": {"boosting": "rf", "bagging_freq": 1, "bagging_fraction": 0.5},
}  # fmt: skip
OF_XGBOOST: dict[str, dict[str, object]] = {
    "numbers": {}, "names": {}, "missing": {}, "categories": {"max_cat_to_onehot": 1},
    "categories missing": {"max_cat_to_onehot": 1}, "one category": {"max_cat_to_onehot": 99},
    "stopped": {}, "stopped forests": {"num_parallel_tree": 3, "subsample": 0.5},
    "dart": {"booster": "dart", "rate_drop": 0.5}, "gblinear": {"booster": "gblinear"},
    "constant": {"min_child_weight": 1e9}, "deep": {"max_depth": 12, "min_child_weight": 0},
    "logistic": {"objective": "binary:logistic"}, "poisson": {"objective": "count:poisson"},
    "pruned": {"tree_method": "exact", "gamma": 0.5},
}  # fmt: skip
OF_CATBOOST: dict[str, dict[str, object]] = {
    "numbers": {}, "names": {}, "missing": {}, "missing to the right": {"nan_mode": "Max"},
    "by leaf": {"grow_policy": "Lossguide"}, "by level": {"grow_policy": "Depthwise"},
    "categories": {"max_ctr_complexity": 1, "simple_ctr": ["Borders", "Counter"]},
    "categories missing": {"max_ctr_complexity": 1, "grow_policy": "Lossguide"},
    "one category": {"one_hot_max_size": 99, "max_ctr_complexity": 1},
}  # fmt: skip
KINDS = [("catboost", kind) for kind in OF_CATBOOST]
KINDS += [("lightgbm", kind) for kind in OF_LIGHTGBM] + [("xgboost", kind) for kind in OF_XGBOOST]


@pytest.mark.parametrize("name, kind", KINDS)
def test_a_model_file_scores_as_its_library_without_it(name, kind, tmp_path, monkeypatch):
    path, X, expected = theirs(name, kind, tmp_path)
    monkeypatch.setitem(sys.modules, name, None)
    fitted = load_model(path)
    assert fitted.name == name and fitted.n_features_in_ == 5
    found = fitted.learned.model.predict(X)
    equal = name != "xgboost" and kind != "forest"  # XGBoost adds float32, in another order
    np.testing.assert_allclose(found, expected, *((0, 0) if equal else (2e-6, 2e-6)))
    fitted.save(tmp_path / "own.npz")
    np.testing.assert_array_equal(load(tmp_path / "own.npz")[0].predict(X), found)
    if "missing" in kind:  # or they are what 0 is, of which `rank` warns
        assert fitted.learned.model.has_missing == kind.startswith(("missing", "categories"))
    with pytest.raises(DataError, match="found 4 features, expected 5"):
        fitted.predict(X[:, :4])
    if kind == "names":
        with pytest.raises(DataError, match="found the feature 'z', expected '.*' in its place"):
            fitted.predict(pd.DataFrame(X, columns=list("zbcde")))
    if kind == "numbers":
        np.testing.assert_array_equal(fitted.predict(pd.DataFrame(X)), found)
    if "categor" in kind:
        with pytest.raises(UsageError, match="found splits by category"):
            lightgbm_text(fitted.learned.model)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_model_file_that_is_not_whole_is_refused_in_a_line(name, tmp_path):
    path, _, _ = theirs(name, "numbers", tmp_path)
    whole = path.read_bytes()
    end = whole.index(b"end of trees") if name == "lightgbm" else len(whole)
    for size in [*range(0, 30, 7), 60, 400, end - 400, end - 3, end - 1, *range(500, end, 997)]:
        path.write_bytes(whole[:size])
        refused(path)
    for text in (b"{}", b'{"learner": {}}', b"[1]", b"tree\n", b"\x80\x04\x95", b"{L\0\7learner"):
        path.write_bytes(text)
        refused(path)
    with pytest.raises(DataError):
        load_model(tmp_path)


def refused(path: Path) -> None:
    with pytest.raises(DataError) as error:
        load_model(path)
    said = str(error.value)
    assert said.startswith(f"{path}: ") and "\n" not in said and len(said) < 400


@pytest.mark.parametrize("form", FORGED)
def test_a_forged_model_file_is_refused_in_a_line(form, tmp_path):
    """Most end the process that gives one to the library, or never end."""
    path = tmp_path / "model.npz"
    for content in FORGED[form]():
        path.write_bytes(content)
        refused(path)


def test_the_same_model_in_other_versions_words_scores_alike(tmp_path):
    X = np.random.default_rng(0).integers(-1, 7, (60, 5)).astype(np.float32)
    X[::7, :3] = np.nan
    constant = "num_leaves=1\nsplit_feature=\nthreshold=\nleaf_value=%s\nleaf_count=%s\n\n"
    text, json_text, model = LIGHTGBM, json.dumps(XGBOOST), "tree_sizes=440 300"
    longer = text.replace(model, f"{model} 9").replace("end of", f"Tree=2\n{constant}end of", 1)
    for old, versions in (
        (text, [text.replace("\n", "\r\n"), text.replace("version=v4", "version=v2")]),
        (longer % (0, 26), [text, longer % (0, "")]),
        (json_text, [
            json_text.replace("[5E-1]", "5E-1").replace("[1, 0, 0, 0", "[true, false, false, 0"),
            json_text.replace("[0.5, 1e-45", "[0.5, NaN"), json_text.replace('"num_target"', '"x"'),
            json.dumps(XGBOOST, indent=1),
        ]),
    ):  # fmt: skip
        scores = []
        for version in (old, *versions):
            assert version != old or not scores
            (tmp_path / "m").write_bytes(version.encode())
            scores.append(load_model(tmp_path / "m").predict(X))
            np.testing.assert_array_equal(scores[-1], scores[0])
        assert np.ptp(scores[0]) > 0.0


def test_files_in_another_form_are_named_and_so_is_the_form_that_is_read(tmp_path):
    lightgbm, xgboost, catboost = map(pytest.importorskip, ("lightgbm", "xgboost", "catboost"))
    X, y = np.random.default_rng(0).random((60, 3)), np.arange(60.0) % 3
    quiet = {"verbose": -1, "min_data_in_leaf": 2}
    dump = lightgbm.train(quiet, lightgbm.Dataset(X, y), 2).dump_model()
    for indent in (None, 1):
        (tmp_path / f"LightGBM's dump_model {indent}").write_text(json.dumps(dump, indent=indent))
    booster = xgboost.train({}, xgboost.DMatrix(X, y), 2)
    for form in ("text", "json"):
        booster.dump_model(tmp_path / f"XGBoost's dump_model {form}", dump_format=form)
    made = catboost.CatBoost({"iterations": 2, "allow_writing_files": False, "verbose": 0})
    made.fit(X, y).save_model(str(tmp_path / "CatBoost cbm"))
    (tmp_path / "RankLib text").write_text("## LambdaMART\n## No. of trees = 1\n\n<ensemble>\n")
    for path in tmp_path.iterdir():
        what, _, _ = path.name.rpartition(" ")
        expected = "external" if what == "RankLib" else r"save_model\('m"
        with pytest.raises(DataError, match=f": found .*{what}, expected .*{expected}"):
            load_model(path)


def test_catboost_learns_from_categories_as_its_own_estimator(tmp_path):
    """Which takes no missing category: -1 stands for it."""
    library = pytest.importorskip("catboost")
    rng = np.random.default_rng(3)
    train = random_queries(rng, [12, 40, 1, 30, 25], levels=4)
    X = train.features.copy()
    X[:, 1] = rng.integers(0, 12, len(X))
    X[::7, 1] = np.nan
    train = replace(train, features=X, feature_names=tuple("abcde"))
    options = {"iterations": 9, "loss_function": "YetiRank", "thread_count": 1, "silent": True,
               "max_ctr_complexity": 1, "allow_writing_files": False, "learning_rate": 0.3,
               "random_seed": int(np.random.default_rng(0).integers(1 << 31))}  # fmt: skip
    new = rng.permuted(np.where(X == 3, 99, X), axis=0)  # 99 is no category of the training set
    frames = [pd.DataFrame(each).fillna({1: -1}).astype({1: int}) for each in (X, new)]
    groups = np.repeat(range(5), train.lengths)
    pool = library.Pool(frames[0], train.labels, [1], group_id=groups)
    theirs = library.CatBoost(options).fit(pool)
    [system] = systems_of(["catboost[rounds=9,learning_rate=0.3,cat_features=(b)]"])
    ours = system.ranker(**system.settings).fit_sets(train)
    ours.save(tmp_path / "own.npz")
    for given, frame in zip((X, new), frames):
        np.testing.assert_array_equal(ours.predict(given), theirs.predict(frame))
        np.testing.assert_array_equal(load_model(tmp_path / "own.npz").predict(given),
                                      ours.predict(given))  # fmt: skip
    for more in ({}, {"one_hot_max_size": 20}):  # a category -1 of the user's data
        other = library.CatBoost(options | more).fit(pool)
        other.save_model(str(tmp_path / "theirs.json"), format="json", pool=pool)
        np.testing.assert_array_equal(
            load_model(tmp_path / "theirs.json").predict(frames[1].to_numpy(np.float32)),
            other.predict(frames[1]),
        )
    theirs.save_model(str(tmp_path / "alone.json"), format="json")
    with pytest.raises(DataError, match="found no cat_features_hash, expected .*pool=pool"):
        load_model(tmp_path / "alone.json")
