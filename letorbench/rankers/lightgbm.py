"""LambdaMART as LightGBM builds it: leaf-wise trees on binned features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.models import LightGBMTrees
from letorbench.models.trees import threads_for
from letorbench.rankers.lambdamart import LambdaMART, Watch

#: set by the protocol: silent, the same trees for any number of threads
FIXED = {
    "objective": "lambdarank", "metric": "None", "verbosity": -1, "deterministic": True,
    "force_col_wise": True, "feature_pre_filter": False,
}  # fmt: skip


@dataclass
class LightGBM(LambdaMART):
    """Ke et al., "LightGBM", NIPS 2017, with the objective `lambdarank`.

    LambdaMART (Burges, MSR-TR-2010-82): regression trees fitted to LambdaRank's forces, by
    the library itself. Rounds are chosen by our measure under our convention, not LightGBM's.

    rounds:        trees at most; the best number on validation is kept.
    patience:      training ends so many rounds after the best one on validation; 0: never.
    learning_rate: each tree's weight.
    docs, columns: the share of the documents, of the features that each tree sees.
    truncation:    pairs have a document of the first so many ranks.
    leaves:        of a tree, at most.
    min_docs:      documents in a leaf, at least.

    Without validation all rounds are kept.
    """

    name = "lightgbm"
    title = "LightGBM's LambdaMART (optional: pip install 'letorbench[trees]')"
    paper = "Ke et al.: LightGBM: A Highly Efficient Gradient Boosting Decision Tree, NIPS 2017"
    grid = {"leaves": (4, 7, 15, 31), "learning_rate": (0.03, 0.1)}
    needs = "lightgbm"

    leaves: int = 15
    min_docs: int = 50

    def boost(self, train: QuerySet, held_out: QuerySet | None, watch: Watch, seed: int) -> Any:
        import lightgbm

        data = _dataset(lightgbm, train)
        watched: dict[str, Any] = {}
        if held_out is not None:
            stop = lightgbm.early_stopping(self.patience or self.rounds, verbose=False)
            watched = {
                "valid_sets": [_dataset(lightgbm, held_out, reference=data)],
                "feval": lambda scores, _: ("measure", watch(scores), True),
                "callbacks": [stop],
            }
        return lightgbm.train(self._options(train, seed), data, self.rounds, **watched)

    def grown(self, booster: Any) -> int:
        return booster.num_trees()

    def model(self, booster: Any, rounds: int) -> LightGBMTrees:
        text = booster.model_to_string(num_iteration=rounds, importance_type="gain")
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
            # the library knows gains of labels to 30 only where it is not told them
            "label_gain": [2.0**r - 1.0 for r in range(int(train.labels.max(initial=0)) + 1)],
        }


def _dataset(lightgbm: Any, queries: QuerySet, reference: Any = None) -> Any:
    group = queries.lengths[queries.lengths > 0]
    return lightgbm.Dataset(
        queries.features, queries.labels, group=group, reference=reference,
        params={"verbosity": -1, "feature_pre_filter": False},
    )  # fmt: skip
