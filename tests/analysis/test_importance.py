"""Importance of features: what a model does not use has none."""

import numpy as np
from conftest import random_queries
from sample_models import SAMPLES

import letorbench as lb
from letorbench.models import Linear
from letorbench.solvers.fit_result import FitResult


def of_model(model, queries):
    return lb.Regression().with_learned(FitResult(model), queries)


def test_only_what_a_model_uses_is_important(rng) -> None:
    queries = random_queries(rng, [30] * 10, 3)
    queries.labels.flags.writeable = True
    queries.labels[:] = np.digitize(queries.features @ [0.0, 0.5, 1.0], [0.0, 1.0])
    ranker = of_model(Linear(np.array([0.0, 0.5, 1.0])), queries)
    frame = lb.importance(ranker, queries)
    assert frame["feature"].tolist() == [3, 2, 1] and frame["gain"].isna().all()
    assert frame["permutation"][0] > 0.3 and frame["permutation"][2] == frame["sd"][2] == 0.0
    assert lb.importance(ranker, queries).equals(frame)
    assert lb.importance_figure(frame).axes[0].patches[0].get_width() == frame["permutation"][0]


def test_a_constant_within_each_query_is_not_important_and_gains_are_summed(rng) -> None:
    queries = random_queries(rng, [5] * 8, 5)
    queries.features.flags.writeable = True
    queries.features[:, 4] = np.repeat(np.arange(8.0) / 8.0, 5)
    frame = lb.importance(of_model(SAMPLES["trees"](), queries), queries, "map", draws=2)
    assert (frame["permutation"] == 0.0).all()
    assert frame.set_index("feature")["gain"].tolist() == [0.0, 0.0, 0.0, 0.0, 1.0]
