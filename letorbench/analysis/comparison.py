"""Algorithms of one data set in pairs: their difference, and whether it is significant."""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import TYPE_CHECKING

import numpy as np

from letorbench.analysis import paired, tables
from letorbench.analysis.paired import TUKEY, MeanDifference
from letorbench.analysis.results_table import Marks, fold_note, label, row_names
from letorbench.analysis.tables import Cell, Column, Table, Value, table
from letorbench.choices import require_choice
from letorbench.errors import DataError, UsageError
from letorbench.measures import sign
from letorbench.results.dataset_results import DatasetResults
from letorbench.results.per_query import PerQuery, check_paired, mean_of

if TYPE_CHECKING:
    import pandas as pd

#: the columns of a comparison
COLUMNS = (
    tables.DATASET, *tables.for_programs("measure"), tables.ALGORITHM, tables.AGAINST,
    Column("slice", "left", "slice"),
    Column("queries", name="queries", form="d"),
    Column("mean", name="mean"),
    Column("other", name="mean_against"),
    Column("difference", name="difference", form="+.4f"),
    Column("95 % interval", name="low"),
    *tables.for_programs("high", "test"),
    Column("p", name="p"),
    *tables.for_programs("correction"),
    Column("adjusted", name="p_adjusted"),
    Column("effect", name="effect", form="+.2f"),
    Column("detectable", name="smallest", form=".4f"),
    Column("win/tie/loss", name="wins"),
    *tables.for_programs("ties", "losses", "repeats", "repeats_against", "sd", "sd_against"),
)  # fmt: skip
#: the columns of a comparison that one sees first: a notebook has room for few
FIRST = ("algo", "against", "difference", "p_adjusted", "significant")
#: the columns that people see of slices alone
SLICED = ("slice", "queries")
SEEDS_NOTE = "± = standard deviation over seeds; intervals and p count queries and seeds"
WILCOXON_NOTE = "Wilcoxon's p counts queries alone"
#: the numbers of queries that power is shown for
QUERIES = (50, 100, 300, 1_000, 3_000, 10_000)
#: the pairs that people see where all were compared
MOST_PAIRS = 50
#: names as printed
TEST_NAMES = {
    "randomization": "randomisation test",
    "t": "paired t-test",
    "wilcoxon": "Wilcoxon's signed-rank test",
}
CORRECTION_NAMES = {
    "holm": "Holm's correction",
    "bonferroni": "Bonferroni's correction",
    "bh": "Benjamini and Hochberg's correction",
    "none": "no correction",
    TUKEY: "Tukey's HSD by randomisation",
}


@dataclass(frozen=True)
class Procedure:
    """How differences are tested."""

    #: a name of `paired.TESTS`
    test: str = "randomization"
    #: a name of `paired.CORRECTIONS`, for several pairs at once, or `TUKEY`
    correction: str = "holm"
    #: the level of adjusted p-values
    alpha: float = 0.05
    seed: int = 0

    def __post_init__(self) -> None:
        require_choice(self.test, list(paired.TESTS), "test")
        require_choice(self.correction, [*paired.CORRECTIONS, TUKEY], "correction")
        if self.correction == TUKEY and self.test != "randomization":
            raise UsageError(f"correction={TUKEY}: found test={self.test}, expected randomization")

    def __str__(self) -> str:
        return f"{TEST_NAMES[self.test]}, {CORRECTION_NAMES[self.correction]}"

    def over(self, pairs: Sequence[Pair]) -> str:
        """How these pairs were tested, and for how many comparisons p was corrected."""
        tests = max((pair.tests for pair in pairs), default=1)
        return f"{self}{f' for {tests} comparisons' * (tests > 1 and self.correction != 'none')}"


