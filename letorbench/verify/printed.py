"""Printed tables: numbers that no ranking can have, and rows that look odd.

Numbers of a part of a fold share its number of queries n, inferred from the precisions where there
are no data. A check that many numbers fail yields nothing: its assumption is wrong.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np

from letorbench.analysis.tables import Cell, columns, table
from letorbench.conventions import CONVENTIONS
from letorbench.datasets.layout import installed
from letorbench.measures import sign
from letorbench.verify import FINE, IMPOSSIBLE, SUSPICIOUS, Verdict
from letorbench.verify.numbers import Known, judged_folds, known_facts, known_folds, known_of_means
from letorbench.verify.tables_read import PARTS, Entry, read_table

#: the most queries that are tried, and the share of numbers that an assumption must explain
MOST_QUERIES, EXPLAINED = 3_000, 0.85
#: fewer pairs of numbers do not say how an algorithm was trained, and fewer numbers not by which
#: rules they were measured
FEWEST_PAIRS = FEWEST_NUMBERS = 20


@dataclass(frozen=True)
class Finding:
    """An error in numbers of a table."""

    level: Literal["impossible", "suspicious"]
    check: str
    lines: tuple[int, ...]
    what: str


def check_file(path: Path, data_dir: Path, convention: str) -> Verdict:
    """Check the tables of a file; the table has a row for each finding."""
    left_out = set[str]()
    entries = read_table(path, left_out)
    findings, there, rules = check_by_data(entries, data_dir, convention)
    impossible = sum(each.level == "impossible" for each in findings)
    by = "" if rules == "auto" else f" by {rules}"
    data = f"with the data of {', '.join(there)}{by}" if there else "without data"
    others = len(entries) - sum(each.checked for each in entries)
    data += f", {others} of measures that are not checked" if others else ""
    data += f"; not read: {', '.join(sorted(left_out))}" if left_out else ""
    lines = [[str(line) for line in each.lines] for each in findings]
    rows = [
        (each.level, each.check, Cell(", ".join(listed[:6]), ", ".join(listed)), each.what)
        for each, listed in zip(findings, lines)
    ]
    caption = (
        f"{path}: {len(entries)} numbers, {data}: {impossible} impossible, "
        f"{len(findings) - impossible} suspicious"
    )
    status = IMPOSSIBLE if impossible else SUSPICIOUS if findings else FINE
    return Verdict(status, table(caption, columns(["level", "check", "lines", "what"]), rows))


def check_table(
    entries: Sequence[Entry], known: Mapping[tuple[str, str, int], Known] | None = None
) -> list[Finding]:
    """Return the findings by lines; `known` has the facts about each (data set, part, fold)."""
    table = []
    for (*part, fold), group in by(entries, "dataset", "part", "fold").items():
        facts = (known or {}).get((*part, fold)) or Known(_inferred_queries(group) if fold else 0)
        table += [entry._replace(known=facts) for entry in group]
    checks = _out_of_bounds, _off_the_grid, _not_cumulative, _not_the_mean, _odd_rows, _twice
    return sorted((f for check in checks for f in check(table)), key=lambda each: each.lines)


def by(entries: Iterable[Entry], *names: str) -> dict[tuple, list[Entry]]:
    """Group the entries by some of their fields."""
    groups: dict[tuple, list[Entry]] = defaultdict(list)
    for entry in entries:
        groups[tuple(getattr(entry, name) for name in names)].append(entry)
    return groups


def _slips(findings: Sequence[Finding | None], sure: bool = False) -> list[Finding]:
    """Return the findings, none if an unsure assumption explains too few of the numbers."""
    explained = sure or findings.count(None) >= EXPLAINED * len(findings)
    return list(filter(None, findings)) if explained else []


def _inferred_queries(entries: Sequence[Entry]) -> int:
    """Return the number of queries that explains the precisions; 0 if no number does."""
    usable = [entry for entry in entries if entry.k]
    if not usable:
        return 0
    n = np.arange(2, MOST_QUERIES)
    fits = np.array([entry.number.is_count(entry.k * n) for entry in usable])
    # the evidence of a fit: by chance it happens as often as the digits cover the grid
    chance = [np.minimum(1.0, entry.k * n * entry.number.unit) for entry in usable]
    evidence = np.where(fits, -np.log(chance), 0.0).sum(axis=0)
    evidence[fits.mean(axis=0) < EXPLAINED] = 0.0
    best = int(np.argmax(evidence))  # a multiple of n explains as much with larger chances
    return int(n[best]) if evidence[best] > math.log(len(n)) + 10.0 else 0


def _off_the_grid(entries: Sequence[Entry]) -> Iterator[Finding]:
    """P@k times k n is a whole number, and NDCG@1 times n times the queries' ideal gains."""
    for group in by(entries, "dataset", "part").values():
        usable = [entry for entry in group if entry.known.queries]
        sure = any(entry.known.bounds for entry in usable)  # the data say so
        yield from _slips([_count(entry, entry.k) for entry in usable if entry.k], sure)
        first = [entry for entry in usable if entry.measure == "ndcg@1"]
        # with gains of 1 and 3 the steps are thirds, unless all labels are 0 and 1
        wholes, thirds = (
            [_count(entry, entry.known.ndcg1 if sure else gain) for entry in first]
            for gain in (1, 3)
        )
        yield from _slips(wholes, sure) or _slips(thirds)


