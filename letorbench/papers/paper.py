"""A paper as a value: its claims, its figures and tables, and how they are rerun and judged.

`claims.toml` in the paper's folder says all that needs no code: the methods with their settings,
the figures and tables that are runs of these, and the claims. A part that is a theorem, a timing or
data of its own is a function in the folder's module, in PARTS by its name. It gives what it found,
or just numbers by name.
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
from letorbench.papers.runs import ByMethod, Measured, Study, Variant

#: how validation chooses where a part does not say: the plain best by NDCG@10, as papers do
PLAIN = {"plain best by NDCG@10": ("ndcg@10", "published")}


@dataclass(frozen=True)
class Part:
    """A figure, a table or a theorem of a paper.

    name, title: what it is called on the command line, and in the paper. form: how runs of methods
    are shown: "curves", "bars", "table" or "specification"; or "module", a function of the paper's
    own. data, beside: the paper's data sets, and others that stand beside them, apart.
    methods, measures: what is run, and measured. convention: what the values are measured by;
    `auto` for the data set's own. repeats: trainings of what draws.

    protocols: ways in which validation chooses, name -> (measure, protocol): where they give
    different answers the answer depends on them. published: those of `--setting published`.

    takes: how long it takes, for people. axes, upper, lower: of a specification, what is left open,
    and the methods that are compared.
    """

    name: str
    title: str
    form: str = "module"
    data: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    measures: tuple[str, ...] = ()
    convention: str = "auto"
    protocols: Mapping[str, tuple[str, str]] = field(default_factory=lambda: PLAIN)
    published: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    repeats: int = 1
    takes: str = ""
    axes: Mapping[str, Any] = field(default_factory=dict)
    upper: Mapping[str, Any] = field(default_factory=dict)
    lower: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Found:
    """What a part's run gave: values and numbers that claims are judged by, and files.

    values: by protocol. differs: from the paper's setting.
    """

    values: Mapping[str, ByMethod] = field(default_factory=dict)
    numbers: Mapping[str, Measured] = field(default_factory=dict)
    files: tuple[Path, ...] = ()
    differs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Paper:
    """A paper's experiments and claims, as its claims.toml has them.

    summary: what the rerun found in one sentence, whose fields `[id]` or `[id, part]` are our
    numbers. printed: the numbers of its tables by `label measure`. differs, published_differs: what
    differs from its setting in ours, and in `--setting published`. folder: the paper's in the
    package.
    """

    name: str
    title: str
    reference: str
    claims: tuple[Claim, ...]
    parts: Mapping[str, Part]
    methods: Mapping[str, Variant]
    code: Mapping[str, Callable[[Study], Found | Mapping[str, Measured]]]
    differs: tuple[str, ...] = ()
    published_differs: tuple[str, ...] = ()
    slips: tuple[str, ...] = ()
    printed: Mapping[str, float] = field(default_factory=dict)
    folder: str = ""
    summary: str = ""

    @property
    def means(self) -> dict[tuple[str, str, str], float]:
        """(data set, method, measure) -> what its text prints of a method's mean."""
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
) -> Iterator[Variant]:  # fmt: skip
    """The methods of a paper's table: each of its rows with each of its columns."""
    for (key, own), (name, more) in product(row.items(), column.items()):
        facts = {"row": key, "algo": algo, "suffix": "", "published": {}, **settings, **own, **more}
        at, ranker, suffix, published = map(facts.pop, ("row", "algo", "suffix", "published"))
        made = label.format(key=key, row=at, column=name, suffix=suffix)
        yield Variant(made, ranker or made, facts, published, at, name, number)


def load(name: str, folder: str) -> Paper:
    """Read a paper from its folder in the package."""
    text = (Path(__file__).parent / folder / "claims.toml").read_text(encoding="utf-8")
    facts = tomllib.loads(text)
    source = facts.get("source", "")
    code: Any = importlib.import_module(f"letorbench.papers.{folder}")
    printed = {
        f"{row.algorithm} {row.measure}": row.value for row in published() if row.source == source
    }
    methods: dict[str, Variant] = {}
    for number, table in facts.get("table", {}).items():
        methods |= {each.label: each for each in _of_table(number, **table)}
    parts = {}
    facts["part"] = {key: facts.get("parts", {}) | own for key, own in facts["part"].items()}
    for key, each in facts["part"].items():
        # `nature` and `test` are those of its claims
        made = claims.with_tuples({k: v for k, v in each.items() if k not in ("nature", "test")})
        table = made.pop("all_of", None)  # the methods of a table need not be listed twice
        if table is not None:
            made["methods"] = tuple(label for label, m in methods.items() if m.table == table)
        parts[key] = Part(key, **made)
    told = {key: tuple(facts.get(key, ())) for key in ("differs", "published_differs", "slips")}
    return Paper(
        name, facts.get("title", facts["reference"]), facts["reference"],
        claims.claims_of(name, facts, printed), parts, methods, code.PARTS, **told,
        printed=printed, folder=folder, summary=facts.get("summary", ""),
    )  # fmt: skip
