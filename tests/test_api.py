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
def folder(tmp_path, monkeypatch) -> Path:
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
    for names in ({"datasets": "nope"}, {"algos": "listnet,nope"}):
        with pytest.raises(UsageError, match="'nope'; expected one of"):
            res.only(**names)
    # what has just been run is called by its label everywhere, as what is read again
    named = lb.run(bench, ["random", lb.Regression(l2=0.5)], out="named", folds=[1])
    assert set(named.compare()["against"]) == {"regression[l2=0.5]"}
    assert "regression[l2=0.5] is the best" in named.report("named.html").read_text()


@pytest.mark.parametrize(
    "name",
    ["summary", "per_query", "folds", "fits", "scores", "compare", "queries", "resplits"]
    + ["learning_curves", "plot", "best", "report"],
)
def test_results_without_a_finished_fold_say_so(name):
    with pytest.raises(ValueError, match="somewhere: found no results"):
        getattr(lb.Results(Path("somewhere"), ()), name)()


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
    several = res.per_query(["map", lb.P @ 2], repeats=True)
    same(several, queries[[*of, "fold", "qid", "repeat", "map", "p@2"]])
    means = queries.groupby([*of, "fold", "qid"], sort=False)[names].mean()
    same(res.per_query(), means.reset_index())
    folds = queries.groupby([*of, "repeat", "fold"])[names].mean()
    same(res.folds(), folds.reset_index())
    by_fold = folds.reset_index()[[*of, "repeat", "fold", "map", "p@2"]]
    same(res.summary("map, p@2", per="fold"), by_fold)
    same(res.summary("map", per="query"), res.per_query("map"))
    seeds = folds.groupby([*of, "repeat"]).mean().groupby(of)
    deviations = seeds.std().add_suffix("-sd")
    facts = pd.DataFrame(
        {
            "convention": ["letor4", "letor4", "standard", "standard"],
            "features": ["raw", "raw", "raw", "query-minmax"],
            "folds": 2, "n_folds": 5, "repeats": [2, 1, 2, 1], "partial": True, "cut_off": 0,
            "not_converged": 0,
        },
        deviations.index,
    )  # fmt: skip
    same(res.summary("all"), pd.concat([facts, seeds.mean(), deviations], axis=1).reset_index())
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


def test_results_read_like_a_mapping_and_print_for_papers(folder):
    """Of two data sets and of a frame's, whose data are in no folder."""
    frame = table().assign(doc=[f"d{n}" for n in range(120)])
    bench = lb.from_frame(frame, label="rel", docid="doc", folds=3)
    assert bench.folds[0].test.docids[0].startswith(b"d") and bench.folds[0].test.n_features == 2
    res = lb.run(bench, ["regression", "random", "best-feature", "ideal"])
    assert list(res) == res.algorithms and len(res) == 4 and "random" in res
    for one in (res["Linear_Regression"], res["Frame"]["regression"]):
        assert one.algorithms == ["regression"]
    values = res.summary().set_index("algo")["ndcg@10"].drop("ideal")
    assert res.best() == values.idxmax() != res.best("rmse") == "regression"
    assert res.to_frame().equals(res.summary())
    assert res.table("map").equals(res.summary("map"))
    half = lb.run(bench, "regression", share=[0.5, 1])["frame@0.5"]
    assert half.summary("p@20")["p@20"].item() > 0.0 and len(half.scores()) == 120
    latex, markdown = res.to_latex(baseline="random"), res.to_markdown(["p@1", "precision@2"])
    assert "\\toprule" in latex and "\\uparrow" in latex and "| P@1 | P@2 |" in markdown
    found = res.compare(["regression", "random"], correction="bonferroni")
    assert list(zip(found["algo"], found["against"])) == [
        ("best-feature", "regression"), ("random", "regression"),
        ("best-feature", "random"), ("regression", "random"),
    ]  # fmt: skip
    assert found["p_adjusted"].tolist() == np.minimum(3 * found["p"], 1.0).tolist()
    assert found.equals(res.compare("regression,random", correction="bonferroni"))
    slices = res.compare("regression", by="length")["slice"]  # needs the documents
    assert len(set(slices)) >= 1 and len(res.scores()) == 120
    assert res.summary(["err@3"])["err@3"].notna().all()  # not stored
    write_toy(folder / "data", "OTHER", seed=2)
    both = lb.run("MQ2008,OTHER", "random")
    assert both["OTHER"].datasets == ["OTHER"]
    with pytest.raises(UsageError, match="found the data sets MQ2008, OTHER, expected one"):
        both.best()
    for name, told in (("nothing", "unknown algorithm 'nothing'"), (0, "expected the name")):
        with pytest.raises((UsageError, TypeError), match=told):
            res[name]


