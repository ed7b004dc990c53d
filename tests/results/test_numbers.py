"""How numbers travel: from the scores of each fold, and the weights, to every mean that is shown.

All is computed again by plain Python from the files of data and scores. No two folds, queries,
weights, cut-offs, systems or seeds are alike, so what is mixed up shows.
"""

import csv
import json
from collections.abc import Callable
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from conftest import places, printed, refused
from toy_data import write_uneven

import letorbench as lb
from letorbench.conventions import convention
from letorbench.datasets.queryset import Fold
from letorbench.errors import DataError
from letorbench.measures import parse
from letorbench.results.measuring import measure_fold
from letorbench.results.per_query import PerQuery, read_fold_queries, write_fold_queries
from letorbench.solvers.stopping import Validation
from letorbench.verify import plain

WEIGHTED = "standard,mean=weighted"
STORED = [f"{name}@{k}" for name in ("ndcg", "p") for k in (1, 3, 10)] + ["map", "mrr"]
#: what the folds do not hold
LATER = ["rbp", "recall@2", "ndcg@13"]
SEEDS = {"fixed": 1, "net": 2}
FOLDS = range(1, 6)


class Ran:
    """A run, and what each of its numbers must be."""

    def __init__(self, folder: Path, rules: str) -> None:
        self.folder, self.rules = folder, rules
        self.data = write_uneven(folder / "data")
        for part in self.data.glob("Fold*/*.txt"):
            weights = [f"{self.weight(qid)}\n" for qid in self.lists(part)]
            Path(f"{part}.weight").write_text("".join(weights))
        algos = {"net": lb.RankNet(epochs=1), "fixed": lb.Regression}
        where = {"data_dir": folder / "data", "out": folder / "results"}
        lb.run("UNEVEN", algos, repeats=2, convention=rules, select="ndcg@3", **where)
        self.results = lb.load_results(where["out"], data_dir=where["data_dir"])

    def weight(self, qid: int) -> float:
        return (0.5, 1.0, 3.0, 0.25)[qid % 4] if self.rules == WEIGHTED else 1.0

    def place(self, algo: str, seed: int, fold: int) -> Path:
        of_algo = self.folder / "results" / "UNEVEN" / algo
        return (of_algo if seed == 1 else of_algo / f"repeat{seed}") / f"fold{fold}"

    @staticmethod
    def lists(part: Path) -> dict[int, list[int]]:
        """The labels of each query of a file."""
        found: dict[int, list[int]] = {}
        for line in part.read_text().splitlines():
            label, qid, *_ = line.split()
            found.setdefault(int(qid.removeprefix("qid:")), []).append(int(label))
        return found

    def queries(self, part: Path, scores: Path, measure: str) -> dict[int, float]:
        """The value of each query that counts."""
        left, found = [float(line) for line in scores.read_text().split()], {}
        for qid, labels in self.lists(part).items():
            own, left = left[: len(labels)], left[len(labels) :]
            found[qid] = plain.values([measure], labels, own, convention(self.rules))[0]
        assert left == []
        return {qid: each for qid, each in found.items() if each == each}

    def mean(self, values: dict[int, float]) -> float:
        return np.average([*values.values()], weights=[*map(self.weight, values)])

    @cache
    def of_fold(self, algo: str, seed: int, fold: int, measure: str) -> dict[int, float]:
        part, folder = self.data / f"Fold{fold}" / "test.txt", self.place(algo, seed, fold)
        return self.queries(part, folder / "scores.txt", measure)

    @cache
    def means(self, algo: str, measure: str) -> np.ndarray:
        """The mean of each fold, (seeds, folds)."""
        seeds = range(1, SEEDS[algo] + 1)
        return np.array(
            [[self.mean(self.of_fold(algo, s, k, measure)) for k in FOLDS] for s in seeds]
        )


@pytest.fixture(scope="module")
def make(tmp_path_factory) -> Callable[[str], Ran]:
    return cache(lambda rules: Ran(tmp_path_factory.mktemp("numbers"), rules))


