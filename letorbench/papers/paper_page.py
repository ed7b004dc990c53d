"""One page a paper: a sentence, a figure with a row a claim, and the rest; and one over all papers.

A page is made from what a reproduction stored, so that what was judged in several runs stands on
it together. Nothing on it is written by hand. Its last line says by what code and data it was made.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from pathlib import Path

import numpy as np

from letorbench.papers import records, rules
from letorbench.papers.answers_figure import Line, answers_figure
from letorbench.papers.claims import COMPARISONS
from letorbench.papers.paper import Paper
from letorbench.papers.records import markdown
from letorbench.papers.reproduction import Reproduction
from letorbench.papers.rules import Outcome
from letorbench.papers.runs import Study
from letorbench.rankers import ranker
from letorbench.source import scoring_digest, source_digest
from letorbench.version import __version__

HEADINGS = {
    "finding": "All answers", "theory": "Theory, on random problems",
    "worked example": "Worked examples", "data": "The data",
}  # fmt: skip
#: an answer -> how a sentence begins that says which claims have it
SAID = {
    rules.AGREES: "agrees that", rules.LARGER: "finds more than is printed where",
    rules.SMALLER: "finds less than is printed where", rules.IN_PART: "differs by part on",
    rules.NO_DIFFERENCE: "finds no difference where", rules.OPPOSITE: "finds the opposite of",
    rules.CANNOT_TELL: "cannot tell whether", rules.CHECKED: "has checked that",
    rules.SLIP: "finds a slip where", rules.NOT_TRIED: "has not tried, for want of data, whether",
}  # fmt: skip
#: what the page over all has its answers between
BEGIN, END = "<!-- answers -->", "<!-- end of answers -->"
#: the modules that judge; the paper's own folder counts too
JUDGING = ("papers/claims.py", "papers/paper.py", "papers/rules.py")


def write_page(result: Reproduction, study: Study, folder: Path) -> Path:
    """Write folder/<paper>.md, with its figures beside it."""
    paper, outcomes = result.paper, result.outcomes
    stored = study.folder(paper.name, "default")
    made_by = origin([paper], study)
    own, folded = _figures(paper, study, folder)
    text = [f"# {paper.title}\n", f"{opening(result)}\n"]
    told = lines_of(o for o in (*outcomes, *result.elsewhere))
    if told:
        path = answers_figure(told, folder / f"{paper.name}-answers.png")
        text += [f"![our intervals and the paper's numbers]({path.name})\n"]
    text += own
    sections = [stored / f"{part}.md" for part in paper.parts]
    why = [path.read_text(encoding="utf-8") for path in sections if path.is_file()]
    text += why
    rest: list[str] = []
    for nature, heading in HEADINGS.items():
        table = _table([o for o in outcomes if o.claim.nature == nature])
        rest += [f"### {heading}\n", *table] if table else []
    if result.elsewhere:
        rest += ["### The same on other data\n", *_table(result.elsewhere)]
    left = []
    for part in paper.parts.values():
        if not any(stored.glob(f"{part.name}.*")):
            asked = "; `make papers FLAGS=--full` runs it too" if part.optional else ""
            made = f"`make {paper.name}/{part.name}`, about {part.takes}{asked}"
            left.append(f"- {part.title}: {made}")
    notes = [f"- {note}" for note in records.notes((*outcomes, *result.elsewhere))]
    for heading, given in (
        ("Notes", notes), ("Not run", left),
        ("What differs from the paper", [f"- {line}" for line in result.differs]),
        ("Slips of the paper", [f"- {line}" for line in paper.slips]), ("More figures", folded),
        ("To cite an answer", _cited(paper, made_by)),
    ):  # fmt: skip
        rest += [f"### {heading}\n", *given, ""] if given else []
    text += ["<details><summary>Everything else</summary>\n", *rest, "</details>\n"]
    return _written(folder / f"{paper.name}.md", [*text, made_by])


def opening(result: Reproduction) -> str:
    """One sentence over what the paper stands for, its claims by their answers."""
    by_answer: dict[str, list[str]] = {}
    for o in (o for o in result.outcomes if o.claim.headline and o.answer in SAID):
        says = o.claim.says
        if o.answer == rules.IN_PART:
            says += f" ({records.said(o)})"
        elsewhere = [e for e in result.elsewhere if e.claim.id == o.claim.id]
        says += "".join(f" (on {e.place}: {records.said(e)})" for e in elsewhere)
        counts = [row.count for row in o.rows if row.count and row.kind in ("best", "one-sided")]
        says += "".join(f" ({each})" for each in counts)
        slips = [each for row in o.rows for each in row.note.split("; ") if each[:5] == "slip:"]
        says += "".join(f" ({each})" for each in slips)
        by_answer.setdefault(o.answer, []).append(f"*{says}*")
    parts = [f"{SAID[a]} {_listed(by_answer[a])}" for a in rules.ANSWERS if a in by_answer]
    return f"The rerun {_listed(parts)}." if parts else "Nothing was run yet."


def _listed(texts: Sequence[str]) -> str:
    return ", and ".join(filter(None, ["; ".join(texts[:-1]), *texts[-1:]]))


def lines_of(outcomes: Iterable[Outcome]) -> list[Line]:
    """The rows of the figure: a lead in per cent, a number by how far it is from the paper's."""
    found = []
    for o in (o for o in outcomes if o.claim.nature in ("finding", "worked example")):
        for row in o.rows:
            on = f"on {o.place}" if o.place else ""
            said = ", ".join(filter(None, (o.claim.says, row.part, on)))
            numbers, printed = np.array([row.value, row.low, row.high]), row.printed
            if row.kind == "equal" and printed:
                said, numbers, printed = f"{said} (ours / printed)", numbers / printed - 1.0, 0.0
            elif row.kind not in COMPARISONS:
                continue
            share = None if printed is None else 100.0 * printed
            value, low, high = (100.0 * numbers).tolist()
            found.append(Line(said, value, low, high, share, row.answer))
    return found


