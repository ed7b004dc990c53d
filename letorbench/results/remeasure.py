"""Measures that a run did not store, from its stored scores and the data: nothing is retrained."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from letorbench.datasets.load import load
from letorbench.errors import DataError
from letorbench.measures import parse, query_metrics
from letorbench.results import store
from letorbench.results.per_query import PerQuery, read_per_query
from letorbench.results.scores import read_scores
from letorbench.results.summary import Row, Summary


def with_measures(
    out: Path, data_dir: Path, dataset: str, algo: str, measures: Sequence[str]
) -> PerQuery:
    """An algorithm's per-query values with at least these measures.

    What per_query.csv does not hold is measured from scores.txt under the run's convention;
    DataError where the data are not those of the run.
    """
    found = read_per_query(out, dataset, algo)
    wanted = [name for name in dict.fromkeys(measures) if name not in found.values]
    if not wanted:
        return found
    folder = store.algo_folder(Path(out), dataset, algo)
    numbers = np.unique(found.folds).tolist()
    facts = store.stored(folder / f"fold{numbers[0]}").get("identity", {})
    if "convention" not in facts:
        raise DataError(f"{folder}: found no whole fit.json, so {wanted[0]} cannot be measured")
    benchmark = load(dataset, data_dir, facts["convention"], facts.get("null", "error"))
    if benchmark.provenance["digest"] != facts.get("data"):
        raise DataError(
            f"{folder}: its data are not those now under {data_dir}, so {wanted[0]} cannot be "
            "measured; run it again"
        )
    parts = []
    for fold in benchmark.folds:
        if fold.number in numbers:
            scores = read_scores(folder / f"fold{fold.number}" / "scores.txt", fold.test.n_docs)
            asked = [parse(name) for name in wanted]
            test = fold.test
            parts.append(
                query_metrics(test.labels, scores, test.offsets, asked, benchmark.convention)
            )
    table = np.concatenate(parts)
    return replace(found, values={**found.values, **dict(zip(wanted, table.T))})


def extended(out: Path, data_dir: Path, summary: Summary, measures: Sequence[str]) -> Summary:
    """The summary with these measures in every row, measured where they were not stored."""

    def row(each: Row) -> Row:
        missing = [name for name in measures if name not in each.values]
        if not missing:
            return each
        found = with_measures(out, data_dir, summary.dataset, each.algo, missing)
        return replace(each, values=each.values | {name: found.mean(name) for name in missing})

    return replace(summary, rows=tuple(row(each) for each in summary.rows))
