"""A paper's page from files of a reproduction: every number, sentence and figure on it."""

from __future__ import annotations

import csv

from letorbench.papers import paper_page
from letorbench.papers.claims import REPRODUCED
from letorbench.papers.paper import Paper
from letorbench.papers.records import COLUMNS
from letorbench.papers.runs import Study

PAPER = Paper("made-up", "A. Author: A title, 2000", (), {})


def row(name, **cells):
    whole = dict.fromkeys(COLUMNS, "") | {
        "paper": "made-up", "id": name, "nature": "finding", "judged_on": "DEMO",
        "claim": f"what {name} says", "verdict": REPRODUCED, "decided_by": "the number",
        "number": "yes", "direction": "no", "significance": "-", "power": "enough",
    }  # fmt: skip
    return whole | cells


def write(folder, name, rows):
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / name).open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def page(tmp_path, default=(), published=(), elsewhere=(), differs=()):
    study = Study(tmp_path / "data", tmp_path / "out")
    for setting, rows in (("default", default), ("published", published)):
        if rows:
            write(study.folder("made-up", setting), "claims.csv", rows)
    if elsewhere:
        write(study.folder("made-up", "default"), "elsewhere.csv", elsewhere)
    for setting, lines in differs:
        text = "".join(f"- {line}\n" for line in lines)
        (study.folder("made-up", setting) / "setting.txt").write_text(f"head\n\nWhat:\n{text}")
    return paper_page.write_page(PAPER, study, tmp_path / "pages").read_text()


def cells(text, name):
    """The cells of a claim's row."""
    (line,) = [line for line in text.splitlines() if line.startswith(f"| `{name}`")]
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_a_row_shows_each_number_in_its_place(tmp_path):
    numbers = {"paper_value": "0.5", "our_value": "0.48129", "low": "0.47", "high": "0.4999",
               "p": "0.01234", "detectable": "0.0123"}  # fmt: skip
    text = page(
        tmp_path,
        [
            row("one", **numbers),
            row("two", our_value="16140.0", low="16140.0", high="16140.0", paper_value="999.0"),
        ],
    )
    assert cells(text, "one") == [
        "`one`", "DEMO", "what one says", "0.5", "0.4813 [0.47, 0.4999]", "0.01234", "yes", "no",
        "-", "enough", "1.2 %", REPRODUCED,
    ]  # fmt: skip
    # no interval where there is no chance, thousands with a comma, nothing where nothing is
    assert cells(text, "two")[3:6] == ["999", "16,140", "-"]
    assert cells(text, "two")[10] == "-"


def test_what_differs_is_marked_by_setting(tmp_path):
    text = page(
        tmp_path, [row("a")], [row("a")],
        differs=[("default", ["grid", "ties"]), ("published", ["ties", "seeds"])],
    )  # fmt: skip
    lines = [line for line in text.splitlines() if line.startswith("|")]
    shown = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert [line for line in shown if line[0] in ("grid", "ties", "seeds")] == [
        ["grid", "yes", "-"], ["ties", "yes", "yes"], ["seeds", "-", "yes"]
    ]  # fmt: skip
    assert "## The paper's own setting" in text
    assert "Nothing.\n" in page(tmp_path / "other", [row("a")])
    assert "What differs" not in page(tmp_path / "none")
