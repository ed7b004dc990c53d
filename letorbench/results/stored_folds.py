"""The finished folds of an algorithm as they are on disk, and which of them belong together."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from letorbench.errors import DataError
from letorbench.results import paths
from letorbench.results.fit_file import stored_fit
from letorbench.results.per_query import PerQuery, read_fold_queries
from letorbench.results.scores import read_scores
from letorbench.results.seal import AGAIN

#: what an external system's identity says of one fold's file; the folds differ in it
_OF_ONE_FILE = ("file", "digest")


def fold_scores(folder: Path, n_docs: int) -> np.ndarray:
    """Read the test scores of a fold, float64 of shape (n_docs,)."""
    return read_scores(folder / paths.SCORES, n_docs)


@dataclass(frozen=True, eq=False)
class StoredFold:
    """A finished fold as it is on disk.

    Attributes
    ----------
    number : int
        The number of the fold.
    folder : Path
        Where its files are.
    fit : mapping
        Its fit.json.
    written : int
        When fit.json was written, or kept by a later run, in nanoseconds.
    algo : str
        The name of the algorithm.
    repeat : int
        Which of the algorithm's seeds the fold was run with, counted from 1.
    """

    number: int
    folder: Path
    fit: Mapping[str, Any]
    written: int
    algo: str
    repeat: int = 1

    @property
    def identity(self) -> Mapping[str, Any]:
        """All that the fold's scores depend on."""
        return self.fit["identity"]

    @property
    def convention(self) -> str:
        """The convention that the fold was measured by."""
        return self.fit["test"]["convention"]

    @property
    def n_folds(self) -> int:
        """How many folds the data set has."""
        return self.fit["test"]["n_folds"]

    @property
    def repeats(self) -> int | None:
        """How many seeds were asked for last; None where nothing is drawn at random."""
        return self.fit.get("repeats")

    @property
    def means(self) -> Mapping[str, float]:
        """The means of the test queries' values, by measure."""
        return self.fit["test"]["means"]

    @property
    def cut_off(self) -> bool:
        """Whether a time limit ended trainings."""
        return bool(self.fit.get("cut_off"))

    @cached_property
    def experiment(self) -> str:
        """What all folds of one experiment share."""
        return experiment_of(self.identity)

    def queries(self) -> PerQuery:
        """Read the test queries' values."""
        return read_fold_queries(self.folder / paths.QUERIES, self.algo, self.number)

    def scores(self, n_docs: int) -> np.ndarray:
        """Read the test scores, float64 of shape (n_docs,)."""
        return fold_scores(self.folder, n_docs)


def experiment_of(identity: Mapping[str, Any]) -> str:
    """Return an identity, without what is different in each fold and repeat, as text."""
    shared = {key: value for key, value in identity.items() if key not in ("fold", "repeat")}
    if isinstance(shared.get("external"), dict):
        external = shared["external"].items()
        shared["external"] = {key: value for key, value in external if key not in _OF_ONE_FILE}
    return json.dumps(shared, sort_keys=True)


def read_folds(out: Path, dataset: str, algo: str) -> list[StoredFold]:
    """Read every finished, undamaged fold of an algorithm, by repeat and number."""
    return sound_and_damaged(out, dataset, algo)[0]


def sound_and_damaged(out: Path, dataset: str, algo: str) -> tuple[list[StoredFold], list[str]]:
    """Read every finished fold of an algorithm.

    Returns
    -------
    folds : list of StoredFold
        Those without damage, repeat by repeat, in the order of their numbers.
    damaged : list of str
        A line for each other one, which says what is damaged.
    """
    found, damaged = [], []
    for repeat, place in paths.repeat_folders(paths.algo_folder(out, dataset, algo)).items():
        for number, folder in paths.fold_folders(place).items():
            try:
                fold = _read_fold(folder, dataset, algo, number, repeat)
            except DataError as error:
                damaged.append(str(error))
                continue
            if fold is not None:
                found.append(fold)
    return found, damaged


def current_folds(folds: Sequence[StoredFold]) -> list[StoredFold]:
    """Return the folds of one experiment: the one whose fold was written or kept last.

    Of its repeats those count that have every fold of the repeat with the most folds.
    """
    if not folds:
        return []
    last = max(folds, key=lambda fold: fold.written)
    found = [fold for fold in folds if fold.experiment == last.experiment]
    numbers: dict[int, set[int]] = {}
    for fold in found:
        numbers.setdefault(fold.repeat, set()).add(fold.number)
    most = max(numbers.values(), key=len)
    return [fold for fold in found if numbers[fold.repeat] == most]


def by_repeat(folds: Sequence[StoredFold]) -> list[list[StoredFold]]:
    """Return the folds of each repeat, in the order of the repeats."""
    found: dict[int, list[StoredFold]] = {}
    for fold in folds:
        found.setdefault(fold.repeat, []).append(fold)
    return [found[repeat] for repeat in sorted(found)]


def joined_queries(folds: Sequence[StoredFold]) -> PerQuery:
    """Read the test queries' values of an algorithm's folds, the repeats averaged."""
    repeats = [PerQuery.joined([fold.queries() for fold in repeat]) for repeat in by_repeat(folds)]
    return PerQuery.averaged(repeats)


def _read_fold(
    folder: Path, dataset: str, algo: str, number: int, repeat: int
) -> StoredFold | None:
    """Return the fold, None where it is not finished, or of a version that measured later."""
    fit = stored_fit(folder)
    if not fit.get("test"):
        return None
    # an algorithm's whole folder may be copied under another name, to compare two versions
    facts = {"repeat": 1, **fit["identity"]}
    for key, expected in {"dataset": dataset, "fold": number, "repeat": repeat}.items():
        if facts.get(key) != expected:
            raise DataError(
                f"{folder / paths.FIT}: found the {key} {facts.get(key)!r}, expected "
                f"{expected!r}; {AGAIN}"
            )
    try:
        written = (folder / paths.FIT).stat().st_mtime_ns
    except FileNotFoundError:  # another run has just begun the fold anew
        return None
    return StoredFold(number, folder, fit, written, algo, repeat)
