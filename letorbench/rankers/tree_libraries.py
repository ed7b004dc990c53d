"""LambdaMART by libraries, LightGBM and XGBoost: their trees, our folds, measures and rounds."""

import json
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from letorbench.datasets.arrays import missing_features
from letorbench.datasets.queryset import QuerySet
from letorbench.losses.base import require_comparable
from letorbench.models.tree_ensemble import Float32Trees, Tree, TreeEnsemble, joined
from letorbench.parameters import number
from letorbench.rankers.base import Ranker
from letorbench.solvers.fit_result import FitResult
from letorbench.solvers.stopping import EarlyStopping, Validation
from letorbench.threads import thread_count

#: how many feature values are worth a thread: with fewer, threads that wait for each other in
#: thousands of short loops take several times as long as one thread (the results are equal)
LEAST = 2_000_000


def threads_for(features: np.ndarray) -> int:
    """Return the number of threads that trees should use on features (n_docs, n_features)."""
    return max(1, min(thread_count(), features.size // LEAST))


@dataclass
class TreeLibrary(Ranker):
    """LambdaMART (Burges: From RankNet to LambdaRank to LambdaMART, MSR-TR-2010-82) by a library.

    The library itself fits them. The number of rounds is chosen by our measure under our
    convention, not by the library's; without validation all rounds are kept.

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
    """

    auto_features = "raw"  # trees only compare a feature's values
    takes_missing = True
    figure = "boosting"
    formula = "trees on lambda = sigma(-(s_i - s_j)) |Delta NDCG_ij|, r_i > r_j"
    extra = "letorbench[trees]"
    order_matters = "the library ranks documents of equal scores, at first all, in file order"

    rounds: int = number(1000, least=1)
    patience: int = number(100, least=0)
    learning_rate: float = number(0.05, above=0)
    docs: float = number(1.0, above=0, most=1)
    columns: float = number(1.0, above=0, most=1)
    truncation: int = number(30, least=1)

    @property
    def draws(self) -> bool:
        """The documents and the features of a tree are drawn where it does not have them all."""
        return self.docs < 1.0 or self.columns < 1.0

    def learn(
        self, train: QuerySet, validation: Validation | None, rng: np.random.Generator
    ) -> FitResult:
        stopping = EarlyStopping(self.patience, self.deadline, validation)
        seed = int(rng.integers(1 << 31)) if self.draws else 0
        model = self.boost(train, stopping, seed)
        cut_off = stopping.cut_off(self.rounds)
        return FitResult(model, tuple(stopping.curve), stopping.kept, cut_off=cut_off)

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
    title = "LightGBM's LambdaMART (optional: pip install 'letorbench[trees]')"
    paper = "Ke et al.: LightGBM: A Highly Efficient Gradient Boosting Decision Tree, NIPS 2017"
    grid = {"leaves": (4, 7, 15, 31), "learning_rate": (0.03, 0.1)}
    needs = "lightgbm"

    leaves: int = number(15, least=2)
    min_docs: int = number(50, least=0)

    def boost(self, train: QuerySet, stopping: EarlyStopping, seed: int) -> TreeEnsemble:
        import lightgbm

        require_comparable(train)
        validation = stopping.validation
        data = _dataset(lightgbm, train)
        options = {
            "objective": "lambdarank",
            "metric": "None",
            "verbosity": -1,
            # the same trees for any number of threads
            "deterministic": True,
            "force_col_wise": True,
            "feature_pre_filter": False,
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
            valid_sets=[_dataset(lightgbm, validation.queries, data)] if validation else None,
            feval=lambda scores, _: ("measure", record(stopping, scores), True),
            callbacks=[stop],
        )
        kept = booster.dump_model(num_iteration=stopping.kept)["tree_info"]
        trees = [_lightgbm_tree(each["tree_structure"]) for each in kept]
        return joined(trees, [1.0] * len(trees), train.n_features)


def _lightgbm_tree(root: dict[str, Any]) -> Tree:
    """Return one of LightGBM's trees, whose nodes hold their children."""
    nodes, columns = [root], []
    for own, node in enumerate(nodes):  # which grows
        left = right = own
        if "split_feature" in node:
            left, right = len(nodes), len(nodes) + 1
            nodes += [node["left_child"], node["right_child"]]
        columns.append((
            node.get("split_feature", 0), node.get("threshold", 0.0), left, right,
            node.get("leaf_value", node.get("internal_value")), node.get("split_gain", 0.0),
            node.get("leaf_count", node.get("internal_count", 0)),
            # the type is None where training had no missing value, and one counts as 0 then
            node["default_left"] if node.get("missing_type") == "NaN"
            else node.get("threshold", 0.0) >= 0.0,
        ))  # fmt: skip
    return Tree(*map(np.array, zip(*columns)))


def _dataset(lightgbm: Any, queries: QuerySet, reference: Any = None) -> Any:
    group = queries.lengths[queries.lengths > 0]
    return lightgbm.Dataset(
        queries.features, queries.labels, group=group, reference=reference,
        params={"verbosity": -1, "feature_pre_filter": False},
    )  # fmt: skip


@dataclass
class XGBoost(TreeLibrary):
    """LambdaMART by XGBoost, with the objective `rank:ndcg`: second-order gradients.

    Scores are float32 numbers, as the library's.

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
    title = "XGBoost's LambdaMART (optional: pip install 'letorbench[trees]')"
    paper = "Chen, Guestrin: XGBoost: A Scalable Tree Boosting System, KDD 2016"
    grid = {"depth": (2, 3, 4, 6), "learning_rate": (0.03, 0.1)}
    needs = "xgboost"

    depth: int = number(4, least=0)
    min_weight: float = number(1.0, least=0)

    def boost(self, train: QuerySet, stopping: EarlyStopping, seed: int) -> Float32Trees:
        import xgboost

        validation = stopping.validation
        options = {
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

        class Stop(xgboost.callback.TrainingCallback):
            """Ends the training where the one rule for it says so."""

            def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
                if validation is None:
                    stopping.record(None)
                return stopping.over

        booster = xgboost.train(
            options,
            _matrix(xgboost, train),
            self.rounds,
            evals=[(_matrix(xgboost, validation.queries), "validation")] if validation else None,
            custom_metric=lambda scores, _: ("measure", record(stopping, scores)),
            callbacks=[Stop()],
            verbose_eval=False,
        )
        content = json.loads(booster[: stopping.kept].save_raw("json"))["learner"]
        (base,) = np.atleast_1d(json.loads(content["learner_model_param"]["base_score"]))
        leaf: dict[str, Any] = {
            "left_children": [-1], "right_children": [-1], "split_indices": [0],
            "split_conditions": [base], "loss_changes": [0.0], "sum_hessian": [0.0],
            "default_left": [0],
        }  # fmt: skip
        kept = [leaf, *content["gradient_booster"]["model"]["trees"]]
        trees = [_xgboost_tree(each) for each in kept]
        every = dict(vars(joined(trees, [1.0] * len(trees), train.n_features)))
        if not len(missing_features(train.features)):  # then XGBoost's sides mean nothing
            del every["missing_left"]
        return Float32Trees(**every)


def _xgboost_tree(tree: dict[str, Any]) -> Tree:
    """Return one of XGBoost's trees: documents below a float32 condition go left."""
    left, right = np.array(tree["left_children"]), np.array(tree["right_children"])
    own, condition = np.arange(len(left)), np.array(tree["split_conditions"], np.float32)
    return Tree(
        np.array(tree["split_indices"]), np.nextafter(condition, np.float32(-np.inf)),
        np.where(left < 0, own, left), np.where(left < 0, own, right),
        condition,  # a leaf's is its value
        np.array(tree["loss_changes"]), np.array(tree["sum_hessian"]),
        np.array(tree["default_left"], np.bool_),
    )  # fmt: skip


def _matrix(xgboost: Any, queries: QuerySet) -> Any:
    data = xgboost.DMatrix(queries.features, queries.labels, nthread=threads_for(queries.features))
    data.set_group(queries.lengths[queries.lengths > 0])
    return data
