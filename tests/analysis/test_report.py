"""The HTML report: self-contained, its numbers those of the files, its sentences."""

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
