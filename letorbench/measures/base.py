"""What measures there are, and the value that names one: `ndcg@10`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from letorbench.errors import UsageError
from letorbench.measures.rankings import Rankings

Function = Callable[[Rankings, "int | None"], np.ndarray]
Cutoff = Literal["required", "optional", "none"]


@dataclass(frozen=True)
class Definition:
    """A measure's entry in the registry.

    description: one line for the reader of a list of measures.
    function:    (rankings, k or None) -> (n_queries,) float64.
    cutoff:      whether a cut-off `@k` must, may or may not be given.
    lowest, highest: the range of its values.
    """

    name: str
    description: str
    function: Function
    cutoff: Cutoff
    lowest: float = 0.0
    highest: float = 1.0


MEASURES: dict[str, Definition] = {}


def register(name: str, description: str, cutoff: Cutoff) -> Callable[[Function], Function]:
    """Make the function known as the measure `name`, with values from 0 to 1."""

    def decorate(function: Function) -> Function:
        MEASURES[name] = Definition(name, description, function, cutoff)
        return function

    return decorate


@dataclass(frozen=True)
class Measure:
    """A measure with its cut-off, a value: str(parse("ndcg@10")) == "ndcg@10"."""

    name: str
    cutoff: int | None = None

    def __str__(self) -> str:
        return self.name if self.cutoff is None else f"{self.name}@{self.cutoff}"

    def __call__(self, rankings: Rankings) -> np.ndarray:
        """(n_queries,) float64: the measure of every query."""
        return MEASURES[self.name].function(rankings, self.cutoff)


def parse(text: str) -> Measure:
    """The measure that the text names, in any case; UsageError says what there is."""
    name, at, cutoff = text.strip().lower().partition("@")
    if name not in MEASURES:
        raise UsageError(f"unknown measure {text!r}; expected one of {', '.join(choices())}")
    need = MEASURES[name].cutoff
    if not at and need != "required":
        return Measure(name)
    if at and need != "none" and cutoff.isascii() and cutoff.isdigit() and int(cutoff) > 0:
        return Measure(name, int(cutoff))
    form = {"required": f"{name}@10", "optional": f"{name} or {name}@10", "none": name}[need]
    raise UsageError(f"measure {text!r} has no valid cut-off; expected a form like {form}")


def choices() -> list[str]:
    """The measures' names as a user writes them, `@k` where there is a cut-off."""
    forms = {"required": "{0}@k", "optional": "{0}, {0}@k", "none": "{0}"}
    return [forms[d.cutoff].format(d.name) for d in MEASURES.values()]