def _cited(paper: Paper, made_by: str) -> list[str]:
    """What names an answer for good, and the entry for BibTeX."""
    return [
        f"An answer is named by its id in the tables, the version and the code: "
        f"`{paper.name}/ID`, letorbench {__version__}. {made_by}\n",
        "```bibtex", f"@misc{{letorbench-{paper.name},",
        f"  title = {{A rerun of: {paper.title}}},", "  author = {letorbench},",
        f"  note = {{letorbench {__version__}, {paper.name}}},", "}", "```",
    ]  # fmt: skip


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


def _table(outcomes: Sequence[Outcome]) -> list[str]:
    """A row a part of a claim, in the reader's words."""
    rows = [
        [o.claim.id, "; ".join(filter(None, (o.claim.says, row.part if row else ""))),
         row.place if row else "", *records.cells(o, row)]
        for o in outcomes for row in o.rows or (None,)
    ]  # fmt: skip
    return [markdown(["id", "claim", "on", *records.COLUMNS], rows)] if rows else []


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


def _written(path: Path, text: Sequence[str]) -> Path:
    return records.write_file(path, "\n".join(text).rstrip() + "\n")


def write_front(results: Sequence[Reproduction], folder: Path) -> Path:
    """Put the answers of all papers in folder.md: one sentence, a line a paper, one figure."""
    every = [o for r in results for o in r.outcomes if o.claim.headline]
    counts = [(answer, sum(o.answer == answer for o in every)) for answer in rules.ANSWERS]
    told = ", ".join(f"*{answer}* {n}" for answer, n in counts if n)
    text = [f"Answers to the {len(every)} headline claims of {len(results)} papers: {told}.\n"]
    for r in results:
        text.append(f"- [{r.paper.title}]({folder.name}/{r.paper.name}.md). {opening(r)}")
    lines = lines_of(o for r in results for o in r.outcomes if o.claim.headline)
    if lines:
        drawn = answers_figure(lines, folder / "answers.png")
        text += [f"\n![our intervals and the papers' numbers]({folder.name}/{drawn.name})"]
    block = f"{BEGIN}\n" + "\n".join(text) + f"\n{END}"
    path = folder.with_suffix(".md")
    before = path.read_text(encoding="utf-8") if path.is_file() else f"# Papers\n\n{BEGIN}{END}\n"
    between = re.compile(f"{BEGIN}.*?{END}", re.DOTALL)
    return records.write_file(path, between.sub(lambda _: block, before, count=1))
