"""Printed tables: numbers that no ranking can have, and rows that look odd.

Each check is a function of the table that yields findings. Numbers of one part of one fold share
the number of its queries n; where the data are not given, n is inferred from the precisions: all
of them are counts over k n. A check that many numbers fail speaks against its assumption, not
against the numbers, and says nothing.
"""

from __future__ import annotations

import csv
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from letorbench.errors import DataError, UsageError
from letorbench.measures import MEASURES, sign
from letorbench.verify.numbers import Printed

Level = Literal["impossible", "suspicious"]

#: how tables name the parts and the mean of the folds
PARTS = {"train": "train", "vali": "validation", "test": "test"}
MEANS = ("average", "mean", "avg", "all", "")
#: what stands for a number that is not printed
NOT_PRINTED = ("", "-", "--", "na", "n/a", "nan")
#: the most queries that are tried, and the share of numbers that an inferred n must explain
MOST_QUERIES, EXPLAINED = 3_000, 0.85


class Place(NamedTuple):
    """What a number is of; fold 0 is the mean of the folds."""

    dataset: str
    algorithm: str
    part: str
    fold: int
    measure: str


@dataclass(frozen=True)
class Entry:
    """A number of a table, with its line in the file."""

    place: Place
    number: Printed
    line: int

    @property
    def checked(self) -> bool:
        """Whether its measure is one of ours that lies between 0 and 1."""
        measure = MEASURES.get(self.place.measure.partition("@")[0])
        return measure is not None and not measure.error


@dataclass(frozen=True)
class Finding:
    """What is wrong with numbers of a table."""

    level: Level
    check: str
    lines: tuple[int, ...]
    what: str


@dataclass(frozen=True, eq=False)
class Known:
    """What the data of a part say: its queries, and the bounds of each measure's mean."""

    queries: int
    #: from a measure to the least and the largest mean that an order of the documents has
    bounds: Mapping[str, tuple[float, float]]
    #: NDCG@1 times this is a whole number for every query; 0 where it is not known
    ndcg1: int


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
        found = [
            replace(each, number=each.number.per_cent()) if each.checked else each for each in found
        ]
    by_place: dict[Place, int] = {}
    for entry in found:
        first = by_place.setdefault(entry.place, entry.line)
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
    place = Place(text["dataset"], text["algorithm"], named, int(digits or 0), name)
    return Entry(place, Printed.of(text["value"]), line)


def check_table(
    entries: Sequence[Entry], known: Mapping[tuple[str, str, int], Known] | None = None
) -> list[Finding]:
    """Return what is wrong with a table, in the order of the lines.

    `known` has what the data say of each (data set, part, fold).
    """
    facts = known or {}
    n_queries = {key: own.queries for key, own in facts.items()}
    for key, own in by(entries, "dataset", "part", "fold").items():
        if key not in n_queries and key[2]:
            inferred = _inferred_queries(own)
            if inferred:
                n_queries[key] = inferred
    found = [
        *_outside(entries),
        *_off_the_grid(entries, n_queries, facts),
        *_not_cumulative(entries),
        *_not_the_mean(entries, n_queries),
        *_out_of_bounds(entries, facts),
        *_like_the_previous_test(entries),
        *_better_on_test(entries),
        *_twice(entries),
    ]
    return sorted(found, key=lambda each: each.lines)


def by(entries: Iterable[Entry], *names: str) -> dict[tuple, list[Entry]]:
    """Group the entries by some fields of their places."""
    groups: dict[tuple, list[Entry]] = defaultdict(list)
    for entry in entries:
        groups[tuple(getattr(entry.place, name) for name in names)].append(entry)
    return groups


def _cutoff(entry: Entry, name: str) -> int:
    """Return the cut-off of an entry of that measure, 0 for other measures."""
    own, _, k = entry.place.measure.partition("@")
    return int(k) if own == name and k.isdecimal() else 0


def _fits(entries: Sequence[Entry], steps: np.ndarray) -> np.ndarray:
    """Whether each number is a whole number of its steps, rounded, (n, ...) bool."""
    shape = (len(entries),) + (1,) * (steps.ndim - 1)
    values = np.array([each.number.value for each in entries]).reshape(shape)
    units = np.array([each.number.unit for each in entries]).reshape(shape)
    rounded = np.abs(np.rint(values * steps) / steps - values) <= units * (0.5 + 1e-6)
    return np.asarray(rounded)


def _inferred_queries(entries: Sequence[Entry]) -> int:
    """Return the number of queries whose counts the precisions are; 0 where they do not tell."""
    own = [entry for entry in entries if _cutoff(entry, "p")]
    if not own:
        return 0
    n = np.arange(2, MOST_QUERIES)
    steps = np.array([_cutoff(entry, "p") for entry in own])[:, None] * n
    fits = _fits(own, steps)
    # what a fit says: it happens by chance with the share of the grid that the digits cover
    chance = np.minimum(1.0, steps * np.array([[entry.number.unit] for entry in own]))
    evidence = np.where(fits, -np.log(chance), 0.0).sum(axis=0)
    evidence[fits.mean(axis=0) < EXPLAINED] = 0.0
    best = int(np.argmax(evidence))  # a multiple of n explains as much with larger chances
    return int(n[best]) if evidence[best] > math.log(len(n)) + 10.0 else 0


