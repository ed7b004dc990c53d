"""`import letorbench as lb`: the lines of the documentation run, and errors say what is wrong."""

import json
import subprocess
import sys
import warnings
from functools import partial
from inspect import signature
from itertools import product
from pathlib import Path

import click
import numpy as np
import pandas as pd
import pytest
from conftest import call
from toy_data import content, write_toy

import letorbench as lb
from letorbench.analysis.comparison import Procedure
from letorbench.cli import cli
from letorbench.cli.results import write_figure
from letorbench.errors import UsageError
from letorbench.experiment.plan import Protocol

PACKAGE = Path(lb.__file__).parent


@pytest.fixture
def folder(tmp_path: Path, monkeypatch) -> Path:
    """A folder with the toy data set as MQ2008, which is where we are."""
    write_toy(tmp_path / "data", "MQ2008")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def table(n_queries: int = 30) -> pd.DataFrame:
    """A table of 4 documents a query: label `rel`, query `qid`, two features."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.random((4 * n_queries, 2)), columns=["bm25", "links"])
    rel = np.digitize(frame["bm25"], [0.5, 0.8])
    return frame.assign(rel=rel, qid=np.repeat(np.arange(n_queries), 4))


def test_the_lines_of_the_design(folder):
    bench = lb.load("MQ2008", data_dir="data")
    train, valid = bench.folds[0].train, bench.folds[0].validation
    X, y, qid = train.X, train.y, train.qid
    ranker = lb.NDCGBoost(rounds=10).fit(X, y, qid=qid, eval_set=(valid.X, valid.y, valid.qid))
    scores = ranker.predict(X)
    assert scores.shape == y.shape == (168,)
    found = lb.evaluate(
        y, scores, qid=qid, measures=["ndcg@10", "map"], convention="letor4", per_query=True
    )
    assert found.shape == (24, 2)

    res = lb.run(bench, ["regression", lb.NDCGBoost], out="results")
    summary = res.summary()
    assert list(summary["folds"]) == [5, 5] and not summary["partial"].any()
    assert len(res.per_query()) == 80
    (pair,) = res.compare(baseline="regression").to_dict("records")
    assert (pair["algo"], pair["against"], pair["queries"]) == ("ndcgboost", "regression", 40)
    assert len(res.plot().axes) == 1 and len(res.scores()) == 5 * 56
    pd.testing.assert_frame_equal(lb.load_results("results").summary(), summary)
    assert list(res.summary(["err@3", lb.MAP]).columns[-2:]) == ["err@3", "map"]  # not stored
    assert "err@3" in res.per_query(lb.ERR @ 3)
    assert set(res.compare(measures=[lb.nDCG @ 2, "err@3"])["measure"]) == {"ndcg@2", "err@3"}
    assert "<html" in res.report(Path("out.html"), baseline="regression").read_text()


def test_a_run_of_a_table_names_classes_and_instances(folder):
    bench = lb.from_frame(table(), label="rel", qid="qid", folds=3, seed=0, name="mine")
    assert len(bench.folds) == 3
    res = lb.run(bench, [lb.Regression(l2=0.5), lb.ListNet, "random,classification"], folds=[1, 2])
    assert res.algorithms == ["classification", "listnet", "random", "regression[l2=0.5]"]
    assert list(res.summary("map, err@10").columns[-2:]) == ["map", "err@10"]
    fits = res.fits().set_index(["algo", "fold"])
    assert fits.loc[("regression[l2=0.5]", 1), "chosen"]["l2"] == 0.5
    assert fits.loc[("listnet", 1), "chosen"]["learning_rate"] in (0.1, 0.3, 1.0)
    assert "mine: classification, listnet, random, regression[l2=0.5]; partial" in repr(res)
    assert "<th" in res._repr_html_() and "1.0000" in res._repr_html_()
    assert res.plot()._repr_png_().startswith(b"png")  # a notebook needs no magic
    assert res.only(algos="listnet").algorithms == ["listnet"]
    # what has just been run is called by its label everywhere, as what is read again
    named = lb.run(bench, ["random", lb.Regression(l2=0.5)], out="named", folds=[1])
    assert set(named.compare()["against"]) == {"regression[l2=0.5]"}
    assert "regression[l2=0.5] is the best" in named.report("named.html").read_text()


def files_of(out: Path, part: str) -> list[tuple[dict, dict, np.ndarray, pd.DataFrame]]:
    """What each fold is of, its fit.json, its scores and its queries, read from the files."""
    found = []
    for name, (algo, seeds) in product(
        ("MQ2008", "OTHER"), {"ndcgboost": 2, "regression": 1}.items()
    ):
        for repeat, fold in product(range(1, seeds + 1), (1, 3)):
            key = {"dataset": name, "algo": algo, "repeat": repeat, "fold": fold}
            place = out / name / algo / ("" if repeat == 1 else f"repeat{repeat}") / f"fold{fold}"
            fit = json.loads((place / "fit.json").read_text())
            queries = pd.read_csv(place / "per_query.csv", dtype={"qid": str})
            found.append((key, fit, np.loadtxt(place / part), queries))
    return found


def test_every_frame_is_what_the_files_hold(folder):
    """Two data sets, two folds, two algorithms of which one has two seeds."""
    write_toy(folder / "data", "OTHER", seed=2)
    algos = {"regression": lb.Regression, "ndcgboost": "ndcgboost[stumps=sample,rounds=2]"}
    with pytest.warns(UserWarning):
        res = lb.run("MQ2008,OTHER", algos, folds=[3, 1, 3], repeats=2)
    assert res.warnings == (
        "ties (many documents share their score with another one of their query): "
        "MQ2008 ndcgboost in 4 fits; OTHER ndcgboost in 4 fits",
        "8 warnings in all; their texts are in each fold's fit.json and in the page of "
        "`letorbench report`",
    )
    same = partial(pd.testing.assert_frame_equal, check_dtype=False, rtol=1e-12)
    files = files_of(res.out, "scores.txt")
    queries = pd.concat([own.assign(**key) for key, _, _, own in files], ignore_index=True)
    names, of = list(files[0][3].columns[1:]), ["dataset", "algo"]
    same(res.per_query(repeats=True), queries[[*of, "fold", "qid", "repeat", *names]])
    several = ["map", lb.P @ 2]
    same(
        res.per_query(several, repeats=True), queries[[*of, "fold", "qid", "repeat", "map", "p@2"]]
    )
    means = queries.groupby([*of, "fold", "qid"], sort=False)[names].mean()
    same(res.per_query(), means.reset_index())
    folds = queries.groupby([*of, "repeat", "fold"])[names].mean()
    same(res.folds(), folds.reset_index())
    seeds = folds.groupby([*of, "repeat"]).mean().groupby(of)
    deviations = seeds.std().add_suffix("-sd")
    facts = pd.DataFrame(
        {
            "convention": ["letor4", "letor4", "standard", "standard"],
            "features": ["raw", "raw", "raw", "query-minmax"],
            "folds": 2, "n_folds": 5, "repeats": [2, 1, 2, 1], "partial": True, "cut_off": 0,
        },
        deviations.index,
    )  # fmt: skip
    same(res.summary(), pd.concat([facts, seeds.mean(), deviations], axis=1).reset_index())
    found = res.fits()
    found["warnings"] = [[vars(each) for each in own] for own in found["warnings"]]
    fits = [
        {
            **key, "features": fit["identity"]["features"], "chosen": fit["chosen"],
            "select": "ndcg@10", "validation": fit["validation"]["value"],
            "training": fit["validation"]["training"],
            "best": fit["validation"]["best"], "curve": fit["validation"]["curve"],
            "objective": fit["objective"], "seconds": fit["seconds"], "seed": 0,
            "warnings": fit["warnings"],
        }
        for key, fit, _, _ in files
    ]  # fmt: skip
    same(found, pd.DataFrame(fits))
    for part, file in {"test": "scores.txt", "validation": "validation.txt"}.items():
        held = {tuple(key.values()): scores for key, _, scores, _ in files_of(res.out, file)}
        expected = []
        for name, fold in product(("MQ2008", "OTHER"), (1, 3)):
            own = getattr(lb.load(name).folds[fold - 1], part)
            boosted = (held[name, "ndcgboost", 1, fold] + held[name, "ndcgboost", 2, fold]) / 2
            least = held[name, "regression", 1, fold]
            columns = {"dataset": name, "fold": fold, "qid": own.qid, "label": own.y}
            expected.append(pd.DataFrame({**columns, "ndcgboost": boosted, "regression": least}))
        same(res.scores(part), pd.concat(expected, ignore_index=True))
    with pytest.raises(UsageError, match="found part='train', expected one of validation, test$"):
        res.scores("train")


@pytest.mark.usefixtures("no_figures")
def test_python_and_the_command_line_run_the_same(folder):
    """With every option that changes files, so that none is lost or takes another's place."""
    words = (
        "run --dataset MQ2008 --algo listnet --algo ndcgboost,regression --folds 2-3 --seed 3 "
        "--set rounds=2 --set stumps=sample --repeats 2 --share 0.5,1 --protocol letor "
        "--select mrr --convention letor3,empty=drop --null 0.5 --features rank --time-limit 1e-9 "
        "--shard 1/2 --out shell"
    )
    shell = call(*words.split())
    with pytest.warns(UserWarning, match="cut off") as caught:
        lb.run(
            ["MQ2008"], ["listnet", "ndcgboost,regression"], folds=[2, 3], seed=3,
            fixed=["rounds=2", "stumps=sample"], repeats=2, share=[0.5, 1], protocol="letor",
            select=lb.MRR, convention="letor3,empty=drop", null=0.5, features="rank",
            time_limit=1e-9, shard="1/2", out="python",
        )  # fmt: skip
    assert content(Path("shell")) == content(Path("python"))
    said = [f"letorbench: warning: {each.message}" for each in caught]
    assert shell.exit_code == 0 and shell.stderr.splitlines() == said
    assert {each.filename for each in caught} == {__file__}
    assert said[:2] == [
        f"letorbench: warning: {name}: found 46 features and labels up to 2, as MQ2007 has; "
        "--convention letor4 may be meant"
        for name in ("MQ2008@0.5", "MQ2008")
    ]
    fits = [json.loads(path.read_text()) for path in Path("python").rglob("fit.json")]
    keys = ("seed", "protocol", "select", "convention", "features", "null")
    asked = ("letor", "mrr", "letor3,empty=drop", "rank", 0.5)
    found = {tuple(fit["identity"][key] for key in keys) for fit in fits}
    # without a share and without draws, no seed changes anything
    assert len(fits) == 8 and found == {(3, *asked), (0, *asked)}


