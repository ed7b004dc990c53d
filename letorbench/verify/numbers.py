"""Which conventions, averages and roundings give a number; what bounds every measure."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from functools import cache
from importlib.resources import files
from itertools import chain, product
from pathlib import Path
from typing import Any

import numpy as np

from letorbench.analysis.tables import columns, table
from letorbench.conventions import CONVENTIONS, RULES, Convention, with_rules
from letorbench.conventions import convention as convention_named
from letorbench.datasets.catalog import entry as entry_of
from letorbench.datasets.catalog import look_alike, same
from letorbench.datasets.catalog import parse as data_set
from letorbench.datasets.folds import rotated, unrolled
from letorbench.datasets.load import load
from letorbench.datasets.queryset import Fold, QuerySet
from letorbench.datasets.reader import ReadOptions
from letorbench.datasets.user_data.read import read_documents
from letorbench.errors import UsageError
from letorbench.measures import Measure, parse, query_metrics
from letorbench.results.external import read_scores_of
from letorbench.verify import FINE, SUSPICIOUS, Verdict

#: unusual ways to average several files and to shorten a number; usual are the mean of the files'
#: means, and rounding
POOLED, CUT_OFF = "mean of all queries", "cut off"
#: how many readings that give a number are shown, and how many others if none does
MOST_READINGS, NEAREST = 12, 5


@dataclass(frozen=True)
class Printed:
    """A number as it was printed: its value and the unit of its last digit."""

    text: str
    value: float
    unit: float

    @classmethod
    def of(cls, text: str) -> Printed:
        """Read ``0.5036``, ``.504`` or ``50.36%``; UsageError for anything else."""
        try:
            number = Decimal(text.strip().removesuffix("%"))
            exponent = number.as_tuple().exponent
            if not isinstance(exponent, int):
                raise InvalidOperation
            printed = cls(text.strip(), float(number), 10.0**exponent)
        except (InvalidOperation, OverflowError):
            raise UsageError(f"found {text!r}, expected a number such as 0.5036") from None
        return printed.per_cent() if printed.text.endswith("%") else printed

    @property
    def low(self) -> float:
        """The least value that rounds to the number."""
        return self.value - self.unit / 2

    @property
    def high(self) -> float:
        """The largest value that rounds to the number."""
        return self.value + self.unit / 2

    def per_cent(self) -> Printed:
        """Return the number as a fraction of 1."""
        return replace(self, value=self.value * 0.01, unit=self.unit * 0.01)

    def is_count(self, steps: int | np.ndarray) -> np.ndarray:
        """Return whether the number is a whole number over each of some steps, rounded, bool."""
        distance = np.abs(np.rint(self.value * steps) / steps - self.value)
        return distance <= self.unit * (0.5 + 1e-6)

    def rounding(self, value: float) -> str | None:
        """Return how a value gives the printed digits, "" where it rounds, None if it does not."""
        slack = 1e-9 * self.unit
        if self.low - slack <= value <= self.high + slack:
            return ""
        beyond = math.copysign(1.0, self.value) * (value - self.value)
        return CUT_OFF if 0.0 < beyond < self.unit - slack else None


@dataclass(frozen=True)
class Reading:
    """One way to read the scores, and the number that it gives."""

    convention: Convention
    value: float
    #: `POOLED`, or ""
    average: str
    #: `CUT_OFF`, "", or None where the number is not the printed one
    rounding: str | None
    #: the other conventions that give every query of these data the same value
    equal: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The convention's name, and the average and the rounding where they are not usual."""
        return ", ".join(filter(None, [self.convention.name, self.average, self.rounding]))

    @property
    def shown(self) -> str:
        """The text with the names of the equal conventions."""
        return f"{self.text} (equal here: {', '.join(self.equal)})" if self.equal else self.text


