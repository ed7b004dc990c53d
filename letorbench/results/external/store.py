"""Another system's scores as results: then every table, plot and test has it."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path

import numpy as np

from letorbench.datasets.queryset import Benchmark, Fold
from letorbench.errors import UsageError
from letorbench.experiment.task import score_warnings
from letorbench.files import write_atomically
from letorbench.rankers import names
from letorbench.results import store
from letorbench.results.derive import write_values
from letorbench.results.external.formats import detect, read_any
from letorbench.results.external.lines import content
from letorbench.results.summary import Summary, summarise

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")


def import_external(
    name: str,
    pattern: str,
    benchmark: Benchmark,
    out: Path,
    form: str = "auto",
    folds: Sequence[int] | None = None,
) -> tuple[Summary, list[str]]:
    """Store another system's scores of the test parts as results/<data set>/<name>.

    pattern: the score files' path, `{fold}` in it the fold's number, `{dataset}` the data
             set's name.
    form:    a name of FORMATS, or "auto".
    folds:   their numbers, None for all.

    The data set's new summary, and warnings. Nothing is written unless every file is right.
    UsageError for a name that is a ranker's or no folder's, and for a pattern that does not
    tell folds apart; DataError for a wrong file.
    """
    _check_name(name, store.algo_folder(out, benchmark.name, name))
    chosen = [fold for fold in benchmark.folds if folds is None or fold.number in folds]
    absent = sorted(set(folds or ()) - {fold.number for fold in chosen})
    if absent:
        raise UsageError(f"{benchmark.name} has no fold {absent[0]}")
    if len(chosen) > 1 and "{fold}" not in pattern:
        raise UsageError(
            f"{name}={pattern}: expected {{fold}} in it, where {benchmark.name}'s folds "
            f"{chosen[0].number}-{chosen[-1].number} have their numbers"
        )
    read = [_read(fold, pattern, benchmark.name, form) for fold in chosen]
    notes = []
    for fold, (path, format_name, scores) in zip(chosen, read):
        warnings = score_warnings(scores, fold.test)
        notes += [f"{benchmark.name}, {name}, fold {fold.number}: {text}" for text in warnings]
        facts = _identity(name, fold.number, benchmark, path, format_name)
        _write(store.algo_folder(out, benchmark.name, name), facts, scores, warnings)
    folder = store.algo_folder(out, benchmark.name, name)
    write_values(folder, [fold.number for fold in chosen], benchmark)
    return summarise(out, benchmark.name), notes


def _check_name(name: str, folder: Path) -> None:
    if not NAME.fullmatch(name):
        raise UsageError(f"name {name!r}: expected letters, digits and . _ + -")
    fits = [store.stored(path) for path in sorted(folder.glob("fold*"))]
    ours = any("external" not in fit.get("identity", {}) for fit in fits if fit)
    if ours or name in names():
        raise UsageError(f"name {name!r} is that of an algorithm of letorbench; choose another")


def _read(fold: Fold, pattern: str, dataset: str, form: str) -> tuple[Path, str, np.ndarray]:
    path = Path(pattern.replace("{fold}", str(fold.number)).replace("{dataset}", dataset))
    form = detect(path) if form == "auto" else form
    return path, form, read_any(path, fold.test, form)


def _identity(
    name: str, number: int, benchmark: Benchmark, path: Path, form: str
) -> dict[str, object]:
    digest = blake2b(content(path), digest_size=16).hexdigest()
    return {
        "dataset": benchmark.name,
        "algo": name,
        "fold": number,
        "external": {"file": str(path), "format": form, "digest": digest},
        "convention": benchmark.convention.name,
        "data": benchmark.provenance["digest"],
        "null": benchmark.provenance["null"],
        "letorbench": store.versions()["letorbench"],
    }


def _write(
    algo: Path, facts: dict[str, object], scores: np.ndarray, warnings: list[str]
) -> None:
    """scores.txt and, last, a fit.json with the keys of a run's, empty where nothing was fitted."""
    folder = algo / f"fold{facts['fold']}"
    (folder / "fit.json").unlink(missing_ok=True)
    with write_atomically(folder / "scores.txt") as file:
        file.writelines(f"{score!r}\n" for score in scores.tolist())
    fit = {
        "identity": facts,
        "chosen": {},
        "validation": {"measure": None, "value": None, "curve": [], "best": None, "grid": []},
        "objective": [],
        "warnings": warnings,
        "seconds": None,
        "versions": store.versions(),
    }
    with write_atomically(folder / "fit.json") as file:
        file.write(json.dumps(fit, indent=1) + "\n")
