"""What a paper's experiments read of the runs: every fold, and nothing of an incomplete run."""

import csv
import shutil

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


@pytest.mark.parametrize("variant", [PLAIN, OWN], ids=lambda variant: variant.algo)
def test_a_run_that_lacks_a_fold_gives_no_values(study, variant, monkeypatch):
    study.runs("UNEVEN", [variant], MEASURES)
    (fold,) = study.out.rglob(f"{variant.algo}/fold3")
    shutil.rmtree(fold)
    whole = runs.run_all

    def without_fold_3(datasets, settings, folds, protocol, jobs):
        return whole(datasets, settings, [1, 2, 4, 5], protocol, jobs)

    with monkeypatch.context() as patched:
        patched.setattr(runs, "run_all", without_fold_3)
        assert study.runs("UNEVEN", [variant], MEASURES) == {}
        some = study.runs("UNEVEN", [variant], MEASURES, folds=[1, 2])
        assert set(some[variant.label].folds.tolist()) == {1, 2}
    assert list(study.runs("UNEVEN", [variant], MEASURES)) == [variant.label]
