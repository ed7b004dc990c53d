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

from letorbench.experiment.plan import ranker_identity
from letorbench.papers import records, rules
from letorbench.papers.claims import COMPARISONS
from letorbench.papers.figures import Line, answers_figure
from letorbench.papers.paper import Paper
from letorbench.papers.records import markdown
from letorbench.papers.reproduction import Reproduction
from letorbench.papers.rules import Outcome, Row
from letorbench.papers.runs import Study
from letorbench.rankers import ranker
from letorbench.source import source_digest

#: what the page over all has its answers between
BEGIN, END = "<!-- answers -->", "<!-- end of answers -->"
#: the modules that judge, draw and write; the paper's own folder counts too
MAKING = ("claims", "figures", "paper", "paper_page", "records", "rules", "views")
#: a field of a summary: an id, a part and other data; its number, or `: count`
FIELD = re.compile(r"\[([^\]:]+)(: count)?\]")


def write_page(result: Reproduction, study: Study, folder: Path) -> Path:
    """Write folder/<paper>.md, with its figures and its rows as CSV beside it."""
    paper, every = result.paper, (*result.outcomes, *result.elsewhere)
    stored = study.folder(paper.name, "default")
    made_by = origin([paper], study)
    own, folded = _figures(paper, study, folder)
    text = [f"# {paper.title}\n", f"{summary(result)}\n", *headlines(result), ""]
    told = lines_of(every)
    if told:
        path = answers_figure({"": told}, folder / f"{paper.name}-answers.png")
        text += [f"![our intervals and the paper's numbers]({path.name})\n"]
    files = [stored / f"{part}.md" for part in paper.parts]
    sections = [path.read_text(encoding="utf-8") for path in files if path.is_file()]
    text += own + [each for each in sections if not each.startswith(records.FOLDED)]
    rows = [
        [
            o.claim.id, "; ".join(filter(None, (o.claim.says, _part(o, row)))),
            row.place if row else "", *records.cells(o, row),
        ]  # fmt: skip
        for o in every for row in o.rows or (None,)
    ]  # fmt: skip
    absent = (each for each in paper.parts.values() if not any(stored.glob(f"{each.name}.*")))
    left = [f"- {each.title}: `make {paper.name}/{each.name}`, about {each.takes}"
            for each in absent]  # fmt: skip
    rest = [markdown(["id", "claim", "on", *records.COLUMNS], rows)]
    for heading, given in (
        ("Notes", [f"- {note}" for note in records.notes(every)]), ("Not run", left),
        ("What differs from the paper", [f"- {line}" for line in result.differs]),
        ("Slips of the paper", [f"- {line}" for line in paper.slips]),
    ):  # fmt: skip
        rest += [f"## {heading}\n", *given, ""] if given else []
    rest += [s.removeprefix(records.FOLDED) for s in sections if s.startswith(records.FOLDED)]
    rest += ["## More figures\n", *folded] if folded else []
    text += ["<details><summary>Everything else</summary>\n", *rest, "</details>\n"]
    text += [*_cited(result, stored, folder), made_by]
    return records.write_file(folder / f"{paper.name}.md", "\n".join(text).rstrip() + "\n")


def summary(result: Reproduction) -> str:
    """The paper's sentence, our numbers in its fields."""

    def number(field: re.Match[str]) -> str:
        id, *of = field[1].split(", ")
        for o in (*result.outcomes, *result.elsewhere):
            for row in o.rows:
                if o.claim.id == id and {row.part, o.place} - {""} == set(of):
                    return row.count.partition(";")[0] if field[2] else records.our_number(row)
        return "(not run)"

    return FIELD.sub(number, result.paper.summary) or "Each claim below has its answer."


def headlines(result: Reproduction) -> list[str]:
    """A line a claim that the paper stands for: its answer, and that of each part."""

    def told(o: Outcome, parted: bool) -> str:
        parts = dict[str, None]()
        for row in o.rows:
            answer = f"{records.answered(row)}, " * parted
            named = f"{row.part}: " * bool(row.part)
            counted = f"{row.count.partition(';')[0]}; " * (row.kind in ("best", "one-sided"))
            parts[f"{named}{answer}{counted}{records.our_number(row)}"] = None
        return "; ".join(parts)

    lines = []
    for o in (o for o in result.outcomes if o.claim.headline):
        own = [told(o, o.answer == rules.IN_PART)] if o.rows else []
        beside = (each for each in result.elsewhere if each.claim.id == o.claim.id)
        own += [f"on {each.place}, {told(each, True)}" for each in beside]
        numbers = f" ({'; '.join(own)})" if own else ""
        answer = records.answered(o.rows[0]) if len(o.rows) == 1 else o.answer
        lines.append(f"- *{answer}*: {o.claim.says}{numbers}")
    return lines


