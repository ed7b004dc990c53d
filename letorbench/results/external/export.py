"""Stored scores as TREC runs, and the test parts' labels as qrels."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from letorbench.datasets.load import load
from letorbench.datasets.queryset import Benchmark
from letorbench.errors import DataError
from letorbench.results import store
from letorbench.results.external.trec import write_qrels, write_run
from letorbench.results.scores import read_scores


def export(
    dataset: str, algos: Sequence[str], data_dir: Path, out: Path, folder: Path
) -> list[Path]:
    """Write folder/fold<k>/<algo>.run (tag: the algorithm) and qrels.txt; the paths written.

    Every fold that an algorithm has scores of; DataError where they are of other data.
    """
    benchmarks: dict[object, Benchmark] = {}
    paths: dict[Path, None] = {}
    for algo in algos:
        for source in sorted(store.algo_folder(out, dataset, algo).glob("fold*")):
            facts = store.stored(source).get("identity")
            if not isinstance(facts, dict):
                continue
            null = facts.get("null", "error")
            if null not in benchmarks:
                benchmarks[null] = load(dataset, data_dir, facts["convention"], null)
            benchmark = benchmarks[null]
            if benchmark.provenance["digest"] != facts["data"]:
                raise DataError(f"{source}: found scores of other data than {data_dir} now holds")
            test = next(fold.test for fold in benchmark.folds if fold.number == facts["fold"])
            scores = read_scores(source / "scores.txt", test.n_docs)
            target = folder / source.name
            write_run(target / f"{algo}.run", test, scores, algo)
            if target / "qrels.txt" not in paths:
                write_qrels(target / "qrels.txt", test)
            paths |= {target / "qrels.txt": None, target / f"{algo}.run": None}
    return list(paths)
