"""What results say in sentences: which algorithm is best, is that significant, and why.

The reasons are numbers of the measure that validation chose by, on the training, validation and
test parts, each the mean over folds and seeds. Nothing is chosen by them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from letorbench.analysis import tables
from letorbench.analysis.comparison import Pair, Procedure, compare, differences_by_query
from letorbench.analysis.results_table import best_first, comparable, label, notes, tuned
from letorbench.analysis.tables import Column, Table, Value, probability, table
from letorbench.measures import sign
from letorbench.results.dataset_results import DatasetResults, SystemResults

#: the number of the worst queries that are left out to see how much of a difference they make up
FEW = 5
#: how many queries that gain and that lose most are shown with the reasons of a difference
WHY_QUERIES = 3


def page_tests(
    frame: DatasetResults, others: Sequence[str], procedure: Procedure, measure: str
) -> tuple[Pair, ...]:
    """All tests of a page, corrected together: every row against the best one and the others."""
    if frame.mixed or len(frame.rows) < 2:
        return ()
    against = [*(row.algo for row in _ranked(frame, measure)[:1]), *others]
    return compare(frame.dataset, [r.queries for r in frame.rows], measure, against, procedure)


def conclusions(
    frame: DatasetResults, pairs: Sequence[Pair], baseline: str, procedure: Procedure, measure: str
) -> list[str]:
    """Which algorithm of those with the most folds is best, and whether significantly so."""
    if frame.mixed:
        return ["The algorithms were measured by several conventions. Their numbers cannot be "
                "compared, so none is called the best."]  # fmt: skip
    order, sentences = _ranked(frame, measure), []
    names = [row.algo for row in order]
    values = [f"{row.values[measure]:.4f}" for row in order[:2]]
    if order:
        folds = f"{order[0].folds} fold{'s' * (order[0].folds > 1)}"
    if len(order) == 1:
        where = f"{values[0]} on {frame.dataset}, over {folds}."
        sentences = [f"{names[0]} reaches {label(measure)} {where}"]
    elif order:
        sentences = [
            f"By {label(measure)}, {names[0]} is the best of {len(order)} algorithms on "
            f"{frame.dataset}: {values[0]} over {folds}, ahead of {names[1]} with {values[1]}."
        ]
        of_best = {pair.a: pair for pair in pairs if pair.b == names[0] and pair.a in names}
        sentences += _tested(names, of_best, baseline, procedure)
    return [*sentences, *(f"{note[0].upper()}{note[1:]}." for note in notes(frame))]


def _ranked(frame: DatasetResults, measure: str) -> list[SystemResults]:
    rows = best_first(comparable(frame), measure)
    return [row for row in rows if not math.isnan(row.values[measure])]


def _tested(
    order: Sequence[str], pairs: Mapping[str, Pair], baseline: str, procedure: Procedure
) -> list[str]:
    """What the tests say of the best against the runner-up, the baseline and the others."""

    def verdict(name: str) -> str:
        significant = "" if pairs[name].sign(procedure.alpha) < 0 else "not "
        return f"is {significant}significant ({numbers(pairs[name])})"

    best, second = order[:2]
    role = ", the baseline," if baseline == second else ""
    sentences = [f"Its lead over {second}{role} {verdict(second)}."]
    if baseline in pairs and baseline != second:
        sentences.append(f"Its lead over the baseline {baseline} {verdict(baseline)}.")
    if len(order) > 2:
        worse = sum(pair.sign(procedure.alpha) < 0 for pair in pairs.values())
        counted = "all" if worse == len(pairs) else str(worse) if worse else "none"
        sentences.append(
            f"{best} is significantly better than {counted} of the {len(pairs)} other algorithms "
            f"({procedure.over([*pairs.values()])}, p < {procedure.alpha:g})."
        )
    return sentences


def numbers(pair: Pair) -> str:
    """How far b is above a; the interval is that of this pair by itself."""
    mean, (low, high) = pair.difference.mean, pair.difference.interval()
    p = probability(pair.adjusted)
    p = f"p {p[0]} {p[1:]}" if p.startswith("<") else f"p = {p}"
    alone = " by itself" * (pair.tests > 1)
    return f"{-mean:+.4f} per query, 95 % interval{alone} {-high:+.4f} to {-low:+.4f}, adjusted {p}"


@dataclass(frozen=True)
class PartMeans:
    """The means of an algorithm on the three parts, by the measure that validation chose by."""

    measure: str
    training: float
    validation: float
    test: float
    #: the lead of the chosen setting over the runner-up on validation; NaN without a runner-up
    margin: float

    @property
    def generalisation_gap(self) -> float:
        """The mean on the training part minus that on the test part."""
        return self.training - self.test

    @classmethod
    def of(cls, row: SystemResults) -> PartMeans | None:
        """The means of a row; None for another system's scores and for reference points."""
        if tuned(row) is None:
            return None
        measure = row.stored[0].fit["validation"]["measure"]
        facts = [fold.fit["validation"] for fold in row.stored]
        # None, of what was not measured, becomes NaN
        values = (np.array([t["value"] for t in f.get("grid") or []], dtype=float) for f in facts)
        finite = (np.sort(each[np.isfinite(each)])[::-1] for each in values)
        margins = [each[0] - each[1] for each in finite if len(each) > 1]
        parts = (
            [each.get("training") for each in facts],
            [each.get("value") for each in facts],
            [fold.means.get(measure) for fold in row.stored],
        )
        training, validation, test = (float(np.mean(np.array(each, float))) for each in parts)
        margin = float(np.mean(margins)) if margins else math.nan
        return cls(measure, training, validation, test, margin)


