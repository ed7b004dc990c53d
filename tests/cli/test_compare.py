"""`compare` and `table --baseline` on small runs."""

import re
from io import StringIO
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from conftest import call, places, printed, refused
from scipy.stats import t as student
from scipy.stats import ttest_rel
from toy_data import store_fold, write_toy

import letorbench as lb
from letorbench.datasets.load import digest_of_draw

ALGOS = ("ndcgboost", "ranksvm", "regression")


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Three algorithms on two data sets."""
    folder = tmp_path_factory.mktemp("compare")
    write_toy(folder / "data")
    write_toy(folder / "data", "OTHER", seed=2)
    algos = ",".join(f"{name}={name}" for name in ALGOS)
    words = ["--algo", algos, "--set", "rounds=5", "--set", "C=1", *places(folder)]
    printed("run", "--dataset", "TOY", "--share", "0.5,1", *words)
    printed("run", "--dataset", "OTHER", "--convention", "standard,relevant=2", *words)
    return folder


def test_every_number_against_an_independent_computation(folder):
    results = lb.load_results(folder / "results", "TOY")
    values = results.per_query().pivot(index=["fold", "qid"], columns="algo")
    found = results.compare("regression", ["map", "ndcg@5"], "t")
    for row in found.itertuples():
        a, b = (values[row.measure][name] for name in (row.algo, row.against))
        d = a - b
        counts = [(d > 1e-12).sum(), (abs(d) <= 1e-12).sum(), (d < -1e-12).sum()]
        p = ttest_rel(a, b).pvalue
        numbers = [a.mean(), b.mean(), d.mean(), d.mean() / d.std(), p, *counts, 40]
        assert numbers == pytest.approx(
            [row.mean, row.mean_against, row.difference, row.effect, row.p]
            + [row.wins, row.ties, row.losses, row.queries]
        )
    assert list(zip(found["measure"], found["algo"])) == [*product(("map", "ndcg@5"), ALGOS[:2])]
    alpha = 1.5 * found["p"][:2].min()  # below what Holm's correction of two makes of it
    significant = results.compare("regression", "map", "t", alpha=alpha)["significant"]
    assert not significant.any() and found["p_adjusted"][:2].min() == pytest.approx(alpha / 0.75)


def test_draws_of_the_folds_against_an_independent_computation(tmp_path):
    """Three draws that both have; what is unfinished or of other data is left out."""
    rng, means = np.random.default_rng(5), {}
    for algo, number, fold in product("abc", range(6), range(1, 6)):
        if (algo == "c" and number > 1) or (number == 4 and fold == 5 and algo == "a"):
            continue
        data = digest_of_draw("other" if number == 5 else "data", number)
        values = rng.random(4).round(3)
        means[algo, number, fold] = values.mean()
        name = f"S@split{number}" if number else "S"
        code = {"module": "letorbench.rankers.mart", "code": "0"} if name == "S@split3" else {}
        measured = {"map": list(values), "auc": [np.nan] * 4}
        store_fold(tmp_path, name, algo, fold, measured, data=data, **code)
    results = lb.load_results(tmp_path)
    assert results.datasets == ["S"]

    def folds(algo: str, number: int) -> np.ndarray:
        return np.array([means[algo, number, fold] for fold in range(1, 6)])

    drawn = results.resplits("map")
    places = [("a", 1), ("b", 1), ("c", 1), ("a", 2), ("b", 2), ("a", 3), ("b", 3), ("b", 4)]
    assert list(zip(drawn["algo"], drawn["draw"])) == places
    assert drawn["map"].tolist() == pytest.approx([folds(*place).mean() for place in places])
    d = np.array([folds("a", k) - folds("b", k) for k in (1, 2, 3)])
    error = np.sqrt((1 / 15 + 1 / 3) * d.var(ddof=1))
    own, half = (folds("a", 0) - folds("b", 0)).mean(), student.ppf(0.975, 14) * error
    p = 2 * student.sf(abs(d.mean()) / error, 14)
    same = (np.sign(d.mean(axis=1)) == np.sign(own)).sum()
    found = results.compare(measures="map", resplits=True, correction="bh", alpha=0.99)
    row = found.iloc[0]
    assert [row.algo, row.against, row.draws, row.same_sign] == ["a", "b", 3, same]
    numbers = [row.official, row.difference, row.sd, row.low, row.high, row.p]
    expected = [own, d.mean(), d.mean(axis=1).std(ddof=1), d.mean() - half, d.mean() + half, p]
    assert numbers == pytest.approx(expected)
    assert found["p_adjusted"].min() > found["p"].min() and found["draws"].tolist() == [3, 1, 1]
    b = np.array([folds("b", k).mean() for k in (1, 2, 3, 4)])
    table = printed("table", "--out", str(tmp_path), "--measure", "map")
    assert re.search(rf"b +4 +{b.mean():.4f} ±{b.std(ddof=1):.4f}".replace("±0", "±"), table)
    text = printed("compare", "--out", str(tmp_path), "--measure", "map")
    assert re.search(rf"a +b +\{own:+.4f} +\{d.mean():+.4f} ±.* {same} of 3\n", text)
    with pytest.raises(lb.UsageError, match="found no draws"):
        lb.load_results(tmp_path, "S@split1").compare(measures="map", resplits=True)
    words = ["--measure", "auc", "--correction", "bh"]
    text_of_none = printed("compare", "--out", str(tmp_path), *words)
    assert len(re.findall(r"\na +b(?: +–){5} +0 of 3\n", text_of_none)) == 1
    none = ["--out", str(tmp_path), "--measure", "auc", "--baseline", "b"]
    assert "nan" not in printed("compare", *none, "--why")
    assert "no query with a value of auc" in refused(1, "plot", *none)
    assert all("\nother code: a, b; a new run renews the draws\n" in each for each in (table, text))
    for left, algos in ((4, "a"), (0, "bc")):  # what is left out for damage is named
        files = [file for algo in algos for file in tmp_path.glob(f"S@*/{algo}/fold2/scores.txt")]
        for file in files:
            file.write_text("0\n")
        for command in ("table", "compare"):
            shown = printed(command, "--out", str(tmp_path), "--measure", "map")
            assert all(f"{file}: damaged" in shown for file in files) and len(files) > 3
            assert f"\nS, {left} new draws of the folds" in shown


@pytest.mark.parametrize("by", ["relevant", "difficulty"])
def test_slices_of_queries(folder, by):
    results = lb.load_results(folder / "results", "OTHER", data_dir=folder / "data")
    values = results.per_query("map").pivot(index=["fold", "qid"], columns="algo", values="map")
    of = values.mean(axis=1).round(4)
    if by == "relevant":
        for fold in lb.load("OTHER", folder / "data").folds:
            for qid in fold.test.qids:
                of[fold.number, qid] = (fold.test.y[fold.test.qid == qid] >= 2).sum()
    both = lb.load_results(folder / "results", "TOY,OTHER", data_dir=folder / "data")
    frame = both.compare("regression", "map", by=by).query("dataset == 'OTHER'")
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


def test_an_error_is_best_where_it_is_lowest(folder):
    """In tables, comparisons, ranks over data sets and the report."""
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
    found = results.only("TOY").compare(best, "rmse")
    assert (found["losses"] > found["wins"]).all()


def test_of_many_algorithms_people_see_the_best_one_with_the_next(tmp_path):
    """A program sees all pairs, and what is tested does not change."""
    documents = [*product(range(5), range(5))]
    lines = [f"{q} 0 d{d} {int(d == q)}\n" for q, d in documents]
    (tmp_path / "qrels").write_text("".join(lines))
    names = [f"r{n}" for n in range(12)]
    rng = np.random.default_rng(1)
    for number, name in enumerate(names):
        scores = [(d == q) * number / 8 + rng.random() for q, d in documents]
        lines = [f"{q} Q0 d{d} 0 {s} {name}\n" for (q, d), s in zip(documents, scores)]
        (tmp_path / name).write_text("".join(lines))
    words = ["compare", "--qrels", str(tmp_path / "qrels"), "--measure", "mrr"]
    words += [word for name in names for word in ("--run", str(tmp_path / name))]
    frame = pd.read_csv(StringIO(printed(*words, "--format", "csv")))
    assert len(frame) == 66
    means = dict(zip(frame["algo"], frame["mean"]))
    means |= dict(zip(frame["against"], frame["mean_against"]))
    order = sorted(means, key=lambda name: -means[name])
    result = call(*words)
    rows = [line.split() for line in result.stdout.splitlines() if line.startswith("r")]
    seen = [{*row[:2]} - {order[0]} for row in rows]
    assert [means[other] for [other] in seen] == [means[name] for name in order[1:]]
    assert "11 of 66 pairs" in result.stderr and "for 66 comparisons" in result.stdout
    assert "pairs" not in call(*words, "--baseline", "r0").stderr
    rows = printed(*words, "--baseline", "r0", "--queries", "1").splitlines()
    assert {row.split()[0] for row in rows if "difference" in row} == {"qid"}  # and no fold
