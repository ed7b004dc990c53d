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
    name, settings = facts.get("ranker"), facts.get("settings")
    if name not in names():
        raise DataError(
            f"{path}: found ranker {name!r}, expected a known one; "
            "a plug-in's model needs its --plugin"
        )
    fitted = ranker(name)()
    fitted.require()
    try:
        fitted.set_params(**settings or {})
        fitted.__post_init__()
        fitted.transformation_ = stored(facts.get("transformation"), model.n_features)
    except DataError as error:
        raise DataError(f"{path}: {error}") from None
    except (TypeError, ValueError, ArithmeticError) as error:
        raise DataError(f"{path}: found settings that {name} does not take: {error}") from None
    fitted.learned = FitResult(model)
    fitted.n_features_in_ = model.n_features
    fitted.feature_names_in_ = None
    return fitted
