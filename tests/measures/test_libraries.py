"""Each library's convention against the library's own numbers."""

from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from letorbench.conventions import CONVENTIONS, convention
from letorbench.datasets.queryset import QuerySet
from letorbench.measures import parse, query_metrics
from letorbench.results.export import write_qrels, write_run
from letorbench.results.external import measure_runs

Data = tuple[np.ndarray, np.ndarray, np.ndarray]


def library(name: str) -> ModuleType:
    return pytest.importorskip(name, reason=f"{name} is not installed: see the extras in setup.cfg")


def rankings(n: int, levels: int) -> Data:
    """Labels, scores of few values (so that many tie), offsets of n lists of 1 to 25."""
    rng = np.random.default_rng(2024)
    offsets = np.concatenate([[0], np.cumsum(rng.integers(1, 26, n))])
    labels = rng.integers(0, levels, offsets[-1]) * (rng.random(offsets[-1]) < 0.2)
    # trec_eval keeps scores as float32 numbers: eighths are the same in both
    return labels, rng.integers(0, 20, offsets[-1]) / 8.0, offsets


def ours(rules: str, name: str, data: Data) -> np.ndarray:
    labels, scores, offsets = data
    return query_metrics(labels, scores, offsets, [parse(name)], CONVENTIONS[rules])[:, 0]


#: ours -> trec_eval's
TREC = {
    "map": "map", "mrr": "recip_rank", "bpref": "bpref", "ndcg": "ndcg", "rprec": "Rprec",
    **{f"p@{k}": f"P_{k}" for k in (1, 5, 20)},
    **{f"map@{k}": f"map_cut_{k}" for k in (1, 5, 20)},
    **{f"ndcg@{k}": f"ndcg_cut_{k}" for k in (1, 5, 20)},
    **{f"recall@{k}": f"recall_{k}" for k in (1, 5, 20)},
    **{f"hit@{k}": f"success_{k}" for k in (1, 5, 10)},
}  # fmt: skip
Qrels, Runs = dict[str, dict[str, int]], dict[str, dict[str, float]]


def trec_data(rng: np.random.Generator, queries: int) -> tuple[Qrels, Runs]:
    """Judgements and a run with many ties, in part only in single precision.

    Documents are not judged, judged as -1, or not retrieved; queries are in one of the two alone.
    """
    docs = [f"D{n:x}" for n in rng.permutation(3_000)[:60]] + ["d", "D", "é", "日本", "~"]
    qrels: Qrels = {}
    run: Runs = {}
    for q in range(queries):
        ids = [docs[i] for i in rng.permutation(len(docs))]
        pooled, retrieved = rng.integers(1, 40), rng.integers(1, 40)
        values = rng.integers(-3, 4, retrieved) / 3 + rng.choice([0.0, 1e-9, 1e-15], retrieved)
        if rng.random() < 0.9:
            grades = rng.choice([-2, -1, 0, 0, 0, 1, 2, 7], pooled)
            qrels[f"q{q}"] = dict(zip(ids, grades.tolist()))
        if rng.random() < 0.9:
            rng.shuffle(ids)
            run[f"q{q}"] = dict(zip(ids, values.tolist()))
    return qrels, run


def written(folder: Path, qrels: Qrels, run: Runs, rng: np.random.Generator) -> tuple[Path, Path]:
    """Both as files, their lines in any order."""
    labels = [f"{q} 0 {d} {r}\n" for q, own in qrels.items() for d, r in own.items()]
    lines = [f"{q}\tQ0 {d} 7 {s!r} x\r\n" for q, own in run.items() for d, s in own.items()]
    for name, text in (("qrels", labels), ("a.run", lines)):
        rng.shuffle(text)
        (folder / name).write_bytes("".join(text).encode())
    return folder / "qrels", folder / "a.run"


