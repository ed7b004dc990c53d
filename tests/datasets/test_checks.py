"""Warnings about data: a convention that looks wrong, and queries in two parts of a fold."""

from pathlib import Path

import pytest
from conftest import random_queries

import letorbench as lb
from letorbench.datasets.catalog import CATALOG
from letorbench.datasets.checks import check_convention, leak
from letorbench.datasets.queryset import Benchmark, Fold


@pytest.mark.parametrize("entry", CATALOG.values(), ids=lambda entry: entry.name)
def test_no_known_data_set_is_doubted_under_its_own_convention(entry):
    rules = entry.convention
    assert check_convention(entry.n_features, entry.max_label, rules, chosen=False) is None


@pytest.mark.parametrize(
    "features, largest, convention, chosen, message",
    [
        (136, 4, "letor3", True, "--convention mslr may be meant"),
        (45, 2, "letor4", True, "--convention letor3 may be meant"),
        (46, 2, "standard", False, "--convention letor4 may be meant"),
        (46, 2, "standard", True, None),
        (136, 0, "letor3", True, None),
        (20, 4, "standard", False, None),
        (20, 1, "letor3", True, None),
    ],
)
def test_doubts(features, largest, convention, chosen, message):
    text = check_convention(features, largest, convention, chosen)
    assert text is None if message is None else message in text


def test_a_query_in_two_parts_is_named(rng):
    whole = random_queries(rng, [3] * 9)
    parts = [whole.queries(0, 3), whole.queries(3, 6), whole.queries(6, 9)]
    overlapping = [whole.queries(0, 3), whole.queries(3, 6), whole.queries(4, 9)]
    sound = Benchmark("B", (Fold(1, *parts),), lb.CONVENTIONS["standard"], {})
    assert leak(sound) == ""
    line = leak(Benchmark("B", (*sound.folds, Fold(2, *overlapping)), sound.convention, {}))
    assert line.startswith("fold 2 has 2 queries (such as 5) in its validation and its test part")


def test_a_run_says_what_validates_and_what_leaks(tmp_path: Path):
    folder = tmp_path / "data" / "mine"
    folder.mkdir(parents=True)
    text = "".join(f"{d} qid:{q} 1:{d}.{q}\n" for q in range(1, 11) for d in range(2))
    (folder / "train.txt").write_text(text)
    (folder / "test.txt").write_text("0 qid:10 1:3\n1 qid:11 1:4\n")
    with pytest.warns(UserWarning) as warned:
        lb.run("mine", "regression", out=tmp_path / "out", data_dir=tmp_path / "data")
    lines = [str(each.message) for each in warned]
    assert "mine: no validation part: the last fifth of the training queries validates" in lines
    assert any("mine: fold 1 has 1 query (such as 10) in its validation and" in x for x in lines)