def test_other_tools_names_are_printed_as_ours(folder):
    ours = [lb.WPL, lb.SmoothNDCG, lb.nDCG, lb.P]
    assert [lb.ListMLE, lb.ApproxNDCG, lb.NDCG, lb.Precision] == ours
    assert lb.ranker("LambdaMART") is lb.ranker("lambda_mart") is lb.LambdaMART
    res = lb.run(
        "MQ2008", "ListMLE[max_iter=3],RandomForest[n_estimators=2,max_features=1]", folds=[1],
        repeats=1, select="NDCG_cut_5", measures=["P_3", "success@4"],
    )  # fmt: skip
    assert list(res) == [
        "random-forests[columns=1.0,bags=2,select=ndcg@5]", "wpl[iterations=3,select=ndcg@5]"
    ]  # fmt: skip
    assert list(res.summary())[5:] == ["ndcg@1", "ndcg@3", "ndcg@5", "ndcg@10", "map", "hit@4"]
    assert "hit@4" in res.summary("all")
    assert list(res.summary("P_3, success@4").columns[-2:]) == ["p@3", "hit@4"]
    assert res["listmle"].algorithms == [list(res)[1]]
    names = {"recip_rank": "mrr", "AP@3": "map@3", "R@2": "recall@2", "ndcg_cut_10": "ndcg@10",
             "P_5": "p@5", "Rprec": "rprec", "hit_rate@1": "hit@1", "nDCG@3": "ndcg@3"}  # fmt: skip
    assert {name: str(lb.parse(name)) for name in names} == names

    def p_5(y_true, y_score):
        return 0.125

    for measure in (p_5, "P_5"):  # the user's own comes first
        assert lb.evaluate([1], [1.0], [1], measure).to_dict() == {"p_5": 0.125}
    with pytest.raises(UsageError, match="found bags twice"):
        lb.run("MQ2008", "random-forests[bags=2,n_estimators=3]")
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        lb.Nothing  # noqa: B018


