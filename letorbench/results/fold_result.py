"""What one fold of a run leaves on disk, and how it is written: whole, and fit.json last."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from letorbench import __version__
from letorbench.errors import WriteError
from letorbench.files import write_atomically
from letorbench.fit_warnings import FitWarning
from letorbench.results import paths
from letorbench.results.fit_file import write_fit
from letorbench.results.per_query import PerQuery, write_fold_queries
from letorbench.results.scores import write_scores
from letorbench.results.trials_file import Training, write_trainings

if TYPE_CHECKING:
    from letorbench.rankers.base import Ranker

#: what fit.json says of the validation of a system that letorbench did not train
NOT_VALIDATED: dict[str, object] = {
    "measure": None, "value": None, "curve": [], "best": None, "grid": []
}  # fmt: skip


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
    warnings : sequence of FitWarning
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
    warnings: Sequence[FitWarning] = ()
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
    write_fit(folder, fit)


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
