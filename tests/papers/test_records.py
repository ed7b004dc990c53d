"""The lines and files of a reproduction: every number in its form and its column."""

from __future__ import annotations

import csv

import pytest

from letorbench.papers import checks, records
from letorbench.papers.claims import (
    NO_DATA,
    REPRODUCED,
    Answers,
    Claim,
    Verdict,
)


def claim(name: str = "a", kind: str = "value", **given) -> Claim:
    given = {"value": None, "half": 0.0, "sense": "equal", "nature": "finding"} | given
    return Claim(
        "paper", name, "part", f"what {name} says", "DEMO", kind, "how",
        given.pop("value"), given.pop("half"), given.pop("sense"), given.pop("nature"),
        check=checks.number(name), **given,
    )  # fmt: skip


def cells(verdict: Verdict, **values) -> list[str]:
    """The cells of the line of one verdict."""
    header, line = records.lines([verdict], **values)
    starts = [header.index(word) for word in ("claim", "data", "paper", "ours", "p  ", "number")]
    starts += [header.index(word) for word in ("direction", "significant", "power", "verdict")]
    starts += [header.index(values["other"])] if values else []
    return [line[a:b].strip() for a, b in zip(starts, [*starts[1:], None])]


@pytest.mark.parametrize(
    ("made", "verdict", "paper", "ours"),
    [
        (claim(value=0.46), (0.4673641, 0.46, 0.47), "0.46", "0.4674 [0.46, 0.47]"),
        (claim(value=5.1, sense="at least"), (3.25, 3.25, 3.25), ">= 5.1", "3.25"),
        (claim(value=16140.0, nature="data"), (16141.0, None, None), "16,140", "16,141"),
        (claim(kind="difference", value=0.3), (-0.0512, -0.1, 0.02), "+30.0 %",
         "-5.1 % [-10.0 %, +2.0 %]"),
        (claim(kind="superiority"), (0.01234, 0.001, 0.02), "above",
         "+0.0123 [+0.0010, +0.0200]"),
        (claim(kind="non-inferiority", margin=0.02), (0.0, -0.01, 0.01), "above or within 2 %",
         "+0.0000 [-0.0100, +0.0100]"),
    ],
)  # fmt: skip
def test_a_line_shows_each_number_in_the_form_of_its_kind(made, verdict, paper, ours):
    value, low, high = verdict
    answers = Answers("yes", "no", "far", "too few")
    shown = cells(Verdict(made, REPRODUCED, value, low, high, None, answers))
    assert shown[:5] == ["a", "DEMO", paper, ours, "-"]
    assert shown[5:] == ["yes", "no", "far", "too few", REPRODUCED]


def test_a_table_has_four_decimals_as_text_and_all_as_csv(tmp_path):
    rows = [["a", 0.123456, None, 3], ["b", 2.0, "x", 4]]
    table, text = records.write_table(tmp_path / "t", "A title", ["n", "v", "w", "k"], rows)
    assert list(csv.reader(table.open()))[1][:2] == ["a", "0.123456"]
    lines = text.read_text().splitlines()
    assert lines[0] == "A title"
    assert [line.split() for line in lines[-2:]] == [
        ["a", "0.1235", "3"],
        ["b", "2.0000", "x", "4"],
    ]


def test_rows_of_claims_that_are_not_judged_now_are_kept_in_the_papers_order(tmp_path):
    claims = [claim(name, value=1.0) for name in "abc"]
    path = tmp_path / "claims.csv"
    records.write_claims(path, [Verdict(claims[2], REPRODUCED, 3.0), Verdict(claims[0], NO_DATA)],
                         claims)  # fmt: skip
    records.write_claims(path, [Verdict(claims[1], REPRODUCED, 2.5, 2.0, 3.0)], claims)
    rows = records.stored_rows(path)
    assert [(row["id"], row["our_value"], row["low"]) for row in rows] == [
        ("a", "", ""), ("b", "2.5", "2.0"), ("c", "3.0", "")
    ]  # fmt: skip
    assert records.stored_values(path) == {"b": "2.5", "c": "3"}
