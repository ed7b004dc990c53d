"""Results folders brought together: what several machines ran, each its share of one run."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from letorbench.errors import DataError
from letorbench.files import one_writer, write_atomically
from letorbench.results import paths
from letorbench.results.paths import FoldKey
from letorbench.results.store import Store, StoredFold
from letorbench.results.summary import Summary, refreshed_summary


@dataclass(frozen=True)
class Merged:
    """What a merge came to: summaries, how many folds were copied or there already, damage."""

    summaries: tuple[Summary, ...]
    copied: int
    reused: int
    damaged: tuple[str, ...]


def merge(folders: Sequence[Path], out: Path) -> Merged:
    """Copy the finished folds of results folders into one; see `letorbench.merge`.

    Everything is compared before anything is copied. What is in `out`, which may be one of the
    folders, counts as well.
    """
    sources = [Store(folder).look() for folder in folders if folder.resolve() != out.resolve()]
    for source in sources:
        if not (source.folds or source.damaged):
            raise DataError(f"{source.out}: found no finished fold, expected a results folder")
    stores = [Store(out).look(), *sources]
    keys = sorted({key for source in sources for key in source.folds})
    systems = {key[:2] for key in keys}
    first: dict[tuple[str, str], StoredFold] = {}
    for store in stores:
        for key, fold in store.folds.items():
            if key[:2] in systems:
                _check_experiment(key, first.setdefault(key[:2], fold), fold)
    chosen = {key: _one_of(key, [s.folds[key] for s in stores if key in s.folds]) for key in keys}
    copied = 0
    for key, fold in chosen.items():
        target = paths.fold_folder(out, key.dataset, key.algo, key.fold, key.repeat)
        if fold.folder != target:
            _copy(fold.folder, target)
            copied += 1
    datasets = sorted({dataset for dataset, _ in systems})
    summaries = tuple(refreshed_summary(out, dataset) for dataset in datasets)
    damaged = tuple(line for source in sources for line in source.damaged.values())
    return Merged(summaries, copied, len(chosen) - copied, damaged)


def _one_of(key: FoldKey, folds: Sequence[StoredFold]) -> StoredFold:
    """Return a fold of a run, one that no time limit cut off if there is one.

    How far a training comes within a time limit depends on the machine. DataError where others
    that should be equal differ.
    """
    whole = [fold for fold in folds if not fold.cut_off] or folds[:1]
    for other in whole[1:]:
        _check_same_bytes(key, whole[0], other)
    return whole[0]


def _check_experiment(key: FoldKey, one: StoredFold, other: StoredFold) -> None:
    """Raise DataError where folds of one algorithm are of different experiments."""
    if one.experiment == other.experiment:
        return
    left, right = json.loads(one.experiment), json.loads(other.experiment)
    name = next(name for name in chain(left, right) if left.get(name) != right.get(name))
    raise DataError(
        f"{key.dataset}, {key.algo}: {one.folder} has {name} {json.dumps(left.get(name))}, "
        f"{other.folder} has {json.dumps(right.get(name))}: results of two experiments are not "
        "merged"
    )


def _check_same_bytes(key: FoldKey, one: StoredFold, other: StoredFold) -> None:
    for name in paths.CHECKED:
        if one.fit["files"].get(name) != other.fit["files"].get(name):
            raise DataError(
                f"{key}: {one.folder / name} and {other.folder / name} differ, although their "
                "identities agree"
            )


def _copy(source: Path, target: Path) -> None:
    """Copy a fold's files, fit.json last, which keeps the time when it was written."""
    with one_writer(target):
        (target / paths.FIT).unlink(missing_ok=True)
        for name in (*paths.CHECKED, paths.FIT):
            if (source / name).is_file():
                with write_atomically(target / name, binary=True) as file:
                    file.write((source / name).read_bytes())
            else:
                (target / name).unlink(missing_ok=True)
        written = (source / paths.FIT).stat()
        os.utime(target / paths.FIT, ns=(written.st_atime_ns, written.st_mtime_ns))
