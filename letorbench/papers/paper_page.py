"""One page per paper: a sentence, a figure with a line per claim, and the rest; and one over all.

A page is made from what reproductions stored, so that what was judged in several runs is on it
together. Nothing on it is written by hand. Its last line says which code and data it is from.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from pathlib import Path

from letorbench import escaping
from letorbench.experiment.plan import ranker_identity
from letorbench.papers import records, rules
from letorbench.papers.figures import Line, answers_figure
from letorbench.papers.paper import Paper
from letorbench.papers.reproduction import Reproduction
from letorbench.papers.rules import Outcome, Verdict
from letorbench.papers.runs import Context
from letorbench.rankers import ranker
from letorbench.source import source_digest

#: the answers on the page over all papers are between these
BEGIN, END = "<!-- answers -->", "<!-- end of answers -->"
#: the modules that judge, draw and write; the paper's own folder counts as well
MAKING = ("figures", "paper", "paper_page", "records", "rules")
#: a field of a summary: an id, a part and other data; its number, or `: count`
FIELD = re.compile(r"\[([^\]:]+)(: count)?\]")


def write_page(result: Reproduction, context: Context, folder: Path) -> Path:
    """Write folder/<paper>.md, with its figures and its rows as CSV in the folder."""
    paper, every = result.paper, (*result.outcomes, *result.elsewhere)
    stored = context.folder(paper.name, "default")
    made_by = origin([paper], context)
    figures, folded_figures = _figures(paper, context, folder)
    lines = lines_of(every)
    if lines:
        answers_figure({"": lines}, folder / f"{paper.name}-answers.png")
    files = [stored / f"{part}.md" for part in paper.parts]
    sections = [path.read_text(encoding="utf-8") for path in files if path.is_file()]
    rows = [
        [
            o.claim.id, "; ".join(filter(None, (o.claim.says, _part(o, verdict)))),
            verdict.place if verdict else "", *records.cells(o, verdict),
        ]
        for o in every for verdict in o.rows or (None,)
    ]  # fmt: skip
    absent = (part for part in paper.parts.values() if not any(stored.glob(f"{part.name}.*")))
    text = escaping.page(
        "paper.md",
        paper=paper, summary=summary(result), headlines=headlines(result),
        answers=f"{paper.name}-answers.png" if lines else "",
        figures=figures, folded_figures=folded_figures,
        sections=[s for s in sections if not s.startswith(records.FOLDED)],
        folded_sections=[
            s.removeprefix(records.FOLDED) for s in sections if s.startswith(records.FOLDED)
        ],
        table=records.markdown(["id", "claim", "on", *records.COLUMNS], rows),
        lists=[
            ("Notes", records.notes(every)),
            ("Not run", [f"{each.title}: `make {paper.name}/{each.name}`, about {each.takes}"
                         for each in absent]),
            ("What differs from the paper", result.differs),
            ("Slips of the paper", paper.slips),
        ],
        tables=_copied_tables(paper, stored, folder), bibtex=records.bibtex(result.outcomes[0]),
        origin=made_by,
    )  # fmt: skip
    return records.write_file(folder / f"{paper.name}.md", text + "\n")


def summary(result: Reproduction) -> str:
    """The paper's sentence, with our numbers in its fields."""

    def number(field: re.Match[str]) -> str:
        id, *of = field[1].split(", ")
        for o in (*result.outcomes, *result.elsewhere):
            for verdict in o.rows:
                if o.claim.id == id and {verdict.part, o.place} - {""} == set(of):
                    count = verdict.count.partition(";")[0]
                    return count if field[2] else records.our_number(verdict)
        return "(not run)"

    return FIELD.sub(number, result.paper.summary) or "Each claim below has its answer."


def headlines(result: Reproduction) -> list[str]:
    """A line for each headline claim: its answer, that of each part, and those on other data."""

    def numbers(o: Outcome, with_answers: bool) -> str:
        parts = dict[str, None]()
        for verdict in o.rows:
            name = f"{verdict.part}: " * bool(verdict.part)
            answer = f"{records.answered(verdict)}, " * with_answers
            count = f"{verdict.count.partition(';')[0]}; " * (verdict.kind in ("best", "one-sided"))
            parts[f"{name}{answer}{count}{records.our_number(verdict)}"] = None
        return "; ".join(parts)

    lines = []
    for o in (o for o in result.outcomes if o.claim.headline):
        every = [numbers(o, o.answer == rules.IN_PART)] if o.rows else []
        others = (each for each in result.elsewhere if each.claim.id == o.claim.id)
        every += [f"on {each.place}, {numbers(each, True)}" for each in others]
        answer = records.answered(o.rows[0]) if len(o.rows) == 1 else o.answer
        lines.append(f"*{answer}*: {o.claim.says}" + f" ({'; '.join(every)})" * bool(every))
    return lines


