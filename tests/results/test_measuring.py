"""Numbers beside those that a run stored: other measures, reference points, DataFrames."""

import os
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from conftest import call
from toy_data import write_toy

import letorbench as lb
from letorbench.errors import DataError
from letorbench.measures import default_measures, query_metrics
from letorbench.results.dataset_results import DatasetResults, require_system
from letorbench.results.export import export
from letorbench.results.model_texts import FORMATS
from letorbench.results.store import StoredFold

ALGOS = {
    "random": "random", "ideal": "ideal", "regression": "regression",
    "ranknet": lb.RankNet(epochs=2),
}  # fmt: skip


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    folder = tmp_path_factory.mktemp("measuring")
    write_toy(folder / "data")
    options = {"data_dir": folder / "data", "out": folder / "results"}
    results = lb.run("TOY", ALGOS, repeats=2, **options)
    few = {"adarank-ndcg": lb.AdaRankNDCG(rounds=3)}
    lb.run("TOY", few, folds=[2], features="raw", **options)
    return results, folder


def of_one_measure(fold: StoredFold) -> StoredFold:
    """The fold as if it had been measured by NDCG@1 alone."""
    name = "ndcg@1"
    test = fold.fit["test"] | {"means": {name: fold.means[name]}}
    queries = replace(fold.queries, tables={name: fold.queries.tables[name]})
    return replace(fold, fit=fold.fit | {"test": test}, queries=queries)


def test_measured_again_is_what_was_stored(ran):
    folder = ran[1]
    row = require_system(folder / "results", "TOY", "ranknet")
    measures, stored = ["ndcg@1", "ndcg@10", "map", "p@7", "p@13"], row.queries
    again = replace(row, stored=tuple(map(of_one_measure, row.stored)))
    again = again.with_measures(measures, folder / "data")
    assert again.values == pytest.approx({n: again.queries.mean(n) for n in measures})
    added = again.queries
    for name in measures[:-1]:
        np.testing.assert_array_equal(added.values[name], stored.values[name])
        np.testing.assert_array_equal(added.tables[name], stored.tables[name])
    assert added.tables["p@13"].shape == (2, 40)  # the queries have seven documents
    np.testing.assert_allclose(added.tables["p@13"], stored.tables["p@7"] * 7 / 13)
    fixed = require_system(folder / "results", "TOY", "regression")  # nothing is drawn: no seeds
    assert fixed.with_measures(["p@13"], folder / "data").repeated == {}


def test_models_that_no_text_can_say_are_named_and_the_others_written(ran, tmp_path):
    summary = DatasetResults.read(ran[1] / "results", "TOY").only(["adarank-ndcg", "regression"])
    said = "regression: its model is of features that query-minmax transformed, which a model of "
    said += "ranklib cannot say; expected a run with --features raw"
    written = export(summary, "ranklib", ran[1] / "data", tmp_path / "texts")
    assert next(written) == tmp_path / "texts/fold2/adarank-ndcg.txt"  # whatever others are
    with pytest.raises(DataError, match=f"^{said}$"):
        next(written)
    assert len([*tmp_path.glob("texts/*/*")]) == 1
    model = lb.load_model(ran[1] / "results/TOY/adarank-ndcg/fold2/model.npz").learned.model
    linear = summary.only(["adarank-ndcg"])
    with pytest.raises(DataError, match="^adarank-ndcg: found a linear model, expected trees"):
        list(export(linear, "lightgbm", ran[1] / "data", tmp_path / "none"))
    assert not (tmp_path / "none").exists()
    for form, end in (("ranklib", "txt"), ("solr", "json"), ("elasticsearch", "json")):
        [path] = export(linear, form, ran[1] / "data", tmp_path)
        assert path == tmp_path / "fold2" / f"adarank-ndcg.{end}"
        assert path.read_text() == FORMATS[form](model, "adarank-ndcg-fold2", None)


def test_of_several_seeds_the_first_is_exported(ran, tmp_path):
    summary = DatasetResults.read(ran[1] / "results", "TOY").only(["ranknet"])
    for path in list(export(summary, "trec", ran[1] / "data", tmp_path))[1::2]:
        stored = np.loadtxt(ran[1] / "results/TOY/ranknet" / path.parent.name / "scores.txt")
        assert sorted(np.loadtxt(path, usecols=4)) == sorted(stored)


def test_other_data_are_refused(ran, tmp_path):
    row = require_system(ran[1] / "results", "TOY", "regression")
    write_toy(tmp_path, seed=9)
    with pytest.raises(DataError) as error:
        row.with_measures(["ndcg@12"], tmp_path)
    said = "found scores of other data: its data are not those now under"
    assert str(error.value) == f"{row.stored[0].folder}: {said} {tmp_path}; run it again"
    row.with_measures(["map"], tmp_path / "nowhere")  # stored: no data needed


def test_results_say_which_folds_are_of_other_data(tmp_path, monkeypatch):
    """Of a fold that is left out, of all that are shown, and not of unread, large data."""
    monkeypatch.chdir(tmp_path)
    write_toy(Path("data"))
    lb.run("TOY", ["regression", "random"], folds=[1, 2])
    assert lb.load_results().warnings == ()
    shutil.rmtree("data/TOY")
    write_toy(Path("data"), seed=9)
    both = "every fold is of other data than those now under data"
    assert lb.load_results().warnings == (f"TOY, random, regression: {both}",)
    assert f"letorbench: warning: TOY, random: {both}" in call("table", "--algo", "random").stderr
    lb.run("TOY", "regression", folds=[1])
    left = "TOY, regression: fold 2, of other data, is left out"
    assert lb.load_results().warnings == (f"TOY, random: {both}", left)
    for words in ("plot TOY --format svg --to x", "report TOY --out-file x.html", "compare TOY"):
        assert left in call(*words.split()).stderr
    os.utime("results/TOY/regression/fold2/fit.json", (2**31, 2**31))  # by a clock that was ahead
    first = "TOY, regression: fold 1, of other data, is left out"
    assert lb.load_results(algos="regression").warnings == (first, f"TOY, regression: {both}")
    monkeypatch.setattr("letorbench.datasets.load.QUICK", 10)
    assert lb.load_results().warnings[0] == f"TOY, random, regression: {both}"  # in the cache
    shutil.rmtree("data/.cache")
    assert lb.load_results().warnings == (first,)


def test_random_is_the_mean_of_all_orders(ran):
    """As of equal scores; tests/measures compares that with every order."""
    results, folder = ran
    frame = results.per_query().query("algo == 'random'")
    bench = lb.load("TOY", data_dir=folder / "data")
    measures, tied = default_measures(bench.convention), replace(bench.convention, ties="mean")
    for fold in bench.folds:
        test, equal = fold.test, np.zeros(fold.test.n_docs)
        expected = query_metrics(test.labels, equal, test.offsets, measures, tied)
        stored = frame[frame["fold"] == fold.number][[str(each) for each in measures]]
        np.testing.assert_allclose(stored, expected, rtol=1e-12)


def test_a_fold_without_scores_is_nan(ran):
    algos = "regression,adarank-ndcg"
    results = lb.load_results(ran[1] / "results", "TOY", algos, ran[1] / "data")
    frame = results.scores()
    assert sorted(set(frame["fold"][frame["adarank-ndcg"].notna()])) == [2]