def test_what_is_not_said_is_the_same_in_python_and_on_the_command_line():
    """Every default of a name that both have; the pages have those of the options."""
    functions = {
        lb.run: "run", Protocol: "run", lb.load_results: "table", lb.Results.plot: "plot",
        write_figure: "plot", lb.Results.compare: "compare", Procedure: "compare",
        lb.Results.report: "report", lb.Results.learning_curves: "report",
    }  # fmt: skip
    compared = []
    for function, name in functions.items():
        command = cli.commands[name]
        above = click.Context(cli, **cli.context_settings)  # click keeps how help is asked for
        given = command.make_context(name, [], above, resilient_parsing=True).params
        values = {option.opts[0].strip("-"): given.get(option.name) for option in command.params}
        for key, own in signature(function).parameters.items():
            value = values.get(key.replace("_", "-"))
            if value not in (None, ()) and own.default is not own.empty:
                compared.append((name, key, str(value), str(own.default)))
    different = [each for each in compared if each[2] != each[3]]
    assert different == [("run", "share", "('1',)", "1.0")]
    assert len(compared) == 33


def test_what_fails_is_said(folder):
    refused = lb.RankSVM().set_params(C=-1.0)
    text = r"MQ2008, ranksvm\[C=-1.0\], fold 1: ranksvm: found C=-1.0, expected more than 0"
    with pytest.raises(UsageError, match=f"^{text}$"):
        lb.run("MQ2008", refused, folds=[1])
    with pytest.warns(UserWarning, match=f"^{text}$"):
        res = lb.run("MQ2008", [refused, lb.Classification], folds=[1])
    assert res.algorithms == ["classification"] and res.warnings == (text.replace("\\", ""),)
    with warnings.catch_warnings():  # a plain run has none
        warnings.simplefilter("error", UserWarning)
        write_toy(folder / "data", "MINE")
        lb.run("MINE", "regression", folds=[1])


