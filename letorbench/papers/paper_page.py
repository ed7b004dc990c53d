"""One page a paper, its headlines first, and one over all papers.

A page is made from what a reproduction stored, so that what was judged in several runs stands on
it together. Nothing on it is written by hand. Its last line says by what code and data it was made.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path

from letorbench.papers import calibration, records
from letorbench.papers.paper import Paper
from letorbench.papers.records import markdown
from letorbench.papers.reproduction import Reproduction
from letorbench.papers.rules import NO_DATA, Outcome
from letorbench.papers.runs import Study
from letorbench.rankers import ranker
from letorbench.source import scoring_digest, source_digest

HEADINGS = {
    "theory": "Theory, on random problems", "worked example": "Worked examples", "data": "The data",
}  # fmt: skip
#: the modules that judge; the paper's own folder counts too
JUDGING = ("papers/claims.py", "papers/paper.py", "papers/rules.py")


def write_page(result: Reproduction, study: Study, folder: Path) -> Path:
    """Write folder/<paper>.md, with its figures beside it."""
    paper, outcomes = result.paper, result.outcomes
    stored = study.folder(paper.name, "default")
    own, folded = _figures(paper, study, folder)
    text = [f"# {paper.name}\n", f"{paper.reference}.\n"]
    text += [*headlines(result), "", *own, *_findings(outcomes)]
    sections = (stored / f"{part}.md" for part in paper.parts)
    text += [path.read_text(encoding="utf-8") for path in sections if path.is_file()]
    left = []
    for part in paper.parts.values():
        if not any(stored.glob(f"{part.name}.*")):
            asked = "; `make papers FLAGS=--full` runs it too" if part.optional else ""
            made = f"`make {paper.name}/{part.name}`, about {part.takes}{asked}"
            left.append(f"- {part.title}: {made}")
    text += ["## Not run\n", *left, ""] if left else []
    text += ["## What differs from the paper\n", *(f"- {line}" for line in result.differs), ""]
    if paper.slips:
        text += ["## Slips of the paper\n", *(f"- {line}" for line in paper.slips), ""]
    for nature, heading in HEADINGS.items():
        text += _folded(heading, _table([o for o in outcomes if o.claim.nature == nature]))
    text += _folded("The same on other data", _table(result.elsewhere))
    notes = [f"- {note}" for note in records.notes((*outcomes, *result.elsewhere))]
    text += _folded("Notes", notes) + _folded("More figures", folded)
    return _written(folder / f"{paper.name}.md", [*text, origin([paper], study)])


def headlines(result: Reproduction) -> list[str]:
    """A line for each claim that the paper stands for: the claim, the answer, and why."""
    text = []
    for outcome in (o for o in result.outcomes if o.claim.headline):
        told = (o for o in result.elsewhere if o.claim.id == outcome.claim.id)
        others = "".join(f"; on {o.place} {records.said(o)}" for o in told)
        answer = f"**{records.said(outcome)}**{records.why(outcome)}"
        text.append(f"- {outcome.claim.says}: {answer}{others}")
    return text


def origin(papers: Sequence[Paper], study: Study) -> str:
    """The last line of a page: by what code it was made, and from what data."""
    parts = [part for paper in papers for part in paper.parts.values()]
    data = sorted({name for part in parts for name in (*part.data, *part.beside)})
    here = [f"{d} `{study.benchmark(d).provenance['digest'][:16]}`" for d in data if study.has(d)]
    return "; ".join([f"From code `{code_digest(papers)}`", *here]) + "."


def code_digest(papers: Sequence[Paper]) -> str:
    """A digest of the code that a page's numbers depend on: the rankers, the rules, the claims."""
    files, modules = list(JUDGING), set()
    for paper in papers:
        own = (Path(__file__).parent / paper.folder).iterdir()
        files += [f"papers/{paper.folder}/{p.name}" for p in own if p.suffix in (".py", ".toml")]
        modules |= {ranker(each.algo).__module__ for each in paper.methods.values()}
    digests = [source_digest(files), *sorted(map(scoring_digest, modules))]
    return blake2b("".join(digests).encode(), digest_size=8).hexdigest()


def _findings(outcomes: Sequence[Outcome]) -> list[str]:
    """One table of what the paper found, and what there are no data for."""
    findings = [o for o in outcomes if o.claim.nature == "finding"]
    without = [f"- {o.claim.says}" for o in findings if o.answer == NO_DATA]
    text = ["## Findings\n", *_table(findings)] if len(without) < len(findings) else []
    return text + _folded(f"{len(without)} findings without data", without)


def _table(outcomes: Sequence[Outcome]) -> list[str]:
    """A row a claim in the reader's words."""
    told = [o for o in outcomes if o.answer != NO_DATA]
    rows = [[f"{o.claim.says} ({o.claim.where})", *records.cells(o)] for o in told]
    return [markdown(["claim", *records.COLUMNS], rows)] if rows else []


def _figures(paper: Paper, study: Study, folder: Path) -> tuple[list[str], list[str]]:
    """Copies of the figures, and the lines that show those of our runs and those to fold."""
    shown: list[str] = []
    folded: list[str] = []
    for setting in ("default", "published"):
        ours = setting == "default"
        for path in sorted(study.folder(paper.name, setting).glob("*.png")):
            copy = folder / f"{paper.name}{'' if ours else '-published'}-{path.name}"
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)
            said = f"{path.stem} of {paper.name}" + ", the paper's setting" * (not ours)
            first = ours and path.stem.startswith("figure")
            (shown if first else folded).append(f"![{said}]({copy.name})\n")
    return shown, folded


def _folded(title: str, text: Sequence[str]) -> list[str]:
    return [f"<details><summary>{title}</summary>\n", *text, "\n</details>\n"] if text else []


def _written(path: Path, text: Sequence[str]) -> Path:
    return records.write_file(path, "\n".join(text).rstrip() + "\n")


def write_summary(results: Sequence[Reproduction], study: Study, folder: Path) -> Path:
    """Write folder/summary.md: the headlines of all papers, and what their data can decide."""
    every = [(r.paper.name, (*r.outcomes, *r.elsewhere)) for r in results]
    head = [
        [name, o.claim.says + f", on {o.place}" * bool(o.place), *records.cells(o)]
        for name, outcomes in every for o in outcomes if o.claim.headline
    ]  # fmt: skip
    hidden = [each for r in results for each in calibration.too_small(r.outcomes)]
    calibrated = calibration.stored([study.folder(r.paper.name) for r in results])
    told = {
        "The papers in short": (["page", "claim", *records.COLUMNS], head),
        "How many claims, and their answers": records.tally(every),
        "Printed leads that the data hardly show": (
            ["claim", "data", "lead", "printed", "shows from"], hidden,
        ),
        "The smallest lead that shows in 80 % of cases": (
            ["data", "measure", "pairs of stored methods", "a tenth from", "half from",
             "nine tenths from"],
            calibration.power_rows(study.out),
        ),
        "How often the rules give which answer": calibrated,
    }  # fmt: skip
    text = list[str]()
    for i, (title, (header, rows)) in enumerate(told.items()):
        text += [f"#{'#' * (i > 0)} {title}\n", markdown(header, rows) if rows else "None.\n"]
    text.insert(2, " ".join(f"[{r.paper.name}]({r.paper.name}.md)" for r in results) + "\n")
    return _written(folder / "summary.md", [*text, origin([r.paper for r in results], study)])
