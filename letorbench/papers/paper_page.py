"""One page a paper: its headlines first, then every finding, theory, and what differs.

A page is made from what a reproduction stored, so that what was judged in several runs stands on
it together. Nothing on it is written by hand.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from letorbench.analysis.tables import render, text_table
from letorbench.files import write_atomically
from letorbench.papers import records
from letorbench.papers.paper import Reproduction
from letorbench.papers.rules import NO_DATA, Outcome
from letorbench.papers.runs import SETTINGS, Study

HEADINGS = {
    "theory": "Theory, on random problems", "worked example": "Worked examples", "data": "The data",
}  # fmt: skip


def write_page(result: Reproduction, study: Study, folder: Path) -> Path:
    """Write folder/<paper>.md, with its figures beside it."""
    paper, outcomes = result.paper, result.outcomes
    text = [f"# {paper.name}\n", f"{paper.reference}.\n"]
    headlines = [o for o in outcomes if o.claim.headline]
    text += [f"- **{o.claim.text}**: {records.said(o)}{_why(o)}" for o in headlines]
    text += ["", *_figures(study, folder, paper.name)]
    findings = [o for o in outcomes if o.claim.nature == "finding"]
    text += ["## Findings\n", *_table(findings)] if findings else []
    if result.elsewhere:
        text += ["## The same on other data\n", *_table(result.elsewhere)]
    for nature, heading in HEADINGS.items():
        own = [o for o in outcomes if o.claim.nature == nature]
        text += [f"## {heading}\n", *_table(own)] if own else []
    text += ["## What differs from the paper\n", *(f"- {line}" for line in result.differs), ""]
    if paper.slips:
        text += ["## Slips of the paper\n", *(f"- {line}" for line in paper.slips), ""]
    path = folder / f"{paper.name}.md"
    with write_atomically(path) as file:
        file.write("\n".join(text).rstrip() + "\n")
    return path


def _why(outcome: Outcome) -> str:
    """What the answer rests on, in a few words."""
    if len(outcome.rows) == 1:
        row = outcome.rows[0]
        return f" ({records.our_number(row)}; the paper: {records.paper_number(row)})"
    told = f"shown at {records.state_counts(outcome.rows)}" if outcome.rows else ""
    said = "; ".join(each for each in (told, outcome.note) if each)
    return f" ({said})" if said else ""


def _table(outcomes: Sequence[Outcome]) -> list[str]:
    """A row a claim in the reader's words; those without data in one line; the notes."""
    told = [o for o in outcomes if o.answer != NO_DATA]
    header = ["claim", "data", "paper", "ours [95 %]", "p", "shows from", "answer"]
    cells = [line for line in records.cells(told)]
    words = {o.claim.id: f"{o.claim.text} ({o.claim.where})" for o in told}
    rows = [[words[row[0]], *row[1:]] for row in cells]
    text = [render(text_table(header, rows), "markdown").strip() + "\n"] if rows else []
    without = [f"`{o.claim.id}`" for o in outcomes if o.answer == NO_DATA]
    if without:
        text.append(f"No data for {', '.join(without)}.\n")
    notes = records.notes(told)
    return [*text, *(f"- {note}" for note in notes), *([""] if notes else [])]


def _figures(study: Study, folder: Path, name: str) -> list[str]:
    """Copies of the figures of both settings, and the lines that show them."""
    text = []
    for setting in SETTINGS:
        stem, said = (name, "") if setting == "default" else (f"{name}-published", f", {setting}")
        for path in sorted(study.folder(name, setting).glob("*.png")):
            copy = folder / f"{stem}-{path.name}"
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)
            text.append(f"![{path.stem} of {name}{said}]({copy.name})\n")
    return text