@pytest.fixture(params=["letor4", "standard,empty=drop", WEIGHTED])
def ran(request, make) -> Ran:
    return make(request.param)


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("algo", SEEDS)
def test_the_files_of_folds_and_systems(ran, algo):
    for seed in range(1, SEEDS[algo] + 1):
        for fold in FOLDS:
            folder = ran.place(algo, seed, fold)
            fit = json.loads((folder / "fit.json").read_text())
            stored = rows(folder / "per_query.csv")
            for name in STORED:
                expected = ran.of_fold(algo, seed, fold, name)
                assert [int(row["qid"]) for row in stored] == [*expected]
                assert [float(row[name]) for row in stored] == pytest.approx([*expected.values()])
                assert fit["test"]["means"][name] == pytest.approx(ran.mean(expected))
            part = ran.data / f"Fold{fold}" / "vali.txt"
            chosen = ran.mean(ran.queries(part, folder / "validation.txt", "ndcg@3"))
            assert fit["validation"]["value"] == pytest.approx(chosen)
    folder = ran.place(algo, 1, 1).parent
    queries, folds = rows(folder / "per_query.csv"), rows(folder / "folds.csv")
    assert [row["fold"] for row in folds] == ["1", "2", "3", "4", "5", "mean"]
    assert (folder / "repeats.csv").is_file() == (SEEDS[algo] > 1)
    for name in STORED:
        own = []
        for k in FOLDS:
            seeds = [ran.of_fold(algo, s, k, name) for s in range(1, SEEDS[algo] + 1)]
            own += [(k, qid, np.mean([each[qid] for each in seeds])) for qid in seeds[0]]
        found = [(int(row["fold"]), int(row["qid"]), float(row[name])) for row in queries]
        np.testing.assert_allclose(found, own, rtol=1e-12)
        means = ran.means(algo, name)
        found = [float(row[name]) for row in folds]
        assert found == pytest.approx([*means.mean(axis=0), means.mean()])
        if SEEDS[algo] > 1:
            seeds = means.mean(axis=1)
            found = [float(row[name]) for row in rows(folder / "repeats.csv")]
            assert found == pytest.approx([*seeds, seeds.mean(), seeds.std(ddof=1)])


@pytest.mark.parametrize("algo", SEEDS)
def test_every_table_and_frame(ran, algo):
    """The stored measures and those that are computed from the scores."""
    names = [*STORED, *LATER]
    [summary] = ran.results.summary(names).query("algo == @algo").to_dict("records")
    [stored] = [
        row for row in rows(ran.folder / "results/UNEVEN/summary.csv") if row["algo"] == algo
    ]
    words = ["table", "UNEVEN", "--measure", ",".join(names), *places(ran.folder)]
    table = csv.DictReader(printed(*words, "--format", "csv").splitlines())
    [printed_row] = [line for line in table if line["algo"] == algo]
    text = next(line for line in printed(*words).splitlines() if line.startswith(algo))
    folds = ran.results.folds().query("algo == @algo")
    queries = ran.results.per_query(names, repeats=True).query("algo == @algo")
    for name in names:
        means = ran.means(algo, name)
        seeds = means.mean(axis=1)
        spread = seeds.std(ddof=1) if len(seeds) > 1 else np.nan
        assert f"{seeds.mean():.4f}" in text
        for row in (summary, printed_row, *([stored] if name in STORED else [])):
            assert float(row[name]) == pytest.approx(seeds.mean(), rel=1e-12)
            found = row[f"{name}-sd"]
            assert float("nan" if found == "" else found) == pytest.approx(spread, nan_ok=True)
        if name in STORED:
            np.testing.assert_allclose(folds[name], means.ravel(), rtol=1e-12)
        order = ["repeat", "fold", "qid"]
        lines = [
            (seed, k, str(qid), each)
            for k, seed in product(FOLDS, range(1, len(means) + 1))
            for qid, each in ran.of_fold(algo, seed, k, name).items()
        ]
        expected = pd.DataFrame(lines, columns=[*order, name])
        found, expected = (each.sort_values(order)[[*order, name]] for each in (queries, expected))
        np.testing.assert_array_equal(found[order], expected[order])
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-12)


def test_a_difference_is_that_of_the_means_and_verify_finds_no_problem(ran):
    [pair] = ran.results.compare("fixed", "map").to_dict("records")
    assert pair["difference"] == pytest.approx(pair["mean"] - pair["mean_against"], abs=1e-12)
    words = "verify", str(ran.folder / "results"), *places(ran.folder)[:2]
    assert " 0 problems" in printed(*words)


