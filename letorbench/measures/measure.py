"""The value that names a measure, `nDCG @ 10`: it prints and parses as text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal, overload

import numpy as np

from letorbench.errors import UsageError
from letorbench.measures.rankings import Rankings
from letorbench.source import added_digest

Function = Callable[[Rankings, Any], np.ndarray]
CutoffRule = Literal["required", "optional", "none"]
#: a larger cut-off is considered a mistake
LARGEST_CUTOFF = 1_000_000_000


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
