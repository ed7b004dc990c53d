"""Measures as other tools write them, with the cut-off behind an underscore or a point."""

from __future__ import annotations

import re

from letorbench import aliases, measures
from letorbench.measures import MEASURES, Measure


def parse(text: str) -> Measure:
    """Return the measure that a text names, in any case, also in another tool's spelling.

    Parameters
    ----------
    text : str
        A name, with a cut-off if the measure takes one: ``map``, ``ndcg@10``, ``ndcg_cut_10``,
        ``P_5``, ``precision@5``.

    Returns
    -------
    Measure
        The value that prints as letorbench's name of it.

    Raises
    ------
    UsageError
        No measure has that name, or the cut-off does not fit it.

    Examples
    --------
    >>> parse("NDCG@10"), parse("ndcg_cut_10"), parse("success@1")
    (nDCG@10, nDCG@10, Hit@1)
    """
    cut = re.fullmatch(r"\s*([a-z_]+)[_.](\d+)\s*", text.lower())
    if cut and measures.custom_measure(cut[0].strip()) is None:  # one of the user's comes first
        if name := aliases.named(cut[1], MEASURES, "measure"):
            text = f"{name}@{cut[2]}"
    return measures.parse(text)
