"""A fold's files: what is in them, and when they hold."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from stored_results import store_fold

from letorbench.errors import DataError
from letorbench.fit_warnings import FitWarning
from letorbench.results import (
    CutOff,
    FoldResult,
    fold_scores,
    is_done,
    read_folds,
    stored_fit,
    stored_folds,
    write_fold,
)
from letorbench.results.fit_file import fit_or_damage, keep, write_fit
from letorbench.results.per_query import read_fold_queries
from letorbench.results.stored_folds import experiment_of


def test_another_systems_fold_is_scores_and_a_fit(tmp_path: Path) -> None:
    facts, odd = {"algo": "theirs", "fold": 2}, FitWarning("other", "odd")
    assert not is_done(tmp_path, facts) and stored_fit(tmp_path) == {}
    write_fold(tmp_path, FoldResult(facts, np.array([0.1, -1e300]), warnings=(odd,)))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["fit.json", "scores.txt"]
    assert fold_scores(tmp_path, 2).tolist() == [0.1, -1e300]
    fit = stored_fit(tmp_path)
    assert fit["chosen"] == {} and fit["validation"]["grid"] == [] and fit["seconds"] is None
    assert is_done(tmp_path, facts) and not is_done(tmp_path, {**facts, "fold": 3})
    assert keep(tmp_path, fit) == [odd]
    (tmp_path / "scores.txt").unlink()
    assert not is_done(tmp_path, facts) and "scores.txt: damaged" in fit_or_damage(tmp_path)[1]


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("warnings", None, "found None as warnings, expected a list of kinds and texts"),
        ("warnings", {"kind": "other"}, "as warnings, expected a list of kinds and texts"),
        ("warnings", [{"kind": "other"}], "as warnings, expected a list of kinds and texts"),
        (
            "test",
            3,
            "found 3 as test, expected a known convention and the means of the test",
        ),
        ("repeats", 0, "found 0 as repeats, expected a number of seeds, or null"),
    ],
)
def test_a_fit_that_holds_something_else_is_refused(
    tmp_path: Path, key: str, value: object, said: str
) -> None:
    """Its check sum is right: another program wrote it."""
    write_fold(tmp_path, FoldResult({"algo": "a"}, np.zeros(1)))
    write_fit(tmp_path, {**stored_fit(tmp_path), key: value})
    with pytest.raises(DataError, match=said):
        stored_fit(tmp_path)
    assert said in fit_or_damage(tmp_path)[1]


def test_a_fold_without_validation_leaves_no_older_ones(tmp_path: Path) -> None:
    facts = {"algo": "a"}
    write_fold(tmp_path, FoldResult(facts, np.zeros(1), validation_scores=np.array([0.25, 1.0])))
    assert (tmp_path / "validation.txt").read_text() == "0.25\n1.0\n"
    write_fold(tmp_path, FoldResult(facts, np.zeros(1)))
    assert not (tmp_path / "validation.txt").exists()


def test_what_json_has_no_number_for_is_null(tmp_path: Path) -> None:
    validation = {"value": -np.inf, "curve": (np.float64(0.5), np.nan)}
    write_fold(tmp_path, FoldResult({}, np.zeros(1), validation=validation))
    text = (tmp_path / "fit.json").read_text()
    assert json.loads(text)["validation"] == {"value": None, "curve": [0.5, None]}


def test_folds_are_read_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    for number in (10, 2, 1):
        store_fold(tmp_path, "S", "a", number, {"map": number / 10, "mrr": 0.5}, n_folds=10)
    for name in ("fold", "foldx", "fold0", "trec"):
        (tmp_path / "S" / "a" / name).mkdir()
    (tmp_path / "S" / "a" / "fold3").touch()
    found = read_folds(tmp_path, "S", "a")
    assert [fold.number for fold in found] == [1, 2, 10]
    assert [fold.means["map"] for fold in found] == [0.1, 0.2, 1.0]
    assert {fold.n_folds for fold in found} == {10} and len({f.experiment for f in found}) == 1
    queries = found[2].queries()
    assert (queries.algo, queries.folds.tolist(), queries.qids.tolist()) == ("a", [10], ["1000"])
    assert queries.values["map"].tolist() == [1.0] and found[0].scores(3).tolist() == [0.0] * 3


def test_a_fold_that_another_run_begins_anew_meanwhile_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its fit.json goes between two looks at it."""
    for number in (1, 2):
        store_fold(tmp_path, "S", "a", number, {"map": 0.5}, n_folds=2)

    def read_then_gone(folder: Path) -> dict[str, object]:
        fit = stored_fit(folder)
        if folder.name == "fold1":
            (folder / "fit.json").unlink()
        return fit

    monkeypatch.setattr(stored_folds, "stored_fit", read_then_gone)
    assert [fold.number for fold in read_folds(tmp_path, "S", "a")] == [2]


def test_folds_of_one_experiment_differ_in_their_number_and_their_external_file() -> None:
    one = {"algo": "a", "fold": 1, "external": {"file": "1.txt", "digest": "x", "format": "trec"}}
    two = {"algo": "a", "fold": 2, "external": {"file": "2.txt", "digest": "y", "format": "trec"}}
    assert experiment_of(one) == experiment_of(two)
    assert experiment_of(one) != experiment_of({**one, "external": {"format": "scores"}})
    assert experiment_of(one) != experiment_of({**one, "algo": "b"})


@pytest.mark.parametrize(
    "text, said",
    [
        ("", "per_query.csv:1: found no header"),
        ("qid,map\n", "per_query.csv:1: found no header"),
        ("qid,map\n2,.5\n3\n", "per_query.csv:3: found 1 cells, expected 2"),
        ("qid,map\n2,x\n", "per_query.csv: could not convert"),
        (None, "per_query.csv: No such file or directory; run it again"),
    ],
)
def test_damaged_queries(tmp_path: Path, text: str | None, said: str) -> None:
    path = tmp_path / "per_query.csv"
    if text is not None:
        path.write_text(text)
    with pytest.raises(DataError, match=said):
        read_fold_queries(path, "a", 1)


def test_a_cut_off_fold_is_done_for_its_limit_only(tmp_path):
    facts = {"dataset": "SET", "algo": "a", "fold": 1}
    write_fold(tmp_path, FoldResult(facts, np.zeros(3), cut_off=CutOff(60.0, 2, 6)))
    assert stored_fit(tmp_path)["cut_off"] == {"time_limit": 60.0, "fits": 2, "of": 6}
    assert is_done(tmp_path, facts, 60.0) and is_done(tmp_path, facts, 10.0)
    assert not is_done(tmp_path, facts) and not is_done(tmp_path, facts, 61.0)


def test_a_whole_fold_is_done_for_every_limit(tmp_path):
    facts = {"dataset": "SET", "algo": "a", "fold": 1}
    write_fold(tmp_path, FoldResult(facts, np.zeros(3)))
    assert stored_fit(tmp_path)["cut_off"] is None
    assert is_done(tmp_path, facts) and is_done(tmp_path, facts, 1.0)
