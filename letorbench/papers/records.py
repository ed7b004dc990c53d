"""The files and the printed lines of a reproduction."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from letorbench.analysis.tables import data_table, probability, render, text_table
from letorbench.files import write_atomically
from letorbench.papers.claims import NATURES, NOT_ASKED, VERDICTS, Claim, Verdict
from letorbench.papers.kept import read_kept, write_kept

NOTHING: Mapping[str, str] = MappingProxyType({})
#: the tables of the verdicts, on a claim's own data and on other data
CLAIMS, ELSEWHERE = "claims.csv", "elsewhere.csv"
COLUMNS = (
    "paper", "id", "part", "claim", "nature", "dataset", "judged_on", "kind", "sense",
    "paper_value", "half", "margin", "our_value", "low", "high", "p", "number", "direction",
    "significance", "power", "detectable", "verdict", "decided_by", "how", "note",
)  # fmt: skip


def write_claims(path: Path, verdicts: Sequence[Verdict], claims: Sequence[Claim]) -> Path:
    """claims.csv: a row a claim and place; rows of claims that are not judged now are kept."""
    judged = {verdict.claim.id for verdict in verdicts}
    rows: list[Mapping[str, object]] = []
    rows += [row for row in stored_rows(path) if row["id"] not in judged]
    rows += [_row(verdict) for verdict in verdicts]
    order = {claim.id: i for i, claim in enumerate(claims)}
    rows = sorted((row for row in rows if row["id"] in order), key=lambda row: order[row["id"]])
    file = io.StringIO()
    writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_kept(path, file.getvalue())
    return path


def check_claims(folder: Path) -> None:
    """DataError where a table of verdicts is damaged: it is told before a long run."""
    for name in (CLAIMS, ELSEWHERE):
        stored_rows(folder / name)


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
    made = text_table(header, [[_text(cell) for cell in row] for row in rows], title)
    paths = stem.with_name(f"{stem.name}.csv"), stem.with_name(f"{stem.name}.txt")
    contents = render(data_table(header, rows), "csv"), render(made, "text")
    for path, content in zip(paths, contents):
        with write_atomically(path) as file:
            file.write(content)
    return paths


def stored_values(path: Path) -> dict[str, str]:
    """Our values of a claims.csv by claim, as they are printed; none where there is no file."""
    return {
        row["id"]: f"{float(row['our_value']):.4g}" for row in stored_rows(path) if row["our_value"]
    }


def lines(
    verdicts: Sequence[Verdict], other: str = "", values: Mapping[str, str] = NOTHING
) -> list[str]:
    """The verdicts as a table of text: paper, ours with its interval, p, four answers, verdict.

    A value without chance in it has no interval. `values` are what another setting, `other`,
    gave by claim; they are a column of their own where there are any.
    """
    header = (
        "claim", "data", "paper", "ours [95 %]", "p", "number", "direction", "significant",
        "power", "verdict", *([other] if values else []),
    )  # fmt: skip
    rows = []
    for v in verdicts:
        ours = "-"
        if v.value is not None:
            ours = _number(v.claim, v.value)
            if v.low is not None and v.high is not None and v.low < v.high:
                ours += f" [{_number(v.claim, v.low)}, {_number(v.claim, v.high)}]"
        p = "-" if v.p is None else probability(v.p)
        a = v.answers
        answers = (a.number, a.direction, a.significance, a.power)
        place = v.place or v.claim.dataset
        row = [v.claim.id, place, _claimed(v.claim), ours, p, *answers, v.verdict]
        rows.append([*row, *([values.get(v.claim.id, "-")] if values else [])])
    return render(text_table(header, rows), "text").splitlines()


def _claimed(claim: Claim) -> str:
    """What the paper says, in a word or a number."""
    if claim.value is not None:
        sign = {"equal": "", "at least": ">= ", "at most": "<= "}[claim.sense]
        return f"{sign}{_number(claim, claim.value)}"
    margin = f"{100.0 * claim.margin:g} %"
    return {
        "superiority": "above",
        "non-inferiority": f"above or within {margin}",
        "equivalence": f"within {margin}",
        "indistinct": "above by chance",
    }[claim.kind]


def notes(verdicts: Sequence[Verdict]) -> list[str]:
    """Every note with the claims that share it, a line each."""
    sharing: dict[str, list[str]] = {}
    for v in verdicts:
        if v.note:
            sharing.setdefault(v.note, []).append(v.claim.id)
    return [f"{', '.join(ids)}: {note}" for note, ids in sharing.items()]


def closing(rows: Sequence[tuple[str, Sequence[Verdict], Path]]) -> list[str]:
    """A line for each paper and nature of claims: how many, their verdicts, what decided them.

    Verdicts on other data than the claims' are in lines of their own, called "elsewhere".
    """
    header = ("paper", "nature", "claims", *VERDICTS, "decided by", "files")
    table = []
    for name, verdicts, folder in rows:
        for nature in (*NATURES, "elsewhere"):
            own = [v for v in verdicts if _tallied_as(v) == nature]
            if own:
                counts = [sum(v.verdict == verdict for v in own) for verdict in VERDICTS]
                by = Counter(v.by for v in own if v.by != NOT_ASKED)
                said = ", ".join(f"{what} {count}" for what, count in by.most_common()) or "-"
                table.append([name, nature, str(len(own)), *map(str, counts), said, str(folder)])
    return render(text_table(header, table), "text").splitlines()


def _tallied_as(verdict: Verdict) -> str:
    return "elsewhere" if verdict.place else verdict.claim.nature


def _number(claim: Claim, number: float) -> str:
    if claim.kind == "difference":
        return f"{100.0 * number:+.1f} %"
    if claim.kind == "value":
        return f"{number:,.0f}" if claim.nature == "data" else f"{number:.4g}"
    return f"{number:+.4f}"


def _text(cell: object) -> str:
    return "" if cell is None else f"{cell:.4f}" if isinstance(cell, float) else str(cell)


def _row(v: Verdict) -> dict[str, object]:
    claim, answers = v.claim, v.answers
    cells = (
        claim.paper, claim.id, claim.part, claim.text, claim.nature, claim.dataset,
        v.place or claim.dataset, claim.kind, claim.sense, claim.value, claim.half, claim.margin,
        v.value, v.low, v.high, v.p, answers.number, answers.direction, answers.significance,
        answers.power, answers.detectable, v.verdict, v.by, claim.how, v.note,
    )  # fmt: skip
    return {name: "" if cell is None else _exact(cell) for name, cell in zip(COLUMNS, cells)}


def _exact(cell: object) -> object:
    return repr(float(cell)) if isinstance(cell, float | int) else cell


def stored_rows(path: Path) -> list[dict[str, str]]:
    """The rows of a claims.csv of before; none where there is no such file or another's.

    DataError where it is damaged.
    """
    if not path.is_file():
        return []
    reader = csv.DictReader(io.StringIO(read_kept(path), newline=""))
    return list(reader) if tuple(reader.fieldnames or ()) == COLUMNS else []
