"""LambdaMART as XGBoost builds it: regularised trees on second-order gradients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.rankers.base import Learned, Ranker, Validation
from letorbench.scorers import XGBoostTrees
from letorbench.scorers.boosted import threads_for


@dataclass
class XGBoost(Ranker, name="xgboost"):
    """Chen, Guestrin, "XGBoost", KDD 2016, with the objective `rank:ndcg`.

    LambdaMART (Burges, MSR-TR-2010-82): regression trees fitted to LambdaRank's forces, by
    the library itself. Rounds are chosen by our measure under our convention, not XGBoost's.

    rounds:        trees at most; the best number on validation is kept.
    patience:      training ends so many rounds after the best one on validation; 0: never.
    learning_rate: each tree's weight.
    depth:         of a tree, at most.
    min_weight:    the least sum of second derivatives in a leaf.
    docs, columns: the share of the documents, of the features that each tree sees.
    truncation:    pairs have a document of the first so many ranks.

    Without validation all rounds are kept. Scores are float32 numbers, as the library's.
    """

    title = "XGBoost's LambdaMART (optional: pip install 'letorbench[trees]')"
    paper = "Chen, Guestrin: XGBoost: A Scalable Tree Boosting System, KDD 2016"
    formula = "trees on lambda = sigma(-(s_i - s_j)) |Delta NDCG_ij|, r_i > r_j"
    grid = {"depth": (2, 3, 4, 6), "learning_rate": (0.03, 0.1)}
    needs = "xgboost"
    extra = "letorbench[trees]"

    rounds: int = 1000
    patience: int = 100
    learning_rate: float = 0.05
    depth: int = 4
    min_weight: float = 1.0
    docs: float = 1.0
    columns: float = 1.0
    truncation: int = 30

    def learn(
        self, train: QuerySet, validation: Validation | None, rng: np.random.Generator
    ) -> Learned:
        import xgboost

        data = _matrix(xgboost, train)
        curve: list[float] = []
        watch: dict[str, Any] = {}
        if validation is not None:

            def measure(scores: np.ndarray, _: object) -> tuple[str, float]:
                curve.append(validation(scores))
                return "measure", curve[-1]

            patience = self.patience or self.rounds
            stop = xgboost.callback.EarlyStopping(rounds=patience, maximize=True)
            watch = {"evals": [(_matrix(xgboost, validation.queries), "validation")]}
            watch |= {"custom_metric": measure, "callbacks": [stop], "verbose_eval": False}
        booster = xgboost.train(self._options(train, rng), data, self.rounds, **watch)
        best = int(np.argmax(curve)) + 1 if curve else booster.num_boosted_rounds()
        model = np.frombuffer(booster[:best].save_raw("json"), dtype=np.uint8)
        return Learned(XGBoostTrees(model), tuple(curve), best)

    def _options(self, train: QuerySet, rng: np.random.Generator) -> dict[str, object]:
        return {
            "objective": "rank:ndcg",
            "disable_default_eval_metric": True,
            "tree_method": "hist",
            "verbosity": 0,
            "nthread": threads_for(train.features),
            "seed": int(rng.integers(1 << 31)),
            "eta": self.learning_rate,
            "max_depth": self.depth,
            "min_child_weight": self.min_weight,
            "subsample": self.docs,
            "colsample_bytree": self.columns,
            "lambdarank_pair_method": "topk",
            "lambdarank_num_pair_per_sample": self.truncation,
        }


def _matrix(xgboost: Any, queries: QuerySet) -> Any:
    data = xgboost.DMatrix(queries.features, queries.labels, nthread=threads_for(queries.features))
    data.set_group(queries.lengths[queries.lengths > 0])
    return data
