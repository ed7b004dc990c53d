"""Every claim of every paper, held against a literal table: what it says may not drift."""

from __future__ import annotations

import csv
from pathlib import Path

from letorbench.papers import PAPERS, paper

COLUMNS = ("paper", "id", "part", "dataset", "kind", "sense", "value", "how", "text")


def test_claims_are_those_of_the_table():
    path = Path(__file__).with_name("claims.csv")
    with path.open(newline="", encoding="utf-8") as file:
        expected = [tuple(row[name] for name in COLUMNS) for row in csv.DictReader(file)]
    found = [
        (c.paper, c.id, c.part, c.dataset, c.kind, c.sense, _printed(c.value), c.how, c.text)
        for name in PAPERS
        for c in paper(name).claims
    ]
    assert found == expected


def _printed(value: float | None) -> str:
    return "" if value is None else repr(value)
