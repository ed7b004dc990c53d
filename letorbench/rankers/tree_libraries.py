"""The rankers of gradient-boosting libraries: their trees, letorbench's folds, measures and rounds.

They also take every parameter of their library, by its names; the library checks the values. The
libraries' model files are rankers as well; `letorbench.models.library_trees` reads the trees.
"""

import copy
import re
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Self, cast

import numpy as np

from letorbench import aliases, conventions
from letorbench.choices import require_choice
from letorbench.compiled.threads import thread_count
from letorbench.datasets.arrays import missing_features
from letorbench.errors import DataError, UsageError
from letorbench.features import Raw
from letorbench.losses.base import require_comparable
from letorbench.losses.gains import GainSettings
from letorbench.models.library_trees import Read, add_up, of_lightgbm, of_xgboost
from letorbench.models.tree_ensemble import Float32Trees, TreeEnsemble
from letorbench.parameters import number
from letorbench.rankers.base import FitResult, Generator, QuerySet, Ranker, Validation
from letorbench.rankers.estimator import hyper_parameters
from letorbench.rankers.tuning import Between
from letorbench.solvers.boosting import NOTHING_LEARNED
from letorbench.solvers.stopping import EarlyStopping

#: the number of feature values that is worth a thread: with fewer, threads that wait for each other
#: in thousands of short loops take several times as long as one thread (the results are equal)
LEAST = 2_000_000
#: trees whose leaves are computed together, in four bytes for each tree and document
TOGETHER = 32
#: the libraries' parameters of which some value draws random numbers
_DRAWING = re.compile("bagging|boost|drop|extra_tree|fraction|objective|pair_method|random|sampl")


