"""One page a paper, its headlines first, and one over all papers.

A page is made from what a reproduction stored, so that what was judged in several runs stands on
it together. Nothing on it is written by hand. Its last line says by what code and data it was made.
"""

from __future__ import annotations

import csv
import re
import shutil
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from pathlib import Path

from letorbench.analysis.tables import render, text_table
from letorbench.files import write_atomically
from letorbench.papers import records
from letorbench.papers.paper import Paper, Reproduction
from letorbench.papers.rules import (
    EXCLUDED,
    NO_DATA,
    NOT_REPRODUCED,
    SHOWN,
    Outcome,
    Row,
)
from letorbench.papers.runs import Study
from letorbench.rankers import ranker
from letorbench.source import scoring_digest, source_digest

HEADINGS = {
    "theory": "Theory, on random problems", "worked example": "Worked examples", "data": "The data",
}  # fmt: skip
#: beside the claim
COLUMNS = ("paper", "ours [95 %]", "shows from", "answer")
#: the modules that judge; the paper's own folder counts too
JUDGING = ("papers/claims.py", "papers/paper.py", "papers/rules.py")


def write_page(result: Reproduction, study: Study, folder: Path) -> Path:
    """Write folder/<paper>.md, with its figures beside it."""
    paper, outcomes = result.paper, result.outcomes
    own, folded = _figures(paper, study, folder)
    text = [f"# {paper.name}\n", f"{paper.reference}.\n"]
    text += [*headlines(result), "", *own, *_findings(outcomes), *_tables(paper, study)]
    sections = (study.folder(paper.name, "default") / f"{part}.md" for part in paper.parts)
    text += [path.read_text(encoding="utf-8") for path in sections if path.is_file()]
    text += ["## What differs from the paper\n", *(f"- {line}" for line in result.differs), ""]
    if paper.slips:
        text += ["## Slips of the paper\n", *(f"- {line}" for line in paper.slips), ""]
    for nature, heading in HEADINGS.items():
        text += _folded(heading, _table([o for o in outcomes if o.claim.nature == nature]))
    text += _folded("The same on other data", _table(result.elsewhere))
    notes = [f"- {note}" for note in records.notes((*outcomes, *result.elsewhere))]
    text += _folded("Notes", notes) + _folded("More figures", folded)
    data = sorted({name for part in paper.parts.values() for name in (*part.data, *part.beside)})
    here = [f"{d} `{study.benchmark(d).provenance['digest'][:16]}`" for d in data if study.has(d)]
    text.append("; ".join([f"From code `{code_digest(paper)}`", *here]) + ".")
    return _written(folder / f"{paper.name}.md", text)


def headlines(result: Reproduction) -> list[str]:
    """A line for each claim that the paper stands for: the claim, the answer, and why."""
    text = []
    for outcome in (o for o in result.outcomes if o.claim.headline):
        told = (o for o in result.elsewhere if o.claim.id == outcome.claim.id)
        others = "".join(f"; on {o.place} {records.said(o)}" for o in told)
        text.append(f"- {outcome.claim.text}: **{records.said(outcome)}**{_why(outcome)}{others}")
    return text


def code_digest(paper: Paper) -> str:
    """A digest of the code that a page's numbers depend on: the rankers, the rules, the claims."""
    folder = f"papers/{paper.folder}"
    own = Path(__file__).parent / paper.folder
    files = [f"{folder}/{path.name}" for path in own.iterdir() if path.suffix in (".py", ".toml")]
    modules = {ranker(each.algo).__module__ for each in paper.methods.values()}
    digests = [source_digest([*files, *JUDGING]), *sorted(map(scoring_digest, modules))]
    return blake2b("".join(digests).encode(), digest_size=8).hexdigest()


def digest_on(page: str) -> str:
    """The code digest that a page's text carries."""
    found = re.search(r"^From code `(\w+)`", page, re.M)
    return found[1] if found else ""


def _why(outcome: Outcome) -> str:
    """What the answer rests on: the comparison that decides it, and how many there are."""
    if not outcome.rows:
        return f"; without {', '.join(outcome.claim.data)}" if outcome.claim.data else ""
    row = _decisive(outcome)
    said = [f"{row.place}: " * bool(row.place) + f"{row.what}: {records.our_number(row)}"]
    if row.printed is not None:
        said[0] += f", the paper {records.paper_number(row)}"
    return "; " + "; ".join([*said, *_counted(outcome), *([outcome.note] if outcome.note else [])])


def _counted(outcome: Outcome) -> list[str]:
    """How many of several comparisons show the claim."""
    rows = outcome.rows
    return [f"shown at {records.state_counts(rows)}"] if len(rows) > 1 else []


