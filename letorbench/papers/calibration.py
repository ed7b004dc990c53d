"""How often the rules give which answer, where the truth is known; and what data can decide.

The truth is put into the data's own differences: they are moved so that their mean is the paper's
lead, or none, and their units are drawn anew. With few units, as with draws of generated data, a
normal distribution of their size is drawn from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from letorbench.analysis.leads import Lead
from letorbench.analysis.paired import differences, holm
from letorbench.papers.claims import Test
from letorbench.papers.rules import (
    ANSWERS,
    answer_of_all,
    margin_of,
    questions,
    state_of,
)
from letorbench.papers.runs import Values
from letorbench.results.per_query import PerQuery

TRIALS = 1_000
#: below so many units drawing them again would repeat them too often
FEW = 20


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
    kind: str,
    d: np.ndarray,
    bases: Sequence[float],
    margins: Sequence[float],
    effects: Sequence[float],
    rng: np.random.Generator,
    trials: int = TRIALS,
) -> dict[str, float]:
    """The share of each answer of a claim with k comparisons, all of one kind.

    Parameters
    ----------
    kind : {"above", "not below", "alike"}
        What the claim says.
    d : ndarray of shape (n_units, k)
        Differences as they were found.
    bases, margins, effects : sequence of float
        Of each comparison the lower method's mean, and the margin and the true lead in its units.
    """
    drawn = resampled(d, np.asarray(effects), rng, trials)
    ps = [
        questions(kind, Lead.summed(each, base), margin)
        for each, base, margin in zip(drawn, bases, margins)
    ]
    shown, excluded = (np.stack([np.broadcast_to(p[i], trials) for p in ps]) for i in (0, 1))
    found = Counter(
        answer_of_all([state_of(*pair) for pair in zip(holm(shown[:, t]), holm(excluded[:, t]))])
        for t in range(trials)
    )
    return {answer: found[answer] / trials for answer in ANSWERS if answer in found}


def of_test(
    test: Test,
    dataset: str,
    found: Mapping[str, Values],
    rng: np.random.Generator,
    trials: int = TRIALS,
) -> dict[str, dict[str, float]]:
    """The rates of a claim's test on a data set: with no effect, and with the paper's.

    "No effect" is the edge of what the claim denies: no lead at all, or a difference of the margin.
    """
    points = [p for p in test.points() if p.dataset == dataset and {p.upper, p.lower} <= set(found)]
    if not points or not test.compares:
        return {}
    columns = [unit_differences(found[p.upper], found[p.lower], p.measure) for p in points]
    bases = [found[p.lower].mean(p.measure) for p in points]
    margins = [margin_of(test, p) * base for p, base in zip(points, bases)]
    effects = {
        "no effect": [0.0 if test.kind == "above" else -margin for margin in margins],
        "the paper's effect": [
            p.lead * base if p.lead is not None else margin if test.kind == "above" else 0.0
            for p, base, margin in zip(points, bases, margins)
        ],
    }
    d = np.column_stack(columns)
    return {
        name: rates(test.kind, d, bases, margins, each, rng, trials)
        for name, each in effects.items()
    }


def unit_differences(upper: Values, lower: Values, measure: str) -> np.ndarray:
    """(n_units,) differences of what was drawn independently: queries, or draws of the data."""
    d = differences(upper.table(measure).mean(axis=0), lower.table(measure).mean(axis=0))
    if not lower.draws:
        return d
    return np.array([d[lower.folds == k].mean() for k in np.unique(lower.folds)])


def stored_systems(out: Path, dataset: str) -> list[PerQuery]:
    """The per-query values of every competing algorithm of a results folder."""
    from letorbench.results.measuring import competes
    from letorbench.results.summary import read_per_query

    folders = sorted(path.parent for path in (out / dataset).glob("*/per_query.csv"))
    return [read_per_query(out, dataset, each.name) for each in folders if competes(each.name)]
