"""`compare`, `table --baseline`, `table --published`, `plot --published` on small runs."""

import csv
import re
from pathlib import Path

import numpy as np
import pytest
from conftest import call, places, printed, refused
from scipy.stats import ttest_rel
from toy_data import store_fold, write_toy

import letorbench as lb

ALGOS = ("ndcgboost", "ranksvm", "regression")


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Three algorithms on two data sets."""
    folder = tmp_path_factory.mktemp("compare")
    write_toy(folder / "data")
    write_toy(folder / "data", "OTHER", seed=2)
    words = ["--algo", ",".join(ALGOS), "--set", "rounds=5", "--set", "C=1", *places(folder)]
    printed("run", "--dataset", "TOY", "--share", "0.5,1", *words)
    printed("run", "--dataset", "OTHER", "--convention", "standard,relevant=2", *words)
    return folder


def rows(folder: Path, *words: str) -> list[dict[str, str]]:
    text = printed(*words, "--format", "csv", *places(folder))
    return list(csv.DictReader(text.splitlines()))


@pytest.mark.parametrize("test", ["t", "wilcoxon", "randomization"])
def test_every_number_against_an_independent_computation(folder, test):
    words = ("compare", "TOY", "--measure", "map,ndcg@5", "--test", test, "--baseline")
    found = rows(folder, *words, "regression")
    assert [(r["measure"], r["algo"], r["against"]) for r in found] == [
        (m, a, "regression") for m in ("map", "ndcg@5") for a in ALGOS[:2]
    ]
    queries = lb.load_results(folder / "results", "TOY").per_query().groupby("algo")
    for row in found:
        a, b = (queries.get_group(row[n])[row["measure"]].to_numpy() for n in ("algo", "against"))
        d = a - b
        assert int(row["queries"]) == 40
        assert float(row["difference"]) == pytest.approx(d.mean(), abs=1e-12)
        assert float(row["mean"]) - float(row["mean_against"]) == pytest.approx(d.mean())
        assert float(row["low"]) <= d.mean() <= float(row["high"])
        assert float(row["effect"]) == pytest.approx(d.mean() / d.std(ddof=1))
        counts = (d > 1e-12).sum(), (abs(d) <= 1e-12).sum(), (d < -1e-12).sum()
        assert tuple(int(row[name]) for name in ("wins", "ties", "losses")) == counts
        if test == "t":
            assert float(row["p"]) == pytest.approx(ttest_rel(a, b).pvalue, abs=1e-12)
    for two in (found[:2], found[2:]):  # Holm's correction of two
        low, high = sorted(float(row["p"]) for row in two)
        adjusted = sorted(float(row["p_adjusted"]) for row in two)
        assert adjusted == pytest.approx([min(1, 2 * low), min(1, max(2 * low, high))])


def test_all_pairs_and_the_seed(folder):
    found = rows(folder, "compare", "TOY")
    pairs = [(r["algo"], r["against"]) for r in found]
    assert pairs == [(ALGOS[0], ALGOS[1]), (ALGOS[0], ALGOS[2]), (ALGOS[1], ALGOS[2])]
    other = rows(folder, "compare", "TOY", "--seed", "1")
    assert [r["p"] for r in other] != [r["p"] for r in found]
    assert [r["low"] for r in other] == [r["low"] for r in found]
    # a pair's draws do not depend on what else is compared
    (alone,) = rows(folder, "compare", "TOY", "--algo", "ndcgboost,regression")
    assert alone["low"] == found[1]["low"] and alone["p"] == found[1]["p"]


def test_several_data_sets(folder):
    result = call("compare", *places(folder))
    assert result.exit_code == 0 and result.stderr == ""
    assert "NDCG@10 over 2 data sets: OTHER, TOY" in result.stdout
    wins = re.findall(r"^\w+ +(\d) of 4 +[\d.]+ +[\d.]+$", result.stdout, re.MULTILINE)
    assert len(wins) == 3 and sum(map(int, wins)) <= 6
    assert "Friedman: chi-squared" in result.stdout and "Nemenyi" in result.stdout
    for form in ("png", "svg", "pdf"):
        assert (folder / "results" / f"critical-difference-ndcg-at-10.{form}").is_file()


@pytest.mark.parametrize("by", ["relevant", "difficulty"])
def test_slices_of_queries(folder, by):
    results = lb.load_results(folder / "results", "OTHER", data_dir=folder / "data")
    values = results.per_query("map").pivot(index=["fold", "qid"], columns="algo", values="map")
    of = values.mean(axis=1).round(4)
    if by == "relevant":
        for fold in lb.load("OTHER", folder / "data").folds:
            for qid in fold.test.qids:
                of[fold.number, qid] = (fold.test.y[fold.test.qid == qid] >= 2).sum()
    frame = results.compare("regression", "map", by=by)
    for algo, rows_of in frame.groupby("algo"):
        assert rows_of["queries"].sum() == len(values) and 2 <= len(rows_of) <= 4
        for number, row in enumerate(rows_of.itertuples(), 1):
            ends = [float(end) for end in re.findall(r"[\d.]+", row.slice)]
            own = of.between(ends[0], ends[-1])
            assert row.queries == own.sum()
            d = values[own][algo] - values[own]["regression"]
            assert row.difference == pytest.approx(d.mean())
            # a slice ends where a quarter of the queries is full
            assert (of <= ends[-1]).mean() >= 0.25 * number > (of < ends[-1]).mean() - 0.25
    p = frame["p"].sort_values()
    holm = np.minimum(1, np.maximum.accumulate(p * np.arange(len(p), 0, -1)))
    assert frame["p_adjusted"].loc[p.index].tolist() == pytest.approx(holm.tolist())
    words = ["compare", "TOY", "--by", by, "--power"]
    assert "--power does not go with --by" in refused(2, *words, *places(folder))


def test_an_error_is_best_where_it_is_lowest(folder):
    """In tables, comparisons, ranks over data sets and the report; nothing is chosen by it."""
    results = lb.load_results(folder / "results", data_dir=folder / "data")
    means = results.summary("rmse").pivot(index="algo", columns="dataset", values="rmse")
    best, worst = means["TOY"].idxmin(), means["TOY"].idxmax()
    assert best == means["OTHER"].idxmin() != worst
    text = printed("compare", "--measure", "rmse", *places(folder))
    assert re.search(rf"^{best} +4 of 4 +1.000 +1.00$", text, re.MULTILINE)
    text = printed("table", "TOY", "--measure", "rmse", "--baseline", worst, *places(folder))
    assert re.search(rf"^{best} +{means['TOY'][best]:.4f}\*\+$", text, re.MULTILINE)
    page = results.only("TOY").report(folder / "r.html", measure="rmse").read_text()
    assert f"By RMSE, {best} is the best of 3" in page
    assert re.search(rf"{worst}: better on \d queries, worse on \d\d of 40", page)
    for row in rows(folder, "compare", "TOY", "--measure", "rmse", "--baseline", best):
        assert int(row["losses"]) > int(row["wins"])
    words = ["run", "--dataset", "TOY", "--algo", "regression", "--select", "rmse"]
    result = call(*words, *places(folder))
    assert result.exit_code == 2 and "expected a measure of rankings" in result.stderr


def test_other_conventions_are_not_compared(tmp_path):
    for algo, rules in (("regression", "letor3"), ("classification", "standard")):
        store_fold(tmp_path / "results", "TOY", algo, 1, {"ndcg@10": [0.1, 0.2]}, rules)
    said = refused(1, "compare", "TOY", *places(tmp_path))
    assert "several conventions (classification standard, regression letor3)" in said


def test_published_fold_by_fold(tmp_path):
    published = {1: 0.4504, 3: 0.4523}  # MQ2008's ListNet, MAP
    for fold, value in published.items():
        values = {"map": value + 0.01 * fold}
        store_fold(tmp_path / "results", "MQ2008", "listnet", fold, values)
    words = ("MQ2008", "--published", "--measure", "map")
    text = printed("table", *words, *places(tmp_path))
    # the mean of .01 and .03, with Student's t of one degree of freedom
    reach = 12.7062 * 0.01
    interval = re.escape(f"[{0.02 - reach:+.4f}, {0.02 + reach:+.4f}]")
    line = rf"^listnet +MAP +0\.471\d +0\.4775 +-0\.006\d +{interval} +\+0\.0100 +\+0\.0300 "
    assert re.search(line, text, re.M) and "fold 3" in text and "fold 2" not in text
    assert re.search(r"^ranksvm +MAP +0\.46956 +letor4-site$", text, re.M)  # not run
    found = rows(tmp_path, "table", *words)[:3]
    assert [(row["fold"], row["published"]) for row in found] == [
        ("", "0.4775"), ("1", "0.4504"), ("3", "0.4523"),
    ]  # fmt: skip
    assert [float(row["difference"]) for row in found[1:]] == pytest.approx([0.01, 0.03])
    assert float(found[0]["low"]) == pytest.approx(0.02 - reach, abs=1e-6)
    assert float(found[0]["high"]) == pytest.approx(0.02 + reach, abs=1e-6)
