"""Slices of queries: where is an algorithm better, on long lists, on hard queries?

The queries are cut at the quartiles of a property; equal ones stay together, so that there may be
fewer than four slices. The difficulty of a query is the mean value of all algorithms that are
compared. It is not the value of one: an algorithm's worst queries are in part bad luck, so that any
other looks better there, and worse on its best (regression to the mean; J. M. Bland, D. G. Altman,
Comparing Methods of Measurement, The Lancet 346, 1995).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from letorbench.choices import require_choice
from letorbench.datasets.queryset import Benchmark
from letorbench.results.measuring import competes
from letorbench.results.per_query import PerQuery

if TYPE_CHECKING:
    import pandas as pd

#: the properties, and what a slice says of its smallest and its largest value
SLICES: Mapping[str, str] = {
    "length": "{} documents",
    "relevant": "{} relevant",
    "difficulty": "mean {}",
}


def sliced(
    by: str, systems: Sequence[PerQuery], measure: str, benchmark: Benchmark
) -> dict[str, pd.MultiIndex]:
    """Return the folds and queries of each slice, by its name.

    by: a name of `SLICES`, the number of documents, or of relevant ones, or the mean value by the
    measure.
    """
    import pandas as pd

    require_choice(by, list(SLICES), "property of queries")
    if by == "difficulty":  # of the algorithms that rank without the labels
        facts = [
            pd.Series(system.values[measure], system.keys).dropna()
            for system in systems
            if competes(system.algo)
        ]
    else:  # the number of documents with at least a label
        least = benchmark.convention.relevant if by == "relevant" else 0
        facts = [
            pd.Series(
                [(own >= least).sum() for own in np.split(f.test.labels, f.test.offsets[1:-1])],
                pd.MultiIndex.from_product([[f.number], f.test.qids]),
            )
            for f in benchmark.folds
        ]
    values = pd.concat(facts).groupby(level=[0, 1]).mean()
    values = values[np.any([values.index.isin(each.keys) for each in systems], axis=0)]
    cuts = np.quantile(values, [0.25, 0.5, 0.75], method="inverted_cdf")
    found = {}
    for _, own in values.groupby(np.searchsorted(cuts, values)):
        ends = [f"{end:.4f}".rstrip("0").rstrip(".") for end in (own.min(), own.max())]
        name = SLICES[by].format("-".join(dict.fromkeys(ends)))
        found[name] = own.index
    return found
