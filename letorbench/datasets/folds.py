"""Folds that are rotations of parts, as LETOR's are: recognised in files, and made.

With n parts, fold k trains on the parts k .. k+n-3, validates on part k+n-2 and tests on part
k+n-1, counted from 0 and round.
"""

import hashlib
import shutil
from collections.abc import Sequence
from dataclasses import fields, replace
from itertools import product
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from letorbench.datasets.layout import WEIGHTS, FoldFiles, weights_of
from letorbench.datasets.queryset import Fold, QuerySet
from letorbench.errors import DataError, UsageError, WriteError

Part = TypeVar("Part")


def shuffled_parts(
    n_queries: int, folds: int, seed: int | Sequence[int], what: str
) -> list[np.ndarray]:
    """Return the numbers of each part's queries, shuffled; errors begin with `what`."""
    if folds < 3:
        raise UsageError(f"folds: found {folds}, expected at least 3 (train, validation and test)")
    if n_queries < folds:
        raise DataError(f"{what}: found {n_queries} queries, expected at least {folds}, the folds")
    return np.array_split(np.random.default_rng(seed).permutation(n_queries), folds)


def redrawn_parts(names: Sequence[str], folds: int, number: int, what: str) -> list[np.ndarray]:
    """Return the numbers of each part's queries in draw `number`, whatever the queries' order."""
    by_name = np.argsort(np.asarray(names, dtype=str), kind="stable")
    return [by_name[part] for part in shuffled_parts(len(by_name), folds, [0, number], what)]


def unrolled(parts: Sequence[Part]) -> list[Part]:
    """Return the parts with the first n - 3 again at the end: each set is a stretch of them."""
    return [*parts, *parts[: len(parts) - 3]]


def part_file(folder: Path, part: int, n: int) -> Path:
    """Return the file of a part of n: the test file of the fold after the part's own."""
    return folder / f"Fold{(part + 1) % n + 1}" / "test.txt"


def compose_folds(folder: Path, n: int) -> None:
    """Compose the training and validation files of n folds, whose test files are there."""
    tests = [part_file(folder, part, n) for part in range(n)]
    kinds = [("", tests), (WEIGHTS, [each for test in tests for each in weights_of(test)])]
    try:
        for k, (ending, parts) in product(range(n), kinds):
            if not parts:
                continue
            fold = folder / f"Fold{k + 1}"
            shutil.copyfile(parts[(k + n - 2) % n], fold / f"vali.txt{ending}")
            with (fold / f"train.txt{ending}").open("xb") as train:
                for i in range(n - 2):
                    with parts[(k + i) % n].open("rb") as part:
                        shutil.copyfileobj(part, train, 1 << 20)
    except OSError as error:
        raise WriteError(folder, error) from None


def rotated(whole: QuerySet, bounds: np.ndarray, n: int) -> tuple[Fold, ...]:
    """Return the folds of n parts as views; unrolled part i has queries bounds[i]:bounds[i + 1]."""
    folds = []
    for k in range(n):
        validation, test = (k + n - 2) % n, (k + n - 1) % n
        spans = (k, k + n - 2), (validation, validation + 1), (test, test + 1)
        parts = [whole.queries(int(bounds[first]), int(bounds[last])) for first, last in spans]
        folds.append(Fold(k + 1, *parts))
    return tuple(folds)


def rotated_parts(whole: QuerySet, parts: Sequence[np.ndarray]) -> tuple[Fold, ...]:
    """Return the folds of parts, each given as the numbers of its queries."""
    pieces = unrolled(parts)
    bounds = np.append(0, np.cumsum([len(piece) for piece in pieces]))
    return rotated(whole.take(np.concatenate(pieces)), bounds, len(parts))


def joined(sets: Sequence[QuerySet]) -> QuerySet:
    """Return one query set of several that have the same fields."""
    whole: dict[str, Any] = {key: np.concatenate(each) for key, each in arrays_of(sets).items()}
    return replace(sets[0], **whole)


def arrays_of(sets: Sequence[QuerySet]) -> dict[str, list[np.ndarray]]:
    """Return the arrays of the query set that several make, in pieces, one a set."""
    width = max(each.n_features for each in sets)
    starts = np.cumsum([0] + [each.n_docs for each in sets])
    arrays = {
        field.name: [getattr(each, field.name) for each in sets] for field in fields(QuerySet)
    }
    arrays["features"] = [
        np.pad(each, ((0, 0), (0, width - each.shape[1]))) if each.shape[1] < width else each
        for each in arrays["features"]
    ]
    ends = [each[1:] + start for each, start in zip(arrays["offsets"], starts)]
    arrays["offsets"] = [np.zeros(1, np.int64), *ends]
    if any(each.docids is not None for each in sets):
        arrays["docids"] = [
            np.zeros(each.n_docs, "S1") if each.docids is None else each.docids for each in sets
        ]
    return {name: each for name, each in arrays.items() if isinstance(each[0], np.ndarray)}


def part_files(folds: Sequence[FoldFiles]) -> tuple[Path, ...]:
    """Return the files of a rotation's parts, each the test file of the fold after its own."""
    return tuple(folds[(j + 1) % len(folds)].test for j in range(len(folds)))


def is_rotation(folds: Sequence[FoldFiles]) -> bool:
    """Return whether every train and validation file is a join of test files as in a rotation."""
    if len(folds) < 3 or any(files.validation is None for files in folds):
        return False
    files, n = part_files(folds), len(folds)
    claims = []
    for k, fold in enumerate(folds):
        assert fold.validation is not None
        claims.append((fold.validation, [files[(k + n - 2) % n]]))
        claims.append((fold.train, [files[(k + i) % n] for i in range(n - 2)]))
    sizes = {file: file.stat().st_size for fold in folds for file in fold.files}
    if any(sizes[whole] != sum(sizes[piece] for piece in pieces) for whole, pieces in claims):
        return False
    return all(
        files_digest([whole], False) == files_digest(pieces, False) for whole, pieces in claims
    )


def files_digest(files: Sequence[Path], sizes: bool = True) -> str:
    """Return a 128-bit blake2b of the files' bytes and sizes in the order given, as hex."""
    state = hashlib.blake2b(digest_size=16)
    for path in files:
        if sizes:
            state.update(path.stat().st_size.to_bytes(8, "little"))
        with path.open("rb") as file:
            hashlib.file_digest(file, lambda: state)
    return state.hexdigest()
