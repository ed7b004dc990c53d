"""Runs without groups of features: how much does an algorithm lose without each?"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from letorbench.analysis.comparison import Pair, Procedure, compare
from letorbench.analysis.figures import Panel, differences_panel
from letorbench.api.results import Results
from letorbench.api.running import run
from letorbench.checksum import digest
from letorbench.datasets.queryset import Benchmark, Fold, QuerySet
from letorbench.errors import DataError, UsageError

#: the row of the runs with all features
WHOLE = "all features"


def without(benchmark: Benchmark, group: str, columns: Sequence[int]) -> Benchmark:
    """Return a benchmark without some columns of its features, under a name of its own."""
    n = benchmark.folds[0].train.n_features
    kept = np.setdiff1d(np.arange(n), columns)
    if not len(kept):
        raise UsageError(f"group {group!r} has all {n} features, expected some that are left")

    def part(queries: QuerySet) -> QuerySet:
        names = queries.feature_names
        return replace(
            queries,
            features=np.ascontiguousarray(queries.features[:, kept]),
            feature_names=None if names is None else tuple(names[k] for k in kept),
        )

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
) -> tuple[Results, list[tuple[tuple[Pair, ...], Panel]]]:
    """Run algorithms with all features and without each group of columns.

    Return all results, and for each algorithm the runs without a group against the run with all,
    and the figure's panel of these differences. `options` are those of `run`.
    """
    left = {f"without {group}": without(benchmark, group, each) for group, each in groups.items()}
    if len({each.name for each in left.values()}) < len(left):
        raise UsageError(f"found the groups {', '.join(groups)}, expected names that differ")
    results = run([benchmark, *left.values()], algos, measures=measure, **options)
    frames = {frame.dataset: frame for frame in results.frames}
    if benchmark.name not in frames:
        raise DataError(f"{benchmark.name}: found no finished fold with all features, expected one")
    name, found = frames[benchmark.name].names(measure)[0], []
    for row in frames[benchmark.name].rows:
        systems = [replace(row.queries, algo=WHOLE)]
        for text, each in left.items():
            rows = frames[each.name].rows if each.name in frames else ()
            systems += [replace(r.queries, algo=text) for r in rows if r.algo == row.algo]
        if len(systems) > 1:
            called = f"{benchmark.name}, {row.algo}"
            pairs = compare(called, systems, name, WHOLE, procedure)
            found.append((pairs, differences_panel(pairs, procedure)))
    return results, found