def _decisive(outcome: Outcome) -> Row:
    """The row that refutes most clearly, or the weakest that the answer needs."""
    refuted = outcome.answer == NOT_REPRODUCED
    if refuted and any(row.state == EXCLUDED for row in outcome.rows):
        excluded = (row for row in outcome.rows if row.state == EXCLUDED)
        return min(excluded, key=lambda row: row.excluded or 0.0)
    open_rows = [row for row in outcome.rows if row.state != SHOWN]
    return max(open_rows or outcome.rows, key=lambda row: (row.shown or 0.0, -(row.value or 0.0)))


def _findings(outcomes: Sequence[Outcome]) -> list[str]:
    """One table of what the paper found, and what there are no data for."""
    findings = [o for o in outcomes if o.claim.nature == "finding"]
    without = [f"- {o.claim.text}" for o in findings if o.answer == NO_DATA]
    text = ["## Findings\n", *_table(findings)] if len(without) < len(findings) else []
    return text + _folded(f"{len(without)} findings without data", without)


def _table(outcomes: Sequence[Outcome]) -> list[str]:
    """A row a claim in the reader's words."""
    told = [o for o in outcomes if o.answer != NO_DATA]
    rows = [[f"{o.claim.text} ({o.claim.where})", *_cells(o)] for o in told]
    return [_markdown(["claim", *COLUMNS], rows)] if rows else []


def _cells(outcome: Outcome) -> list[str]:
    """A text for each of `COLUMNS`, by the comparison that decides."""
    if not outcome.rows:
        return ["-", "-", "-", records.said(outcome)]
    row, several = _decisive(outcome), len(outcome.rows) > 1
    place = f"{row.place}: " * bool(row.place)
    ours = [place + f"{row.what}: " * several + records.our_number(row), *_counted(outcome)]
    smallest = records.share(row.smallest, row.base)
    return [records.paper_number(row), "; ".join(ours), smallest, records.said(outcome)]


def _tables(paper: Paper, study: Study) -> list[str]:
    """The paper's tables, ours below each of its rows."""
    text = []
    for part in paper.parts.values():
        path = study.folder(paper.name, "default") / f"{part.name}.csv"
        if part.form == "table" and path.is_file():
            header, *rows = csv.reader(path.read_text(encoding="utf-8").splitlines())
            shown = [[c[:6] if re.fullmatch(r"0\.\d+", c) else c for c in row] for row in rows]
            text += [f"## {part.title}\n", _markdown(header, shown)]
    return text


def _figures(paper: Paper, study: Study, folder: Path) -> tuple[list[str], list[str]]:
    """Copies of the figures, and the lines that show those of our runs and those to fold."""
    shown: list[str] = []
    folded: list[str] = []
    for setting in ("default", "published"):
        own = study.folder(paper.name, setting)
        for path in sorted(own.glob("*.png")):
            stem = paper.name if setting == "default" else f"{paper.name}-published"
            copy = folder / f"{stem}-{path.name}"
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)
            ours = setting == "default"
            said = f"{path.stem} of {paper.name}" + ", the paper's setting" * (not ours)
            first = ours and path.stem.startswith("figure")
            (shown if first else folded).append(f"![{said}]({copy.name})\n")
    return shown, folded


def _folded(title: str, text: Sequence[str]) -> list[str]:
    return [f"<details><summary>{title}</summary>\n", *text, "\n</details>\n"] if text else []


def _markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return render(text_table(header, rows), "markdown").strip() + "\n"


def _written(path: Path, text: Sequence[str]) -> Path:
    with write_atomically(path) as file:
        file.write("\n".join(text).rstrip() + "\n")
    return path


def write_summary(results: Sequence[Reproduction], study: Study, folder: Path) -> Path:
    """Write folder/summary.md: the headlines of all papers, and what their data can decide."""
    text = ["# The papers in short\n"]
    head = [(r.paper.name, o) for r in results for o in r.outcomes if o.claim.headline]
    rows = [[name, o.claim.text, *_cells(o)] for name, o in head]
    text.append(_markdown(["page", "claim", *COLUMNS], rows))
    text.append(" ".join(f"[{r.paper.name}]({r.paper.name}.md)" for r in results) + "\n")
    every = [(r.paper.name, (*r.outcomes, *r.elsewhere)) for r in results]
    text += ["## How many claims, and their answers\n", _markdown(*records.tally(every))]
    hidden = [each for r in results for each in records.too_small(r.outcomes)]
    text.append("## Printed leads that the data hardly show\n")
    header = ["claim", "data", "lead", "printed", "shows from"]
    text.append(_markdown(header, hidden) if hidden else "None of those with data.\n")
    text.append("## The smallest lead that shows\n")
    text.append("In 80 % of cases, of pairs of stored methods, as a share of the lower one.\n")
    header = ["data", "measure", "pairs", "a tenth from", "half from", "nine tenths from"]
    text.append(_markdown(header, records.power_rows(study.out)))
    header, calibrated = records.calibration_rows(study.folder(r.paper.name) for r in results)
    if calibrated:
        text += ["## How often the rules give which answer\n", _markdown(header, calibrated)]
    return _written(folder / "summary.md", text)