def learning_table(frame: DatasetResults, notes: Sequence[str] = ()) -> Table:
    """A row for each algorithm: what was tuned, its means on the three parts, the margin."""
    rows: list[list[Value]] = []
    for row in frame.rows:
        facts: list[Value] = ["", "", *[math.nan] * 5]
        if means := PartMeans.of(row):
            parts = (
                means.training, means.validation, means.test, means.generalisation_gap,
                means.margin,
            )  # fmt: skip
            facts = [tuned(row) or "fixed", means.measure, *parts]
        rows.append([frame.dataset, row.algo, *facts])
    caption = (
        f"{frame.dataset}: the chosen models on all three parts, mean over folds and seeds; "
        "fall = training minus test; margin = lead over the runner-up setting on validation"
    )
    heads = (
        tables.DATASET, tables.ALGORITHM,
        *tables.columns(["tuned"]), Column("chosen by", "left", "select"),
        *tables.columns([], dict.fromkeys(("training", "validation", "test"), ".4f")),
        *tables.columns([], dict.fromkeys(("fall", "margin"), "+.4f")),
    )  # fmt: skip
    return table(caption, heads, rows, notes)


def diagnose(frame: DatasetResults, pair: Pair, procedure: Procedure) -> list[str]:
    """Sentences that say where the difference of the two comes from, the most important first."""
    if not pair.difference.n_values:
        return [f"no query has a value of {label(pair.measure)}: nothing is compared"]
    rows = {row.algo: row for row in frame.rows}
    ahead = sign(pair.measure) * pair.difference.mean >= 0
    high, low = (rows[name] for name in ((pair.a, pair.b) if ahead else (pair.b, pair.a)))
    gap, p = abs(pair.difference.mean), probability(pair.adjusted)
    chance = pair.sign(procedure.alpha) == 0
    sentence = (
        f"{low.algo} is {gap:.4f} worse than {high.algo} in {label(pair.measure)} per query, which "
        f"is {'not ' * chance}significant (adjusted p {p}){': it may be chance alone' * chance}"
    )
    return [sentence, *_learned(low, high, gap), *_queries(frame.dataset, low, high, pair.measure)]


def _learned(low: SystemResults, high: SystemResults, gap: float) -> list[str]:
    """Whether the lower one underfits or overfits, and how sure its selection was."""
    one, other = PartMeans.of(low), PartMeans.of(high)
    sentences = []
    if one is not None and other is not None and one.measure == other.measure:
        less = other.training - one.training
        more = one.generalisation_gap - other.generalisation_gap
        trained = (
            f"in training it has {label(one.measure)} {one.training:.4f} against "
            f"{other.training:.4f}"
        )
        falls = (
            f"from training to test it falls by {one.generalisation_gap:.4f} against "
            f"{other.generalisation_gap:.4f}"
        )
        if less + more > 0 and less >= more:
            sentences.append(f"underfitting rather than overfitting: {trained}; {falls}")
        elif less + more > 0:
            sentences.append(f"overfitting rather than underfitting: {falls}; {trained}")
    if one is not None and not math.isnan(one.margin):
        close = one.margin < gap
        sentences.append(
            f"its setting beat the runner-up by {'only ' * close}{one.margin:.4f} on validation"
            + "; another choice could explain the difference" * close
        )
    return sentences


def _queries(dataset: str, low: SystemResults, high: SystemResults, measure: str) -> list[str]:
    """On how many queries it is better and worse, and how much the few worst make up."""
    _, _, d = differences_by_query(dataset, low.queries, high.queries, measure)
    counts = f"it is better on {(d > 0).sum()} queries and worse on {(d < 0).sum()} of {len(d)}"
    if len(d) <= FEW:
        return [counts]
    rest = float(np.sort(d)[FEW:].sum()) / len(d)
    return [
        f"{counts}; without the {FEW} worst it would be {abs(rest):.4f} "
        f"{'worse' if rest < 0 else 'better'}"
    ]
