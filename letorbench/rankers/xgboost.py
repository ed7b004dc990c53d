"""LambdaMART by XGBoost."""

import re
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

import numpy as np

from letorbench import conventions
from letorbench.datasets.arrays import missing_features
from letorbench.errors import UsageError
from letorbench.models.library_trees import of_xgboost
from letorbench.models.tree_ensemble import Float32Trees, TreeEnsemble
from letorbench.parameters import number
from letorbench.rankers.base import QuerySet
from letorbench.rankers.tree_libraries import LambdaMARTLibrary, open_ended, record, threads_for
from letorbench.solvers.stopping import EarlyStopping

#: trees whose leaves are computed together, in four bytes for each tree and document
TOGETHER = 32


@open_ended
@dataclass
class XGBoost(LambdaMARTLibrary):
    """LambdaMART by XGBoost, with the objective `rank:ndcg`: second-order gradients.

    Scores are float32, as in the library.

    Parameters
    ----------
    rounds, patience, learning_rate, docs, columns, truncation
        See `LambdaMARTLibrary`.
    depth : int, default 4
        The largest depth of a tree.
    min_weight : float, default 1.0
        The smallest sum of second derivatives in a leaf.
    """

    name = "xgboost"
    families = ("listwise", "boosting", "trees")
    title = "XGBoost's LambdaMART (optional: pip install 'letorbench[trees]')"
    paper = "Chen, Guestrin: XGBoost: A Scalable Tree Boosting System, KDD 2016"
    grid = {"depth": (2, 3, 4, 6), "learning_rate": (0.03, 0.1)}
    needs = "xgboost"
    read = staticmethod(of_xgboost)  # type: ignore[assignment]
    theirs = {
        "eta": "learning_rate", "max_depth": "depth", "min_child_weight": "min_weight",
        "subsample": "docs", "colsample_bytree": "columns", "num_boost_round": "rounds",
        "n_estimators": "rounds", "early_stopping_rounds": "patience",
        "lambdarank_num_pair_per_sample": "truncation", "lambda": "reg_lambda",
        "alpha": "reg_alpha", "gamma": "min_split_loss",
    }  # fmt: skip

    depth: int = number(4, least=0)
    min_weight: float = number(1.0, least=0)

    @classmethod
    def parameter(cls, key: str) -> str | None:
        cls.require()
        return cls.theirs.get(key, key) if key in cls.theirs or key in _names() else None

    def boost(self, train: QuerySet, stopping: EarlyStopping, seed: int) -> Float32Trees:
        import xgboost

        validation, exponential = stopping.validation, self.gain == "exp2"
        # XGBoost divides the weights by their mean
        unit = 1.0 / float(train.query_weights[train.lengths > 0].mean())
        G = conventions.gains(train.labels, self.gain)
        options = {
            "objective": "rank:ndcg", "ndcg_exp_gain": exponential, "tree_method": "hist",
            "disable_default_eval_metric": True, "verbosity": 0, "seed": seed,
            "nthread": threads_for(train.features), "eta": self.learning_rate,
            "max_depth": self.depth, "min_child_weight": self.min_weight * unit, "reg_lambda": unit,
            "subsample": self.docs, "colsample_bytree": self.columns,
            "lambdarank_pair_method": "topk", "lambdarank_num_pair_per_sample": self.truncation,
        } | self.more  # fmt: skip

        class Stop(xgboost.callback.TrainingCallback):
            def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
                if validation is None:
                    stopping.record(None)
                return stopping.over

        data = _matrix(xgboost, train, train.labels if exponential else G)
        used = xgboost.Booster(options, [data]).save_config() if self.more else ""
        # XGBoost only prints what it does not know
        if unused := [key for key in self.more if f'"{key}"' not in used]:
            what = f"found {', '.join(unused)}, which XGBoost {xgboost.__version__} does not use"
            raise UsageError(f"{self.name}: {what} with these settings")
        booster = xgboost.train(
            options,
            data,
            self.rounds,
            evals=[(_matrix(xgboost, validation.queries), "validation")] if validation else None,
            custom_metric=lambda scores, _: ("measure", record(stopping, scores)),
            callbacks=[Stop()],
            verbose_eval=False,
        )
        booster = booster[: stopping.kept]
        model, _ = of_xgboost(bytes(booster.save_raw("json")))
        every = vars(model) | {"cover": _cover(cast(TreeEnsemble, model), booster, data)}
        if not len(missing_features(train.features)):  # then XGBoost's sides mean nothing
            del every["missing_left"]
        return Float32Trees(**every)


@cache
def _names() -> frozenset[str]:
    """Return the names in the configurations of two boosters; no list has XGBoost's parameters."""
    import xgboost

    data = xgboost.DMatrix(np.eye(2), [0, 1])
    data.set_group([2])
    kinds = ({"objective": "rank:ndcg", "booster": name} for name in ("gbtree", "dart"))
    configured = (xgboost.Booster(kind, [data]).save_config() for kind in kinds)
    return frozenset(re.findall(r'"(\w+)":', "".join(configured)))


def _cover(model: TreeEnsemble, booster: Any, data: Any) -> np.ndarray:
    """Return the number of training documents at each node; the first tree is a constant."""
    cover, roots = np.zeros(len(model.left)), iter(model.roots[1:])
    cover[0] = data.num_row()
    rounds = booster.num_boosted_rounds()  # of one tree or several
    for first in range(0, rounds, TOGETHER):
        some = booster[first : min(first + TOGETHER, rounds)].predict(data, pred_leaf=True)
        leaves = some.reshape(data.num_row(), -1).T.astype(np.int64)
        for own, root in zip(leaves, roots):
            counts = np.bincount(own)
            cover[root : root + len(counts)] = counts
    for node in np.flatnonzero(model.left != model.right)[::-1]:  # parents come before children
        cover[node] = cover[model.left[node]] + cover[model.right[node]]
    return cover


def _matrix(xgboost: Any, queries: QuerySet, labels: np.ndarray | None = None) -> Any:
    data = xgboost.DMatrix(queries.features, labels, nthread=threads_for(queries.features))
    data.set_group(queries.lengths[queries.lengths > 0])
    if queries.weights is not None:
        data.set_weight(queries.weights[queries.lengths > 0])
    return data
