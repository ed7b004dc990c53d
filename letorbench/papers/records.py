"""The files of a reproduction, and its outcomes in the words that are printed and on the pages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, astuple, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from letorbench.analysis.tables import (
    Value,
    data_table,
    four_decimals,
    render,
    text_table,
    write_table,
)
from letorbench.checksum import checked, with_checksum
from letorbench.errors import DataError
from letorbench.files import read_file, write_atomically
from letorbench.papers import rules
from letorbench.papers.claims import COMPARISONS
from letorbench.papers.rules import Outcome, Row
from letorbench.version import __version__

if TYPE_CHECKING:
    from letorbench.papers.paper import Paper

#: what later runs read again, with its check sum; and tables of it for people
OUTCOMES, CLAIMS, POINTS = "outcomes.json", "claims.csv", "comparisons.csv"
CLAIM_COLUMNS = ("id", "part of the paper", "nature", "claim", "where", "answer of all parts")
POINT_COLUMNS = ("id", "data", "what", "lead", "low", "high", "paper")
#: how a section begins that a page folds
FOLDED = "<!-- folded -->\n"
#: what `cells` gives of a row
COLUMNS = ("answer", "paper", "ours [95 %]", "counts and notes")

Kept = dict[tuple[str, str], Outcome]


def write_file(path: Path, text: str) -> Path:
    """Write a file as a whole."""
    with write_atomically(path) as file:
        file.write(text)
    return path


def write_outcomes(folder: Path, paper: Paper, kept: Kept) -> list[Path]:
    """Write the outcomes, and as tables a row a part of a claim and a row a comparison."""
    every = list(kept.values())
    facts = [{**asdict(each), "claim": each.claim.id} for each in every]
    names = [each.name for each in fields(Row)]
    rows: list[list[Value]] = []
    for o in every:
        own = [paper_id(o), o.claim.part, o.claim.nature, o.claim.says, o.claim.where, o.answer]
        more = [o.note, _settings(o), __version__, bibtex(o)]
        parts = [*map(astuple, o.rows)] or [("",) * len(names)]
        rows += [[*own, *part, *more] for part in parts]
    heads = [*CLAIM_COLUMNS, *names, "without", "other settings", "version", "bibtex"]
    points = [[paper_id(o), *point] for o in every for point in o.points]
    return [
        write_file(folder / OUTCOMES, with_checksum({"outcomes": facts})),
        write_file(folder / CLAIMS, render(data_table(heads, rows), "csv")),
        write_file(folder / POINTS, render(data_table(POINT_COLUMNS, points), "csv")),
    ]


def paper_id(outcome: Outcome) -> str:
    """The name by which an answer can be cited: the paper's, the claim's, and other data."""
    on = f"@{outcome.place}" if outcome.place else ""
    return f"{outcome.claim.paper}/{outcome.claim.id}{on}"


def bibtex(outcome: Outcome) -> str:
    """The entry for BibTeX of one answer, in one line."""
    id = paper_id(outcome)
    return (
        f"@misc{{letorbench:{id}, author = {{letorbench}}, title = {{{{{outcome.claim.says}: "
        f"{outcome.answer}}}}}, note = {{{id}, letorbench {__version__}}}}}"
    )


def read_outcomes(folder: Path, paper: Paper) -> Kept:
    """The outcomes that were written before; DataError where they are damaged."""
    path = folder / OUTCOMES
    if not path.is_file():
        return {}
    facts = checked(read_file(path))
    if facts is None:
        raise DataError(
            f"{path}: damaged: its content does not have its check sum; remove it, and rerun the "
            "parts of the paper"
        )
    by_id, kept = {claim.id: claim for claim in paper.claims}, {}
    for each in facts["outcomes"]:
        if each["claim"] in by_id:
            own = {**each, "claim": by_id[each["claim"]]}
            own["rows"] = tuple(Row(**row) for row in each["rows"])
            own["points"] = tuple(tuple(point) for point in each["points"])
            kept[each["claim"], each["place"]] = Outcome(**own)
    return kept


def markdown(header: Sequence[str], rows: Iterable[Sequence[Value]]) -> str:
    """A table of a page, floats with four decimals."""
    shown = [list(map(four_decimals, row)) for row in rows]
    return render(text_table(header, shown), "markdown").strip() + "\n"


def write_section(
    stem: Path, title: str, told: str, header: Sequence[str], rows: Sequence[Any],
    folded: bool = False,
) -> list[Path]:  # fmt: skip
    """A section of the paper's page: what a table comes to, and the table; all of it `folded`."""
    text = [FOLDED if folded else "", f"## {title}\n\n{told}\n\n"]
    shown = markdown(header, rows)
    if not folded:
        shown = f"<details><summary>The numbers</summary>\n\n{shown}\n</details>\n"
    path = write_file(stem.with_suffix(".md"), "".join([*text, shown]))
    return [path, *write_table(stem, title, header, rows)]


