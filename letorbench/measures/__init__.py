"""Measures: values that print and parse as text, computed from scores in file order.

To add a measure, write its file and add it to the table below.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from letorbench.errors import UsageError
from letorbench.measures.auc import AUC
from letorbench.measures.average_precision import MAP
from letorbench.measures.bpref import BPref
from letorbench.measures.err import ERR
from letorbench.measures.evaluation import default_measures, query_metrics
from letorbench.measures.mean_ndcg import MeanNDCG
from letorbench.measures.measure import LARGEST_CUTOFF, Measure
from letorbench.measures.mrr import MRR
from letorbench.measures.ndcg import nDCG
from letorbench.measures.pairwise_correct import PairwiseCorrect
from letorbench.measures.point_error import rmse
from letorbench.measures.precision import P
from letorbench.measures.prepared import PreparedMetric
from letorbench.measures.rankings import Rankings
from letorbench.measures.sorting import rank
from letorbench.measures.wta import WTA

__all__ = [
    "AUC", "BPref", "ERR", "MAP", "MEASURES", "MRR", "Measure", "MeanNDCG", "P", "PairwiseCorrect",
    "PreparedMetric", "Rankings", "WTA", "default_measures", "nDCG", "parse", "query_metrics",
    "rank", "rmse",
]  # fmt: skip

#: every measure by its name in text
MEASURES: Mapping[str, Measure] = MappingProxyType(
    {
        measure.name: measure
        for measure in (AUC, MAP, BPref, ERR, MeanNDCG, MRR, nDCG, PairwiseCorrect, P, WTA)
    }
)


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
    if name not in MEASURES:
        raise UsageError(f"unknown measure {text!r}; expected one of {', '.join(choices())}")
    measure = MEASURES[name]
    if not at:
        measure.require_cutoff()
        return measure
    if not (cutoff.isascii() and cutoff.isdigit() and len(cutoff) <= len(str(LARGEST_CUTOFF))):
        raise UsageError(
            f"measure {text!r} has no valid cut-off; expected a form like {measure.form}"
        )
    return measure @ int(cutoff)


def choices() -> list[str]:
    """Return the measures' names as a user writes them, `@k` where there is a cut-off."""
    forms = {"required": "{0}@k", "optional": "{0}, {0}@k", "none": "{0}"}
    return [forms[measure.cutoff_rule].format(measure.name) for measure in MEASURES.values()]
