"""What a fold's scores depend on, as a record: equal records need no second run."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from hashlib import blake2b
from pathlib import Path

import letorbench
from letorbench import __version__
from letorbench.datasets.queryset import Benchmark
from letorbench.experiment.plan import Protocol, Task
from letorbench.experiment.select import grid
from letorbench.experiment.settings import Settings
from letorbench.rankers.base import Ranker
from letorbench.rankers.plugins import digest as plugin_digest

#: the modules and packages that turn data into scores and measures; those above them only
#: arrange, show and store
_SOURCES = (
    "conventions.py", "jit.py", "threads.py", "datasets", "measures", "models", "losses",
    "solvers", "rankers", "kernels", "experiment/select.py",
)  # fmt: skip


def identity(
    task: Task, protocol: Protocol, benchmark: Benchmark, cls: type[Ranker]
) -> dict[str, object]:
    """Return all that a fold's scores depend on, as JSON can hold it."""
    facts = {
        "dataset": task.dataset,
        "algo": task.algo,
        "fold": task.fold,
        **ranker_identity(cls, task.settings),
        "select": protocol.select,
        "convention": benchmark.convention.name,
        "seed": protocol.seed,
        "data": benchmark.provenance["digest"],
        "null": benchmark.provenance.get("null", "error"),
    }
    return json.loads(json.dumps(facts))


def ranker_identity(cls: type[Ranker], settings: Settings) -> dict[str, object]:
    """Return what is part of an identity because of the ranker and of its code.

    Parameters
    ----------
    cls : type of Ranker
        The ranker.
    settings : mapping
        The hyper-parameters that the user fixed.
    """
    chosen = cls(**settings).get_params()
    defaults = cls().get_params()
    fixed = [key for key in settings if key in cls.grid or chosen[key] != defaults[key]]
    facts: dict[str, object] = {
        "settings": chosen,
        "fixed": sorted(fixed),
        "grid": grid(cls, settings),
        "letorbench": __version__,
        "code": source_digest(),
    }
    plugin = plugin_digest(cls)
    return facts if plugin is None else {**facts, "plugin": plugin}


@cache
def source_digest() -> str:
    """Return a digest of the package's own source that scores can depend on.

    It covers every module from the data sets up to the rankers: after an edit there, each
    stored fold is run again.
    """
    root = Path(letorbench.__file__).parent
    files = sorted(file for place in _SOURCES for file in _python_files(root / place))
    parts = (part for file in files for part in (_name(file, root), file.read_bytes()))
    return _digest(parts)


def _python_files(place: Path) -> list[Path]:
    return list(place.rglob("*.py")) if place.is_dir() else [place] if place.is_file() else []


def _name(file: Path, root: Path) -> bytes:
    return file.relative_to(root).as_posix().encode()


def _digest(parts: Iterable[bytes]) -> str:
    """Return the digest of parts; each part's length counts too."""
    digest = blake2b(digest_size=16)
    for part in parts:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.hexdigest()