def _outside(entries: Sequence[Entry]) -> Iterator[Finding]:
    for entry in filter(lambda each: each.checked, entries):
        if not 0.0 <= entry.number.value <= 1.0 + entry.number.unit / 2:
            what = f"{entry.number.text} is not between 0 and 1"
            yield Finding("impossible", "range", (entry.line,), what)


def _off_the_grid(
    entries: Sequence[Entry],
    n_queries: Mapping[tuple, int],
    facts: Mapping[tuple[str, str, int], Known],
) -> Iterator[Finding]:
    """P@k times k n is a whole number, and NDCG@1 times n times the queries' ideal gains."""
    for (dataset, part), own in by(entries, "dataset", "part").items():
        n_of = {fold: n for (*key, fold), n in n_queries.items() if key == [dataset, part]}
        own = [entry for entry in own if entry.place.fold in n_of]
        sure = any(key[:2] == (dataset, part) for key in facts)
        precisions = [entry for entry in own if _cutoff(entry, "p")]
        steps = [_cutoff(entry, "p") * n_of[entry.place.fold] for entry in precisions]
        yield from _grid(precisions, steps, sure)
        first = [entry for entry in own if entry.place.measure == "ndcg@1"]
        # with gains of 1 and 3 the steps are thirds, unless all labels are 0 and 1
        folds = [entry.place.fold for entry in first]
        if sure:
            whole = [n_of[fold] * facts[dataset, part, fold].ndcg1 for fold in folds]
            yield from _grid(first, whole, sure) if all(whole) else ()
            continue
        for factor in (1, 3):
            whole = [n_of[fold] * factor for fold in folds]
            if first and _fits(first, np.array(whole)).mean() >= EXPLAINED:
                yield from _grid(first, whole, sure)
                break


def _grid(entries: Sequence[Entry], steps: Sequence[int], sure: bool) -> Iterator[Finding]:
    """Yield the entries that are no whole number of their steps, if most or all are known to be."""
    if not entries:
        return
    fits = _fits(entries, np.array(steps))
    if sure or fits.mean() >= EXPLAINED:
        for entry, fit, times in zip(entries, fits, steps):
            if not fit:
                what = (
                    f"{entry.number.text} times {times} is no whole number: no ranking of so many "
                    f"queries has this {entry.place.measure}"
                )
                yield Finding("impossible", "grid", (entry.line,), what)


def _not_cumulative(entries: Sequence[Entry]) -> Iterator[Finding]:
    """The relevant documents down to rank k cannot become fewer, nor more than one a rank."""
    violations, tried = [], 0
    for own in by(entries, "dataset", "algorithm", "part", "fold").values():
        at = {_cutoff(entry, "p"): entry for entry in own if _cutoff(entry, "p")}
        for k in sorted(at):
            if k - 1 not in at:
                continue
            tried += 1
            (low, high), (low_before, high_before) = (
                (j * (e.number.value - e.number.unit / 2), j * (e.number.value + e.number.unit / 2))
                for j, e in ((k, at[k]), (k - 1, at[k - 1]))
            )
            if high < low_before - 1e-9 or low > high_before + 1.0 + 1e-9:
                how = "fewer" if high < low_before else "more than one more a query"
                what = (
                    f"P@{k - 1} {at[k - 1].number.text} and P@{k} {at[k].number.text} exclude each "
                    f"other: {how} relevant documents down to rank {k}"
                )
                lines = (at[k - 1].line, at[k].line)
                violations.append(Finding("impossible", "cumulative", lines, what))
    if len(violations) <= (1 - EXPLAINED) * tried:
        yield from violations


#: how a mean may have been computed, the tightest first: of the printed folds, of the numbers
#: behind them, or of all queries
OF_PRINTED, OF_FOLDS, OF_QUERIES = "printed folds", "folds", "queries"


def _not_the_mean(entries: Sequence[Entry], n_queries: Mapping[tuple, int]) -> Iterator[Finding]:
    """The means of a part are all computed in one way, the one that explains most of them."""
    for group in by(entries, "dataset", "part").values():
        rows = [
            {entry.place.fold: entry for entry in own}
            for own in by(group, "algorithm", "measure").values()
        ]
        rows = [row for row in rows if 0 in row and len(row) > 2]
        ways = [
            [finding for row in rows if (finding := _mean_of(row, n_queries, way))]
            for way in (OF_PRINTED, OF_FOLDS, OF_QUERIES)
        ]
        violations = min(ways, key=len)
        if len(violations) <= (1 - EXPLAINED) * len(rows):
            yield from violations


