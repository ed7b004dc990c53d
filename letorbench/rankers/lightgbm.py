"""LambdaMART as LightGBM builds it: leaf-wise trees on binned features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.rankers.base import Learned, Ranker, Validation
from letorbench.scorers import LightGBMTrees
from letorbench.scorers.boosted import threads_for

#: set by the protocol: silent, the same trees for any number of threads
FIXED = {
    "objective": "lambdarank", "metric": "None", "verbosity": -1, "deterministic": True,
    "force_col_wise": True, "feature_pre_filter": False,
}  # fmt: skip


@dataclass
class LightGBM(Ranker, name="lightgbm"):
    """Ke et al., "LightGBM", NIPS 2017, with the objective `lambdarank`.

    LambdaMART (Burges, MSR-TR-2010-82): regression trees fitted to LambdaRank's forces, by
    the library itself. Rounds are chosen by our measure under our convention, not LightGBM's.

    rounds:        trees at most; the best number on validation is kept.
    patience:      training ends so many rounds after the best one on validation; 0: never.
    learning_rate: each tree's weight.
    leaves:        of a tree, at most.
    min_docs:      documents in a leaf, at least.
    docs, columns: the share of the documents, of the features that each tree sees.
    truncation:    pairs have a document of the first so many ranks.

    Without validation all rounds are kept.
    """

    title = "LightGBM's LambdaMART (optional: pip install 'letorbench[trees]')"
    paper = "Ke et al.: LightGBM: A Highly Efficient Gradient Boosting Decision Tree, NIPS 2017"
    formula = "trees on lambda = sigma(-(s_i - s_j)) |Delta NDCG_ij|, r_i > r_j"
    grid = {"leaves": (4, 7, 15, 31), "learning_rate": (0.03, 0.1)}
    needs = "lightgbm"
    extra = "letorbench[trees]"

    rounds: int = 1000
    patience: int = 100
    learning_rate: float = 0.05
    leaves: int = 15
    min_docs: int = 50
    docs: float = 1.0
    columns: float = 1.0
    truncation: int = 30

    def learn(
        self, train: QuerySet, validation: Validation | None, rng: np.random.Generator
    ) -> Learned:
        import lightgbm

        data = _dataset(lightgbm, train)
        curve: list[float] = []
        watch: dict[str, Any] = {}
        if validation is not None:
            held_out = _dataset(lightgbm, validation.queries, reference=data)
            stop = lightgbm.early_stopping(self.patience or self.rounds, verbose=False)
            watch = {"valid_sets": [held_out], "callbacks": [stop]}
            watch["feval"] = lambda scores, _: ("measure", _note(curve, validation(scores)), True)
        booster = lightgbm.train(self._options(train, rng), data, self.rounds, **watch)
        best = int(np.argmax(curve)) + 1 if curve else booster.num_trees()
        text = booster.model_to_string(num_iteration=best, importance_type="gain")
        model = np.frombuffer(text.encode(), dtype=np.uint8)
        return Learned(LightGBMTrees(model), tuple(curve), best)

    def _options(self, train: QuerySet, rng: np.random.Generator) -> dict[str, object]:
        return {
            **FIXED,
            "num_threads": threads_for(train.features),
            "seed": int(rng.integers(1 << 31)),
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


def _note(curve: list[float], value: float) -> float:
    curve.append(value)
    return value
