"""Every claim of every paper: what it says may not drift, and its data can turn its verdict."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from letorbench.papers import PAPERS, ndcgboost_2009, paper
from letorbench.papers.claims import (
    KINDS,
    NATURES,
    NOT_REPRODUCED,
    REPRODUCED,
    WITH_NUMBER,
    Measured,
)
from letorbench.papers.functional_tables import TABLES
from letorbench.papers.runs import CUTOFFS, Values

COLUMNS = (
    "paper", "id", "part", "nature", "dataset", "kind", "sense", "value", "half", "how", "text",
)  # fmt: skip
MEASURES = (*CUTOFFS, "err", "mrr")
ALL = [claim for name in PAPERS for claim in paper(name).claims]
EXTRA = tuple(variant.label for table in TABLES.values() for variant in table.variants)
METHODS = {
    name: tuple(dict.fromkeys(
        [n for c in paper(name).claims if c.check.source != "numbers" for n in c.check.needs]
        + list(EXTRA if name == "functionals" else ())
    ))
    for name in PAPERS
}  # fmt: skip


def test_claims_are_those_of_the_table():
    path = Path(__file__).with_name("claims.csv")
    with path.open(newline="", encoding="utf-8") as file:
        expected = [tuple(row[name] for name in COLUMNS) for row in csv.DictReader(file)]
    found = [
        (c.paper, c.id, c.part, c.nature, c.dataset, c.kind, c.sense, _printed(c.value),
         repr(c.half), c.how, c.text)
        for c in ALL
    ]  # fmt: skip
    assert found == expected


@pytest.mark.parametrize("claim", ALL, ids=lambda claim: f"{claim.paper}-{claim.id}")
def test_other_data_turn_the_verdict(claim, monkeypatch):
    """There are data that reproduce the claim, and data that contradict it."""
    monkeypatch.setattr(ndcgboost_2009, "RESAMPLES", 40)
    assert claim.kind in KINDS and claim.nature in NATURES
    assert (claim.value is not None) == (claim.kind in WITH_NUMBER)
    assert not (claim.kind == "value" and claim.sense == "equal" and claim.half == 0.0
                and not float(claim.value).is_integer())  # fmt: skip
    rng = np.random.default_rng(0)
    seen = set()
    for _ in range(400):
        seen.add(claim.judge(_made(claim, rng)).verdict)
        if {REPRODUCED, NOT_REPRODUCED} <= seen:
            return
    raise AssertionError(f"{claim.id}: only {sorted(seen)}")


def _made(claim, rng):
    """Random data of the kind that the claim's check takes, some of them as claimed."""
    if claim.check.source == "numbers":
        size = max(1.0, abs(claim.value))
        value = claim.value + rng.choice([0.0, -1.0, 1.0]) * size
        return {name: Measured(value, value, value) for name in claim.check.needs}
    methods = METHODS[claim.paper]
    favoured = rng.choice(methods)
    if claim.check.source == "sets":
        return {f"set {i}": _values(claim, methods, favoured, rng) for i in range(3)}
    return _values(claim, methods, favoured, rng)


def _values(claim, methods, favoured, rng):
    base = claim.value if claim.kind == "value" and claim.value < 0.9 else 0.4
    base = base or 0.4
    steps = [0.0, claim.value if claim.kind == "difference" else 0.01, 0.3, -0.3]
    found = {}
    for method in methods:
        level = base * (1.0 + rng.choice(steps)) * (1.5 if method == favoured else 1.0)
        slope = 1.0 + rng.choice([0.0, 0.2, -0.2]) * np.linspace(1.0, 0.0, len(MEASURES))
        noise = rng.normal(0.0, 0.001, (40, len(MEASURES)))
        found[method] = Values(MEASURES, level * slope + noise, np.repeat([1, 2], 20))
        if "printed" in claim.id and rng.random() < 0.5:
            printed = float(claim.how.split("over ")[1].split(",")[0])
            found[method] = Values(
                MEASURES, np.full((40, len(MEASURES)), printed * (1.0 + claim.value)),
                np.repeat([1, 2], 20),
            )  # fmt: skip
    return found


def _printed(value: float | None) -> str:
    return "" if value is None else repr(value)
