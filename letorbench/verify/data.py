"""What the data of a table's parts say: the number of queries, and what no ranking can exceed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

from letorbench.conventions import CONVENTIONS, Convention
from letorbench.datasets.load import load
from letorbench.datasets.queryset import QuerySet
from letorbench.errors import UsageError
from letorbench.measures import parse, query_metrics
from letorbench.verify.printed import EXPLAINED, Entry, Finding, Known, by, check_table

#: the checks that hang on the convention
RULED = ("bounds", "grid")


def check_by_data(
    entries: Sequence[Entry], data_dir: Path, convention: str
) -> tuple[list[Finding], str]:
    """Return what is wrong with a table whose data sets are there, and by which convention.

    "auto" is that of each data set. A table may have been measured otherwise: where more of its
    numbers are impossible than a table has slips, the other conventions are tried. DataError where
    the data of a data set cannot be read.
    """
    names = ["auto", *CONVENTIONS] if convention == "auto" else [convention]
    first: list[Finding] | None = None
    for name in names:
        found = check_table(entries, known_facts(entries, data_dir, name))
        first = found if first is None else first
        if sum(each.check in RULED for each in found) <= (1 - EXPLAINED) * len(entries):
            return found, name
    return first or [], names[0]


def known_facts(
    entries: Iterable[Entry], data_dir: Path, convention: str
) -> dict[tuple[str, str, int], Known]:
    """Return what the data say of each (data set, part, fold) of a table; see `check_by_data`."""
    found = {}
    for (dataset,), own in by(entries, "dataset").items():
        names = sorted({entry.place.measure for entry in own})
        benchmark = load(dataset, data_dir, convention)
        for fold in benchmark.folds:
            for part, queries in fold.parts.items():
                known = _known(queries, names, benchmark.convention)
                found[dataset, part, fold.number] = known
    return found


def _known(queries: QuerySet, names: Iterable[str], rules: Convention) -> Known:
    parsed = []
    for name in names:
        with suppress(UsageError):  # a measure that is not ours is not bounded, nor is an error
            parsed += [measure for measure in [parse(name)] if not measure.error]
    labels, offsets = queries.labels, queries.offsets
    ends = [
        np.nanmean(query_metrics(labels, sign * labels, offsets, parsed, rules), axis=0)
        for sign in (-1.0, 1.0)
    ]
    bounds = {str(m): (float(a), float(b)) for m, a, b in zip(parsed, *ends)}
    counted = queries.n_queries
    if rules.empty == "drop":
        best = np.maximum.reduceat(labels, offsets[:-1])
        counted = int((best >= rules.relevant).sum())
    return Known(counted, bounds, _ndcg1_steps(queries, rules))


def _ndcg1_steps(queries: QuerySet, rules: Convention) -> int:
    """Return the least number whose product with any query's NDCG@1 is whole; 0 for none."""
    best = np.unique(np.maximum.reduceat(queries.labels, queries.offsets[:-1]))
    gains = rules.gains(int(best.max(initial=0)) + 1)
    if rules.ties == "mean" or rules.ideal != "k" or (gains != np.rint(gains)).any():
        return 0
    return math.lcm(*(int(gains[label]) or 1 for label in best.tolist()))
