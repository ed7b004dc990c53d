"""Each library's convention against the library's own numbers."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from test_every_measure import forms

import letorbench as lb
from letorbench.conventions import CONVENTIONS, convention
from letorbench.datasets.queryset import QuerySet
from letorbench.errors import UsageError
from letorbench.measures import MEASURES, parse, query_metrics
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
    "wta": "success_1",
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


def in_single_precision(document: tuple[str, float]) -> tuple[np.float32, bytes]:
    return np.float32(document[1]), document[0].encode()


@pytest.mark.parametrize("seed, depth", [(0, 99), (1, 99), (5, 5)])
def test_as_trec_eval(tmp_path, seed, depth):
    """The depth is its -M: what is below is not retrieved."""
    rng = np.random.default_rng(seed)
    qrels, run = trec_data(rng, 300)
    paths = written(tmp_path, qrels, run, rng)
    kept = {
        q: dict(sorted(own.items(), key=in_single_precision, reverse=True)[:depth])
        for q, own in run.items()
    }
    rules = "trec_eval" if depth == 99 else f"trec_eval,depth={depth}"
    measures = [parse(name) for name in TREC]
    (found,), _ = measure_runs(paths[0], paths[1:], measures, convention(rules))
    (zeros,), _ = measure_runs(paths[0], paths[1:], measures, convention(f"{rules},missing=0"))
    assert sorted(found.qids) == sorted(qrels)
    for ours, theirs in TREC.items():
        values, known = found.values[ours], of_trec_eval(qrels, kept, theirs)
        assert {*found.qids[~np.isnan(values)]} == {*known} == {*qrels} & {*run}
        expected = [known.get(qid, np.nan) for qid in found.qids]
        np.testing.assert_allclose(values, expected, rtol=0, atol=1e-12, err_msg=ours)
        np.testing.assert_array_equal(zeros.values[ours], np.nan_to_num(values))


#: what both compute by the same rules
SHARED = ["map", "p@5", "recall@5", "mrr", "rprec", "bpref", "hit@5", "map@5"]


@pytest.mark.parametrize(
    "name", ["letor4", "trec_eval", "standard,ties=worst", "standard,ties=last"]
)
@pytest.mark.parametrize("has_ids", [True, False])
def test_an_exported_run_has_the_same_numbers_in_trec_eval(tmp_path, name, has_ids):
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
def test_as_scipy(name):
    stats, (labels, scores, offsets) = library("scipy.stats"), rankings(80, 4)
    places = np.random.default_rng(0).permutation(5_000)[: len(labels)]
    function = stats.kendalltau if name == "tau" else stats.spearmanr
    for own in (labels, places, places * 1_000):
        pairs = zip(np.split(own, offsets[1:-1]), np.split(scores, offsets[1:-1]))
        theirs = [function(r, s).statistic if np.ptp(r) and np.ptp(s) else 0.0 for r, s in pairs]
        found = ours("standard", name, (own, scores, offsets))
        np.testing.assert_allclose(found, theirs, rtol=0, atol=1e-12)


def mixed(n: int, seed: int = 1) -> Data:
    """Rankings with ties, every sixth list without a relevant document, every sixth all alike."""
    labels, scores, offsets = rankings(n, 4)
    for q in range(0, n - 3, 6):
        labels[offsets[q] : offsets[q + 1]] = 0
        labels[offsets[q + 3] : offsets[q + 4]] = 1
    return labels, scores, offsets


def each(data: Data, value: Callable[[np.ndarray, np.ndarray], float]) -> np.ndarray:
    labels, scores, offsets = data
    parts = zip(np.split(labels, offsets[1:-1]), np.split(scores, offsets[1:-1]))
    return np.array([value(r, s) for r, s in parts])


def of_boosting(name: str, form: str, data: Data, weights: np.ndarray | None = None) -> float:
    """LightGBM's or XGBoost's mean; XGBoost's map and pre take two labels only."""
    booster, (labels, scores, offsets) = library(name), data
    measure, _, k = form.partition("@")
    sizes, found = np.diff(offsets), {}
    if name == "xgboost":
        rows = booster.DMatrix(scores[:, None], labels, base_margin=scores, weight=weights)
        rows.set_group(sizes)
        metric = f"pre@{k}" if measure == "p" else form
        settings = {"objective": "rank:ndcg", "eval_metric": metric, "learning_rate": 0.0,
                    "nthread": 1}  # fmt: skip
        ends = [(rows, "all")]
        booster.train(settings, rows, 1, evals=ends, evals_result=found, verbose_eval=False)
        return found["all"][metric][0]
    rows = booster.Dataset(scores[:, None], labels, group=sizes, init_score=scores,
                           free_raw_data=False)  # fmt: skip
    rows.set_weight(None if weights is None else np.repeat(weights, sizes))
    settings = {"objective": "lambdarank", "metric": measure, "eval_at": [int(k or 999)],
                "learning_rate": 1e-300, "verbose": -1, "num_threads": 1}  # fmt: skip
    note = booster.record_evaluation(found)  # a step of 1e-300 leaves every score as it was given
    booster.train(settings, rows, 1, [rows], ["all"], callbacks=[note])
    return next(iter(found["all"].values()))[0]


