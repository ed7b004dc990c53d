"""The files and the printed lines of a reproduction."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, astuple, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from letorbench.analysis.tables import (
    Value,
    four_decimals,
    probability,
    render,
    text_table,
    write_table,
)
from letorbench.checksum import checked, with_checksum
from letorbench.errors import DataError
from letorbench.files import write_atomically
from letorbench.papers.claims import NATURES, Claim
from letorbench.papers.rules import (
    ANSWERS,
    NOT_REPRODUCED,
    REPRODUCED,
    SHOWN,
    UNDECIDED,
    Outcome,
    Row,
)

if TYPE_CHECKING:
    from letorbench.papers.paper import Found, Paper

#: what later runs read again, with its check sum; and tables of it for people
OUTCOMES, CLAIMS, POINTS = "outcomes.json", "claims.csv", "comparisons.csv"
CLAIM_COLUMNS = (
    "paper", "id", "part", "nature", "data", "judged_on", "claim", "where", "answer", "corrected",
    "p", "p_family", "by_setting", "note",
)  # fmt: skip

Kept = dict[tuple[str, str], Outcome]


def write_outcomes(folder: Path, paper: Paper, kept: Kept) -> list[Path]:
    """Write the outcomes, and as tables a row a claim and a row a comparison."""
    order = {claim.id: i for i, claim in enumerate(paper.claims)}
    every = sorted(kept.values(), key=lambda each: (order[each.claim.id], each.place))
    facts = [{**asdict(each), "claim": each.claim.id} for each in every]
    with write_atomically(folder / OUTCOMES) as file:
        file.write(with_checksum({"outcomes": facts}))
    rows = [
        [
            paper.name, o.claim.id, o.claim.part, o.claim.nature, o.claim.dataset, o.place,
            o.claim.text, o.claim.where, o.answer, o.corrected, o.p, o.family, _settings(o), o.note,
        ]
        for o in every
    ]  # fmt: skip
    heads = [each.name for each in fields(Row)]
    points = [[o.claim.id, *astuple(row)] for o in every for row in o.rows]
    return [
        folder / OUTCOMES,
        _write_csv(folder / CLAIMS, CLAIM_COLUMNS, rows),
        _write_csv(folder / POINTS, ["claim", *heads], points),
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


def write_calibration(stem: Path, of_part: Sequence[Claim], found: Found) -> tuple[Path, ...]:
    """How often the rules give which answer: a row a claim, data set and truth."""
    from letorbench.papers import calibration

    rows: list[list[object]] = []
    told = (REPRODUCED, NOT_REPRODUCED, UNDECIDED)
    rng = np.random.default_rng(0)
    values = next(iter(found.values.values()), {})
    for claim, test in ((claim, test) for claim in of_part for test in claim.tests):
        for dataset in values:
            moved = replace(test, data=(dataset,)) if len(test.data) < 2 else test
            by_truth = calibration.of_test(moved, dataset, values[dataset], rng)
            for truth, shares in by_truth.items():
                rows.append(
                    [claim.id, test.kind, dataset, truth, *(shares.get(a, 0.0) for a in told)]
                )
    if not rows:
        return ()
    header = ("claim", "kind", "data", "truth", *told)
    return write_table(stem, f"{stem.name}: how often which answer", header, rows)


def write_setting(path: Path, reference: str, differs: Sequence[str]) -> Path:
    """setting.txt: what differs from the paper's setting, a line each."""
    with write_atomically(path) as file:
        file.write(f"{reference}\n\nWhat differs from the paper's setting:\n")
        file.writelines(f"- {line}\n" for line in differs)
    return path


def write_section(
    path: Path,
    title: str,
    tables: Sequence[tuple[Sequence[str], Sequence[Sequence[Value]]]],
    told: str,
) -> Path:
    """A section of the paper's page: folded tables, a header and rows each, and their sum."""
    made = [
        text_table(head, [[four_decimals(cell) for cell in row] for row in rows])
        for head, rows in tables
        if rows
    ]
    shown = [render(each, "markdown").strip() for each in made]
    text = [f"## {title}", "<details><summary>The numbers</summary>", *shown, "</details>", told]
    with write_atomically(path) as file:
        file.write("\n\n".join(text) + "\n")
    return path


def lines(outcomes: Iterable[Outcome]) -> list[str]:
    """The outcomes as a table of text: paper, ours with its interval, p, what shows, the answer."""
    header = ("claim", "data", "paper", "ours [95 %]", "p", "shows from", "answer")
    return render(text_table(header, cells(outcomes)), "text").splitlines()


def cells(outcomes: Iterable[Outcome]) -> list[list[str]]:
    """A row of texts a claim."""
    return [[o.claim.id, _place(o), *_numbers(o), said(o)] for o in outcomes]


def _place(outcome: Outcome) -> str:
    data = outcome.claim.data
    return outcome.place or (f"{len(data)} sets" if len(data) > 2 else outcome.claim.dataset)