@dataclass(frozen=True)
class Pair:
    """Algorithm a against b on the queries of all folds, by one measure."""

    dataset: str
    measure: str
    #: on the queries that have a value of both
    systems: tuple[PerQuery, PerQuery]
    #: the p-value of the paired test, and that corrected for all pairs compared together
    p: float
    adjusted: float
    #: the folds that both have, where one of the two lacks some
    folds: tuple[int, ...]
    #: the name of the slice of the queries; "" for all
    slice: str
    #: how many comparisons `adjusted` is corrected for
    tests: int

    @property
    def a(self) -> str:
        return self.systems[0].algo

    @property
    def b(self) -> str:
        return self.systems[1].algo

    @property
    def tables(self) -> list[np.ndarray]:
        """The values of a and of b, (n_repeats, n_queries) each."""
        return [each.tables[self.measure] for each in self.systems]

    @property
    def values(self) -> list[np.ndarray]:
        """Their means over the repeats, (n_queries,) each."""
        return [each.values[self.measure] for each in self.systems]

    @cached_property
    def difference(self) -> MeanDifference:
        if not len(self.systems[0].qids):
            return MeanDifference(math.nan, math.nan, math.nan, 0)
        one, other = self.tables
        return MeanDifference.of(one, other, self.systems[0].folds)

    @property
    def counts(self) -> tuple[int, int, int]:
        """On how many queries a is better, equal and worse."""
        return paired.win_tie_loss(*(sign(self.measure) * each for each in self.values))

    @property
    def from_folds(self) -> float:
        """The larger distance of a mean over folds, as in tables, from that over queries."""
        if not self.difference.n_values:
            return 0.0
        over_folds = (each.mean(self.measure) for each in self.systems)
        return max(abs(mean - each.mean()) for mean, each in zip(over_folds, self.values))

    def sign(self, alpha: float) -> int:
        """+1 where a is significantly better, -1 where it is worse, else 0."""
        better = sign(self.measure) * np.sign(self.difference.mean)
        return int(better) if self.adjusted < alpha else 0


def compare(
    dataset: str,
    systems: Sequence[PerQuery],
    measure: str,
    baseline: str | Sequence[str] | None = None,
    procedure: Procedure = Procedure(),
    slices: Mapping[str, pd.MultiIndex] | None = None,
) -> tuple[Pair, ...]:
    """Compare each of two or more systems with each baseline, or every pair without a baseline.

    A pair of two baselines is returned from both sides, and is one test. slices: the folds and the
    queries of each, by name. All tests are corrected together; `TUKEY` tests all pairs of the
    systems, also where baselines choose some. `ideal` takes part as a baseline alone.
    """
    by_name = {system.algo: system.in_means for system in systems}
    every = np.unique(np.concatenate([system.folds for system in systems]))
    about, both = [], []
    for names in _pairs(dataset, systems, baseline):
        one, other = on_common_folds(dataset, *(by_name[name] for name in names))
        numbers = np.unique(one.folds)
        folds = () if len(numbers) == len(every) else tuple(numbers.tolist())
        for part, queries in {"": None}.items() if slices is None else slices.items():
            kept = np.ones(len(one.qids), bool) if queries is None else one.keys.isin(queries)
            if queries is None or kept.any():
                about.append((folds, part))
                both.append(with_values(one.at(kept), other.at(kept), measure))
    keys = [(frozenset(each.algo for each in pair), part) for pair, (_, part) in zip(both, about)]
    p_values = _p_values(both, list(by_name.values()), measure, procedure)
    known = dict(reversed([*zip(keys, p_values)]))  # a pair from both sides is one test
    p = np.array(list(known.values()))
    tests = int((~np.isnan(p)).sum())
    if procedure.correction == TUKEY:
        if slices is not None:
            raise UsageError(f"correction={TUKEY}: found slices, expected all queries")
        shown = sorted({name for pair, _ in keys for name in pair})
        p = _tukey(dataset, [by_name[name] for name in shown], measure, known, procedure)
        tests = math.comb(len(shown), 2)
    else:
        p = paired.corrected(p, procedure.correction)
    adjusted = dict(zip(known, p.tolist()))
    return tuple(
        Pair(dataset, measure, pair, known[key], adjusted[key], folds, part, tests)
        for key, pair, (folds, part) in zip(keys, both, about)
    )


