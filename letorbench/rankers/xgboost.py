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
    """LambdaMART by XGBoost, with the objective `rank:ndcg`.

    Regression trees are fitted to LambdaRank's forces (Burges, MSR-TR-2010-82) by the library
    itself. The number of rounds is chosen by our measure under our convention, not XGBoost's;
    without validation all rounds are kept. Scores are float32 numbers, as the library's.

    Parameters
    ----------
    rounds : int, default 1000
        The largest number of trees. Validation chooses how many are kept.
    patience : int, default 100
        Training ends this many rounds after the best one on validation; 0 means never.
    learning_rate : float, default 0.05
        Each tree's weight.
    docs, columns : float, default 1.0
        The share of the documents, and of the features, that each tree sees.
    truncation : int, default 30
        Only pairs with a document among the first so many ranks count.
    depth : int, default 4
        The largest depth of a tree.
    min_weight : float, default 1.0
        The smallest sum of second derivatives in a leaf.

    References
    ----------
    T. Chen, C. Guestrin: XGBoost: A Scalable Tree Boosting System, KDD 2016.
    """

    name = "xgboost"
    title = "XGBoost's LambdaMART (optional: pip install 'letorbench[trees]')"
    paper = "Chen, Guestrin: XGBoost: A Scalable Tree Boosting System, KDD 2016"
    grid = {"depth": (2, 3, 4, 6), "learning_rate": (0.03, 0.1)}
    needs = "xgboost"

    depth: int = 4
    min_weight: float = 1.0

    def boost(self, train: QuerySet, watch: Watch, seed: int) -> Any:
        import xgboost

        data = _matrix(xgboost, train)
        options = self._options(train, seed)

        class Stop(xgboost.callback.TrainingCallback):
            """Ends the training where the one rule for it says so."""

            def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
                return watch.over()

        if watch.queries is None:
            return xgboost.train(options, data, self.rounds, callbacks=[Stop()])
        return xgboost.train(
            options,
            data,
            self.rounds,
            evals=[(_matrix(xgboost, watch.queries), "validation")],
            custom_metric=lambda scores, _: ("measure", watch.measure(scores)),
            callbacks=[Stop()],
            verbose_eval=False,
        )

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
