"""Rules that choose one of several models by a validation set."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

#: the validation measure, (n_models, n_queries) -> the number of the chosen model, from 0
Rule = Callable[[np.ndarray], int]

#: how far below the highest mean a round may be, in standard errors of the difference
SHARE = 0.5


def best(values: np.ndarray) -> int:
    """Return the first model with the highest mean: LETOR's rule."""
    return int(np.argmax(values.mean(axis=1)))


def latest(values: np.ndarray, share: float = SHARE) -> int:
    """Return the last model that is as good as the best: within a share of a standard error.

    The highest of many means over few queries is high by chance, and it is often an early one:
    the first rounds of a training differ most. Breiman's rule takes the simplest of the models
    within one standard error of the best. Boosting and descent with small steps lose little by
    rounds that they do not need, and much by rounds that they miss. So this rule takes the last.
    The standard error is of the paired differences by query. `benchmarks.selection` measures
    this rule, its share and others on validation queries.

    Parameters
    ----------
    values : ndarray of shape (n_models, n_queries)
    share : float

    Returns
    -------
    int

    References
    ----------
    L. Breiman, J. Friedman, R. Olshen, C. Stone: Classification and Regression Trees, 1984,
    section 3.4.3 (the 1 SE rule).

    L. Prechelt: Early Stopping -- But When?, Neural Networks: Tricks of the Trade, 1998.

    G. C. Cawley, N. L. C. Talbot: On Over-fitting in Model Selection, JMLR 11, 2010.

    Examples
    --------
    >>> values = np.array([[0.1, 0.2, 0.3], [0.4, 0.9, 0.5], [0.5, 0.6, 0.6], [0.1, 0.6, 0.2]])
    >>> best(values), latest(values)
    (1, 2)
    """
    n_queries = values.shape[1]
    if n_queries < 2:
        return best(values)
    behind = values[best(values)] - values
    error = behind.std(axis=1, ddof=1) / np.sqrt(n_queries)
    return int(np.flatnonzero(behind.mean(axis=1) <= share * error)[-1])
