"""The figures of a report, number by number, from data in which no two are alike."""

from __future__ import annotations

import csv
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from uneven_data import SIZES, write_uneven

from letorbench.cli import cli

ALGOS = ("adarank-ndcg", "ndcgboost", "ranksvm", "regression")
BASE = "regression"


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("figures")
    write_uneven(folder / "data")
    call("run", "--dataset", "UNEVEN", "--algo", ",".join(ALGOS), "--set", "rounds=4",
         *places(folder))  # fmt: skip
    return folder


@pytest.fixture(scope="module")
def page(folder) -> str:
    call("report", "UNEVEN", "--baseline", BASE, "--out-file", str(folder / "r.html"),
         *places(folder))  # fmt: skip
    return (folder / "r.html").read_text()


@pytest.fixture(scope="module")
def tables(page) -> dict[str, list[dict[str, Cell]]]:
    """Each table's rows, cells by head, under the heading or the fold that it stands in."""
    parser = Tables()
    parser.feed(page)
    return parser.found


def places(folder: Path) -> list[str]:
    return ["--data-dir", str(folder / "data"), "--out", str(folder / "results")]


def call(*words: str) -> str:
    result = CliRunner().invoke(cli, words)
    assert result.exit_code == 0, result.stderr
    return result.stdout


class Cell:
    """A cell's text, its class, and the number by which it sorts."""

    def __init__(self, attributes: dict[str, str | None]) -> None:
        self.text = ""
        self.classes = (attributes.get("class") or "").split()
        value = attributes.get("data-value")
        self.value = None if value is None else float(value)


class Tables(HTMLParser):
    """Collects the tables of a page under the last heading or summary before them."""

    def __init__(self) -> None:
        super().__init__()
        self.found: dict[str, list[dict[str, Cell]]] = {}
        self.title, self.heads, self.row = "", [], []
        self.into: str | None = None

    def handle_starttag(self, tag, attrs):
        if tag in ("h3", "summary"):
            self.title, self.into = "", "title"
        elif tag == "table":
            self.heads = []
        elif tag == "tr":
            self.row = []
        elif tag == "th" and ("scope", "col") in attrs:
            self.heads.append("")
            self.into = "head"
        elif tag in ("td", "th"):
            self.row.append(Cell(dict(attrs)))
            self.into = "cell"

    def handle_data(self, data):
        if self.into == "title":
            self.title += data
        elif self.into == "head":
            self.heads[-1] += data
        elif self.into == "cell":
            self.row[-1].text += data

    def handle_endtag(self, tag):
        if tag in ("h3", "summary", "th", "td"):
            self.into = None
        if tag == "tr" and self.row:
            cells = dict(zip(self.heads, self.row, strict=True))
            self.found.setdefault(self.title, []).append(cells)


def fits(folder: Path, algo: str) -> list[dict]:
    return [
        json.loads((folder / "results" / "UNEVEN" / algo / f"fold{k}" / "fit.json").read_text())
        for k in range(1, 6)
    ]


