"""User-defined measures: functions of the labels and the scores of one query.

    def success_at_1(y_true, y_score):
        return y_true[np.argmax(y_score)] > 0

The arrays are in the order of the file. If the function returns NaN, the measure is not defined
for the query, and its means leave the query out.
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from letorbench.datasets.arrays import read_only
from letorbench.errors import FAILURES, DataError, UsageError
from letorbench.measures.measure import Measure
from letorbench.measures.rankings import Rankings
from letorbench.source import users_digest

#: the names that a measure, whose values are a column, or a loss may have
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")


@dataclass(frozen=True)
class PerQueryFunction:
    """A function (y_true, y_score) -> number of one query, as the function of a `Measure`."""

    function: Callable[[np.ndarray, np.ndarray], float]
    name: str

    def __call__(self, rankings: Rankings, k: int | None) -> np.ndarray:
        """Return (n_queries,) float64, NaN without documents; DataError if the function fails."""
        labels, scores, offsets = rankings.in_file_order
        labels, scores = read_only(labels), read_only(scores)
        bounds = pairwise(offsets.tolist())
        return np.array([self._value(labels[a:b], scores[a:b]) for a, b in bounds], np.float64)

    def _value(self, labels: np.ndarray, scores: np.ndarray) -> float:
        if not len(labels):
            return math.nan
        try:
            value = np.asarray(self.function(labels, scores))
        except FAILURES as error:
            cause = " ".join(f"{type(error).__name__}: {error}".split())
            raise DataError(f"measure {self.name}: {cause}") from error
        if value.shape != () or value.dtype.kind not in "biuf" or np.isinf(value):
            found = value.item() if value.shape == () else f"an array of shape {value.shape}"
            raise DataError(f"measure {self.name}: found {found}, expected a finite number or NaN")
        return float(value)


def measure_of(function: Any, name: str = "") -> Measure:
    """Return a function of one query's labels and scores as a measure, named in lower case."""
    name, text, source = described(function, name.lower(), "measure", "(y_true, y_score)")
    name = name.lower()
    each = PerQueryFunction(function, name)
    return Measure(name, name, each, "none", text, bounded=False, source=source)


def described(function: Any, name: str, what: str, form: str) -> tuple[str, str, str]:
    """Return the name, first line of text and digest of a user's function of two arguments."""
    name = name or str(getattr(function, "__name__", ""))
    if not NAME.fullmatch(name) or not hasattr(function, "__qualname__"):
        raise UsageError(f"found {function!r} as a {what}, expected a function that has a name")
    text = (inspect.getdoc(function) or "the user's own").partition("\n")[0]
    about = name, text, users_digest(function) or "own"
    try:
        takes = inspect.signature(function)
    except ValueError:  # compiled code without a signature
        return about
    try:
        takes.bind(None, None)
    except TypeError:
        found = f"{what} {name}: found a function of {takes}"
        raise UsageError(f"{found}, expected one of {form}") from None
    return about
