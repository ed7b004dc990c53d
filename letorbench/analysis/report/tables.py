"""A report's tables: results, comparison, chosen settings, timings, provenance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from letorbench.analysis.cells import caption, cells, header, heads, label
from letorbench.analysis.comparison import Pair, Procedure
from letorbench.analysis.comparison_text import HEADER
from letorbench.analysis.comparison_text import cells as pair_cells
from letorbench.analysis.report.html import Td, facts, table
from letorbench.analysis.report.stored import Results, as_text, command

PLACES = ("", "first", "second")


def results_table(results: Results, measures: Sequence[str]) -> str:
    """Every algorithm by these measures, best and second of each column marked."""
    rows = [
        [
            *heads(results.summary, row),
            *(
                Td(cell.text, row.values.get(measure), PLACES[cell.place])
                for cell, measure in zip(line, measures)
            ),
        ]
        for row, line in zip(results.summary.rows, cells(results.summary, measures))
    ]
    said = f"{caption(results.summary)}. Bold: best; underlined: second."
    names = header(results.summary, measures)
    return table(said, names, rows, len(names) - len(measures))


def comparison_table(pairs: Sequence[Pair], procedure: Procedure) -> str:
    """Each algorithm against the baseline."""
    rows = [_pair(pair, procedure) for pair in pairs]
    first = pairs[0]
    said = (
        f"{label(first.measure)} against {first.b}, {first.significance.n} queries of all folds; "
        f"{procedure}; * = p < {procedure.alpha:g}; effect: Cohen's d_z"
    )
    return table(said, HEADER, rows, 2)


def settings_table(results: Results) -> str:
    """What validation chose in every fold."""
    rows = []
    for algorithm in results.algorithms:
        for fold, fit in algorithm.fits.items():
            validation = fit.get("validation", {})
            value, best = validation.get("value"), validation.get("best")
            rows.append(
                [
                    algorithm.name,
                    _settings(fit),
                    Td(str(fold), float(fold)),
                    Td("" if best is None else str(best), best),
                    Td("" if value is None else f"{value:.4f}", value),
                ]
            )
    measure = next((name for a in results.algorithms if (name := a.shared("select"))), "measure")
    head = ("algorithm", "settings", "fold", "rounds or epochs", f"validation {label(measure)}")
    return table("Chosen on the validation part of each fold", head, rows, 2)


def timings_table(results: Results) -> str:
    """Seconds of all folds, selection included."""
    rows = [
        [
            each.name,
            Td(f"{each.seconds:.2f}", each.seconds),
            Td(f"{each.seconds / max(1, len(each.fits)):.2f}", each.seconds),
            Td(str(_trained(each.fits)), float(_trained(each.fits))),
        ]
        for each in results.algorithms
    ]
    head = ("algorithm", "seconds", "seconds a fold", "models trained")
    return table("Training, selection and scoring of all folds", head, rows)


def provenance(results: Results) -> str:
    """Where the numbers are from: versions, hashes, seeds, and commands that make them again."""
    versions: dict[str, set[str]] = {}
    for algorithm in results.algorithms:
        for fit in algorithm.fits.values():
            for name, version in fit.get("versions", {}).items():
                versions.setdefault(name, set()).add(str(version))
    digests = {str(a.shared("data")) for a in results.algorithms}
    rows = [(name, ", ".join(sorted(found))) for name, found in versions.items()]
    rows.append(("data (blake2b of the files)", ", ".join(sorted(digests))))
    seeds = {str(a.shared("seed")) for a in results.algorithms if a.shared("seed") is not None}
    rows.append(("seed", ", ".join(sorted(seeds)) or "none"))
    rows += [(f"to make {a.name} again", command(a)) for a in results.algorithms]
    return facts(rows)


def _pair(pair: Pair, procedure: Procedure) -> list[str | Td]:
    texts = pair_cells(pair, procedure)
    values = [None, None, *pair.means, pair.interval.mean, pair.interval.low,
              pair.significance.p, pair.adjusted, pair.effect, pair.counts.wins]  # fmt: skip
    return [Td(text, value) for text, value in zip(texts, values)]


def _settings(fit: Mapping[str, Any]) -> str:
    """The settings that a choice was made of; all where there was none."""
    chosen = fit.get("chosen", {})
    grid = fit.get("identity", {}).get("grid", {})
    names = [name for name in chosen if name in grid] or list(chosen)
    return ", ".join(f"{name} = {as_text(chosen[name])}" for name in names)


def _trained(fits: Mapping[int, Mapping[str, Any]]) -> int:
    return sum(max(1, len(fit.get("validation", {}).get("grid", []))) for fit in fits.values())
