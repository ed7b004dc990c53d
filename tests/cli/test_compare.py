"""`compare`, `table --baseline`, `table --published`, `plot --published` on small runs."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result
from scipy.stats import ttest_rel, wilcoxon
from stored_results import store_fold
from toy_data import write_toy

from letorbench.cli import cli
from letorbench.results import read_per_query


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Three algorithms on two data sets."""
    folder = tmp_path_factory.mktemp("compare")
    write_toy(folder / "data")
    write_toy(folder / "data", "OTHER", seed=2)
    words = ["run", "--dataset", "TOY,OTHER", "--algo", "regression,ndcgboost,ranksvm"]
    result = CliRunner().invoke(cli, [*words, "--set", "rounds=5", "--set", "C=1", *places(folder)])
    assert result.exit_code == 0, result.stderr
    return folder


def places(folder: Path) -> list[str]:
    return ["--data-dir", str(folder / "data"), "--out", str(folder / "results")]


def call(folder: Path, *words: str) -> Result:
    return CliRunner().invoke(cli, [*words, *places(folder)])


def rows(folder: Path, *words: str) -> list[dict[str, str]]:
    result = call(folder, "compare", *words, "--format", "csv")
    assert result.exit_code == 0, result.stderr
    return list(csv.DictReader(io.StringIO(result.stdout)))


@pytest.mark.parametrize(
    "test, p",
    [
        ("t", lambda a, b: ttest_rel(a, b).pvalue),
        ("wilcoxon", None),
        ("randomization", None),
    ],
)
def test_every_number_against_an_independent_computation(folder, test, p):
    words = ["TOY", "--measure", "map,ndcg@5", "--test", test, "--baseline", "regression"]
    found = rows(folder, *words, "--correction", "holm")
    assert [(r["measure"], r["algo"]) for r in found] == [
        (m, a) for m in ("map", "ndcg@5") for a in ("ndcgboost", "ranksvm")
    ]
    for row in found:
        a, b = (
            read_per_query(folder / "results", "TOY", row[name]).values[row["measure"]]
            for name in ("algo", "against")
        )
        d = a - b
        assert row["against"] == "regression" and int(row["queries"]) == 40
        assert float(row["difference"]) == pytest.approx(d.mean(), abs=1e-12)
        assert float(row["mean"]) - float(row["mean_against"]) == pytest.approx(d.mean())
        assert float(row["low"]) <= d.mean() <= float(row["high"])
        assert float(row["effect"]) == pytest.approx(d.mean() / d.std(ddof=1))
        counts = [int(row[name]) for name in ("wins", "ties", "losses")]
        assert counts == [int((d > 1e-12).sum()), int((abs(d) <= 1e-12).sum()),
                          int((d < -1e-12).sum())]  # fmt: skip
        if p is not None:
            assert float(row["p"]) == pytest.approx(p(a, b), abs=1e-12)
    for measure in ("map", "ndcg@5"):
        ps = np.array([float(r["p"]) for r in found if r["measure"] == measure])
        adjusted = [float(r["p_adjusted"]) for r in found if r["measure"] == measure]
        low, high = ps.min() * 2, max(ps.min() * 2, ps.max())
        expected = [low if value == ps.min() else high for value in ps]
        assert adjusted == pytest.approx(np.minimum(expected, 1).tolist())


def test_wilcoxon_is_scipys(folder):
    row, *_ = rows(folder, "TOY", "--measure", "map", "--test", "wilcoxon")
    a, b = (read_per_query(folder / "results", "TOY", row[n]).values["map"]
            for n in ("algo", "against"))  # fmt: skip
    d = np.round(a - b, 12)
    if row["method"] == "approximate":
        assert float(row["p"]) == pytest.approx(wilcoxon(d[d != 0], method="approx").pvalue)
    assert 0 < float(row["p"]) <= 1


def test_all_pairs_and_the_seed(folder):
    found = rows(folder, "TOY")
    pairs = [(r["algo"], r["against"]) for r in found]
    assert pairs == [("ndcgboost", "ranksvm"), ("ndcgboost", "regression"),
                     ("ranksvm", "regression")]  # fmt: skip
    assert rows(folder, "TOY") == found
    other = rows(folder, "TOY", "--seed", "1")
    assert [r["low"] for r in other] != [r["low"] for r in found]
    assert [r["difference"] for r in other] == [r["difference"] for r in found]
    # a pair's draws do not depend on what else is compared
    alone = rows(folder, "TOY", "--algo", "ndcgboost,regression")
    assert alone[0]["low"] == found[1]["low"] and alone[0]["p"] == found[1]["p"]


