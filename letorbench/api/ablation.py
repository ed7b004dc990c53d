"""Runs without groups of features: how much does an algorithm lose without each?"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from letorbench.analysis.comparison import Pair, Procedure, compare
from letorbench.api.results import Results
from letorbench.api.running import run
from letorbench.datasets.queryset import Benchmark, Fold, QuerySet
from letorbench.errors import DataError, UsageError
from letorbench.files import digest
from letorbench.results.per_query import PerQuery

#: the row of the runs with all features
WHOLE = "all features"


def without(benchmark: Benchmark, group: str, columns: Sequence[int]) -> Benchmark:
    """Return a benchmark without some columns of its features, under another name."""
    kept = np.delete(np.arange(n := benchmark.folds[0].train.n_features), columns)
    if not len(kept):
        raise UsageError(f"group {group!r} has all {n} features, expected some that are left")

    def part(queries: QuerySet) -> QuerySet:
        names, features = queries.feature_names, np.ascontiguousarray(queries.features[:, kept])
        left = None if names is None else tuple(names[k] for k in kept)
        return replace(queries, features=features, feature_names=left)

    folds = tuple(
        Fold(fold.number, **{name: part(each) for name, each in fold.parts.items()})
        for fold in benchmark.folds
    )
    name = f"{benchmark.name}-without-{re.sub(r'[^A-Za-z0-9_.-]+', '-', group).strip('-')}"
    facts = f"{benchmark.provenance['digest']} {kept.tolist()}"
    provenance = {**benchmark.provenance, "digest": digest(facts.encode())}
    return replace(benchmark, name=name, folds=folds, provenance=provenance)


def ablations(
    benchmark: Benchmark,
    algos: Any,
    groups: Mapping[str, Sequence[int]],
    measure: str = "ndcg@10",
    procedure: Procedure = Procedure(),
    **options: Any,
) -> tuple[Results, list[tuple[Pair, ...]]]:
    """Run algorithms with and without each group of columns; return results and comparisons."""
    left = [without(benchmark, group, columns) for group, columns in groups.items()]
    called = {benchmark.name: WHOLE}
    called |= {each.name: f"without {group}" for group, each in zip(groups, left)}
    if len(called) <= len(left):
        raise UsageError(f"found the groups {', '.join(groups)}, expected names that differ")
    results = run([benchmark, *left], algos, measures=measure, **options)
    name, systems = results.frames[0].names(measure)[0], dict[str, list[PerQuery]]()
    for frame in results.frames:
        for row in frame.rows:
            system = replace(row.queries, algo=called[frame.dataset])
            systems.setdefault(row.algo, []).append(system)
    comparisons = [
        compare(f"{benchmark.name}, {algo}", each, name, WHOLE, procedure)
        for algo, each in systems.items()
        if each[0].algo == WHOLE and len(each) > 1
    ]
    if not comparisons:
        raise DataError(f"{benchmark.name}: found no run without a group beside one with all")
    return results, comparisons
