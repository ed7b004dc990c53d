"""Results folders measured again by plain definitions; two runs of one method.

The measures of agreement are those of T. Breuer, N. Ferro, N. Fuhr, M. Maistro, T. Sakai,
P. Schaer, I. Soboroff, "How to Measure the Reproducibility of System-oriented IR Experiments",
SIGIR 2020.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

import numpy as np

from letorbench.analysis.paired import t
from letorbench.analysis.tables import Column, columns, table
from letorbench.conventions import Convention
from letorbench.datasets.queryset import QuerySet
from letorbench.errors import DataError, LetorError, UsageError
from letorbench.files import read_file
from letorbench.measures.rankings import document_ids
from letorbench.results import paths
from letorbench.results.dataset_results import (
    DatasetResults,
    SystemResults,
    algorithm_tables,
    data_of,
    require_system,
    summary_csv,
)
from letorbench.results.measuring import RANDOM
from letorbench.results.paths import present
from letorbench.results.per_query import PerQuery, mean_of
from letorbench.results.store import Store, StoredFold
from letorbench.verify import FINE, IMPOSSIBLE, SUSPICIOUS, Verdict, plain

#: how far a stored number may be from the plain definition's: both round on the way
TOLERANCE = 1e-9
#: how many problems of a results folder are shown
MOST_PROBLEMS = 20
#: the time of writing and the content of each table
_Tables = dict[Path, tuple[int, bytes]]


@dataclass(frozen=True)
class Traced:
    """The origin of an algorithm's numbers, and the problems that a second look found."""

    dataset: str
    algo: str
    #: the folds, which know their convention and the digests of their data, code and scores
    folds: tuple[StoredFold, ...] = ()
    #: the number of per-query values that were measured again, and of those that were not: they
    #: have no plain definition, or too many orders of equal scores
    cells: int = 0
    unmeasured: int = 0
    #: a line for each number that does not agree
    problems: tuple[str, ...] = ()


def check_folder(out: Path, data_dir: Path) -> Verdict:
    """Measure a results folder again; the table has a row for each algorithm."""
    datasets = paths.present(out)
    if not datasets:
        raise DataError(f"{out}: found no finished fold, expected a results folder")
    traced = [each for dataset in datasets for each in trace(out, data_dir, dataset)]
    problems = [line for each in traced for line in each.problems]
    rows = []
    for each in traced:
        facts = [{**fold.fit["test"], **fold.identity} for fold in each.folds] or [{}]
        digests = " ".join(fold.fit["files"][paths.SCORES] for fold in each.folds)
        origin = [facts[0].get(name, "") for name in ("convention", "data", "code")]
        counts = each.cells, each.unmeasured, len(each.problems)
        rows.append((each.dataset, each.algo, *origin, *counts, digests, "\n".join(each.problems)))
    caption = (
        f"{out}: {sum(each.cells for each in traced)} numbers measured again by plain definitions, "
        f"{len(problems)} problems"
    )
    heads = (
        *columns(["data set", "algorithm", "convention"]),
        *(Column(name, "left", name, ".8") for name in ("data", "code")),
        *columns([], {"measured": "d", "not": "d", "problems": "d"}),
        *(Column(name=name) for name in ("scores", "lines")),
    )
    lines = list(dict.fromkeys(problems))  # all algorithms may lack the same data set
    more = len(lines) - MOST_PROBLEMS
    rest = [f"and {more} more (--format json has all)"] if more > 0 else []
    notes = (*lines[:MOST_PROBLEMS], *rest)
    return Verdict(IMPOSSIBLE if problems else FINE, table(caption, heads, rows, notes))


def trace(out: Path, data_dir: Path, dataset: str) -> list[Traced]:
    """Check a data set's files, values and tables; a run that goes on lacks its tables."""
    folder = out / dataset
    # tables first: one that is newer than the folds seen below would seem wrong
    tables: _Tables = {}
    for path in (*folder.glob("*.csv"), *folder.glob("*/*.csv")):
        with suppress(OSError):
            tables[path] = path.stat().st_mtime_ns, read_file(path)
    store = Store(out, dataset).look()
    frame = DatasetResults.of(store)
    damaged: dict[str, list[str]] = {}
    for fold, line in store.damaged.items():
        damaged.setdefault(fold.relative_to(folder).parts[0], []).append(line)
    rows = {row.algo: row for row in frame.rows}
    traced = [
        _algorithm(dataset, algo, rows.get(algo), damaged.get(algo, []), data_dir, tables)
        for algo in sorted({*rows, *damaged})
    ]
    stored = [fold for row in frame.rows for fold in row.stored]
    problems = tuple(_differences(folder / paths.SUMMARY, summary_csv(frame), stored, tables))
    return [*traced, Traced(dataset, "summary", problems=problems)]


def _algorithm(
    dataset: str,
    algo: str,
    row: SystemResults | None,
    damaged: list[str],
    data_dir: Path,
    tables: _Tables,
) -> Traced:
    folds, problems = row.stored if row else (), list(damaged)
    looked: list[str | None] = []
    if row:
        try:
            benchmark = data_of(data_dir, folds)
        except LetorError as error:
            problems.append(f"not measured again: {error}")
        else:
            tests = {fold.number: fold.test for fold in benchmark.folds}
            for fold in folds:
                try:
                    values = list(_values(fold, tests[fold.number], benchmark.convention))
                except LetorError as error:
                    problems.append(f"not measured again: {error}")
                    continue
                looked += values
                problems += filter(None, [*values, *_rest(fold, tests[fold.number].qids)])
        for name, text in algorithm_tables(row).items():
            path = folds[0].folder_of_algo / name
            problems += _differences(path, text, folds, tables)
    unmeasured = looked.count(None)
    return Traced(dataset, algo, folds, len(looked) - unmeasured, unmeasured, tuple(problems))


