"""The ranker's interface: hyper-parameters in, a model learned from a training set out.

The file of a ranker imports from here what every ranker needs.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar, Self
from warnings import warn

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from letorbench.compiled.threads import one_blas_thread
from letorbench.datasets.arrays import (
    as_features,
    as_weights,
    column_names,
    group_rows,
    missing_features,
)
from letorbench.datasets.queryset import QuerySet
from letorbench.errors import DataError, UsageError, not_fitted
from letorbench.features import Raw, Transformation, resolved, transformation
from letorbench.models.base import Model, save
from letorbench.models.linear import Linear
from letorbench.models.tree_ensemble import TreeEnsemble
from letorbench.parameters import check
from letorbench.rankers.estimator import Estimator, query_set, without_qid
from letorbench.solvers.fit_result import FitResult, score_warnings
from letorbench.solvers.fit_warnings import FitWarning
from letorbench.solvers.stopping import NEVER, Deadline, Validation, Watched

__all__ = ["FitResult", "Generator", "QuerySet", "Ranker", "Validation"]


class Ranker(Estimator, ABC):
    """A learning-to-rank algorithm.

    A subclass is a dataclass. Its fields are its hyper-parameters, whose allowed values
    `letorbench.parameters` declares. It must define only `learn`. A ranker is a scikit-learn
    estimator: `sklearn.base.clone`, `cross_val_score` and `GridSearchCV` work. Queries reach `fit`
    and `score` as the metadata `qid` (with ``sklearn.set_config(enable_metadata_routing=True)``)
    or as a column `qid` of a DataFrame.

    Every ranker also takes `features=`: the name of a transformation of the features
    ("query-minmax", "zscore", ...) or "auto". `fit` fits it, `predict` applies it, and `save`
    keeps it with the model. By default features stay unchanged; in an experiment the protocol
    decides.

    Attributes
    ----------
    learned : FitResult
        The model and its training history; set by fitting, as are the next two.
    transformation_ : Transformation
        The transformation of the features.
    n_features_in_ : int
        The number of features of the training set.
    feature_names_in_ : tuple of str or None
        Their names, if the training set has some.
    evals_result_ : dict
        The measure of each set of `eval_set` after each round or epoch, as in LightGBM:
        ``{"valid_0": {"ndcg@10": [...]}}``.

    Examples
    --------
    >>> import letorbench as lb
    >>> X, y = [[0.1], [0.9], [0.4], [0.8]], [0, 1, 0, 1]
    >>> ranker = lb.Regression().fit(X, y, qid=["a", "a", "b", "b"])
    >>> int(ranker.predict(X).argmax())
    1
    >>> ranker.score(X, y, qid=["a", "a", "b", "b"])
    1.0
    >>> ranker.set_params(l2=0.5).get_params()
    {'gain': 'exp2', 'l2': 0.5, 'target': 'label', 'features': None}

    A transformation that looks at whole queries also needs the queries in `predict`:

    >>> qid = ["a", "a", "b", "b"]
    >>> scaled = lb.Regression(features="query-minmax").fit(X, y, qid=qid)
    >>> scaled.predict(X, qid=qid).round(1).tolist()
    [0.0, 1.0, 0.0, 1.0]
    """

    #: the name that users type; a class in this folder is registered under it
    name: ClassVar[str]
    #: one line for `letorbench algos`
    title: ClassVar[str] = "an algorithm of the user's"
    #: the reference
    paper: ClassVar[str] = "none"
    #: the objective, in plain text
    formula: ClassVar[str] = "none"
    #: the kind of its loss (pointwise, pairwise, listwise, or reference for reference points), then
    #: of its model and solver (linear, boosting, trees, nets)
    families: ClassVar[tuple[str, ...]] = ()
    #: the figure of docs/speed that shows its times
    figure: ClassVar[str] = "linear"
    #: from a hyper-parameter to the values that validation chooses from
    grid: ClassVar[Mapping[str, Sequence[object]]] = {}
    #: from a hyper-parameter to its `letorbench.rankers.tuning.Between`, or to its alternatives,
    #: which `--protocol tuned` draws from; without any it searches the grid
    ranges: ClassVar[Mapping[str, Any]] = {}
    #: the values that `--protocol published` fixes, as the paper's experiment does not choose them
    as_published: ClassVar[Mapping[str, object]] = {}
    #: from a hyper-parameter to the name that users type, if that is no valid Python name
    spelled: ClassVar[Mapping[str, str]] = {}
    #: whether `--algo all` includes it
    published: ClassVar[bool] = True
    #: why the model depends on the order of a query's training documents; "" if it does not
    order_matters: ClassVar[str] = ""
    #: the same for the order of the features, apart from random draws
    feature_order_matters: ClassVar[str] = ""
    #: whether `learn` never uses more than one thread: a grid's settings then learn in parallel
    one_thread: ClassVar[bool] = False
    #: whether it learns from features; the reference points `random` and `ideal` do not
    learns: ClassVar[bool] = True
    #: whether a plug-in's `learn` weighs queries by `train.weights`; letorbench's rankers do
    weighted: ClassVar[bool]
    #: whether `learn` also gets unjudged documents, of label -1
    uses_unjudged: ClassVar[bool] = False
    #: an optional package without which it does not run
    needs: ClassVar[str | None] = None
    #: the requirement with which `pip install` installs that package
    extra: ClassVar[str] = ""
    #: when `learn` must end; it checks this once per round or iteration
    deadline = NEVER
    #: what `auto` means for features of different scales: "raw" for a ranker that only compares
    #: values of one feature, as most stumps and trees do
    auto_features: ClassVar[str] = "query-minmax"

    def __post_init__(self) -> None:
        check(self, self.name)

    @property
    def draws(self) -> bool:
        """Whether training draws random numbers, so that a run repeats it with several seeds."""
        return False

    @property
    def parts(self) -> tuple[Any, ...]:
        """Parts that hyper-parameters name, such as a loss; their code counts as the ranker's."""
        return ()

    @property
    def own_code(self) -> str:
        """The digest of user code that the hyper-parameters name, or ""."""
        return ""

    @classmethod
    def available(cls) -> bool:
        """Return whether the package that the ranker needs is installed."""
        return cls.needs is None or find_spec(cls.needs) is not None

    @classmethod
    def require(cls) -> None:
        """Raise UsageError with the command that installs it if the needed package is missing."""
        if not cls.available():
            how = f"`python -m pip install '{cls.extra or cls.needs}'`"
            raise UsageError(f"{cls.name}: needs the package {cls.needs}; {how} installs it")
        try:
            import_module(cls.needs or "letorbench")
        except (ImportError, OSError) as error:  # a system library may be missing
            raise UsageError(f"{cls.name}: the package {cls.needs} cannot load: {error}") from error

    @abstractmethod
    def learn(self, train: QuerySet, validation: Validation | None, rng: Generator) -> FitResult:
        """Train on checked query sets.

        `validation`, if there is one, chooses the number of rounds or epochs. `rng` is the only
        source of randomness, and `self.deadline` says when to end.
        """

    def fit_sets(
        self,
        train: QuerySet,
        validation: Validation | QuerySet | None = None,
        rng: Generator | None = None,
        time_limit: float | None = None,
    ) -> Self:
        """Learn from query sets; return self.

        A QuerySet as `validation` chooses rounds or epochs by NDCG@10; `rng` is by default one with
        seed 0. After `time_limit` seconds training ends with the model learned so far, and
        `learned.cut_off` says so. The errors are those of `fit`.
        """
        self.require()
        self.__post_init__()  # `set_params` may have changed a value since
        if isinstance(validation, QuerySet):
            validation = Validation(validation)
        if not (train if self.uses_unjudged else train.judged).n_docs:
            what = "no judged documents" if train.n_docs else "no documents"
            raise DataError(f"{self.name}: found {what}, expected at least 1 to learn from")
        for queries in (train, *([validation.queries] if validation else [])):
            self.check_values(queries.features)
        ours = self.learn.__module__.startswith("letorbench.")
        if train.weights is not None and not getattr(self, "weighted", ours):
            raise UsageError(f"{self.name}: found weights of queries, which it does not use")
        if not train.document_weights.any():
            raise DataError(f"{self.name}: found no query of a weight above 0 to learn from")
        if validation is not None and validation.queries.n_features != train.n_features:
            raise DataError(
                f"{self.name}: found {validation.queries.n_features} features in the validation "
                f"set, expected {train.n_features} as in the training set"
            )
        fitted: Transformation = Raw()
        if self.features is not None:
            name = resolved(self.features, self.auto_features, train.features)
            fitted = transformation(name).fit(train.features)
            train = fitted(train)
            if validation is not None:
                validation = replace(validation, queries=fitted(validation.queries))
        if not self.uses_unjudged:  # they only helped to scale the features of their query
            train = train.judged
        self.deadline = Deadline.after(time_limit)
        rng = rng or np.random.default_rng(0)
        unused = _state(rng)
        try:
            with one_blas_thread():
                learned = self.learn(train, validation, rng)
        finally:
            del self.deadline
        if not isinstance(learned, FitResult):
            result = "nothing" if learned is None else f"a {type(learned).__name__}"
            raise TypeError(f"learn returned {result}, expected a FitResult")
        if type(self).draws is Ranker.draws and _state(rng) != unused:
            text = (
                "learn used rng, but the class does not say so: a run trains it with one seed; "
                "expected draws = True for several seeds, or draws = False"
            )
            learned = replace(learned, warnings=(*learned.warnings, FitWarning("other", text)))
        self.learned, self.transformation_ = learned, fitted
        self.n_features_in_, self.feature_names_in_ = train.n_features, train.feature_names
        return self

    def check_values(self, features: np.ndarray) -> None:
        """Raise DataError for infinity, and for NaN if the ranker takes no missing values."""
        finite = np.isfinite(features.sum(dtype=np.float64))
        if not finite and np.isinf(features).any():
            raise DataError(f"{self.name}: found infinity in the features, expected numbers")
        if not finite and not self.takes_missing:
            raise DataError(
                f"{self.name}: found missing values (NULL, NaN), first in feature "
                f"{missing_features(features)[0] + 1}, expected numbers (--null min or --null 0 "
                "makes some of NULL) or a ranker of trees, such as lambdamart, mart or lightgbm"
            )

    def fit(
        self,
        X: ArrayLike | QuerySet,
        y: ArrayLike | None = None,
        qid: ArrayLike | None = None,
        group: ArrayLike | None = None,
        eval_set: QuerySet | Validation | Sequence | None = None,
        rng: Generator | int | None = 0,
        sample_weight: ArrayLike | None = None,
        eval_qid: Sequence | None = None,
        eval_group: Sequence | None = None,
    ) -> Self:
        """Learn from judged documents.

        Parameters
        ----------
        X : array-like of shape (n_docs, n_features), DataFrame or QuerySet
            Features of any real dtype and memory order, NaN for a missing value. A DataFrame may
            have a column `qid`. A QuerySet also holds labels and queries.
        y : array-like of shape (n_docs,)
            Relevance labels, integers from 0.
        qid : array-like of shape (n_docs,), optional
            The query of each row; rows of a query may be scattered.
        group : array-like of shape (n_queries,), optional
            The number of rows of each query, instead of `qid`.
        eval_set : tuple, QuerySet, Validation or list of them, optional
            The validation set that chooses the number of rounds or epochs: ``(X, y, qid)``, or
            ``(X, y)`` if X has a column `qid`. It chooses by NDCG@10, a Validation by its measure.
            Of several sets the first chooses, but never the training set; `evals_result_` has the
            curves of all.
        rng : numpy.random.Generator or int, optional
            The source of randomness or its seed.
        sample_weight : array-like of shape (n_docs,) or (n_queries,), optional
            The factor of each query's loss, see `QuerySet.from_arrays`.
        eval_qid, eval_group : sequence, optional
            The queries of each ``(X, y)`` of `eval_set`, as `qid` and `group` are those of X.

        Returns
        -------
        self

        Raises
        ------
        DataError
            A ValueError: an array has a wrong shape, length or value.
        UsageError
            A ValueError: an argument is missing, or a hyper-parameter is not valid.

        Warns
        -----
        UserWarning
            The model ranks nothing, the training did not converge, ...
        """
        train = query_set(X, y, qid, group, sample_weight)
        sets = _evaluation_sets(train, eval_set, eval_qid, eval_group)
        validation = [*sets.values()][0] if sets else None
        if len(sets) > 1:
            validation = Watched.of([*sets.values()])
        self.fit_sets(train, validation, np.random.default_rng(rng))
        rounds: Sequence[Sequence[float]] = [(value,) for value in self.learned.curve]
        if isinstance(validation, Watched):
            rounds = validation.means[: len(rounds)]
        curves = zip(*rounds) if rounds else [()] * len(sets)
        self.evals_result_ = {
            name: {str(each.measure): list(curve)}
            for (name, each), curve in zip(sets.items(), curves)
        }
        warnings, degenerate = list(self.learned.warnings), ("no numbers", "nothing learned")
        if self.learns and not any(each.kind in degenerate for each in warnings):
            odd = score_warnings(self.predict(train), train, "training")
            warnings += [each for each in odd if each.kind in degenerate]
        for each in warnings:
            warn(f"{self.name}: {each.text}", stacklevel=2)
        return self

    def predict(
        self,
        X: ArrayLike | QuerySet,
        qid: ArrayLike | None = None,
        group: ArrayLike | None = None,
    ) -> np.ndarray:
        """Score documents.

        Parameters
        ----------
        X : array-like of shape (n_docs, n_features), DataFrame or QuerySet
            The same features as in `fit`. A DataFrame may have a column `qid`.
        qid : array-like of shape (n_docs,), optional
            The query of each row; rows of a query may be scattered. Only used if the transformation
            of the features looks at whole queries.
        group : array-like of shape (n_queries,), optional
            The number of rows of each query, instead of `qid`.

        Returns
        -------
        ndarray of shape (n_docs,), float64
            One score for each row, in the order of the rows. A larger score ranks higher.

        Raises
        ------
        DataError
            The features differ from those of `fit`, or hold infinity, or NaN that the ranker does
            not take.
        UsageError
            The queries are needed but missing.
        """
        self._require_fitted()
        if isinstance(X, QuerySet):
            self._require_names(X.feature_names)
            return self._scores(X.features, X.offsets)
        X, qid = without_qid(X, qid, group)
        features = as_features(X, self.n_features_in_)
        self._require_names(column_names(X, None, self.n_features_in_))
        if not (self.transformation_.by_query or self.learned.model.by_query):
            return self._scores(features)
        if qid is None and group is None:
            raise UsageError(
                f"features={self.transformation_.name!r} looks at whole queries: found no qid, "
                "expected one a row, as in predict(X, qid=qid)"
                if self.transformation_.by_query
                else f"{self.name} looks at whole queries: found no qid, expected one a row"
            )
        offsets, _, rows = group_rows(len(features), qid, group)
        if rows is None:
            return self._scores(features, offsets)
        scores = np.empty(len(features))
        scores[rows] = self._scores(features[rows], offsets)
        return scores

    def score(
        self,
        X: ArrayLike | QuerySet,
        y: ArrayLike | None = None,
        qid: ArrayLike | None = None,
        group: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Return the mean NDCG@10 over the queries under the convention `standard`.

        The parameters are those of `fit`. sample_weight, of shape (n_docs,) or (n_queries,), weighs
        the queries in the mean; all rows of a query have the same weight.
        """
        queries = query_set(X, y, qid, group)
        if queries.n_queries == 0:
            raise DataError("found no query, expected at least 1")
        scores = self.predict(queries)
        if sample_weight is None:
            return float(Validation(queries)(scores).mean())
        weights = as_weights(sample_weight, queries.offsets, queries.rows)
        if not weights.any():
            raise DataError("sample_weight: found no weight above 0, expected at least one")
        return float(np.average(Validation(queries)(scores), weights=weights))

    def save(self, path: str | Path) -> None:
        """Write the fitted ranker to a file, with its transformation, for `lb.load_model`."""
        self._require_fitted()
        facts = {
            "ranker": self.name,
            "settings": self.get_params(),
            "features": self.n_features_in_,
            "names": self.feature_names_in_,
            "transformation": self.transformation_.as_json(),
        }
        save(self.learned.model, Path(path), facts)

    @property
    def best_iteration_(self) -> int:
        """The number of rounds or epochs that the model has; AttributeError if there are none."""
        self._require_fitted()
        if self.learned.best is None:
            raise AttributeError(f"{type(self).__name__} has no best_iteration_: it has no rounds")
        return self.learned.best

    @property
    def coef_(self) -> np.ndarray:
        """The weights of a linear model, (n_features,), of the transformed features."""
        return self._model(Linear, "coef_").weights

    @property
    def intercept_(self) -> float:
        """The score of a linear model where all transformed features are 0."""
        return self._model(Linear, "intercept_").bias

    @property
    def feature_importances_(self) -> np.ndarray:
        """Each feature's share of the gains of all splits of trees or stumps, (n_features,)."""
        gains = self._model(TreeEnsemble, "feature_importances_").gains
        return gains / (gains.sum() or 1.0)

    def _model(self, kind: type[Model], what: str) -> Any:
        """Return the model of a kind; AttributeError for another one."""
        self._require_fitted()
        if not isinstance(self.learned.model, kind):
            found = type(self.learned.model).__name__
            expected = f"its model is a {found}, expected a {kind.__name__}"
            raise AttributeError(f"{type(self).__name__} has no {what}: {expected}")
        return self.learned.model

    def _scores(self, features: np.ndarray, offsets: np.ndarray | None = None) -> np.ndarray:
        self.check_values(features)
        features = self.transformation_.transform(features, offsets)
        return self.learned.model.predict_queries(features, offsets)

    def _require_names(self, names: Sequence[str] | None) -> None:
        for given, wanted in zip(names or (), self.feature_names_in_ or ()):
            if given != wanted:
                raise DataError(f"X: found the feature {given!r}, expected {wanted!r} in its place")

    def _require_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            raise not_fitted(type(self).__name__)


def _state(rng: Generator) -> tuple[str, int]:
    """Return what draws and what spawned generators change."""
    bits = rng.bit_generator
    return str(bits.state), getattr(bits.seed_seq, "n_children_spawned", 0)


def _evaluation_sets(train: QuerySet, given: Any, qids: Any, groups: Any) -> dict[str, Validation]:
    """Return the one set, or each of several, that a fit is measured on; the training set last."""
    if given is None:
        return {}
    several = isinstance(given, (tuple, list)) and (
        all(isinstance(each, (tuple, QuerySet, Validation)) for each in given)
        or (len(given) == 1 and isinstance(given[0], list))
    )
    sets, validations = list(given) if several else [given], dict[str, Validation]()
    about = {k: v for k, v in (("qid", qids), ("group", groups)) if v is not None}
    for key, values in about.items():
        if several and len(values) != len(sets):
            raise UsageError(
                f"eval_{key}: found {len(values)}, expected {len(sets)}, one for each set"
            )
    for number, each in enumerate(sets):
        if isinstance(each, (tuple, list)):
            if len(each) not in (2, 3):
                raise UsageError(
                    f"eval_set: found {len(each)} values, expected (X, y, qid) or a QuerySet"
                )
            of_set = {key: v[number] if several else v for key, v in about.items()}
            each = query_set(**{**dict(zip(("X", "y", "qid"), each)), **of_set})
        one = each if isinstance(each, Validation) else Validation(each)
        known = np.array_equal(one.queries.features, train.features, equal_nan=True)
        validations["training" if known and len(sets) > 1 else f"valid_{number}"] = one
    return dict(sorted(validations.items(), key=lambda item: item[0] == "training"))
