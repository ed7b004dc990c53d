"""The measuring conventions: the rules of different tools for the same measures.

To add a convention, add its table to ``conventions.toml``. ``letor4,empty=drop,gain=linear`` is
the convention `letor4` with two rules changed.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from letorbench.choices import require_choice, resolve_name
from letorbench.errors import DataError, UsageError


def letor_discount(rank: np.ndarray, gain: np.ndarray | float = 1.0) -> np.ndarray:
    """Return gain * (1, 1, then 1 / log2(rank)) for ranks from 1, broadcast, float64."""
    # (gain * ln 2) / ln(rank) like the LETOR tools: another order of these operations, or NumPy's
    # logarithm, has other last digits
    rank = np.asarray(rank, dtype=np.float64)
    below = _each(math.log, np.maximum(rank, 2.0))
    return np.where(rank > 2.0, gain * math.log(2.0) / below, gain)


def standard_discount(rank: np.ndarray, gain: np.ndarray | float = 1.0) -> np.ndarray:
    """Return gain / log2(1 + rank) for ranks from 1, broadcast, float64."""
    return gain / _each(math.log2, 1.0 + np.asarray(rank, dtype=np.float64))


def _each(logarithm: Callable[[float], float], values: np.ndarray) -> np.ndarray:
    """Return the C library's logarithm of each value."""
    flat = [logarithm(value) for value in values.ravel().tolist()]
    return np.array(flat, dtype=np.float64).reshape(values.shape)


#: the rules whose values are integers from 1, and their meanings
INTEGERS: Mapping[str, str] = {
    "relevant": "the smallest label that P, MAP, MRR and the like take as relevant",
    "max_label": "the largest label of ERR",
    "depth": "the last rank that counts; documents below it are taken as not retrieved",
}
#: the largest label of the gain 2^r - 1, which then fits 32 bits
LARGEST_EXPONENT = 31


def gains(labels: np.ndarray, gain: str = "exp2") -> np.ndarray:
    """Return the gains of labels by a `Convention`'s rule, float64; DataError: one is too large."""
    if gain == "linear":
        return labels.astype(np.float64)
    table = None if gain == "exp2" else np.array(gain.split("/"), dtype=np.float64)
    largest = LARGEST_EXPONENT if table is None else len(table) - 1
    if labels.max(initial=0) > largest:
        raise DataError(
            f"labels: found {labels.max()}, expected 0 to {largest} for gain {gain}; "
            "set gain=linear or other gains"
        )
    return np.exp2(labels) - 1.0 if table is None else table[labels]


#: the rules that may be changed after a name, and each value in words
RULES: Mapping[str, Mapping[str, str]] = {
    "gain": {"exp2": "Gain 2^r - 1", "linear": "Gain r"},
    "discount": {"letor": "discount 1, 1, then 1/log2(rank)", "log2": "discount 1/log2(1 + rank)"},
    "empty": {
        "0": "A query without relevant documents counts 0",
        "1": "A query without relevant documents counts 1, in P and the like 0",
        "drop": "Queries without relevant documents are left out",
    },
    "short_ndcg": {
        "whole": "a list shorter than k has the NDCG of the whole list",
        "zero": "a list shorter than k has NDCG@k of 0",
    },
    "short_p": {
        "k": "P@k divides by k",
        "zero": "a list shorter than k has P@k of 0",
        "length": "P@k divides by the length of a list shorter than k",
    },
    "relevant": {},
    "ties": {
        "file": "Equal scores rank in file order",
        "docid": "Equal scores rank by falling document id, compared as bytes",
        "last": "Equal scores rank in reversed file order",
        "mean": "Equal scores count by the mean over all their orders",
        "best": "Equal scores rank by falling label",
        "worst": "Equal scores rank by rising label",
    },
    "ideal": {
        "k": "The ideal DCG ends at the cut-off",
        "list": "The ideal DCG is that of the whole list",
    },
    "map_cut": {
        "all": "MAP@k divides by the number of relevant documents",
        "k": "MAP@k divides by the number of relevant documents, at most k",
    },
    "scores": {
        "float64": "Scores are compared in double precision",
        "float32": "Scores are compared in single precision",
    },
    "unjudged": {
        "drop": "Documents that are not judged (label -1) are left out of the ranking",
        "0": "Documents that are not judged (label -1) are not relevant",
    },
    "missing": {
        "0": "A query without results counts as an empty list",
        "drop": "Queries without results are left out",
    },
    "max_label": {},
    "depth": {},
    "mean": {
        "plain": "Every query counts the same in a mean",
        "weighted": "A query counts its weight in the mean of its fold",
    },
}