def threads_for(features: np.ndarray) -> int:
    """Return the number of threads for trees on features (n_docs, n_features)."""
    return max(1, min(thread_count(), features.size // LEAST))


@dataclass
class TreeLibrary(Ranker):
    """Trees that a library boosts.

    The validation measure chooses the number of rounds, under letorbench's convention instead of
    the library's; without validation all rounds are kept. Every other parameter of the library is
    one here, by the library's name: ``lightgbm[lambda_l2=1]``, ``lb.LightGBM(lambda_l2=1)``.

    Parameters
    ----------
    rounds : int, default 1000
        The largest number of trees. Validation chooses how many are kept.
    learning_rate : float, default 0.05
        Each tree's weight.
    categories : str or None
        The features whose values are categories, by name or number: ``(brand,colour)``.
    """

    auto_features = "raw"  # trees only compare a feature's values
    takes_missing = True
    figure = "boosting"
    formula = "trees on lambda = sigma(-(s_i - s_j)) |Delta NDCG_ij|, r_i > r_j"
    extra = "letorbench[trees]"
    order_matters = "the library ranks documents of equal scores, at first all, in file order"
    read: ClassVar[Callable[[bytes], Read]]
    patience = 0
    more = dict[str, Any]()  # the library's parameters that are set; replaced, never changed

    rounds: int = number(1000, least=1)
    learning_rate: float = number(0.05, above=0)
    categories: str | None = None

    def by_category(self, queries: QuerySet) -> list[int]:
        """Return the columns, from 0, of `categories`; UsageError for another name."""
        known = queries.feature_names or [*map(str, range(1, queries.n_features + 1))]
        names = filter(None, re.split("[(),]", self.categories or ""))
        return [known.index(require_choice(each.strip(), known, "feature")) for each in names]

    @property
    def draws(self) -> bool:
        return any(map(_DRAWING.search, self.more))

    @staticmethod
    @abstractmethod
    def library_names() -> Mapping[str, str]:
        """Return the library's parameters: each name, and the name that the library prefers."""

    @classmethod
    def parameter(cls, key: str) -> str | None:
        """Return the parameter that a library's name means; None if the library has none so."""
        declared = hyper_parameters(cls)
        if (known := aliases.parameter(key, declared)) is None:
            cls.require()
            key = cls.library_names().get(key, "")
            known = aliases.parameter(key, declared) or key or None
        return known

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the hyper-parameters, `features` and the library's parameters that are set."""
        return super().get_params(deep) | self.more

    def set_params(self, **params: object) -> Self:
        """Set hyper-parameters and parameters of the library; UsageError for an unknown name."""
        given, declared = type(self).named(params), super().get_params()
        self.more = self.more | {key: value for key, value in given.items() if key not in declared}
        return super().set_params(**{key: given[key] for key in given if key in declared})

    def learn(self, train: QuerySet, validation: Validation | None, rng: Generator) -> FitResult:
        stopping = EarlyStopping(self.patience, self.deadline, validation)
        seed = int(rng.integers(1 << 31)) if self.draws else 0
        try:
            model = self.boost(train, stopping, seed)
            if "dart" in self.more.values() and stopping.kept < stopping.count:
                alone = copy.copy(self)  # later rounds have changed the weights of its trees
                alone.rounds = stopping.kept
                model = alone.boost(train, EarlyStopping(), seed)
        except Exception as error:
            if type(error).__module__.strip("_").partition(".")[0] != self.needs:
                raise
            # without the place in the library's source
            place = r"^(\[[\d:]+\] |\S+:\d+: )+| at \S+, line \d+ \.$"
            message = re.sub(place, "", str(error).partition("\n")[0])
            raise UsageError(f"{self.needs} says: {message}") from error
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


@dataclass
class LambdaMARTLibrary(GainSettings, TreeLibrary):
    """LambdaMART (Burges: From RankNet to LambdaRank to LambdaMART, MSR-TR-2010-82) by a library.

    Parameters
    ----------
    rounds, learning_rate, categories
        See `TreeLibrary`.
    patience : int, default 100
        Training ends this many rounds after the best one on validation; 0 means never.
    docs, columns : float, default 1.0
        The fraction of the documents, and of the features, that each tree sees.
    truncation : int, default 30
        Only pairs with a document among this many first ranks count.
    """

    patience: int = number(100, least=0)
    docs: float = number(1.0, above=0, most=1)
    columns: float = number(1.0, above=0, most=1)
    truncation: int = number(30, least=1)

    @property
    def draws(self) -> bool:
        return self.docs < 1.0 or self.columns < 1.0 or super().draws


def record(stopping: EarlyStopping, scores: np.ndarray) -> float:
    """Record a round by its scores on the validation set; return our measure of them."""
    assert stopping.validation is not None
    stopping.record(stopping.validation(scores))
    return stopping.curve[-1]


@dataclass
class LightGBM(LambdaMARTLibrary):
    """LambdaMART by LightGBM, with the objective `lambdarank`: leaf-wise trees.

    Parameters
    ----------
    rounds, patience, learning_rate, docs, columns, truncation, categories
        See `LambdaMARTLibrary`.
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
    ranges = {
        "learning_rate": Between(0.01, 0.3, log=True), "leaves": Between(4, 255, log=True),
        "min_docs": Between(1, 100, log=True), "lambda_l2": Between(1e-3, 10.0, log=True),
        "columns": Between(0.5, 1.0),
    }  # fmt: skip
    needs = "lightgbm"
    read = staticmethod(of_lightgbm)  # type: ignore[assignment]  # mypy takes it for a method

    leaves: int = number(15, least=2)
    min_docs: int = number(50, least=0)

    @staticmethod
    @cache
    def library_names() -> Mapping[str, str]:
        from lightgbm.basic import _ConfigAliases

        every = _ConfigAliases._get_all_param_aliases()  # no public function has them
        return {name: main for main, names in every.items() for name in (main, *names)}

    def boost(self, train: QuerySet, stopping: EarlyStopping, seed: int) -> TreeEnsemble:
        import lightgbm

        require_comparable(train)
        validation = stopping.validation
        levels, codes = np.unique(train.labels, return_inverse=True)
        columns = self.by_category(train) or "auto"
        data = _dataset(lightgbm, train, codes, categorical_feature=columns)
        # a list in a label has parentheses, as its commas would end the value
        more = {k: v.strip("()") if isinstance(v, str) else v for k, v in self.more.items()}
        options = {  # the same trees for any number of threads
            "objective": "lambdarank", "metric": "None", "verbosity": -1, "seed": seed,
            "deterministic": True, "force_col_wise": True, "feature_pre_filter": False,
            "num_threads": threads_for(train.features), "learning_rate": self.learning_rate,
            "num_leaves": self.leaves, "min_data_in_leaf": self.min_docs,
            "bagging_fraction": self.docs, "bagging_freq": int(self.docs < 1.0),
            "feature_fraction": self.columns, "lambdarank_truncation_level": self.truncation,
            # without this the library knows the gains of the labels up to 30 only
            "label_gain": conventions.gains(levels, self.gain).tolist(),
        } | more  # fmt: skip

        def stop(state: Any) -> None:
            if validation is None:
                stopping.record(None)
            if stopping.over:
                last = state.iteration  # the trees are cut below at the round that is kept
                raise lightgbm.callback.EarlyStopException(last, state.evaluation_result_list)

        judged = validation and [_dataset(lightgbm, validation.queries, None, reference=data)]
        booster = lightgbm.train(
            options, data, self.rounds, judged, callbacks=[stop],
            feval=lambda scores, _: ("measure", record(stopping, scores), True),
        )  # fmt: skip
        text = booster.model_to_string(num_iteration=stopping.kept)
        return cast(TreeEnsemble, of_lightgbm(text.encode())[0])


def _dataset(lightgbm: Any, queries: QuerySet, labels: np.ndarray | None, **about: Any) -> Any:
    return lightgbm.Dataset(
        queries.features, np.zeros(queries.n_docs) if labels is None else labels,
        group=queries.lengths[queries.lengths > 0],
        weight=None if queries.weights is None else queries.document_weights,
        params={"verbosity": -1, "feature_pre_filter": False}, **about,
    )  # fmt: skip


@dataclass
class XGBoost(LambdaMARTLibrary):
    """LambdaMART by XGBoost, with the objective `rank:ndcg`: second-order gradients.

    Scores are float32, as in the library.

    Parameters
    ----------
    rounds, patience, learning_rate, docs, columns, truncation, categories
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
    ranges = {
        "learning_rate": Between(0.01, 0.3, log=True), "depth": Between(2, 10),
        "min_weight": Between(0.01, 100.0, log=True), "reg_lambda": Between(1e-3, 10.0, log=True),
        "columns": Between(0.5, 1.0),
    }  # fmt: skip
    needs = "xgboost"
    read = staticmethod(of_xgboost)  # type: ignore[assignment]

    depth: int = number(4, least=0)
    min_weight: float = number(1.0, least=0)

    @staticmethod
    @cache
    def library_names() -> Mapping[str, str]:
        import xgboost

        data = xgboost.DMatrix(np.eye(2), [0, 1])
        data.set_group([2])
        kinds = ({"objective": "rank:ndcg", "booster": name} for name in ("gbtree", "dart"))
        # the names in the configurations of two boosters: no list has them
        used = "".join(xgboost.Booster(kind, [data]).save_config() for kind in kinds)
        return {name: name for name in re.findall(r'"(\w+)":', used)} | {
            "lambdarank_num_pair_per_sample": "truncation", "lambda": "reg_lambda",
            "alpha": "reg_alpha", "gamma": "min_split_loss",
        }  # fmt: skip

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

        columns = self.by_category(train)
        data = _matrix(xgboost, train, columns, train.labels if exponential else G)
        used = xgboost.Booster(options, [data]).save_config() if self.more else ""
        # XGBoost only prints what it does not know
        if unused := [key for key in self.more if f'"{key}"' not in used]:
            what = f"found {', '.join(unused)}, which XGBoost {xgboost.__version__} does not use"
            raise UsageError(f"{self.name}: {what} with these settings")
        judged = validation and [(_matrix(xgboost, validation.queries, columns), "")]
        booster = xgboost.train(
            options, data, self.rounds, evals=judged, callbacks=[Stop()], verbose_eval=False,
            custom_metric=lambda scores, _: ("measure", record(stopping, scores)),
        )[: stopping.kept]  # fmt: skip
        model, _ = of_xgboost(bytes(booster.save_raw("json")))
        every = vars(model) | {"cover": _cover(cast(TreeEnsemble, model), booster, data)}
        if not len(missing_features(train.features)):  # then XGBoost's sides mean nothing
            del every["missing_left"]
        return Float32Trees(**every)


def _cover(model: TreeEnsemble, booster: Any, data: Any) -> np.ndarray:
    """Return the number of training documents at each node; the first tree is a constant."""
    cover, roots = np.zeros(len(model.left)), iter(model.roots[1:])
    cover[0] = data.num_row()
    rounds = booster.num_boosted_rounds()  # of one tree or several
    for first in range(0, rounds, TOGETHER):
        some = booster[first : min(first + TOGETHER, rounds)].predict(data, pred_leaf=True)
        leaves = some.reshape(data.num_row(), -1).T.astype(np.int64)
        for leaf, root in zip(leaves, roots):
            counts = np.bincount(leaf)
            cover[root : root + len(counts)] = counts
    return add_up(cover, model.left, model.right)


def _matrix(
    xgboost: Any, queries: QuerySet, by_category: list[int], labels: np.ndarray | None = None
) -> Any:
    types = np.full(queries.n_features, "q")
    types[by_category] = "c"
    data = xgboost.DMatrix(
        queries.features, labels, feature_types=types.tolist(), enable_categorical=True,
        nthread=threads_for(queries.features),
    )  # fmt: skip
    data.set_group(queries.lengths[queries.lengths > 0])
    if queries.weights is not None:
        data.set_weight(queries.weights[queries.lengths > 0])
    return data
