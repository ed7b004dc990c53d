"""Numbers beside those that a run stored: other measures, reference points, DataFrames."""

import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from conftest import call
from toy_data import store_fold, write_toy

import letorbench as lb
from letorbench.errors import DataError
from letorbench.results.dataset_results import DatasetResults, require_system, write_tables
from letorbench.results.export import export
from letorbench.results.model_texts import FORMATS
from letorbench.results.per_query import PerQuery
from letorbench.results.store import Store

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


def test_models_that_no_text_can_say_are_named_and_the_others_written(ran, tmp_path):
    summary = DatasetResults.read(ran[1] / "results", "TOY").only(["adarank-ndcg", "regression"])
    said = "regression: the model is of features that query-minmax transformed, which a model of "
    said += "ranklib cannot say; expected a model of --features raw"
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
    made = list(export(summary, "trec", ran[1] / "data", tmp_path))
    for path in (each for each in made if each.suffix == ".run"):
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


def algorithm(out: Path, algo: str, values: dict[str, float], convention: str = "letor3") -> None:
    for number in (1, 2):
        store_fold(out, "SET", algo, number, values, convention, n_folds=2)


def write(out: Path) -> None:
    """Write the copies, as a run does."""
    store = Store(out, "SET").look()
    write_tables(store, store.rows())


def test_a_run_writes_the_copies_and_a_reader_none(tmp_path):
    store_fold(tmp_path, "SET", "a", 1, {"map": 0.5})
    DatasetResults.read(tmp_path, "SET")
    assert list(tmp_path.rglob("summary.csv")) == []
    write(tmp_path)
    copies = [path for path in tmp_path.rglob("*.csv") if path.parent.name != "fold1"]
    assert len(copies) == 3
    before = {path: path.read_bytes() for path in copies}
    write(tmp_path)
    assert {path: path.read_bytes() for path in copies} == before
    [fit] = tmp_path.rglob("fit.json")
    os.utime(fit)  # as a run does that reuses the fold: its tables are up to date
    write_tables(Store(tmp_path, "SET"))
    [last] = tmp_path.rglob("folds.csv")  # which says that all of them are up to date
    assert last.stat().st_mtime_ns >= fit.stat().st_mtime_ns
    for spoil in (Path.unlink, lambda path: path.write_bytes(b"stale\xff")):
        for path in copies:
            spoil(path)
        write(tmp_path)
        assert all(path.read_bytes() == text for path, text in before.items())
    store_fold(tmp_path, "SET", "a", 2, {"map": 0.75})
    assert DatasetResults.read(tmp_path, "SET").rows[0].values == {"map": 0.625}
    assert all(path.read_bytes() == text for path, text in before.items())
    write(tmp_path)
    assert all("2" in path.read_text() and path.read_bytes() != before[path] for path in copies)


def test_a_run_does_not_lose_the_rows_of_another(tmp_path):
    """Two runs write the tables of one folder, each with what it knows and what it finds."""
    algorithm(tmp_path, "b", {"map": 0.5})
    one, other = Store(tmp_path, "SET").look(), Store(tmp_path, "SET").look()
    store_fold(tmp_path, "SET", "a", 1, {"map": 0.25})
    write_tables(one, ["a"])
    store_fold(tmp_path, "SET", "c", 1, {"map": 0.75})
    write_tables(other, ["c"])
    lines = (tmp_path / "SET" / "summary.csv").read_text().splitlines()[1:]
    assert lines == ["a,letor3,1,1,0,0,0.25", "b,letor3,2,1,0,0,0.5", "c,letor3,1,1,0,0,0.75"]
    assert (tmp_path / "SET" / "c" / "folds.csv").is_file()


def test_no_stored_value_can_be_changed():
    tables = {"map": np.array([[0.1, 0.9], [0.1, 0.8]])}
    made = PerQuery("a", np.array([1, 1]), np.array(["7", "07"]), tables)
    arrays = [made.folds, made.qids, *made.values.values(), *made.tables.values()]
    assert len(arrays) == 4 and not any(array.flags.writeable for array in arrays)
