"""Grades made of other labels: by bounds, or by which values there are."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from letorbench.datasets.grades import EXPECTED_LABEL, LARGEST_LABEL
from letorbench.errors import DataError, UsageError

#: the bounds between grades; none for a grade of each value; None for labels that are grades
Grades = tuple[float, ...] | None
AUTO: Grades = ()


def parse_grades(text: str) -> Grades:
    """Return the bounds that a text has between commas, or `AUTO`.

    Raises
    ------
    UsageError
        The bounds are not finite numbers in increasing order, or make too many grades.

    Examples
    --------
    >>> parse_grades("0.5,1.5"), parse_grades("auto")
    ((0.5, 1.5), ())
    """
    if text == "auto":
        return AUTO
    try:
        bounds = tuple(float(word) for word in text.split(","))
    except ValueError:
        bounds = (np.nan,)
    if not (np.isfinite(bounds).all() and all(a < b for a, b in pairwise(bounds))):
        raise UsageError(
            f"--grades: found {text!r}, expected auto, or numbers in increasing order as 0.5,1.5"
        )
    if len(bounds) > LARGEST_LABEL:
        raise UsageError(f"--grades: found {len(bounds)} bounds, expected at most {LARGEST_LABEL}")
    return bounds


def graded(
    labels: np.ndarray, grades: Grades, place: Callable[[int], str]
) -> tuple[np.ndarray, list[str]]:
    """Return the grades of labels, and a line on each grade that was made.

    Parameters
    ----------
    labels : ndarray of shape (n_docs,)
        Real numbers.
    grades : tuple of float or None
        As of `np.digitize`: grade r is from bound r, which it has, to the next, which it has not.
        None accepts grades only.
    place : callable
        Where the label of a row stands, for messages.

    Raises
    ------
    DataError
        A label is no number, or no grade where none are made, or there are too many values.
    """
    whole = (labels >= 0) & (labels <= LARGEST_LABEL) & (labels == np.floor(labels))
    right = whole if grades is None else np.isfinite(labels)
    if not right.all():
        row = int(np.flatnonzero(~right)[0])
        expected = EXPECTED_LABEL if grades is None else "a finite number"
        raise DataError(f"{place(row)}: found {labels[row]:g}, expected {expected}")
    if grades is None:
        return labels.astype(np.int32), []
    if grades == AUTO:
        values, made = np.unique(labels, return_inverse=True)
        if len(values) > LARGEST_LABEL + 1:
            raise DataError(
                f"{place(0).rpartition(':')[0]}: found {len(values)} different labels, expected at "
                f"most {LARGEST_LABEL + 1} for --grades auto; --grades 0.5,1.5 names bounds"
            )
        ranges = [f"{value:g}" for value in values.tolist()]
    else:
        # bounds as exact as the labels: 0.41 as float32 is below 0.41
        kind = labels.dtype if labels.dtype.kind == "f" else np.float64
        made = np.digitize(labels, np.asarray(grades, dtype=kind))
        between = [f"{low:g} to below {high:g}" for low, high in pairwise(grades)]
        ranges = [f"below {grades[0]:g}", *between, f"{grades[-1]:g} or more"]
    counts = np.bincount(made.reshape(-1), minlength=len(ranges)).tolist()
    lines = [f"grade {r}: {range_}: {n:,}" for r, (range_, n) in enumerate(zip(ranges, counts))]
    return made.reshape(-1).astype(np.int32), lines