def _count(entry: Entry, factor: int) -> Finding | None:
    """Return a finding where a number is no count over the factor and the number of queries."""
    steps = factor * entry.known.queries
    if not steps or entry.number.is_count(steps):
        return None
    what = (
        f"{entry.number.text} times {steps} is not a whole number: no ranking of these queries has "
        f"this {entry.measure}"
    )
    return Finding("impossible", "grid", (entry.line,), what)


def _not_cumulative(entries: Sequence[Entry]) -> Iterator[Finding]:
    """The relevant documents down to rank k cannot become fewer, nor more than one a rank."""
    at: dict[tuple, Entry] = {(*entry[:4], entry.k): entry for entry in entries if entry.k}
    findings: list[Finding | None] = []
    for (*row, k), entry in at.items():
        before = at.get((*row, k - 1))
        if before is None:
            continue
        one, other = before.number, entry.number
        # the least and the largest share of the queries that are relevant at rank k
        least, most = k * other.low - (k - 1) * one.high, k * other.high - (k - 1) * one.low
        how = "fewer" if most < -1e-9 else "more than one more a query"
        what = (
            f"P@{k - 1} {one.text} and P@{k} {other.text} exclude each other: {how} relevant "
            f"documents down to rank {k}"
        )
        wrong = Finding("impossible", "cumulative", (before.line, entry.line), what)
        findings.append(wrong if most < -1e-9 or least > 1.0 + 1e-9 else None)
    yield from _slips(findings)


def _not_the_mean(entries: Sequence[Entry]) -> Iterator[Finding]:
    """The means of a part are all of the printed folds, or all of the numbers behind them."""
    for group in by(entries, "dataset", "part").values():
        rows = by(group, "algorithm", "measure").values()
        means = [(row, mean) for row in rows for mean in row if not mean.fold and len(row) > 2]
        ways = [[_mean_of(row, mean, printed) for row, mean in means] for printed in (True, False)]
        way = max(ways, key=lambda way: way.count(None))
        fit = way.count(None)  # by chance one in a hundred would
        yield from _slips(way, sure=fit >= 3 and fit == len(way) - 1)


def _mean_of(row: Sequence[Entry], mean: Entry, printed: bool) -> Finding | None:
    """Return a finding where the folds' numbers cannot have the printed mean."""
    folds = [entry for entry in row if entry.fold]
    ends = [(e.number.value,) * 2 if printed else _behind(e) for e in folds]
    low, high = np.mean(ends, axis=0)
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
        number, (worst, ideal) = entry.number, entry.known.bounds.get(entry.measure, (0.0, 1.0))
        check, wrong = "bounds", ""
        if not 0.0 <= number.value <= 1.0 + number.unit / 2:
            check, wrong = "range", "not between 0 and 1"
        elif number.high < worst - 1e-9:
            wrong = f"below the worst order of these queries, {worst:.4f}"
        elif number.low > ideal + 1e-9:
            wrong = f"above the ideal order of these queries, {ideal:.4f}"
        if wrong and entry.checked:
            yield Finding("impossible", check, (entry.line,), f"{number.text} is {wrong}")