def query_tables(
    dataset: str,
    systems: Sequence[PerQuery],
    measure: str,
    baseline: str | Sequence[str] | None,
    n: int,
    query_names: Mapping[str, str],
) -> Iterator[Table]:
    """Yield a table a pair: the n queries that gain most and lose most, with the users' names."""
    by_name = {system.algo: system for system in systems}
    folds = {fold for system in systems for fold in system.folds.tolist()}
    columns = (
        *tables.for_programs("dataset", "measure", "algo", "against"),
        Column("fold" * (len(folds) > 1), name="fold", form="d"),
        Column("qid", "left", "qid"),
        Column("query" * any(query_names.values()), "left", "query"),
        Column("value", name="value", form=".4f"),
        Column("other", name="value_against", form=".4f"),
        Column("difference", name="difference", form="+.4f"),
    )
    for names in _pairs(dataset, systems, baseline):
        one, other = (by_name[name] for name in names)
        one, other, d = differences_by_query(dataset, one, other, measure)
        order = np.argsort(-d, kind="stable").tolist()
        rows = [
            (
                dataset, measure, *names, int(one.folds[i]), one.qids[i],
                query_names.get(one.qids[i], ""),
                *(float(each.values[measure][i]) for each in (one, other)), float(d[i]),
            )
            for i in [*order[:n], *order[n:][-n:]]
            if d[i]
        ]  # fmt: skip
        caption = (
            f"{dataset}, {label(measure)}: the queries on which {names[0]} gains and loses most "
            f"against {names[1]}, of {len(d)}; {int((d > 0).sum())} gain, {int((d < 0).sum())} lose"
            f"{'; values times relative weights' * (by_name[names[0]].weights is not None)}"
        )
        yield table(caption, columns, rows)


def marks(
    frame: DatasetResults, measures: Sequence[str], baseline: str, procedure: Procedure
) -> Marks:
    """Which algorithms differ significantly from the baseline, by each measure."""
    systems = [row.queries for row in frame.rows]
    signs = {
        (pair.a, measure): pair.sign(procedure.alpha)
        for measure in measures
        for pair in compare(frame.dataset, systems, measure, baseline, procedure)
    }
    return Marks(baseline, f"p < {procedure.alpha:g}, {procedure}", signs)


def against_the_best(pairs: Sequence[Pair]) -> Sequence[Pair]:
    """The pairs of the best algorithm, the strongest others first; all if they are not many.

    The best is one of those with the most queries.
    """
    if len(pairs) <= MOST_PAIRS:
        return pairs
    values = defaultdict[tuple[str, str, str], list[np.ndarray]](list)  # of all slices
    for pair in pairs:
        for name, of_name in zip((pair.a, pair.b), pair.values):
            values[name, pair.a, pair.b].append(of_name)
    # a mean over the folds that a partial algorithm has is none that others can be ranked by
    means = dict[str, tuple[int, float]]()
    for (name, *_), parts in values.items():
        whole = sign(pairs[0].measure) * np.concatenate(parts)
        means[name] = max(means.get(name, (0, 0.0)), (len(whole), float(mean_of(whole))))
    best, *others = sorted(means, key=means.__getitem__, reverse=True)
    place = {frozenset((best, other)): number for number, other in enumerate(others)}
    kept = [pair for pair in pairs if frozenset((pair.a, pair.b)) in place]
    return sorted(kept, key=lambda pair: place[frozenset((pair.a, pair.b))])[:MOST_PAIRS]


def comparison_table(
    pairs: Sequence[Pair], procedure: Procedure = Procedure(), convention: str = ""
) -> Table:
    """A row for each pair of one data set and measure, significant adjusted p-values starred."""
    first, queries = pairs[0], max(pair.difference.n_values for pair in pairs)
    names = row_names(name for pair in pairs for name in (pair.a, pair.b))
    seeded = any(len(table) > 1 for pair in pairs for table in pair.tables)
    over = "the slice's" if first.slice else str(queries)
    folds = {fold for pair in pairs for fold in pair.systems[0].folds.tolist()}
    tested, alone = procedure.over(pairs), "; interval, p and detectable are of each row by itself"
    caption = (
        f"{first.dataset}, {label(first.measure)} [{convention}]: mean over {over} "
        f"queries{' of all folds' * (len(folds) > 1)}{' and the seeds' * seeded}; "
        f"{tested}; * = adjusted p < {procedure.alpha:g}{alone * (tested != str(procedure))}"
    )
    compared: Counter[tuple[str, str, str]] = Counter()  # numbers of queries, over all slices
    for pair in pairs:
        if pair.folds:
            compared[pair.a, pair.b, ",".join(map(str, pair.folds))] += pair.difference.n_values
    apart = (
        f"{a}, {b}: compared on the folds that both have, {folds} ({n} queries)"
        for (a, b, folds), n in compared.items()
    )
    notes = [*names.key, *apart]
    notes += [SEEDS_NOTE] * seeded + [WILCOXON_NOTE] * (seeded and procedure.test == "wilcoxon")
    notes += fold_note(max(pair.from_folds for pair in pairs)) if not first.slice else ()
    rules = [convention] * bool(convention)
    every = [*COLUMNS, *tables.for_programs("convention") * bool(convention)]
    if not first.slice:  # people see neither the slice nor its queries
        every = [c if c.name not in SLICED else Column(name=c.name) for c in every]
    rows = ([*_row(pair, procedure, names.of), *rules] for pair in pairs)
    return table(names.headed(caption), every, rows, notes)


