"""Score files, one number a line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from letorbench.datasets.text import odd_character, without_mark
from letorbench.errors import DataError
from letorbench.files import Writer, write_atomically

#: the scores written for -infinity (and NaN) and for infinity, which a score file cannot hold
LOWEST, HIGHEST = -1e300, 1e300


def read_scores(
    path: Path, n_docs: int, read: Callable[[Path], bytes] = Path.read_bytes
) -> np.ndarray:
    """Read a file of `n_docs` scores, one per line; a larger score ranks higher.

    Blanks around a number, CRLF and empty lines at the end are allowed. DataError names the line
    without a finite number, or the one at which scores are missing or superfluous.
    """
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