def check_number(text: str, files: Sequence[Path], scores: Sequence[Path], measure: str) -> Verdict:
    """Return the readings of files of scores that give a printed number."""
    printed = Printed.of(text)
    if not files or len(files) != len(scores):
        found = f"{len(files)} --data and {len(scores)} --scores"
        raise UsageError(f"{text}: found {found}, expected a file of scores for each test file")
    tests = [read_documents(file, ReadOptions(null=0.0, clip=True)) for file in files]
    parts = [(queries, read_scores_of(path, queries)) for queries, path in zip(tests, scores)]
    tried = readings(parts, parse(measure), printed, _convention_of(tests, files))
    fit = [each for each in tried if each.rounding is not None]
    shown = fit or tried[:NEAREST]
    if fit:
        caption = f"{text} is {measure} by {fit[0].shown}: {fit[0].convention.rules}"
    else:
        caption = (
            f"none of {len(tried)} readings of these scores gives {text} as {measure}; the nearest "
            "are below: the scores, the queries, the measure or the number are others"
        )
    rows = [(each.shown, each.value) for each in shown[:MOST_READINGS]]
    more = len(shown) - MOST_READINGS
    notes = (f"and {more} longer ones",) if more > 0 else ()
    heads = columns(["reading"], {measure: ".6f"})
    return Verdict(FINE if fit else SUSPICIOUS, table(caption, heads, rows, notes))


def _convention_of(tests: Sequence[QuerySet], files: Sequence[Path]) -> str:
    """Return the convention of the data set that the files are of; "" where it is not known."""
    folders = (part for file in files for part in reversed(Path(file).resolve().parts))
    shapes = ((test.n_features, int(test.labels.max(initial=0))) for test in tests)
    named = (data_set(folder).entry for folder in folders)
    alike = (entry for shape in shapes for entry in look_alike(*shape))
    known = next(filter(None, chain(named, alike)), None)
    return known.convention if known else ""


def readings(
    parts: Sequence[tuple[QuerySet, np.ndarray]],
    measure: Measure,
    printed: Printed,
    convention: str = "",
) -> list[Reading]:
    """Read the scores of each test file in every way that matters; those that fit come first."""

    def measured(rules: Convention) -> list[np.ndarray]:
        return [
            query_metrics(q.labels, scores, q.offsets, [measure], rules, q.docids)[:, 0]
            for q, scores in parts
        ]

    matches, largest = [], max(int(queries.labels.max()) for queries, _ in parts)
    for rules, *equal in _conventions(str(measure), measured, largest, convention):
        tables = measured(rules)
        means = {"": _mean(np.array([_mean(table) for table in tables]))}
        if len(parts) > 1:
            means[POOLED] = _mean(np.concatenate(tables))
        for average, value in means.items():
            names = tuple(each.name for each in equal)
            if not math.isnan(value):  # rules by which no query counts give no number
                matches.append(Reading(rules, value, average, printed.rounding(value), names))

    fit = [each for each in matches if each.rounding is not None]
    others = [each for each in matches if each.rounding is None]
    fit.sort(key=lambda each: (each.text.count(","), each.convention.name != convention))
    others.sort(key=lambda each: abs(each.value - printed.value))
    return fit + others


def _mean(values: np.ndarray) -> float:
    counted = values[~np.isnan(values)]
    return float(counted.mean()) if len(counted) else math.nan


def _conventions(
    measure: str, measured: Callable[[Convention], list[np.ndarray]], largest: int, preferred: str
) -> Iterator[list[Convention]]:
    """Yield the shortest convention for every combination of rules that matter, then its equals."""
    standard = replace(CONVENTIONS["standard"], max_label=max(4, largest))
    numbers = {"relevant": range(2, largest + 1), "max_label": {4, *range(max(1, largest), 6)}}
    # the least relevant label changes no NDCG, but decides which queries are dropped
    usual = [(rules, measured(rules)) for rules in (standard, replace(standard, empty="drop"))]

    def matters(rule: str, value: Any) -> bool:
        return any(
            not np.array_equal(now, before, equal_nan=True)
            for rules, tables in usual
            for now, before in zip(measured(replace(rules, **{rule: value})), tables)
        )

    choices: dict[str, list[str | int]] = {}
    for rule, words in RULES.items():
        of_standard = getattr(standard, rule)
        values = numbers.get(rule, words)
        others = [each for each in values if each != of_standard and matters(rule, each)]
        if others:
            choices[rule] = [of_standard, *others]
    # one that has rules apart for the measure is distinguished by the rules
    known = [c for c in CONVENTIONS.values() if c.apart(measure) is not None and c.of(measure) == c]
    known.sort(key=lambda each: each.name != preferred)
    for combination in product(*choices.values()):
        rules = dict(zip(choices, combination))
        r_max = rules.pop("max_label", None)
        fitting = (r_max in (None, c.max_label) or r_max == c.r_max >= largest for c in known)
        differ = ({} if same else {"max_label": r_max} for same in fitting)
        named = [with_rules(each, **rules, **other) for each, other in zip(known, differ)]
        first = min(named, key=lambda convention: convention.name.count(","))
        plain = [each for each in named if "," not in each.name and each is not first]
        yield [first, *plain]


