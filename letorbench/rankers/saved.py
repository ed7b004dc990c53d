"""Fitted rankers in files."""

from __future__ import annotations

from pathlib import Path

from letorbench.errors import DataError
from letorbench.features import stored
from letorbench.models.base import load
from letorbench.rankers import names, ranker
from letorbench.rankers.base import Ranker
from letorbench.solvers.fit_result import FitResult


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
    name, settings, n_features = (facts.get(key) for key in ("ranker", "settings", "features"))
    if name not in names():
        raise DataError(
            f"{path}: found ranker {name!r}, expected a known one; "
            "a plug-in's model needs its --plugin"
        )
    cls = ranker(name)
    cls.require()
    try:
        if not isinstance(settings, dict):
            raise DataError(f"found {settings!r}, expected a dict")
        fitted = cls().set_params(**settings)
        fitted.__post_init__()
    except (TypeError, ValueError, ArithmeticError) as error:
        raise DataError(f"{path}: found settings that {name} does not take: {error}") from None
    if n_features != model.n_features or isinstance(n_features, bool):
        raise DataError(
            f"{path}: found a {model.kind} model of {model.n_features} features, "
            f"expected {n_features!r}, as the file says"
        )
    fitted.learned = FitResult(model)
    try:
        fitted.transformation_ = stored(facts.get("transformation"), model.n_features)
    except DataError as error:
        raise DataError(f"{path}: {error}") from None
    fitted.n_features_in_ = model.n_features
    fitted.feature_names_in_ = None
    return fitted
