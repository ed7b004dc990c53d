"""Transformations of features as part of the protocol: chosen, fitted, stored, shown."""

from __future__ import annotations

import json
import re
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from toy_data import write_toy

import letorbench as lb
from letorbench.cli import cli
from letorbench.datasets.catalog import CATALOG, parse
from letorbench.errors import UsageError
from letorbench.features import TRANSFORMATIONS

ONE = {"folds": [1], "repeats": 1}


@pytest.fixture
def folders(tmp_path: Path) -> dict[str, Path]:
    """TOY, whose features are normal: some are beyond -1 and 1."""
    write_toy(tmp_path / "data")
    return {"data_dir": tmp_path / "data", "out": tmp_path / "results"}


def fit_of(folders: dict[str, Path], algo: str, fold: int = 1) -> dict:
    path = folders["out"] / "TOY" / algo / f"fold{fold}" / "fit.json"
    return json.loads(path.read_text())


def stored_scores(folders: dict[str, Path], algo: str) -> np.ndarray:
    return np.loadtxt(folders["out"] / "TOY" / algo / "fold1" / "scores.txt")


def test_auto_does_what_each_ranker_needs(folders):
    found = lb.run("TOY", ["regression", "ndcgboost"], **folders, **ONE)
    assert fit_of(folders, "regression")["identity"]["features"] == "query-minmax"
    assert fit_of(folders, "regression")["chosen"]["features"] == "query-minmax"
    assert fit_of(folders, "ndcgboost")["identity"]["features"] == "raw"
    assert found.summary().set_index("algo")["features"].to_dict() == {
        "regression": "query-minmax", "ndcgboost": "raw"
    }  # fmt: skip
    assert found.fits()["features"].tolist() == ["raw", "query-minmax"]


@pytest.mark.parametrize("normalised, done", [(True, "raw"), (False, "zscore"), (None, "zscore")])
def test_what_the_catalog_knows_goes_before_what_the_data_show(
    folders, monkeypatch, normalised, done
):
    monkeypatch.setattr(lb.Regression, "auto_features", "zscore")
    bench = lb.load("TOY", folders["data_dir"])
    bench = replace(bench, provenance={**bench.provenance, "normalised": normalised})
    lb.run(bench, "regression", **folders, **ONE)
    assert fit_of(folders, "regression")["identity"]["features"] == done


def test_an_own_set_within_one_is_left_as_it_is(folders):
    bench = lb.load("TOY", folders["data_dir"])
    frame = pd.DataFrame(np.tanh(np.concatenate([p.X for p in bench.parts])))
    frame = frame.assign(y=np.concatenate([p.y for p in bench.parts]))
    frame = frame.assign(qid=np.concatenate([p.qid for p in bench.parts]))
    for scale, done in ((1.0, "raw"), (1.5, "query-minmax")):
        frame[0] *= scale / frame[0].abs().max()
        own = lb.from_frame(frame, "y", "qid", name="TOY")
        lb.run(own, "regression", **folders, **ONE)
        assert fit_of(folders, "regression")["identity"]["features"] == done


@pytest.mark.parametrize("name", CATALOG)
def test_the_catalog_says_which_sets_are_normalised(name):
    named = parse(name)
    raw = name.startswith(("MSLR", "ISTELLA"))
    assert named.normalised is (not raw)
    for variant in named.entry.variants:
        assert parse(f"{name}/{variant}").normalised is (variant == "QueryLevelNorm")
    if named.entry.twin is not None:
        assert parse(f"{name}-twin").normalised is (named.entry.twin.values != "raw")
    assert parse("mine").normalised is None