def comparison_frame(comparisons: Sequence[Table], alpha: float) -> pd.DataFrame:
    """The rows of comparisons as a frame, with the most important columns first."""
    import pandas as pd

    frame = pd.concat(map(tables.to_frame, comparisons), ignore_index=True)
    frame = frame.assign(significant=frame["p_adjusted"] < alpha)
    return frame[[*FIRST, *(name for name in frame if name not in FIRST)]]


def power_table(pairs: Sequence[Pair], convention: str) -> Table:
    """The power of a two-sided test at 5 % on other numbers of queries, a row for each pair.

    The true difference is taken to be the observed one (J. Cohen, Statistical Power Analysis for
    the Behavioral Sciences, 1988, chapter 2).
    """
    from scipy.special import ndtr, ndtri

    first = pairs[0]
    caption = (
        f"{first.dataset}, {label(first.measure)} [{convention}]: power at each number of queries "
        "(two-sided, 5 %), and the queries needed for 80 % power"
    )
    heads = (
        *COLUMNS[:4],
        *tables.columns([], {"difference": "+.4f", "queries": ",", "power": ".2f"}),
        *(Column(f"{n:,}", name=str(n), form=".2f") for n in QUERIES),
        Column("80 %", name="needed", form=","),
    )
    rows = []
    for pair in (pair for pair in pairs if pair.difference.n_values):
        d, n = pair.difference, pair.difference.n_values
        ratio = d.smallest() / abs(d.mean) if d.mean else math.inf
        critical = ndtri(1 - paired.ALPHA / 2)
        errors = (critical + ndtri(paired.POWER)) / ratio if ratio else math.inf
        power = ndtr(errors * np.sqrt(np.array([n, *QUERIES]) / n) - critical)
        needed = math.ceil(n * ratio**2) if ratio < math.inf else None
        shown = d.mean, n, *power.tolist(), needed
        rows.append((pair.dataset, pair.measure, pair.a, pair.b, *shown))
    return table(caption, heads, rows)


def _row(pair: Pair, procedure: Procedure, names: Mapping[str, str]) -> list[Cell | Value]:
    """The values of `COLUMNS`; names: of the algorithms as people read them."""
    both = (Cell(names[name], name) for name in (pair.a, pair.b))
    head: list[Cell | Value] = [pair.dataset, pair.measure, *both, pair.slice]
    if not pair.difference.n_values:
        return [*head, 0, *[math.nan] * (len(COLUMNS) - len(head) - 1)]
    means = [float(each.mean()) for each in pair.values]
    deviations = [
        float(table.mean(axis=1).std(ddof=1)) if len(table) > 1 else None for table in pair.tables
    ]
    return [
        *head, pair.difference.n_values, *map(tables.mean_cell, means, deviations),
        pair.difference.mean, *tables.interval_cells(*pair.difference.interval()),
        procedure.test, tables.p_cell(pair.p),
        procedure.correction, tables.p_cell(pair.adjusted, starred=pair.sign(procedure.alpha) != 0),
        paired.effect_size(*pair.values), pair.difference.smallest(),
        Cell("/".join(map(str, pair.counts)), pair.counts[0]), *pair.counts[1:],
        *map(len, pair.tables), *deviations,
    ]  # fmt: skip


