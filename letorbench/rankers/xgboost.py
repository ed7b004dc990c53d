"""LambdaMART as XGBoost builds it: regularised trees on second-order gradients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.models import XGBoostTrees
from letorbench.models.trees import threads_for
from letorbench.rankers.lambdamart import LambdaMART, Watch


@dataclass
class XGBoost(LambdaMART):
    """Chen, Guestrin, "XGBoost", KDD 2016, with the objective `rank:ndcg`.

    LambdaMART (Burges, MSR-TR-2010-82): regression trees fitted to LambdaRank's forces, by
    the library itself. Rounds are chosen by our measure under our convention, not XGBoost's.

    rounds:        trees at most; the best number on validation is kept.
    patience:      training ends so many rounds after the best one on validation; 0: never.
    learning_rate: each tree's weight.
    docs, columns: the share of the documents, of the features that each tree sees.
    truncation:    pairs have a document of the first so many ranks.
    depth:         of a tree, at most.
    min_weight:    the least sum of second derivatives in a leaf.

    Without validation all rounds are kept. Scores are float32 numbers, as the library's.
    """

    name = "xgboost"
    title = "XGBoost's LambdaMART (optional: pip install 'letorbench[trees]')"
    paper = "Chen, Guestrin: XGBoost: A Scalable Tree Boosting System, KDD 2016"
    grid = {"depth": (2, 3, 4, 6), "learning_rate": (0.03, 0.1)}
    needs = "xgboost"

    depth: int = 4
    min_weight: float = 1.0

    def boost(self, train: QuerySet, held_out: QuerySet | None, watch: Watch, seed: int) -> Any:
        import xgboost

        data = _matrix(xgboost, train)
        watched: dict[str, Any] = {}
        if held_out is not None:
            patience = self.patience or self.rounds
            watched = {
                "evals": [(_matrix(xgboost, held_out), "validation")],
                "custom_metric": lambda scores, _: ("measure", watch(scores)),
                "callbacks": [xgboost.callback.EarlyStopping(rounds=patience, maximize=True)],
                "verbose_eval": False,
            }
        return xgboost.train(self._options(train, seed), data, self.rounds, **watched)

    def grown(self, booster: Any) -> int:
        return booster.num_boosted_rounds()

    def model(self, booster: Any, rounds: int) -> XGBoostTrees:
        return XGBoostTrees(np.frombuffer(booster[:rounds].save_raw("json"), dtype=np.uint8))

    def _options(self, train: QuerySet, seed: int) -> dict[str, object]:
        return {
            "objective": "rank:ndcg",
            "disable_default_eval_metric": True,
            "tree_method": "hist",
            "verbosity": 0,
            "nthread": threads_for(train.features),
            "seed": seed,
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
