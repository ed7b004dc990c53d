"""Means by the queries' weights: which weight each query has, and what a table's column gives."""

import csv
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from conftest import places, printed, refused

import letorbench as lb
from letorbench.conventions import convention
from letorbench.datasets.queryset import Fold
from letorbench.errors import DataError
from letorbench.measures import parse
from letorbench.results.measuring import measure_fold
from letorbench.results.per_query import PerQuery, read_fold_queries, write_fold_queries
from letorbench.solvers.stopping import Validation

RULES = "standard,mean=weighted"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data set of 30 queries, whose weights are 0, 0.5, 1 and 3, and two rankers' results."""
    folder, rng = tmp_path_factory.mktemp("weighted"), np.random.default_rng(0)
    with (folder / "own.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["query", "grade", "a", "b", "w"])
        for q in range(30):
            for a, b in rng.random((6, 2)).round(3).tolist():
                grade = int(2.4 * a + rng.random())
                rows.writerow([f"q{q}", grade, a, b, (0, 0.5, 1, 3)[q % 4]])
    columns = ["--label", "grade", "--qid", "query", "--weight", "w"]
    printed("datasets", "split", str(folder / "own.csv"), *columns, *places(folder)[:2])
    algos = ["--algo", "regression=regression,random=random", "--convention", RULES]
    printed("run", "--dataset", "own", *algos, *places(folder))
    return folder


def test_a_librarys_sum_of_weights_in_every_place(tmp_path: Path) -> None:
    """LightGBM adds 1 to a sum of NDCG for a query without a relevant document, and its weight to
    what divides it: (1 + 1 + 3 x .6309) / 9 here; MAP has the weights alone."""
    rules, columns = "lightgbm,mean=weighted", ["--label", "y", "--qid", "q", "--weight", "w"]
    y, w = [1, 0, 0, 0, 0, 1], np.repeat([1.0, 5.0, 3.0], 2)
    table = pd.DataFrame({"q": np.repeat([1, 2, 3], 2), "y": y, "a": [2, 1] * 3, "w": w})
    table.to_csv(tmp_path / "own.csv", index=False)
    np.savetxt(tmp_path / "scores", table["a"])
    means = (1.0 + 1.0 + 3.0 / np.log2(3.0)) / 9.0, (1.0 + 5.0 + 3.0 / 2.0) / 9.0
    given = ["--data", str(tmp_path / "own.csv"), "--scores", str(tmp_path / "scores"), *columns]
    assert f"Average\t{0.0:.4f}" not in (text := printed("score", *given, "--convention", rules))
    averages = [line.split() for line in text.splitlines() if line.startswith("Average")]
    assert averages[1][10] == f"{means[0]:.4f}" and averages[0][-1] == f"{means[1]:.4f}"
    queries = lb.QuerySet(
        np.zeros((6, 1), np.float32), np.array(y, np.int32), np.array([0, 2, 4, 6]),
        np.array(["1", "2", "3"]), weights=w[::2],
    )  # fmt: skip
    fold, scores = Fold(1, queries, queries, queries), np.array([2.0, 1.0] * 3)
    write_fold_queries(tmp_path / "f", measure_fold("x", fold, scores, convention(rules)))
    stored = read_fold_queries(tmp_path / "f", "x", 1)
    twice = PerQuery.joined([[stored, stored]])
    for name, mean in zip(("ndcg@10", "map"), means):
        for found in (stored, twice, twice.in_means, stored.at(np.ones(3, bool))):
            assert found.mean(name) == pytest.approx(mean, rel=1e-12)
        chosen = Validation(queries, parse(name), convention(rules))(scores)
        assert chosen.mean() == pytest.approx(mean, rel=1e-12)


def test_a_query_counts_by_the_weights_of_its_own_fold() -> None:
    """Also where some queries have no value, so that the weights of a fold have another mean."""
    folds, qids = np.repeat([1, 2], [3, 4]), np.array(list("abcdefg"))
    values = np.array([0.1, 0.9, np.nan, 0.3, 0.8, np.nan, 0.2])
    weights = np.array([0.5, 1.5, 1.0, 0.1, 0.4, 2.9, 0.6])
    kept = PerQuery("own", folds, qids, {"own": values}, weights).counted("own")
    expected = {1: (0.05 + 1.35) / 2.0, 2: (0.03 + 0.32 + 0.12) / 1.1}
    assert kept.fold_means("own") == pytest.approx(expected, rel=1e-12)
    assert kept.mean("own") == pytest.approx(sum(expected.values()) / 2, rel=1e-12)


def test_without_weights_there_is_no_weighted_mean(made: Path, tmp_path: Path) -> None:
    test = made / "data" / "own" / "Fold1" / "test.txt"
    (tmp_path / "test.txt").write_bytes(test.read_bytes())
    scores = made / "results" / "own" / "regression" / "fold1" / "scores.txt"
    given = ["--data", str(tmp_path / "test.txt"), "--scores", str(scores)]
    assert "mean=weighted: found no weights" in refused(1, "score", *given, "--convention", RULES)
    with pytest.raises(DataError, match="mean=weighted: found no weight above 0"):
        lb.evaluate([1, 0], [1, 2], ["a", "a"], convention=RULES, sample_weight=[0.0])


def test_weights_are_part_of_the_data(made: Path) -> None:
    before = lb.load("own", made / "data").provenance["digest"]
    file = made / "data" / "own" / "Fold1" / "train.txt.weight"
    lines = file.read_text().splitlines()
    file.write_text("\n".join(["7.5", *lines[1:]]) + "\n")
    changed = lb.load("own", made / "data")
    assert changed.provenance["digest"] != before and changed.folds[0].train.weights[0] == 7.5
    file.unlink()
    assert (lb.load("own", made / "data").folds[0].train.weights == 1.0).all()


def test_a_frame_has_a_column_of_weights(made: Path) -> None:
    frame = pd.read_csv(made / "own.csv")
    bench = lb.from_frame(frame, label="grade", qid="query", weight="w")
    for part in bench.parts:
        weights = [(0.0, 0.5, 1.0, 3.0)[int(qid[1:]) % 4] for qid in part.qids.tolist()]
        assert part.weights.tolist() == weights
    assert bench.parts[0].feature_names == ("a", "b")
    plain = lb.from_frame(frame.drop(columns="w"), label="grade", qid="query")
    assert plain.provenance["digest"] != bench.provenance["digest"]


def first_has_a_label(y_true: np.ndarray, y_score: np.ndarray) -> float:
    """Not defined where the first document of the file is not relevant."""
    return float(y_score[0]) if y_true[0] else np.nan


def test_what_a_measure_leaves_out_has_no_weight_in_its_mean(made: Path) -> None:
    """Beside another measure, which counts all queries, as alone."""
    results = lb.run(
        lb.load("own", made / "data"), {"mine": "regression"}, out=made / "partial",
        data_dir=made / "data", convention=RULES, measures=[first_has_a_label],
    )  # fmt: skip
    means = []
    for fold in lb.load("own", made / "data").folds:
        stored = made / "partial" / "own" / "mine" / f"fold{fold.number}"
        scores = np.loadtxt(stored / "scores.txt")
        firsts, starts = fold.test.labels[fold.test.offsets[:-1]], scores[fold.test.offsets[:-1]]
        means.append(np.average(starts, weights=fold.test.weights * (firsts > 0)))
        found = lb.evaluate(fold.test, scores, None, [first_has_a_label, "p@1"], RULES)
        assert found["first_has_a_label"] == pytest.approx(means[-1], rel=1e-12)
    by_fold = results.folds()["first_has_a_label"]
    assert by_fold.tolist() == pytest.approx(means, rel=1e-12)
    (shown,) = results.summary(["first_has_a_label"])["first_has_a_label"]
    assert shown == pytest.approx(np.mean(means), rel=1e-12)
    (frame,) = results.frames
    assert frame.rows[0].queries.mean("first_has_a_label") == pytest.approx(shown, rel=1e-12)
