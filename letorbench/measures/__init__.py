"""Measures: values that print and parse as text, computed from scores in file order.

To add a measure, put `@measure(…)` on its function in a file of this folder.
"""

from dataclasses import replace
from typing import Any

from letorbench import registry
from letorbench.choices import require_choice, split
from letorbench.measures.definitions import (
    AUC,
    DCG,
    ERR,
    MAP,
    MRR,
    RBP,
    RMSE,
    WTA,
    BPref,
    Hit,
    MeanNDCG,
    P,
    PairwiseCorrect,
    Recall,
    Rho,
    RPrec,
    Tau,
    default_measures,
    nDCG,
)
from letorbench.measures.evaluation import query_metrics
from letorbench.measures.measure import LARGEST_CUTOFF, Measure, PerQueryFunction, measure_of
from letorbench.measures.prepared import PreparedMetric
from letorbench.measures.rankings import Rankings, rank
from letorbench.source import users_digest

__all__ = [
    "AUC", "BPref", "DCG", "ERR", "Hit", "MAP", "MEASURES", "MRR", "Measure", "MeanNDCG", "P",
    "PairwiseCorrect", "PreparedMetric", "RBP", "RMSE", "RPrec", "Rankings", "Recall", "Rho", "Tau",
    "WTA", "default_measures", "is_function", "measure_of", "nDCG", "custom_measure", "parse",
    "query_metrics", "rank", "sign", "take", "texts",
]  # fmt: skip

#: every measure by its name in text
MEASURES: dict[str, Measure] = registry.members(__name__, Measure)


def parse(text: str) -> Measure:
    """Return the measure that a text names, in any case, such as ``map``; else raise UsageError.

    Examples
    --------
    >>> parse("NDCG@10")
    nDCG@10
    >>> str(parse("err@5"))
    'err@5'
    """
    name, at, cutoff = text.strip().lower().partition("@")
    measure = custom_measure(name) or MEASURES[require_choice(name, list(MEASURES), "measure")]
    if not at:
        measure.require_cutoff()
        return measure
    if not (cutoff.isascii() and cutoff.isdigit() and len(cutoff) <= len(str(LARGEST_CUTOFF))):
        raise measure.without_cutoff(text)
    return measure @ int(cutoff)


def custom_measure(name: str) -> Measure | None:
    """Return the user's measure of that name, or None."""
    if name in MEASURES:
        return None
    custom = registry.user_defined(
        name, lambda each: isinstance(each, Measure) or is_function(each)
    )
    return measure_of(custom, name) if is_function(custom) else custom


def is_function(value: object) -> bool:
    """Return whether a value may be the function of a measure or a loss."""
    return callable(value) and not isinstance(value, (Measure, type))


def take(value: Any) -> Measure:
    """Register a measure that a Python program defines; UsageError if the package has its name."""
    measure = value if isinstance(value, Measure) else measure_of(value)
    known = MEASURES.get(measure.name)
    if known is not None and known.function is measure.function:
        return measure
    registry.require_new(measure.name, MEASURES, "measure")
    function: Any = measure.function
    origin = function.function if isinstance(function, PerQueryFunction) else function
    measure = replace(measure, source=measure.source or users_digest(origin) or "own")
    registry.define(measure.name, replace(measure, cutoff=None), origin)
    return measure


def sign(name: str) -> int:
    """Return -1 for the name of a measure whose lowest value is the best, else 1."""
    name = name.partition("@")[0]
    measure = MEASURES.get(name) or custom_measure(name)
    return -1 if measure is not None and measure.error else 1


def measure_names(measures: Any) -> list[str]:
    """Return texts, comma lists, measures and functions as texts of measures, not validated.

    A number is a further cut-off of the measure before it.

    Examples
    --------
    >>> measure_names("ndcg@1,3, map"), measure_names([nDCG @ 5, "P@5,10"])
    (['ndcg@1', 'ndcg@3', 'map'], ['ndcg@5', 'p@5', 'p@10'])
    """
    names: list[str] = []
    several = [measures] if isinstance(measures, str) or callable(measures) else measures
    for word in split(str(take(each)) if callable(each) else str(each) for each in several):
        before, at, _ = (names or [""])[-1].partition("@")
        names.append(f"{before}@{word}" if at and word.isdecimal() else word.lower())
    return names
