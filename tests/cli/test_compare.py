"""`compare` and `table --baseline` on small runs."""

import re
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from conftest import places, printed
from scipy.stats import ttest_rel
from toy_data import write_toy

import letorbench as lb

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
