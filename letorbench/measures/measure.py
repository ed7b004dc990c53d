"""The value that names a measure, `nDCG @ 10`; it prints and parses as text.

A user's measure is made of a function of the labels and the scores of one query, in the order of
the file. Its means leave out a query where it is NaN.

    def success_at_1(y_true, y_score):
        return y_true[np.argmax(y_score)] > 0
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Literal, overload

import numpy as np

from letorbench.datasets.arrays import read_only
from letorbench.errors import FAILURES, DataError, UsageError
from letorbench.measures.rankings import Rankings
from letorbench.source import added_digest, users_digest

Function = Callable[[Rankings, Any], np.ndarray]
CutoffRule = Literal["required", "optional", "none"]
#: a larger cut-off is considered a mistake
LARGEST_CUTOFF = 1_000_000_000
#: the names that a measure, whose values are a column, or a loss may have
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")


@dataclass(frozen=True, repr=False)
class Measure:
    """A measure of rankings, with or without a cut-off.

    Two measures are equal if their names and cut-offs are.

    Parameters
    ----------
    symbol : str
        The name in Python, as papers write it: ``nDCG``.
    name : str
        The name in text, in result files and on the command line: ``ndcg``.
    function : callable
        Takes the rankings and the cut-off (or None); returns (n_queries,) float64.
    cutoff_rule : {"required", "optional", "none"}
        Whether a cut-off must, may or may not be given.
    description : str
        One line for a list of measures.
    error : bool
        Whether it is an error of the scores themselves, best where it is lowest.
    bounded : bool
        Whether its values are from 0 to 1.
    cutoff : int, optional
        The last rank that counts.
    source : str
        The digest of the code of a user-defined measure; "" for one of the package.

    Examples
    --------
    >>> from letorbench.measures import MAP, nDCG
    >>> nDCG @ 10, MAP
    (nDCG@10, MAP)
    >>> str(nDCG @ 10)
    'ndcg@10'
    """

    symbol: str = field(compare=False)
    name: str
    function: Function = field(compare=False)
    cutoff_rule: CutoffRule = field(compare=False)
    description: str = field(compare=False)
    error: bool = field(default=False, compare=False)
    bounded: bool = field(default=True, compare=False)
    cutoff: int | None = None
    source: str = field(default="", compare=False)

    def __matmul__(self, cutoff: int) -> Measure:
        """Return the measure with that cut-off."""
        valid = isinstance(cutoff, (int, np.integer)) and not isinstance(cutoff, bool)
        if self.cutoff_rule == "none" or not valid or not 1 <= cutoff <= LARGEST_CUTOFF:
            raise self.without_cutoff(f"{self.name}@{cutoff}")
        return replace(self, cutoff=int(cutoff))

    def __str__(self) -> str:
        return self.name if self.cutoff is None else f"{self.name}@{self.cutoff}"

    def __repr__(self) -> str:
        return self.symbol if self.cutoff is None else f"{self.symbol}@{self.cutoff}"

    @overload
    def __call__(self, rankings: Rankings) -> np.ndarray: ...

    @overload
    def __call__(self, rankings: int) -> Measure: ...

    def __call__(self, rankings: Rankings | int) -> np.ndarray | Measure:
        """Return the measure of every query's ranking, (n_queries,) float64.

        Of a number it returns the measure with that cut-off: ``nDCG(10)`` is ``nDCG @ 10``.
        """
        if not isinstance(rankings, Rankings):
            return self @ rankings
        self.require_cutoff()
        return self.function(rankings, self.cutoff)

    @property
    def code(self) -> str:
        """The digest of its code; "" if the identity of every stored fold covers that code."""
        return self.source or added_digest(self.function.__module__)

    @property
    def form(self) -> str:
        """How the measure is written, with an example of a cut-off."""
        forms = {"required": "{0}@10", "optional": "{0} or {0}@10", "none": "{0}"}
        return forms[self.cutoff_rule].format(self.name)

    def require_cutoff(self) -> None:
        """Raise UsageError if a required cut-off is missing."""
        if self.cutoff is None and self.cutoff_rule == "required":
            raise self.without_cutoff(self.name)

    def without_cutoff(self, text: str) -> UsageError:
        """Return the error for a text that names the measure without a valid cut-off."""
        return UsageError(
            f"measure {text!r} has no valid cut-off; expected a form like {self.form}"
        )


def measure(
    name: str, cutoff_rule: CutoffRule, description: str, error: bool = False, bounded: bool = True
) -> Callable[[Function], Measure]:
    """Make a function, which is named as papers write the measure, a `Measure`."""

    def decorate(function: Function) -> Measure:
        symbol = function.__name__
        function.__qualname__ = f"{symbol}.function"  # where pickle finds it
        return Measure(symbol, name, function, cutoff_rule, description, error, bounded)

    return decorate


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
