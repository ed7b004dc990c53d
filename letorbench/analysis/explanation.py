"""Why one algorithm is below another: what it learned, what it kept, and on which queries.

The numbers are those by which validation chose: of the training part, the validation part and the
test part, each the mean over folds and seeds. Nothing here is chosen by them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from letorbench.analysis.comparison import Pair, Procedure, on_common_folds, with_values
from letorbench.analysis.paired import differences
from letorbench.analysis.results_table import label
from letorbench.analysis.tables import Column, Table, Value, probability, table
from letorbench.measures import sign
from letorbench.results.frame import Frame, Row
from letorbench.results.measuring import IDEAL, RANDOM

#: how many of the queries that differ most are taken away to see what they make up
FEW = 5
#: how many queries that gain and that lose most are shown beside the reasons of a difference
WHY_QUERIES = 3
#: more algorithms than this are counted and not named in a line
MOST_NAMED = 8


@dataclass(frozen=True)
class Learned:
    """What became of one algorithm on the three parts, by the measure that validation chose by."""

    measure: str
    training: float
    validation: float
    test: float
    #: how far the chosen setting is above the next one on validation; NaN where there is one
    margin: float

    @property
    def fall(self) -> float:
        """How much is lost from the training part to the test part."""
        return self.training - self.test

    @classmethod
    def of(cls, row: Row) -> Learned | None:
        """What a row's fits say; None for another system's scores and for reference points."""
        measure = row.stored[0].fit.get("validation", {}).get("measure")
        if measure is None or row.label.algo in (RANDOM, IDEAL):
            return None
        facts = [fold.fit["validation"] for fold in row.stored]
        values = ([_number(trial["value"]) for trial in each.get("grid") or []] for each in facts)
        finite = (sorted(filter(math.isfinite, each), reverse=True) for each in values)
        margins = [each[0] - each[1] for each in finite if len(each) > 1]
        training, validation = (
            float(np.mean([_number(each.get(part)) for each in facts]))
            for part in ("training", "value")
        )
        test = float(np.mean([_number(fold.means.get(measure)) for fold in row.stored]))
        margin = float(np.mean(margins)) if margins else math.nan
        return cls(measure, training, validation, test, margin)


def _number(value: Any) -> float:
    return math.nan if value is None else float(value)


def tuned(row: Row) -> str:
    """What validation chose among: "4-6 settings, rounds"; "" where nothing was chosen."""
    facts = [fold.fit.get("validation", {}) for fold in row.stored]
    counts = sorted({len(each.get("grid") or []) for each in facts} - {0})
    number = "-".join(map(str, counts[:: len(counts) - 1 or 1]))
    rounds = any(
        len(own.get("curve") or []) > 1
        for each in facts
        for own in (each, *(each.get("grid") or []))
    )
    return ", ".join(filter(None, [f"{number} settings" if counts else "", "rounds" * rounds]))


def tuning_line(frame: Frame) -> str:
    """One line: which algorithms were tuned on validation, among what, and which were fixed."""
    what = {row.algo: tuned(row) for row in frame.rows if Learned.of(row) is not None}
    chosen = [f"{name} ({text})" for name, text in what.items() if text]
    fixed = [name for name, text in what.items() if not text]
    if len(what) > MOST_NAMED:
        return f"tuned on validation: {len(chosen)} algorithms; fixed: {len(fixed)}"
    parts = ["tuned on validation: " + ", ".join(chosen)] * bool(chosen)
    return "; ".join([*parts, *["fixed: " + ", ".join(fixed)] * bool(fixed)])


def learning_table(frame: Frame, notes: Sequence[str] = ()) -> Table:
    """A row an algorithm: what it was tuned among, its numbers on the three parts, the margin.

    Another system's scores and reference points have none of them.
    """
    rows: list[list[Value]] = []
    for row in frame.rows:
        own = Learned.of(row)
        if own is None:
            rows.append([frame.dataset, row.algo, "", "", *[math.nan] * 5])
        else:
            parts = (own.training, own.validation, own.test, own.fall, own.margin)
            rows.append([frame.dataset, row.algo, tuned(row) or "fixed", own.measure, *parts])
    caption = (
        f"{frame.dataset}: what validation chose, on all three parts; mean over folds and seeds; "
        "fall: from training to test; margin: over the next setting, on validation"
    )
    heads = (
        Column(name="dataset"),
        Column("algorithm", "left", "algo"),
        Column("tuned", "left", "tuned"),
        Column("chosen by", "left", "select"),
        *(Column(name, name=name, form=".4f") for name in ("training", "validation", "test")),
        *(Column(name, name=name, form="+.4f") for name in ("fall", "margin")),
    )
    return table(caption, heads, rows, notes)


def why(frame: Frame, pair: Pair, procedure: Procedure) -> list[str]:
    """Sentences that say where a difference comes from, the most important first.

    frame: of the two algorithms.
    """
    rows = {row.algo: row for row in frame.rows}
    ahead = sign(pair.measure) * float(pair.lead.mean) >= 0
    high, low = (rows[name] for name in ((pair.a, pair.b) if ahead else (pair.b, pair.a)))
    gap, p = abs(float(pair.lead.mean)), probability(pair.adjusted)
    sentence = f"{low.algo} is {gap:.4f} worse than {high.algo} in {label(pair.measure)} a query, "
    if pair.sign(procedure.alpha):
        sentence += f"which is significant (adjusted p {p})"
    else:
        sentence += f"which is not significant (adjusted p {p}): it may be chance alone"
    return [sentence, *_learned(low, high, gap), *_queries(frame.dataset, low, high, pair.measure)]


def _learned(low: Row, high: Row, gap: float) -> list[str]:
    """Whether the lower one learns less or loses more of it, and how sure its selection was."""
    one, other = Learned.of(low), Learned.of(high)
    sentences = []
    if one is not None and other is not None and one.measure == other.measure:
        less, more = other.training - one.training, one.fall - other.fall
        trained = f"in training it has {label(one.measure)} {one.training:.4f} against "
        trained += f"{other.training:.4f}"
        falls = f"from training to test it falls by {one.fall:.4f} against {other.fall:.4f}"
        if less + more > 0 and less >= more:
            sentences.append(f"underfitting rather than overfitting: {trained}; {falls}")
        elif less + more > 0:
            sentences.append(f"overfitting rather than underfitting: {falls}; {trained}")
    if one is not None and one.margin == one.margin:
        close = ", less than the difference: the choice may decide" * (one.margin < gap)
        sentences.append(f"its setting is {one.margin:.4f} above the next on validation{close}")
    return sentences


def _queries(dataset: str, low: Row, high: Row, measure: str) -> list[str]:
    """On how many queries it is better and worse, and what the few worst make up."""
    one, other = with_values(*on_common_folds(dataset, low.queries, high.queries), measure)
    d = np.sort(sign(measure) * differences(one.values[measure], other.values[measure]))
    counts = f"it is better on {(d > 0).sum()} queries and worse on {(d < 0).sum()} of {len(d)}"
    if len(d) <= FEW:
        return [counts]
    rest = float(d[FEW:].sum()) / len(d)
    return [
        f"{counts}; without the {FEW} worst it would be {abs(rest):.4f} "
        f"{'worse' if rest < 0 else 'better'}"
    ]