def test_a_librarys_sum_of_weights_in_every_place(tmp_path):
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


def test_a_query_counts_by_the_weights_of_its_own_fold():
    """Also where some queries have no value, so that the weights of a fold have another mean."""
    folds, qids = np.repeat([1, 2], [3, 4]), np.array(list("abcdefg"))
    values = np.array([0.1, 0.9, np.nan, 0.3, 0.8, np.nan, 0.2])
    weights = np.array([0.5, 1.5, 1.0, 0.1, 0.4, 2.9, 0.6])
    kept = PerQuery("own", folds, qids, {"own": values}, weights).counted("own")
    expected = {1: (0.05 + 1.35) / 2.0, 2: (0.03 + 0.32 + 0.12) / 1.1}
    assert kept.fold_means("own") == pytest.approx(expected, rel=1e-12)
    assert kept.mean("own") == pytest.approx(sum(expected.values()) / 2, rel=1e-12)


def test_without_weights_there_is_no_weighted_mean(make, tmp_path):
    """Weights are part of the data: without them, or with others, the data are not the same."""
    ran = make(WEIGHTED)
    test = ran.data / "Fold1" / "test.txt"
    (tmp_path / "test.txt").write_bytes(test.read_bytes())
    given = ["--data", str(tmp_path / "test.txt")]
    given += ["--scores", str(ran.place("fixed", 1, 1) / "scores.txt"), "--convention", WEIGHTED]
    assert "mean=weighted: found no weights" in refused(1, "score", *given)
    with pytest.raises(DataError, match="mean=weighted: found no weight above 0"):
        lb.evaluate([1, 0], [1, 2], ["a", "a"], convention=WEIGHTED, sample_weight=[0.0])
    digests = set()
    for name, lines in (("A", {}), ("B", {1: "7.5"}), ("C", None)):
        data = write_uneven(tmp_path / "data", name)
        for part in data.glob("Fold*/*.txt"):
            own = [(lines or {}).get(qid % 5, "1") for qid in ran.lists(part)]
            if lines is not None:
                Path(f"{part}.weight").write_text("\n".join(own) + "\n")
        digests.add(lb.load(name, tmp_path / "data").provenance["digest"])
    assert len(digests) == 3


def first_has_a_label(y_true: np.ndarray, y_score: np.ndarray) -> float:
    """Not defined where the first document of the file is not relevant."""
    return float(y_score[0]) if y_true[0] else np.nan


def test_what_a_measure_leaves_out_has_no_weight_in_its_mean(make):
    """Beside another measure, which counts all queries, as alone."""
    ran = make(WEIGHTED)
    where = {"data_dir": ran.folder / "data", "out": ran.folder / "partial"}
    bench = lb.load("UNEVEN", ran.folder / "data")
    measures = [first_has_a_label]
    results = lb.run(bench, {"mine": "regression"}, convention=WEIGHTED, measures=measures, **where)
    means = []
    for fold in bench.folds:
        scores = np.loadtxt(where["out"] / "UNEVEN" / "mine" / f"fold{fold.number}" / "scores.txt")
        firsts, starts = fold.test.labels[fold.test.offsets[:-1]], scores[fold.test.offsets[:-1]]
        weights = fold.test.weights * (firsts > 0)
        means.append(np.average(starts, weights=weights) if weights.any() else np.nan)
        found = lb.evaluate(fold.test, scores, None, [first_has_a_label, "p@1"], WEIGHTED)
        assert found["first_has_a_label"] == pytest.approx(means[-1], rel=1e-12, nan_ok=True)
    by_fold = results.folds()["first_has_a_label"]
    assert by_fold.tolist() == pytest.approx(means, rel=1e-12, nan_ok=True)
    (shown,) = results.summary(["first_has_a_label"])["first_has_a_label"]
    assert shown == pytest.approx(np.nanmean(means), rel=1e-12)
    (frame,) = results.frames
    assert frame.rows[0].queries.mean("first_has_a_label") == pytest.approx(shown, rel=1e-12)