def lines_of(outcomes: Iterable[Outcome]) -> list[Line]:
    """The rows of the figure: a lead in per cent, a number by how far it is from the paper's."""
    found, every = [], list(outcomes)
    shown = [o for o in every if o.claim.nature == "finding"] or every
    for o in (o for o in shown if o.claim.nature in ("finding", "worked example")):
        for row in o.rows:
            where = f"on {o.place} instead" if o.place else ""
            part = ", ".join(filter(None, (_part(o, row), where)))
            numbers, printed = np.array([row.value, row.low, row.high]), row.printed
            if row.kind not in COMPARISONS:
                if not printed:
                    continue
                numbers, printed = numbers / printed - 1.0, 0.0
            share = None if printed is None else 100.0 * printed
            value, low, high = (100.0 * numbers).tolist()
            found.append(Line(o.claim.says, part, value, low, high, share, records.answered(row)))
    return found


def _part(o: Outcome, row: Row | None) -> str:
    """The part of a claim, or the number, that a row is of; "" where there is no other."""
    if row is None:
        return ""
    several = len(o.rows) > 1 or row.kind == "one-sided"
    return row.part or (row.what if several else "")


def _cited(result: Reproduction, stored: Path, folder: Path) -> list[str]:
    """The rows as CSV, which hold what names each answer for good, and how to cite it."""
    names = []
    for file in (records.CLAIMS, records.POINTS):
        if (stored / file).is_file():
            names.append(f"{result.paper.name}-{file}")
            shutil.copyfile(stored / file, folder / names[-1])
    if not names:
        return []
    listed = " and ".join(f"[{name}]({name})" for name in names)
    return [f"{listed} have every row, with the id, version and BibTeX line of each answer:\n",
            "```bibtex", records.bibtex(result.outcomes[0]), "```\n"]  # fmt: skip


def origin(papers: Sequence[Paper], study: Study) -> str:
    """The last line of a page: by what code it was made, and from what data."""
    parts = [part for paper in papers for part in paper.parts.values()]
    data = sorted({name for part in parts for name in (*part.data, *part.beside)})
    here = [f"{d} `{study.benchmark(d).provenance['digest'][:16]}`" for d in data if study.has(d)]
    return "; ".join([f"From code `{code_digest(papers)}`", *here]) + "."


def code_digest(papers: Sequence[Paper]) -> str:
    """A digest of the code that a page's numbers depend on: the rankers, the rules, the claims."""
    files, codes = [f"papers/{name}.py" for name in MAKING], set()
    for paper in papers:
        own = (Path(__file__).parent / paper.folder).iterdir()
        files += [f"papers/{paper.folder}/{p.name}" for p in own if p.suffix in (".py", ".toml")]
        for each in paper.methods.values():
            cls = ranker(each.algo)  # a part may take further settings
            known = {key: v for key, v in each.settings.items() if hasattr(cls, key)}
            codes.add(ranker_identity(cls, known)["code"])
    digests = [source_digest(files), *sorted(codes)]
    return blake2b("".join(digests).encode(), digest_size=8).hexdigest()


def _figures(paper: Paper, study: Study, folder: Path) -> tuple[list[str], list[str]]:
    """Copies of the figures, and the lines that show the paper's of our runs and those to fold."""
    shown: list[str] = []
    folded: list[str] = []
    for setting in ("default", "published"):
        ours = setting == "default"
        for path in sorted(study.folder(paper.name, setting).glob("*.png")):
            copy = folder / f"{paper.name}{'' if ours else '-published'}-{path.name}"
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)
            part = paper.parts.get(path.stem)
            said = f"{part.title if part else path.stem}" + ", the paper's setting" * (not ours)
            first = ours and path.stem.startswith(("figure", "table", "lists", "pipeline"))
            (shown if first else folded).append(f"![{said}]({copy.name})\n")
    return shown, folded


def write_front(results: Sequence[Reproduction], folder: Path) -> Path:
    """Put the answers of all papers in folder.md: one sentence, a line a paper, one figure."""
    every = [o for r in results for o in r.outcomes if o.claim.headline]
    counts = [(answer, sum(o.answer == answer for o in every)) for answer in rules.ANSWERS]
    told = ", ".join(f"*{answer}* {n}" for answer, n in counts if n)
    text = [f"Answers to the {len(every)} headline claims of {len(results)} papers: {told}.\n"]
    for r in results:
        own = [o.answer for o in r.outcomes if o.claim.headline]
        said = ", ".join(f"*{answer}* {own.count(answer)}" for answer in dict.fromkeys(own))
        text.append(f"- [{r.paper.title}]({folder.name}/{r.paper.name}.md): {said}. {summary(r)}")
    groups = {
        r.paper.title: lines_of(o for o in (*r.outcomes, *r.elsewhere) if o.claim.headline)
        for r in results
    }
    shown = {title: lines for title, lines in groups.items() if lines}
    if shown:
        drawn = answers_figure(shown, folder / "answers.png")
        text += [f"\n![our intervals and the papers' numbers]({folder.name}/{drawn.name})"]
    text += [f"\nFrom code `{code_digest([r.paper for r in results])}`."]
    block = f"{BEGIN}\n" + "\n".join(text) + f"\n{END}"
    path = folder.with_suffix(".md")
    before = path.read_text(encoding="utf-8") if path.is_file() else f"# Papers\n\n{BEGIN}{END}\n"
    between = re.compile(f"{BEGIN}.*?{END}", re.DOTALL)
    return records.write_file(path, between.sub(lambda _: block, before, count=1))
