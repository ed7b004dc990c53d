"""What a paper's experiments read of the runs: every fold, and nothing of an incomplete run."""

from __future__ import annotations

import csv
from dataclasses import replace

import numpy as np
import pytest
from uneven_data import SIZES, write_uneven

from letorbench.papers import runs
from letorbench.papers.runs import Study, Variant

PLAIN = Variant("Regression", "regression", {})
OWN = Variant("NDCG Boost, 3 rounds", "ndcgboost", {"rounds": 3})
MEASURES = ("ndcg@1", "ndcg@3", "map")


@pytest.fixture
def study(tmp_path) -> Study:
    write_uneven(tmp_path / "data")
    return Study(tmp_path / "data", tmp_path / "results")


def test_the_values_are_those_of_the_stored_queries(study):
    found = study.runs("UNEVEN", [OWN, PLAIN], MEASURES, "letor4")
    assert list(found) == [OWN.label, PLAIN.label]
    for variant in (OWN, PLAIN):
        values = found[variant.label]
        (path,) = study.out.rglob(f"{variant.algo}/per_query.csv")
        with path.open(newline="") as file:
            rows = list(csv.DictReader(file))
        assert values.folds.tolist() == [int(row["fold"]) for row in rows]
        assert len(rows) == sum(SIZES)
    one = study.runs("UNEVEN", [PLAIN], MEASURES, "letor4")[PLAIN.label]
    other = study.runs("UNEVEN", [PLAIN], MEASURES, "standard")[PLAIN.label]
    assert (one["ndcg@3"] != other["ndcg@3"]).any() and (one["map"] == other["map"]).all()
    assert np.array_equal(one["ndcg@1"], found[PLAIN.label]["ndcg@1"])


def test_a_variant_with_a_fold_that_failed_has_no_values(study, monkeypatch):
    whole = runs.run_all

    def with_failure(*args):
        report = whole(*args)
        failed = [
            replace(o, fold=None, error="no memory") if o.task.fold == 3 else o
            for o in report.outcomes
        ]
        return replace(report, outcomes=tuple(failed))

    said: list[str] = []
    study = replace(study, say=said.append)
    with monkeypatch.context() as patched:
        patched.setattr(runs, "run_all", with_failure)
        assert study.runs("UNEVEN", [PLAIN], MEASURES) == {}
    assert [line.endswith("no memory") for line in said] == [False, True]
    assert list(study.runs("UNEVEN", [PLAIN], MEASURES)) == [PLAIN.label]