def test_several_data_sets(folder):
    result = call(folder, "compare")
    assert result.exit_code == 0 and result.stderr == ""
    assert "NDCG@10 over 2 data sets: OTHER, TOY" in result.stdout
    wins = re.findall(r"^\w+ +(\d) of 4 +[\d.]+ +[\d.]+$", result.stdout, re.MULTILINE)
    assert len(wins) == 3 and sum(map(int, wins)) <= 6
    assert "Friedman: chi-squared" in result.stdout and "Nemenyi" in result.stdout
    for form in ("png", "svg", "pdf"):
        assert (folder / "results" / f"critical-difference-ndcg-at-10.{form}").is_file()
    two = call(folder, "compare", "--algo", "ndcgboost,regression")
    assert two.exit_code == 0 and "need three algorithms or more" in two.stdout


def test_markdown(folder):
    text = call(folder, "compare", "TOY", "--format", "markdown").stdout
    lines = [line for line in text.splitlines() if line.startswith("|")]
    assert len(lines) == 5 and len({line.count("|") for line in lines}) == 1


def test_an_algorithm_with_itself_does_not_differ(folder, tmp_path):
    import shutil

    shutil.copytree(folder / "results" / "TOY", tmp_path / "results" / "TOY")
    toy = tmp_path / "results" / "TOY"
    shutil.copytree(toy / "regression", toy / "twin")
    for test in ("randomization", "t", "wilcoxon"):
        words = ["compare", "TOY", "--algo", "regression,twin", "--test", test, "--format", "csv"]
        result = CliRunner().invoke(cli, [*words, "--out", str(tmp_path / "results")])
        (row,) = csv.DictReader(io.StringIO(result.stdout))
        assert float(row["p"]) == 1 and float(row["effect"]) == 0 and int(row["ties"]) == 40


def test_table_against_a_baseline(folder):
    words = ("table", "TOY", "--baseline", "regression", "--test", "t", "--correction", "none")
    found = {r["algo"]: float(r["p"])
             for r in rows(folder, "TOY", "--baseline", "regression", "--test", "t",
                           "--measure", "map", "--correction", "none")}  # fmt: skip
    for alpha in ("0.001", "0.999999"):
        result = call(folder, *words, "--measure", "map", "--alpha", alpha, "--format", "csv")
        for row in csv.DictReader(io.StringIO(result.stdout)):
            p = found.get(row["algo"], 1.0)
            assert (row["map-sign"] != "0") == (p < float(alpha)), row
    assert r"$^{\uparrow}$ $^{\downarrow}$: significantly" in call(
        folder, *words, "--format", "latex"
    ).stdout  # fmt: skip


@pytest.mark.parametrize(
    "words, status, said",
    [
        (("compare", "NOWHERE"), 1, "letorbench run --dataset NOWHERE"),
        (("compare", "TOY", "--baseline", "regresion"), 2, "did you mean regression"),
        (("compare", "TOY", "--algo", "regresion"), 2, "did you mean regression"),
        (("compare", "TOY", "--algo", "regression"), 2, "TOY: found regression, expected two"),
        (("compare", "TOY", "--test", "z"), 2, "'z' is not one of"),
        (("compare", "TOY", "--correction", "z"), 2, "'z' is not one of"),
        (("compare", "TOY", "--measure", "ndgc@10"), 2, "did you mean ndcg@10"),
        (("compare", "TOY", "--alpha", "1"), 2, "--alpha"),
        (("compare", "TOY", "--seed", "-1"), 2, "--seed"),
        (("table", "TOY", "--baseline", "x"), 2, "unknown algorithm 'x'"),
        (("table", "TOY", "--baseline", "regression", "--published"), 2, "--published has no"),
        (("compare", "TOY", "--baseline", "regression", "--published"), 2, "--published has no"),
    ],
)
def test_wrong_inputs_are_one_line(folder, words, status, said):
    result = call(folder, *words)
    assert result.exit_code == status and result.stdout == ""
    assert said in result.stderr and result.stderr.count("\n") == 1


def test_other_conventions_are_not_compared(folder, tmp_path):
    out = str(tmp_path / "results")
    data = ["--data-dir", str(folder / "data"), "--out", out]
    words = ["run", "--dataset", "TOY"]
    CliRunner().invoke(cli, [*words, "--algo", "regression", "--convention", "letor3", *data])
    CliRunner().invoke(cli, [*words, "--algo", "ndcgboost", *data])
    result = CliRunner().invoke(cli, ["compare", "TOY", "--out", out])
    assert result.exit_code == 1
    assert "several conventions (ndcgboost standard, regression letor3)" in result.stderr