def _p_values(
    pairs: Sequence[tuple[PerQuery, PerQuery]], systems: Sequence[PerQuery], measure: str,
    procedure: Procedure,
) -> list[float]:  # fmt: skip
    """The p-value of each pair, NaN without queries, which depends on no name and no other pair."""
    seeds = [paired.seed_variances(a.tables[measure], b.tables[measure], a.folds) for a, b in pairs]
    p_values = dict[int, float]()
    # pairs on all queries of the systems, which are most of them, are tested together
    if procedure.test == "randomization":
        n = max(len(each.qids) for each in systems)
        rows = [s for s in systems if len(s.qids) == n and not np.isnan(s.values[measure]).any()]
        place = {each: row for row, each in enumerate(rows)}
        if n and (whole := [k for k, pair in enumerate(pairs) if place.keys() >= {*pair}]):
            values = np.array([each.values[measure] for each in rows])
            both = [(place[one], place[other]) for one, other in (pairs[k] for k in whole)]
            p = paired.randomizations(values, both, [seeds[k] for k in whole], procedure.seed)
            p_values = dict(zip(whole, p))
    for k, (one, other) in enumerate(pairs):
        if k not in p_values and len(one.qids):
            of_pair = one.values[measure], other.values[measure]
            rng = np.random.default_rng(procedure.seed)
            p_values[k] = paired.TESTS[procedure.test](*of_pair, rng, seeds[k])
    return [p_values.get(k, math.nan) for k in range(len(pairs))]


def _tukey(
    dataset: str, systems: Sequence[PerQuery], measure: str,
    pairs: Iterable[tuple[frozenset[str], str]], procedure: Procedure,
) -> np.ndarray:  # fmt: skip
    """Tukey's p of each pair, on the queries of which every system has a value."""
    folds = reduce(np.intersect1d, [each.folds for each in systems])
    every = [each.only(folds).in_means for each in systems]
    check_paired(dataset, every)
    kept = ~np.isnan([each.values[measure] for each in every]).any(axis=0)
    if not kept.any():
        raise DataError(f"{dataset}: found no query that all algorithms have, expected one")
    repeats, folds = [each.tables[measure][:, kept] for each in every], every[0].folds[kept]
    none = np.zeros((1, len(folds)))
    variances = [sum(v for v, _ in paired.seed_variances(each, none, folds)) for each in repeats]
    values = np.array([each.mean(axis=0) for each in repeats])
    p_values = paired.tukey(values, np.random.default_rng(procedure.seed), np.sqrt(variances))
    place = {each.algo: k for k, each in enumerate(systems)}
    return np.array([p_values[tuple(place[name] for name in pair)] for pair, _ in pairs])


def on_common_folds(dataset: str, one: PerQuery, other: PerQuery) -> tuple[PerQuery, PerQuery]:
    """Both systems' values on the folds that both have; DataError if they share no fold."""
    same = np.array_equal(one.folds, other.folds)
    folds = one.folds if same else np.intersect1d(one.folds, other.folds)
    if not len(folds) and len(one.folds) and len(other.folds):
        has = [",".join(map(str, np.unique(each.folds))) for each in (one, other)]
        raise DataError(
            f"{dataset}: found folds {has[0]} of {one.algo} and {has[1]} of {other.algo}, "
            "expected one in common: run the missing folds"
        )
    if not same:
        one, other = one.only(folds), other.only(folds)
    both = one.in_means, other.in_means
    check_paired(dataset, both)
    return both


def differences_by_query(
    dataset: str, one: PerQuery, other: PerQuery, measure: str
) -> tuple[PerQuery, PerQuery, np.ndarray]:
    """Both systems on the queries that both have, and how much better the first is on each."""
    one, other = with_values(*on_common_folds(dataset, one, other), measure)
    if not len(one.qids):
        return one, other, np.empty(0)
    d = paired.differences(one.values[measure], other.values[measure])
    return one, other, sign(measure) * d


def with_values(one: PerQuery, other: PerQuery, measure: str) -> tuple[PerQuery, PerQuery]:
    """Both systems' values, which are of the same queries, where both have one."""
    kept = ~np.isnan(one.values[measure] + other.values[measure])
    return one.at(kept), other.at(kept)


def _pairs(
    dataset: str, systems: Sequence[PerQuery], baseline: str | Sequence[str] | None
) -> list[tuple[str, str]]:
    against = dict.fromkeys([baseline] if isinstance(baseline, str) else baseline or ())
    algos = [each.algo for each in systems if each.competes or each.algo in against]
    if len(algos) < 2:
        names = algos[0] if algos else "none"
        raise UsageError(f"{dataset}: found {names}, expected two algorithms or more to compare")
    if baseline is None:
        return list(itertools.combinations(algos, 2))
    for each in against:
        if each not in algos:
            raise UsageError(f"{dataset}: no results of the baseline {each!r}; expected one of "
                             f"{', '.join(algos)}")  # fmt: skip
    return [(algo, each) for each in against for algo in algos if algo != each]
