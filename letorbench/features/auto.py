"""What `auto` does with features."""

from __future__ import annotations

import numpy as np

#: the name that leaves the choice to the data set and the ranker
AUTO = "auto"


def resolved(asked: str, wanted: str, features: np.ndarray, normalised: bool | None = None) -> str:
    """Return the name of the transformation that is applied; labels are not looked at.

    Parameters
    ----------
    asked : str
        A transformation's name or "auto".
    wanted : str
        What the ranker asks for where features have scales that do not compare.
    features : ndarray of shape (n_docs, n_features)
        Those of a training part.
    normalised : bool, optional
        Whether the data set is published normalised, where that is known. Elsewhere the
        features say it: none is beyond -1 and 1.

    Examples
    --------
    >>> resolved("auto", "query-minmax", np.array([[0.5, 300.0]]))
    'query-minmax'
    >>> resolved("auto", "query-minmax", np.array([[0.5, 1.0]]))
    'raw'
    """
    if asked != AUTO:
        return asked
    if wanted == "raw":
        return wanted
    known = within_one(features) if normalised is None else normalised
    return "raw" if known else wanted


def within_one(features: np.ndarray) -> bool:
    """Return whether no value is beyond -1 and 1."""
    return not features.size or bool(features.min() >= -1.0 and features.max() <= 1.0)
