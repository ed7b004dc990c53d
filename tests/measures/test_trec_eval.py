"""Our measures beside trec_eval's, where the definitions coincide."""

from __future__ import annotations

import numpy as np
import pytest

from letorbench.conventions import CONVENTIONS
from letorbench.measures import parse, query_metrics

#: ours -> trec_eval's
SAME = {
    "map": "map", "mrr": "recip_rank", "bpref": "bpref", "ndcg": "ndcg",
    **{f"p@{k}": f"P_{k}" for k in (1, 2, 3, 5, 10, 20)},
    **{f"ndcg@{k}": f"ndcg_cut_{k}" for k in (1, 2, 3, 5, 10, 20)},
}  # fmt: skip


def rankings(n: int, levels: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labels, scores of few values (so that many tie), offsets of n lists of 1 to 25."""
    rng = np.random.default_rng(2024)
    offsets = np.concatenate([[0], np.cumsum(rng.integers(1, 26, n))])
    labels = rng.integers(0, levels, offsets[-1]) * (rng.random(offsets[-1]) < 0.5)
    # trec_eval keeps scores as float32 numbers: eighths are the same in both
    return labels, rng.integers(0, 20, offsets[-1]) / 8.0, offsets


def as_trec(values: np.ndarray, offsets: np.ndarray, kind: type) -> dict[str, dict[str, object]]:
    """trec_eval breaks ties by the larger document id: ids fall where file order rises."""
    return {
        str(q): {f"d{99 - i}": kind(v) for i, v in enumerate(values[start:stop].tolist())}
        for q, (start, stop) in enumerate(zip(offsets, offsets[1:]))
    }


@pytest.mark.parametrize("name", list(SAME))
def test_ten_thousand_rankings_as_trec_eval(name: str) -> None:
    """NDCG by handing it our gains 2^r - 1 as labels: it takes labels for gains."""
    reason = "pytrec_eval is not installed: python -m pip install 'letorbench[bench]'"
    pytrec_eval = pytest.importorskip("pytrec_eval", reason=reason)
    labels, scores, offsets = rankings(10_000, 4)
    judged = 2**labels - 1 if name.startswith("ndcg") else labels
    theirs = SAME[name]
    family, _, cut = theirs.rpartition("_")
    asked = f"{family}.{cut}" if cut.isdigit() else theirs
    evaluator = pytrec_eval.RelevanceEvaluator(as_trec(judged, offsets, int), {asked})
    found = evaluator.evaluate(as_trec(scores, offsets, float))
    expected = np.array([found[str(q)][theirs] for q in range(10_000)])
    rules = CONVENTIONS["standard"]
    values = query_metrics(labels, scores, offsets, [parse(name)], rules)[:, 0]
    np.testing.assert_allclose(values, expected, rtol=0, atol=1e-12)
    assert 0 < expected.std()
