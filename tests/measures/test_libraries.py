"""Each library's convention against the library's own numbers."""

from types import ModuleType

import numpy as np
import pytest

from letorbench.conventions import CONVENTIONS
from letorbench.measures import parse, query_metrics

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


def ours(convention: str, name: str, data: Data) -> np.ndarray:
    labels, scores, offsets = data
    return query_metrics(labels, scores, offsets, [parse(name)], CONVENTIONS[convention])[:, 0]


#: ours -> trec_eval's
TREC = {
    "map": "map", "mrr": "recip_rank", "bpref": "bpref", "ndcg": "ndcg",
    **{f"p@{k}": f"P_{k}" for k in (1, 5, 20)},
    **{f"ndcg@{k}": f"ndcg_cut_{k}" for k in (1, 5, 20)},
}  # fmt: skip


@pytest.mark.parametrize("name", list(TREC))
def test_as_trec_eval(name: str) -> None:
    """It breaks ties by the larger document id; ids rise with the rows here."""
    pytrec_eval, (labels, scores, offsets) = library("pytrec_eval"), rankings(1_000, 4)
    family, _, cut = TREC[name].rpartition("_")
    asked = f"{family}.{cut}" if cut.isdigit() else TREC[name]

    def of(values: np.ndarray, kind: type) -> dict[str, dict[str, object]]:
        parts = np.split(values, offsets[1:-1])
        return {
            str(q): {f"d{i:02d}": kind(v) for i, v in enumerate(part)}
            for q, part in enumerate(parts)
        }

    found = pytrec_eval.RelevanceEvaluator(of(labels, int), {asked}).evaluate(of(scores, float))
    theirs = np.array([found[str(q)][TREC[name]] for q in range(1_000)])
    np.testing.assert_allclose(
        ours("trec_eval", name, (labels, scores, offsets)), theirs, rtol=0, atol=1e-12
    )


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


@pytest.mark.parametrize("name", ["ndcg@1", "ndcg@3", "ndcg@30", "map@30"])
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
    found = ours("lightgbm", name if measure == "ndcg" else measure, (labels, scores, offsets))
    assert found.mean() == pytest.approx(theirs["all"][name][0], abs=1e-12)


@pytest.mark.parametrize("name", ["ndcg@1", "ndcg@3", "ndcg", "map", "pre@3"])
def test_as_xgboost(name: str) -> None:
    """Its map and pre take two labels only; its scores are float32, as the eighths are."""
    xgboost, (labels, scores, offsets) = library("xgboost"), rankings(300, 4)
    if name in ("map", "pre@3"):
        labels = np.minimum(labels, 1)
    data = xgboost.DMatrix(scores[:, None], labels, base_margin=scores)
    data.set_group(np.diff(offsets))
    theirs: dict[str, dict[str, list[float]]] = {}
    settings = {"objective": "rank:ndcg", "eval_metric": name, "learning_rate": 0.0}
    xgboost.train(settings, data, 1, [(data, "all")], evals_result=theirs, verbose_eval=False)
    found = ours("xgboost", name.replace("pre", "p"), (labels, scores, offsets))
    assert found.mean() == pytest.approx(theirs["all"][name][0], abs=1e-12)
