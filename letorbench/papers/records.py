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
    probability,
    render,
    text_table,
    write_table,
)
from letorbench.checksum import checked, with_checksum
from letorbench.errors import DataError
from letorbench.files import write_atomically
from letorbench.papers import rules
from letorbench.papers.claims import COMPARISONS, NATURES
from letorbench.papers.rules import Outcome, Row

if TYPE_CHECKING:
    from letorbench.papers.paper import Paper

#: what later runs read again, with its check sum; and tables of it for people
OUTCOMES, CLAIMS, POINTS = "outcomes.json", "claims.csv", "comparisons.csv"
CLAIM_COLUMNS = (
    "paper", "id", "part", "nature", "data", "judged_on", "claim", "where", "answer", "corrected",
    "p", "p_family", "by_setting", "note",
)  # fmt: skip
#: what `cells` gives of an outcome
COLUMNS = ("answer", "paper", "ours [95 %]", "p", "shows from")

Kept = dict[tuple[str, str], Outcome]


def write_file(path: Path, text: str) -> Path:
    """Write a file as a whole."""
    with write_atomically(path) as file:
        file.write(text)
    return path


def write_outcomes(folder: Path, paper: Paper, kept: Kept) -> list[Path]:
    """Write the outcomes, and as tables a row a claim and a row a comparison."""
    every = list(kept.values())
    facts = [{**asdict(each), "claim": each.claim.id} for each in every]
    rows: list[list[Value]] = [
        [
            paper.name, o.claim.id, o.claim.part, o.claim.nature, o.claim.dataset, o.place,
            o.claim.says, o.claim.where, o.answer, o.corrected, o.p, o.family, _settings(o), o.note,
        ]
        for o in every
    ]  # fmt: skip
    points = [[o.claim.id, *astuple(row)] for o in every for row in o.rows]
    heads = ["claim", *(each.name for each in fields(Row))]
    return [
        write_file(folder / OUTCOMES, with_checksum({"outcomes": facts})),
        write_file(folder / CLAIMS, render(data_table(CLAIM_COLUMNS, rows), "csv")),
        write_file(folder / POINTS, render(data_table(heads, points), "csv")),
    ]


def read_outcomes(folder: Path, paper: Paper) -> Kept:
    """The outcomes that were written before; DataError where they are damaged."""
    path = folder / OUTCOMES
    if not path.is_file():
        return {}
    facts = checked(path.read_bytes())
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
            kept[each["claim"], each["place"]] = Outcome(**own)
    return kept


def markdown(header: Sequence[str], rows: Iterable[Sequence[Value]]) -> str:
    """A table of a page, floats with four decimals."""
    shown = [list(map(four_decimals, row)) for row in rows]
    return render(text_table(header, shown), "markdown").strip() + "\n"


def write_section(
    stem: Path, title: str, told: str, tables: Mapping[str, tuple[Sequence[str], Sequence[Any]]]
) -> list[Path]:
    """A section of the paper's page: what its tables come to, and these, folded.

    tables: what their files' names end in -> header and rows.
    """
    shown = [markdown(*table) for table in tables.values() if table[1]]
    text = [f"## {title}", told, "<details><summary>The numbers</summary>", *shown, "</details>"]
    files = [write_file(stem.with_suffix(".md"), "\n\n".join(text) + "\n")]
    for ending, table in tables.items():
        files += write_table(stem.with_name(stem.name + ending), title, *table)
    return files


def lines(outcomes: Iterable[Outcome]) -> list[str]:
    """The outcomes of what was run as a table of text."""
    rows = []
    for o in (each for each in outcomes if each.answer != rules.NOT_RUN):
        data = f"{len(o.claim.data)} sets" if len(o.claim.data) > 2 else o.claim.dataset
        rows.append([o.claim.id, o.place or data, *cells(o)])
    return render(text_table(("claim", "data", *COLUMNS), rows), "text").splitlines()


def cells(outcome: Outcome) -> list[str]:
    """A text for each of `COLUMNS`, by the comparison that decides."""
    if not outcome.rows:
        return [said(outcome), "-", "-", "-", "-"]
    row, several = decisive(outcome), len(outcome.rows) > 1
    ours = [f"{told(row)}: " * several + our_number(row), *counted(outcome)]
    p = "-" if outcome.p is None else probability(outcome.p)
    return [said(outcome), paper_number(row), "; ".join(ours), p, share(row.smallest, row.base)]


