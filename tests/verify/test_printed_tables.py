"""Printed tables: none of Microsoft's numbers is impossible, and planted errors are found."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from conftest import random_queries
from toy_data import write_toy

from letorbench.conventions import CONVENTIONS
from letorbench.errors import DataError
from letorbench.measures import parse, query_metrics
from letorbench.verify.numbers import Printed
from letorbench.verify.printed import (
    Entry,
    Known,
    check_by_data,
    check_table,
    known_facts,
    read_table,
)

NAMES = [*(f"p@{k}" for k in range(1, 11)), *(f"ndcg@{k}" for k in (1, 3, 10)), "map"]
N = 97


@pytest.fixture(scope="module")
def made() -> tuple[list[Entry], dict[tuple[str, str, int], Known]]:
    """A sound table of two rankers on five folds, with four digits, and what its data say."""
    rng, rules = np.random.default_rng(3), CONVENTIONS["letor4"]
    measures, values, known = [parse(name) for name in NAMES], {}, {}
    for fold in range(1, 6):
        queries = random_queries(rng, rng.integers(5, 20, N).tolist(), levels=3)
        known["D", "test", fold] = known_facts(queries, NAMES, rules)
        for algo, noise in (("a", 1.0), ("b", 3.0)):
            scores = queries.labels + noise * rng.normal(size=queries.n_docs)
            table = query_metrics(queries.labels, scores, queries.offsets, measures, rules)
            values[algo, fold] = table.mean(axis=0)
    for algo in "ab":
        values[algo, 0] = np.mean([values[algo, fold] for fold in range(1, 6)], axis=0)
    rows = (
        ("D", algo, "test", fold, name, Printed.of(f"{number:.4f}"))
        for (algo, fold), means in values.items()
        for name, number in zip(NAMES, means)
    )
    return [Entry(*row, line) for line, row in enumerate(rows, 2)], known


def test_a_sound_table_is_found_sound(made) -> None:
    entries, known = made
    assert check_table(entries) == [] and check_table(entries, known) == []


def slips() -> Iterator[tuple[str, int, float, str, bool]]:
    """A measure, a fold, what is added to its number, the check that sees it, with data or not."""
    for data in (False, True):
        yield "p@1", 2, 0.0020, "grid", data
        yield "p@3", 1, 0.0011, "grid", data
        yield "ndcg@1", 4, 0.0012, "grid", data
        yield "p@4", 3, -0.2, "cumulative", data
        yield "p@2", 3, 0.5, "cumulative", data
        yield "p@10", 3, 0.2, "cumulative", data
        yield "map", 5, 0.01, "mean", data
        yield "map", 0, 0.0004, "mean", data
        yield "ndcg@10", 1, 2.0, "range", data
    yield "p@10", 1, 0.3, "bounds", True
    yield "map", 2, -0.45, "bounds", True


@pytest.mark.parametrize(("name", "fold", "by", "check", "data"), list(slips()))
def test_a_planted_error_is_found(made, name, fold, by, check, data) -> None:
    entries, known = made
    (at,) = (i for i, e in enumerate(entries) if e[1:5] == ("a", "test", fold, name))
    entry = entries[at]._replace(number=Printed.of(f"{entries[at].number.value + by:.4f}"))
    wrong = [*entries[:at], entry, *entries[at + 1 :]]
    found = check_table(wrong, known if data else None)
    assert check in {each.check for each in found if entry.line in each.lines}
    assert all(each.level == "impossible" for each in found if entry.line in each.lines)


def test_rows_that_look_odd_are_suspicious(made) -> None:
    entries, _ = made

    def moved(part: str, shift: int, by: float = 0.0) -> list[Entry]:
        return [
            e._replace(
                line=e.line + 1000 * (1 + shift),
                part=part, fold=(e.fold + shift - 1) % 5 + 1,
                number=replace(e.number, value=e.number.value + by),
            )
            for e in entries if e.fold
        ]  # fmt: skip

    assert {e.check for e in check_table([*entries, *moved("validation", 1)])} == {"rotation"}
    assert {e.check for e in check_table([*entries, *moved("train", 0, -0.002)])} >= {"order"}
    own = [e for e in entries if e.algorithm == "a"]
    twice = [e._replace(algorithm="c", line=e.line + 999) for e in own]
    assert {e.check for e in check_table([*entries, *twice])} == {"twice"}


def test_microsofts_tables_have_no_impossible_number(shared: Path) -> None:
    entries = read_table(shared / "published" / "letor4-printed.csv")
    assert len(entries) == 3960 and check_table(entries) == []


def test_a_table_in_per_cent_is_read_so(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("dataset,algorithm,measure,value\nD,a,map,43.95\nD,b,map,0.9\nD,c,map,7\n")
    assert [each.number.value for each in read_table(path)] == pytest.approx([0.4395, 0.009, 0.07])


def test_what_is_no_share_or_not_printed_is_left_alone(tmp_path: Path) -> None:
    path, head = tmp_path / "t.csv", "dataset,algorithm,measure,value\n"
    path.write_text(head + "D,a,dcg@10,7\nD,a,rmse,1.2\nD,a,map,.5\nD,b,map,-\nD,c,seconds,9\n")
    entries = read_table(path)
    assert [each.number.value for each in entries] == [7.0, 1.2, 0.5, 9.0]
    assert check_table(entries) == []


def test_every_part_of_the_data_bounds_its_numbers(tmp_path: Path) -> None:
    write_toy(tmp_path, "TOY", 0)
    text = "dataset,algorithm,part,fold,measure,value\n"
    parts = ("training", "validation", "test")
    path = tmp_path / "t.csv"
    path.write_text(text + "".join(f"TOY,a,{part},2,p@10,0.99\n" for part in parts))
    entries = read_table(path)
    found, _, _ = check_by_data(entries, tmp_path, "auto")
    assert {each.lines for each in found if each.check == "bounds"} == {(2,), (3,), (4,)}


def test_a_table_may_be_of_another_convention_than_its_data_sets(tmp_path: Path) -> None:
    """Where no query has ten documents, LETOR's NDCG@10 is 0 and the textbook's is not."""
    write_toy(tmp_path, "MQ2008", 0)
    path = tmp_path / "t.csv"
    rows = "".join(f"MQ2008,a,test,{fold},ndcg@10,0.8{fold}\n" for fold in range(1, 6))
    path.write_text("dataset,algorithm,part,fold,measure,value\n" + rows)
    entries = read_table(path)
    assert check_by_data(entries, tmp_path, "auto") == ([], ["MQ2008"], "standard")
    assert len(check_by_data(entries, tmp_path, "letor4")[0]) == 5


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("dataset,algorithm,value\nD,a,1\n", ":1: found the columns"),
        ("dataset,algorithm,measure,value\nD,a,map,x\n", ":2: found 'x', expected a number"),
        ("dataset,algorithm,part,measure,value\nD,a,dev,map,.1\n", ":2: found the part 'dev'"),
        ("dataset,algorithm,measure,value\nD,a,map,.1\nD,a,map,.2\n", ":3: found the number of li"),
    ],
)
def test_a_table_that_cannot_be_read_is_refused(tmp_path: Path, text, expected) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(DataError, match=expected):
        read_table(path)
