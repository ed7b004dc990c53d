"""Two runs of one method: the same system, a similar one, or a lucky mean?

The measures are those of reproducibility studies: T. Breuer, N. Ferro, N. Fuhr, M. Maistro,
T. Sakai, P. Schaer, I. Soboroff, "How to Measure the Reproducibility of System-oriented IR
Experiments", SIGIR 2020.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import stats

from letorbench.analysis.paired import t
from letorbench.analysis.tables import columns, table
from letorbench.errors import DataError, UsageError
from letorbench.results.dataset_results import data_of, require_system
from letorbench.results.paths import present
from letorbench.results.per_query import PerQuery
from letorbench.results.store import by_repeat
from letorbench.verify import FINE, SUSPICIOUS, Verdict
from letorbench.verify.stored import by_query

#: the number of first documents whose overlap is counted
DEPTH = 10


class Agreement(NamedTuple):
    """How two runs agree."""

    #: Kendall's tau of the rankings, the mean over queries (section 3.1); a query whose scores are
    #: all equal in a run is left out
    tau: float
    #: the share of the first `DEPTH` documents that both have, the mean over queries
    overlap: float
    #: the measure's mean of each run
    one: float
    other: float
    #: the root mean square of the differences by query (section 3.2)
    rmse: float
    #: Pearson's correlation of the values by query
    correlation: float
    #: the second run's mean improvement over the baseline, over the first run's (section 3.3); 1
    #: where the effect is the same. None without a baseline.
    effect_ratio: float | None
    #: of the paired t-test (section 3.4)
    p: float

    @property
    def same(self) -> bool:
        """Whether the two runs are the same system, or a similar one."""
        return self.verdict.startswith(("the same", "a similar"))

    @property
    def verdict(self) -> str:
        """The relation of the two runs in words."""
        if self.tau > 0.999 and self.rmse < 1e-3:
            return "the same system: the rankings are the same"
        if self.p < 0.05:
            return "different systems: their means differ (p < .05)"
        if self.correlation >= 0.9 and self.tau >= 0.5:
            return "a similar system: rankings and values by query agree, not only the means"
        return "equal means of different rankings: the values by query do not agree"


def agreement(
    scores: Sequence[tuple[np.ndarray, np.ndarray]],
    values: Sequence[PerQuery],
    measure: str,
    baselines: Sequence[PerQuery] = (),
) -> Agreement:
    """Compare two runs of one data set; DataError unless they hold the same queries.

    scores: each query's scores in both runs, (n_docs_of_query,) each. values: each run's values.
    baselines: those of the baseline as each run has it, or none.
    """
    one, other = values
    if one.qids.tolist() != other.qids.tolist():
        raise DataError(f"found {len(one.qids)} and {len(other.qids)} queries, expected the same")
    taus = [stats.kendalltau(*pair).statistic for pair in scores if len(pair[0]) > 1]
    first = [[set(np.argsort(-s, kind="stable")[:DEPTH].tolist()) for s in pair] for pair in scores]
    a, b = one.values[measure], other.values[measure]
    effects = [
        float(np.mean(own.values[measure] - base.values[measure]))
        for own, base in zip(values, baselines)
    ]
    varies = a.std() > 0 and b.std() > 0
    return Agreement(
        tau=float(np.nanmean(taus)) if np.isfinite(taus).any() else 1.0,
        overlap=float(np.mean([len(a & b) / len(a) for a, b in first])),
        one=one.mean(measure),
        other=other.mean(measure),
        rmse=float(np.sqrt(np.mean((a - b) ** 2))),
        correlation=float(np.corrcoef(a, b)[0, 1]) if varies else float(np.array_equal(a, b)),
        effect_ratio=effects[1] / effects[0] if effects and effects[0] else None,
        p=t(a, b),
    )


def compare_runs(
    outs: tuple[Path, Path], algo: str, baseline: str | None, measure: str, data_dir: Path
) -> Verdict:
    """Return how the runs of an algorithm in two results folders agree, a row for each data set."""
    found = {}
    for dataset in sorted({*present(outs[0])} & {*present(outs[1])}):
        runs = [
            [require_system(out, dataset, name).with_measures([measure], data_dir) for out in outs]
            for name in (algo, baseline)
            if name
        ]
        tests = {fold.number: fold.test for fold in data_of(data_dir, runs[0][0].stored).folds}
        scores = [
            [own for fold in by_repeat(row.stored)[0] for own in by_query(fold, tests[fold.number])]
            for row in runs[0]
        ]
        values, *baselines = ([row.queries for row in own] for own in runs)
        found[dataset] = agreement(list(zip(*scores)), values, measure, *baselines)
    if not found:
        raise UsageError(f"found no data set with results in both {outs[0]} and {outs[1]}")
    formats = {
        "tau": ".3f", f"first {DEPTH}": ".3f", "one": ".4f", "other": ".4f", "RMSE": ".4f",
        "correlation": ".3f", "effect ratio": ".2f", "p": ".4f",
    }  # fmt: skip
    heads = (*columns(["data set"], formats), *columns(["verdict"]))
    rows = [(dataset, *own, own.verdict) for dataset, own in found.items()]
    status = FINE if all(own.same for own in found.values()) else SUSPICIOUS
    return Verdict(status, table(f"{algo}, {measure}: {outs[0]} and {outs[1]}", heads, rows))