def _mean_of(row: Mapping[int, Entry], n_queries: Mapping[tuple, int], way: str) -> Finding | None:
    """Return a finding where the folds' numbers cannot have the printed mean."""
    mean, low, high, total = row[0], 0.0, 0.0, 0
    for fold, entry in row.items():
        if not fold:
            continue
        n = n_queries.get((entry.place.dataset, entry.place.part, fold), 0)
        weight = n if way == OF_QUERIES else 1
        ends = (entry.number.value,) * 2 if way == OF_PRINTED else _behind(entry, n)
        low, high, total = low + weight * ends[0], high + weight * ends[1], total + weight
    low, high, half = low / max(total, 1), high / max(total, 1), mean.number.unit / 2 + 1e-9
    if low - half <= mean.number.value <= high + half:
        return None
    what = (
        f"{mean.number.text} is not the mean of the folds' {mean.place.measure}, which is "
        f"{(low + high) / 2:.5f}"
    )
    return Finding("impossible", "mean", (mean.line, *(e.line for f, e in row.items() if f)), what)


def _behind(entry: Entry, n: int) -> tuple[float, float]:
    """Return the least and the largest number that prints so, of n queries if n is known."""
    half = entry.number.unit / 2
    low, high, steps = entry.number.value - half, entry.number.value + half, n * _cutoff(entry, "p")
    if steps:
        least, most = math.ceil(low * steps - 1e-6), math.floor(high * steps + 1e-6)
        if least <= most:
            return least / steps, most / steps
    return low, high


def _out_of_bounds(
    entries: Sequence[Entry], facts: Mapping[tuple[str, str, int], Known]
) -> Iterator[Finding]:
    """No ranking is better than the ideal order of the data or worse than its reverse."""
    for entry in entries:
        place, number = entry.place, entry.number
        own = facts.get((place.dataset, place.part, place.fold))
        if own is None or place.measure not in own.bounds:
            continue
        worst, ideal = own.bounds[place.measure]
        half = number.unit / 2 + 1e-9
        if not worst - half <= number.value <= ideal + half:
            side = "above the ideal" if number.value > ideal else "below the worst"
            bound = ideal if number.value > ideal else worst
            what = f"{number.text} is {side} order of these queries, {bound:.4f}"
            yield Finding("impossible", "bounds", (entry.line,), what)


def _like_the_previous_test(entries: Sequence[Entry]) -> Iterator[Finding]:
    """In LETOR's folds the validation part of fold k is the test part of fold k - 1."""
    for (dataset, algorithm), own in by(entries, "dataset", "algorithm").items():
        at = {entry.place[2:]: entry for entry in own if entry.place.fold}
        folds = sorted({fold for _, fold, _ in at})
        same, differs = [], 0
        for (part, fold, measure), entry in at.items():
            if part != "validation":
                continue
            before = at.get(("test", folds[folds.index(fold) - 1], measure))
            if before is not None and before.number.text == entry.number.text:
                same.append((entry.line, before.line))
            elif before is not None:
                differs += 1
        total = len(same) + differs
        if total >= 20 and len(same) > 0.5 * total:
            what = (
                f"{algorithm} on {dataset}: {len(same)} of {total} validation numbers are the test "
                "numbers of the fold before, as of a ranker that is not trained"
                + ("; the others are not" if differs else "")
            )
            lines = tuple(line for pair in same for line in pair)[:10]
            yield Finding("suspicious", "rotation", lines, what)


def _better_on_test(entries: Sequence[Entry]) -> Iterator[Finding]:
    """A trained ranker is rarely better on test than on training data in every fold."""
    for (dataset, algorithm), own in by(entries, "dataset", "algorithm").items():
        at = {entry.place[2:]: entry.number.value for entry in own if entry.place.fold}
        pairs = [
            sign(measure) * (at["test", fold, measure] - at["train", fold, measure]) > 0
            for part, fold, measure in at
            if part == "test" and ("train", fold, measure) in at
        ]
        if len(pairs) >= 20 and np.mean(pairs) > 0.9:
            lines = tuple(entry.line for entry in own if entry.place.part == "test")[:10]
            what = (
                f"{algorithm} on {dataset} is better on test than on training data in "
                f"{sum(pairs)} of {len(pairs)} numbers, as if it were chosen on test data"
            )
            yield Finding("suspicious", "order", lines, what)


def _twice(entries: Sequence[Entry]) -> Iterator[Finding]:
    """Two algorithms seldom have every number of a part in common."""
    for (dataset, part, fold), own in by(entries, "dataset", "part", "fold").items():
        seen: dict[tuple, list[Entry]] = {}
        for row in by(own, "algorithm").values():
            key = tuple(sorted((entry.place.measure, entry.number.text) for entry in row))
            first = seen.setdefault(key, row)
            if first is not row and len(row) >= 5:
                one, other = first[0], row[0]
                what = (
                    f"{one.place.algorithm} and {other.place.algorithm} have the same "
                    f"{len(row)} numbers on {dataset}, {part}, fold {fold or 'mean'}"
                )
                yield Finding("suspicious", "twice", (one.line, other.line), what)