def test_evaluate_takes_ids_and_documents_that_are_not_retrieved():
    y, qid = [1, 0, 0, 1, 1], ["a", "b", "a", "b", "b"]
    scores, ids = [1.0, 2.0, 1.0, 1.0, -np.inf], ["d9", "x", "d10", "y", "z"]
    options = {"qid": qid, "measures": "map,recall@1", "convention": "trec_eval"}
    values = lb.evaluate(y, scores, docids=ids, per_query=True, **options)
    assert values.loc["a"].tolist() == [1.0, 1.0]  # d9 is above d10
    assert values.loc["b"].tolist() == [0.25, 0.0]
    values = lb.evaluate(y, scores, per_query=True, **options)
    assert values.loc["a"].tolist() == [0.5, 0.0]  # 2 is above 1
    with pytest.raises(lb.DataError, match="docids: found 4 values, expected 5"):
        lb.evaluate(y, scores, docids=ids[:4], **options)


def test_evaluate_keeps_the_callers_order_of_queries():
    y, scores, qid = [1, 0, 2, 0], [0.3, 0.9, 0.8, 0.1], ["b", "a", "b", "a"]
    of = pd.Index(["b", "a"], name="qid")
    expected = pd.DataFrame({"mrr": [1.0, 0.0], "p@1": [1.0, 0.0]}, of)
    frame = lb.evaluate(y, scores, qid=qid, measures="mrr, p@1", per_query=True)
    pd.testing.assert_frame_equal(frame, expected)
    assert frame.attrs == {"convention": "standard"}
    means = lb.evaluate(y, scores, qid=qid, measures=[lb.MRR, lb.P @ 1])
    pd.testing.assert_series_equal(means, pd.Series({"mrr": 0.5, "p@1": 0.5}, name="mean"))
    queries = lb.QuerySet.from_arrays(np.eye(4), y, qid=qid)
    own = np.array(scores)[queries.rows]
    drop = lb.evaluate(
        queries, own, measures="mrr, p@1", convention="letor3,empty=drop", per_query=True
    )
    pd.testing.assert_frame_equal(drop, expected.replace(0.0, np.nan))
    assert drop.attrs == {"convention": "letor3,empty=drop"}
    rules = lb.CONVENTIONS["letor4"]
    assert lb.evaluate(queries, own, convention=rules).to_dict() == {"ndcg@10": 0.0}
    grouped = lb.evaluate([1, 0, 1], [1.0, 2.0, 3.0], group=[2, 1], measures=lb.MRR)
    assert grouped["mrr"] == 0.75