#: ours -> CatBoost's
CATBOOST = {
    "ndcg": "NDCG", "dcg": "DCG", "map": "MAP", "mrr": "MRR", "p": "PrecisionAt",
    "recall": "RecallAt", "auc": "QueryAUC:type=Ranking", "pairwise": "QueryAUC:type=Ranking",
}  # fmt: skip


def of_catboost(form: str, labels: np.ndarray, scores: np.ndarray, **more: object) -> float:
    name, _, k = form.partition("@")
    groups = {"group_id": [0] * len(labels), **more}
    metric = CATBOOST[name] + (f":top={k}" if k else "")
    labels = np.minimum(labels, 1) if name == "auc" else labels
    return library("catboost.utils").eval_metric(labels, scores, metric, **groups)[0]


def of_scikit_learn(form: str, labels: np.ndarray, scores: np.ndarray) -> float:
    """NaN for a list of one document, which it refuses."""
    name, _, k = form.partition("@")
    function = getattr(library("sklearn.metrics"), f"{name}_score")
    return function([labels], [scores], k=int(k) if k else None) if len(labels) > 1 else np.nan


def of_other(tool: str, form: str, labels: np.ndarray, scores: np.ndarray) -> float:
    """RankLib's, allRank's and PT-Ranking's measures, written anew by their sources."""
    name, _, k = form.partition("@")
    r, n = labels[np.argsort(-scores, kind="stable")].astype(float), len(labels)
    size, ranks = min(int(k or n), n), np.arange(1, n + 1)
    if tool == "ptranking" and not r.any():
        return np.nan
    if tool == "ptranking" and int(k or 0) > n:
        return 0.0
    if name in ("ndcg", "dcg"):
        best = np.sort(r)[::-1]
        dcg, ideal = (((2.0**x - 1.0) / np.log2(ranks + 1))[:size].sum() for x in (r, best))
        empty = 1.0 if tool == "allrank" else 0.0
        return dcg if name == "dcg" else dcg / ideal if ideal else empty
    hits = np.flatnonzero(r > 0.0) + 1
    if name == "p":
        return (hits <= size).sum() / size
    if name == "mrr":
        return 1.0 / hits[0] if len(hits) and hits[0] <= size else 0.0
    if name == "map":
        return np.mean(np.arange(1, len(hits) + 1) / hits) if len(hits) else 0.0
    assert name == "err"
    stop = (2.0**r - 1.0) / 16.0
    return (stop * np.append(1.0, np.cumprod(1.0 - stop)[:-1]) / ranks)[:size].sum()


def theirs(name: str, form: str, data: Data) -> np.ndarray:
    if name in ("lightgbm", "xgboost"):
        return np.array([of_boosting(name, form, data)])
    function = {"catboost": of_catboost, "sklearn": of_scikit_learn}.get(name)
    return each(data, partial(function or partial(of_other, name), form))


def two_labels(name: str, form: str, data: Data) -> Data:
    one = name == "xgboost" and not form.startswith("ndcg")
    return (np.minimum(data[0], 1), *data[1:]) if one else data


@pytest.mark.parametrize("name", [n for n, each in CONVENTIONS.items() if each.measures])
def test_a_convention_prints_what_its_library_computes_and_nothing_else(name):
    for form in (str(each) for n in MEASURES for each in forms(n, 1, 3, 30)):
        data = two_labels(name, form, mixed(60))
        if CONVENTIONS[name].apart(form) is None:
            with pytest.raises(UsageError, match=f"{name}: found {form}.* standard"):
                ours(name, form, data)
        elif name == "trec_eval":  # `test_as_trec_eval` compares these
            assert form.partition("@")[0] in {each.partition("@")[0] for each in TREC}
        else:
            known, found = theirs(name, form, data), ours(name, form, data)
            found = found.mean(keepdims=True) if len(known) == 1 else found
            if name == "sklearn":
                found[np.isnan(known)] = np.nan
            np.testing.assert_allclose(found, known, rtol=0, atol=1e-12, err_msg=form)


@pytest.mark.parametrize(
    "name, form",
    [*((n, f) for n in ("lightgbm", "xgboost") for f in ("ndcg@3", "ndcg", "map", "map@2")),
     ("xgboost", "p@3"), *(("catboost", f) for f in ("ndcg", "ndcg@3", "dcg", "mrr"))],
)  # fmt: skip
def test_weighted_means_are_the_librarys(name, form):
    """Boosting libraries add 1 to a sum of NDCG for a list without a relevant document."""
    labels, scores, offsets = data = two_labels(name, form, mixed(60))
    weights = np.random.default_rng(4).integers(1, 9, 60) / 2.0
    qid = np.repeat(np.arange(60), np.diff(offsets))
    if name == "catboost":
        known = of_catboost(form, labels, scores, group_id=qid, group_weight=weights[qid])
    else:
        known = of_boosting(name, form, data, weights)
    order = np.argsort(np.arange(len(qid)) - offsets[qid], kind="stable")  # scattered rows
    given = labels[order], scores[order], qid[order], form, f"{name},mean=weighted"
    found = lb.evaluate(*given, sample_weight=weights[qid][order])
    assert found[form] == pytest.approx(known, abs=1e-12)