@dataclass(frozen=True)
class Convention:
    """The measuring rules of a tool; `RULES` has the meanings of their values."""

    name: str  # as users write it: ``letor4``, ``letor4,empty=drop``
    description: str  # of its numbers, wherever they are printed
    source: str  # where its rules are written
    gain: str = "exp2"  # or "linear", or the gains of the labels 0, 1, ...: "0/1/3.5"
    discount: str = "log2"
    # with "1", only measures that divide by the best value of the labels are 1 (NDCG, MAP,
    # MeanNDCG, AUC, pairwise, bpref)
    empty: str = "0"
    short_ndcg: str = "whole"
    short_p: str = "k"
    relevant: int = 1  # the least label that is relevant for P, MAP, MRR, WTA, AUC and bpref
    ties: str = "file"
    ideal: str = "k"
    mean: str = "plain"
    cutoffs: int = 10  # the largest k that the tool prints
    mean_ndcg: bool = False  # whether the tool prints MeanNDCG
    # the form of the tool's output: two tables, or one section per measure (LETOR 3.0)
    layout: Literal["tables", "sections"] = "tables"
    # ERR's r_max: a rule of the convention, or the largest label of the data set; else `scale`, the
    # largest label of such data
    max_label: int | None = None
    scale: int = 4
    map_cut: str = "all"
    scores: str = "float64"
    unjudged: str = "drop"
    missing: str = "0"
    depth: int | None = None  # the last rank that counts, as trec_eval's -M
    # the weight of a query without relevant documents in a weighted mean, "own" or "1"
    empty_weight: str = field(default="own", compare=False)  # no ranking depends on it
    measures: str = ""  # all of its library, with the rules that differ: ``ndcg map@k,empty=0``

    @property
    def rules(self) -> str:
        """Its rules in sentences, for reports."""
        say = {key: words.get(str(getattr(self, key))) for key, words in RULES.items()}
        gain = say["gain"] or f"Gains {self.gain} of the labels 0, 1, ..."
        # only if they are unusual
        rare = ("ideal", "map_cut", "scores", "unjudged", "missing", "mean")
        sentences = [say[key] for key in rare if getattr(self, key) != getattr(Convention, key)]
        sentences.append(f"The largest label of ERR is {self.r_max}")
        sentences += [f"Rankings end at rank {self.depth}"] if self.depth else []
        sentences += [
            each.replace(",", " has ", 1) for each in self.measures.split() if "," in each
        ]
        return (
            f"{gain}; {say['discount']}. {say['empty']}; {say['short_ndcg']}; {say['short_p']}. "
            f"Relevant for P, MAP and MRR is r >= {self.relevant}. {say['ties']}."
            + "".join(f" {each}." for each in sentences)
        )

    @property
    def r_max(self) -> int:
        return self.max_label or self.scale

    def apart(self, measure: str) -> dict[str, str] | None:
        """Return the rules that a measure has apart; None if the library does not compute it so."""
        name, at, _ = measure.partition("@")
        base = CONVENTIONS.get(self.name.partition(",")[0], self)
        for each, *changes in (text.split(",") for text in self.measures.split()):
            if each == name + "@k" * bool(at):
                rules = dict(change.split("=") for change in changes)
                kept = (getattr(self, rule) in (rules[rule], getattr(base, rule)) for rule in rules)
                return rules if all(kept) else None
        return None if self.measures else {}

    def of(self, measure: str) -> Convention:
        """Return the rules of a measure such as ``ndcg@10``; UsageError if the library lacks it."""
        rules = self.apart(measure)
        if rules is None:
            named = ", ".join(each.partition(",")[0] for each in self.measures.split())
            same = with_rules(CONVENTIONS["standard"], **{r: getattr(self, r) for r in RULES})
            raise UsageError(f"{self.name}: found {measure}, expected what its library computes so:"
                             f" {named}; {same.name} has its rules for all measures")  # fmt: skip
        return replace(self, **rules) if rules else self  # type: ignore[arg-type]

    def of_data(self, largest: int) -> Convention:
        """Return the convention for labels up to `largest`, ERR's r_max unless a rule sets it."""
        return self if self.max_label else replace(self, max_label=largest)

    def gains(self, levels: int) -> np.ndarray:
        """Return the `gains` of the labels 0 to `levels` - 1, (levels,) float64."""
        return gains(np.arange(levels), self.gain)

    def discounted(self, rank: np.ndarray, gain: np.ndarray | float = 1.0) -> np.ndarray:
        """Return the gains (default 1) at ranks from 1, discounted, broadcast, float64."""
        return (letor_discount if self.discount == "letor" else standard_discount)(rank, gain)


_TABLES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
CONVENTIONS = MappingProxyType({name: Convention(name, **own) for name, own in _TABLES.items()})


def convention(text: str) -> Convention:
    """Return the convention of a text, a name and rules to change; its name is the normal form.

    >>> convention("letor4").description
    'as the LETOR 4.0 tool computes them (NDCG@k of a list shorter than k is 0)'
    >>> convention("standard, relevant=1, gain=linear").name
    'standard,gain=linear'
    """
    name, *changes = (word.strip() for word in text.split(","))
    known = CONVENTIONS[resolve_name(name, list(CONVENTIONS), "convention")]
    changed: dict[str, str | int] = {}
    for change in changes:
        rule, _, value = (word.strip() for word in change.partition("="))
        require_choice(rule, list(RULES), "rule of a convention")
        changed[rule] = _value(rule, value)
    return with_rules(known, **changed)


def with_rules(known: Convention, **rules: Any) -> Convention:
    """Return the convention with those rules; its name and description contain the differences."""
    differ = {
        rule: rules[rule] for rule in RULES if rule in rules and rules[rule] != getattr(known, rule)
    }
    changes = [f"{rule}={value}" for rule, value in differ.items()]
    name = ",".join([known.name, *changes])
    description = f"{known.description}, but {', '.join(changes)}" if changes else known.description
    return replace(known, name=name, description=description, **differ)


def require_gain(value: str) -> str:
    """Return a rule `gain`, or raise UsageError."""
    if value in RULES["gain"]:
        return value
    with suppress(ValueError, AttributeError):
        table = np.array(value.split("/"), dtype=np.float64)
        if np.isfinite(table).all() and (np.diff(table, prepend=0.0) >= 0.0).all():
            return value
    raise UsageError(f"gain={value}: expected exp2, linear or rising gains such as 0/1/3")


def _value(rule: str, value: str) -> str | int:
    """Return a rule's value from its text, or raise UsageError."""
    if rule in INTEGERS:
        if not re.fullmatch("0*[1-9][0-9]{0,8}", value):
            raise UsageError(f"{rule}={value}: expected an integer from 1: {INTEGERS[rule]}")
        return int(value)
    if rule == "gain":
        return require_gain(value)
    return require_choice(value, list(RULES[rule]), f"value of {rule}")
