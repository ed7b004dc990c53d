"""Another system's scores as results: then every table, plot and test has it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import numpy as np

from letorbench.datasets.queryset import Benchmark, Fold
from letorbench.errors import UsageError
from letorbench.files import one_writer
from letorbench.rankers import names
from letorbench.results import paths
from letorbench.results.columns import content
from letorbench.results.fold_result import FoldResult, versions, write_fold
from letorbench.results.measure_fold import measure_fold
from letorbench.results.outputs import check_not_read
from letorbench.results.score_formats import detect, read_any
from letorbench.results.scores import finite_scores, score_warnings
from letorbench.results.stored_folds import read_folds
from letorbench.results.summary import Summary, read_summary

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")


@dataclass(frozen=True, eq=False)
class _ScoreFile:
    """A fold's scores as another system's file has them."""

    fold: Fold
    path: Path
    form: str
    scores: np.ndarray


def import_external(
    name: str,
    pattern: str,
    benchmark: Benchmark,
    out: Path,
    form: str = "auto",
    folds: Sequence[int] | None = None,
) -> tuple[Summary, list[str]]:
    """Store another system's scores of the test parts as the results of an algorithm.

    Nothing is written unless every file is right.

    Parameters
    ----------
    name : str
        What tables call the system.
    pattern : str
        The path of the score files, `{fold}` in it for the number of the fold and `{dataset}`
        for the name of the data set.
    benchmark : Benchmark
        The data that the scores are of.
    out : Path
        The results folder.
    form : str
        A name of FORMATS, or "auto".
    folds : sequence of int, optional
        The numbers of the folds, all by default.

    Returns
    -------
    summary : Summary
        The data set's new summary.
    warnings : list of str
        What the user must know of the scores.

    Raises
    ------
    UsageError
        The name is that of a ranker or cannot be a folder's, a fold does not exist, the
        pattern does not tell folds apart, or a score file is one that would be written.
    DataError
        A file is not right.
    """
    _check_name(name, benchmark.name, out)
    chosen = _chosen_folds(benchmark, folds)
    if len(chosen) > 1 and "{fold}" not in pattern:
        raise UsageError(
            f"{name}={pattern}: expected {{fold}} in it, where {benchmark.name}'s folds "
            f"{chosen[0].number}-{chosen[-1].number} have their numbers"
        )
    files = [_read(fold, pattern, benchmark.name, form) for fold in chosen]
    notes = []
    for number in (file.fold.number for file in files):
        place = paths.fold_folder(out, benchmark.name, name, number)
        for each in (paths.FIT, *paths.SEALED):
            check_not_read(place / each, [file.path for file in files])
    for file in files:
        number = file.fold.number
        warnings = score_warnings(file.scores, file.fold.test)
        notes += [f"{benchmark.name}, {name}, fold {number}: {each.text}" for each in warnings]
        scores = finite_scores(file.scores)
        n_folds = len(benchmark.folds)
        measured = measure_fold(name, file.fold, scores, benchmark.convention, n_folds)
        identity = _identity(name, pattern, file, benchmark)
        folder = paths.fold_folder(out, benchmark.name, name, number)
        with one_writer(folder):
            write_fold(folder, FoldResult(identity, scores, measured, warnings=warnings))
    return read_summary(out, benchmark.name), notes


def _check_name(name: str, dataset: str, out: Path) -> None:
    """Raise UsageError for a name that no folder can have or that an algorithm has."""
    if not NAME.fullmatch(name):
        raise UsageError(f"name {name!r}: expected letters, digits and . _ + -")
    ours = any("external" not in fold.identity for fold in read_folds(out, dataset, name))
    if ours or name in names():
        raise UsageError(f"name {name!r} is that of an algorithm of letorbench; choose another")


def _chosen_folds(benchmark: Benchmark, numbers: Sequence[int] | None) -> list[Fold]:
    chosen = [fold for fold in benchmark.folds if numbers is None or fold.number in numbers]
    absent = sorted(set(numbers or ()) - {fold.number for fold in chosen})
    if absent:
        raise UsageError(f"{benchmark.name} has no fold {absent[0]}")
    return chosen


def _read(fold: Fold, pattern: str, dataset: str, form: str) -> _ScoreFile:
    path = Path(pattern.replace("{fold}", str(fold.number)).replace("{dataset}", dataset))
    form = detect(path) if form == "auto" else form
    return _ScoreFile(fold, path, form, read_any(path, fold.test, form))


def _identity(name: str, pattern: str, file: _ScoreFile, benchmark: Benchmark) -> dict[str, object]:
    digest = blake2b(content(file.path), digest_size=16).hexdigest()
    return {
        "dataset": benchmark.name,
        "algo": name,
        "fold": file.fold.number,
        "external": {
            "pattern": pattern,
            "file": str(file.path),
            "format": file.form,
            "digest": digest,
        },
        "convention": benchmark.convention.name,
        "data": benchmark.provenance["digest"],
        "null": benchmark.provenance.get("null", "error"),
        "letorbench": versions()["letorbench"],
    }
