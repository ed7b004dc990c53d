"""One page per paper: a table and a figure of its claims, the rest folded; and one over all.

A page is made from what reproductions stored. Its last line says which code and data it is from.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path

from letorbench import escaping
from letorbench.experiment.plan import ranker_identity
from letorbench.papers import records, rules
from letorbench.papers.figures import Line, answers_figure
from letorbench.papers.paper import COMPARISONS, Paper
from letorbench.papers.reproduction import Reproduction
from letorbench.papers.rules import Outcome, Verdict
from letorbench.papers.runs import Context
from letorbench.papers.specifications import curves_figure
from letorbench.rankers import ranker
from letorbench.source import source_digest

#: the answers on the page over all papers are between these
BEGIN, END = "<!-- answers -->", "<!-- end of answers -->"
#: of the table that a page begins with
MOST_ROWS = 8
#: the modules that judge, draw and write; the paper's own folder counts as well
MAKING = ("figures", "paper", "paper_page", "problems", "records", "rules",
          "specifications")  # fmt: skip
#: a field of a summary: an id, a part and other data; its number, or `: count`
FIELD = re.compile(r"\[([^\]:]+)(: count)?\]")


def write_page(result: Reproduction, context: Context, folder: Path) -> Path:
    """Write folder/<paper>.md, with its figures and its rows as CSV in the folder."""
    paper, every = result.paper, (*result.outcomes, *result.elsewhere)
    stored = context.folder(paper.name, "default")
    lines = lines_of(every)
    if lines:
        answers_figure({"": lines}, folder / f"{paper.name}-answers.png")
    figures = _figures(paper, context, folder)
    if curves := [o for o in every if o.curve]:
        name = f"{paper.name}-specifications.png"
        curves_figure(curves, folder / name)
        figures.insert(0, ("every specification of what the paper leaves open", name))
    files = [stored / f"{part}.md" for part in paper.parts]
    sections = [path.read_text(encoding="utf-8") for path in files if path.is_file()]
    rows = [
        [
            o.claim.id, "; ".join(filter(None, (o.claim.says, name))),
            verdict.place if verdict else "", *records.cells(o, verdict),
        ]
        for o in every for name, verdict in (*records.named_rows(o.rows),) or (("", None),)
    ]  # fmt: skip
    absent = (part for part in paper.parts.values() if not any(stored.glob(f"{part.name}.*")))
    tables = [name for name in records.TABLES if (stored / name).is_file()]
    for name in tables:
        shutil.copyfile(stored / name, folder / f"{paper.name}-{name}")
    text = escaping.page(
        "paper.md",
        paper=paper, summary=summary(result), headlines=headlines(result),
        answers=f"{paper.name}-answers.png" if lines else "", figures=figures, sections=sections,
        table=records.markdown(["id", "claim", "on", *records.COLUMNS], rows),
        lists=[
            ("Notes", records.notes(every)),
            ("Not run", [f"{each.title}: `make {paper.name}/{each.name}`, about {each.takes}"
                         for each in absent]),
            ("What differs from the paper", result.differs),
            ("Slips of the paper", paper.slips),
        ],
        tables=[f"{paper.name}-{name}" for name in tables],
        bibtex=[records.paper_bibtex(paper), records.bibtex(result.outcomes[0])],
        origin=origin(paper, context),
    )  # fmt: skip
    return records.write_file(folder / f"{paper.name}.md", text + "\n")


def summary(result: Reproduction) -> str:
    """The paper's sentence, with our numbers in its fields."""

    def number(field: re.Match[str]) -> str:
        id, *names = field[1].split(", ")
        numbered = [
            (o, verdict)
            for o in (*result.outcomes, *result.elsewhere) for verdict in o.rows
            if o.claim.id == id and {verdict.part, o.place} - {""} == set(names)
        ]  # fmt: skip
        numbers = [v.count.partition(";")[0] if field[2] else records.our_number(v)
                   for _, v in numbered]  # fmt: skip
        if len(numbered) > 1 and not numbered[0][0].place:  # data sets that differ have a line each
            numbers = [f"{n} on {v.place}" for n, (_, v) in zip(numbers, numbered)]
        return " and ".join(numbers) or "(not run)"

    return FIELD.sub(number, result.paper.summary) or "Each claim below has its answer."


def headlines(result: Reproduction) -> list[list[str]]:
    """The rows of the table that a page begins with: claim, paper, ours, and the answer."""
    every = [o for o in result.outcomes if o.claim.headline]
    # each part has a row; each claim has one if the parts are too many
    apart = sum(max(len(o.rows), 1) for o in every) <= MOST_ROWS
    lines = []
    for o in every:
        named = [(name * (len(o.rows) > 1), row) for name, row in records.named_rows(o.rows)]
        if apart and o.rows:
            for i, (name, row) in enumerate(named):
                says = name if i else ": ".join(filter(None, (o.claim.says, name)))
                lines.append([says, *_numbers([("", row)]), records.answered(row), row.answer])
        else:
            plainly = records.answered(o.rows[0]) if len(o.rows) == 1 else o.answer
            lines.append([o.claim.says, *_numbers(named), plainly, o.answer])
        others = [each for each in result.elsewhere if each.claim.id == o.claim.id]
        if others:
            answers = [records.answered(row) for each in others for row in each.rows]
            on = " and ".join(dict.fromkeys(each.place for each in others))
            lines[-1][2] = "; ".join(
                [*filter("-".__ne__, lines[-1][2:3]),
                 f"on {on} instead: {_counted(answers, dict.fromkeys(answers), '')}"]
            )  # fmt: skip
    rows = []
    for *cells, shown, answer in lines:
        sign, colour = records.SIGNS[rules.named(answer)]
        signed = f'<span style="color: {colour}">{sign}</span> {escaping.markdown(shown)}'
        rows.append([*map(escaping.markdown, cells), signed])
    return rows