def _odd_rows(entries: Sequence[Entry]) -> Iterator[Finding]:
    """Rows as of a ranker that is not trained, or that is chosen on test data."""
    partners = {"validation": ("test", 1), "test": ("train", 0), "train": ("", 0)}
    for (dataset, algorithm), group in by(entries, "dataset", "algorithm").items():
        at = {entry[2:5]: entry for entry in group if entry.fold}
        folds = sorted({fold for _, fold, _ in at})
        pairs: dict[str, list[tuple[Entry, Entry]]] = defaultdict(list)
        for (part, fold, measure), entry in at.items():
            other, before = partners[part]
            key = other, folds[folds.index(fold) - before], measure
            if key in at:
                pairs[part].append((entry, at[key]))
        rotated, trained = (
            pairs[part] if len(pairs[part]) >= FEWEST_PAIRS else []
            for part in ("validation", "test")
        )
        same = [pair for pair in rotated if pair[0].number.text == pair[1].number.text]
        if len(same) > 0.5 * len(rotated):
            what = (
                f"{algorithm} on {dataset}: {len(same)} of {len(rotated)} validation numbers are "
                "the test numbers of the fold before, as of a ranker that is not trained"
            )
            lines = tuple(entry.line for pair in same for entry in pair)[:10]
            yield Finding("suspicious", "rotation", lines, what)
        better = sum(sign(a.measure) * (a.number.value - b.number.value) > 0 for a, b in trained)
        if better > 0.9 * len(trained):
            what = (
                f"{algorithm} on {dataset} is better on test than on training data in {better} of "
                f"{len(trained)} numbers, as if it were chosen on test data"
            )
            lines = tuple(test.line for test, _ in trained)[:10]
            yield Finding("suspicious", "order", lines, what)


def _twice(entries: Sequence[Entry]) -> Iterator[Finding]:
    """Two algorithms seldom have every number of a part in common."""
    seen: dict[tuple, Entry] = {}
    for place, row in by(entries, "dataset", "part", "fold", "algorithm").items():
        other, numbers = row[0], sorted((entry.measure, entry.number.text) for entry in row)
        one = seen.setdefault((*place[:3], *numbers), other)
        if one is not other and len(row) >= 5:
            what = (
                f"{one.algorithm} and {other.algorithm} have the same {len(row)} numbers on "
                f"{one.dataset}, {one.part}, fold {one.fold or 'mean'}"
            )
            yield Finding("suspicious", "twice", (one.line, other.line), what)


def check_by_data(
    entries: Sequence[Entry], data_dir: Path, convention: str
) -> tuple[list[Finding], list[str], str]:
    """Return the findings by the known data, their data sets, and the convention that fits."""
    names, here = sorted({entry.dataset for entry in entries}), installed(data_dir)
    there = [name for name in names if name in here or judged_folds(name)]
    measures = {name: {e.measure for e in entries if e.dataset == name} for name in there}
    numbers = sum(entry.dataset in there for entry in entries)
    tried, possible = [], []
    printed_measures = {entry.measure for entry in entries}
    others = [
        name for name, each in CONVENTIONS.items() if None not in map(each.apart, printed_measures)
    ]
    for rules in ["auto", *others] if convention == "auto" and there else [convention]:
        known: dict[tuple[str, str, int], Known] = {}
        for name in there:
            folds, used = known_folds(name, data_dir if name in here else None, rules)
            for part in PARTS.values():
                facts = {f.number: known_facts(f.parts[part], measures[name], used) for f in folds}
                facts[0] = known_of_means(list(facts.values()))
                known |= {(name, part, number): each for number, each in facts.items()}
        findings = check_table(entries, known)
        tried.append((findings, there, rules))
        # the checks that hang on the convention
        if sum(each.check in ("bounds", "grid") for each in findings) <= (1 - EXPLAINED) * numbers:
            possible.append(rules)
            few = numbers < FEWEST_NUMBERS and any(f.check == "bounds" for f in tried[0][0])
            if rules == "auto" or not few:
                return tried[-1]
    # a few numbers above their bounds do not say that they were measured otherwise
    also = f"; {', '.join(possible)} would allow it" if possible else ""
    findings = [replace(f, what=f.what + also) if f.check == "bounds" else f for f in tried[0][0]]
    return findings, there, tried[0][2]