@pytest.mark.parametrize("name", TRANSFORMATIONS)
def test_the_stored_scores_are_those_of_transformed_features(folders, name):
    lb.run("TOY", "regression", features=name, **folders, **ONE)
    fold = lb.load("TOY", folders["data_dir"]).folds[0]
    done = TRANSFORMATIONS[name].fit(fold.train.features)
    by_hand = lb.Regression().fit(done(fold.train))
    np.testing.assert_array_equal(stored_scores(folders, "regression"),
                                  by_hand.predict(done(fold.test)))  # fmt: skip
    model = lb.load_model(folders["out"] / "TOY/regression/fold1/model.npz")
    np.testing.assert_array_equal(model.predict(fold.test), stored_scores(folders, "regression"))
    order = np.random.default_rng(0).permutation(fold.test.n_docs)
    shuffled = model.predict(fold.test.X[order], qid=fold.test.qid[order])
    np.testing.assert_allclose(shuffled, model.predict(fold.test)[order], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", TRANSFORMATIONS)
def test_a_model_does_not_know_the_other_parts(folders, name):
    """Only the training part is fitted; validation may choose, the test part does nothing."""
    lb.run("TOY", "listnet", features=name, **folders, **ONE)
    model = (folders["out"] / "TOY/listnet/fold1/model.npz").read_bytes()
    path = folders["data_dir"] / "TOY" / "Fold1" / "test.txt"
    path.write_text(re.sub(r" 1:\S+", " 1:1000", path.read_text()))
    lb.run("TOY", "listnet", features=name, **folders, **ONE)
    assert (folders["out"] / "TOY/listnet/fold1/model.npz").read_bytes() == model


def test_another_transformation_is_another_experiment(folders):
    run = {**folders, **ONE}
    lb.run("TOY", "regression", **run)
    before = (folders["out"] / "TOY/regression/fold1/fit.json").read_text()
    lb.run("TOY", "regression", features="query-minmax", **run)  # what auto was
    lb.run("TOY", [lb.Regression(features="query-minmax")], features="raw", **run)
    assert (folders["out"] / "TOY/regression/fold1/fit.json").read_text() == before
    lb.run("TOY", "regression", features="raw", **run)
    assert fit_of(folders, "regression")["identity"]["features"] == "raw"
    lb.run("TOY", [lb.Regression()], features="rank", **run)  # a ranker that asks for none
    assert fit_of(folders, "regression")["identity"]["features"] == "rank"


def test_the_command_line_says_what_was_done(folders):
    words = ["run", "--dataset", "TOY", "--algo", "regression,ndcgboost", "--folds", "1",
             "--data-dir", str(folders["data_dir"]), "--out", str(folders["out"])]  # fmt: skip
    shown = CliRunner().invoke(cli, words).stdout
    assert "; features query-minmax (raw: ndcgboost)" in shown.splitlines()[0]
    shown = CliRunner().invoke(cli, [*words, "--features", "rank"]).stdout
    assert "; features rank" in shown.splitlines()[0]
    assert "features" not in CliRunner().invoke(cli, [*words, "--features", "raw"]).stdout
    wrong = CliRunner().invoke(cli, [*words, "--features", "minmax"])
    assert wrong.exit_code == 2 and "query-minmax" in wrong.output
    with pytest.raises(UsageError, match="feature transformation"):
        lb.run("TOY", "regression", features="minmax", **folders)


def test_a_saved_model_ranks_a_file_of_raw_features(folders, tmp_path):
    lb.run("TOY", ["regression"], features="query-zscore", **folders, **ONE)
    words = ["rank", "--model", str(folders["out"] / "TOY/regression/fold1/model.npz"),
             "--input", str(folders["data_dir"] / "TOY/Fold1/test.txt"),
             "--output", str(tmp_path / "ranked.txt")]  # fmt: skip
    assert CliRunner().invoke(cli, words).exit_code == 0
    expected = (folders["out"] / "TOY/regression/fold1/scores.txt").read_text()
    assert (tmp_path / "ranked.txt").read_text() == expected


def test_null_is_read_before_anything_is_transformed(folders):
    """NULL as the query's minimum, then query-minmax: 0, as LETOR's Feature-min became."""
    folder = folders["data_dir"] / "TOY"
    for path in folder.rglob("*.txt"):
        lines = path.read_text().splitlines()
        lines[::7] = [re.sub(r" 2:\S+", " 2:NULL", line) for line in lines[::7]]
        path.write_text("\n".join(lines) + "\n")
    lb.run("TOY", "regression", null="min", features="query-minmax", **folders, **ONE)
    facts = fit_of(folders, "regression")["identity"]
    assert (facts["null"], facts["features"]) == ("min", "query-minmax")
    fold = lb.load("TOY", folders["data_dir"], null="min").folds[0]
    new = TRANSFORMATIONS["query-minmax"]()(fold.test).features
    assert (new[::7, 1] == 0.0).all() and ((new >= 0.0) & (new <= 1.0)).all()


def test_huge_and_constant_features_are_no_special_case(folders):
    bench = lb.load("TOY", folders["data_dir"])
    huge = np.array([1e9, 3e38, 1.0, 0.0], dtype=np.float32) / np.float32(8.0)

    def grown(queries):
        return replace(queries, features=queries.features * huge)

    folds = [
        replace(f, train=grown(f.train), validation=grown(f.validation), test=grown(f.test))
        for f in bench.folds
    ]
    for algo in ("regression", "listnet", "ranknet", "ranksvm", "adarank-map", "wpl", "ndcgboost"):
        lb.run(replace(bench, folds=tuple(folds)), algo, **folders, **ONE)
        assert np.isfinite(stored_scores(folders, algo)).all()
        assert len(np.unique(stored_scores(folders, algo))) > 3


def test_letors_own_normalisation(shared, tmp_path):
    """query-minmax makes QueryLevelNorm of Feature-min; the five test parts are all documents."""
    archive = shared / "archives" / "OHSUMED.zip"
    if not archive.is_file():
        pytest.skip("no archive of OHSUMED beside this repository")
    with zipfile.ZipFile(archive) as files:
        for fold in range(1, 6):
            raw, norm = (
                lb.read_letor(files.extract(f"OHSUMED/{name}", tmp_path))
                for name in (f"Feature-min/Fold{fold}/testset.txt",
                             f"QueryLevelNorm/Fold{fold}/test.txt")
            )  # fmt: skip
            np.testing.assert_array_equal(raw.qids, norm.qids)
            new = TRANSFORMATIONS["query-minmax"]()(raw)
            gap = np.abs(new.features.astype(float) - norm.features)
            assert new.n_features == 45 and gap.max() <= 2e-6
