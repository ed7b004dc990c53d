"""The HTML report: self-contained, its numbers those of the files, its sentences."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from conftest import drawing, places, printed
from toy_data import write_uneven

ALGOS = ("adarank-ndcg", "ndcgboost", "ranksvm", "regression")
BASE, SET = "regression", "A&B <set>"


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    write_uneven(folder / "data", SET)
    words = ("run", "--dataset", SET, "--algo", ",".join(ALGOS), "--set", "rounds=4")
    printed(*words, *places(folder))
    return folder


@pytest.fixture(scope="module")
def page(folder) -> str:
    out = folder / "r.html"
    with drawing():
        text = printed("report", SET, "--baseline", BASE, "--out-file", str(out), *places(folder))
    assert text == f"{out}\n"
    return out.read_text()


class Page(HTMLParser):
    """A page's tags, and its tables' rows of (text, classes, value) under the last title.

    It fails where a tag closes that is not the last open one.
    """

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.tables: dict[str, list[dict[str, list]]] = {}
        self.title, self.heads, self.row = "", [], []
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.tags.append((tag, found))
        if tag not in {"meta", "link", "br", "img"}:
            self.open.append(tag)
        if tag in ("h3", "summary"):
            self.title = ""
        elif tag == "thead":
            self.heads = []
        elif tag == "tr":
            self.row = []
        elif tag == "th" and found.get("scope") == "col":
            self.heads.append("")
        elif tag in ("td", "th"):
            value = found.get("data-value")
            classes = (found.get("class") or "").split()
            self.row.append(["", classes, None if value is None else float(value)])

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        if {"h3", "summary"} & set(self.open[-2:]):
            self.title += data
        elif "thead" in self.open:
            self.heads[-1] += data
        elif {"td", "th"} & set(self.open):
            self.row[-1][0] += data

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag
        if tag == "tr" and self.row:
            row = dict(zip(self.heads, self.row, strict=True))
            self.tables.setdefault(self.title, []).append(row)


def test_well_formed_self_contained_and_named(page):
    tags = Page(page).tags
    for tag, attributes in tags:
        assert tag not in ("iframe", "object", "embed")
        assert (attributes.get("src") or "data:").startswith("data:")
        assert tag != "img" or attributes["alt"]
        assert tag != "link" or attributes["href"] == "data:,"
        assert attributes.get("role") != "region" or attributes["aria-label"]
    assert not re.search(r"url\(|@import|fetch\(|XMLHttpRequest", page)
    ids = [attributes["id"] for _, attributes in tags if "id" in attributes]
    inside = [a["href"][1:] for t, a in tags if t == "a" and a["href"].startswith("#")]
    assert len(ids) == len(set(ids)) and set(inside) <= set(ids)
    assert "A&amp;B &lt;set&gt;" in page and "<set>" not in page


def fits(folder: Path, algo: str) -> list[dict]:
    paths = [folder / "results" / SET / algo / f"fold{k}" / "fit.json" for k in range(1, 6)]
    return [json.loads(path.read_text()) for path in paths]


def test_settings_and_timings(folder, page):
    tables = Page(page).tables
    seconds = {row["algorithm"][0]: row for row in tables["Seconds"]}
    settings = iter(tables["Settings of every fold"])
    for algo in ALGOS:
        stored = fits(folder, algo)
        total = sum(fit["seconds"] for fit in stored)
        trained = sum(len(fit["validation"]["grid"]) or 1 for fit in stored)
        assert seconds[algo]["seconds"][2] == pytest.approx(total)
        assert seconds[algo]["seconds a fold"][2] == pytest.approx(total / 5)
        assert seconds[algo]["models trained"][0] == str(trained)
        for number, fit in enumerate(stored, 1):
            row, best = next(settings), fit["validation"]["best"]
            assert (row["algorithm"][0], row["fold"][0]) == (algo, str(number))
            assert row["validation NDCG@10"][2] == pytest.approx(fit["validation"]["value"])
            assert row["rounds or epochs"][0] == ("" if best is None else str(best))
