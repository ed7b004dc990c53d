"""The tables have the rows that are printed, and their claims compare rows that exist."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from letorbench.analysis.published import published
from letorbench.papers import functionals_2012 as functionals
from letorbench.papers.claims import NO_DATA
from letorbench.papers.functional_tables import TABLES, layout
from letorbench.papers.runs import Study, Values


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


def test_claims_compare_rows_of_their_table():
    compared = (functionals.ORDERINGS, functionals.COMPETITIVE, functionals.COMPARABLE)
    for table, upper, lower, _ in (entry for each in compared for entry in each.values()):
        assert {upper, lower} <= {variant.label for variant in TABLES[table].variants}


def test_the_best_of_a_column_is_one_of_its_table():
    for table, method, prefix in functionals.BEST.values():
        labels = [variant.label for variant in TABLES[table].variants]
        assert method in labels and sum(label.startswith(prefix) for label in labels) > 2


def test_stand_ins_are_judged_apart(tmp_path, monkeypatch, rng):
    def runs(self, paper, dataset, variants, measures, convention, select):
        folds = np.repeat([1, 2], 10)
        drawn = [rng.uniform(size=(20, len(measures))) for _ in variants]
        return {v.label: Values(measures, d, folds) for v, d in zip(variants, drawn)}

    monkeypatch.setattr(Study, "runs", runs)
    findings = functionals.PAPER.parts["table-9"](Study(tmp_path, tmp_path))
    assert {verdict.verdict for verdict in findings.verdicts} == {NO_DATA}
    assert len(findings.verdicts) == len(findings.elsewhere) == 12
    assert {verdict.place for verdict in findings.elsewhere} == {"DEMO"}
    assert NO_DATA not in {verdict.verdict for verdict in findings.elsewhere}
    rows = findings.files[0].read_text().splitlines()
    assert rows[0] == "data,weight V,quadratic,logistic,hinge,WUB"
    assert rows[1] == "paper,1,0.4789,0.4801,0.4787,0.4829"
    assert rows[9].startswith("DEMO (made up),1,0.")
    assert len(rows) == 17


@pytest.mark.parametrize("number", TABLES)
def test_layout_has_every_variant_once_in_the_papers_form(number):
    numbers = {v.label: float(i) for i, v in enumerate(TABLES[number].variants)}
    columns = {"err": "ERR", "ndcg@1": "N@1"} if number in (5, 6, 7) else {"err": "ERR"}
    table = TABLES[number]
    header, rows = layout(table, columns, lambda label, _: numbers[label], table.counts)
    shape = {4: (2, 4), 5: (8, 4), 6: (5, 3), 7: (5, 3), 8: (6, 4), 9: (8, 5)}[number]
    assert len(rows) == shape[0] and {len(row) for row in [header, *rows]} == {shape[1]}
    cells = {cell for row in rows for cell in row[1:] if isinstance(cell, float)}
    assert cells == set(numbers.values())
    assert len({row[0] for row in rows}) == len(rows)


def test_table_8_and_5_hold_the_printed_cells_where_the_paper_has_them():
    printed = {
        (row.algorithm, row.measure): row.value
        for row in published()
        if row.source == functionals.SOURCE
    }
    header, rows = layout(TABLES[8], {"err": "ERR"}, lambda *key: printed.get(key), {})
    assert header == ["weight W", "WPL", "RPL", "WpLL"]
    assert rows[4] == ["1/pi", 0.5017, 0.4989, 0.5013]
    columns = {"ndcg@1": "N@1", "err": "ERR"}
    header, rows = layout(TABLES[5], columns, lambda *key: printed.get(key), TABLES[5].counts)
    assert header == ["rho", "No. feats", "N@1", "ERR"]
    assert rows[0] == ["linear", 519, 0.6941, 0.4979]
    assert rows[4] == ["0.15", 14_425, 0.7090, 0.5048]


def test_features_counts_what_the_folds_kept(tmp_path):
    variant = TABLES[5].variants[3]
    folder = Study(tmp_path, tmp_path)._own(functionals.NAME, variant.label)
    for fold, kept in ((1, 7), (2, 4), (3, 5)):
        place = folder / "DEMO" / variant.algo / f"fold{fold}"
        place.mkdir(parents=True)
        np.savez(place / "model.npz", weights=np.zeros(10), second=np.zeros(kept))
    (folder / "DEMO" / variant.algo / "folds.csv").touch()
    study = Study(tmp_path, tmp_path)
    assert functionals._features(study, "DEMO", variant) == "4-7"
    assert functionals._features(study, "OHSUMED", variant) == ""
