"""Which conventions, averages and roundings turn scores into a printed number."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from itertools import product
from typing import Any

import numpy as np

from letorbench.conventions import CONVENTIONS, RULES, Convention, with_rules
from letorbench.errors import UsageError
from letorbench.measures import Measure, query_metrics

#: how a number may be cut to its digits
ROUNDINGS = ("rounded", "cut off")
#: the averages over several files: of the files' means, or of all queries
AVERAGES = ("mean of the files' means", "mean of all queries")


@dataclass(frozen=True, eq=False)
class Part:
    """The labels (n_docs,), offsets (n_queries + 1,) and scores (n_docs,) of one test file."""

    labels: np.ndarray
    offsets: np.ndarray
    scores: np.ndarray


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
        except InvalidOperation:
            raise UsageError(f"found {text!r}, expected a number such as 0.5036") from None
        found = cls(text.strip(), float(number), 10.0**exponent)
        return found.per_cent() if found.text.endswith("%") else found

    def per_cent(self) -> Printed:
        """Return the number as a share of 1."""
        return replace(self, value=self.value * 0.01, unit=self.unit * 0.01)

    def rounding(self, value: float) -> str | None:
        """Return how a value gives the printed digits, None if it does not."""
        slack = 1e-9 * self.unit
        if abs(value - self.value) <= self.unit / 2 + slack:
            return "rounded"
        below = (value - self.value) / self.unit
        return "cut off" if -1e-9 <= below < 1.0 else None


@dataclass(frozen=True)
class Reading:
    """One way to read the scores, and the number that it gives."""

    convention: Convention
    average: str
    value: float
    rounding: str | None

    @property
    def text(self) -> str:
        """The convention's name, and the average and the rounding where they are not usual."""
        unusual = (AVERAGES[1], ROUNDINGS[1])
        words = [word for word in (self.average, self.rounding) if word in unusual]
        return ", ".join([self.convention.name, *words])

    @property
    def length(self) -> int:
        """How much has to be said: the rules that differ from a name, an average, a rounding."""
        return self.text.count(",")


def readings(parts: Sequence[Part], measure: Measure, printed: Printed) -> list[Reading]:
    """Read the scores of test files, usually the folds, in every way that gives different values.

    Rules that change no query's value on these data are left as in the convention with the
    shortest description. The readings that give the printed digits come first, the shortest
    description before the others; then the rest by their distance.
    """
    found = []
    for rules in _conventions(parts, measure):
        tables = [_measured(part, measure, rules) for part in parts]
        means = [_mean(table) for table in tables]
        values = {AVERAGES[0]: _mean(np.array(means))}
        if len(parts) > 1:
            values[AVERAGES[1]] = _mean(np.concatenate(tables))
        for average, value in values.items():
            found.append(Reading(rules, average, value, printed.rounding(value)))
    return sorted(
        found,
        key=lambda each: (
            each.rounding is None,
            each.length if each.rounding else 0,
            abs(each.value - printed.value) if each.rounding is None else 0.0,
        ),
    )


def _measured(part: Part, measure: Measure, rules: Convention) -> np.ndarray:
    return query_metrics(part.labels, part.scores, part.offsets, [measure], rules)[:, 0]


def _mean(values: np.ndarray) -> float:
    counted = values[~np.isnan(values)]
    return float(counted.mean()) if len(counted) else math.nan


def _conventions(parts: Sequence[Part], measure: Measure) -> Iterator[Convention]:
    """Yield a convention for every combination of rules that matter, named as shortly as can be."""
    standard = CONVENTIONS["standard"]
    # which queries are dropped depends on what is relevant, which alone changes no NDCG
    usual_rules = (standard, replace(standard, empty="drop"))
    plain = [[_measured(part, measure, rules) for part in parts] for rules in usual_rules]
    largest = max(int(part.labels.max(initial=0)) for part in parts)

    def matters(rule: str, value: Any) -> bool:
        return any(
            not np.array_equal(
                _measured(part, measure, replace(rules, **{rule: value})), before, equal_nan=True
            )
            for rules, own in zip(usual_rules, plain)
            for part, before in zip(parts, own)
        )

    choices: dict[str, list[str | int]] = {}
    for rule, values in RULES.items():
        usual = getattr(standard, rule)
        words = {"gain": ("linear",), "relevant": range(2, largest + 1)}.get(rule, values)
        others = [word for word in words if word != usual and matters(rule, word)]
        choices[rule] = [usual, *others]
    mattering = [rule for rule, values in choices.items() if len(values) > 1]
    for combination in product(*(choices[rule] for rule in mattering)):
        yield _named(dict(zip(mattering, combination)))


def _named(rules: dict[str, str | int]) -> Convention:
    """Return the named convention that needs the fewest rules changed, so changed."""

    def changed(known: Convention) -> dict[str, str | int]:
        return {rule: value for rule, value in rules.items() if getattr(known, rule) != value}

    nearest = min(CONVENTIONS.values(), key=lambda known: len(changed(known)))
    return with_rules(nearest, **changed(nearest))
