"""Whole commands on the files of other systems, and on a data set with ids of text."""

import csv
import json
import os
import pickle
import re
import shutil
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from conftest import call, forget_user_code, places, printed, refused
from scipy.stats import kendalltau
from toy_data import write_toy

import letorbench as lb
from letorbench.datasets.load import load
from letorbench.rankers import load_model
from letorbench.results.model_texts import ranklib_text

CSV = ("--format", "csv")
EXAMPLE = Path(__file__).parents[1] / "examples" / "my_ranker.py"


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """A folder with data/TOY and a run of regression on it."""
    folder = tmp_path_factory.mktemp("made")
    write_toy(folder / "data")
    printed("run", "--dataset", "TOY", "--algo", "regression", *places(folder))
    return folder


@pytest.fixture
def toy(made, tmp_path, monkeypatch, no_figures) -> Path:
    """A copy of it, as the current folder."""
    shutil.copytree(made, tmp_path, copy_function=os.link, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def taken(name: str, pattern: str, *words: str) -> tuple[str, ...]:
    return ("external", "--dataset", "TOY", "--name", name, "--scores", pattern, *words)


def as_ranklib(toy: Path) -> str:
    """Regression's scores in RankLib's form: 8 queries of 7 documents a part."""
    for k in range(1, 6):
        source = toy / f"results/TOY/regression/fold{k}/scores.txt"
        test = (toy / f"data/TOY/Fold{k}/test.txt").read_text().split()
        qids = list(dict.fromkeys(w[4:] for w in test if w.startswith("qid:")))
        lines = enumerate(source.read_text().splitlines())
        text = "".join(f"{qids[i // 7]}\t{i % 7}\t{score}\n" for i, score in lines)
        (toy / f"rl{k}.txt").write_text(text)
    return "rl{fold}.txt"


def test_every_format_measures_as_the_original(toy):
    made = call("export", "TOY", "--algo", "regression", "--to", "trec")
    assert made.exit_code == 0 and made.stdout.splitlines()[0] == "trec/fold1/qrels.txt"
    plain = "results/{dataset}/regression/fold{fold}/scores.txt"
    patterns = {"a": plain, "b": as_ranklib(toy), "c": "trec/fold{fold}/regression.run"}
    expected = (toy / "results/TOY/regression/per_query.csv").read_bytes()
    for name, pattern in patterns.items():
        result = call(*taken(name, pattern))
        assert result.exit_code == 0, result.stderr
        assert re.search(rf"^{name} +0\.", result.stdout, re.MULTILINE)
        assert (toy / f"results/TOY/{name}/per_query.csv").read_bytes() == expected
    write_toy(toy / "other", seed=2)
    assert "other data" in refused(1, "export", "TOY", "--data-dir", "other")


def test_a_label_with_slashes_is_exported_to_a_file_of_its_folder(toy):
    printed("run", "-d", "TOY", "-a", "ndcgboost[gain=0/1/3,rounds=1]", "--folds", "1")
    printed("export", "TOY", "--to", "trec")
    assert len([*(toy / "trec/fold1").glob("ndcgboost-*.run")]) == 1


def test_a_run_says_in_the_fields_schema_what_made_it(toy):
    """In a file of its own: neither we nor others read a run that begins with comments."""
    yaml, trec = pytest.importorskip("yaml"), pytest.importorskip("pytrec_eval")
    printed("export", "TOY", "--to", "trec")
    printed(*taken("theirs", "trec/fold{fold}/regression.run"))
    printed("export", "TOY", "--algo", "theirs", "--to", "trec")
    texts = (Path(f"trec/fold2/{name}.yml").read_text() for name in ("regression", "theirs"))
    ours, theirs = map(yaml.safe_load, texts)
    with open("trec/fold2/regression.run") as run:
        assert len(trec.parse_run(run)) == 8
    parts = ["platform", "research goal", "implementation", "method", "actor", "data"]
    assert [*ours] == [*theirs] == ["schema-version", "run-version", "tag", *parts]
    assert ours["tag"] == Path("trec/fold2/regression.run").read_text().split()[5]
    fit = json.loads(Path("results/TOY/regression/fold2/fit.json").read_text())
    platform, (method,) = ours["platform"], ours["method"]["retrieval"]
    assert method["params"].keys() == fit["chosen"].keys() and method["seed"] == 0
    assert float(method["params"]["l2"]) == fit["chosen"]["l2"]
    assert method["method"] == "letorbench.rankers.regression"
    assert platform["hardware"]["cpu"]["number of cores"] == os.cpu_count()
    assert platform["software"]["retrieval toolkit"] == [f"letorbench=={lb.__version__}"]
    assert f"numpy=={np.__version__}" in platform["software"]["libraries"]["python"]
    of_test = {"name": "TOY", "qrels": "qrels.txt", "fold": 2, "digest": fit["identity"]["data"]}
    assert ours["data"]["test collection"] == theirs["data"]["test collection"] == of_test
    # of a system that was trained elsewhere, nothing is said that is of here
    assert theirs["platform"] == {} and theirs["method"]["retrieval"] == [{"name": "theirs"}]
    assert "training data" in ours["data"] and "training data" not in theirs["data"]


def test_models_are_exported_with_the_names_of_features_but_not_of_transformed_ones(toy):
    words = "export", "TOY", "--as"
    printed("run", "--dataset", "TOY", "--features", "zscore", "--algo", "scaled=regression")
    said = refused(1, *words, "ranklib", "--algo", "scaled")
    assert "features that zscore transformed" in said
    printed("run", "--dataset", "TOY", "--features", "raw", "--algo", "raw=regression")
    made = printed(*words, "ranklib", "--to", "texts", "--algo", "raw").split()
    assert made == [f"texts/fold{k}/raw.txt" for k in range(1, 6)]
    model = load_model("results/TOY/raw/fold2/model.npz").learned.model
    assert Path("texts/fold2/raw.txt").read_text() == ranklib_text(model)
    names = ["bm25", 'of "title"', "é", "a b"]
    Path("data/TOY/features.txt").write_text("\n".join(names), encoding="utf-8")
    printed("run", "--dataset", "TOY", "--algo", "b=ndcgboost[rounds=3]", "--folds", "3")
    for form in ("solr", "elasticsearch"):
        printed(*words, form, "--to", form, "--algo", "b")
    model = json.loads(Path("solr/fold3/b.json").read_text())
    assert model["name"] == "b-fold3" and [f["name"] for f in model["features"]] == names
    inner = json.loads(Path("elasticsearch/fold3/b.json").read_text())["model"]["model"]
    assert json.loads(inner["definition"])[0]["split"] in names
    printed(*words, "solr", "--to", "x", "--algo", "b", "--data-dir", "nowhere")
    model = json.loads(Path("x/fold3/b.json").read_text())
    assert [f["name"] for f in model["features"]] == names  # the model has them
    Path("data/TOY/features.txt").write_text("a\nb\nb\nc\n")
    said = refused(1, *words, "solr", "--to", "x", "--algo", "b")
    assert "b: found 4 names of features, 3 of them different, expected 4" in said


def test_score_takes_runs_and_qrels(toy):
    call("export", "TOY", "--to", "trec")
    data, scores = "data/TOY/Fold2/test.txt", "results/TOY/regression/fold2/scores.txt"
    expected = call("score", "--data", data, "--scores", scores, "--per-query").stdout
    run = ("--scores", "trec/fold2/regression.run", "--per-query")
    assert expected and call("score", "--data", data, *run).stdout == expected
    assert call("score", "--qrels", "trec/fold2/qrels.txt", *run).stdout == expected
    words = ("--scores", scores, "--convention", "letor4", "--format", "csv", "--per-query")
    table = pd.read_csv(StringIO(printed("score", "--data", data, *words)), dtype={"qid": str})
    queries = load("TOY").folds[1].test
    names = [f"{name}@{k}" for name in ("ndcg", "p") for k in range(1, 11)]
    names += ["map", "mrr", "err@10", "mean-ndcg", "wta", "pairwise", "bpref"]
    values = lb.evaluate(queries, np.loadtxt(scores), None, names, "letor4", per_query=True)
    values.loc["mean"] = values.mean()
    values.insert(0, "convention", "letor4")
    values = values.reset_index()[["convention", "qid", *names]]
    pd.testing.assert_frame_equal(table, values, rtol=1e-12)


def test_rank_applies_a_model(toy):
    start = ("rank", "--model", "results/TOY/regression/fold1/model.npz", "--input")
    test = "data/TOY/Fold1/test.txt"
    assert "56 scores of 8 queries" in call(*start, test, "--output", "s.txt").stdout
    own = (toy / "results/TOY/regression/fold1/scores.txt").read_bytes()
    assert (toy / "s.txt").read_bytes() == own
    call("export", "TOY", "--to", "trec")
    call(*start, test, "--output", "s.run", "--format", "trec")
    run = (toy / "trec/fold1/regression.run").read_text()
    assert (toy / "s.run").read_text() == run
    (toy / "narrow.txt").write_text("0 qid:1 1:1 2:1\n1 qid:1 1:2\n")
    assert call(*start, "narrow.txt", "--sparse", "--output", "x.txt").exit_code == 0


def test_scores_of_a_table_stand_in_the_order_of_its_rows(toy):
    test, own = "data/TOY/Fold1/test.txt", "results/TOY/regression/fold1/scores.txt"
    queries, rows = lb.read_letor(test), np.random.default_rng(0).permutation(56)
    table = pd.DataFrame(queries.X[rows], columns=list("abcd"))
    table.assign(label=queries.y[rows], qid=queries.qid[rows]).to_csv("table.csv", index=False)
    model = "results/TOY/regression/fold1/model.npz"
    call("rank", "--model", model, "--input", "table.csv", "--output", "s.txt")
    np.testing.assert_allclose(np.loadtxt("s.txt"), np.loadtxt(own)[rows], rtol=1e-12)
    values = [
        pd.read_csv(StringIO(printed("score", "--data", data, "--scores", scores, *CSV)))
        for data, scores in ((test, own), ("table.csv", "s.txt"))
    ]
    pd.testing.assert_frame_equal(*values, rtol=1e-12)


def test_a_value_is_missed_where_the_trees_split_by_it(toy):
    queries = lb.read_letor("data/TOY/Fold1/train.txt")
    ranker = lb.MART(rounds=1, leaves=2, min_docs=2).fit(queries)
    ranker.save("m.npz")
    used = int(ranker.feature_importances_.argmax())
    for column, warns in ((used, True), ((used + 1) % 4, False)):
        values = [f"{k + 1}:{'NULL' if k == column else 0.5}" for k in range(4)]
        Path("new.txt").write_text(f"0 qid:1 {' '.join(values)}\n")
        ranked = call("rank", "--model", "m.npz", "--input", "new.txt", "--output", "s.txt")
        assert ("1 feature lacks values" in ranked.stderr) == warns


def test_a_weighted_mean_of_scores_is_numpys(toy):
    test, own = "data/TOY/Fold1/test.txt", "results/TOY/regression/fold1/scores.txt"
    Path(f"{test}.weight").write_text("".join(f"{w}\n" for w in range(8)))
    words = (*CSV, "--convention", "standard,mean=weighted", "--measure", "map,err@5")
    found = pd.read_csv(StringIO(printed("score", "--data", test, "--scores", own, *words)))
    queries, asked = lb.read_letor(test), ["map", "err@5"]
    each = lb.evaluate(queries, np.loadtxt(own), None, asked, per_query=True)
    expected = np.average(each, axis=0, weights=np.arange(8.0))
    np.testing.assert_allclose(found[asked].to_numpy()[0], expected, rtol=1e-12)


def test_fit_trains_on_all_queries_as_the_folds_chose(toy):
    """The setting of the best mean on validation, the median of its rounds, and their promise."""
    label, test = "mart[min_docs=3,rounds=12]", "data/TOY/Fold3/test.txt"
    said = printed("fit", "TOY", "--algo", label, "--output", "m.npz", "--measure", "map")
    results = lb.load_results("results", "TOY", label)
    tried: dict[str, list[dict]] = {}
    for fold in results.frames[0].rows[0].stored:
        for trial in fold.fit["validation"]["grid"]:
            tried.setdefault(str(trial["settings"]), []).append(trial)
    whole = [trials for trials in tried.values() if len(trials) == 5]
    best = max(whole, key=lambda trials: np.mean([trial["value"] for trial in trials]))
    chosen = best[0]["settings"] | {"rounds": sorted(trial["best"] for trial in best)[2]}
    parts = [fold.test for fold in load("TOY").folds]
    X, y, qid = (
        np.concatenate([getattr(each, name) for each in parts]) for name in "X y qid".split()
    )
    expected = lb.MART(**chosen).fit(X, y, qid=qid).predict(lb.read_letor(test))
    rank = ("rank", "--input", test, "--output", "s.txt", "--model")
    printed(*rank, "m.npz")
    np.testing.assert_array_equal(np.loadtxt("s.txt"), expected)
    values = results.per_query("map")["map"]
    half = 2.02 * values.std() / np.sqrt(40)
    found = [float(each) for each in re.findall(r"map (\S+) .* interval (\S+) to (\S+)", said)[0]]
    np.testing.assert_allclose(found, values.mean() + half * np.array([0, -1, 1]), atol=0.01)
    assert "all 40 queries" in said
    before = {path: path.read_bytes() for path in Path("results").rglob("*.txt")}
    made = lb.fit("TOY", label, measure="map")  # of the stored folds
    assert {path: path.read_bytes() for path in Path("results").rglob("*.txt")} == before
    np.testing.assert_array_equal(made.ranker.predict(lb.read_letor(test)), expected)
    assert made.settings == chosen and [round(made.value, 4), *made.interval][0] == found[0]
    printed("export", "--model", "m.npz", "--as", "lightgbm", "--output", "m.txt")
    printed(*rank, "m.txt")
    np.testing.assert_allclose(np.loadtxt("s.txt"), expected, rtol=1e-12)
    Path("data/TOY/features.txt").write_text("a\nb\nc\nd\n")
    printed("export", "TOY", "--model", "m.npz", "--as", "solr", "--output", "m.json")
    solr = Path("m.json").read_text()
    assert [each["name"] for each in json.loads(solr)["features"]] == list("abcd")


ESTIMATORS = {
    "lightgbm": ("LGBMRanker", {"n_estimators": 3, "min_child_samples": 3, "verbosity": -1}),
    "xgboost": ("XGBRanker", {"n_estimators": 3}),
    "catboost": ("CatBoostRanker", {"iterations": 3, "depth": 2, "silent": True,
                                    "allow_writing_files": False, "random_seed": 1}),
}  # fmt: skip


@pytest.mark.parametrize("library", ESTIMATORS)
def test_an_estimator_of_a_library_is_kept_as_its_text(toy, library):
    module = pytest.importorskip(library)
    name, settings = ESTIMATORS[library]
    model = getattr(module, name)(**settings)
    made = lb.fit("TOY", {"theirs": model})
    kept, test = Path("results/TOY/theirs/fold1/model.own"), "data/TOY/Fold1/test.txt"
    made.save("m.txt")
    for path, expected in (
        (kept, np.loadtxt("results/TOY/theirs/fold1/scores.txt")),
        ("m.txt", made.ranker.predict(lb.read_letor(test))),
    ):
        assert load_model(path).name == library
        printed("rank", "--model", str(path), "--input", test, "--output", "s.txt")
        np.testing.assert_allclose(np.loadtxt("s.txt"), expected, rtol=1e-6, atol=1e-7)
        assert np.ptp(expected) > 0.0
    assert made.value == pytest.approx(made.results.summary("ndcg@10")["ndcg@10"].item())
    written = printed("export", "TOY", "--algo", "theirs", "--as", "elasticsearch").split()
    assert len(written) == 5 and json.loads(Path(written[0]).read_text())["model"]
    Path("p").write_bytes(pickle.dumps(model))
    assert "p: found no saved model" in refused(1, "export", "--model", "p", "--as", "solr",
                                                "--output", "o")  # fmt: skip


def test_the_model_of_a_plugin_needs_it(toy, monkeypatch):
    """tests/cli/test_options.py shows that each command and worker takes `--plugin`."""
    (toy / "rocchio.py").write_text(EXAMPLE.read_text())
    words = ("run", "--dataset", "TOY", "--algo", "centroid", "--plugin", "rocchio.py")
    assert call(*words).exit_code == 0
    assert "Rocchio" in call("algos", "centroid").stdout
    assert "5 of 5 folds were stored already" in call(*words).stdout
    first = "\n    def predict(self, X):\n        return super().predict(X) * [np.nan, *[1] * 55]\n"
    (toy / "rocchio.py").write_text(EXAMPLE.read_text() + first)
    forget_user_code(monkeypatch)
    assert "folds were stored already" not in call(*words).stdout
    forget_user_code(monkeypatch)
    model = ("rank", "--model", "results/TOY/centroid/fold1/model.npz")
    model += ("--input", "data/TOY/Fold1/test.txt", "--output", "s.txt")
    assert "needs its --plugin" in refused(1, *model)
    assert (
        "1 of 56 test scores are NaN or infinite" in call(*model, "--plugin", "rocchio.py").stderr
    )
    assert np.isfinite(np.loadtxt("s.txt")).all()


def test_an_output_of_before_is_written_anew(toy):
    rank = "rank --model results/TOY/regression/fold1/model.npz --input data/TOY/Fold1/test.txt"
    for words in (f"{rank} --output new.txt", "plot --to new", "export TOY"):
        for _ in range(2):
            printed(*words.split())


#: what stands for the query of a number in text: `7` and `07` are two of them
NAMES = {1: "7", 2: "07", 3: "NP151", 4: "2003/td/5", 5: "NULL", 6: "é" * 100, 7: '"a,b"', 8: "=1"}


def test_queries_of_any_name_go_from_the_files_to_every_table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_toy(Path("numbers"))
    for path in Path("numbers").rglob("*.txt"):
        target = Path("text", *path.parts[1:])
        target.parent.mkdir(parents=True, exist_ok=True)
        named = re.sub(r"qid:([1-8]) ", lambda qid: f"qid:{NAMES[int(qid[1])]} ", path.read_text())
        target.write_text(named, encoding="utf-8")
    for kind in ("text", "numbers"):
        where = ("--data-dir", kind, "--out", f"{kind}-out")
        printed("run", "--dataset", "TOY", "--algo", "regression,best-feature", *where)
    ids = [qid for fold in load("TOY", "text").folds for qid in fold.test.qids.tolist()]
    assert len(set(ids)) == 40 and set(NAMES.values()) <= set(ids)
    for path in Path("text-out").rglob("scores.txt"):
        same = Path("numbers-out", *path.parts[1:])
        assert path.read_bytes() == same.read_bytes()
    with Path("text-out/TOY/regression/per_query.csv").open(newline="") as file:
        stored = [row["qid"] for row in csv.DictReader(file)]
    assert stored == ["'=1" if qid == "=1" else qid for qid in ids]  # no formula
    results = lb.load_results("text-out").per_query()
    assert results[results["algo"] == "regression"]["qid"].tolist() == ids

    out = ("--out", "text-out")
    assert printed("table", "TOY", *out).count("\n") >= 4
    assert "40 queries" in printed("compare", "TOY", "--baseline", "regression", *out)
    printed("report", "TOY", "--out-file", "page.html", *out)
    command = "letorbench report TOY --out-file page.html --out text-out"
    assert f"made by <code>{command}</code>" in Path("page.html").read_text()
    printed("export", "TOY", "--algo", "regression", "--to", "runs", "--data-dir", "text", *out)
    run = ("--scores", "runs/fold1/regression.run")
    measured = printed("score", "--data", "text/TOY/Fold1/test.txt", *run)
    assert measured == printed("score", "--qrels", "runs/fold1/qrels.txt", *run)


QRELS = """301 0 c 2
301 0 a 1
301 0 e 0
301 0 d 1
301 0 x -1
301 0 f 1
302 0 a 1
302 0 b 0
302 0 g 3
303 0 b 1
"""
#: e ranks above d by its score alone, the others of 301 by their ids; 302 has an id that is no text
RUN = """301 Q0 a 1 4.0 own
301 Q0 c 2 4.00000001 own
301 Q0 x 3 4.0 own
301 Q0 e 1 2.5 own
301 Q0 h 5 2.5 own
301 Q0 d 6 1e-3 own
302 Q0 b 1 9.0 own
302 Q0 \udcff 2 9.0 own
302 Q0 a 3 9.0 own
999 Q0 a 1 1.0 own
"""
#: what trec_eval gives: the order of 301 is x c a h e d
TREC = {"map": [(1 / 2 + 2 / 3 + 3 / 6) / 4, (1 / 3) / 2], "p@2": [0.5, 0.0], "mrr": [0.5, 1 / 3],
        "recall@3": [0.5, 0.5], "bpref": [(1 + 1 + 0) / 4, 0.0], "rprec": [0.5, 0.0],
        "hit@2": [1.0, 0.0]}  # fmt: skip


@pytest.fixture
def trec(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("qrels").write_text(QRELS)
    Path("own.run").write_bytes(RUN.encode(errors="surrogateescape").replace(b"\n", b"\r\n"))
    Path("lost.run").write_text("303 Q0 b 1 7 x\n302 Q0 g 1 7 x\n301 Q0 a 1 7 x\n")
    return tmp_path


def csv_of(*words: str) -> pd.DataFrame:
    found = printed(*words, "--measure", ",".join(TREC), "--format", "csv")
    return pd.read_csv(StringIO(found), dtype={"qid": str}).set_index("qid")


def test_runs_are_measured_as_trec_eval_does(trec):
    words = ("score", "--qrels", "qrels", "--run", "own.run")
    every = csv_of(*words, "--per-query")
    assert every.index.tolist() == ["301", "302", "mean"]  # 303 has no results
    for name, values in TREC.items():
        np.testing.assert_allclose(every[name], [*values, np.mean(values)], rtol=1e-12)
    zeros = csv_of(*words, "--convention", "trec_eval,missing=0", "--per-query")
    np.testing.assert_allclose(zeros.loc["mean", "map"], sum(TREC["map"]) / 3)
    assert zeros.loc["303", [*TREC]].tolist() == [0.0] * len(TREC)
    # without documents that are not judged, trec_eval's -J; and to rank 2 alone, its -M
    judged = csv_of(*words, "--convention", "trec_eval,unjudged=drop", "--per-query")
    np.testing.assert_allclose(judged["map"][:2], [(1 + 1 + 3 / 4) / 4, (1 / 2) / 2])
    deep = csv_of(*words, "--convention", "trec_eval,depth=2", "--per-query")
    np.testing.assert_allclose(deep["map"][:2], [(1 / 2) / 4, 0.0])
    # by double precision, ties in the order of the run's lines: c a x e h d, and b \udcff a
    lines = csv_of(*words, "--convention", "standard,unjudged=0", "--per-query")
    np.testing.assert_allclose(lines["map"][:2], [(1 + 1 + 3 / 6) / 4, (1 / 3) / 2])
    said = call(*words, "--convention", "standard").stderr
    assert [line.rpartition(": ")[::2] for line in said.splitlines()] == [
        ("letorbench: warning: own.run: queries that the qrels do not have, left out", "1"),
        ("letorbench: warning: own.run: queries of the qrels without results, count as empty lists",
         "1"),
        ("letorbench: warning: own.run: documents that are not judged, left out (unjudged=0 keeps "
         "them)", "3"),
    ]  # fmt: skip


def test_several_runs_give_one_table_and_compare(trec):
    both = ("--qrels", "qrels", "--run", "own.run", "--run", "lost.run")
    found = csv_of("score", *both)
    assert found["run"].tolist() == ["own", "lost"]
    np.testing.assert_allclose(found["map"], [np.mean(TREC["map"]), (1 / 4 + 1 / 2 + 1) / 3])
    # compared on the queries that both have
    for baseline in ("own", "own.run"):
        (row,) = pd.read_csv(StringIO(printed(
            "compare", *both, "--measure", "map", "--baseline", baseline, "--format", "csv"
        ))).itertuples()  # fmt: skip
        assert (row.algo, row.against, row.queries) == ("lost", "own", 2)
        np.testing.assert_allclose([row.mean, row.mean_against], [3 / 8, np.mean(TREC["map"])])
    assert "folds" not in printed("compare", *both, "--measure", "map")
    text = printed("score", *both, "--measure", "map", "--per-query")
    assert [line.split()[0] for line in text.splitlines()[2:]] == ["own"] * 3 + ["lost"] * 4
    Path("deep").mkdir()
    Path("deep/own.run").write_bytes(Path("own.run").read_bytes())
    again = csv_of("score", "--qrels", "qrels", "--run", "own.run", "--run", "deep/own.run")
    assert again["run"].tolist() == ["own.run", "deep/own.run"]


def test_grades_of_any_size_where_the_gain_allows_them(trec):
    Path("qrels").write_text("301 0 a 100000\n301 0 c 5\n")
    words = ("score", "--qrels", "qrels", "--run", "own.run", "--measure")
    rules = "standard,gain=linear,ties=docid,scores=float32,unjudged=0,missing=drop"
    assert f"[{rules}]" in printed(*words, "tau") and "[trec_eval]" in printed(*words, "map")
    found = printed(*words, "ndcg,map,dcg@2,tau", "--format", "csv")
    assert found == printed(*words, "ndcg,map,dcg@2,tau", "--format", "csv", "--convention", rules)
    values = pd.read_csv(StringIO(found)).iloc[0, 3:].astype(float)
    dcg = np.array([5 / np.log2(3) + 100_000 / 2, 100_000 + 5 / np.log2(3), 5 / np.log2(3)])
    order = [0.0, 5.0, 1e5, 0.0, 0.0, 0.0], [4, 4, 4, 2.5, 2.5, 1e-3]
    known = [dcg[0] / dcg[1], (1 / 2 + 2 / 3) / 2, dcg[2], kendalltau(*order).statistic]
    np.testing.assert_allclose(values, known, rtol=1e-12)


@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
def test_models_of_libraries_are_ranked_with_measured_and_compared(toy, library):
    """One model a fold, trained by the library's own estimator, as others do."""
    module = pytest.importorskip(library)
    pytest.importorskip("sklearn", reason="the libraries' estimators need scikit-learn")
    bench, expected = load("TOY"), []
    for fold in bench.folds[:2]:
        k, train, test = fold.number, fold.train, fold.test
        if library == "lightgbm":
            theirs = module.LGBMRanker(n_estimators=5, min_child_samples=3, verbosity=-1)
            theirs.fit(train.features, train.labels, group=train.lengths)
            theirs.booster_.save_model(f"m{k}")
        else:
            theirs = module.XGBRanker(n_estimators=5)
            theirs.fit(train.features, train.labels, group=train.lengths).save_model("m.json")
            Path("m.json").rename(f"m{k}")
        scores = theirs.predict(test.features).astype(float)
        expected.append(float(lb.evaluate(test, scores, measures=["ndcg@10"])["ndcg@10"]))
        rank = ("rank", "--model", f"m{k}", "--input", f"data/TOY/Fold{k}/test.txt", "--output")
        assert f"56 scores of 8 queries ({library})" in printed(*rank, f"s{k}.txt")
        assert np.array_equal(np.loadtxt(f"s{k}.txt"), scores)
        printed(*rank, f"s{k}.run", "--format", "trec")
        assert Path(f"s{k}.run").read_text().split()[5] == library
    for name, form in (("theirs", "s{fold}.txt"), ("again", "s{fold}.run")):
        printed(*taken(name, form, "--folds", "1-2"))
        summary = pd.read_csv("results/TOY/summary.csv", index_col="algo")
        assert summary.loc[name, "ndcg@10"] == pytest.approx(np.mean(expected), rel=1e-12)
    printed("compare", "TOY", "--baseline", "theirs")
    (toy / "narrow.txt").write_text("0 qid:1 1:1 2:1\n1 qid:1 1:2 2:1\n")
    narrow = ("rank", "--model", "m1", "--input", "narrow.txt", "--output", "x.txt")
    assert "narrow.txt: found 2 features, expected " in refused(1, *narrow)
    printed(*narrow, "--sparse")
    whole = Path("m1").read_bytes()
    for content, said in ((whole[:900], "no "), (b"## LambdaMART\n", "a model of RankLib")):
        Path("m1").write_bytes(content)
        wrong = "--input", "data/TOY/Fold1/test.txt", "--output", "y.txt"
        assert f"m1: found {said}" in refused(1, "rank", "--model", "m1", *wrong)
