"""Score files: one number a line, for the lines of a data file."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from letorbench.errors import DataError


def read_scores(path: Path, n_docs: int) -> np.ndarray:
    """(n_docs,) float64: the scores of a file with one number a line, larger ranks higher.

    Blanks around a number, CRLF and empty lines at the end are allowed. DataError names the
    file and the line of what is no number, or where the file ends early or goes on too long.
    """
    try:
        content = Path(path).read_bytes().rstrip()
    except OSError as error:
        raise DataError(f"{path}: found no readable file ({error.strerror})") from None
    lines = content.split(b"\n") if content else []
    try:
        # Python's numbers may have an underscore between digits, a file's may not
        number = _number if b"_" in content else float
        scores = np.array([number(line) for line in lines], dtype=np.float64)
    except ValueError:
        scores = np.array([_number(line) for line in lines])
    bad = np.flatnonzero(np.isnan(scores))
    if len(bad):
        found = lines[bad[0]].strip()[:40].decode(errors="replace")
        raise DataError(f"{path}:{bad[0] + 1}: found {found!r}, expected a number")
    if len(scores) != n_docs:
        raise DataError(
            f"{path}:{min(len(scores), n_docs) + 1}: found {len(scores)} scores, "
            f"expected {n_docs}, one for each document"
        )
    return scores


def _number(text: bytes) -> float:
    """The number, or NaN where there is none."""
    try:
        return float("nan") if b"_" in text else float(text)
    except ValueError:
        return float("nan")