def test_evaluate_leaves_a_query_out_of_the_measures_that_do_not_count_it() -> None:
    def graded(y_true, y_score):
        return np.nan if y_true.max() < 2 else 0.25

    y, scores, qid = [0, 1, 2, 0], [0.1, 0.9, 0.2, 0.3], [1, 1, 2, 2]
    assert lb.evaluate(y, scores, qid, [graded, "p@1"]).to_dict() == {"graded": 0.25, "p@1": 0.5}


def test_every_public_name_is_there():
    for name in dir(lb):
        assert getattr(lb, name) is not None
    assert (PACKAGE / "py.typed").exists()


def test_imports_wait_until_they_are_needed(monkeypatch):
    """Libraries until a name is used, pandas until there is a frame, scikit-learn for ever."""
    monkeypatch.delenv("LETORBENCH_THREADS", raising=False)  # it is checked before any work
    code = """
import sys, letorbench as lb
from letorbench.cli import cli
try:
    cli(["--help"])
except SystemExit:
    pass
heavy = {"numpy", "numba", "pandas", "scipy", "matplotlib", "tqdm", "loky"}
assert not heavy & set(sys.modules)
sys.modules["sklearn"] = None
import letorbench.experiment.run
assert "pandas" not in sys.modules
ranker = lb.Regression().fit([[0.0], [1.0]], [0, 1], qid=[1, 1])
print(ranker.score([[0.0], [1.0]], [0, 1], qid=[1, 1]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.endswith("\n1.0\n"), done.stderr
