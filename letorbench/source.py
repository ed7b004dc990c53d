"""A digest of the package's own source, for what must not outlive an edit of it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from hashlib import blake2b
from pathlib import Path

PACKAGE = Path(__file__).parent
#: the source that turns data into scores and measures: an edit there runs every fold again;
#: what is above it only arranges, stores and shows
SCORING = (
    "arithmetic.py", "conventions.py", "instructions.py", "jit.py", "prefetch.py", "threads.py",
    "datasets", "features", "measures", "models", "losses", "solvers", "rankers",
    "experiment/candidates.py", "experiment/grids.py", "experiment/protocols.py",
    "experiment/select.py", "experiment/task.py", "experiment/transforming.py",
    "results/added_measures.py", "results/measure_fold.py", "results/scores.py",
    "results/trials_file.py",
)  # fmt: skip


@cache
def source_digest(*places: str) -> str:
    """Return a digest of modules and packages, named relative to the package's folder.

    Parameters
    ----------
    *places : str
        Files such as ``"jit.py"`` and folders such as ``"losses"``, which are read whole.

    Examples
    --------
    >>> len(source_digest("jit.py", "losses"))
    32
    """
    files = sorted(file for place in places for file in _python_files(PACKAGE / place))
    digest = blake2b(digest_size=16)
    for part in _parts(files):
        digest.update(len(part).to_bytes(8, "little"))  # so that no two lists join to one text
        digest.update(part)
    return digest.hexdigest()


def scoring_digest() -> str:
    """Return a digest of the source that a fold's scores and measures depend on."""
    return source_digest(*SCORING)


def _python_files(place: Path) -> Iterable[Path]:
    return place.rglob("*.py") if place.is_dir() else [place]


def _parts(files: Iterable[Path]) -> Iterable[bytes]:
    for file in files:
        yield file.relative_to(PACKAGE).as_posix().encode()
        yield file.read_bytes()
