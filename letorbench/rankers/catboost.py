"""YetiRank by CatBoost."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from inspect import signature
from threading import Lock
from typing import Any, cast

import numpy as np

from letorbench.errors import UsageError
from letorbench.losses.base import require_comparable
from letorbench.models.library_trees import of_catboost, text_of
from letorbench.models.tree_ensemble import TreeEnsemble, joined
from letorbench.parameters import number
from letorbench.rankers.base import QuerySet
from letorbench.rankers.tree_libraries import TreeLibrary, record
from letorbench.solvers.stopping import EarlyStopping

#: CatBoost redirects what it prints for the whole process while it trains
ONE_AT_A_TIME = Lock()


@dataclass
class CatBoost(TreeLibrary):
    """YetiRank by CatBoost: trees on pairs of neighbours in noisy orders of the scores.

    All rounds are trained, in one thread, for the same trees on every machine; ``thread_count=8``
    trains in more. Then the validation measure chooses among them.

    Parameters
    ----------
    rounds, learning_rate
        See `TreeLibrary`.
    depth : int, default 6
        The depth of a tree, whose nodes of one level all have the same split.
    """

    name = "catboost"
    families = ("pairwise", "boosting", "trees")
    title = "CatBoost's YetiRank (optional: pip install 'letorbench[catboost]')"
    paper = (
        "Gulin, Kuralenok, Pavlov: Winning the Transfer Learning Track of Yahoo!'s Learning to "
        "Rank Challenge with YetiRank, JMLR W&CP 14, 2011"
    )
    formula = "trees on sum of w_ij log sigma(s_i - s_j), i, j neighbours in s + noise"
    grid = {"depth": (6, 8), "learning_rate": (0.03, 0.1)}
    needs = "catboost"
    published = False  # the leaderboard has no numbers of it
    extra = "letorbench[catboost]"
    order_matters = "the library draws its noise in file order"
    read = staticmethod(of_catboost)  # type: ignore[assignment]

    depth: int = number(6, least=1, most=16)

    @property
    def draws(self) -> bool:
        return True

    @staticmethod
    @cache
    def library_names() -> Mapping[str, str]:
        from catboost import CatBoostRanker

        names = signature(CatBoostRanker).parameters
        return {name: name for name in names} | {"iterations": "rounds"}

    def boost(self, train: QuerySet, stopping: EarlyStopping, seed: int) -> TreeEnsemble:
        import catboost

        if "cat_features" in self.more:
            raise UsageError(
                "catboost: found cat_features, whose statistics of labels are no trees; expected a "
                "feature for each word (`datasets split --one-hot COLUMN`)"
            )
        require_comparable(train)
        if (train.features == train.features[0]).all():  # which the library refuses
            return joined([], [], train.n_features)
        options = {
            "loss_function": "YetiRank", "iterations": self.rounds, "depth": self.depth,
            "learning_rate": self.learning_rate, "random_seed": seed, "thread_count": 1,
            "logging_level": "Silent", "allow_writing_files": False,
        } | self.more  # fmt: skip

        class Late:
            def after_iteration(self, _: Any) -> bool:
                return not stopping.deadline.passed

        with ONE_AT_A_TIME:
            model = catboost.CatBoost(options).fit(_pool(catboost, train), callbacks=[Late()])
            if stopping.validation is None:
                for _ in range(model.tree_count_):
                    stopping.record(None)
            else:
                for scores in model.staged_predict(_pool(catboost, stopping.validation.queries)):
                    record(stopping, scores)
            return cast(TreeEnsemble, of_catboost(text_of(model), stopping.kept)[0])


def _pool(catboost: Any, queries: QuerySet) -> Any:
    weights = None if queries.weights is None else queries.document_weights
    query = np.repeat(np.arange(queries.n_queries), queries.lengths)
    return catboost.Pool(queries.features, queries.labels, group_id=query, group_weight=weights)
