"""Printed tables: numbers that no ranking can have, and rows that look odd.

Each check is a function of the table that yields findings. Numbers of one part of one fold share
the number of its queries n; where the data are not given, n is inferred from the precisions: all
of them are counts over k n. The data also say what no ranking of a part can exceed. A check that
many numbers fail speaks against its assumption, not against the numbers, and says nothing.
"""

import csv
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from letorbench.conventions import CONVENTIONS, Convention
from letorbench.datasets.layout import installed
from letorbench.datasets.load import load
from letorbench.datasets.queryset import QuerySet
from letorbench.errors import DataError, UsageError
from letorbench.measures import MEASURES, parse, query_metrics, sign
from letorbench.verify.numbers import Printed

#: how tables name the parts and the mean of the folds
PARTS = {"train": "train", "vali": "validation", "test": "test"}
MEANS = ("average", "mean", "avg", "all", "")
#: what stands for a number that is not printed
NOT_PRINTED = ("", "-", "--", "na", "n/a", "nan")
#: the most queries that are tried, and the share of numbers that an assumption must explain
MOST_QUERIES, EXPLAINED = 3_000, 0.85
#: the checks that hang on the convention
RULED = ("bounds", "grid")
#: fewer pairs of numbers do not say how an algorithm was trained
FEWEST_PAIRS = 20


@dataclass(frozen=True, eq=False)
class Known:
    """What is known of a part of a fold; of the mean of the folds it is nothing."""

    queries: int = 0
    #: from a measure to the least and the largest mean that an order of the documents has
    bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    #: NDCG@1 times this is a whole number for every query; 0 where it is not known
    ndcg1: int = 0
    #: whether the data say so
    sure: bool = False


class Entry(NamedTuple):
    """A number of a table."""

    dataset: str
    algorithm: str
    part: str
    #: 0 for the mean of the folds
    fold: int
    measure: str
    number: Printed
    #: its line in the file
    line: int
    known: Known = Known()

    @property
    def checked(self) -> bool:
        """Whether its measure is one of ours that lies between 0 and 1."""
        measure = MEASURES.get(self.measure.partition("@")[0])
        return measure is not None and not measure.error

    @property
    def k(self) -> int:
        """The cut-off of a precision; 0 for other measures."""
        name, _, k = self.measure.partition("@")
        return int(k) if name == "p" and k.isdecimal() else 0


@dataclass(frozen=True)
class Finding:
    """What is wrong with numbers of a table."""

    level: Literal["impossible", "suspicious"]
    check: str
    lines: tuple[int, ...]
    what: str


def read_table(path: Path) -> list[Entry]:
    """Read a CSV file with the columns dataset, algorithm, part, fold, measure and value.

    Part (default test) and fold (default the mean of the folds) may be missing; ``metric`` and
    ``cutoff`` may stand for the measure. Where most numbers are above 1, all are per cent, of the
    measures that are checked. Rows without a number are left out.

    Raises
    ------
    DataError
        A column is missing, or a line holds something else; it names the line.
    """
    with path.open(newline="", encoding="utf-8-sig") as file:
        rows = csv.DictReader(file)
        there = [name.strip().lower() for name in rows.fieldnames or ()]
        rows.fieldnames = there
        missing = [name for name in ("dataset", "algorithm", "value") if name not in there]
        if missing or not {"measure", "metric"} & set(there):
            expected = "dataset, algorithm, part, fold, measure, value"
            raise DataError(f"{path}:1: found the columns {', '.join(there)}, expected {expected}")
        try:
            found = [
                _entry(row, rows.line_num)
                for row in rows
                if (row["value"] or "").strip().lower() not in NOT_PRINTED
            ]
        except (ValueError, UsageError) as error:
            raise DataError(f"{path}:{rows.line_num}: {error}") from None
    if np.mean([each.number.value > 1.0 for each in found if each.checked] or [False]) > 0.5:
        shares = [each._replace(number=each.number.per_cent()) for each in found]
        found = [share if share.checked else each for share, each in zip(shares, found)]
    lines: dict[tuple, int] = {}
    for entry in found:
        first = lines.setdefault(entry[:5], entry.line)
        if first != entry.line:
            raise DataError(f"{path}:{entry.line}: found the number of line {first} again")
    return found


