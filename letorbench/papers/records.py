"""The files of a reproduction, and the words for its outcomes in print and on pages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, astuple, fields, replace
from pathlib import Path
from typing import Any

from letorbench.analysis import tables
from letorbench.analysis.tables import Value, four_decimals, render, text_table
from letorbench.errors import DataError
from letorbench.files import checked, read_file, with_checksum, write_atomically
from letorbench.papers import rules
from letorbench.papers.paper import COMPARISONS, Paper
from letorbench.papers.rules import Outcome, Verdict
from letorbench.version import YEAR, __version__

#: the outcomes with their check sum, which later runs read; and tables of them for people
OUTCOMES = "outcomes.json"
TABLES: dict[str, tuple[str, ...]] = {
    "claims.csv": (
        "id", "part of the paper", "nature", "claim", "where", "answer of all parts",
        *(each.name for each in fields(Verdict)), "without", "other settings", "version", "bibtex",
    ),
    "comparisons.csv": ("id", "data", "what", "lead", "low", "high", "paper"),
    "specifications.csv": (
        "id", "part", "data", "specification", "answer", "value", "low", "high",
    ),
}  # fmt: skip
#: the answers as they are counted, with sign and colour, which colour-blind readers can tell apart
GREEN, RED, BLUE, ORANGE, GREY = "#00795A", "#B84700", "#0072B2", "#8A6100", "#666666"
SIGNS = {
    rules.AGREES: ("✓", GREEN), rules.IN_PART: ("±", ORANGE), rules.SMALLER: ("↓", BLUE),
    rules.LARGER: ("↑", BLUE), rules.NO_DIFFERENCE: ("=", BLUE), rules.OPPOSITE: ("✗", RED),
    rules.NOT_HELD: ("✗", RED), rules.DEPENDS: ("±", ORANGE), rules.CANNOT_TELL: ("?", GREY),
    rules.NOT_TRIED: ("-", GREY), rules.NOT_RUN: ("-", GREY), rules.CHECKED: ("✓", GREEN),
    rules.SLIP: ("!", ORANGE),
}  # fmt: skip
#: of `cells`
COLUMNS = ("answer", "paper", "ours [95 %]", "counts and notes")

#: the names of settings in notes
SETTINGS = {"default": "our setting", "published": "the paper's own setting"}

Kept = dict[tuple[str, str], Outcome]


def write_file(path: Path, text: str) -> Path:
    """Write a file as a whole."""
    with write_atomically(path) as file:
        file.write(text)
    return path


def write_outcomes(folder: Path, kept: Kept) -> list[Path]:
    """Write the outcomes, and the tables of parts of claims, comparisons and specifications."""
    every = list(kept.values())
    facts = [{**asdict(replace(each, sets=())), "claim": each.claim.id} for each in every]
    claims: list[list[Value]] = []
    for o in rules.corrected(every):
        claim = o.claim
        before = [paper_id(o), claim.part, claim.nature, claim.says, claim.where, o.answer]
        settings = "; ".join(f"{name}: {answer}" for name, answer in (o.by_setting or {}).items())
        verdicts = [*map(astuple, o.rows)] or [("",) * len(fields(Verdict))]
        claims += [[*before, *each, o.note, settings, __version__, bibtex(o)] for each in verdicts]
    points: list[list[Value]] = [[paper_id(o), *each] for o in every for each in o.points]
    curves: list[list[Value]] = [[paper_id(o), *each] for o in every for each in o.curve]
    written = [write_file(folder / OUTCOMES, with_checksum({"outcomes": facts}))]
    for (name, head), rows in zip(TABLES.items(), (claims, points, curves)):
        written.append(write_file(folder / name, render(tables.data_table(head, rows), "csv")))
    return written


def paper_id(outcome: Outcome) -> str:
    """The name of an answer in citations: the paper's, the claim's, and other data."""
    on = f"@{outcome.place}" if outcome.place else ""
    return f"{outcome.claim.paper}/{outcome.claim.id}{on}"


def bibtex(outcome: Outcome) -> str:
    """The BibTeX entry of an answer, in one line."""
    id = paper_id(outcome)
    return (
        f"@misc{{letorbench:{id}, author = {{letorbench}}, title = {{{{{outcome.claim.says}: "
        f"{outcome.answer}}}}}, year = {{{YEAR}}}, note = {{{id}, letorbench {__version__}}}}}"
    )


def paper_bibtex(paper: Paper) -> str:
    """The BibTeX entry of a paper, in one line."""
    authors = paper.reference.partition(":")[0].replace(", ", " and ")
    facts = {"author": authors, "title": f"{{{paper.title}}}", **paper.cite}
    return f"@misc{{{paper.name}, {', '.join(f'{k} = {{{v}}}' for k, v in facts.items())}}}"


def read_outcomes(folder: Path, paper: Paper) -> Kept:
    """The outcomes that an earlier run wrote; DataError if they are damaged."""
    path, kept = folder / OUTCOMES, Kept()
    if not path.is_file():
        return kept
    facts = checked(read_file(path))
    if facts is None:
        raise DataError(
            f"{path}: damaged: its content does not have its check sum; remove it, and rerun the "
            "parts of the paper"
        )
    by_id = {claim.id: claim for claim in paper.claims}
    for each in (each for each in facts["outcomes"] if each["claim"] in by_id):
        each |= {"claim": by_id[each["claim"]], "rows": tuple(Verdict(**r) for r in each["rows"])}
        each |= {key: tuple(map(tuple, each[key])) for key in ("points", "curve")}
        kept[each["claim"].id, each["place"]] = Outcome(**each)
    return kept


def markdown(header: Sequence[str], rows: Iterable[Sequence[Value]]) -> str:
    """A table of a page, floats with four decimals."""
    shown = [list(map(four_decimals, row)) for row in rows]
    return render(text_table(header, shown), "markdown").strip() + "\n"


def write_section(
    stem: Path, title: str, text: str, header: Sequence[str], rows: Sequence[Any]
) -> list[Path]:
    """Write a section of the paper's page: a text and a table."""
    path = write_file(stem.with_suffix(".md"), f"## {title}\n\n{text}\n\n{markdown(header, rows)}")
    return [path, *tables.write_table(stem, title, header, rows)]