@dataclass(frozen=True, eq=False)
class Known:
    """Facts about a part of a fold, certain if it has bounds; for means of folds, bounds alone."""

    queries: int = 0
    #: from a measure to the least and the largest mean that an order of the documents has
    bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    #: NDCG@1 times this is a whole number for every query; 0 where it is not known
    ndcg1: int = 0


@cache
def judged_folds(name: str) -> tuple[Fold, ...]:
    """Return the folds of a known data set without features, by catalog/judged.csv."""
    lengths: dict[int, list[list[int]]] = {}
    text = files("letorbench.datasets.catalog").joinpath("judged.csv").read_text(encoding="utf-8")
    for dataset, fold, queries, *numbers in list(csv.reader(text.splitlines()))[1:]:
        if same(dataset, name):
            lengths.setdefault(int(fold), []).extend([list(map(int, numbers))] * int(queries))
    if not lengths:
        return ()
    # part j is the test part of the fold after its own
    n = len(lengths)
    parts = unrolled([lengths[(j + 1) % n + 1] for j in range(n)])
    counts = np.array([of_query for part in parts for of_query in part])
    whole = QuerySet(
        np.zeros((counts.sum(), 0), np.float32),
        np.repeat(np.tile(np.arange(counts.shape[1]), len(counts)), counts.ravel()),
        np.append(0, np.cumsum(counts.sum(axis=1))),
        np.arange(len(counts)),
    )
    bounds = np.append(0, np.cumsum([len(part) for part in parts]))
    return rotated(whole, bounds, n)


def known_folds(
    name: str, data_dir: Path | None, rules: str
) -> tuple[tuple[Fold, ...], Convention]:
    """Return the folds of a data set, without features if there are no data, and the convention."""
    if data_dir is not None:
        benchmark = load(name, data_dir, rules)
        return benchmark.folds, benchmark.convention
    entry = entry_of(name)
    used = convention_named(entry.convention if rules == "auto" else rules)
    return judged_folds(name), replace(used, max_label=entry.max_label)


def known_of_means(folds: Sequence[Known]) -> Known:
    """Return the bounds of a mean over the folds, or over all their queries."""
    weights = [1] * len(folds), [max(1, fold.queries) for fold in folds]
    bounds = {}
    for measure in folds[0].bounds:
        ends = [np.average([f.bounds[measure] for f in folds], axis=0, weights=w) for w in weights]
        bounds[measure] = float(np.min(ends)), float(np.max(ends))
    return Known(bounds=bounds)


def known_facts(queries: QuerySet, measures: Iterable[str], rules: Convention) -> Known:
    """Return the facts about the queries of a part, with the bounds of these measures."""
    parsed = []
    for name in sorted(measures):
        with suppress(UsageError):  # a measure that is not ours has no bounds
            parsed += [m for m in [parse(name)] if m.bounded and rules.apart(name) is not None]
    labels, offsets, docids = queries.labels, queries.offsets, queries.docids
    tables = (
        query_metrics(labels, sign * labels, offsets, parsed, rules, docids) for sign in (-1.0, 1.0)
    )
    worst, ideal = (np.nanmean(table, axis=0).tolist() for table in tables)
    bounds = dict(zip(map(str, parsed), zip(worst, ideal)))
    best = np.maximum.reduceat(labels, offsets[:-1])
    left_out = int((best < rules.relevant).sum()) if rules.empty == "drop" else 0
    # the least number whose product with any query's NDCG@1 is whole
    gains = rules.gains(int(best.max(initial=0)) + 1)[np.unique(best)]
    whole = rules.ties != "mean" and rules.ideal == "k" and (gains == np.rint(gains)).all()
    ndcg1 = math.lcm(*(int(gain) or 1 for gain in gains.tolist())) if whole else 0
    return Known(queries.n_queries - left_out, bounds, ndcg1)