def _entry(row: Mapping[str, str | None], line: int) -> Entry:
    text = {key: (value or "").strip() for key, value in row.items() if key}
    measure = text.get("measure") or text["metric"]
    if text.get("cutoff"):
        measure += f"@{text['cutoff']}"
    part = text.get("part", "test").lower()
    named = next((name for start, name in PARTS.items() if part.startswith(start)), None)
    if named is None:
        raise ValueError(f"found the part {part!r}, expected train, validation or test")
    fold = text.get("fold", "").lower()
    digits = "".join(filter(str.isdecimal, fold))
    if not digits and fold not in MEANS:
        raise ValueError(f"found the fold {fold!r}, expected a number or average")
    name = measure.lower().replace("meanndcg", "mean-ndcg").replace("precision", "p")
    place = (text["dataset"], text["algorithm"], named, int(digits or 0), name)
    return Entry(*place, Printed.of(text["value"]), line)


def check_table(
    entries: Sequence[Entry], known: Mapping[tuple[str, str, int], Known] | None = None
) -> list[Finding]:
    """Return what is wrong with a table, in the order of the lines.

    `known` has what the data say of each (data set, part, fold).
    """
    table = []
    for (*part, fold), own in by(entries, "dataset", "part", "fold").items():
        facts = (known or {}).get((*part, fold)) or Known(_inferred_queries(own) if fold else 0)
        table += [entry._replace(known=facts) for entry in own]
    return sorted((f for check in CHECKS for f in check(table)), key=lambda each: each.lines)


def by(entries: Iterable[Entry], *names: str) -> dict[tuple, list[Entry]]:
    """Group the entries by some of their fields."""
    groups: dict[tuple, list[Entry]] = defaultdict(list)
    for entry in entries:
        groups[tuple(getattr(entry, name) for name in names)].append(entry)
    return groups


def _explained(found: Sequence[Finding | None]) -> bool:
    """Whether an assumption explains so many numbers that the others are slips."""
    return found.count(None) >= EXPLAINED * len(found)


def _inferred_queries(entries: Sequence[Entry]) -> int:
    """Return the number of queries whose counts the precisions are; 0 where they do not tell."""
    own = [entry for entry in entries if entry.k]
    if not own:
        return 0
    n = np.arange(2, MOST_QUERIES)
    fits = np.array([entry.number.is_count(entry.k * n) for entry in own])
    # what a fit says: it happens by chance with the share of the grid that the digits cover
    chance = [np.minimum(1.0, entry.k * n * entry.number.unit) for entry in own]
    evidence = np.where(fits, -np.log(chance), 0.0).sum(axis=0)
    evidence[fits.mean(axis=0) < EXPLAINED] = 0.0
    best = int(np.argmax(evidence))  # a multiple of n explains as much with larger chances
    return int(n[best]) if evidence[best] > math.log(len(n)) + 10.0 else 0


def _off_the_grid(entries: Sequence[Entry]) -> Iterator[Finding]:
    """P@k times k n is a whole number, and NDCG@1 times n times the queries' ideal gains."""
    for group in by(entries, "dataset", "part").values():
        own = [entry for entry in group if entry.known.queries]
        sure = any(entry.known.sure for entry in own)
        found = [_count(entry, entry.k) for entry in own if entry.k]
        if sure or _explained(found):
            yield from filter(None, found)
        first = [entry for entry in own if entry.measure == "ndcg@1"]
        # with gains of 1 and 3 the steps are thirds, unless all labels are 0 and 1
        for factor in (1, 3):
            found = [_count(entry, entry.known.ndcg1 if sure else factor) for entry in first]
            if sure or _explained(found):
                yield from filter(None, found)
                break


def _count(entry: Entry, factor: int) -> Finding | None:
    """Return a finding where a number is no count over the factor and the number of queries."""
    steps = factor * entry.known.queries
    if not steps or entry.number.is_count(steps):
        return None
    what = (
        f"{entry.number.text} times {steps} is no whole number: no ranking of so many queries has "
        f"this {entry.measure}"
    )
    return Finding("impossible", "grid", (entry.line,), what)


def _not_cumulative(entries: Sequence[Entry]) -> Iterator[Finding]:
    """The relevant documents down to rank k cannot become fewer, nor more than one a rank."""
    found = []
    for own in by(entries, "dataset", "algorithm", "part", "fold").values():
        at = {entry.k: entry for entry in own if entry.k}
        found += [_at_rank(at[k - 1], at[k]) for k in sorted(at) if k - 1 in at]
    if _explained(found):
        yield from filter(None, found)


def _at_rank(before: Entry, entry: Entry) -> Finding | None:
    """Return a finding where P@(k - 1) and P@k leave no share of queries relevant at rank k."""
    one, other, k = before.number, entry.number, entry.k
    fewer = k * other.high < (k - 1) * one.low - 1e-9
    if not fewer and k * other.low <= (k - 1) * one.high + 1.0 + 1e-9:
        return None
    how = "fewer" if fewer else "more than one more a query"
    what = (
        f"P@{k - 1} {one.text} and P@{k} {other.text} exclude each other: {how} relevant documents "
        f"down to rank {k}"
    )
    return Finding("impossible", "cumulative", (before.line, entry.line), what)


