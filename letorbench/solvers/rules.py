"""Rules that choose one of several models by a validation set."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

#: the validation measure, (n_models, n_queries) -> the number of the chosen model, from 0
Rule = Callable[[np.ndarray], int]


def best(values: np.ndarray) -> int:
    """Return the first model with the highest mean: LETOR's rule."""
    return int(np.argmax(values.mean(axis=1)))


#: the rules by name
RULES: dict[str, Rule] = {"best": best}
