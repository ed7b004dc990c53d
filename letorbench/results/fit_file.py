"""The fit.json of a fold: whether the fold is finished, undamaged, and what was asked for.

A fold is finished when its fit.json is there. That file is written last and removed first, so
that a run which is killed leaves a fold finished or not, never half. It has the digests of the
fold's other files and its own, so that a fold with any byte changed is damaged: it does not
count, and the next run of it runs it again.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from letorbench.errors import DataError
from letorbench.fit_warnings import FitWarning
from letorbench.results import paths
from letorbench.results.fit_schema import fault
from letorbench.results.per_query import check_fold_queries
from letorbench.results.seal import AGAIN, read_sealed, write_sealed


def write_fit(folder: Path, fit: Mapping[str, object]) -> None:
    """Write a fold's fit.json, with the digests of the fold's files as they are now."""
    write_sealed(folder / paths.FIT, _finite(fit), [folder / name for name in paths.SEALED])


def stored_fit(folder: Path) -> dict[str, Any]:
    """Return a fold's fit.json, empty where there is none.

    Raises
    ------
    DataError
        It or another file of the fold is damaged or missing, or it holds something else.
    """
    fit = read_sealed(folder / paths.FIT, paths.SEALED)
    wrong = fault(fit) if fit else ""
    if wrong:
        raise DataError(f"{folder / paths.FIT}: {wrong}; {AGAIN}")
    if fit.get("test"):
        check_fold_queries(folder / paths.QUERIES, fit["test"]["means"])
    return fit


def is_done(folder: Path, identity: Mapping[str, object], time_limit: float | None = None) -> bool:
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
    fit, _ = fit_or_damage(folder)
    return answers(fit, identity, time_limit)


def answers(
    fit: Mapping[str, Any], identity: Mapping[str, object], time_limit: float | None
) -> bool:
    """Return whether the fit.json is that of a finished fold as `is_done` has it."""
    if fit.get("identity") != identity:
        return False
    cut = fit.get("cut_off")
    return not cut or (time_limit is not None and time_limit <= cut["time_limit"])


def fit_or_damage(folder: Path) -> tuple[dict[str, Any], str]:
    """Return a fold's fit.json, or else a line that says what is damaged; no fold is neither."""
    try:
        return stored_fit(folder), ""
    except DataError as error:
        return {}, str(error)


def keep(folder: Path, fit: Mapping[str, Any], repeats: int | None = None) -> list[FitWarning]:
    """Mark a finished fold as the one asked for last; return its warnings.

    Parameters
    ----------
    folder : Path
        The folder of the fold.
    fit : mapping
        Its fit.json as it is stored.
    repeats : int, optional
        How many seeds are asked for now; None where nothing is drawn at random.
    """
    if fit.get("repeats") == repeats:
        os.utime(folder / paths.FIT)
    else:
        write_fit(folder, {**fit, "repeats": repeats})
    return fit_warnings(fit)


def fit_warnings(fit: Mapping[str, Any]) -> list[FitWarning]:
    """Return what a fit.json warns of."""
    return [FitWarning.from_json(facts) for facts in fit["warnings"]]


def _finite(value: object) -> object:
    """Return the value with None for what JSON has no number for, and tuples as lists."""
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value