#: how a mean may have been computed, the tightest first: of the printed folds, of the numbers
#: behind them, or of all queries
OF_PRINTED, OF_FOLDS, OF_QUERIES = "printed folds", "folds", "queries"


def _not_the_mean(entries: Sequence[Entry]) -> Iterator[Finding]:
    """The means of a part are all computed in one way, the one that explains most of them."""
    for group in by(entries, "dataset", "part").values():
        rows = by(group, "algorithm", "measure").values()
        means = [(row, mean) for row in rows for mean in row if not mean.fold]
        ways = [
            [_mean_of(row, mean, way) for row, mean in means if len(row) > 2]
            for way in (OF_PRINTED, OF_FOLDS, OF_QUERIES)
        ]
        found = max(ways, key=lambda found: found.count(None))
        if _explained(found):
            yield from filter(None, found)


def _mean_of(row: Sequence[Entry], mean: Entry, way: str) -> Finding | None:
    """Return a finding where the folds' numbers cannot have the printed mean."""
    folds = [entry for entry in row if entry.fold]
    ends = [(e.number.value,) * 2 if way == OF_PRINTED else _behind(e) for e in folds]
    weights = [e.known.queries if way == OF_QUERIES else 1 for e in folds]
    low, high = np.average(ends, axis=0, weights=weights if any(weights) else None)
    if mean.number.low - 1e-9 <= high and low <= mean.number.high + 1e-9:
        return None
    what = (
        f"{mean.number.text} is not the mean of the folds' {mean.measure}, which is "
        f"{(low + high) / 2:.5f}"
    )
    return Finding("impossible", "mean", (mean.line, *(entry.line for entry in folds)), what)


def _behind(entry: Entry) -> tuple[float, float]:
    """Return the least and the largest number that prints so, of n queries if n is known."""
    number, steps = entry.number, entry.k * entry.known.queries
    if steps:
        least, most = math.ceil(number.low * steps - 1e-6), math.floor(number.high * steps + 1e-6)
        if least <= most:
            return least / steps, most / steps
    return number.low, number.high


def _out_of_bounds(entries: Sequence[Entry]) -> Iterator[Finding]:
    """A measure is from 0 to 1, and no better than the ideal order or worse than its reverse."""
    for entry in entries:
        number, lines = entry.number, (entry.line,)
        worst, ideal = entry.known.bounds.get(entry.measure, (0.0, 1.0))
        if entry.checked and not 0.0 <= number.value <= 1.0 + number.unit / 2:
            yield Finding("impossible", "range", lines, f"{number.text} is not between 0 and 1")
        elif entry.checked and not (number.low <= ideal + 1e-9 and worst - 1e-9 <= number.high):
            side, bound = ("above the ideal", ideal)
            if number.value < worst:
                side, bound = ("below the worst", worst)
            what = f"{number.text} is {side} order of these queries, {bound:.4f}"
            yield Finding("impossible", "bounds", lines, what)


def _like_the_previous_test(entries: Sequence[Entry]) -> Iterator[Finding]:
    """In LETOR's folds the validation part of fold k is the test part of fold k - 1."""
    for name, pairs in _pairs(entries, "validation", "test", 1):
        same = [pair for pair in pairs if pair[0].number.text == pair[1].number.text]
        if len(same) > 0.5 * len(pairs):
            what = (
                f"{name}: {len(same)} of {len(pairs)} validation numbers are the test numbers of "
                "the fold before, as of a ranker that is not trained"
                + ("; the others are not" if len(same) < len(pairs) else "")
            )
            lines = tuple(entry.line for pair in same for entry in pair)[:10]
            yield Finding("suspicious", "rotation", lines, what)


def _better_on_test(entries: Sequence[Entry]) -> Iterator[Finding]:
    """A trained ranker is rarely better on test than on training data in every fold."""
    for name, pairs in _pairs(entries, "test", "train"):
        better = sum(
            sign(test.measure) * (test.number.value - train.number.value) > 0
            for test, train in pairs
        )
        if better > 0.9 * len(pairs):
            what = (
                f"{name} is better on test than on training data in {better} of {len(pairs)} "
                "numbers, as if it were chosen on test data"
            )
            lines = tuple(test.line for test, _ in pairs)[:10]
            yield Finding("suspicious", "order", lines, what)


