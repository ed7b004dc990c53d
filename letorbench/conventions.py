"""The measuring conventions: whose rules make a measure's number.

To add a convention, add its table to ``conventions.toml``. ``letor4,empty=drop,gain=linear`` is
the convention `letor4` with two rules changed.
"""

import math
import tomllib
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from letorbench.choices import require_choice
from letorbench.errors import DataError, UsageError


def letor_discount(rank: np.ndarray, gain: np.ndarray | float = 1.0) -> np.ndarray:
    """Return gain * (1, 1, then 1 / log2(rank)) for ranks from 1, broadcast, float64.

    It is computed as (gain * ln 2) / ln(rank), as the LETOR tools do. Another order of the same
    operations gives other last digits, and so does NumPy's logarithm.

    Examples
    --------
    >>> letor_discount([1, 2, 4])
    array([1. , 1. , 0.5])
    """
    rank = np.asarray(rank, dtype=np.float64)
    below = _each(math.log, np.maximum(rank, 2.0))
    return np.where(rank > 2.0, gain * math.log(2.0) / below, gain)


def standard_discount(rank: np.ndarray, gain: np.ndarray | float = 1.0) -> np.ndarray:
    """Return gain / log2(1 + rank) for ranks from 1, broadcast, float64.

    Examples
    --------
    >>> standard_discount([1, 3, 7], gain=6.0)
    array([6., 3., 2.])
    """
    return gain / _each(math.log2, 1.0 + np.asarray(rank, dtype=np.float64))


def _each(logarithm: Callable[[float], float], values: np.ndarray) -> np.ndarray:
    """Return the C library's logarithm of each value."""
    flat = [logarithm(value) for value in values.ravel().tolist()]
    return np.array(flat, dtype=np.float64).reshape(values.shape)


#: the largest label of the gain 2^r - 1: the largest whole number of 32 bits
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


#: the rules that may be changed after a name; what each value says of the measures, in words
RULES: Mapping[str, Mapping[str, str]] = {
    "gain": {"exp2": "Gain 2^r - 1", "linear": "Gain r"},
    "discount": {
        "letor": "discount 1, 1, then 1/log2(rank)",
        "log2": "discount 1/log2(1 + rank)",
    },
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
    "relevant": {},  # any label from 1
    "ties": {
        "file": "Equal scores rank in file order",
        "last": "Equal scores rank in reversed file order",
        "mean": "Equal scores count by the mean over all their orders",
        "best": "Equal scores rank by falling label",
        "worst": "Equal scores rank by rising label",
    },
    "ideal": {
        "k": "The ideal DCG ends at the cut-off",
        "list": "The ideal DCG is that of the whole list",
    },
    "mean": {
        "plain": "Every query counts the same in a mean",
        "weighted": "A query counts its weight in the mean of its fold",
    },
}


