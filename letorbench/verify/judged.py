"""How many documents of each label the queries of known data sets have.

That bounds every measure by every convention, as the data themselves do. `catalog/judged.csv` has
a row for the queries of a test part whose counts are equal: `queries` is their number.
"""

import csv
from functools import cache
from importlib.resources import files

import numpy as np

from letorbench.datasets.catalog import same
from letorbench.datasets.folds import rotated, unrolled
from letorbench.datasets.queryset import Fold, QuerySet


@cache
def judged_folds(name: str) -> tuple[Fold, ...]:
    """Return the folds of a data set of the catalog, without features; none where not known."""
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
