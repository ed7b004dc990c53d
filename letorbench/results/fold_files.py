"""The files of one fold: written whole, read back, and compared with what is asked for.

A fold is finished when its fit.json is there. That file is written last and removed first, so
that a run which is killed leaves a fold finished or not, never half. It has the digests of the
fold's other files and its own, so that a fold with any byte changed is damaged: it does not
count, and the next run of it runs it again.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from letorbench import __version__
from letorbench.errors import DataError, WriteError
from letorbench.files import write_atomically
from letorbench.notices import Notice
from letorbench.results import paths
from letorbench.results.per_query import PerQuery, read_fold_queries, write_fold_queries
from letorbench.results.scores import read_scores, write_scores
from letorbench.results.seal import read_sealed, write_sealed
from letorbench.results.trials_file import Training, write_trainings

if TYPE_CHECKING:
    from letorbench.rankers.base import Ranker

#: what fit.json says of the validation of a system that letorbench did not train
NOT_VALIDATED: dict[str, object] = {
    "measure": None, "value": None, "curve": [], "best": None, "grid": []
}  # fmt: skip
#: what an external system's identity says of one fold's file; the folds differ in it
_OF_ONE_FILE = ("file", "digest")


@dataclass(frozen=True, eq=False)
class Measured:
    """The test values of a fold, and what they mean.

    Attributes
    ----------
    queries : PerQuery
        The values of the test queries.
    convention : str
        The name of the convention that they were measured by.
    n_folds : int
        How many folds the data set has.
    """

    queries: PerQuery
    convention: str
    n_folds: int

    def as_json(self) -> dict[str, object]:
        """Return what fit.json says of the values: their means, by measure."""
        names = list(self.queries.values)
        means = np.stack(list(self.queries.values.values()), axis=1).mean(axis=0)
        return {
            "convention": self.convention,
            "n_folds": self.n_folds,
            "queries": len(self.queries.qids),
            "means": dict(zip(names, means.tolist())),
        }


@dataclass(frozen=True)
class CutOff:
    """That a time limit ended trainings of a fold.

    Attributes
    ----------
    time_limit : float
        The seconds that each training had.
    fits : int
        How many trainings it ended.
    of : int
        How many trainings there were.
    """

    time_limit: float
    fits: int
    of: int

    @staticmethod
    def of_fits(fits: int, of: int, time_limit: float | None) -> CutOff | None:
        """Return None where no training was ended."""
        return CutOff(time_limit, fits, of) if fits and time_limit is not None else None


@dataclass(frozen=True, eq=False)
class FoldResult:
    """What a fold leaves on disk.

    Attributes
    ----------
    identity : mapping
        All that the scores depend on, as JSON can hold it.
    scores : ndarray of shape (n_docs,), float64
        The scores of the test part, all finite.
    measured : Measured, optional
        The test queries' values.
    ranker : Ranker, optional
        The fitted ranker. There is none for another system's scores.
    validation_scores : ndarray, optional
        The scores of the validation part, all finite.
    validation : mapping
        How validation chose: measure, value, curve, best round, the grid's trials.
    seconds : float, optional
        How long training, selection and scoring took.
    warnings : sequence of Notice
        What a user must know.
    cut_off : CutOff, optional
        That the time limit ended trainings.
    repeats : int, optional
        How many seeds the run asked for; None where nothing is drawn at random.
    trainings : sequence of Training
        What settings of the grid trained, where another measure can choose among it.
    reused, tried : int
        How many trainings were stored before, of how many.
    """

    identity: Mapping[str, object]
    scores: np.ndarray
    measured: Measured | None = None
    ranker: Ranker | None = None
    validation_scores: np.ndarray | None = None
    validation: Mapping[str, object] | None = None
    seconds: float | None = None
    warnings: Sequence[Notice] = ()
    cut_off: CutOff | None = None
    repeats: int | None = None
    trainings: Sequence[Training] = ()
    reused: int = 0
    tried: int = 0


def write_fold(folder: Path, result: FoldResult) -> None:
    """Write a fold's files and, last, the fit.json that says that they are there."""
    (folder / paths.FIT).unlink(missing_ok=True)
    write_scores(folder / paths.SCORES, result.scores)
    if result.validation_scores is None:
        (folder / paths.VALIDATION).unlink(missing_ok=True)
    else:
        write_scores(folder / paths.VALIDATION, result.validation_scores)
    if result.measured is not None:
        write_fold_queries(folder / paths.QUERIES, result.measured.queries)
    ranker = result.ranker
    if ranker is not None:
        ranker.save(folder / paths.MODEL)
    write_trainings(folder / paths.TRIALS, result.trainings)
    fit = {
        "identity": result.identity,
        "chosen": ranker.get_params() if ranker else {},
        "validation": result.validation or NOT_VALIDATED,
        "test": result.measured.as_json() if result.measured else None,
        "objective": ranker.learned.objective if ranker else [],
        "warnings": [notice.as_json() for notice in result.warnings],
        "cut_off": asdict(result.cut_off) if result.cut_off else None,
        "seconds": result.seconds,
        "repeats": result.repeats,
        "versions": versions(ranker.needs if ranker else None),
    }
    _write_fit(folder, fit)