def _numbers(rows: Sequence[tuple[str, Verdict]]) -> list[str]:
    """The paper's and our numbers of parts by name, with their counts."""
    theirs, ours = dict[str, None](), list[str]()
    for name, row in rows:
        before = f"{name}: " * bool(name)
        theirs[before + records.paper_number(row)] = None
        counted = row.kind in ("best", "one-sided")
        count = f"{row.count.partition(';')[0]}; " * counted
        ours.append(before + count + records.our_number(row))
    return ["; ".join(theirs) or "-", "; ".join(ours) or "-"]


def lines_of(outcomes: Iterable[Outcome]) -> list[Line]:
    """The lines of the figure: leads, and distances of numbers from the paper's, in per cent."""
    lines, every = list[Line](), list(outcomes)
    shown = [o for o in every if o.claim.nature == "finding"] or every
    for o in (o for o in shown if o.claim.nature in ("finding", "worked example")):
        for name, verdict in records.named_rows(o.rows):
            where = f"on {o.place} instead" if o.place else ""
            part = ", ".join(filter(None, (name, where)))
            if (shown_row := _in_per_cent(verdict)) is not None:
                lines.append(Line(o.claim.says, part, shown_row))
    return lines


def _in_per_cent(row: Verdict) -> Verdict | None:
    """A lead, or the distance of a number from the paper's, in per cent; None if this is 0."""
    numbers, printed = [row.value, row.low, row.high], row.printed
    if row.kind not in COMPARISONS:
        if not printed:
            return None
        numbers, printed = [n / printed - 1.0 for n in numbers], 0.0
    value, low, high = (100.0 * n for n in numbers)
    theirs, answer = None if printed is None else 100.0 * printed, records.answered(row)
    return replace(row, value=value, low=low, high=high, printed=theirs, answer=answer)


def origin(paper: Paper, context: Context) -> str:
    """The last line of a page: which code and data it is from."""
    names = {name for part in paper.parts.values() for name in (*part.data, *part.other_data)}
    here = [
        f"{name} `{context.benchmark(name).provenance['digest'][:16]}`"
        for name in sorted(names) if context.has(name)
    ]  # fmt: skip
    return "; ".join([f"From code `{code_digest([paper])}`", *here]) + "."


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


def _figures(paper: Paper, context: Context, folder: Path) -> list[tuple[str, str]]:
    """Copy the figures; return the title and the file of each."""
    copied = []
    titles = {name: part.title for name, part in paper.parts.items()}
    folder.mkdir(parents=True, exist_ok=True)
    for setting, prefix, behind in (
        ("default", "", ""), ("published", "published-", ", the paper's setting"),
    ):  # fmt: skip
        for path in sorted(context.folder(paper.name, setting).glob("*.png")):
            name = f"{paper.name}-{prefix}{path.name}"
            shutil.copyfile(path, folder / name)
            copied.append((titles.get(path.stem, path.stem) + behind, name))
    return copied


def write_front(results: Sequence[Reproduction], folder: Path) -> Path:
    """Put the answers of all papers in folder.md: a table of the headlines and a figure."""
    every = [o for r in results for o in r.outcomes if o.claim.headline]
    papers = [{"title": r.paper.title, "name": r.paper.name, "rows": headlines(r)} for r in results]
    groups = {r.paper.title: lines_of(o for o in r.outcomes if o.claim.headline) for r in results}
    groups = {title: lines for title, lines in groups.items() if lines}
    if groups:
        answers_figure(groups, folder / "answers.png")
    block = escaping.page(
        "papers.md",
        begin=BEGIN, end=END, folder=folder.name, papers=papers, n_claims=len(every),
        answers=_counted([rules.named(o.answer) for o in every], records.SIGNS),
        figure="answers.png" if groups else "", code=code_digest([r.paper for r in results]),
    )  # fmt: skip
    path = folder.with_suffix(".md")
    before = path.read_text(encoding="utf-8") if path.is_file() else f"# Papers\n\n{BEGIN}{END}\n"
    between = re.compile(f"{BEGIN}.*?{END}", re.DOTALL)
    return records.write_file(path, between.sub(lambda _: block, before, count=1))


def _counted(answers: Sequence[str], order: Iterable[str], mark: str = "*") -> str:
    present = (each for each in order if each in answers)
    return ", ".join(f"{mark}{each}{mark} {answers.count(each)}" for each in present)