@dataclass(frozen=True)
class Convention:
    """One record of measuring rules: everything that depends on the convention stands here.

    Parameters
    ----------
    name : str
        How it is written: ``letor4``, ``letor4,empty=drop``.
    description : str
        How its numbers are described wherever they are printed.
    source : str
        Where its rules are written.
    gain : str
        ``exp2`` for 2^r - 1, ``linear`` for r, or the gains of the labels 0, 1, ... with
        slashes between them: ``0/1/3.5``.
    discount, short_ndcg, short_p, ties, ideal, mean : str
        A value of the rule in `RULES`, which says what it means.
    empty : {"0", "1", "drop"}
        What a query without relevant documents counts. With "1", only measures that divide by
        what the labels allow are 1 (NDCG, MAP, MeanNDCG, AUC, pairwise, bpref); with "drop"
        every measure is NaN there, and means leave it out.
    relevant : int
        The smallest label that counts as relevant for P, MAP, MRR, WTA, AUC and bpref.
    cutoffs : int
        The largest k that the convention's tool prints.
    mean_ndcg : bool
        Whether its tool prints MeanNDCG.
    layout : {"tables", "sections"}
        The form of its tool's output: two tables, or a section a measure (LETOR 3.0).
    max_label : int, optional
        The data set's largest label, which is ERR's r_max; by default the largest label
        measured.
    """

    name: str
    description: str
    source: str
    gain: str = "exp2"
    discount: str = "log2"
    empty: str = "0"
    short_ndcg: str = "whole"
    short_p: str = "k"
    relevant: int = 1
    ties: str = "file"
    ideal: str = "k"
    mean: str = "plain"
    cutoffs: int = 10
    mean_ndcg: bool = False
    layout: Literal["tables", "sections"] = "tables"
    max_label: int | None = None

    @property
    def rules(self) -> str:
        """Its rules in sentences, for reports."""
        say = {key: words.get(str(getattr(self, key))) for key, words in RULES.items()}
        gain = say["gain"] or f"Gains {self.gain} of the labels 0, 1, ..."
        ideal = f" {say['ideal']}." if self.ideal != "k" else ""
        mean = f" {say['mean']}." if self.mean != "plain" else ""
        return (
            f"{gain}; {say['discount']}. {say['empty']}; {say['short_ndcg']}; {say['short_p']}. "
            f"Relevant for P, MAP and MRR is r >= {self.relevant}. {say['ties']}.{ideal}{mean}"
        )

    def gains(self, levels: int) -> np.ndarray:
        """Return the `gains` of the labels 0 to `levels` - 1, (levels,) float64."""
        return gains(np.arange(levels), self.gain)

    def discounted(self, rank: np.ndarray, gain: np.ndarray | float = 1.0) -> np.ndarray:
        """Return the gains (default 1) at ranks from 1, discounted, broadcast, float64."""
        return (letor_discount if self.discount == "letor" else standard_discount)(rank, gain)


_TABLES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
#: name -> convention
CONVENTIONS = MappingProxyType({name: Convention(name, **own) for name, own in _TABLES.items()})


def convention(text: str) -> Convention:
    """Return the convention of a text: a name, and rules that differ from its own.

    Its name is the text in its one spelling: rules in the order of the parameters, none that is
    as the named convention has it. UsageError where there is no such convention, rule or value.

    Examples
    --------
    >>> convention("letor4").description
    'as the LETOR 4.0 tool computes them (NDCG@k of a list shorter than k is 0)'
    >>> convention("standard, relevant=1, gain=linear").name
    'standard,gain=linear'
    """
    name, *changes = (word.strip() for word in text.split(","))
    known = CONVENTIONS[require_choice(name, list(CONVENTIONS), "convention")]
    changed: dict[str, str | int] = {}
    for change in changes:
        rule, _, value = (word.strip() for word in change.partition("="))
        require_choice(rule, list(RULES), "rule of a convention")
        changed[rule] = _value(rule, value)
    return with_rules(known, **changed)


def with_rules(known: Convention, **rules: Any) -> Convention:
    """Return the named convention with those rules, named and described by what differs."""
    differ = {
        rule: rules[rule] for rule in RULES if rule in rules and rules[rule] != getattr(known, rule)
    }
    said = [f"{rule}={value}" for rule, value in differ.items()]
    name = ",".join([known.name, *said])
    description = f"{known.description}, but {', '.join(said)}" if said else known.description
    return replace(known, name=name, description=description, **differ)


def require_gain(value: str) -> str:
    """Return a rule `gain`; UsageError says what is expected."""
    if value in RULES["gain"]:
        return value
    with suppress(ValueError, AttributeError):
        table = np.array(value.split("/"), dtype=np.float64)
        if np.isfinite(table).all() and (np.diff(table, prepend=0.0) >= 0.0).all():
            return value
    raise UsageError(f"gain={value}: expected exp2, linear or rising gains such as 0/1/3")


def _value(rule: str, value: str) -> str | int:
    """Return a rule's value from its text; UsageError says what is expected."""
    if rule == "relevant":
        if not value.isdecimal() or int(value) < 1:
            raise UsageError(f"relevant={value}: expected the smallest relevant label, from 1")
        return int(value)
    if rule == "gain":
        return require_gain(value)
    return require_choice(value, list(RULES[rule]), f"value of {rule}")