def said(outcome: Outcome) -> str:
    """The answer, with what else is to be known of it in a word."""
    if outcome.by_setting:
        return f"depends on: {_settings(outcome)}"
    if outcome.corrected != outcome.answer:
        return f"{outcome.answer} (undecided over all findings)"
    return outcome.answer


def _settings(outcome: Outcome) -> str:
    return "; ".join(f"{name}: {answer}" for name, answer in (outcome.by_setting or {}).items())


def _numbers(outcome: Outcome) -> tuple[str, str, str, str]:
    """The paper's number, ours, p and the smallest lead that shows: of one row, or of many."""
    rows, p = outcome.rows, "-" if outcome.p is None else probability(outcome.p)
    if len(rows) == 1:
        return paper_number(rows[0]), our_number(rows[0]), p, share(rows[0].smallest, rows[0].base)
    if not rows:
        return "-", "-", "-", "-"
    counts = Counter(row.state for row in rows)
    told = ", ".join(f"{state} {count}" for state, count in counts.items())
    shares = [row.smallest / row.base for row in rows if row.smallest and row.base]
    middle = f"{100.0 * float(np.median(shares)):.1f} %" if shares else "-"
    return "-", f"{told} of {len(rows)}", p, middle


def paper_number(row: Row) -> str:
    """What the paper prints, as it stands beside ours."""
    sign = {"at least": ">= ", "at most": "<= "}.get(row.kind, "")
    if row.printed is not None:
        return f"{sign}{_signed(row, row.printed)}"
    return {"above": "above", "not below": "not below", "alike": "alike"}.get(row.kind, "-")


def our_number(row: Row) -> str:
    """Our number with its interval, where there is chance in it."""
    if row.value is None or row.low is None or row.high is None:
        return "-"
    bounds = f" [{_signed(row, row.low)}, {_signed(row, row.high)}]"
    return _signed(row, row.value) + (bounds if row.low < row.high else "")


def share(size: float | None, base: float | None) -> str:
    """A difference as a share of the lower method's number, in per cent."""
    return f"{100.0 * size / base:.1f} %" if size is not None and base else "-"


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
            own = [o for o in outcomes if _tallied_as(o) == nature]
            counts = [str(sum(o.answer == answer for o in own)) for answer in ANSWERS]
            rows += [[name, nature, str(len(own)), *counts]] if own else []
    return ["paper", "nature", "claims", *ANSWERS], rows


def closing(papers: Sequence[Judged], folders: Sequence[Path]) -> list[str]:
    """The tally, and where each paper's files are."""
    lines = render(text_table(*tally(papers)), "text").splitlines()
    return [*lines, *(f"files  {folder}" for folder in folders)]


def _tallied_as(outcome: Outcome) -> str:
    return "on other data" if outcome.place else outcome.claim.nature


def too_small(outcomes: Iterable[Outcome]) -> list[list[str]]:
    """The printed leads below the smallest that shows: claim, data, what, both as shares."""
    return [
        [o.claim.id, row.place, row.what, share(row.printed, row.base), share(low, row.base)]
        for o in outcomes
        for row in o.rows
        if row.kind == "above" and (low := row.smallest) and 0.0 < (row.printed or 0.0) < low
    ]


def power_rows(out: Path) -> list[list[str]]:
    """What the stored runs can show, a row a data set and measure; all pairs in papers/power."""
    from letorbench.analysis import leads
    from letorbench.papers import calibration

    text = []
    runs = out / "papers" / "runs" / "ndcg@10"
    for folder in sorted(path for path in runs.glob("*") if path.is_dir()):
        systems = calibration.stored_systems(runs, folder.name)
        if len(systems) < 2:
            continue
        rows = leads.smallest(systems, ("ndcg@1", "ndcg@3", "ndcg@10", "map"))
        title = f"{folder.name}: the smallest lead that shows in 80 % of cases"
        header = ("method", "other", "measure", "lead", "share of the mean")
        write_table(out / "papers" / "power" / folder.name, title, header, rows)
        text += [
            [folder.name, measure, str(pairs), *(f"{100.0 * each:.1f} %" for each in shares)]
            for measure, pairs, *shares in leads.summary(rows)
        ]
    return text


def calibration_rows(folders: Iterable[Path]) -> tuple[list[str], list[list[str]]]:
    """Columns and rows of what `write_calibration` wrote for the papers."""
    header: list[str] = []
    rows: list[list[str]] = []
    for path in (path for folder in folders for path in sorted(folder.glob("calibration-*.csv"))):
        header, *own = csv.reader(path.read_text(encoding="utf-8").splitlines())
        rows += own
    return header, rows


def state_counts(rows: Sequence[Row]) -> str:
    """How many of the rows show it."""
    return f"{sum(row.state == SHOWN for row in rows)} of {len(rows)}"


def _signed(row: Row, number: float) -> str:
    if row.kind in ("above", "not below", "alike"):
        return f"{number:+.4f}"
    whole = float(number).is_integer() and abs(number) >= 1_000.0
    return f"{number:,.0f}" if whole else f"{number:.4g}"


def _write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> Path:
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(["" if cell is None else cell for cell in row] for row in rows)
    with write_atomically(path) as out:
        out.write(file.getvalue())
    return path
