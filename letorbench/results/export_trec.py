"""Stored scores as TREC runs, and the labels of the test parts as qrels."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from letorbench.datasets.load import load
from letorbench.datasets.queryset import Benchmark
from letorbench.errors import DataError
from letorbench.results import paths
from letorbench.results.outputs import check_output
from letorbench.results.stored_folds import by_repeat
from letorbench.results.summary import require_folds
from letorbench.results.trec import write_qrels, write_run

QRELS_FILE = "qrels.txt"


def export_trec(
    dataset: str, algos: Sequence[str], data_dir: Path, out: Path, folder: Path | None = None
) -> list[Path]:
    """Write a run for every finished fold of the algorithms, and each fold's qrels.

    Of an algorithm with repeats it is the first repeat: a run is one ranking.

    Parameters
    ----------
    dataset : str
        The name of the data set.
    algos : sequence of str
        The algorithms. Each is the tag of its runs.
    data_dir, out : Path
        The folders of the data sets and of the results.
    folder : Path, optional
        Where fold<k>/<algo>.run and fold<k>/qrels.txt go; by default to `trec` among the data
        set's results.

    Returns
    -------
    list of Path
        The files written.

    Raises
    ------
    DataError
        An algorithm has no finished fold, or its scores are of other data.
    UsageError
        The folder is one of a data set.
    """
    folder = folder or paths.dataset_folder(out, dataset) / "trec"
    check_output(folder / QRELS_FILE, data_dir=data_dir)
    benchmarks: dict[object, Benchmark] = {}
    written: dict[Path, None] = {}
    for algo in algos:
        for fold in by_repeat(require_folds(out, dataset, algo))[0]:
            null = fold.identity.get("null", "error")
            if null not in benchmarks:
                benchmarks[null] = load(dataset, data_dir, fold.convention, null)
            benchmark = benchmarks[null]
            if benchmark.provenance["digest"] != fold.identity["data"]:
                raise DataError(
                    f"{fold.folder}: found scores of other data than {data_dir} now holds"
                )
            test = next(each.test for each in benchmark.folds if each.number == fold.number)
            qrels, run = (folder / fold.folder.name / name for name in (QRELS_FILE, f"{algo}.run"))
            write_run(run, test, fold.scores(test.n_docs), algo)
            if qrels not in written:
                write_qrels(qrels, test)
            written |= {qrels: None, run: None}
    return list(written)