def per_query(folder: Path, algo: str) -> dict[str, np.ndarray]:
    with (folder / "results" / "UNEVEN" / algo / "per_query.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    return {name: np.array([float(row[name]) for row in rows]) for name in rows[0]}


def mean_of_folds(columns: dict[str, np.ndarray], measure: str) -> float:
    return np.mean([columns[measure][columns["fold"] == k].mean() for k in range(1, 6)])


@pytest.mark.parametrize("title", ["Results", "Every measure"])
def test_results(folder, tables, title):
    columns = {algo: per_query(folder, algo) for algo in ALGOS}
    rows = {row["algorithm"].text: row for row in tables[title]}
    assert set(rows) == set(ALGOS)
    for head in list(tables[title][0])[1:]:
        means = {algo: mean_of_folds(columns[algo], head.lower()) for algo in ALGOS}
        printed = {algo: f"{mean:.4f}" for algo, mean in means.items()}
        best = sorted(set(printed.values()), reverse=True)
        for algo in ALGOS:
            cell = rows[algo][head]
            assert cell.text == printed[algo] and cell.value == pytest.approx(means[algo])
            assert ("first" in cell.classes) == (printed[algo] == best[0]), (algo, head)
            assert ("second" in cell.classes) == (printed[algo] in best[1:2]), (algo, head)
    ten = [row["NDCG@10"].value for row in tables["Results"]]
    assert ten == sorted(ten, reverse=True)


def test_timings_and_the_models_that_were_trained(folder, tables):
    rows = {row["algorithm"].text: row for row in tables["Seconds"]}
    trained = {}
    for algo in ALGOS:
        seconds = sum(fit["seconds"] for fit in fits(folder, algo))
        trained[algo] = sum(len(fit["validation"]["grid"]) or 1 for fit in fits(folder, algo))
        assert rows[algo]["seconds"].value == pytest.approx(seconds)
        assert rows[algo]["seconds a fold"].value == pytest.approx(seconds / 5)
        assert rows[algo]["seconds"].text == f"{seconds:.2f}"
        assert rows[algo]["models trained"].value == trained[algo]
        assert rows[algo]["models trained"].text == str(trained[algo])
    assert trained[BASE] == 5 < trained["ranksvm"]


def test_settings_of_every_fold(folder, tables):
    rows = iter(tables["Settings of every fold"])
    for algo in ALGOS:
        for number, fit in enumerate(fits(folder, algo), 1):
            row = next(rows)
            assert (row["algorithm"].text, row["fold"].text) == (algo, str(number))
            value = fit["validation"]["value"]
            assert row["validation NDCG@10"].value == pytest.approx(value)
            best = fit["validation"]["best"]
            assert row["rounds or epochs"].text == ("" if best is None else str(best))


def test_differences_from_the_baseline(folder, tables):
    words = ["compare", "UNEVEN", "--baseline", BASE, "--measure", "ndcg@10", "--format", "csv"]
    printed = csv.DictReader(call(*words, *places(folder)).splitlines())
    expected = {row["algo"]: row for row in printed}
    rows = {row["algorithm"].text: row for row in tables[f"NDCG@10 against {BASE}"]}
    assert set(rows) == set(expected) == set(ALGOS) - {BASE}
    base = per_query(folder, BASE)["ndcg@10"]
    raw, adjusted = [], []
    for algo, row in rows.items():
        own = per_query(folder, algo)["ndcg@10"]
        d = own - base
        assert row["against"].text == BASE
        assert row["mean"].value == pytest.approx(own.mean())
        assert row["other"].value == pytest.approx(base.mean())
        assert row["difference"].value == pytest.approx(d.mean())
        wins, losses = (d > 1e-12).sum(), (d < -1e-12).sum()
        text = f"{wins}/{len(d) - wins - losses}/{losses}"
        assert row["win/tie/loss"].text == text and row["win/tie/loss"].value == wins
        raw.append(row["p"].value)
        adjusted.append(row["adjusted"].value)
        assert row["p"].value == pytest.approx(float(expected[algo]["p"]))
        assert row["adjusted"].value == pytest.approx(float(expected[algo]["p_adjusted"]))
        assert float(row["p"].text.strip("<*")) == pytest.approx(row["p"].value, abs=1e-4)
        starred = row["adjusted"].text.endswith("*")
        assert starred == (row["adjusted"].value < 0.05)
    order = np.argsort(raw)
    holm = np.maximum.accumulate(np.array(raw)[order] * np.arange(len(raw), 0, -1))
    assert np.array(adjusted)[order] == pytest.approx(np.minimum(1.0, holm))


def test_the_bars_are_the_queries_differences(folder, page):
    base = per_query(folder, BASE)["ndcg@10"]
    for algo in set(ALGOS) - {BASE}:
        d = per_query(folder, algo)["ndcg@10"] - base
        up, down = int((d > 1e-12).sum()), int((d < -1e-12).sum())
        assert up != down, "another seed is needed, so that the sides differ"
        title = f"{algo}: better on {up} queries, worse on {down} of {sum(SIZES)}"
        assert f"<h4>{title}</h4>" in page
        drawn = page.partition(f"<h4>{title}</h4>")[2].partition("</figure>")[0]
        heights = {
            side: sorted(map(float, re.findall(rf'class="{side}"[^>]*? height="([\d.]+)"', drawn)))
            for side in ("gain", "loss")
        }
        assert len(heights["gain"]) == up and len(heights["loss"]) == down
        every = np.concatenate([heights["gain"], heights["loss"]])
        expected = np.concatenate([np.sort(d[d > 1e-12]), np.sort(-d[d < -1e-12])])
        scale = every.sum() / expected.sum()
        assert every == pytest.approx(scale * expected, abs=0.06)