def _pairs(
    entries: Sequence[Entry], part: str, other: str, before: int = 0
) -> Iterator[tuple[str, list[tuple[Entry, Entry]]]]:
    """Yield each algorithm's numbers of one part beside another's, of so many folds before."""
    for (dataset, algorithm), own in by(entries, "dataset", "algorithm").items():
        at = {entry[2:5]: entry for entry in own if entry.fold}
        folds = sorted({fold for _, fold, _ in at})
        pairs = [
            (entry, at[key])
            for (own_part, fold, measure), entry in at.items()
            if own_part == part
            and (key := (other, folds[folds.index(fold) - before], measure)) in at
        ]
        if len(pairs) >= FEWEST_PAIRS:
            yield f"{algorithm} on {dataset}", pairs


def _twice(entries: Sequence[Entry]) -> Iterator[Finding]:
    """Two algorithms seldom have every number of a part in common."""
    for (dataset, part, fold), own in by(entries, "dataset", "part", "fold").items():
        seen: dict[tuple, list[Entry]] = {}
        for row in by(own, "algorithm").values():
            key = tuple(sorted((entry.measure, entry.number.text) for entry in row))
            first = seen.setdefault(key, row)
            if first is not row and len(row) >= 5:
                one, other = first[0], row[0]
                what = (
                    f"{one.algorithm} and {other.algorithm} have the same "
                    f"{len(row)} numbers on {dataset}, {part}, fold {fold or 'mean'}"
                )
                yield Finding("suspicious", "twice", (one.line, other.line), what)


#: the checks of a table; each yields what it finds
CHECKS = (
    _out_of_bounds,
    _off_the_grid,
    _not_cumulative,
    _not_the_mean,
    _like_the_previous_test,
    _better_on_test,
    _twice,
)


def check_by_data(
    entries: Sequence[Entry], data_dir: Path, convention: str
) -> tuple[list[Finding], list[str], str]:
    """Return what is wrong with a table, the data sets whose data are there, and the convention.

    "auto" is that of each data set. A table may have been measured otherwise: where more of its
    numbers are impossible than a table has slips, the other conventions are tried. DataError where
    the data of a data set cannot be read.
    """
    there = sorted({entry.dataset for entry in entries} & set(installed(data_dir)))
    with_data = [entry for entry in entries if entry.dataset in there]
    names = ["auto", *CONVENTIONS] if convention == "auto" and there else [convention]
    found = {}
    for name in names:
        found[name] = check_table(entries, known_facts(with_data, data_dir, name))
        wrong = sum(each.check in RULED for each in found[name])
        if wrong <= (1 - EXPLAINED) * len(with_data):
            return found[name], there, name
    return found[names[0]], there, names[0]


def known_facts(
    entries: Iterable[Entry], data_dir: Path, convention: str
) -> dict[tuple[str, str, int], Known]:
    """Return what the data say of each (data set, part, fold) of a table; see `check_by_data`."""
    found = {}
    for (dataset,), own in by(entries, "dataset").items():
        names = sorted({entry.measure for entry in own})
        benchmark = load(dataset, data_dir, convention)
        for fold in benchmark.folds:
            for part, queries in fold.parts.items():
                found[dataset, part, fold.number] = _known(queries, names, benchmark.convention)
    return found


def _known(queries: QuerySet, names: Iterable[str], rules: Convention) -> Known:
    parsed = []
    for name in names:
        with suppress(UsageError):  # a measure that is not ours is not bounded, nor is an error
            parsed += [measure for measure in [parse(name)] if not measure.error]
    labels, offsets = queries.labels, queries.offsets
    ends = [
        np.nanmean(query_metrics(labels, sign * labels, offsets, parsed, rules), axis=0)
        for sign in (-1.0, 1.0)
    ]
    bounds = {str(m): (float(a), float(b)) for m, a, b in zip(parsed, *ends)}
    counted = queries.n_queries
    if rules.empty == "drop":
        best = np.maximum.reduceat(labels, offsets[:-1])
        counted = int((best >= rules.relevant).sum())
    return Known(counted, bounds, _ndcg1_steps(queries, rules), sure=True)


def _ndcg1_steps(queries: QuerySet, rules: Convention) -> int:
    """Return the least number whose product with any query's NDCG@1 is whole; 0 for none."""
    best = np.unique(np.maximum.reduceat(queries.labels, queries.offsets[:-1]))
    gains = rules.gains(int(best.max(initial=0)) + 1)
    if rules.ties == "mean" or rules.ideal != "k" or (gains != np.rint(gains)).any():
        return 0
    return math.lcm(*(int(gains[label]) or 1 for label in best.tolist()))
