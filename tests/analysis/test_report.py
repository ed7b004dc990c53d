"""The HTML report: self-contained, its numbers those of the files, its sentences."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from conftest import places, printed
from toy_data import row_of, store_fold, write_uneven

import letorbench as lb
from letorbench.analysis import figures
from letorbench.analysis.comparison import Procedure
from letorbench.analysis.leaderboard import Board, board_table
from letorbench.analysis.report import ndcg_curves
from letorbench.analysis.results_table import tuning_line
from letorbench.analysis.tables import to_frame
from letorbench.results.dataset_results import DatasetResults
from letorbench.results.per_query import PerQuery

ALGOS = ("adarank-ndcg", "ndcgboost", "ranksvm", "regression")
BASE, SET = "regression", "A&B <set>"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    write_uneven(folder / "data", SET)
    words = ("run", "--dataset", SET, "--algo", ",".join(ALGOS), "--set", "rounds=4")
    printed(*words, *places(folder))
    return folder


@pytest.fixture(scope="module")
def page(folder):
    out = folder / "r.html"
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


MEASURE = "ndcg@10"


def stored(out, algo: str, test: list[float], training: float, **validation) -> None:
    facts = {"measure": MEASURE, "value": 0.5, "curve": [], "best": None, "training": training}
    facts |= {"grid": [], **validation}
    store_fold(out, "S", algo, 1, {MEASURE: test}, n_folds=1, validation=facts)


def test_reasons_are_told_apart(tmp_path):
    """Ten queries of which the low ones lose .1 each, but for the first, which loses .6."""
    base, lost = np.full(10, 0.7), np.full(10, 0.1)
    lost[0] = 0.6
    trials = [{"settings": {"C": c}, "value": v, "curve": []} for c, v in ((1, 0.5), (2, 0.4988))]
    stored(tmp_path, "high", base.tolist(), 0.8)
    stored(tmp_path, "under", (base - lost).tolist(), 0.62)
    stored(tmp_path, "over", (base - lost).tolist(), 0.95, grid=trials)
    store_fold(tmp_path, "S", "theirs", 1, {MEASURE: base + 0.01}, n_folds=1)
    results = lb.load_results(tmp_path)
    tables = [t for t in results.why_tables(MEASURE, "high", Procedure()) if t.notes]
    notes = {table.notes[0].split()[0]: "\n".join(table.notes) for table in tables}
    assert set(notes) == {"over", "under", "high"}  # "theirs" is above
    assert "is 0.1500 worse than high" in notes["over"] and "is significant" in notes["over"]
    assert "overfitting rather" in notes["over"] and "0.4000 against 0.1000" in notes["over"]
    assert "underfitting rather" in notes["under"] and "0.6200 against 0.8000" in notes["under"]
    # of 10 queries the five worst lose .6 + 4 * .1, the others .5
    assert "better on 0 queries and worse on 10 of 10" in notes["over"]
    assert "without the 5 worst it would be 0.0500 worse" in notes["over"]
    assert "its setting beat the runner-up by only 0.0012 on validation" in notes["over"]
    assert "runner-up" not in notes["under"]
    assert tuning_line(results.frames[0]) == (
        "tuned on validation: over (2 settings); fixed: high, under"
    )


def test_the_best_algorithm_has_a_band_and_ideal_has_none(monkeypatch):
    qids, folds = np.arange(30).astype(str), np.repeat([1, 2, 3, 4, 5], 6)
    values = {"good": 0.6, "ideal": 1.0, "bad": 0.2}
    rows = (PerQuery(n, folds, qids, {"ndcg@1": np.full(30, v)}) for n, v in values.items())
    drawn: list[figures.Panel] = []
    monkeypatch.setattr(figures, "draw", lambda panels, baseline: drawn.extend(panels))
    monkeypatch.setattr(figures, "data_uri", lambda figure: "")
    ndcg_curves(DatasetResults("SET", tuple(map(row_of, rows))), "bad")
    assert {*drawn[0].bands} == {"good", "bad"}


NAMES = ("a", "b", "c", "d", "mine (yours)", "other (yours)")
P = r"adjusted p (=|<) ([\d.]+)\)?"


def frame(seed: int) -> DatasetResults:
    rng = np.random.default_rng(seed)
    base, rows, lead, first = rng.random(60), [], rng.uniform(0.04, 0.1), rng.choice(NAMES)
    for name in NAMES:
        own = base + lead * (name == first) + rng.normal(0.0, 0.15, 60)
        values = dict.fromkeys(("ndcg@1", "ndcg@3", "ndcg@5", "ndcg@10", "map", "err@10"), own)
        queries = PerQuery(name, np.repeat([1, 2, 3, 4, 5], 12), np.arange(60).astype(str), values)
        row = row_of(queries)
        stored = (
            replace(fold, fit=fold.fit | {"seconds": 1.0, "warnings": []}) for fold in row.stored
        )
        rows.append(replace(row, stored=tuple(stored)))
    return DatasetResults("SET", tuple(rows))


def significant(found: re.Match[str]) -> bool:
    sign, p = found.groups()[-2:]
    return sign == "<" or float(p) < 0.05


@pytest.mark.parametrize("seed", range(12))
def test_the_leaderboards_marks_and_sentences_agree(seed):
    table = board_table(Board(frame(seed), NAMES[4:]), MEASURE)
    rows = to_frame(table).set_index("algo")
    marks = {row[1].text: row[3].sign for row in table.rows}
    best, *_ = marks
    assert np.isnan(rows["difference"][best]) and rows["place"][best] == 1
    for name, difference, p in rows[["difference", "p_adjusted"]][1:].itertuples():
        assert marks[name] == np.sign(difference) * (p < 0.05)
    marked = sum(sign < 0 for sign in marks.values())
    assert "for 9 comparisons" in table.against or "for 12 comparisons" in table.against
    text = "\n".join(table.notes)
    [lead] = re.finditer(rf"Its lead over (.+?) is (not )?significant .*{P}\.", text)
    assert significant(lead) == (marks[lead[1]] < 0) == (lead[2] is None)
    [number] = re.findall(r"significantly better than (\w+) of the 5 other algorithms", text)
    assert number == {0: "none", 5: "all"}.get(marked, str(marked))
    verdicts = (
        rf"(.+): place (\d) .*better than (\d) of the 5 others and worse than (\d); "
        rf"against (.+?) [+-].*by itself.*{P}$"
    )
    for found in re.finditer(verdicts, text, re.MULTILINE):
        name, _, better, worse, rival = found.groups()[:5]
        assert significant(found) == (marks[rival if name == best else name] < 0), (name, text)
        assert int(worse) >= (marks[name] < 0) and (name != best or int(better) == marked)
    assert text.count("by itself") == 3
