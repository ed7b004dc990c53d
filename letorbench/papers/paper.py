"""A paper as a value: its claims, its figures and tables, and how they are rerun and judged.

`claims.toml` in the paper's folder has all that needs no code: the methods with their settings, the
figures and tables that show runs of them, and the claims. A part that is a theorem, a timing or
generated data is a function in the folder's module, by its name in PARTS. It returns a `Found`, or
numbers by name.
"""

from __future__ import annotations

import importlib
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

from letorbench.analysis.published import published
from letorbench.papers import claims
from letorbench.papers.claims import Claim
from letorbench.papers.runs import ByMethod, Measured, Method, Study

#: how validation chooses by default: the plain best by NDCG@10, as papers do
PLAIN = {"plain best by NDCG@10": ("ndcg@10", "published")}


@dataclass(frozen=True)
class Part:
    """A figure, a table or a theorem of a paper."""

    #: on the command line, and in the paper
    name: str
    title: str
    #: how runs of methods are shown: "curves", "bars", "table" or "specification"; or "module" for
    #: a function of the paper's module
    form: str = "module"
    #: the paper's data sets, and others, whose answers are kept apart
    data: tuple[str, ...] = ()
    other_data: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    measures: tuple[str, ...] = ()
    #: `auto` for that of each data set
    convention: str = "auto"
    #: ways in which validation chooses, name -> (measure, protocol); and for `--setting published`
    protocols: Mapping[str, tuple[str, str]] = field(default_factory=lambda: PLAIN)
    published: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    #: of rankers that draw random numbers
    repeats: int = 1
    #: how long it takes, for people
    takes: str = ""
    #: of a specification: the open choices, and the methods that are compared
    axes: Mapping[str, Any] = field(default_factory=dict)
    upper: Mapping[str, Any] = field(default_factory=dict)
    lower: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Found:
    """The result of a part's run: values by protocol and numbers, which claims are judged by."""

    values: Mapping[str, ByMethod] = field(default_factory=dict)
    numbers: Mapping[str, Measured] = field(default_factory=dict)
    files: tuple[Path, ...] = ()
    #: from the paper's setting
    differs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Paper:
    """A paper's experiments and claims, as its claims.toml has them."""

    name: str
    title: str
    reference: str
    claims: tuple[Claim, ...]
    parts: Mapping[str, Part]
    methods: Mapping[str, Method]
    code: Mapping[str, Callable[[Study], Found | Mapping[str, Measured]]]
    #: differences of our setting from the paper's, and of `--setting published`
    differs: tuple[str, ...] = ()
    published_differs: tuple[str, ...] = ()
    slips: tuple[str, ...] = ()
    #: the numbers of its tables by `label measure`
    printed: Mapping[str, float] = field(default_factory=dict)
    folder: str = ""
    #: the result of the rerun; its fields `[id]` or `[id, part]` are our numbers
    summary: str = ""

    @property
    def means(self) -> dict[tuple[str, str, str], float]:
        """(data set, method, measure) -> the mean of a method that the paper's text prints."""
        tests = [test for claim in self.claims for test in claim.tests if test.kind == "equal"]
        return {
            (dataset, test.number, measure): test.printed
            for test in tests
            for dataset, measure in product(test.data, test.measures)
            if test.printed is not None
        }


def _of_table(
    number: str, row: Mapping[str, Any], column: Mapping[str, Any] = {"": {}},
    label: str = "{key}", settings: Mapping[str, Any] = {}, algo: str = "",
) -> Iterator[Method]:  # fmt: skip
    """The methods of a paper's table: each of its rows with each of its columns."""
    default = {"algo": algo, "suffix": "", "published": {}, **settings}
    for (key, of_row), (name, of_column) in product(row.items(), column.items()):
        facts = {"row": key, **default, **of_row, **of_column}
        at, ranker, suffix, published = map(facts.pop, ("row", "algo", "suffix", "published"))
        made = label.format(key=key, row=at, column=name, suffix=suffix)
        yield Method(made, ranker or made, facts, published, at, name, number)


def load(name: str, folder: str) -> Paper:
    """Read a paper from its folder in the package."""
    text = (Path(__file__).parent / folder / "claims.toml").read_text(encoding="utf-8")
    facts = tomllib.loads(text)
    source = facts.get("source", "")
    code: Any = importlib.import_module(f"letorbench.papers.{folder}")
    printed = {
        f"{row.algorithm} {row.measure}": row.value for row in published() if row.source == source
    }
    methods: dict[str, Method] = {}
    for number, table in facts.get("table", {}).items():
        methods |= {each.label: each for each in _of_table(number, **table)}
    parts = {}
    facts["part"] = {key: facts.get("parts", {}) | part for key, part in facts["part"].items()}
    for key, each in facts["part"].items():
        # `nature` and `test` belong to its claims
        made = claims.with_tuples({k: v for k, v in each.items() if k not in ("nature", "test")})
        table = made.pop("all_of", None)
        if table is not None:
            made["methods"] = tuple(label for label, m in methods.items() if m.table == table)
        parts[key] = Part(key, **made)
    lists = {key: tuple(facts.get(key, ())) for key in ("differs", "published_differs", "slips")}
    return Paper(
        name, facts.get("title", facts["reference"]), facts["reference"],
        claims.claims_of(name, facts, printed), parts, methods, code.PARTS, **lists,
        printed=printed, folder=folder, summary=facts.get("summary", ""),
    )  # fmt: skip
