"""Facts about the queries of a data set: their number, and bounds of every measure.

The numbers of documents of each label bound every measure by every convention. For some data sets
these numbers come with letorbench, so that the bounds need no data.
"""

import csv
import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from pathlib import Path

import numpy as np

from letorbench.conventions import Convention
from letorbench.conventions import convention as convention_named
from letorbench.datasets.catalog import entry as entry_of
from letorbench.datasets.catalog import same
from letorbench.datasets.folds import rotated, unrolled
from letorbench.datasets.load import load
from letorbench.datasets.queryset import Fold, QuerySet
from letorbench.errors import UsageError
from letorbench.measures import parse, query_metrics


@dataclass(frozen=True, eq=False)
class Known:
    """Facts about a part of a fold, certain if it has bounds; for means of folds, bounds alone."""

    queries: int = 0
    #: from a measure to the least and the largest mean that an order of the documents has
    bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    #: NDCG@1 times this is a whole number for every query; 0 where it is not known
    ndcg1: int = 0


@cache
def judged_folds(name: str) -> tuple[Fold, ...]:
    """Return the folds of a known data set without features; none where their labels are unknown.

    `catalog/judged.csv` has a row for the queries of a test part that have equally many documents
    of each label: `queries` is their number.
    """
    lengths: dict[int, list[list[int]]] = {}
    text = files("letorbench.datasets.catalog").joinpath("judged.csv").read_text(encoding="utf-8")
    for dataset, fold, queries, *numbers in list(csv.reader(text.splitlines()))[1:]:
        if same(dataset, name):
            lengths.setdefault(int(fold), []).extend([list(map(int, numbers))] * int(queries))
    if not lengths:
        return ()
    # part j is the test part of the fold after its own
    n = len(lengths)
    parts = unrolled([lengths[(j + 1) % n + 1] for j in range(n)])
    counts = np.array([own for part in parts for own in part])
    whole = QuerySet(
        np.zeros((counts.sum(), 0), np.float32),
        np.repeat(np.tile(np.arange(counts.shape[1]), len(counts)), counts.ravel()),
        np.append(0, np.cumsum(counts.sum(axis=1))),
        np.arange(len(counts)),
    )
    bounds = np.append(0, np.cumsum([len(part) for part in parts]))
    return rotated(whole, bounds, n)


def known_folds(
    name: str, data_dir: Path | None, rules: str
) -> tuple[tuple[Fold, ...], Convention]:
    """Return the folds of a data set, without features if there are no data, and the convention."""
    if data_dir is not None:
        benchmark = load(name, data_dir, rules)
        return benchmark.folds, benchmark.convention
    entry = entry_of(name)
    used = convention_named(entry.convention if rules == "auto" else rules)
    return judged_folds(name), replace(used, max_label=entry.max_label)


def known_of_means(folds: Sequence[Known]) -> Known:
    """Return the bounds of a mean over the folds, or over all their queries."""
    weights = [1] * len(folds), [max(1, fold.queries) for fold in folds]
    bounds = {}
    for measure in folds[0].bounds:
        ends = [np.average([f.bounds[measure] for f in folds], axis=0, weights=w) for w in weights]
        bounds[measure] = float(np.min(ends)), float(np.max(ends))
    return Known(bounds=bounds)


def known_facts(queries: QuerySet, measures: Iterable[str], rules: Convention) -> Known:
    """Return the facts about the queries of a part, with the bounds of these measures."""
    parsed = []
    for name in sorted(measures):
        with suppress(UsageError):  # a measure that is not ours has no bounds
            parsed += [m for m in [parse(name)] if m.bounded and rules.apart(name) is not None]
    labels, offsets, docids = queries.labels, queries.offsets, queries.docids
    tables = (
        query_metrics(labels, sign * labels, offsets, parsed, rules, docids) for sign in (-1.0, 1.0)
    )
    worst, ideal = (np.nanmean(table, axis=0).tolist() for table in tables)
    bounds = dict(zip(map(str, parsed), zip(worst, ideal)))
    best = np.maximum.reduceat(labels, offsets[:-1])
    left_out = int((best < rules.relevant).sum()) if rules.empty == "drop" else 0
    # the least number whose product with any query's NDCG@1 is whole
    gains = rules.gains(int(best.max(initial=0)) + 1)[np.unique(best)]
    whole = rules.ties != "mean" and rules.ideal == "k" and (gains == np.rint(gains)).all()
    ndcg1 = math.lcm(*(int(gain) or 1 for gain in gains.tolist())) if whole else 0
    return Known(queries.n_queries - left_out, bounds, ndcg1)
