"""The files and the printed lines of a reproduction."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

from letorbench.analysis.comparison_table import probability
from letorbench.analysis.rendering import render
from letorbench.analysis.tabular import Cell, Table, columns, data_table
from letorbench.files import write_atomically
from letorbench.papers.claims import VERDICTS, Claim, Verdict

COLUMNS = (
    "paper", "id", "part", "claim", "dataset", "kind", "sense", "paper_value", "our_value",
    "low", "high", "p", "verdict", "how", "note",
)  # fmt: skip


def write_claims(path: Path, verdicts: Sequence[Verdict], claims: Sequence[Claim]) -> Path:
    """claims.csv: a row a claim; rows of claims that are not judged now are kept."""
    rows = {row["id"]: row for row in _stored(path)}
    rows |= {verdict.claim.id: _row(verdict) for verdict in verdicts}
    with write_atomically(path) as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows[claim.id] for claim in claims if claim.id in rows)
    return path


def write_setting(path: Path, reference: str, differs: Sequence[str]) -> Path:
    """setting.txt: what differs from the paper's setting, a line each."""
    with write_atomically(path) as file:
        file.write(f"{reference}\n\nWhat differs from the paper's setting:\n")
        file.writelines(f"- {line}\n" for line in differs)
    return path


def write_table(
    stem: Path, title: str, header: Sequence[str], rows: Sequence[Sequence[object]]
) -> tuple[Path, Path]:
    """stem.csv and stem.txt, a table in the paper's form; floats with four decimals as text."""
    made = _table(header, [[_text(cell) for cell in row] for row in rows], title)
    paths = stem.with_name(f"{stem.name}.csv"), stem.with_name(f"{stem.name}.txt")
    contents = render(data_table(header, rows), "csv"), render(made, "text")
    for path, content in zip(paths, contents):
        with write_atomically(path) as file:
            file.write(content)
    return paths


def lines(verdicts: Sequence[Verdict]) -> list[str]:
    """The verdicts as a table of text: claim, paper, ours with its interval, p, verdict.

    A value without chance in it has no interval.
    """
    header = ("claim", "data", "paper", "ours [95 %]", "p", "verdict")
    rows = []
    for v in verdicts:
        sign = {"equal": "", "at least": ">= ", "at most": "<= "}[v.claim.sense]
        paper = "above" if v.claim.value is None else f"{sign}{_number(v.claim, v.claim.value)}"
        ours = "-"
        if v.value is not None:
            ours = _number(v.claim, v.value)
            if v.low is not None and v.high is not None and v.low < v.high:
                ours += f" [{_number(v.claim, v.low)}, {_number(v.claim, v.high)}]"
        p = "-" if v.p is None else probability(v.p)
        rows.append([v.claim.id, v.claim.dataset, paper, ours, p, v.verdict])
    return render(_table(header, rows), "text").splitlines()


def notes(verdicts: Sequence[Verdict]) -> list[str]:
    """Every note with the claims that share it, a line each."""
    sharing: dict[str, list[str]] = {}
    for v in verdicts:
        if v.note:
            sharing.setdefault(v.note, []).append(v.claim.id)
    return [f"{', '.join(ids)}: {note}" for note, ids in sharing.items()]


def closing(rows: Sequence[tuple[str, Sequence[Verdict], Path]]) -> list[str]:
    """A line a paper: how many claims, how many of each verdict, where the files are."""
    header = ("paper", "claims", *VERDICTS, "files")
    table = []
    for name, verdicts, folder in rows:
        counts = [sum(v.verdict == verdict for v in verdicts) for verdict in VERDICTS]
        table.append([name, str(len(verdicts)), *map(str, counts), str(folder)])
    return render(_table(header, table), "text").splitlines()


def _table(
    header: Sequence[str], rows: Sequence[Sequence[str]], caption: str = ""
) -> Table:
    """A table of text, every column aligned to the left."""
    cells = tuple(tuple(Cell(text) for text in row) for row in rows)
    return Table(caption, columns(header), cells)


def _number(claim: Claim, number: float) -> str:
    if claim.kind == "difference":
        return f"{100.0 * number:+.1f} %"
    if claim.kind == "ordering":
        return f"{number:+.4f}"
    return f"{number:.4g}"


def _text(cell: object) -> str:
    return "" if cell is None else f"{cell:.4f}" if isinstance(cell, float) else str(cell)


def _row(v: Verdict) -> dict[str, object]:
    claim = v.claim
    numbers = (claim.value, v.value, v.low, v.high, v.p)
    cells = ["" if number is None else repr(float(number)) for number in numbers]
    texts = (claim.paper, claim.id, claim.part, claim.text, claim.dataset, claim.kind, claim.sense)
    return dict(zip(COLUMNS, (*texts, *cells, v.verdict, claim.how, v.note)))


def _stored(path: Path) -> list[dict[str, str]]:
    """The rows of a claims.csv of before; none where there is no such file or another's."""
    if not path.is_file():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        return list(reader) if tuple(reader.fieldnames or ()) == COLUMNS else []
