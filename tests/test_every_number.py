"""Every number that a run stores, computed again from its score files by plain Python.

No two folds, queries, cut-offs or algorithms are alike, so what is mixed up shows.
"""

import csv
import json
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from conftest import places, printed
from toy_data import SIZES, read_lists, write_uneven

from letorbench.conventions import CONVENTIONS
from letorbench.verify.plain import value

ALGOS = ("ndcgboost", "ranksvm", "regression")
RULES = CONVENTIONS["letor4"]
MEASURES = [f"{name}@{k}" for name in ("ndcg", "p") for k in range(1, 11)] + ["map", "mrr"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("numbers")
    write_uneven(folder / "data")
    words = ["run", "--dataset", "UNEVEN", "--algo", ",".join(f"{name}={name}" for name in ALGOS)]
    words += ["--convention", "letor4"]
    words += ["--set", "rounds=4", "--select", "ndcg@3"]
    printed(*words, *places(folder))
    return folder


def average(text: str, lists: Iterable[list[int]]) -> float:
    """The mean of a measure over lists of labels in the order of their scores."""
    return np.mean([value(text, labels, -np.arange(len(labels)), RULES) for labels in lists])


def measured(folder: Path, algo: str, fold: int) -> dict[int, dict[str, float]]:
    """Each test query's measures, by its qid, in the order of the file."""
    test = folder / "data" / "UNEVEN" / f"Fold{fold}" / "test.txt"
    lists = read_lists(test, folder / "results" / "UNEVEN" / algo / f"fold{fold}" / "scores.txt")
    return {
        qid: {name: average(name, [labels]) for name in MEASURES} for qid, labels in lists.items()
    }


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("algo", ALGOS)
def test_per_query_values(folder, algo):
    stored = rows(folder / "results" / "UNEVEN" / algo / "per_query.csv")
    expected = [
        {"fold": k, "qid": qid, **values}
        for k in range(1, 6)
        for qid, values in measured(folder, algo, k).items()
    ]
    assert len(stored) == len(expected) == sum(SIZES)
    for found, wanted in zip(stored, expected):
        assert {name: float(found[name]) for name in wanted} == pytest.approx(wanted)


@pytest.mark.parametrize("algo", ALGOS)
def test_means_of_the_folds_and_of_their_means(folder, algo):
    stored = rows(folder / "results" / "UNEVEN" / algo / "folds.csv")
    assert [row["fold"] for row in stored] == ["1", "2", "3", "4", "5", "mean"]
    (summary,) = (
        row for row in rows(folder / "results" / "UNEVEN" / "summary.csv") if row["algo"] == algo
    )
    for name in MEASURES:
        means = [
            np.mean([query[name] for query in measured(folder, algo, k).values()])
            for k in range(1, 6)
        ]
        assert [float(row[name]) for row in stored] == pytest.approx([*means, np.mean(means)])
        assert float(summary[name]) == pytest.approx(np.mean(means))


@pytest.mark.parametrize("algo", ALGOS)
def test_validation_is_measured_by_the_convention_of_the_run(folder, algo):
    for fold in range(1, 6):
        stored = folder / "results" / "UNEVEN" / algo / f"fold{fold}"
        validation = json.loads((stored / "fit.json").read_text())["validation"]
        part = folder / "data" / "UNEVEN" / f"Fold{fold}" / "vali.txt"
        lists = read_lists(part, stored / "validation.txt").values()
        assert validation["measure"] == "ndcg@3"
        assert validation["value"] == pytest.approx(average("ndcg@3", lists))
        tried = [trial["value"] for trial in validation["grid"]]
        assert validation["value"] == max(tried, default=validation["value"])