def stored_fit(folder: Path) -> dict[str, Any]:
    """Return a fold's fit.json, empty where there is none.

    Raises
    ------
    DataError
        It or another file of the fold is damaged or missing.
    """
    return read_sealed(folder / paths.FIT)


def is_done(
    folder: Path, identity: Mapping[str, object], time_limit: float | None = None
) -> bool:
    """Return whether the folder holds the finished, undamaged result of that identity.

    A result that a time limit cut off is finished only for the same limit or a shorter one. One
    that was not cut off is finished for every limit.

    Parameters
    ----------
    folder : Path
        The folder of the fold.
    identity : mapping
        All that the scores depend on.
    time_limit : float, optional
        The seconds that a training may take now.
    """
    try:
        fit = stored_fit(folder)
    except DataError:
        return False
    if fit.get("identity") != identity:
        return False
    cut = fit.get("cut_off")
    return not cut or (time_limit is not None and time_limit <= cut["time_limit"])


def damage(folder: Path) -> str:
    """Return a line that says what of a finished fold is damaged, empty where nothing is."""
    try:
        stored_fit(folder)
    except DataError as error:
        return str(error)
    return ""


def keep(folder: Path, repeats: int | None = None) -> list[Notice]:
    """Mark a finished fold as the one asked for last; return its warnings.

    Parameters
    ----------
    folder : Path
        The folder of the fold.
    repeats : int, optional
        How many seeds are asked for now; None where nothing is drawn at random.
    """
    fit = stored_fit(folder)
    if fit.get("repeats") == repeats:
        os.utime(folder / paths.FIT)
    else:
        _write_fit(folder, {**fit, "repeats": repeats})
    return fit_notices(fit)


def fit_notices(fit: Mapping[str, Any]) -> list[Notice]:
    """Return what a fit.json warns of."""
    return [Notice.from_json(facts) for facts in fit["warnings"]]


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


def sound_and_damaged(
    out: Path, dataset: str, algo: str
) -> tuple[list[StoredFold], list[str]]:
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
    repeats = [
        PerQuery.joined([fold.queries() for fold in repeat]) for repeat in by_repeat(folds)
    ]
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
                f"{expected!r}; the next run of this fold makes it again"
            )
    written = (folder / paths.FIT).stat().st_mtime_ns
    return StoredFold(number, folder, fit, written, algo, repeat)


@cache
def versions(needed: str | None = None) -> dict[str, str]:
    """Return the versions that a result came from.

    Parameters
    ----------
    needed : str, optional
        A package that the ranker needs besides those that every ranker does.
    """
    import platform
    from importlib.metadata import version

    names = ("numpy", "scipy", "numba", *([needed] if needed else []))
    packages = {name: version(name) for name in names}
    return {"letorbench": __version__, **packages, "python": platform.python_version()}


def check_writable(out: Path) -> None:
    """Raise DataError now rather than after an hour of training."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        with write_atomically(out / ".writable"):
            pass
        (out / ".writable").unlink()
    except OSError as error:
        raise WriteError(out, error) from None


def _write_fit(folder: Path, fit: Mapping[str, object]) -> None:
    write_sealed(folder / paths.FIT, _finite(fit), [folder / name for name in paths.SEALED])


def _finite(value: object) -> object:
    """Return the value with None for what JSON has no number for, and tuples as lists."""
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value
