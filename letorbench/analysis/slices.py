"""Slices of queries: where is an algorithm better, on long lists, on hard queries?

The queries are cut at the quartiles of a property; equal ones stay together, so that there may be
fewer than four slices. The difficulty of a query is the mean value of all algorithms that are
compared. It is not the value of one: an algorithm's worst queries are in part bad luck, so that any
other looks better there, and worse on its best (regression to the mean; J. M. Bland, D. G. Altman,
Comparing Methods of Measurement, The Lancet 346, 1995).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from letorbench.choices import require_choice
from letorbench.datasets.queryset import Benchmark
from letorbench.results.measuring import competes
from letorbench.results.per_query import PerQuery

#: the properties, and what a slice says of its smallest and its largest value
SLICES: Mapping[str, str] = {
    "length": "{} documents",
    "relevant": "{} relevant",
    "difficulty": "mean {}",
}
#: a query: the number of its fold, its id
Query = tuple[int, str]


def sliced(
    by: str, systems: Sequence[PerQuery], measure: str, benchmark: Benchmark
) -> dict[str, list[PerQuery]]:
    """Return the compared systems on the queries of each slice, by its name.

    by: a name of `SLICES`, the number of documents, or of relevant ones, or the mean value by the
    measure.
    """
    require_choice(by, list(SLICES), "property of queries")
    keys = [list(zip(each.folds.tolist(), each.qids.tolist())) for each in systems]
    if by == "difficulty":
        values = _means(systems, keys, measure)
    else:
        counts = _counts(benchmark, benchmark.convention.relevant if by == "relevant" else 0)
        values = {key: counts[key] for own in keys for key in own}
    cuts = np.quantile(list(values.values()), [0.25, 0.5, 0.75], method="inverted_cdf")
    slices: dict[int, set[Query]] = {}
    for key, value in sorted(values.items(), key=lambda item: item[1]):
        slices.setdefault(int(np.searchsorted(cuts, value)), set()).add(key)
    found = {}
    for own in slices.values():
        ends = [f"{end({values[key] for key in own}):.4f}" for end in (min, max)]
        ends = [text.rstrip("0").rstrip(".") for text in ends]
        found[SLICES[by].format("-".join(dict.fromkeys(ends)))] = [
            system.at(np.array([key in own for key in its])) for system, its in zip(systems, keys)
        ]
    return found


def _means(
    systems: Sequence[PerQuery], keys: Sequence[Sequence[Query]], measure: str
) -> dict[Query, float]:
    """Return the mean value of each query over the algorithms that rank without its labels."""
    found: dict[Query, list[float]] = {}
    for system, own in zip(systems, keys):
        if competes(system.algo):
            for key, value in zip(own, system.values[measure].tolist()):
                found.setdefault(key, []).append(value)
    return {key: float(np.mean(values)) for key, values in found.items()}


def _counts(benchmark: Benchmark, least: int) -> dict[Query, float]:
    """Return the number of documents of each test query with at least that label."""
    found: dict[Query, float] = {}
    for fold in benchmark.folds:
        test = fold.test
        query = np.repeat(np.arange(test.n_queries), test.lengths)
        counts = np.bincount(query, test.labels >= least, test.n_queries)
        found |= {(fold.number, q): n for q, n in zip(test.qids.tolist(), counts.tolist())}
    return found