def said(outcome: Outcome) -> str:
    """The answer, with what else is to be known of it in a word."""
    if outcome.answer == rules.NOT_RUN:
        claim = outcome.claim
        return f"not run (part {claim.part}; `make {claim.paper}/{claim.part}`)"
    if outcome.by_setting:
        return f"depends on: {_settings(outcome)}"
    if outcome.corrected != outcome.answer:
        return f"{outcome.answer} (undecided over all findings)"
    return outcome.answer


def why(outcome: Outcome) -> str:
    """What the answer rests on: the comparison that decides it, and how many there are."""
    if not outcome.rows:
        without = outcome.claim.data if outcome.answer != rules.NOT_RUN else ()
        return f"; without {', '.join(without)}" if without else ""
    row = decisive(outcome)
    of_paper = "" if row.printed is None else f", the paper {paper_number(row)}"
    parts = [f"{told(row)}: {our_number(row)}{of_paper}", *counted(outcome), outcome.note]
    return "; " + "; ".join(filter(None, parts))


def told(row: Row) -> str:
    """What is compared or measured, and where."""
    return f"{row.place}: " * bool(row.place) + row.what


def counted(outcome: Outcome) -> list[str]:
    """How many of several comparisons show the claim."""
    states = [row.state for row in outcome.rows]
    shown = f"{states.count(rules.SHOWN)} of {len(states)} comparisons show it"
    return [shown] if len(states) > 1 else []


def decisive(outcome: Outcome) -> Row:
    """The row that refutes most clearly, or the weakest that the answer needs."""
    excluded = [row for row in outcome.rows if row.state == rules.EXCLUDED]
    if outcome.answer == rules.NOT_REPRODUCED and excluded:
        return min(excluded, key=lambda row: row.excluded or 0.0)
    weak = [row for row in outcome.rows if row.state != rules.SHOWN] or outcome.rows
    return max(weak, key=lambda row: (row.shown or 0.0, -row.value))


def _settings(outcome: Outcome) -> str:
    return "; ".join(f"{name}: {answer}" for name, answer in (outcome.by_setting or {}).items())


def paper_number(row: Row) -> str:
    """What the paper prints, as it stands beside ours."""
    if row.printed is None:
        return row.kind if row.kind in COMPARISONS else "-"
    return {"at least": ">= ", "at most": "<= "}.get(row.kind, "") + _signed(row, row.printed)


def our_number(row: Row) -> str:
    """Our number with its interval, where there is chance in it."""
    bounds = f" [{_signed(row, row.low)}, {_signed(row, row.high)}]"
    return _signed(row, row.value) + (bounds if row.low < row.high else "")


def _signed(row: Row, number: float) -> str:
    if row.kind in COMPARISONS:
        return f"{number:+.4f}"
    whole = float(number).is_integer() and abs(number) >= 1_000.0
    return f"{number:,.0f}" if whole else f"{number:.4g}"


def share(size: float | None, base: float | None) -> str:
    """A difference as a share of the lower method's number, in per cent; none of a lead below 0."""
    return f"{100.0 * size / base:.1f} %" if size is not None and base and base > 0.0 else "-"


def notes(outcomes: Iterable[Outcome]) -> list[str]:
    """Every note with the claims that share it, a line each."""
    sharing: dict[str, list[str]] = {}
    for o in outcomes:
        own = [o.note, f"judged as meant: {o.claim.meant}" if o.claim.meant else ""]
        for note in dict.fromkeys([*own, *(row.note for row in o.rows)]):
            if note:
                sharing.setdefault(note, []).append(o.claim.id)
    return [f"{', '.join(dict.fromkeys(ids))}: {note}" for note, ids in sharing.items()]


Judged = tuple[str, Sequence[Outcome]]


def tally(papers: Iterable[Judged]) -> tuple[list[str], list[list[str]]]:
    """Columns and rows: of each paper and nature of claims how many, and their answers."""
    rows = []
    for name, outcomes in papers:
        for nature in (*NATURES, "on other data"):
            kinds = (("on other data" if o.place else o.claim.nature, o.answer) for o in outcomes)
            own = [answer for kind, answer in kinds if kind == nature]
            counts = [str(own.count(answer)) for answer in rules.ANSWERS]
            rows += [[name, nature, str(len(own)), *counts]] if own else []
    return ["paper", "nature", "claims", *rules.ANSWERS], rows


def closing(papers: Sequence[Judged], folders: Sequence[Path]) -> list[str]:
    """The tally, and where each paper's files are."""
    lines = render(text_table(*tally(papers)), "text").splitlines()
    return [*lines, *(f"files  {folder}" for folder in folders)]
