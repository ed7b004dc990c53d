"""LambdaMART as LightGBM builds it: leaf-wise trees on binned features."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.losses.base import require_comparable
from letorbench.models import LightGBMTrees
from letorbench.models.trees import threads_for
from letorbench.rankers.lambdamart import LambdaMART, Watch

#: options of every training: silent, and the same trees for any number of threads
FIXED = {
    "objective": "lambdarank", "metric": "None", "verbosity": -1, "deterministic": True,
    "force_col_wise": True, "feature_pre_filter": False,
}  # fmt: skip



@dataclass
class LightGBM(LambdaMART):
    """LambdaMART by LightGBM, with the objective `lambdarank`.

    Regression trees are fitted to LambdaRank's forces (Burges, MSR-TR-2010-82) by the library
    itself. The number of rounds is chosen by our measure under our convention, not LightGBM's;
    without validation all rounds are kept.

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
    leaves : int, default 15
        The largest number of leaves of a tree.
    min_docs : int, default 50
        The smallest number of documents in a leaf.

    References
    ----------
    G. Ke et al.: LightGBM: A Highly Efficient Gradient Boosting Decision Tree, NIPS 2017.
    """

    name = "lightgbm"
    title = "LightGBM's LambdaMART (optional: pip install 'letorbench[trees]')"
    paper = "Ke et al.: LightGBM: A Highly Efficient Gradient Boosting Decision Tree, NIPS 2017"
    grid = {"leaves": (4, 7, 15, 31), "learning_rate": (0.03, 0.1)}
    needs = "lightgbm"

    leaves: int = 15
    min_docs: int = 50

    def boost(self, train: QuerySet, watch: Watch, seed: int) -> Any:
        import lightgbm

        require_comparable(train)
        data = _dataset(lightgbm, train)
        options = self._options(train, seed)

        def stop(state: Any) -> None:
            if watch.over():
                last = state.iteration  # `model` cuts the trees at the round that is kept
                raise lightgbm.callback.EarlyStopException(last, state.evaluation_result_list)

        if watch.queries is None:
            return lightgbm.train(options, data, self.rounds, callbacks=[stop])
        return lightgbm.train(
            options,
            data,
            self.rounds,
            valid_sets=[_dataset(lightgbm, watch.queries, reference=data)],
            feval=lambda scores, _: ("measure", watch.measure(scores), True),
            callbacks=[stop],
        )

    def grown(self, booster: Any) -> int:
        return booster.num_trees()

    def model(self, booster: Any, rounds: int) -> LightGBMTrees:
        text = booster.model_to_string(num_iteration=rounds, importance_type="gain")
        # the one parameter that changes nothing but the text
        text = re.sub(r"(?m)^\[num_threads: \d+\]$", "[num_threads: 0]", text)
        return LightGBMTrees(np.frombuffer(text.encode(), dtype=np.uint8))

    def _options(self, train: QuerySet, seed: int) -> dict[str, object]:
        return {
            **FIXED,
            "num_threads": threads_for(train.features),
            "seed": seed,
            "learning_rate": self.learning_rate,
            "num_leaves": self.leaves,
            "min_data_in_leaf": self.min_docs,
            "bagging_fraction": self.docs,
            "bagging_freq": int(self.docs < 1.0),
            "feature_fraction": self.columns,
            "lambdarank_truncation_level": self.truncation,
            # without this the library knows the gains of the labels up to 30 only
            "label_gain": [2.0**r - 1.0 for r in range(int(train.labels.max(initial=0)) + 1)],
        }


def _dataset(lightgbm: Any, queries: QuerySet, reference: Any = None) -> Any:
    group = queries.lengths[queries.lengths > 0]
    return lightgbm.Dataset(
        queries.features, queries.labels, group=group, reference=reference,
        params={"verbosity": -1, "feature_pre_filter": False},
    )  # fmt: skip
