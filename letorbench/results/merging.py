"""Results folders brought together: what several machines ran, each its share of one run."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from letorbench.errors import DataError
from letorbench.files import one_writer, write_atomically
from letorbench.results import paths
from letorbench.results.stored_folds import StoredFold, sound_and_damaged
from letorbench.results.summary import Summary, refreshed_summary


class Cell(NamedTuple):
    """What one fold's results are of."""

    dataset: str
    algo: str
    repeat: int
    fold: int

    def __str__(self) -> str:
        repeat = "" if self.repeat == 1 else f" of repeat {self.repeat}"
        return f"{self.dataset}, {self.algo}, fold {self.fold}{repeat}"


@dataclass(frozen=True)
class Merged:
    """What a merge came to.

    Attributes
    ----------
    summaries : tuple of Summary
        Those of the data sets that the merged folders have.
    copied : int
        How many folds were copied.
    kept : int
        How many folds of the merged folders were there already.
    damaged : tuple of str
        A line for each damaged fold, which was left out.
    """

    summaries: tuple[Summary, ...]
    copied: int
    kept: int
    damaged: tuple[str, ...]


def merge(folders: Sequence[Path], out: Path) -> Merged:
    """Copy the finished folds of results folders into one.

    Everything is compared before anything is copied. What is in `out` counts as well.

    Parameters
    ----------
    folders : sequence of Path
        The results folders.
    out : Path
        Where everything is afterwards; one of the folders, or another one.

    Raises
    ------
    DataError
        A folder has no finished fold, two folders contradict each other, or a file cannot be
        read or written.
    """
    sources = [folder for folder in folders if folder.resolve() != out.resolve()]
    for folder in sources:
        if not paths.present(folder):
            raise DataError(f"{folder}: found no finished fold, expected a results folder")
    merged, damaged = _read(sources)
    stored, _ = _read([out])
    chosen = {
        cell: _one_of(cell, [*stored.get(cell, ()), *merged[cell]]) for cell in sorted(merged)
    }
    systems = {(cell.dataset, cell.algo) for cell in chosen}
    there = {
        cell: found[0] for cell, found in stored.items() if (cell.dataset, cell.algo) in systems
    }
    _check_one_experiment({**there, **chosen})
    copied = 0
    for cell, fold in chosen.items():
        target = paths.fold_folder(out, cell.dataset, cell.algo, cell.fold, cell.repeat)
        if fold.folder != target:
            _copy(fold.folder, target)
            copied += 1
    datasets = sorted({dataset for dataset, _ in systems})
    summaries = tuple(refreshed_summary(out, dataset) for dataset in datasets)
    return Merged(summaries, copied, len(chosen) - copied, tuple(damaged))


def _read(folders: Iterable[Path]) -> tuple[dict[Cell, list[StoredFold]], list[str]]:
    """Return the sound folds of each cell, and a line for each damaged one."""
    found: dict[Cell, list[StoredFold]] = {}
    damaged: list[str] = []
    for folder in folders:
        for dataset in paths.present(folder):
            for algo in paths.algorithms(folder, dataset):
                folds, lines = sound_and_damaged(folder, dataset, algo)
                damaged += lines
                for fold in folds:
                    cell = Cell(dataset, algo, fold.repeat, fold.number)
                    found.setdefault(cell, []).append(fold)
    return found, damaged


def _one_of(cell: Cell, folds: Sequence[StoredFold]) -> StoredFold:
    """Return a fold of the cell, one that no time limit cut off if there is one.

    Raises
    ------
    DataError
        Two have other identities, or other bytes of one identity.
    """
    for other in folds[1:]:
        _check_equal(str(cell), folds[0], other)
    # how far a training comes within a time limit depends on the machine
    whole = [fold for fold in folds if not fold.cut_off]
    for other in whole[1:]:
        _check_same_bytes(cell, whole[0], other)
    return (whole or folds)[0]


def _check_one_experiment(folds: Mapping[Cell, StoredFold]) -> None:
    """Raise DataError where folds of one algorithm are of different experiments."""
    first: dict[tuple[str, str], StoredFold] = {}
    for cell, fold in folds.items():
        name = f"{cell.dataset}, {cell.algo}"
        _check_equal(name, first.setdefault((cell.dataset, cell.algo), fold), fold)


def _check_equal(name: str, one: StoredFold, other: StoredFold) -> None:
    if one.experiment == other.experiment:
        return
    left, right = json.loads(one.experiment), json.loads(other.experiment)
    key = next(key for key in chain(left, right) if left.get(key) != right.get(key))
    raise DataError(
        f"{name}: {one.folder} has {key} {json.dumps(left.get(key))}, {other.folder} has "
        f"{json.dumps(right.get(key))}: results of two experiments are not merged"
    )


def _check_same_bytes(cell: Cell, one: StoredFold, other: StoredFold) -> None:
    for name in paths.SEALED:
        left, right = one.folder / name, other.folder / name
        if _content(left) != _content(right):
            raise DataError(f"{cell}: {left} and {right} differ, although their identities agree")


def _content(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def _copy(source: Path, target: Path) -> None:
    """Copy a fold's files, fit.json last, which keeps the time when it was written."""
    with one_writer(target):
        (target / paths.FIT).unlink(missing_ok=True)
        for name in (*paths.SEALED, paths.FIT):
            if not (source / name).is_file():
                (target / name).unlink(missing_ok=True)
                continue
            with (
                write_atomically(target / name, binary=True) as file,
                (source / name).open("rb") as content,
            ):
                shutil.copyfileobj(content, file)
        written = (source / paths.FIT).stat()
        os.utime(target / paths.FIT, ns=(written.st_atime_ns, written.st_mtime_ns))
