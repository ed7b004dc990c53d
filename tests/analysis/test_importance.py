"""The importance of features: by permutation, and by the gains of a forest's splits."""

import re
from pathlib import Path

import numpy as np
from conftest import random_queries, same, unlocked
from sample_models import SAMPLES

import letorbench as lb
from letorbench.analysis.figures import write
from letorbench.models import Linear
from letorbench.solvers.fit_result import FitResult

KEPT = Path(__file__).with_name("importance.txt")


def of_model(model, queries):
    ranker = lb.Regression().fit_sets(queries)
    ranker.learned = FitResult(model)
    return ranker


def test_only_what_a_model_uses_is_important(rng, tmp_path):
    """Of 24 features the model uses the last four, ever more; the figure shows twenty, or four."""
    queries, weights = random_queries(rng, [30] * 10, 24), np.maximum(np.arange(24) - 19.0, 0.0)
    with unlocked(queries):
        queries.labels[:] = np.digitize(queries.features @ weights, [0.0, 4.0])
    ranker = of_model(Linear(weights), queries)
    frame = lb.importance(ranker, queries)
    assert lb.importance(ranker, queries, "ndcg@10", 5, 0).equals(frame)
    assert frame["feature"][frame["permutation"] == 0.0].tolist() == [*range(1, 21)]
    assert len(lb.importance_figure(frame).axes[0].patches) == 20
    (path,) = write(lb.importance_figure(frame, 4), tmp_path / "importance", ["svg"])
    found = frame[:6].to_csv(index=False) + path.read_text()
    digits = re.sub(r"\d\.\d{5,}", lambda number: f"{float(number[0]):.6g}", found)
    same(KEPT, KEPT.read_text(), digits)


def test_a_constant_within_each_query_is_not_important_and_gains_are_summed(rng):
    queries = random_queries(rng, [5] * 8, 5)
    with unlocked(queries):
        queries.features[:, 4] = np.repeat(np.arange(8.0) / 8.0, 5)
    frame = lb.importance(of_model(SAMPLES["trees"](), queries), queries, "map", draws=2)
    assert (frame["permutation"] == 0.0).all()
    assert frame.set_index("feature")["gain"].tolist() == [0.0, 0.0, 0.0, 0.0, 1.0]
