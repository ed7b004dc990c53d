"""The tables have the rows that are printed, and their claims compare rows that exist."""

from __future__ import annotations

import numpy as np
import pytest

from letorbench.analysis.published import published
from letorbench.papers import functionals_2012 as functionals
from letorbench.papers.claims import NO_DATA
from letorbench.papers.functional_tables import TABLES
from letorbench.papers.study import Study, Values


@pytest.mark.parametrize("number", TABLES)
def test_rows_are_the_printed_ones(number):
    printed = {
        row.algorithm
        for row in published()
        if row.source == functionals.SOURCE and f"Table {number}" in row.note
    }
    assert {variant.label for variant in TABLES[number]} == printed


def test_claims_compare_rows_of_their_table():
    for table, upper, lower, _ in functionals.ORDERINGS.values():
        assert {upper, lower} <= {variant.label for variant in TABLES[table]}


def test_stand_ins_are_shown_and_not_judged(tmp_path, monkeypatch, rng):
    def runs(self, paper, dataset, variants, measures, convention):
        folds = np.repeat([1, 2], 10)
        drawn = [rng.uniform(size=(20, len(measures))) for _ in variants]
        return {v.label: Values(measures, d, folds) for v, d in zip(variants, drawn)}

    monkeypatch.setattr(Study, "runs", runs)
    findings = functionals.PAPER.parts["table-9"](Study(tmp_path, tmp_path))
    assert {verdict.verdict for verdict in findings.verdicts} == {NO_DATA}
    assert len(findings.verdicts) == 4
    assert all("DEMO (made up)" in verdict.note for verdict in findings.verdicts)
    rows = findings.files[0].read_text().splitlines()
    assert rows[0] == "method,paper ERR,DEMO (made up) ERR"
    assert rows[1].startswith("quadratic weight 1,0.4789,0.")
    assert len(rows) == 33
