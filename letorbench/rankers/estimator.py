"""The methods that scikit-learn expects of an estimator; scikit-learn need not be installed."""

import inspect
from abc import ABCMeta
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Self, cast

import numpy as np
from numpy.typing import ArrayLike

from letorbench import aliases, escaping
from letorbench.choices import require_choice
from letorbench.datasets.arrays import as_frame, read_only
from letorbench.datasets.queryset import QuerySet
from letorbench.errors import UsageError

#: the column of a DataFrame that names each row's query
QID = "qid"
#: the parameter of every ranker that is no hyper-parameter
FEATURES = "features"
#: the metadata that scikit-learn can pass to each method, and whether it is requested by default
METADATA: dict[str, dict[str, bool | None]] = {
    "fit": {"qid": True, **dict.fromkeys((
        "group", "eval_set", "rng", "sample_weight", "eval_qid", "eval_group"
    ))},
    "predict": {"qid": True, "group": None},
    "score": {"qid": True, "group": None, "sample_weight": None},
}  # fmt: skip


def _set_request(method: str) -> Callable[..., Any]:
    def set_request(self: Any, **requests: bool | str | None) -> Any:
        request = self.get_metadata_routing()
        for name, alias in requests.items():
            require_choice(name, list(METADATA[method]), "metadata")
            getattr(request, method).add_request(param=name, alias=alias)
        self._metadata_request = request
        return self

    set_request.__doc__ = (
        f"Say which metadata scikit-learn hands to `{method}`: ``set_{method}_request(qid=True)``."
    )
    return set_request


class EstimatorType(ABCMeta):
    """The class of rankers' classes, whose constructors also take other tools' parameter names."""

    def __call__(cls, *args: Any, **params: Any) -> Any:
        known = {*hyper_parameters(cls), FEATURES}
        given = cls.named(params)
        made = super().__call__(*args, **{key: given.pop(key) for key in [*given] if key in known})
        if given:  # parameters of a library
            made.set_params(**given).__post_init__()
        return made

    @property
    def __signature__(cls) -> inspect.Signature:
        """The constructor's, without `self`, for `inspect.signature`."""
        _, *params = inspect.signature(cast(Any, cls).__init__).parameters.values()
        return inspect.Signature(params)

    def named(cls, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return parameters by our names; UsageError for an unknown name or one given twice."""
        named = dict[str, Any]()
        for key, value in params.items():
            name = key if key == FEATURES else cls.parameter(key)
            if name is None or name in named:
                valid = ", ".join([*hyper_parameters(cls), FEATURES])
                wrong = f"the parameter {key!r}, expected one of {valid}"
                found = wrong if name is None else f"{name} twice, expected it once"
                raise UsageError(f"{cls.__name__}: found {found}")
            named[name] = value
        return named

    def parameter(cls, key: str) -> str | None:
        """Return the hyper-parameter that a name means, here or in other tools, or None."""
        return aliases.parameter(key, hyper_parameters(cls))


@dataclass
class Estimator(metaclass=EstimatorType):
    """Parameters and metadata requests of a ranker, which is a dataclass."""

    takes_missing = False
    features: str | None = field(default=None, kw_only=True, repr=False)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the hyper-parameters, then `features`; `deep` has no effect."""
        names = [*hyper_parameters(type(self)), FEATURES]
        return {name: getattr(self, name) for name in names}

    def set_params(self, **params: object) -> Self:
        """Set hyper-parameters, also by other tools' names; UsageError for an unknown name."""
        for name, value in type(self).named(params).items():
            setattr(self, name, value)
        return self

    set_fit_request = _set_request("fit")
    set_predict_request = _set_request("predict")
    set_score_request = _set_request("score")

    def get_metadata_routing(self) -> Any:
        """Return scikit-learn's record of the metadata that the methods request."""
        from sklearn.utils.metadata_routing import MetadataRequest

        if stored := vars(self).get("_metadata_request"):
            return stored
        request = MetadataRequest(owner=self)
        for method, params in METADATA.items():
            for param, alias in params.items():
                getattr(request, method).add_request(param=param, alias=alias)
        return request

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags

        inputs = InputTags(allow_nan=self.takes_missing)
        return Tags(None, TargetTags(required=True), input_tags=inputs)

    def _repr_html_(self) -> str:
        """Show the parameters, and what they are by default, in a notebook."""
        import pandas as pd

        usual = {each.name: each.default for each in fields(self)}
        params = self.get_params()
        rows = {"value": params.values(), "default": [usual.get(key) for key in params]}
        state = "fitted" if self.__sklearn_is_fitted__() else "not fitted"
        title = f"{type(self).__name__}, {state}: {getattr(self, 'title', '')}"
        return escaping.titled_frame(title, pd.DataFrame(rows, [*params], dtype=object))

    def __sklearn_is_fitted__(self) -> bool:
        return "learned" in vars(self)


def hyper_parameters(cls: Any) -> list[str]:
    """Return the names of a ranker's hyper-parameters in order."""
    return [each.name for each in fields(cls) if each.init and each.name != FEATURES]


def query_set(
    X: ArrayLike | QuerySet,
    y: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    group: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> QuerySet:
    """Return checked documents; a DataFrame may hold the queries in its column `qid`."""
    if isinstance(X, QuerySet):
        if any(each is not None for each in (y, qid, group, sample_weight)):
            raise UsageError(
                "X: found a QuerySet, expected no y, qid, group or sample_weight beside it"
            )
        return X
    if y is None:
        raise UsageError("y: found None, expected labels, one a row")
    X, qid = without_qid(X, qid, group)
    # the set lives only as long as the call, so an array needs no copy
    X = read_only(X) if type(X) is np.ndarray else X
    return QuerySet.from_arrays(X, y, qid, group, sample_weight=sample_weight)


def without_qid(X: Any, qid: Any, group: Any) -> tuple[Any, Any]:
    """Return features and queries; a DataFrame may hold the queries in its column `qid`."""
    X = as_frame(X)
    if hasattr(X, "iloc") and QID in getattr(X, "columns", ()):
        X, column = X.drop(columns=QID), X[QID].to_numpy()
        return X, column if qid is None and group is None else qid
    return X, qid
