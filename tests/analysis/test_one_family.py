"""No two verdicts of a page contradict each other, and an interval says that it is one by itself.

Random paired data whose differences are near the limit of significance.
"""

import re
from dataclasses import replace

import numpy as np
import pytest
from toy_data import row_of

from letorbench.analysis.comparison import Procedure, compare
from letorbench.analysis.leaderboard import Board, board_table, page
from letorbench.analysis.report import page as report
from letorbench.results.dataset_results import DatasetResults
from letorbench.results.per_query import PerQuery

NAMES = ("a", "b", "c", "d", "mine (yours)", "other (yours)")
P = r"adjusted p (=|<) ([\d.]+)\)?"


def frame(seed: int) -> DatasetResults:
    rng = np.random.default_rng(seed)
    base, rows, lead, first = rng.random(60), [], rng.uniform(0.04, 0.1), rng.choice(NAMES)
    for name in NAMES:
        own = base + lead * (name == first) + rng.normal(0.0, 0.15, 60)
        values = dict.fromkeys(("ndcg@1", "ndcg@3", "ndcg@5", "ndcg@10", "map", "err@10"), own)
        queries = PerQuery(name, np.repeat([1, 2, 3, 4, 5], 12), np.arange(60).astype(str), values)
        row = row_of(queries)
        stored = (
            replace(fold, fit=fold.fit | {"seconds": 1.0, "warnings": []}) for fold in row.stored
        )
        rows.append(replace(row, stored=tuple(stored)))
    return DatasetResults("SET", tuple(rows))


def significant(found: re.Match[str]) -> bool:
    sign, p = found.groups()[-2:]
    return sign == "<" or float(p) < 0.05


@pytest.mark.parametrize("seed", range(25))
def test_the_leaderboards_marks_and_sentences_agree(seed: int) -> None:
    each = Board(frame(seed), NAMES[4:])
    table = board_table(each, "ndcg@10")
    marks = {row[0].text: row[2].sign for row in table.rows}
    best, *_ = marks
    marked = sum(sign < 0 for sign in marks.values())
    assert "for 9 comparisons" in table.against or "for 12 comparisons" in table.against
    text = "\n".join(table.notes)
    [lead] = re.finditer(rf"Its lead over (.+?) is (not )?significant .*{P}\.", text)
    assert significant(lead) == (marks[lead[1]] < 0) == (lead[2] is None)
    [number] = re.findall(r"significantly better than (\w+) of the 5 other algorithms", text)
    assert {"none": 0, "all": 5}.get(number, number) == (
        marked if marked in (0, 5) else f"{marked}"
    )
    told = (
        rf"(.+): place (\d) .*better than (\d) of the 5 others and worse than (\d); "
        rf"against (.+?) [+-].*by itself.*{P}$"
    )
    for found in re.finditer(told, text, re.MULTILINE):
        name, place, better, worse, rival = found.groups()[:5]
        loser = rival if name == best else name
        assert significant(found) == (marks[loser] < 0), (name, text)
        assert int(worse) >= (marks[name] < 0) and (name != best or int(better) == marked)
    assert text.count("by itself") == 3 and "by itself" in table.caption


@pytest.mark.parametrize("seed", range(25))
def test_a_reports_sentences_and_its_table_agree(seed: int, monkeypatch) -> None:
    monkeypatch.setattr("letorbench.analysis.figures.data_uri", lambda figure: "")
    text = report([frame(seed)], "a", Procedure("t"), "ndcg@10", "report")
    found = re.search(rf"Its lead over (?:the baseline a|a, the baseline,) is (not )?.*?{P}", text)
    [best] = re.findall(r"NDCG@10, (.+?) is the best of 6", text)
    assert (found is None) == (best == "a") and "are of each row by itself" in text
    if found:
        rows = re.findall(rf'<tr><th scope="row">{re.escape(best)}</th><td class="">a</td>.*?</tr>',
                          text)  # fmt: skip
        assert rows[0].count("*</td>") == significant(found) == (found[1] is None)
        assert (">" + found[3].rstrip(".")) in rows[0].replace("&lt;", "") or found[2] == "<"


def test_a_pair_of_two_baselines_is_one_test_seen_from_both_sides() -> None:
    systems = [row.queries for row in frame(0).rows]
    pairs = {(p.a, p.b): p for p in compare("SET", systems, "map", ["a", "b"], Procedure("t"))}
    assert len(pairs) == 10 and {pair.tests for pair in pairs.values()} == {9}
    one, other = pairs["a", "b"], pairs["b", "a"]
    assert one.adjusted == other.adjusted and one.p == other.p
    assert one.difference.mean == -other.difference.mean and one.counts == other.counts[::-1]
    every = {frozenset(names): pair.p for names, pair in pairs.items()}
    smallest = min(every, key=every.__getitem__)
    [first] = {p.adjusted for n, p in pairs.items() if frozenset(n) == smallest}
    assert first == pytest.approx(min(1.0, 9 * every[smallest]))  # Holm: of nine, not of ten


def test_the_page_says_that_ranks_are_another_question() -> None:
    assert "Which differences in rank are not significant?" in page(
        [Board(frame(1))], "ndcg@10", "words"
    )
