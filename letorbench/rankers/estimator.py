"""What makes a ranker a scikit-learn estimator; scikit-learn itself is not needed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from letorbench.conventions import STANDARD
from letorbench.datasets.arrays import as_features, column_names, group_rows, read_only
from letorbench.datasets.queryset import QuerySet
from letorbench.errors import DataError, UsageError
from letorbench.features import FeaturesName, Transformation
from letorbench.measures import nDCG, query_metrics
from letorbench.solvers.fit_result import FitResult
from letorbench.solvers.stopping import Validation

if TYPE_CHECKING:
    from typing import Self

#: the column of a DataFrame that names each row's query
QID = "qid"
#: the parameter that every ranker has besides its hyper-parameters
FEATURES = "features"
#: what scikit-learn passes on to a method as metadata, and whether it does so unasked
METADATA = {
    "fit": {"qid": True, "group": None, "eval_set": None, "rng": None},
    "predict": {"qid": True, "group": None},
    "score": {"qid": True, "group": None},
}


@dataclass
class Parameters:
    """What every ranker takes besides its hyper-parameters.

    Parameters
    ----------
    features : str, optional
        The name of a transformation of the features, or "auto".
    """

    features: FeaturesName | None = field(default=None, kw_only=True, repr=False)


class Estimator(Parameters, ABC):
    """`fit`, `predict` and `score` on arrays, and the parameters that scikit-learn asks for.

    A subclass is a dataclass of hyper-parameters with the method `fit_sets`. Every one takes
    `features=` as well, a transformation of the features by its name ("query-minmax", "zscore",
    ...) or "auto". It is fitted by `fit`, applied by `predict`, and saved with the model. By
    default the features are taken as they are; in an experiment its protocol decides.

    `sklearn.base.clone`, `cross_val_score` and `GridSearchCV` work: queries reach `fit` and
    `score` as the metadata `qid` (with ``sklearn.set_config(enable_metadata_routing=True)``) or
    as a column `qid` of a DataFrame.

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
    {'l2': 0.5, 'target': 'label', 'features': None}

    Where a transformation looks at whole queries, `predict` needs the queries too:

    >>> qid = ["a", "a", "b", "b"]
    >>> scaled = lb.Regression(features="query-minmax").fit(X, y, qid=qid)
    >>> scaled.predict(X, qid=qid).round(1).tolist()
    [0.0, 1.0, 0.0, 1.0]
    """

    learned: FitResult
    transformation_: Transformation
    n_features_in_: int
    feature_names_in_: tuple[str, ...] | None

    @abstractmethod
    def fit_sets(
        self,
        train: QuerySet,
        validation: Validation | QuerySet | None = None,
        rng: np.random.Generator | None = None,
        time_limit: float | None = None,
    ) -> Estimator:
        """Learn from query sets."""

    def fit(
        self,
        X: ArrayLike | QuerySet,
        y: ArrayLike | None = None,
        qid: ArrayLike | None = None,
        group: ArrayLike | None = None,
        eval_set: QuerySet | Validation | tuple | None = None,
        rng: np.random.Generator | int | None = 0,
    ) -> Self:
        """Learn from judged documents.

        Parameters
        ----------
        X : array-like of shape (n_docs, n_features), DataFrame or QuerySet
            Features of any real dtype and order. A DataFrame may have a column `qid`. A
            QuerySet holds labels and queries as well.
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

        Returns
        -------
        self

        Raises
        ------
        DataError
            A ValueError: an array's shape, length or values are wrong.
        UsageError
            A ValueError: an argument is missing, or a hyper-parameter is not valid.
        """
        train = _query_set(X, y, qid, group)
        if isinstance(eval_set, (tuple, list)):
            if len(eval_set) not in (2, 3):
                raise UsageError(
                    f"eval_set: found {len(eval_set)} values, expected (X, y, qid) or a QuerySet"
                )
            eval_set = _query_set(*eval_set)
        self.fit_sets(train, eval_set, np.random.default_rng(rng))
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
            The features are not those that `fit` saw, or hold NaN or infinity.
        UsageError
            The queries are needed and not given.
        """
        self._require_fitted()
        if isinstance(X, QuerySet):
            return self._scores(X.features, X.offsets)
        X, column = _without_qid(X)
        if qid is None and group is None:
            qid = column
        features = as_features(X, self.n_features_in_)
        names = column_names(X, None, self.n_features_in_)
        expected = self.feature_names_in_
        if names and expected and names != expected:
            found, wanted = next(pair for pair in zip(names, expected) if pair[0] != pair[1])
            raise DataError(f"X: found the feature {found!r}, expected {wanted!r} in its place")
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
    ) -> float:
        """Return the mean NDCG@10 over the queries, by the convention `standard`.

        The parameters are those of `fit`.
        """
        queries = _query_set(X, y, qid, group)
        if queries.n_queries == 0:
            raise DataError("found no query, expected at least 1")
        # a query's documents are its own in whatever order, so the order of rows is no matter
        scores = self.predict(queries)
        values = query_metrics(queries.labels, scores, queries.offsets, [nDCG @ 10], STANDARD)
        return float(values.mean())

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the hyper-parameters and then `features`.

        `deep` is there for scikit-learn and changes nothing.
        """
        names = [*hyper_parameters(type(self)), FEATURES]
        return {name: getattr(self, name) for name in names}

    def set_params(self, **params: object) -> Self:
        """Set hyper-parameters and return self; UsageError for a name that is none."""
        valid = self.get_params()
        for name, value in params.items():
            if name not in valid:
                raise UsageError(
                    f"{type(self).__name__}: found the parameter {name!r}, "
                    f"expected one of {', '.join(valid) or 'none'}"
                )
            setattr(self, name, value)
        return self

    def set_fit_request(self, **requests: bool | str | None) -> Self:
        """Say which metadata scikit-learn hands to `fit`: ``set_fit_request(qid=True)``."""
        return self._set_request("fit", requests)

    def set_score_request(self, **requests: bool | str | None) -> Self:
        """Say which metadata scikit-learn hands to `score`: ``set_score_request(qid=True)``."""
        return self._set_request("score", requests)

    def set_predict_request(self, **requests: bool | str | None) -> Self:
        """Say which metadata scikit-learn hands to `predict`: ``set_predict_request(qid=True)``."""
        return self._set_request("predict", requests)

    def get_metadata_routing(self) -> Any:
        """Return scikit-learn's record of the metadata that the methods ask for."""
        from sklearn.utils.metadata_routing import MetadataRequest

        stored = vars(self).get("_metadata_request")
        if stored is not None:
            return stored
        request = MetadataRequest(owner=self)
        for method, params in METADATA.items():
            for param, alias in params.items():
                getattr(request, method).add_request(param=param, alias=alias)
        return request

    def __sklearn_tags__(self) -> Any:
        """Return what scikit-learn wants to know of an estimator."""
        from sklearn.utils import InputTags, Tags, TargetTags

        return Tags(None, TargetTags(required=True), input_tags=InputTags(allow_nan=False))

    def __sklearn_is_fitted__(self) -> bool:
        """Return whether `fit` was called."""
        return "learned" in vars(self)

    def _set_request(self, method: str, requests: dict[str, bool | str | None]) -> Self:
        request = self.get_metadata_routing()
        for param, alias in requests.items():
            if param not in METADATA[method]:
                raise UsageError(
                    f"set_{method}_request: found {param!r}, "
                    f"expected one of {', '.join(METADATA[method])}"
                )
            getattr(request, method).add_request(param=param, alias=alias)
        self._metadata_request = request
        return self

    def _scores(self, features: np.ndarray, offsets: np.ndarray | None = None) -> np.ndarray:
        """Score raw features."""
        return self.learned.model.predict(self.transformation_.transform(features, offsets))

    def _require_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            raise UsageError(f"{type(self).__name__} is not fitted yet: call fit first")


def hyper_parameters(cls: type[Estimator]) -> list[str]:
    """Return the names of a ranker's hyper-parameters, in their order."""
    return [each.name for each in fields(cls) if each.init and each.name != FEATURES]


def _query_set(
    X: ArrayLike | QuerySet,
    y: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    group: ArrayLike | None = None,
) -> QuerySet:
    """Return checked documents; the queries may be a DataFrame's column."""
    if isinstance(X, QuerySet):
        if y is not None or qid is not None or group is not None:
            raise UsageError("X: found a QuerySet, expected no y, qid or group beside it")
        return X
    if y is None:
        raise UsageError("y: found None, expected labels, one a row")
    X, column = _without_qid(X)
    if qid is None and group is None:
        qid = column
    if isinstance(X, np.ndarray):
        X = read_only(X)  # the set lives no longer than the call, so it needs no copy
    return QuerySet.from_arrays(X, y, qid, group)


def _without_qid(X: Any) -> tuple[Any, Any]:
    """Split a DataFrame into its features and its column `qid`; None where it has none."""
    if hasattr(X, "columns") and QID in X.columns:
        return X.drop(columns=QID), X[QID].to_numpy()
    return X, None