def lines(outcomes: Iterable[Outcome]) -> list[str]:
    """The outcomes of what was run as a table of text, a row a part of a claim."""
    rows = []
    for o in (each for each in outcomes if each.answer != rules.NOT_RUN):
        of = o.claim.data
        data = f"{len(of)} sets" if len(of) > 2 else ", ".join(of) or "none"
        for row in o.rows or (None,):
            named = o.claim.id + (f", {row.part}" if row and row.part else "")
            rows.append([named, o.place or data, *cells(o, row)])
    return render(text_table(("claim", "data", *COLUMNS), rows), "text").splitlines()


def cells(outcome: Outcome, row: Row | None) -> list[str]:
    """A text for each of `COLUMNS`, of one part of a claim."""
    if row is None:
        return [said(outcome), "-", "-", ""]
    notes = filter(None, (row.count, row.note))
    return [answered(row), paper_number(row), our_number(row), "; ".join(notes)]


def said(outcome: Outcome) -> str:
    """The answer; of what was not run how to run it, of a sentence of parts each part's."""
    if outcome.answer == rules.NOT_RUN:
        claim = outcome.claim
        return f"not run (part {claim.part}; `make {claim.paper}/{claim.part}`)"
    if outcome.answer == rules.IN_PART:
        return "; ".join(f"{row.part or row.what}: {answered(row)}" for row in outcome.rows)
    return outcome.answer


def answered(row: Row) -> str:
    """The answer in words: a number has no direction."""
    return row.answer.rpartition(", ")[2] if row.kind == "equal" else row.answer


def _settings(outcome: Outcome) -> str:
    return "; ".join(f"{name}: {answer}" for name, answer in (outcome.by_setting or {}).items())


def paper_number(row: Row) -> str:
    """What the paper prints, as it stands beside ours."""
    if row.printed is None:
        return row.kind
    return {"at least": ">= ", "at most": "<= "}.get(row.kind, "") + _shown(row, row.printed)


def our_number(row: Row) -> str:
    """Our number with its interval, where there is chance in it."""
    bounds = f" [{_shown(row, row.low)}, {_shown(row, row.high)}]"
    return _shown(row, row.value) + (bounds if row.low < row.high else "")


def _shown(row: Row, number: float) -> str:
    if row.kind in COMPARISONS:
        return f"{100.0 * number:+.1f} %"
    whole = float(number).is_integer() and abs(number) >= 1_000.0
    return f"{number:,.0f}" if whole else f"{number:.4g}"


def notes(outcomes: Iterable[Outcome]) -> list[str]:
    """Every note with the claims that share it, a line each."""
    sharing: dict[str, list[str]] = {}
    for o in outcomes:
        tried = o.answer not in (rules.NOT_TRIED, rules.NOT_RUN)
        own = [o.note, f"{'judged as meant: ' * tried}{o.claim.meant}" if o.claim.meant else ""]
        own += [f"otherwise by {_settings(o)}" if o.by_setting else ""]
        for note in filter(None, own):
            sharing.setdefault(note, []).append(o.claim.id)
    return [f"{', '.join(dict.fromkeys(ids))}: {note}" for note, ids in sharing.items()]


def closing(papers: Mapping[str, Sequence[Outcome]], folders: Sequence[Path]) -> list[str]:
    """How many claims of each paper have which answer, and where each paper's files are."""
    found = {name: [o.answer for o in own if not o.place] for name, own in papers.items()}
    answers = [a for a in rules.ANSWERS if any(a in own for own in found.values())]
    rows = [[name, str(len(own)), *(str(own.count(a)) for a in answers)]
            for name, own in found.items()]  # fmt: skip
    lines = render(text_table(["paper", "claims", *answers], rows), "text").splitlines()
    return [*lines, *(f"files  {folder}" for folder in folders)]
