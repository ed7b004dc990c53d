"""LambdaMART by LightGBM and XGBoost: their trees, letorbench's folds, measures and rounds.

Their model files are rankers as well; `letorbench.models.library_trees` reads the trees.
"""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self, cast

import numpy as np

from letorbench import conventions
from letorbench.compiled.threads import thread_count
from letorbench.datasets.arrays import missing_features
from letorbench.errors import DataError
from letorbench.features import Raw
from letorbench.losses.base import require_comparable
from letorbench.losses.gains import GainSettings
from letorbench.models.library_trees import Read, of_lightgbm, of_xgboost
from letorbench.models.tree_ensemble import Float32Trees, Tree, TreeEnsemble, joined
from letorbench.parameters import number
from letorbench.rankers.base import FitResult, Generator, QuerySet, Ranker, Validation
from letorbench.solvers.boosting import NOTHING_LEARNED
from letorbench.solvers.stopping import EarlyStopping

#: the number of feature values that is worth a thread: with fewer, threads that wait for each other
#: in thousands of short loops take several times as long as one thread (the results are equal)
LEAST = 2_000_000
#: trees whose leaves are computed together, in four bytes for each tree and document
TOGETHER = 32


def threads_for(features: np.ndarray) -> int:
    """Return the number of threads for trees on features (n_docs, n_features)."""
    return max(1, min(thread_count(), features.size // LEAST))


@dataclass
class TreeLibrary(GainSettings, Ranker):
    """LambdaMART (Burges: From RankNet to LambdaRank to LambdaMART, MSR-TR-2010-82) by a library.

    The library fits the trees. The validation measure chooses the number of rounds, under
    letorbench's convention instead of the library's; without validation all rounds are kept.

    Parameters
    ----------
    rounds : int, default 1000
        The largest number of trees. Validation chooses how many are kept.
    patience : int, default 100
        Training ends this many rounds after the best one on validation; 0 means never.
    learning_rate : float, default 0.05
        Each tree's weight.
    docs, columns : float, default 1.0
        The fraction of the documents, and of the features, that each tree sees.
    truncation : int, default 30
        Only pairs with a document among this many first ranks count.
    """

    auto_features = "raw"  # trees only compare a feature's values
    takes_missing = True
    figure = "boosting"
    formula = "trees on lambda = sigma(-(s_i - s_j)) |Delta NDCG_ij|, r_i > r_j"
    extra = "letorbench[trees]"
    read: ClassVar[Callable[[bytes], Read]]
    order_matters = "the library ranks documents of equal scores, at first all, in file order"

    rounds: int = number(1000, least=1)
    patience: int = number(100, least=0)
    learning_rate: float = number(0.05, above=0)
    docs: float = number(1.0, above=0, most=1)
    columns: float = number(1.0, above=0, most=1)
    truncation: int = number(30, least=1)

    @property
    def draws(self) -> bool:
        return self.docs < 1.0 or self.columns < 1.0

    def learn(self, train: QuerySet, validation: Validation | None, rng: Generator) -> FitResult:
        stopping = EarlyStopping(self.patience, self.deadline, validation)
        seed = int(rng.integers(1 << 31)) if self.draws else 0
        model = self.boost(train, stopping, seed)
        splits = (model.left > np.arange(len(model.left))).any()
        return FitResult(
            model, tuple(stopping.curve), stopping.kept, cut_off=stopping.cut_off(self.rounds),
            warnings=() if splits else (NOTHING_LEARNED,),
        )  # fmt: skip

    @classmethod
    def of_file(cls, path: Path) -> Self:
        """Return the ranker of a model file that the library wrote; DataError for another file."""
        fitted = cls()  # feature k of LETOR text, from 1, is the library's column k - 1
        try:
            model, names = cls.read(path.read_bytes())
        except DataError as error:
            raise DataError(f"{path}: {error}") from None
        except Exception as error:  # other files raise a dozen types of errors
            reason = f"{type(error).__name__}: {error}".partition("\n")[0][:200]
            raise DataError(f"{path}: found no whole model of {cls.name}: {reason}") from error
        fitted.learned, fitted.transformation_ = FitResult(model), Raw()
        fitted.n_features_in_, fitted.feature_names_in_ = model.n_features, names
        fitted.takes_missing = isinstance(model, TreeEnsemble)
        return fitted

    @abstractmethod
    def boost(self, train: QuerySet, stopping: EarlyStopping, seed: int) -> TreeEnsemble:
        """Let the library train; record each round; return the trees of the rounds kept."""


def record(stopping: EarlyStopping, scores: np.ndarray) -> float:
    """Record a round by our measure of its scores on the validation set; return the measure."""
    assert stopping.validation is not None
    stopping.record(stopping.validation(scores))
    return stopping.curve[-1]


@dataclass
class LightGBM(TreeLibrary):
    """LambdaMART by LightGBM, with the objective `lambdarank`: leaf-wise trees.

    Parameters
    ----------
    rounds, patience, learning_rate, docs, columns, truncation
        See `TreeLibrary`.
    leaves : int, default 15
        The largest number of leaves of a tree.
    min_docs : int, default 50
        The smallest number of documents in a leaf.
    """

    name = "lightgbm"
    families = ("listwise", "boosting", "trees")
    title = "LightGBM's LambdaMART (optional: pip install 'letorbench[trees]')"
    paper = "Ke et al.: LightGBM: A Highly Efficient Gradient Boosting Decision Tree, NIPS 2017"
    grid = {"leaves": (4, 7, 15, 31), "learning_rate": (0.03, 0.1)}
    needs = "lightgbm"
    read = staticmethod(of_lightgbm)  # type: ignore[assignment]  # mypy takes it for a method

    leaves: int = number(15, least=2)
    min_docs: int = number(50, least=0)

    def boost(self, train: QuerySet, stopping: EarlyStopping, seed: int) -> TreeEnsemble:
        import lightgbm

        require_comparable(train)
        validation = stopping.validation
        levels, codes = np.unique(train.labels, return_inverse=True)
        data = _dataset(lightgbm, train, codes)
        options = {  # the same trees for any number of threads
            "objective": "lambdarank", "metric": "None", "verbosity": -1, "seed": seed,
            "deterministic": True, "force_col_wise": True, "feature_pre_filter": False,
            "num_threads": threads_for(train.features), "learning_rate": self.learning_rate,
            "num_leaves": self.leaves, "min_data_in_leaf": self.min_docs,
            "bagging_fraction": self.docs, "bagging_freq": int(self.docs < 1.0),
            "feature_fraction": self.columns, "lambdarank_truncation_level": self.truncation,
            # without this the library knows the gains of the labels up to 30 only
            "label_gain": conventions.gains(levels, self.gain).tolist(),
        }  # fmt: skip

        def stop(state: Any) -> None:
            if validation is None:
                stopping.record(None)
            if stopping.over:
                last = state.iteration  # the trees are cut below at the round that is kept
                raise lightgbm.callback.EarlyStopException(last, state.evaluation_result_list)

        booster = lightgbm.train(
            options,
            data,
            self.rounds,
            valid_sets=[_dataset(lightgbm, validation.queries, None, data)] if validation else None,
            feval=lambda scores, _: ("measure", record(stopping, scores), True),
            callbacks=[stop],
        )
        kept = booster.dump_model(num_iteration=stopping.kept)["tree_info"]
        trees = [_lightgbm_tree(each["tree_structure"]) for each in kept]
        return joined(trees, [1.0] * len(trees), train.n_features)


def _lightgbm_tree(root: dict[str, Any]) -> Tree:
    """Return one of LightGBM's trees, whose nodes contain their children."""
    nodes, columns = [root], []
    for own, node in enumerate(nodes):  # the list grows meanwhile
        left = right = own
        if "split_feature" in node:
            left, right = len(nodes), len(nodes) + 1
            nodes += [node["left_child"], node["right_child"]]
        columns.append((
            node.get("split_feature", 0), node.get("threshold", 0.0), left, right,
            node.get("leaf_value", node.get("internal_value")), node.get("split_gain", 0.0),
            node.get("leaf_count", node.get("internal_count", 0)),
            # the type is None if training had no missing value; a missing one then counts as 0
            node["default_left"] if node.get("missing_type") == "NaN"
            else node.get("threshold", 0.0) >= 0.0,
        ))  # fmt: skip
    return Tree(*map(np.array, zip(*columns)))


def _dataset(
    lightgbm: Any, queries: QuerySet, labels: np.ndarray | None, reference: Any = None
) -> Any:
    group = queries.lengths[queries.lengths > 0]
    return lightgbm.Dataset(
        queries.features, np.zeros(queries.n_docs) if labels is None else labels, group=group,
        weight=None if queries.weights is None else queries.document_weights, reference=reference,
        params={"verbosity": -1, "feature_pre_filter": False},
    )  # fmt: skip


@dataclass
class XGBoost(TreeLibrary):
    """LambdaMART by XGBoost, with the objective `rank:ndcg`: second-order gradients.

    Scores are float32, as in the library.

    Parameters
    ----------
    rounds, patience, learning_rate, docs, columns, truncation
        See `TreeLibrary`.
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

    depth: int = number(4, least=0)
    min_weight: float = number(1.0, least=0)

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
            "max_depth": self.depth, "min_child_weight": self.min_weight * unit, "lambda": unit,
            "subsample": self.docs, "colsample_bytree": self.columns,
            "lambdarank_pair_method": "topk", "lambdarank_num_pair_per_sample": self.truncation,
        }  # fmt: skip

        class Stop(xgboost.callback.TrainingCallback):
            def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
                if validation is None:
                    stopping.record(None)
                return stopping.over

        data = _matrix(xgboost, train, train.labels if exponential else G)
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


def _cover(model: TreeEnsemble, booster: Any, data: Any) -> np.ndarray:
    """Return the number of training documents at each node; the first tree is a constant."""
    cover, n_trees = np.zeros(len(model.left)), len(model.roots) - 1
    cover[0] = data.num_row()
    for first in range(0, n_trees, TOGETHER):
        some = booster[first : min(first + TOGETHER, n_trees)].predict(data, pred_leaf=True)
        leaves = some.reshape(data.num_row(), -1).T.astype(np.int64)
        for root, own in zip(model.roots[first + 1 :], leaves):
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