def lines_of(outcomes: Iterable[Outcome]) -> list[Line]:
    """The lines of the figure: leads, and distances of numbers from the paper's, in per cent."""
    lines, every = list[Line](), list(outcomes)
    shown = [o for o in every if o.claim.nature == "finding"] or every
    for o in (o for o in shown if o.claim.nature in ("finding", "worked example")):
        for verdict in o.rows:
            where = f"on {o.place} instead" if o.place else ""
            part = ", ".join(filter(None, (_part(o, verdict), where)))
            if (in_per_cent := records.in_per_cent(verdict)) is not None:
                lines.append(Line(o.claim.says, part, in_per_cent))
    return lines


def _part(o: Outcome, verdict: Verdict | None) -> str:
    """The part of a claim, or the number, that a verdict is on; "" if there is no other."""
    if verdict is None:
        return ""
    several = len(o.rows) > 1 or verdict.kind == "one-sided"
    return verdict.part or (verdict.what if several else "")


def _copied_tables(paper: Paper, stored: Path, folder: Path) -> list[str]:
    """Copy the rows as CSV into the folder of the page; return the files' names."""
    names = []
    for file in (records.CLAIMS, records.POINTS):
        if (stored / file).is_file():
            names.append(f"{paper.name}-{file}")
            shutil.copyfile(stored / file, folder / names[-1])
    return names


def origin(papers: Sequence[Paper], context: Context) -> str:
    """The last line of a page: which code and data it is from."""
    parts = [part for paper in papers for part in paper.parts.values()]
    data = sorted({name for part in parts for name in (*part.data, *part.other_data)})
    digests = {d: context.benchmark(d).provenance["digest"] for d in data if context.has(d)}
    here = [f"{name} `{digest[:16]}`" for name, digest in digests.items()]
    return "; ".join([f"From code `{code_digest(papers)}`", *here]) + "."


def code_digest(papers: Sequence[Paper]) -> str:
    """A digest of the code that a page's numbers depend on: the rankers, the rules, the claims."""
    files, codes = [f"papers/{name}.py" for name in MAKING], set()
    for paper in papers:
        folder = (Path(__file__).parent / paper.folder).iterdir()
        files += [f"papers/{paper.folder}/{p.name}" for p in folder if p.suffix in (".py", ".toml")]
        for method in paper.methods.values():
            cls = ranker(method.algo)  # a part may take further settings
            known = {key: v for key, v in method.settings.items() if hasattr(cls, key)}
            codes.add(ranker_identity(cls, known)["code"])
    digests = [source_digest(files), *sorted(codes)]
    return blake2b("".join(digests).encode(), digest_size=8).hexdigest()


#: from a figure's title to its file
Figures = list[tuple[str, str]]


def _figures(paper: Paper, context: Context, folder: Path) -> tuple[Figures, Figures]:
    """Copy the figures; return the paper's with our settings, which are shown, and the others."""
    shown: Figures = []
    folded: Figures = []
    for setting in ("default", "published"):
        ours = setting == "default"
        for path in sorted(context.folder(paper.name, setting).glob("*.png")):
            copy = folder / f"{paper.name}{'' if ours else '-published'}-{path.name}"
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)
            part = paper.parts.get(path.stem)
            title = f"{part.title if part else path.stem}" + ", the paper's setting" * (not ours)
            first = ours and path.stem.startswith(("figure", "table", "lists", "pipeline"))
            (shown if first else folded).append((title, copy.name))
    return shown, folded


def write_front(results: Sequence[Reproduction], folder: Path) -> Path:
    """Put the answers of all papers in folder.md: one sentence, a line per paper, one figure."""
    every = [o for r in results for o in r.outcomes if o.claim.headline]
    papers = []
    for r in results:
        answers = [o.answer for o in r.outcomes if o.claim.headline]
        papers.append({"title": r.paper.title, "name": r.paper.name, "summary": summary(r),
                       "answers": _counted(answers, dict.fromkeys(answers))})  # fmt: skip
    groups = {
        r.paper.title: lines_of(o for o in (*r.outcomes, *r.elsewhere) if o.claim.headline)
        for r in results
    }
    groups = {title: lines for title, lines in groups.items() if lines}
    if groups:
        answers_figure(groups, folder / "answers.png")
    block = escaping.page(
        "papers.md",
        begin=BEGIN, end=END, folder=folder.name, papers=papers, n_claims=len(every),
        answers=_counted([o.answer for o in every], rules.ANSWERS),
        figure="answers.png" if groups else "", code=code_digest([r.paper for r in results]),
    )  # fmt: skip
    path = folder.with_suffix(".md")
    before = path.read_text(encoding="utf-8") if path.is_file() else f"# Papers\n\n{BEGIN}{END}\n"
    between = re.compile(f"{BEGIN}.*?{END}", re.DOTALL)
    return records.write_file(path, between.sub(lambda _: block, before, count=1))


def _counted(answers: Sequence[str], order: Iterable[str]) -> str:
    return ", ".join(f"*{each}* {answers.count(each)}" for each in order if each in answers)