def test_published_beside_ours(tmp_path):
    folder = tmp_path / "OHSUMED"
    for algo in ("ndcgboost", "svmmap"):
        store_fold(tmp_path, "OHSUMED", algo, 1, {f"ndcg@{k}": 0.45 for k in range(1, 11)})
    words = ["table", "OHSUMED", "--published", "--measure", "ndcg@3", "--out", str(tmp_path)]
    text = CliRunner().invoke(cli, words).stdout
    assert re.search(r"^ndcgboost +NDCG@3 +0\.4500 +0\.50? +-0\.050 +ndcgboost-2009$", text, re.M)
    assert "ndcgboost-2009: Valizadegan" in text and "svmmap" not in text
    row, *_ = csv.DictReader(
        io.StringIO(CliRunner().invoke(cli, [*words, "--format", "csv"]).stdout)
    )
    assert float(row["difference"]) == pytest.approx(-0.05) and "NIPS 2009" in row["reference"]
    for form in ("markdown", "latex"):
        assert "ndcgboost-2009" in CliRunner().invoke(cli, [*words, "--format", form]).stdout
    words = ["plot", "OHSUMED", "--published", "--format", "svg", "--out", str(tmp_path)]
    assert CliRunner().invoke(cli, words).exit_code == 0
    assert "NDCG_BOOST (ndcgboost-2009)" in (folder / "ndcg.svg").read_text()


def test_published_fold_by_fold(tmp_path):
    printed = {1: 0.4504, 3: 0.4523}  # MQ2008's ListNet, MAP
    for fold, value in printed.items():
        store_fold(tmp_path, "MQ2008", "listnet", fold, {"map": value + 0.01 * fold})
    store_fold(tmp_path, "MQ2008", "svmmap", 1, {"map": 0.5})

    def shown(command: str, form: str) -> str:
        words = [command, "MQ2008", "--published", "--measure", "map", "--format", form]
        return CliRunner().invoke(cli, [*words, "--out", str(tmp_path)]).stdout

    text = shown("table", "text")
    assert re.search(
        r"^listnet +MAP +0\.471\d +0\.4775 +-0\.006\d +\+0\.0100 +\+0\.0300 ", text, re.M
    )
    assert re.search(r"^ranksvm +MAP +0\.46956 +letor4-site$", text, re.M)  # not run
    assert "fold 3" in text and "fold 2" not in text and "svmmap" not in text
    rows = list(csv.DictReader(io.StringIO(shown("table", "csv"))))[:3]
    assert [(row["fold"], row["published"]) for row in rows] == [
        ("", "0.4775"), ("1", "0.4504"), ("3", "0.4523"),
    ]  # fmt: skip
    assert [float(row["difference"]) for row in rows[1:]] == pytest.approx([0.01, 0.03])
    # the mean of .01 and .03, with Student's t of one degree of freedom
    reach = 12.7062 * 0.01
    assert f"+0.0200  [{0.02 - reach:+.4f}, {0.02 + reach:+.4f}]" in shown("compare", "text")
    (row,) = csv.DictReader(io.StringIO(shown("compare", "csv")))
    assert (row["algorithm_there"], row["folds"]) == ("ListNet", "2")
    assert float(row["low"]) == pytest.approx(0.02 - reach, abs=1e-6)
    assert float(row["mean"]) - float(row["published"]) == pytest.approx(0.02)


def test_nothing_published_says_so(folder):
    result = call(folder, "table", "TOY", "--published", "--measure", "map")
    assert result.exit_code == 0 and result.stdout == "TOY: nothing is published at MAP\n"
    result = call(folder, "compare", "TOY", "--published", "--measure", "map")
    assert result.stdout == "TOY: nothing of these is published by fold at MAP\n"


@pytest.mark.parametrize("option", [["--test", "t"], ["--alpha", ".1"], ["--correction", "none"]])
def test_published_refuses_what_it_would_ignore(folder, option):
    result = call(folder, "compare", "TOY", "--published", *option)
    assert result.exit_code == 2 and result.stderr.count("\n") == 1
    assert f"drop it or {option[0]}" in result.stderr


def test_groups_of_algorithms(folder):
    def shown(*words: str) -> set[str]:
        table = call(folder, "table", "TOY", "--format", "csv", *words).stdout
        return {row["algo"] for row in csv.DictReader(io.StringIO(table))}

    everything = {"regression", "ndcgboost", "ranksvm"}
    assert shown("--algo", "card") == shown("--algo", "all") == everything
    assert shown("--algo", "ranksvm,card") == everything
    wrong = call(folder, "table", "TOY", "--algo", "all,crad")
    assert wrong.exit_code == 2 and "unknown algorithm 'crad'" in wrong.stderr
