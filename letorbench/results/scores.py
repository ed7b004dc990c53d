"""Score files: one number a line, for the lines of a data file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from letorbench.datasets.text.encodings import odd_character, without_mark
from letorbench.errors import DataError
from letorbench.files import write_atomically
from letorbench.fit_warnings import FitWarning

if TYPE_CHECKING:
    from letorbench.datasets.queryset import QuerySet

#: the scores written for -infinity (and NaN) and for infinity, which a score file cannot hold
LOWEST, HIGHEST = -1e300, 1e300
#: more than this share of tied documents is worth a warning: file order ranks them
MANY_TIES = 0.5


def read_scores(path: Path, n_docs: int) -> np.ndarray:
    """Read a file of `n_docs` scores, one a line; a larger score ranks higher.

    Blanks around a number, CRLF and empty lines at the end are allowed. DataError names the line
    that holds no finite number, or with which there are too many or too few.
    """
    text = content(path).rstrip()
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


def content(path: Path) -> bytes:
    """Return the bytes of a text without a byte order mark; DataError if it cannot be read."""
    try:
        return without_mark(path, Path(path).read_bytes())
    except OSError as error:
        raise DataError(f"{path}: found no readable file ({error.strerror})") from None


def write_scores(path: Path, scores: np.ndarray) -> None:
    """Write scores of shape (n_docs,), one a line, so that they read back exactly."""
    with write_atomically(path) as file:
        file.writelines(f"{score!r}\n" for score in scores.tolist())


def finite_scores(scores: np.ndarray) -> np.ndarray:
    """Return the scores with numbers for NaN, which ranks last, and for infinities."""
    return np.nan_to_num(scores, nan=LOWEST, posinf=HIGHEST, neginf=LOWEST)


def score_warnings(scores: np.ndarray, queries: QuerySet) -> list[FitWarning]:
    """Say why scores of shape (n_docs,) rank little: NaN, infinite, all or mostly equal."""
    bad = int(np.count_nonzero(~np.isfinite(scores)))
    if bad:
        text = f"{bad} of {len(scores)} test scores are NaN or infinite (NaN is ranked last)"
        return [FitWarning("no numbers", text)]
    filled = queries.offsets[:-1][queries.lengths > 0]
    varies = np.maximum.reduceat(scores, filled) > np.minimum.reduceat(scores, filled)
    several = queries.lengths[queries.lengths > 0] > 1
    if several.any() and not varies[several].any():
        text = "constant test scores: every query is ranked in file order"
        return [FitWarning("nothing learned", text)]
    share = _tied(scores, queries) / max(1, len(scores))
    if share > MANY_TIES:
        text = f"{share:.0%} of the test documents share their score with another of their query"
        return [FitWarning("ties", text)]
    return []


def _tied(scores: np.ndarray, queries: QuerySet) -> int:
    """Return how many documents have the score of another document of their query."""
    query = np.repeat(np.arange(queries.n_queries), queries.lengths)
    order = np.lexsort((scores, query))
    equal = (np.diff(scores[order]) == 0.0) & (np.diff(query[order]) == 0)
    return int(np.count_nonzero(np.r_[equal, False] | np.r_[False, equal]))


def _number(text: bytes) -> float:
    """Return the number, or NaN for another text."""
    try:  # Python's numbers may have an underscore between digits, a file's may not
        return float("nan") if b"_" in text else float(text)
    except ValueError:
        return float("nan")
