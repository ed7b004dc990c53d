"""One page a paper: what it claims, what was run, what came out, in Markdown.

A page is made from the files of a reproduction, so that what was judged in several runs stands
on it together. Nothing on it is written by hand.
"""

from __future__ import annotations

import math
import shutil
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from letorbench.analysis.tables import render, text_table
from letorbench.files import write_atomically
from letorbench.papers.claims import NATURES, NO_DATA, VERDICTS
from letorbench.papers.paper import Paper
from letorbench.papers.records import stored_rows as rows_of
from letorbench.papers.runs import SETTINGS, Study

Row = Mapping[str, str]
#: headings of the settings
TITLES = {"default": "Our setting", "published": "The paper's own setting"}
#: headings of the natures of claims
HEADINGS = {
    "finding": "Findings",
    "theory": "Theory, checked on random problems",
    "worked example": "Worked examples",
    "data": "The data",
    "own code": "Checks of our own code",
}


def write_page(paper: Paper, study: Study, folder: Path) -> Path:
    """Write folder/<paper>.md, with its figures beside it."""
    text = [f"# {paper.name}\n", f"{paper.reference}.\n"]
    ran = {}
    for setting in SETTINGS:
        place = study.folder(paper.name, setting)
        rows = rows_of(place / "claims.csv")
        if rows:
            ran[setting] = _differs(place / "setting.txt")
            text += [f"## {TITLES[setting]}\n", *_judged(rows)]
            text += _elsewhere(rows_of(place / "elsewhere.csv"))
    text += _differences(ran)
    figures = [line for setting in ran for line in _figures(study, setting, folder, paper.name)]
    text += ["## Figures\n", *figures] if figures else []
    path = folder / f"{paper.name}.md"
    with write_atomically(path) as file:
        file.write("\n".join(text).rstrip() + "\n")
    return path


def _judged(rows: Sequence[Row]) -> list[str]:
    """The claims by nature, those that were judged first; a sentence for the others."""
    text = [_sentence(rows) + "\n"]
    for nature in NATURES:
        own = [row for row in rows if row["nature"] == nature]
        judged = [row for row in own if row["verdict"] != NO_DATA]
        if own:
            text += [f"### {HEADINGS[nature]}\n", _sentence(own) + "\n"]
        if judged:
            text += [_table(judged), *_notes(judged)]
        text += _without(own)
    return text


def _sentence(rows: Sequence[Row]) -> str:
    """How many claims, how many of each verdict, and what decided them."""
    counts = Counter(row["verdict"] for row in rows)
    told = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if counts[verdict])
    by = Counter(row["decided_by"] for row in rows if row["decided_by"] != "-")
    decided = ", ".join(f"{what} {count}" for what, count in by.most_common())
    claims = "claim" if len(rows) == 1 else "claims"
    return f"{len(rows)} {claims}: {told}." + (f" Decided by: {decided}." if decided else "")


def _table(rows: Sequence[Row]) -> str:
    header = ["claim", "data", "what the paper says", "paper", "ours", "p", "number", "direction",
              "significant", "power", "detectable", "verdict"]  # fmt: skip
    cells = [
        [
            f"`{row['id']}`", row["judged_on"], row["claim"], _short(row["paper_value"]),
            _interval(row), _short(row["p"]), row["number"], row["direction"],
            row["significance"], row["power"], _share(row["detectable"]), row["verdict"],
        ]
        for row in rows
    ]  # fmt: skip
    return render(text_table(header, cells), "markdown").strip() + "\n"


def _notes(rows: Iterable[Row]) -> list[str]:
    noted = [f"- `{row['id']}`: {row['note']}" for row in rows if row["note"]]
    return [*noted, ""] if noted else []


def _without(rows: Sequence[Row]) -> list[str]:
    """The claims that could not be judged, by the reason."""
    reasons: dict[str, list[str]] = {}
    for row in rows:
        if row["verdict"] == NO_DATA:
            reasons.setdefault(row["note"], []).append(row["id"])
    return [
        f"No data for {', '.join(f'`{name}`' for name in names)}: {reason}.\n"
        for reason, names in reasons.items()
    ]


def _elsewhere(rows: Sequence[Row]) -> list[str]:
    if not rows:
        return []
    head = "### Elsewhere: the claims on data that they are not about\n"
    return [head, _sentence(rows) + "\n", _table(rows), *_notes(rows)]


def _differs(path: Path) -> list[str]:
    if not path.is_file():
        return []
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line.removeprefix("- ") for line in lines if line.startswith("- ")]


def _differences(ran: Mapping[str, Sequence[str]]) -> list[str]:
    """One table of what differs from the paper's setting, in each setting that was run."""
    head = "## What differs from the paper's setting\n"
    lines = list(dict.fromkeys(line for differs in ran.values() for line in differs))
    if not lines:
        return [head, "Nothing.\n"] if ran else []
    rows = [[line, *("yes" if line in ran[s] else "-" for s in ran)] for line in lines]
    header = ["what differs", *(TITLES[setting].lower() for setting in ran)]
    return [head, render(text_table(header, rows), "markdown").strip() + "\n"]


def _figures(study: Study, setting: str, folder: Path, name: str) -> list[str]:
    """Copies of the figures, and the lines that show them."""
    text = []
    stem, said = (name, "") if setting == "default" else (f"{name}-published", f", {setting}")
    for path in sorted(study.folder(name, setting).glob("*.png")):
        copy = folder / f"{stem}-{path.name}"
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
        text.append(f"![{path.stem} of {name}{said}]({copy.name})\n")
    return text


def _short(number: str) -> str:
    if not number:
        return "-"
    whole = float(number).is_integer() and abs(float(number)) >= 1_000.0
    return f"{float(number):,.0f}" if whole else f"{float(number):.4g}"


def _share(number: str) -> str:
    """A share of the base in per cent; of a base of zero there is none."""
    return f"{100.0 * float(number):.1f} %" if number and math.isfinite(float(number)) else "-"


def _interval(row: Row) -> str:
    if not row["our_value"]:
        return "-"
    bounds = f" [{_short(row['low'])}, {_short(row['high'])}]"
    return _short(row["our_value"]) + (bounds if row["low"] != row["high"] else "")