def test_qrels_and_runs_are_frames_mappings_or_files(tmp_path):
    """As `score` measures files of them: documents and queries that one of the two lacks."""
    qrels = {"q1": {"a": 1, "b": 0, "c": 2}, 7: {"a": 1}, "q3": {"x": 0, "y": 1}}
    run = {"q1": {"b": 0.9, "new": 0.8, "a": 0.2}, "q3": {"x": 2.0, "y": 1.0}, "none": {"a": 1.0}}
    options = {"measures": "map,recall@3", "convention": "trec_eval", "per_query": True}
    with pytest.warns(UserWarning, match="queries of the qrels without results, left out: 1"):
        values = lb.evaluate(qrels, run, **options)
    assert values.dropna().T.to_dict("list") == {"q1": [1 / 6, 0.5], "q3": [0.5, 1.0]}
    cells = [(qid, docno, each) for qid, docs in qrels.items() for docno, each in docs.items()]
    frame = pd.DataFrame(cells, columns=["query_id", "doc_id", "relevance"])
    ranked = [(qid, docno, each) for qid, docs in run.items() for docno, each in docs.items()]
    scored = pd.DataFrame(ranked, columns=["qid", "docno", "score"])
    with pytest.warns(UserWarning):
        pd.testing.assert_frame_equal(lb.evaluate(frame, scored, **options), values)
    files = tmp_path / "qrels", tmp_path / "run"
    for path, rows, line in zip(files, (cells, ranked), ("{} 0 {} {}", "{} Q0 {} 1 {} x")):
        path.write_text("".join(line.format(*row) + "\n" for row in rows))
    for pair in (files, (str(files[0]), run)):
        with pytest.warns(UserWarning):
            pd.testing.assert_frame_equal(lb.evaluate(*pair, **options), values)
    other = {"q1": {"a": 3.0, "c": 2.0}, "q3": {"y": 1.0}}
    with pytest.warns(UserWarning):
        systems = {"run": run, "other": other}
        found = lb.compare(qrels, systems, measures="map", convention="trec_eval")
    assert found.loc[0, ["algo", "against", "queries"]].tolist() == ["run", "other", 2]
    assert found.loc[0, "difference"] == pytest.approx((1 / 6 + 0.5 - 2.0) / 2)
    y, scores = [1, 0, 0, 1], {"one": [4.0, 3.0, 2.0, 1.0], "two": [1.0, 2.0, 3.0, 4.0]}
    found = lb.compare(y, scores, ["a", "a", "b", "b"], measures="p@1")
    assert found["difference"].tolist() == [0.0]
    weighted = lb.QuerySet.from_arrays(np.eye(4), y, group=[2, 2], sample_weight=[1.0, 3.0])
    by = {"measures": "map", "convention": "standard,mean=weighted"}
    assert lb.compare(weighted, scores, baseline="one", **by)["difference"].tolist() == [0.25]
    with pytest.raises(lb.DataError, match="no weights"):
        lb.compare(y, scores, ["a", "a", "b", "b"], **by)
    with pytest.warns(UserWarning):
        assert lb.compare(files[0], [files[1], str(files[1])])["difference"].tolist() == [0.0]
    with pytest.raises(UsageError, match="systems: found a list, expected"):
        lb.compare(y, [y])
    junk = {**qrels, "q1": {"a": 1, "b": -2, "c": 2}}  # judged by nobody, as in a file
    with pytest.warns(UserWarning):
        assert lb.evaluate(junk, run, **options).loc["q1", "map"] == 1 / 6
    for bad, told in (
        (frame.rename(columns={"doc_id": "d"}), "y: found the columns query_id, d, relev"),
        (pd.concat([frame, frame[:1]]), "y: found document a of query q1 again"),
        ({"q1": {"a": 0.5}}, "y: row 0: found 0.5, expected an integer"),
        ({"q9": {"a": 1}}, "scores: found no query of the qrels"),
    ):  # fmt: skip
        with pytest.raises(lb.DataError, match=told):
            lb.evaluate(bad, run, **options)
    with pytest.raises(lb.DataError, match="scores: row 0: found 'x' of type str"):
        lb.evaluate(qrels, {"q1": {"a": "x"}})
    with pytest.raises(UsageError, match="measures=... says what to measure"):
        lb.evaluate(qrels, run, ["map"])


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
    assert len(compared) == 34


def test_what_fails_is_said(folder):
    refused = lb.RankSVM().set_params(C=-1.0)
    text = r"MQ2008, ranksvm\[C=-1.0\], fold 1: ranksvm: found C=-1.0, expected more than 0"
    with pytest.raises(UsageError, match=f"^{text}$"):
        lb.run("MQ2008", refused, folds=[1])
    with pytest.warns(UserWarning, match=f"^{text}$"):
        res = lb.run("MQ2008", [refused, lb.Classification], folds=[1])
    assert res.algorithms == ["classification"] and res.warnings == (text.replace("\\", ""),)
    net = type("Net", (), {"fit": print})()
    for algos in (net, ["regression", net]):  # before anything is trained
        with pytest.raises(UsageError, match=r"^found a Net without predict\(X\), expected"):
            lb.run("MQ2008", algos)
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
    options = {"convention": "letor3,empty=drop", "per_query": True}
    drop = lb.evaluate(queries, own, measures="mrr, p@1", **options)
    pd.testing.assert_frame_equal(drop, expected.replace(0.0, np.nan))
    assert drop.attrs == {"convention": "letor3,empty=drop"}
    rules = lb.CONVENTIONS["letor4"]
    assert lb.evaluate(queries, own, convention=rules).to_dict() == {"ndcg@10": 0.0}
    grouped = lb.evaluate([1, 0, 1], [1.0, 2.0, 3.0], group=[2, 1], measures=lb.MRR)
    assert grouped["mrr"] == 0.75


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
