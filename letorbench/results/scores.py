"""What users and other tools write: files of scores, one number a line, and names of measures."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np

from letorbench import aliases, measures
from letorbench.datasets.text import odd_character, without_mark
from letorbench.errors import DataError, UsageError
from letorbench.files import Writer, write_atomically
from letorbench.measures import MEASURES, Measure

#: the scores written for -infinity (and NaN) and for infinity, which a score file cannot hold
LOWEST, HIGHEST = -1e300, 1e300
#: the names of the columns that stand beside those of measures, in stored files and in tables
COLUMNS = frozenset(
    "algo convention cut_off dataset draws features fold folds high low n_folds ndcg-weight "
    "not_converged partial qid queries repeat repeats run share weight".split()
)


def parse(text: str) -> Measure:
    """Return the measure that a text names, in any case, also in another tool's spelling.

    Parameters
    ----------
    text : str
        A name, with a cut-off if the measure takes one: ``map``, ``ndcg@10``, ``ndcg_cut_10``,
        ``P_5``, ``precision@5``.

    Returns
    -------
    Measure
        The value that prints as letorbench's name of it.

    Raises
    ------
    UsageError
        No measure has that name, it is that of another column, or the cut-off does not fit it.

    Examples
    --------
    >>> parse("NDCG@10"), parse("ndcg_cut_10"), parse("success@1")
    (nDCG@10, nDCG@10, Hit@1)
    """
    cut = re.fullmatch(r"\s*([a-z_]+)[_.](\d+)\s*", text.lower())
    if cut and measures.custom_measure(cut[0].strip()) is None:  # one of the user's comes first
        if name := aliases.named(cut[1], MEASURES, "measure"):
            text = f"{name}@{cut[2]}"
    measure = measures.parse(text)
    if measure.name in COLUMNS:
        raise UsageError(f"found a measure {text!r}, expected another name: a column has this one")
    return measure


def read_scores(
    path: Path, n_docs: int, read: Callable[[Path], bytes] = Path.read_bytes
) -> np.ndarray:
    """Read a file of one score a line; DataError names the line that is wrong."""
    text = content(path, read).rstrip()
    lines = text.split(b"\n") if text else []
    scores = np.array([_number(line) for line in lines], dtype=np.float64)
    bad = np.flatnonzero(~np.isfinite(scores))
    if len(bad):
        shown = repr(lines[bad[0]].strip()[:40].decode(errors="replace"))
        found, expected = odd_character(lines[bad[0]]) or (shown, "a finite number")
        raise DataError(f"{path}:{bad[0] + 1}: found {found}, expected {expected}")
    if len(scores) != n_docs:
        raise DataError(
            f"{path}:{min(len(scores), n_docs) + 1}: found {len(scores)} scores, "
            f"expected {n_docs}, one for each document"
        )
    return scores


def content(path: Path, read: Callable[[Path], bytes] = Path.read_bytes) -> bytes:
    """Return the bytes of a text without a byte order mark; DataError if it cannot be read."""
    try:
        return without_mark(path, read(path))
    except OSError as error:
        raise DataError(f"{path}: found no readable file ({error.strerror})") from None


def write_scores(path: Path, scores: np.ndarray, to: Writer = write_atomically) -> None:
    """Write scores of shape (n_docs,), one per line, so that reading restores them exactly."""
    with to(path) as file:
        file.writelines(f"{score!r}\n" for score in scores.tolist())


def finite_scores(scores: np.ndarray) -> np.ndarray:
    """Return the scores with numbers for NaN, which ranks last, and for infinities."""
    return np.nan_to_num(scores, nan=LOWEST, posinf=HIGHEST, neginf=LOWEST)


def _number(text: bytes) -> float:
    """Return the number, or NaN for another text."""
    try:  # unlike Python's numbers, a file's have no underscore
        return float("nan") if b"_" in text else float(text)
    except ValueError:
        return float("nan")
