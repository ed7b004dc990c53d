"""What a report shows, read from the results folder, and the sentences that it opens with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from letorbench.analysis.comparison import Pair, Procedure, compare
from letorbench.analysis.results_table import best_first, comparable, label, notes
from letorbench.analysis.tables import probability
from letorbench.results.measuring import with_measures
from letorbench.results.per_query import PerQuery
from letorbench.results.store import by_repeat
from letorbench.results.summary import Row, Summary, require_folds


@dataclass(frozen=True, eq=False)
class Algorithm:
    """One algorithm's stored results; `fits` are its fit.json by fold."""

    row: Row
    queries: PerQuery
    fits: Mapping[int, Mapping[str, Any]]

    @property
    def name(self) -> str:
        return self.row.algo

    @property
    def seconds(self) -> float:
        return float(sum(fit.get("seconds") or 0.0 for fit in self.fits.values()))

    def shared(self, key: str) -> Any:
        """The value of a key in the first fold's identity, None where it has none."""
        return next(iter(self.fits.values()), {}).get("identity", {}).get(key)


@dataclass(frozen=True, eq=False)
class Results:
    """A data set's algorithms, and the one that others are compared with."""

    summary: Summary
    algorithms: tuple[Algorithm, ...]
    baseline: str

    @property
    def dataset(self) -> str:
        return self.summary.dataset


def gather(out: Path, data_dir: Path, summary: Summary, baseline: str) -> Results:
    """Read what the rows of a summary stand for; DataError if files are missing or damaged."""
    algorithms = []
    for row in summary.rows:
        queries = with_measures(out, data_dir, summary.dataset, row.algo, list(row.values))
        folds = require_folds(out, summary.dataset, row.algo)
        fits = {fold.number: fold.fit for fold in by_repeat(folds)[0]}
        algorithms.append(Algorithm(row, queries, fits))
    return Results(summary, tuple(algorithms), baseline)


def as_text(value: Any) -> str:
    """A setting as `--set` takes it."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ",".join(map(as_text, value))
    return "none" if value is None else str(value)


def conclusions(results: Results, procedure: Procedure, measure: str) -> list[str]:
    """Which algorithm of those with the most folds is best, and whether that is significant."""
    if results.summary.mixed:
        return [
            "The algorithms were measured by several conventions. Their numbers do not compare, "
            "so that none is called the best."
        ]
    order = best_first(comparable(results.summary), measure)
    sentences = [_opening(results, order, measure)] if order else []
    if len(order) > 1:
        best = order[0].algo
        systems = [a.queries for a in results.algorithms if a.name in {row.algo for row in order}]
        pairs = compare(results.dataset, systems, measure, best, procedure)
        sentences += _tested(order, {pair.a: pair for pair in pairs}, results.baseline, procedure)
    return [*sentences, *(f"{note[0].upper()}{note[1:]}." for note in notes(results.summary))]


def _opening(results: Results, order: Sequence[Row], measure: str) -> str:
    best, value = order[0], f"{order[0].values[measure]:.4f}"
    folds = f"{best.folds} fold{'s' * (best.folds > 1)}"
    if len(order) == 1:
        return f"{best.algo} reaches {label(measure)} {value} on {results.dataset}, over {folds}."
    return (
        f"By {label(measure)}, {best.algo} is the best of {len(order)} algorithms on "
        f"{results.dataset}: {value} over {folds}, before {order[1].algo} with "
        f"{order[1].values[measure]:.4f}."
    )


def _tested(
    order: Sequence[Row], pairs: Mapping[str, Pair], baseline: str, procedure: Procedure
) -> list[str]:
    """What the tests say of the best against the runner-up, the baseline and the others."""
    best, second = order[0].algo, order[1].algo
    role = ", the baseline," if baseline == second else ""
    sentences = [f"Its lead over {second}{role} {_verdict(pairs[second], procedure)}."]
    if baseline in pairs and baseline != second:
        verdict = _verdict(pairs[baseline], procedure)
        sentences.append(f"Its lead over the baseline {baseline} {verdict}.")
    if len(order) > 2:
        worse = sum(pair.sign(procedure.alpha) < 0 for pair in pairs.values())
        named = "all" if worse == len(pairs) else str(worse) if worse else "none"
        sentences.append(
            f"{best} is significantly better than {named} of the {len(pairs)} other algorithms "
            f"({procedure}, p < {procedure.alpha:g})."
        )
    return sentences


def _verdict(pair: Pair, procedure: Procedure) -> str:
    """Say "is significant (...)" or "is not significant (...)"; the pair is the other's view."""
    significant = pair.sign(procedure.alpha) < 0
    lead, (low, high) = float(pair.lead.mean), pair.lead.interval()
    p = probability(pair.adjusted)
    p = f"p {p[0]} {p[1:]}" if p.startswith("<") else f"p = {p}"
    return (
        f"is {'' if significant else 'not '}significant ({-lead:+.4f} a query, 95 % interval "
        f"{-high:+.4f} to {-low:+.4f}, adjusted {p})"
    )
