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
from letorbench.rankers.tuning import Between
from letorbench.solvers.stopping import EarlyStopping

#: CatBoost redirects what it prints for the whole process while it trains
ONE_AT_A_TIME = Lock()
#: a split by category becomes up to half as many splits as there are categories
MOST_CATEGORIES = 255


@dataclass
class CatBoost(TreeLibrary):
    """YetiRank by CatBoost: trees on pairs of neighbours in noisy orders of the scores.

    All rounds are trained, in one thread, for the same trees on every machine; ``thread_count=8``
    trains in more. Then the validation measure chooses among them.

    Parameters
    ----------
    rounds, learning_rate, categories
        See `TreeLibrary`. CatBoost's `max_ctr_complexity` is 1: no statistics of several together.
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
    grid = {"depth": (4, 6, 8), "learning_rate": (0.03, 0.1)}
    ranges = {
        "learning_rate": Between(0.01, 0.3, log=True), "depth": Between(4, 10),
        "l2_leaf_reg": Between(0.1, 10.0, log=True),
    }  # fmt: skip
    needs = "catboost"
    published = False  # it takes longer than all the others together
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
        renamed = {"iterations": "rounds", "cat_features": "categories"}
        return {name: name for name in names} | renamed

    def boost(self, train: QuerySet, stopping: EarlyStopping, seed: int) -> TreeEnsemble:
        import catboost

        require_comparable(train)
        columns = self.by_category(train)
        for column in columns:
            found = len(np.unique(train.features[:, column]))
            if found > MOST_CATEGORIES:
                raise UsageError(
                    f"catboost: found {found:,} categories in feature {column + 1}, expected at "
                    f"most {MOST_CATEGORIES}; lightgbm takes more"
                )
        if (train.features == train.features[0]).all():  # which the library refuses
            return joined([], [], train.n_features)
        options = {
            "loss_function": "YetiRank", "iterations": self.rounds, "depth": self.depth,
            "learning_rate": self.learning_rate, "random_seed": seed, "thread_count": 1,
            "logging_level": "Silent", "allow_writing_files": False,
            **({"max_ctr_complexity": 1} if columns else {}),
        } | self.more  # fmt: skip

        class Late:
            def after_iteration(self, _: Any) -> bool:
                return not stopping.deadline.passed

        with ONE_AT_A_TIME:
            pool = _pool(catboost, train, columns)
            model = catboost.CatBoost(options).fit(pool, callbacks=[Late()])
            if stopping.validation is None:
                for _ in range(model.tree_count_):
                    stopping.record(None)
            else:
                validation = _pool(catboost, stopping.validation.queries, columns)
                for scores in model.staged_predict(validation):
                    record(stopping, scores)
            return cast(TreeEnsemble, of_catboost(text_of(model, pool), stopping.kept)[0])


def _pool(catboost: Any, queries: QuerySet, columns: list[int]) -> Any:
    features: Any = queries.features
    if columns:
        import pandas as pd

        features = pd.DataFrame(features)
        for column in columns:  # CatBoost takes no missing category
            features[column] = np.nan_to_num(queries.features[:, column], nan=-1.0).astype(int)
    weights = None if queries.weights is None else queries.document_weights
    query = np.repeat(np.arange(queries.n_queries), queries.lengths)
    return catboost.Pool(
        features, queries.labels, columns or None, group_id=query, group_weight=weights
    )
