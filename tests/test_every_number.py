"""Every number that a run stores, computed again from its score files by plain Python.

No two folds, queries, cut-offs or algorithms are alike, so what is mixed up shows.
"""

import csv
import json
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from uneven_data import SIZES, read_lists, write_uneven

from letorbench.cli import cli

ALGOS = ("ndcgboost", "ranksvm", "regression")
Measure = Callable[[list[int]], float]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("numbers")
    write_uneven(folder / "data")
    words = ["run", "--dataset", "UNEVEN", "--algo", ",".join(ALGOS), "--convention", "letor4"]
    words += ["--set", "rounds=4", "--select", "ndcg@3"]
    words += ["--data-dir", str(folder / "data"), "--out", str(folder / "results")]
    result = CliRunner().invoke(cli, words)
    assert result.exit_code == 0, result.stderr
    return folder


def dcg(labels: list[int]) -> float:
    """LETOR's: the discounts are 1, 1, 1 / log2 3, ..."""
    return sum((2**r - 1) / max(1.0, math.log2(max(i, 2))) for i, r in enumerate(labels, 1))


def ndcg(k: int) -> Measure:
    """LETOR 4.0's: 0 of a list shorter than k."""

    def of(labels: list[int]) -> float:
        best = dcg(sorted(labels, reverse=True)[:k])
        return dcg(labels[:k]) / best if best and len(labels) >= k else 0.0

    return of


def precision(k: int) -> Measure:
    return lambda labels: sum(r >= 1 for r in labels[:k]) / k


def average_precision(labels: list[int]) -> float:
    hits = [i for i, r in enumerate(labels, 1) if r >= 1]
    return sum(n / i for n, i in enumerate(hits, 1)) / len(hits) if hits else 0.0


def reciprocal_rank(labels: list[int]) -> float:
    return next((1 / i for i, r in enumerate(labels, 1) if r >= 1), 0.0)


MEASURES: dict[str, Measure] = {
    **{f"ndcg@{k}": ndcg(k) for k in range(1, 11)},
    **{f"p@{k}": precision(k) for k in range(1, 11)},
    "map": average_precision,
    "mrr": reciprocal_rank,
}


def measured(folder: Path, algo: str, fold: int) -> dict[int, dict[str, float]]:
    """Each test query's measures, by its qid, in the order of the file."""
    test = folder / "data" / "UNEVEN" / f"Fold{fold}" / "test.txt"
    lists = read_lists(test, folder / "results" / "UNEVEN" / algo / f"fold{fold}" / "scores.txt")
    return {
        qid: {name: of(labels) for name, of in MEASURES.items()} for qid, labels in lists.items()
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
        values = [
            ndcg(3)(labels) for labels in read_lists(part, stored / "validation.txt").values()
        ]
        assert validation["measure"] == "ndcg@3"
        assert validation["value"] == pytest.approx(np.mean(values))
        tried = [trial["value"] for trial in validation["grid"]]
        assert validation["value"] == max(tried, default=validation["value"])


def test_what_is_printed_is_what_is_stored(folder):
    words = ["table", "UNEVEN", "--measure", "ndcg@1,ndcg@3,ndcg@10,map", "--format", "csv"]
    result = CliRunner().invoke(cli, [*words, "--out", str(folder / "results")])
    assert result.exit_code == 0, result.stderr
    printed = list(csv.DictReader(result.stdout.splitlines()))
    stored = rows(folder / "results" / "UNEVEN" / "summary.csv")
    assert [row["algo"] for row in printed] == [row["algo"] for row in stored] == list(ALGOS)
    for found, wanted in zip(printed, stored):
        for name in ("ndcg@1", "ndcg@3", "ndcg@10", "map"):
            assert found[name] == wanted[name]
