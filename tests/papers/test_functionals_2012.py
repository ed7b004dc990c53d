"""The tables have the rows that are printed, their claims compare rows that exist.

The appendix's bounds are computed again by hand, and slices of Yahoo!'s set 1 by its twin.
"""

from __future__ import annotations

import csv
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from letorbench.analysis.published import published
from letorbench.papers import (
    functional_bounds,
)
from letorbench.papers import functionals_2012 as functionals
from letorbench.papers.claims import REPRODUCED
from letorbench.papers.functional_tables import TABLES
from letorbench.papers.runs import Study


@pytest.mark.parametrize("number", TABLES)
def test_rows_are_the_printed_ones(number):
    printed = {
        row.algorithm
        for row in published()
        if row.source == functionals.SOURCE and f"Table {number}" in row.note
    }
    assert {variant.label for variant in TABLES[number].variants} == printed


def test_the_rankers_of_the_rows_are_those_of_the_list():
    """A functional, an aggregation or a weight that is mixed up with another shows here."""
    with Path(__file__).with_name("functional_rows.csv").open(newline="") as file:
        expected = [list(row.values()) for row in csv.DictReader(file)]
    found = [
        [str(number), entry.variant.label, entry.row, entry.column, str(entry.features or ""),
         entry.variant.algo,
         " ".join(f"{key}={value}" for key, value in sorted(entry.variant.settings.items()))]
        for number, table in TABLES.items()
        for entry in table.entries
    ]  # fmt: skip
    assert found == expected


def test_the_bound_of_a_field_by_hand():
    """Three documents with two labels, every sum written out."""
    f, gamma = np.array([0.3, -0.2, 1.1]), 1.0 / 3.0
    pairs = [(0, 1), (0, 2), (1, 2)]

    def psi(r, i, j):
        return np.exp(gamma * np.sign(r[i] - r[j]) * (f[i] - f[j]))

    labellings = list(product(range(2), repeat=3))
    Z = sum(np.prod([psi(r, i, j) for i, j in pairs]) for r in labellings)
    Z_pair = {
        (i, j): sum(np.exp(gamma * np.sign(a - b) * (f[i] - f[j]))
                    for a in range(2) for b in range(2))
        for i, j in pairs
    }  # fmt: skip
    gaps = []
    for r in labellings:
        log_loss = np.log(Z) - sum(np.log(psi(r, i, j)) for i, j in pairs)
        bound = sum(np.log(Z_pair[i, j]) - np.log(psi(r, i, j)) for i, j in pairs) + np.log(2.0)
        gaps.append(bound - log_loss)
    norms = np.prod([sum(psi(r, i, j) ** 3 for r in labellings) ** (1 / 3) for i, j in pairs])
    hoelder, powers, excess, distance = functional_bounds.field_excesses(f, 2, gamma)
    assert hoelder == pytest.approx(np.log(Z) - np.log(norms))
    assert excess == pytest.approx(-min(gaps)) and distance == pytest.approx(min(gaps))
    assert powers == pytest.approx(0.0, abs=1e-12)


def test_the_appendix_holds_and_would_not_with_a_smaller_constant(tmp_path, monkeypatch):
    monkeypatch.setattr(functional_bounds, "PROBLEMS", 40)
    monkeypatch.setattr(functional_bounds, "QUERIES", 300)
    findings = functional_bounds.appendix(Study(tmp_path, tmp_path))
    assert {verdict.verdict for verdict in findings.verdicts} == {REPRODUCED}
    rng = np.random.default_rng(0)
    # a tenth of the loss bounds 1 - NDCG no longer
    whole = functional_bounds.PairwiseLoss

    def tenth(name):
        return lambda scores, queries: (0.1 * whole(name)(scores, queries)[0], None)

    monkeypatch.setattr(functional_bounds, "PairwiseLoss", tenth)
    assert functional_bounds.beyond_loss("logistic", rng, 300) > 0.01
