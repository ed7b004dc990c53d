"""A run's files: where they are, how they are written whole, and when they still hold."""

from __future__ import annotations

import json
import math
from functools import cache
from pathlib import Path

import numpy as np

from letorbench import __version__
from letorbench.datasets.queryset import Benchmark
from letorbench.errors import DataError
from letorbench.experiment.plan import Protocol, Task
from letorbench.experiment.select import Selected, grid
from letorbench.files import write_atomically
from letorbench.rankers import ranker
from letorbench.rankers.plugins import digest


def algo_folder(out: Path, dataset: str, algo: str) -> Path:
    return out / dataset / algo


def fold_folder(out: Path, task: Task) -> Path:
    return algo_folder(out, task.dataset, task.algo) / f"fold{task.fold}"


def identity(task: Task, protocol: Protocol, benchmark: Benchmark) -> dict[str, object]:
    """All that a fold's scores depend on; equal identities need no second run."""
    cls = ranker(task.algo)
    facts = {
        "dataset": task.dataset,
        "algo": task.algo,
        "fold": task.fold,
        "settings": cls(**task.settings).get_params(),
        "fixed": sorted(task.settings),
        "grid": grid(cls, task.settings),
        "select": protocol.select,
        "convention": benchmark.convention.name,
        "seed": protocol.seed,
        "data": benchmark.provenance["digest"],
        "null": protocol.null,
        "letorbench": __version__,
    }
    code = digest(cls)
    if code is not None:
        facts["plugin"] = code
    return json.loads(json.dumps(facts))


def stored(folder: Path) -> dict[str, object]:
    """A fold's fit.json, empty where there is none or where it is damaged."""
    try:
        fit = json.loads((folder / "fit.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return fit if isinstance(fit, dict) else {}


def is_done(folder: Path, facts: dict[str, object]) -> bool:
    """Whether the folder holds the whole result of that identity."""
    return stored(folder).get("identity") == facts and (folder / "scores.txt").is_file()


def write_fold(
    folder: Path,
    facts: dict[str, object],
    selected: Selected,
    scores: np.ndarray,
    seconds: float,
    warnings: list[str],
) -> None:
    """Write scores.txt, model.npz and, last, the fit.json that says that they are there."""
    (folder / "fit.json").unlink(missing_ok=True)
    with write_atomically(folder / "scores.txt") as file:
        file.writelines(f"{score!r}\n" for score in scores.tolist())
    selected.ranker.save(folder / "model.npz")
    fit = {
        "identity": facts,
        "chosen": selected.ranker.get_params(),
        "validation": {
            "measure": facts["select"],
            "value": selected.trial.value,
            "curve": selected.trial.curve,
            "best": selected.trial.best,
            "grid": [
                {
                    "settings": trial.settings,
                    "value": trial.value,
                    "curve": trial.curve,
                    "best": trial.best,
                    "seconds": trial.seconds,
                }
                for trial in (selected.trials if len(selected.trials) > 1 else ())
            ],
        },
        "objective": selected.ranker.learned.objective,
        "warnings": warnings,
        "seconds": seconds,
        "versions": versions(selected.ranker.needs),
    }
    with write_atomically(folder / "fit.json") as file:
        file.write(json.dumps(_finite(fit), indent=1) + "\n")


def write_rows(path: Path, header: list[str], rows: list[list[object]]) -> None:
    """A CSV file; floats as repr, which reads back as the same number."""
    with write_atomically(path) as file:
        file.write(",".join(header) + "\n")
        file.writelines(",".join(map(_cell, row)) + "\n" for row in rows)


@cache
def versions(needed: str | None = None) -> dict[str, str]:
    """The versions that a result came from, with those of a package that its ranker needs."""
    import platform
    from importlib.metadata import version

    names = ("numpy", "scipy", "numba", *([needed] if needed else []))
    packages = {name: version(name) for name in names}
    return {"letorbench": __version__, **packages, "python": platform.python_version()}


def check_writable(out: Path) -> None:
    """DataError now rather than after an hour of training."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        with write_atomically(out / ".writable"):
            pass
        (out / ".writable").unlink()
    except OSError as error:
        raise DataError(f"{out}: cannot write results there ({error.strerror})") from None


def _cell(value: object) -> str:
    return repr(value) if isinstance(value, float) else str(value)


def _finite(value: object) -> object:
    """The value with None for what JSON has no number for, tuples as lists."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value