def of_trec_eval(qrels: Qrels, run: Runs, name: str) -> dict[str, float]:
    family, _, cut = name.rpartition("_")
    asked = f"{family}.{cut}" if cut.isdigit() else name
    # pytrec_eval reads beside its arrays where a label is below -1
    labels = {q: {d: max(r, -1) for d, r in own.items()} for q, own in qrels.items()}
    found = library("pytrec_eval").RelevanceEvaluator(labels, {asked}).evaluate(run)
    return {qid: values[name] for qid, values in found.items()}


@pytest.mark.parametrize("seed", range(2))
def test_as_trec_eval(tmp_path: Path, seed: int) -> None:
    rng = np.random.default_rng(seed)
    qrels, run = trec_data(rng, 600)
    paths = written(tmp_path, qrels, run, rng)
    measures = [parse(name) for name in TREC]
    (found,), _ = measure_runs(paths[0], paths[1:], measures, CONVENTIONS["trec_eval"])
    (zeros,), _ = measure_runs(paths[0], paths[1:], measures, convention("trec_eval,missing=0"))
    assert sorted(found.qids) == sorted(qrels)
    for ours, theirs in TREC.items():
        values, known = found.values[ours], of_trec_eval(qrels, run, theirs)
        assert {*found.qids[~np.isnan(values)]} == {*known} == {*qrels} & {*run}
        expected = [known.get(qid, np.nan) for qid in found.qids]
        np.testing.assert_allclose(values, expected, rtol=0, atol=1e-12, err_msg=ours)
        np.testing.assert_array_equal(zeros.values[ours], np.nan_to_num(values))


def test_depth_is_that_of_shorter_runs(tmp_path: Path) -> None:
    """trec_eval's -M: what is below rank 5 is not retrieved."""
    rng = np.random.default_rng(5)
    qrels, run = trec_data(rng, 200)
    paths = written(tmp_path, qrels, run, rng)
    single = {q: {d: float(np.float32(s)) for d, s in own.items()} for q, own in run.items()}
    cut = {
        q: dict(sorted(own.items(), key=lambda d: (d[1], d[0].encode()), reverse=True)[:5])
        for q, own in single.items()
    }
    measures = [parse(name) for name in TREC]
    (found,), _ = measure_runs(paths[0], paths[1:], measures, convention("trec_eval,depth=5"))
    for ours, theirs in TREC.items():
        known = of_trec_eval(qrels, cut, theirs)
        expected = [known.get(qid, np.nan) for qid in found.qids]
        np.testing.assert_allclose(found.values[ours], expected, rtol=0, atol=1e-12, err_msg=ours)


#: what both compute by the same rules
SHARED = ["map", "p@5", "recall@5", "mrr", "rprec", "bpref", "hit@5", "map@5"]


@pytest.mark.parametrize("name", ["letor4", "trec_eval", "catboost", "standard,ties=last"])
@pytest.mark.parametrize("has_ids", [True, False])
def test_an_exported_run_has_the_same_numbers_in_trec_eval(
    tmp_path: Path, name: str, has_ids: bool
) -> None:
    labels, scores, offsets = rankings(300, 4)
    rng = np.random.default_rng(3)
    scores = scores + rng.choice([0.0, 1e-9, 2e-12], len(scores))
    scores[rng.random(len(scores)) < 0.01] = -1e300  # what a run stores for NaN
    scores[:5] = 1e300, 2e300, 1e300, 3e38, 1.0
    ids = np.array([b"x%d" % n for n in rng.permutation(len(labels))]) if has_ids else None
    features = np.zeros((len(labels), 1), np.float32)
    queries = QuerySet(features, labels.astype(np.int32), offsets, np.arange(300), ids)
    rules = convention(f"{name},empty=0")
    write_run(tmp_path / "run", queries, scores, "t", rules)
    write_qrels(tmp_path / "qrels", queries)
    run: Runs = {}
    qrels: Qrels = {}
    for line in (tmp_path / "run").read_text().splitlines():
        qid, _, docid, _, score, _ = line.split()
        run.setdefault(qid, {})[docid] = float(score)
    for line in (tmp_path / "qrels").read_text().splitlines():
        qid, _, docid, label = line.split()
        qrels.setdefault(qid, {})[docid] = int(label)
    values = query_metrics(labels, scores, offsets, list(map(parse, SHARED)), rules, ids)
    for ours, column in zip(SHARED, values.T):
        known = of_trec_eval(qrels, run, TREC[ours])
        expected = [known[str(q)] for q in range(300)]
        np.testing.assert_allclose(column, expected, rtol=0, atol=1e-12, err_msg=ours)


