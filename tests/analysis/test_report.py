"""The HTML report: whole, self-contained, and tried in a real browser where there is one."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from letorbench.analysis.report.svg import Axes, Line, bars, chart
from toy_data import write_toy

from letorbench.cli import cli
from letorbench.results.store import stored_fit, write_fit

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
VOID = {"meta", "link", "br", "input"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    write_toy(folder / "data")
    write_toy(folder / "data", "A&B <set>", seed=2)
    words = ["run", "--dataset", "all", "--algo", "regression,ndcgboost,ranksvm,adarank-ndcg"]
    result = CliRunner().invoke(cli, [*words, "--set", "rounds=5", *places(folder)])
    assert result.exit_code == 0, result.stderr
    return folder


@pytest.fixture(scope="module")
def page(folder) -> str:
    result = call(folder, "--baseline", "regression", "--out-file", str(folder / "r.html"))
    assert result.exit_code == 0 and result.stdout == f"{folder / 'r.html'}\n", result.stderr
    return (folder / "r.html").read_text()


def places(folder: Path) -> list[str]:
    return ["--data-dir", str(folder / "data"), "--out", str(folder / "results")]


def call(folder: Path, *words: str) -> Result:
    return CliRunner().invoke(cli, ["report", *words, *places(folder)])


class Balanced(HTMLParser):
    """Collects tags; fails where one closes that is not the last open one."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag


def test_well_formed_self_contained_and_named(page):
    parser = Balanced()
    parser.feed(page)
    assert parser.open == []
    for tag, attributes in parser.tags:
        assert tag not in ("iframe", "object", "embed") and "src" not in attributes
        if tag == "link":
            assert attributes["href"] == "data:,"
        if "role" in attributes and attributes["role"] in ("img", "region"):
            assert attributes["aria-label"]
    assert not re.search(r"url\(|@import|fetch\(|XMLHttpRequest", page)
    ids = [attributes["id"] for _, attributes in parser.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    inside = [a["href"][1:] for t, a in parser.tags if t == "a" and a["href"].startswith("#")]
    assert set(inside) <= set(ids) and len(inside) == 3
    assert "A&amp;B &lt;set&gt;" in page and "<set>" not in page


def test_what_it_holds(page, folder):
    for heading in ("Warnings", "Results", "NDCG@n", "NDCG@10 against regression", "Validation",
                    "Chosen settings", "Timings", "How the numbers are made", "The data",
                    "Provenance"):  # fmt: skip
        assert page.count(f"<h3>{heading}</h3>") == 2, heading
    assert "discount 1/log2(1 + rank)" in page
    fit = json.loads((folder / "results" / "TOY" / "ndcgboost" / "fold1" / "fit.json").read_text())
    assert fit["identity"]["data"] in page and fit["versions"]["numpy"] in page
    again = "letorbench run --dataset TOY --algo ndcgboost --set rounds=5 --select ndcg@10"
    assert f"{again} --convention standard --seed 0 --features raw" in page


def test_the_same_bytes_again_and_another_baseline(page, folder):
    for name, words in (("2", ("--baseline", "regression")), ("3", ("--baseline", "ranksvm"))):
        out = folder / f"r{name}.html"
        assert call(folder, *words, "--out-file", str(out)).exit_code == 0
    assert (folder / "r2.html").read_text() == page
    other = (folder / "r3.html").read_text()
    assert other.count("<h3>NDCG@10 against ranksvm</h3>") == 2
    assert "--baseline ranksvm --data-dir" in other


def test_one_algorithm_and_any_measure(folder):
    out = folder / "one.html"
    words = ["TOY", "--algo", "regression", "--measure", "ndcg@12", "--out-file", str(out)]
    assert call(folder, *words).exit_code == 0
    assert "against" not in re.sub(r"<style>.*?</style>", "", out.read_text(), flags=re.DOTALL)
    assert "NDCG@12" in out.read_text()


@pytest.mark.parametrize(
    "words, status, said",
    [
        (("NOWHERE",), 1, "letorbench run --dataset NOWHERE"),
        (("TOY", "--algo", "regresion"), 2, "did you mean regression"),
        (("TOY", "--baseline", "regresion"), 2, "did you mean regression"),
        (("TOY", "--measure", "ndgc@10"), 2, "did you mean ndcg@10"),
    ],
)
def test_wrong_inputs_are_one_line(folder, words, status, said):
    out = folder / "wrong.html"
    result = call(folder, *words, "--out-file", str(out))
    assert result.exit_code == status and said in result.stderr and not out.exists()
    assert result.stderr.count("\n") == 1


def test_a_damaged_fit_costs_its_own_fold(folder, tmp_path):
    shutil.copytree(folder / "results" / "TOY", tmp_path / "TOY")
    (tmp_path / "TOY" / "regression" / "fold2" / "fit.json").write_text("{")
    words = ["report", "TOY", "--out", str(tmp_path), "--out-file", str(tmp_path / "x.html")]
    result = CliRunner().invoke(cli, words)
    assert result.exit_code == 0 and result.stderr.count("\n") == 1
    assert "regression/fold2/fit.json: damaged" in result.stderr
    text = (tmp_path / "x.html").read_text()
    assert re.search(r"regression \(\d of \d folds\)", text)


def test_an_external_system(folder, tmp_path):
    shutil.copytree(folder / "results" / "TOY", tmp_path / "TOY")
    for path in (tmp_path / "TOY" / "regression").glob("fold*/fit.json"):
        fit = stored_fit(path.parent)
        kept = {key: fit["identity"][key] for key in ("dataset", "algo", "fold", "data")}
        fit["identity"] = {**kept, "external": {"file": "their scores.txt"}}
        fit["chosen"], fit["validation"] = {}, {}
        write_fit(path.parent, fit)
    words = ["report", "TOY", "--out", str(tmp_path), "--out-file", str(tmp_path / "x.html")]
    assert CliRunner().invoke(cli, words).exit_code == 0
    text = (tmp_path / "x.html").read_text()
    assert "--name regression --scores &#x27;their scores.txt&#x27; (of each fold)" in text
    assert "None" not in re.sub(r"<script>.*?</script>", "", text, flags=re.DOTALL).replace(
        "<p>None.</p>", ""
    )


def test_charts():
    lines = [Line("a <b>", [1, 2, 3], [0.1, float("nan"), 0.3], mark=2)]
    drawn = chart(lines, Axes("t", "x", "y"))
    assert drawn.count("<circle") == 1 and "a &lt;b&gt;" in drawn and "nan" not in drawn
    flat = chart([Line("a", [1], [0.5], [0.5], [0.5])], Axes("t", "x", "y"))
    assert "nan" not in flat and "inf" not in flat
    # one point stands in the middle, where the axes leave 46 of 420 on the left and 20 on the
    # right, 10 of 280 above and 34 below
    x, y = map(float, re.search(r'polyline points="([\d.]+),([\d.]+)"', flat).groups())
    assert (x, y) == pytest.approx(((46 + 400) / 2, (10 + 246) / 2), abs=0.1)
    drawn = bars([0.5, 0.0, -0.25], Axes("t", "x", "y"))
    up, down = (float(re.search(rf'class="{k}".*?height="([\d.]+)"', drawn)[1])
                for k in ("gain", "loss"))  # fmt: skip
    assert up == pytest.approx(2 * down, abs=0.02) and drawn.count("<rect") == 2
    assert "<rect" not in bars([0.0, 0.0], Axes("t", "x", "y"))


#: an outer page shows the report at a phone's width and reports what a user would find
OUTER = """<!doctype html><meta charset="utf-8"><iframe style="width:360px;height:640px"></iframe>
<script>
const frame = document.querySelector("iframe");
frame.addEventListener("load", () => {
  const found = {}, inner = frame.contentDocument, view = frame.contentWindow;
  found.width = inner.documentElement.scrollWidth;
  found.background = view.getComputedStyle(inner.body).backgroundColor;
  const table = inner.querySelector("table");
  const column = () => [...table.tBodies[0].rows].map((r) => r.cells[1].dataset.value);
  const names = () => [...table.tBodies[0].rows].map((r) => r.cells[0].textContent);
  const buttons = table.tHead.querySelectorAll("button");
  found.heads = buttons.length;
  buttons[1].focus();
  found.focused = inner.activeElement === buttons[1];
  buttons[1].click(); found.down = column();
  found.sort = buttons[1].closest("th").getAttribute("aria-sort");
  found.said = inner.getElementById("said").textContent;
  buttons[1].click(); found.up = column();
  buttons[0].click(); found.names = names();
  found.marks = table.querySelectorAll("[aria-sort]").length;
  const box = inner.querySelector("input[data-line]");
  box.click();
  const lines = [...inner.getElementById(box.dataset.chart).querySelectorAll("[data-name]")];
  found.hidden = lines.filter((g) => view.getComputedStyle(g).display === "none")
    .map((g) => g.dataset.name);
  found.box = box.dataset.line;
  view.dispatchEvent(new Event("beforeprint"));
  found.closed = inner.querySelectorAll("details:not([open])").length;
  found.small = [...inner.querySelectorAll("th button, summary, label")]
    .filter((e) => e.offsetParent && e.offsetHeight < 24).length;
  const out = document.createElement("pre");
  out.id = "found"; out.textContent = JSON.stringify(found); document.body.append(out);
});
frame.srcdoc = PAGE;
</script>"""


def browse(path: Path, profile: Path, *options: str) -> str:
    """The page's document after its scripts have run."""
    browser = next((name for name in BROWSERS if shutil.which(name)), None)
    if browser is None:
        pytest.skip(f"no browser found, looked for {', '.join(BROWSERS)}")
    done = subprocess.run(
        [browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic",
         "--no-first-run", "--disable-background-networking", "--disable-component-update",
         "--disable-sync", f"--user-data-dir={profile}", "--virtual-time-budget=3000",
         *options, "--dump-dom", path.as_uri()],
        capture_output=True, text=True, timeout=90,
    )  # fmt: skip
    return done.stdout


@pytest.mark.parametrize("scheme, background", [("1", "rgb(255, 255, 255)"),
                                                ("0", "rgb(13, 17, 23)")])  # fmt: skip
def test_in_a_browser(page, folder, tmp_path, scheme, background):
    path = tmp_path / "outer.html"
    path.write_text(OUTER.replace("PAGE", json.dumps(page).replace("</", "<\\/")))
    dom = browse(path, tmp_path / "profile", f"--blink-settings=preferredColorScheme={scheme}")
    found = json.loads(re.search(r'<pre id="found">(.*?)</pre>', dom, re.DOTALL)[1])
    assert found["width"] <= 360 and found["background"] == background
    down = [float(value) for value in found["down"]]
    assert down == sorted(down, reverse=True) and found["sort"] == "descending"
    assert [float(value) for value in found["up"]] == sorted(down)
    assert found["names"] == sorted(found["names"]) and len(found["names"]) == 4
    assert found["focused"] and found["said"].endswith(", descending") and found["marks"] == 1
    assert found["hidden"] == [found["box"]] and found["closed"] == 0 and found["small"] == 0
