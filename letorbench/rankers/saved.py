"""Fitted rankers in files."""

from __future__ import annotations

from pathlib import Path

from letorbench.errors import DataError
from letorbench.models.base import load
from letorbench.rankers import names, ranker
from letorbench.rankers.base import Ranker
from letorbench.solvers.learned import Learned


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
    fitted = cls(**facts["settings"])
    fitted.learned = Learned(model)
    fitted.n_features_in_ = facts["features"]
    fitted.feature_names_in_ = None
    return fitted
