"""Measures: values that print and parse as text, computed from scores in file order.

To add a measure, write its file: a `Measure` in a file of this folder is registered by being
there.
"""

from collections.abc import Iterable
from importlib import import_module
from pkgutil import iter_modules

from letorbench.choices import require_choice, split
from letorbench.measures.correlations import Rho, Tau
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
    RPrec,
    default_measures,
    nDCG,
)
from letorbench.measures.evaluation import query_metrics
from letorbench.measures.measure import LARGEST_CUTOFF, Measure
from letorbench.measures.prepared import PreparedMetric
from letorbench.measures.rankings import Rankings, rank

__all__ = [
    "AUC", "BPref", "DCG", "ERR", "Hit", "MAP", "MEASURES", "MRR", "Measure", "MeanNDCG", "P",
    "PairwiseCorrect", "PreparedMetric", "RBP", "RMSE", "RPrec", "Rankings", "Recall", "Rho", "Tau",
    "WTA", "default_measures", "nDCG", "parse", "query_metrics", "rank", "sign", "texts",
]  # fmt: skip

_MODULES = [import_module(f"{__name__}.{each.name}") for each in iter_modules(__path__)]
#: every measure by its name in text
MEASURES: dict[str, Measure] = {
    measure.name: measure
    for module in _MODULES
    for measure in vars(module).values()
    if isinstance(measure, Measure)
}


def parse(text: str) -> Measure:
    """Return the measure that a text names, in any case.

    Parameters
    ----------
    text : str
        A name, with a cut-off where the measure takes one: ``map``, ``ndcg@10``.

    Returns
    -------
    Measure
        The value that prints as the text.

    Raises
    ------
    UsageError
        No measure has that name, or the cut-off does not fit it.

    Examples
    --------
    >>> parse("NDCG@10")
    nDCG@10
    >>> str(parse("err@5"))
    'err@5'
    """
    name, at, cutoff = text.strip().lower().partition("@")
    measure = MEASURES[require_choice(name, list(MEASURES), "measure")]
    if not at:
        measure.require_cutoff()
        return measure
    if not (cutoff.isascii() and cutoff.isdigit() and len(cutoff) <= len(str(LARGEST_CUTOFF))):
        raise measure.without_cutoff(text)
    return measure @ int(cutoff)


def sign(name: str) -> int:
    """Return 1 for a measure by its name in text, -1 for one that is best where it is lowest."""
    measure = MEASURES.get(name.partition("@")[0])
    return -1 if measure is not None and measure.error else 1


def texts(asked: str | Measure | Iterable[str | Measure]) -> list[str]:
    """Return the measures of texts, comma lists and values as texts, not checked.

    A number is a further cut-off of the measure before it.

    Examples
    --------
    >>> texts("ndcg@1,3, map"), texts([nDCG @ 5, "P@5,10"])
    (['ndcg@1', 'ndcg@3', 'map'], ['ndcg@5', 'p@5', 'p@10'])
    """
    found: list[str] = []
    for word in split([str(asked)] if isinstance(asked, (str, Measure)) else map(str, asked)):
        before, at, _ = (found or [""])[-1].partition("@")
        found.append(f"{before}@{word}" if at and word.isdecimal() else word.lower())
    return found