@pytest.mark.parametrize("name", ["tau", "rho"])
def test_as_scipy(name: str) -> None:
    stats, (labels, scores, offsets) = library("scipy.stats"), rankings(200, 4)
    places = np.random.default_rng(0).permutation(5_000)[: len(labels)]
    function = stats.kendalltau if name == "tau" else stats.spearmanr
    for own in (labels, places, places * 1_000):
        pairs = zip(np.split(own, offsets[1:-1]), np.split(scores, offsets[1:-1]))
        theirs = [function(r, s).statistic if np.ptp(r) and np.ptp(s) else 0.0 for r, s in pairs]
        found = ours("standard", name, (own, scores, offsets))
        np.testing.assert_allclose(found, theirs, rtol=0, atol=1e-12)


@pytest.mark.parametrize("k", [1, 3, 10, None])
def test_as_scikit_learn(k: int | None) -> None:
    metrics, (labels, scores, offsets) = library("sklearn.metrics"), rankings(100, 4)
    own = [slice(a, b) for a, b in zip(offsets, offsets[1:])]
    theirs = [
        metrics.ndcg_score([labels[q]], [scores[q]], k=k) if q.stop - q.start > 1 else np.nan
        for q in own  # scikit-learn refuses a list of one document
    ]
    found = ours("sklearn", "ndcg" if k is None else f"ndcg@{k}", (labels, scores, offsets))
    found[np.isnan(theirs)] = np.nan
    np.testing.assert_allclose(found, theirs, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["ndcg@1", "ndcg@3", "ndcg@30", "map@2", "map@30"])
def test_as_lightgbm(name: str) -> None:
    lightgbm, (labels, scores, offsets) = library("lightgbm"), rankings(300, 4)
    measure, _, k = name.partition("@")
    data = lightgbm.Dataset(
        scores[:, None], labels, group=np.diff(offsets), init_score=scores, free_raw_data=False
    )
    settings = {"objective": "lambdarank", "metric": measure, "eval_at": [int(k)], "verbose": -1}
    theirs: dict[str, dict[str, list[float]]] = {}
    # a step of 1e-300 leaves every score as it was given
    lightgbm.train(
        {**settings, "learning_rate": 1e-300}, data, 1, [data], ["all"],
        callbacks=[lightgbm.record_evaluation(theirs)],
    )  # fmt: skip
    found = ours("lightgbm", name, (labels, scores, offsets))
    assert found.mean() == pytest.approx(theirs["all"][name][0], abs=1e-12)


@pytest.mark.parametrize("name", ["ndcg@1", "ndcg@3", "ndcg", "map", "map@2", "pre@3"])
def test_as_xgboost(name: str) -> None:
    """Its map and pre take two labels only; its scores are float32."""
    xgboost, (labels, scores, offsets) = library("xgboost"), rankings(300, 4)
    scores = scores + np.random.default_rng(0).choice([0.0, 1e-9], len(scores))
    if name in ("map", "map@2", "pre@3"):
        labels = np.minimum(labels, 1)
    data = xgboost.DMatrix(scores[:, None], labels, base_margin=scores)
    data.set_group(np.diff(offsets))
    theirs: dict[str, dict[str, list[float]]] = {}
    settings = {"objective": "rank:ndcg", "eval_metric": name, "learning_rate": 0.0}
    xgboost.train(settings, data, 1, [(data, "all")], evals_result=theirs, verbose_eval=False)
    found = ours("xgboost", name.replace("pre", "p"), (labels, scores, offsets))
    assert found.mean() == pytest.approx(theirs["all"][name][0], abs=1e-12)
