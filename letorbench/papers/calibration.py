"""How often the rules give which answer, where the truth is known; and what data can decide.

The truth is put into the data's own differences: they are moved so that their mean is the paper's
lead, or none, and their units are drawn anew. With few units, as with draws of generated data, a
normal distribution of their size is drawn from.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, product
from pathlib import Path

import numpy as np

from letorbench.analysis.leads import Lead
from letorbench.analysis.paired import differences, holm
from letorbench.analysis.tables import Value, write_table
from letorbench.papers import rules
from letorbench.papers.claims import Claim, Test
from letorbench.papers.records import share
from letorbench.papers.runs import ByMethod, Values
from letorbench.results.frame import require_row
from letorbench.results.measuring import competes
from letorbench.results.per_query import PerQuery

#: what a claim of comparisons can be told
TOLD = (rules.REPRODUCED, rules.NOT_REPRODUCED, rules.UNDECIDED)
TRIALS = 1_000
#: below so many units drawing them again would repeat them too often
FEW = 20
#: what the smallest leads are told of
MEASURES = ("ndcg@1", "ndcg@3", "ndcg@10", "map")


def resampled(
    d: np.ndarray, effects: np.ndarray, rng: np.random.Generator, trials: int = TRIALS
) -> np.ndarray:
    """(k, trials, n) differences of k comparisons, (n, k) d, whose true means are the effects."""
    n = len(d)
    centred = d - d.mean(axis=0)
    if n >= FEW:
        drawn = centred[rng.integers(n, size=(trials, n))]
    else:
        spread = np.cov(centred, rowvar=False).reshape(d.shape[1], -1)
        drawn = rng.multivariate_normal(np.zeros(d.shape[1]), spread, size=(trials, n))
    return np.moveaxis(drawn + effects, 2, 0)


def rates(
    kind: str, drawn: np.ndarray, bases: Sequence[float], margins: Sequence[float]
) -> dict[str, float]:
    """The share of each answer of a claim with k comparisons, all of one kind.

    drawn: (k, trials, n_units) differences as of `resampled`. bases, margins: (k,) of each
    comparison the lower method's mean, and the margin in its units.
    """
    trials = drawn.shape[1]
    ps = [
        rules.questions(kind, Lead.summed(each, base), margin)
        for each, base, margin in zip(drawn, bases, margins)
    ]
    shown, excluded = (np.stack([np.broadcast_to(p[i], trials) for p in ps]) for i in (0, 1))
    found = Counter(
        rules.answer_of(
            [[rules.state_of(*pair)] for pair in zip(holm(shown[:, t]), holm(excluded[:, t]))]
        )
        for t in range(trials)
    )
    return {answer: found[answer] / trials for answer in rules.ANSWERS if answer in found}


def of_test(
    test: Test, dataset: str, found: Mapping[str, Values], rng: np.random.Generator
) -> dict[str, dict[str, float]]:
    """The rates of a claim's test on a data set: with no effect, and with the paper's.

    "No effect" is the edge of what the claim denies: no lead at all, or a difference of the margin.
    """
    points = [p for p in test.points() if p.dataset == dataset and {p.upper, p.lower} <= set(found)]
    if not points or not test.compares:
        return {}
    d = np.column_stack(
        [unit_differences(found[p.upper], found[p.lower], p.measure) for p in points]
    )
    bases = [found[p.lower].mean(p.measure) for p in points]
    margins = [rules.margin_of(test, p) * base for p, base in zip(points, bases)]
    effects = {
        "no effect": [0.0 if test.kind == "above" else -margin for margin in margins],
        "the paper's effect": [
            p.lead * base if p.lead is not None else margin if test.kind == "above" else 0.0
            for p, base, margin in zip(points, bases, margins)
        ],
    }
    return {
        name: rates(test.kind, resampled(d, np.array(each), rng), bases, margins)
        for name, each in effects.items()
    }


def unit_differences(upper: Values, lower: Values, measure: str) -> np.ndarray:
    """(n_units,) differences of what was drawn independently: queries, or draws of the data."""
    d = differences(upper[measure], lower[measure])
    if not lower.draws:
        return d
    return np.array([d[lower.folds == k].mean() for k in np.unique(lower.folds)])


def write(stem: Path, claims: Sequence[Claim], found: ByMethod) -> tuple[Path, ...]:
    """The rates of each claim, a row a data set and truth, where the values are at hand."""
    rng, rows = np.random.default_rng(0), list[list[Value]]()
    for claim, test in ((claim, test) for claim in claims for test in claim.tests):
        for dataset, values in found.items():
            moved = replace(test, data=(dataset,)) if len(test.data) < 2 else test
            for truth, shares in of_test(moved, dataset, values, rng).items():
                told = (shares.get(answer, 0.0) for answer in TOLD)
                rows.append([claim.id, test.kind, dataset, truth, *told])
    header = ("claim", "kind", "data", "truth", *TOLD)
    return write_table(stem, f"{stem.name}: how often which answer", header, rows) if rows else ()


def stored(folders: Iterable[Path]) -> tuple[list[str], list[list[str]]]:
    """Columns and rows of what `write` wrote for the papers."""
    header, rows = list[str](), list[list[str]]()
    for path in (path for folder in folders for path in sorted(folder.glob("calibration-*.csv"))):
        header, *own = csv.reader(path.read_text(encoding="utf-8").splitlines())
        rows += own
    return header, rows


def too_small(outcomes: Iterable[rules.Outcome]) -> list[list[str]]:
    """The printed leads below the smallest that shows: claim, data, what, both as shares."""
    return [
        [o.claim.id, row.place, row.what, share(row.printed, row.base), share(low, row.base)]
        for o in outcomes
        for row in o.rows
        if row.kind == "above" and (low := row.smallest) and 0.0 < (row.printed or 0.0) < low
    ]


def power_rows(out: Path) -> list[list[str]]:
    """What the stored runs can show, a row a data set and measure; all pairs in papers/power.

    A row has the first decile, the median and the last decile of the smallest leads, as shares of
    the lower mean. Pairs that never differ show nothing, however many queries there are.
    """
    text, runs = [], out / "papers" / "runs" / "ndcg@10"
    for dataset in sorted(path.name for path in runs.glob("*") if path.is_dir()):
        own = sorted(path.parent.name for path in (runs / dataset).glob("*/per_query.csv"))
        systems = [require_row(runs, dataset, name).queries for name in own if competes(name)]
        if len(systems) < 2:
            continue
        rows = smallest_leads(systems, MEASURES)
        title = f"{dataset}: the smallest lead that shows in 80 % of cases"
        header = ("method", "other", "measure", "lead", "share of the mean")
        write_table(out / "papers" / "power" / dataset, title, header, rows)
        for measure in MEASURES:
            if shares := [
                share for *_, name, lead, share in rows if name == measure and lead > 0.0
            ]:
                deciles = (f"{100.0 * each:.1f} %" for each in np.quantile(shares, (0.1, 0.5, 0.9)))
                text.append([dataset, measure, str(len(shares)), *deciles])
    return text


def smallest_leads(
    systems: Sequence[PerQuery], measures: Sequence[str]
) -> list[tuple[str, str, str, float, float]]:
    """What stored values can show: (method, other, measure, smallest lead, its share of the mean).

    The smallest lead is what shows in 80 % of cases, at a two-sided level of 5 %, of each pair. Its
    share is of the lower one's mean.
    """
    rows = []
    for (one, other), measure in product(combinations(systems, 2), measures):
        upper, lower = sorted((one, other), key=lambda each: -each.mean(measure))
        lead = Lead.of(upper.tables[measure], lower.tables[measure], lower.folds)
        share = lead.smallest() / lead.base if lead.base > 0.0 else np.inf
        rows.append((one.algo, other.algo, measure, lead.smallest(), share))
    return rows
