"""The HTML report: self-contained, its numbers those of the files, its sentences."""

import csv
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from conftest import drawing, places, printed
from toy_data import sample_row, write_uneven

from letorbench.analysis.report import ndcg_curves
from letorbench.analysis.tables import render
from letorbench.measures import MEASURES
from letorbench.results.dataset_results import DatasetResults

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
    """A page's tags; it fails where one closes that is not the last open one."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in {"meta", "link", "br", "img"}:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag


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


def test_a_difference_unfolds_to_the_queries_that_differ_most(page, folder) -> None:
    words = ("compare", SET, "--algo", "ranksvm,regression", "--queries", "3", "--format", "csv")
    shown = printed(*words, "--baseline", BASE, *places(folder)).splitlines()[1:]
    section = page[page.index("Why do ranksvm and regression differ?") :]
    found = cells(section[section.index("<table") : section.index("</table>")])[1:]
    assert len(found) == len(shown) > 2
    for row, line in zip(found, shown):
        assert row[1] in line.split(",") and row[0] in line.split(",")


def cells(table: str) -> list[list[str]]:
    """The cells of a table's rows, without their tags."""
    rows = re.findall(r"<tr>(.*?)</tr>", table, re.DOTALL)
    return [
        [re.sub("<[^>]*>", "", x) for x in re.findall("<t[hd].*?</t[hd]>", row)] for row in rows
    ]


def test_numbers_stand_below_their_cut_off() -> None:
    names = ["ndcg@1", "ndcg@2", "ndcg@3"]
    rows = (sample_row("long", dict.fromkeys(names, 0.5)), sample_row("short", {"ndcg@1": 0.25}))
    head, long, short = cells(
        render(ndcg_curves(DatasetResults("SET", rows), "long")["numbers"], "html")
    )
    assert head == ["algorithm", "@1", "@2", "@3"] and long[0] == "long" and len(long) == 4
    assert short[0] == "short" and short[1].startswith("0.2500 [") and not any(short[2:])


def test_every_stored_measure_unfolds(page, folder) -> None:
    """The first table has the usual ones; the numbers are those of summary.csv."""
    rows = list(csv.DictReader((folder / "results" / SET / "summary.csv").open()))
    every = page[page.index("Every measure") :]
    head, *found = cells(every[: every.index("</table>")])
    measures = [name for name in rows[0] if name in MEASURES or "@" in name]
    assert len(head) == len(measures) + 1 == len(found[0])
    for algo, *values in found:
        [row] = (row for row in rows if row["algo"] == algo)
        for name, value in zip(measures, values):
            assert value.rstrip("*+-↑↓") == f"{float(row[name]):.4f}", (algo, name)