def by_query(fold: StoredFold, test: QuerySet) -> list[np.ndarray]:
    """Return the stored scores of each query of a fold's test part, (n_docs_of_query,) each."""
    return np.split(fold.scores(test.n_docs), test.offsets[1:-1])


def _values(fold: StoredFold, test: QuerySet, rules: Convention) -> Iterator[str | None]:
    """Yield a line for each wrong value, "" for a right one, None if it is not measured again."""
    rules = replace(rules, ties="mean") if fold.identity["algo"] == RANDOM else rules
    path, measures = fold.folder / paths.QUERIES, list(fold.queries.values)
    columns = (column.tolist() for column in fold.queries.values.values())
    stored = dict(zip(fold.queries.qids.tolist(), zip(*columns)))
    labels = np.split(test.labels, test.offsets[1:-1])
    names = np.split(document_ids(test.docids, test.offsets), test.offsets[1:-1])
    for qid, judged, scores, docids in zip(test.qids.tolist(), labels, by_query(fold, test), names):
        there = stored.get(qid, (math.nan,) * len(measures))
        again = plain.values(measures, judged.tolist(), scores.tolist(), rules, docids.tolist())
        for name, found, expected in zip(measures, there, again):
            where = f"{path}: query {qid}, {name}"
            yield None if expected is None else _differs(where, found, expected)


def _rest(fold: StoredFold, qids: np.ndarray) -> Iterator[str]:
    """Yield a line for each query that is not in the data and each wrong mean, else ""."""
    for qid in np.setdiff1d(fold.queries.qids, qids):
        yield f"{fold.folder / paths.QUERIES}: found query {qid}, not in the data"
    for name, values in fold.queries.in_means.values.items():
        where = f"{fold.folder / paths.FIT}: the mean of {name}"
        mean = float(mean_of(values))
        yield _differs(where, fold.means[name], mean)


def _differs(where: str, found: float, expected: float) -> str:
    """Return a line that says so where two numbers do not agree, "" where they do."""
    agree = abs(expected - found) <= TOLERANCE or (math.isnan(expected) and math.isnan(found))
    return "" if agree else f"{where}: found {found:.10g}, expected {expected:.10g}"


def _differences(
    path: Path, expected: str, folds: Sequence[StoredFold], tables: _Tables
) -> Iterator[str]:
    """Yield a line for the first cell that differs from its folds, unless a fold is newer."""
    if path not in tables and os.path.lexists(path):
        yield f"{path}: found no readable table, expected a regular file"
        return
    written, content = tables.get(path, (0, b""))
    if any((fold.folder / paths.FIT).stat().st_mtime_ns > written for fold in folds):
        return
    found = content.decode("utf-8", "replace")
    lines = zip_longest(found.split("\n"), expected.split("\n"), fillvalue="")
    for n, line in enumerate(lines, 1):
        for there, wanted in zip_longest(*(text.split(",") for text in line), fillvalue=""):
            if there != wanted:
                there, wanted = there or "nothing", wanted or "nothing"
                yield f"{path}:{n}: found {there}, expected {wanted}, as its folds say"
                return


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
    """Compare two runs by each query's scores in both, and by their values on the same queries."""
    from scipy import stats

    for one, other in (values, *zip(values, baselines)):
        if one.qids.tolist() != other.qids.tolist():
            raise DataError(
                f"found {len(one.qids)} queries of {one.algo} and {len(other.qids)} of "
                f"{other.algo}, expected the same"
            )
    kept = ~np.isnan(sum(run.values[measure] for run in (*values, *baselines)))
    if not kept.any():
        raise DataError(f"found no query with a value of {measure}, expected one")
    values, baselines = ([run.at(kept) for run in runs] for runs in (values, baselines))
    one, other = values
    taus = [stats.kendalltau(*pair).statistic for pair in scores if len(pair[0]) > 1]
    first = [[set(np.argsort(-s, kind="stable")[:DEPTH].tolist()) for s in pair] for pair in scores]
    a, b = one.values[measure], other.values[measure]
    effects = [
        float(np.mean(run.values[measure] - base.values[measure]))
        for run, base in zip(values, baselines)
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
    agreements = {}
    for dataset in sorted({*present(outs[0])} & {*present(outs[1])}):
        runs = [
            [require_system(out, dataset, name).with_measures([measure], data_dir) for out in outs]
            for name in (algo, baseline)
            if name
        ]
        tests = {fold.number: fold.test for fold in data_of(data_dir, runs[0][0].stored).folds}
        scores = [
            [each for fold in row.by_repeat[0] for each in by_query(fold, tests[fold.number])]
            for row in runs[0]
        ]
        values, *baselines = ([row.queries for row in pair] for pair in runs)
        agreements[dataset] = agreement(list(zip(*scores)), values, measure, *baselines)
    if not agreements:
        raise UsageError(f"found no data set with results in both {outs[0]} and {outs[1]}")
    formats = {
        "tau": ".3f", f"first {DEPTH}": ".3f", "one": ".4f", "other": ".4f", "RMSE": ".4f",
        "correlation": ".3f", "effect ratio": ".2f", "p": ".4f",
    }  # fmt: skip
    heads = (*columns(["data set"], formats), *columns(["verdict"]))
    rows = [(dataset, *each, each.verdict) for dataset, each in agreements.items()]
    status = FINE if all(each.same for each in agreements.values()) else SUSPICIOUS
    return Verdict(status, table(f"{algo}, {measure}: {outs[0]} and {outs[1]}", heads, rows))
