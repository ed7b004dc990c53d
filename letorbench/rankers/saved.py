"""Fitted rankers in files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from letorbench.errors import DataError
from letorbench.features import stored
from letorbench.models.base import Model
from letorbench.models.model_file import load
from letorbench.rankers import RANKERS, names, ranker
from letorbench.rankers.base import Ranker
from letorbench.rankers.estimator import FEATURES, hyper_parameters
from letorbench.solvers.fit_result import FitResult

#: what a model with a functional may be
FUNCTIONALS = ("linear", "quadratic", "separate", "separate-tanh")
#: what an algorithm of the table leaves where that is not a linear model
LEAVES = {
    **dict.fromkeys(
        (
            "mcl",
            "pairwise",
            "rpl",
            "smooth-err",
            "smooth-mrr",
            "smooth-ndcg",
            "wpl",
            "wpll",
            "wub",
        ),
        FUNCTIONALS,
    ),
    "frank": ("stumps",),
    "lambdarank": ("net",),
    "lightgbm": ("lightgbm",),
    "ndcgboost": ("stumps",),
    "rankboost": ("stumps",),
    "ranknet": ("net",),
    "recipe": (*FUNCTIONALS, "net"),
    "xgboost": ("xgboost",),
}


def kinds_left(name: str) -> tuple[str, ...]:
    """Return the kinds of model that an algorithm leaves; none where a plug-in may leave any."""
    return LEAVES.get(name, ("linear",)) if name in RANKERS else ()


def load_model(path: str | Path) -> Ranker:
    """Read a fitted ranker that `Ranker.save` or a run wrote.

    Parameters
    ----------
    path : path-like
        A ``model.npz``.

    Returns
    -------
    Ranker
        Ready to predict.

    Raises
    ------
    DataError
        The file is something else, or its ranker is not known here.
    UsageError
        The ranker needs a package that is not installed.
    """
    path = Path(path)
    model, facts = load(path)
    name = facts.get("ranker")
    if name not in names():
        raise DataError(
            f"{path}: found ranker {name!r}, expected a known one; "
            "a plug-in's model needs its --plugin"
        )
    cls = ranker(name)
    cls.require()
    _check(path, cls, model, facts)
    try:
        fitted = cls(**facts["settings"])
    except (TypeError, ValueError, ArithmeticError) as error:
        raise DataError(f"{path}: found settings that {cls.name} does not take: {error}") from None
    fitted.learned = FitResult(model)
    try:
        fitted.transformation_ = stored(facts.get("transformation"), model.n_features)
    except DataError as error:
        raise DataError(f"{path}: {error}") from None
    fitted.n_features_in_ = facts["features"]
    fitted.feature_names_in_ = None
    return fitted


def _check(path: Path, cls: type[Ranker], model: Model, facts: dict[str, Any]) -> None:
    """Raise DataError where the facts of a file do not fit its ranker or its model."""
    kinds = kinds_left(cls.name)
    if kinds and model.kind not in kinds:
        raise DataError(
            f"{path}: found a {model.kind} model of {cls.name}, expected {' or '.join(kinds)}"
        )
    settings, features = facts.get("settings"), facts.get("features")
    valid = [*hyper_parameters(cls), FEATURES]
    if not isinstance(settings, dict):
        raise DataError(f"{path}: found {settings!r} as settings of {cls.name}, expected a dict")
    for name in settings:
        if name not in valid:
            raise DataError(
                f"{path}: found the setting {name!r} of {cls.name}, "
                f"expected one of {', '.join(valid) or 'none'}"
            )
    if features != model.n_features or isinstance(features, bool):
        raise DataError(
            f"{path}: found a {model.kind} model of {model.n_features} features, "
            f"expected {features!r}, as the file says"
        )
