"""A report's tables: chosen settings, timings, provenance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from letorbench.analysis.report.gather import Results, as_text, command
from letorbench.analysis.report.html import facts
from letorbench.analysis.results_table import label
from letorbench.analysis.tabular import Cell, Table, columns


def settings_table(results: Results) -> Table:
    """What validation chose in every fold."""
    rows = []
    for algorithm in results.algorithms:
        for fold, fit in algorithm.fits.items():
            validation = fit.get("validation", {})
            value, best = validation.get("value"), validation.get("best")
            rows.append(
                (
                    Cell(algorithm.name),
                    Cell(_settings(fit)),
                    Cell(str(fold), fold),
                    Cell("" if best is None else str(best), best),
                    Cell("" if value is None else f"{value:.4f}", value),
                )
            )
    measure = next((name for a in results.algorithms if (name := a.shared("select"))), "measure")
    heads = columns(
        ["algorithm", "settings"], ["fold", "rounds or epochs", f"validation {label(measure)}"]
    )
    return Table("Chosen on the validation part of each fold", heads, tuple(rows))


def timings_table(results: Results) -> Table:
    """Seconds of all folds, selection included."""
    rows = []
    for each in results.algorithms:
        trained, a_fold = _trained(each.fits), each.seconds / max(1, len(each.fits))
        rows.append(
            (
                Cell(each.name),
                Cell(f"{each.seconds:.2f}", each.seconds),
                Cell(f"{a_fold:.2f}", a_fold),
                Cell(str(trained), trained),
            )
        )
    heads = columns(["algorithm"], ["seconds", "seconds a fold", "models trained"])
    return Table("Training, selection and scoring of all folds", heads, tuple(rows))


def versions(results: Results) -> str:
    """Where the numbers come from: versions, the digest of the data, seeds."""
    found: dict[str, set[str]] = {}
    for algorithm in results.algorithms:
        for fit in algorithm.fits.values():
            for name, version in fit.get("versions", {}).items():
                found.setdefault(name, set()).add(str(version))
    digests = {str(a.shared("data")) for a in results.algorithms}
    rows = [(name, ", ".join(sorted(each))) for name, each in found.items()]
    rows.append(("data (blake2b of the files)", ", ".join(sorted(digests))))
    seeds = {str(a.shared("seed")) for a in results.algorithms if a.shared("seed") is not None}
    rows.append(("seed", ", ".join(sorted(seeds)) or "none"))
    return facts(rows)


def commands(results: Results) -> str:
    """A command line for each algorithm that makes its results again."""
    return facts((algorithm.name, command(algorithm)) for algorithm in results.algorithms)


def _settings(fit: Mapping[str, Any]) -> str:
    """The settings that were chosen from a grid; all settings where there was no grid."""
    chosen = fit.get("chosen", {})
    grid = fit.get("identity", {}).get("grid", {})
    names = [name for name in chosen if name in grid] or list(chosen)
    return ", ".join(f"{name} = {as_text(chosen[name])}" for name in names)


def _trained(fits: Mapping[int, Mapping[str, Any]]) -> int:
    return sum(max(1, len(fit.get("validation", {}).get("grid", []))) for fit in fits.values())
