"""The ranker's interface: hyper-parameters in, a model learned on a training set out."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar, Self
from warnings import warn

import numpy as np
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
from letorbench.models.base import save
from letorbench.parameters import check
from letorbench.rankers.estimator import Estimator, query_set, without_qid
from letorbench.solvers.fit_result import FitResult, score_warnings
from letorbench.solvers.stopping import NEVER, Deadline, Validation


class Ranker(Estimator, ABC):
    """A published algorithm.

    A subclass is a dataclass whose fields are its hyper-parameters; `letorbench.parameters` says
    which values they may have. `learn` is all that it must write. It is a scikit-learn estimator as
    well: `sklearn.base.clone`, `cross_val_score` and `GridSearchCV` work. Queries reach `fit` and
    `score` as the metadata `qid` (with ``sklearn.set_config(enable_metadata_routing=True)``) or as
    a column `qid` of a DataFrame.

    Every ranker takes `features=` too, a transformation of the features by its name
    ("query-minmax", "zscore", ...) or "auto". It is fitted by `fit`, applied by `predict`, and
    saved with the model. By default the features are taken as they are; in an experiment its
    protocol decides.

    Attributes
    ----------
    name : str
        What users call it. A class of this folder is registered by it.
    title : str
        One line for `letorbench algos`.
    paper : str
        The reference.
    formula : str
        The objective, in plain text.
    families : tuple of str
        What it is by its loss (pointwise, pairwise, listwise, or reference, for what learns
        nothing) and by its model and solver (linear, boosting, trees, nets).
    figure : str
        The figure of docs/speed that shows its times.
    grid : mapping
        From a hyper-parameter to the values that validation chooses from.
    as_published : mapping
        The hyper-parameters that `--protocol published` fixes, since the paper's experiment
        chooses nothing there.
    spelled : mapping
        From a hyper-parameter to what users may call it, where that is no name in Python.
    published : bool
        Whether it is an algorithm of its own, which `--algo all` includes.
    order_matters : str
        Why the model depends on the order of a query's training documents; "" if it does not.
    feature_order_matters : str
        Why the model depends on the order of the features, apart from random draws; "" if it
        does not.
    weighted : bool
        Whether the `learn` of a plug-in weighs queries by `train.weights`; letorbench's own do.
    one_thread : bool
        Whether `learn` uses one thread, whatever it may use: the settings of a grid are then
        learned at the same time.
    learns : bool
        Whether it learns from features; the reference points `random` and `ideal` do not.
    uses_unjudged : bool
        Whether `learn` takes documents of label -1, which nobody judged; else it never sees them.
    needs : str or None
        An optional package that it cannot do without.
    extra : str
        What `pip install` brings that package.
    deadline : Deadline
        When `learn` must end; it looks at this once a round or iteration.
    takes_missing : bool
        Whether it takes missing values (NaN); it may depend on the hyper-parameters.
    auto_features : str
        What `auto` does to features whose scales do not compare: "raw" for a ranker that only
        compares a feature's values with each other, as most stumps and trees do.
    learned : FitResult
        The model and history of its training, after fitting.
    transformation_ : Transformation
        What is done to the features before the model sees them, after fitting.
    n_features_in_ : int
        The number of features of the training set, after fitting.

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

    A transformation that looks at whole queries needs the queries in `predict`, too:

    >>> qid = ["a", "a", "b", "b"]
    >>> scaled = lb.Regression(features="query-minmax").fit(X, y, qid=qid)
    >>> scaled.predict(X, qid=qid).round(1).tolist()
    [0.0, 1.0, 0.0, 1.0]
    """

    name: ClassVar[str]
    title: ClassVar[str] = "an algorithm of the user's"
    paper: ClassVar[str] = "none"
    formula: ClassVar[str] = "none"
    families: ClassVar[tuple[str, ...]] = ()
    figure: ClassVar[str] = "linear"
    grid: ClassVar[Mapping[str, Sequence[object]]] = {}
    as_published: ClassVar[Mapping[str, object]] = {}
    spelled: ClassVar[Mapping[str, str]] = {}
    published: ClassVar[bool] = True
    order_matters: ClassVar[str] = ""
    feature_order_matters: ClassVar[str] = ""
    one_thread: ClassVar[bool] = False
    learns: ClassVar[bool] = True
    uses_unjudged: ClassVar[bool] = False
    needs: ClassVar[str | None] = None
    extra: ClassVar[str] = ""
    deadline = NEVER
    auto_features: ClassVar[str] = "query-minmax"

    def __post_init__(self) -> None:
        """Check the values; UsageError names the first wrong one."""
        check(self, self.name)

    @property
    def draws(self) -> bool:
        """Whether the model depends on random draws: then a run repeats it with several seeds.

        It may depend on the hyper-parameters. A ranker that does not draw gives the same bytes
        for any seed.
        """
        return False

    @property
    def parts(self) -> tuple[Any, ...]:
        """What hyper-parameters choose by name, such as a loss: its code counts as the ranker's."""
        return ()

    @property
    def own_code(self) -> str:
        """The digest of code of the user's own that the hyper-parameters name, "" for none."""
        return ""

    @classmethod
    def available(cls) -> bool:
        """Return whether the package that the ranker needs is installed."""
        return cls.needs is None or find_spec(cls.needs) is not None

    @classmethod
    def require(cls) -> None:
        """Raise UsageError, which says how to install it, where the package is missing."""
        if not cls.available():
            how = f"`python -m pip install '{cls.extra or cls.needs}'`"
            raise UsageError(f"{cls.name}: needs the package {cls.needs}; {how} installs it")
        try:
            import_module(cls.needs or "letorbench")
        except (ImportError, OSError) as error:  # a library of the system may be missing
            raise UsageError(f"{cls.name}: the package {cls.needs} cannot load: {error}") from error

    @abstractmethod
    def learn(
        self, train: QuerySet, validation: Validation | None, rng: np.random.Generator
    ) -> FitResult:
        """Train on checked query sets.

        Parameters
        ----------
        train : QuerySet
        validation : Validation or None
            What rounds or epochs are chosen on, where there is any.
        rng : numpy.random.Generator
            The only source of randomness.

        Returns
        -------
        FitResult
        """

    def fit_sets(
        self,
        train: QuerySet,
        validation: Validation | QuerySet | None = None,
        rng: np.random.Generator | None = None,
        time_limit: float | None = None,
    ) -> Self:
        """Learn from query sets.

        Parameters
        ----------
        train : QuerySet
        validation : Validation or QuerySet, optional
            What rounds or epochs are chosen on, by NDCG@10 where no measure is given.
        rng : numpy.random.Generator, optional
            The only source of randomness; by default one of seed 0.
        time_limit : float, optional
            The training ends after so many seconds, with what it has by then. `learned.cut_off`
            says whether it did.

        Returns
        -------
        self

        Raises
        ------
        DataError
            There are no documents, features hold infinity, or NaN that the ranker does not take,
            or validation has other features.
        UsageError
            A hyper-parameter's value is not valid.
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
        own = self.learn.__module__.startswith("letorbench.")
        if train.weights is not None and not getattr(self, "weighted", own):
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
        if not self.uses_unjudged:  # they had their part in scaling the query's features
            train = train.judged
        self.deadline = Deadline.after(time_limit)
        try:
            with one_blas_thread():
                learned = self.learn(train, validation, rng or np.random.default_rng(0))
        finally:
            del self.deadline
        if not isinstance(learned, FitResult):
            result = "nothing" if learned is None else f"a {type(learned).__name__}"
            raise TypeError(f"learn returned {result}, expected a FitResult")
        self.learned, self.transformation_ = learned, fitted
        self.n_features_in_, self.feature_names_in_ = train.n_features, train.feature_names
        return self

    def check_values(self, features: np.ndarray) -> None:
        """Raise DataError for infinity, and for NaN where the ranker takes no missing values."""
        finite = np.isfinite(features.sum(dtype=np.float64))
        if not finite and np.isinf(features).any():
            raise DataError(f"{self.name}: found infinity in the features, expected numbers")
        if not finite and not self.takes_missing:
            raise DataError(
                f"{self.name}: found missing values (NULL, NaN), first in feature "
                f"{missing_features(features)[0] + 1}, expected numbers (--null min or --null 0 "
                "makes some of NULL) or a ranker of trees, such as lambdamart, mart or lightgbm"
            )

    def taking_raw_features(self, transformation: Transformation) -> Self:
        """Return the ranker itself; it was fitted to features that were so transformed before."""
        self.features = transformation.name
        self.transformation_ = transformation
        return self

    def fit(
        self,
        X: ArrayLike | QuerySet,
        y: ArrayLike | None = None,
        qid: ArrayLike | None = None,
        group: ArrayLike | None = None,
        eval_set: QuerySet | Validation | tuple | None = None,
        rng: np.random.Generator | int | None = 0,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn from judged documents.

        Parameters
        ----------
        X : array-like of shape (n_docs, n_features), DataFrame or QuerySet
            Features of any real dtype and order, NaN for a missing value. A DataFrame may have a
            column `qid`. A QuerySet holds labels and queries as well.
        y : array-like of shape (n_docs,)
            Relevance labels, integers from 0.
        qid : array-like of shape (n_docs,), optional
            The query of each row; rows of a query may be scattered.
        group : array-like of shape (n_queries,), optional
            The number of rows of each query, instead of `qid`.
        eval_set : tuple, QuerySet or Validation, optional
            What rounds or epochs are chosen on: ``(X, y, qid)``, or ``(X, y)`` where X has a
            column `qid`. They are chosen by NDCG@10, or by the measure of a Validation.
        rng : numpy.random.Generator or int, optional
            The source of randomness or its seed.
        sample_weight : array-like of shape (n_docs,) or (n_queries,), optional
            What each query's loss is multiplied by, see `QuerySet.from_arrays`.

        Returns
        -------
        self

        Raises
        ------
        DataError
            A ValueError: an array's shape, length or values are wrong.
        UsageError
            A ValueError: an argument is missing, or a hyper-parameter is not valid.

        Warns
        -----
        UserWarning
            The model ranks nothing, the training did not converge, ...
        """
        train = query_set(X, y, qid, group, sample_weight)
        if isinstance(eval_set, (tuple, list)):
            if len(eval_set) not in (2, 3):
                raise UsageError(
                    f"eval_set: found {len(eval_set)} values, expected (X, y, qid) or a QuerySet"
                )
            eval_set = query_set(*eval_set)
        self.fit_sets(train, eval_set, np.random.default_rng(rng))
        found, degenerate = list(self.learned.warnings), ("no numbers", "nothing learned")
        if self.learns and not any(each.kind in degenerate for each in found):
            odd = score_warnings(self.predict(train), train, "training")
            found += [each for each in odd if each.kind in degenerate]
        for each in found:
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
            With the features that `fit` saw. A DataFrame may have a column `qid`.
        qid : array-like of shape (n_docs,), optional
            The query of each row; rows of a query may be scattered. It is needed where the
            transformation of the features looks at whole queries, and ignored elsewhere.
        group : array-like of shape (n_queries,), optional
            The number of rows of each query, instead of `qid`.

        Returns
        -------
        ndarray of shape (n_docs,), float64
            One score a row, in the order of the rows. A larger score ranks higher.

        Raises
        ------
        DataError
            The features are not those that `fit` saw, or hold infinity, or NaN that the ranker
            does not take.
        UsageError
            The queries are needed and not given.
        """
        self._require_fitted()
        if isinstance(X, QuerySet):
            return self._scores(X.features, X.offsets)
        X, qid = without_qid(X, qid, group)
        features = as_features(X, self.n_features_in_)
        columns = column_names(X, None, self.n_features_in_)
        expected = self.feature_names_in_
        if columns and expected and columns != expected:
            given, wanted = next(pair for pair in zip(columns, expected) if pair[0] != pair[1])
            raise DataError(f"X: found the feature {given!r}, expected {wanted!r} in its place")
        if not self.transformation_.by_query:
            return self._scores(features)
        if qid is None and group is None:
            raise UsageError(
                f"features={self.transformation_.name!r} looks at whole queries: found no qid, "
                "expected one a row, as in predict(X, qid=qid)"
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
        """Return the mean NDCG@10 over the queries, by the convention `standard`.

        The parameters are those of `fit`; sample_weight, of shape (n_docs,) or (n_queries,), has
        what each query counts in the mean, one value in all rows of a query.
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
        """Write the fitted ranker: its name, its parameters, its model, its transformation.

        `letorbench.load_model` reads the file.
        """
        self._require_fitted()
        facts = {
            "ranker": self.name,
            "settings": self.get_params(),
            "features": self.n_features_in_,
            "transformation": self.transformation_.as_json(),
        }
        save(self.learned.model, Path(path), facts)

    def _scores(self, features: np.ndarray, offsets: np.ndarray | None = None) -> np.ndarray:
        """Score raw features."""
        self.check_values(features)
        return self.learned.model.predict(self.transformation_.transform(features, offsets))

    def _require_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            raise not_fitted(type(self).__name__)