def lines(outcomes: Iterable[Outcome]) -> list[str]:
    """The outcomes as a table of text, a row for each part of a claim."""
    rows = []
    for o in (each for each in outcomes if each.answer != rules.NOT_RUN):
        names = o.claim.data
        data = f"{len(names)} sets" if len(names) > 2 else ", ".join(names) or "none"
        for row in o.rows or (None,):
            named = o.claim.id + (f", {row.part}" if row and row.part else "")
            rows.append([named, o.place or data, *cells(o, row)])
    return render(text_table(("claim", "data", *COLUMNS), rows), "text").splitlines()


def cells(outcome: Outcome, row: Verdict | None) -> list[str]:
    """A text for each of `COLUMNS`, for one part of a claim."""
    if row is not None:
        notes = filter(None, (row.count, row.units, row.note))
        return [answered(row), paper_number(row), our_number(row), "; ".join(notes)]
    claim, answer = outcome.claim, outcome.answer
    how = f" (part {claim.part}; `make {claim.paper}/{claim.part}`)"
    return [answer + how * (answer == rules.NOT_RUN), "-", "-", ""]


def named_rows(rows: Sequence[Verdict]) -> list[tuple[str, Verdict]]:
    """The rows of a claim by part, by data if these have a line each, or else by their subject.

    A claim of one row needs no name for it, but a balance of gains and losses.
    """
    parts = [row.part for row in rows]

    def name(row: Verdict) -> str:
        apart = parts.count(row.part) > 1 and row.among is not None
        unclear = len(rows) > 1 or row.kind == "one-sided"
        return ", ".join(filter(None, (row.part, row.place * apart))) or row.what * unclear

    return [(name(row), row) for row in rows]


def answered(row: Verdict) -> str:
    """The answer in words: a number has no direction."""
    return row.answer.rpartition(", ")[2] if row.kind == "equal" else row.answer


def paper_number(row: Verdict) -> str:
    """The paper's number, or what it claims without one."""
    if row.printed is None:
        return row.kind
    return {"at least": ">= ", "at most": "<= "}.get(row.kind, "") + _shown(row, row.printed)


def our_number(row: Verdict) -> str:
    """Our number, with its interval if there is chance in it."""
    bounds = f" [{_shown(row, row.low)}, {_shown(row, row.high)}]"
    return _shown(row, row.value) + (bounds if row.low < row.high else "")


def _shown(row: Verdict, number: float) -> str:
    if row.kind in COMPARISONS:
        return f"{100.0 * number:+.1f} %"
    whole = float(number).is_integer() and abs(number) >= 1_000.0
    return f"{number:,.0f}" if whole else f"{number:.4g}"


def notes(outcomes: Iterable[Outcome]) -> list[str]:
    """A line for each note, with the claims that share it."""
    sharing: dict[str, list[str]] = {}
    for o in outcomes:
        tried = o.answer not in (rules.NOT_TRIED, rules.NOT_RUN)
        lines = [o.note, f"judged as meant: {o.claim.meant}" if o.claim.meant and tried else ""]
        lines += [
            f"with {SETTINGS.get(name, name)} the answer is {answer}"
            for name, answer in (o.by_setting or {}).items()
        ]
        for note in filter(None, lines):
            sharing.setdefault(note, []).append(o.claim.id)
    return [f"{', '.join(dict.fromkeys(ids))}: {note}" for note, ids in sharing.items()]


def closing(papers: Mapping[str, Sequence[Outcome]], folders: Sequence[Path]) -> list[str]:
    """How many claims of each paper have which answer, and the folder of each paper's files."""
    by_paper = {
        name: [rules.named(o.answer) for o in outcomes if not o.place]
        for name, outcomes in papers.items()
    }
    answers = [a for a in SIGNS if any(a in every for every in by_paper.values())]
    rows = [[name, str(len(every)), *(str(every.count(a)) for a in answers)]
            for name, every in by_paper.items()]  # fmt: skip
    counts = render(text_table(["paper", "claims", *answers], rows), "text").splitlines()
    return [*(counts if rows else ()), *(f"files  {folder}" for folder in folders)]
