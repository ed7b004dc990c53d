"""Any model with `fit(X, y)` and `predict(X)` as a ranker: scikit-learn's, CatBoost's, a user's.

    lb.run(bench, ["listnet", RandomForestRegressor(n_estimators=50)])

Features and labels reach the model unchanged. If its `fit` has the parameter, the model also gets
the queries, as `qid` or `group_id` (a number for each row) or as `group` (the number of rows of
each query), and their weights as `sample_weight` (a number for each row).
"""

from __future__ import annotations

import copy
import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import field, make_dataclass
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, TypeGuard, cast
from warnings import catch_warnings

import numpy as np

from letorbench.errors import FAILURES, DataError, UsageError
from letorbench.files import write_atomically
from letorbench.models.base import Model
from letorbench.models.library_trees import library_of, text_of
from letorbench.rankers.base import FitResult, Generator, QuerySet, Ranker, Validation
from letorbench.solvers.fit_warnings import FitWarning

#: the file of a library's text, or that a model writes by its own `save`, instead of `model.npz`
OWN_FILE = "model.own"
#: the arguments about queries that a `fit` may have, computed from the training set
QUERIES: Mapping[str, Callable[[QuerySet], np.ndarray]] = {
    "qid": lambda train: np.repeat(np.arange(train.n_queries), train.lengths),
    "group_id": lambda train: np.repeat(np.arange(train.n_queries), train.lengths),
    "group": lambda train: train.lengths,
    "sample_weight": lambda train: train.document_weights,
}
#: the types of the parameters that become hyper-parameters; others are in `described` only
_Simple = int | float | bool | str | None


def is_model(value: object) -> TypeGuard[Any]:
    """Return whether a value has `fit` and `predict` and is not a ranker already."""
    if isinstance(value, (Ranker, type)):
        return False
    return all(callable(getattr(value, name, None)) for name in ("fit", "predict"))


def ranker_of(model: Any, name: str = "") -> Ranker:
    """Return a model as a ranker, by default named as its class, ``random-forest-regressor``."""
    kind = type(model)
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", kind.__name__)
    given = _simple(model)
    try:
        usual = given if name else _simple(kind())  # the defaults
    except Exception:  # any class may come here; its constructor may need arguments
        usual = given
    fields = [(k, _Simple, field(default=usual.get(k, v))) for k, v in given.items()]
    made: Any = make_dataclass("Given", fields, bases=(AnyModel,))
    made.__module__, made.__doc__ = kind.__module__, inspect.getdoc(kind)
    made.name, made.title, made.model = name or words.lower(), f"{kind.__name__}, as given", model
    return made(**given)


def _simple(model: Any) -> dict[str, Any]:
    params = model.get_params(deep=False) if hasattr(model, "get_params") else {}
    shown = {k: v for k, v in params.items() if isinstance(v, _Simple) and not hasattr(Ranker, k)}
    return {k: v for k, v in shown.items() if v == v}  # NaN marks missing values


class AnyModel(Ranker):
    """A model of another library or of the user, trained by its own `fit`."""

    published = False
    auto_features = "raw"
    order_matters = "the model may depend on the order of its rows"
    feature_order_matters = "the model may depend on the order of its columns"
    takes_missing = True  # a model that does not raises its own error
    formula = "the model's own"
    paper = "the model's own"
    model: ClassVar[Any]

    @property
    def draws(self) -> bool:
        """Whether two seeds give different scores on a few made-up documents."""
        return _draws(type(self), tuple(self._params().items()))

    @classmethod
    def described(cls) -> str:
        """Return the model's `repr` without memory addresses."""
        return re.sub(r" at 0x[0-9a-f]+", "", repr(cls.model))

    def learn(self, train: QuerySet, validation: Validation | None, rng: Generator) -> FitResult:
        model = self._copy()
        if seeds := {key: int(rng.integers(1 << 31)) for key in _unset(model)}:
            model.set_params(**seeds)
        takes = inspect.signature(model.fit).parameters
        queries = {key: make(train) for key, make in QUERIES.items() if key in takes}
        if "group_id" in queries or "qid" in queries:
            queries.pop("group", None)
        if train.weights is None:
            queries.pop("sample_weight", None)
        elif "sample_weight" not in queries:
            raise UsageError(f"{self.name}: found weights of queries, which its fit does not take")
        model.fit(train.features, train.labels, **queries)
        lost = FitWarning("other", f"model not kept: {type(model).__name__} has no save of its own")
        fitted = Fitted(model, train.n_features)
        return FitResult(fitted, warnings=() if fitted.saves else (lost,))

    def save(self, path: str | Path) -> None:
        """Write the model to `OWN_FILE` beside `path`, if it has a text or writes itself."""
        self._require_fitted()
        fitted = cast(Fitted, self.learned.model)
        if fitted.saves:
            file = Path(path).with_name(OWN_FILE)
            file.unlink(missing_ok=True)  # if it is a link, a library would follow it
            fitted.saves(str(file))

    def _copy(self) -> Any:
        model, params = copy.deepcopy(self.model), self._params()
        if params:
            model.set_params(**params)
        return model

    def _params(self) -> dict[str, Any]:
        return {key: getattr(self, key) for key in _simple(self.model)}


def _unset(model: Any) -> list[str]:
    """Return the names of unset seeds, of the model and, in a pipeline, of its steps."""
    params = model.get_params() if hasattr(model, "get_params") else {}
    return [k for k, v in params.items() if re.search("(^|__)random_state$", k) and v is None]


@cache
def _draws(cls: type[AnyModel], params: tuple[tuple[str, Any], ...]) -> bool:
    made, rng = cls(**dict(params)), np.random.default_rng(0)
    X, new = rng.integers(0, 9, (2, 240, 5)) / 8.0  # with equal values: some trees draw among them
    train = QuerySet.from_arrays(X, rng.integers(0, 5, 240), group=[20] * 12)
    try:
        if not _unset(made._copy()):
            return False
        seeds = map(np.random.default_rng, (1, 2))
        with catch_warnings(action="ignore"):
            one, two = (made.learn(train, None, seed).model.predict(new) for seed in seeds)
    except FAILURES:  # a model that refuses these documents may draw
        return True
    return not np.array_equal(one, two)


class Fitted(Model):
    """A fitted model whose predictions are checked."""

    def __init__(self, model: Any, n_features: int) -> None:
        self.model, self.n_features = model, n_features

    @property
    def saves(self) -> Callable[[str], object] | None:
        """What writes the model to a file: its library's text, or its own method; or None."""
        if library_of(self.model):
            return self._save_text
        return getattr(self.model, "save", None) or getattr(self.model, "save_model", None)

    def _save_text(self, path: str) -> None:
        with write_atomically(Path(path), binary=True) as file:
            file.write(text_of(self.model))

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self._score(X)  # in one piece, and the model checks the features

    def _score(self, features: np.ndarray) -> np.ndarray:
        scores = np.asarray(self.model.predict(features), dtype=np.float64)
        if scores.shape not in ((len(features),), (len(features), 1)):
            raise DataError(
                f"{type(self.model).__name__}.predict: found an array of shape {scores.shape}, "
                f"expected ({len(features)},), a score a row"
            )
        return scores.ravel()
