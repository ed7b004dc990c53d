"""Pairs of algorithms: frames with the columns of the CSV, and algorithms that lack folds."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest
from letorbench.analysis.comparison_table import comparison_frame, render

from letorbench.analysis.comparison import Procedure, compare, marks, on_common_folds
from letorbench.analysis.results_table import partial
from letorbench.analysis.results_table import render as render_summary
from letorbench.errors import DataError
from letorbench.results.per_query import PerQuery
from letorbench.results.summary import Row, Summary


def system(algo: str, folds: tuple[int, ...], shift: float = 0.0) -> PerQuery:
    """Ten queries a fold, with the same noise for every algorithm on the same queries."""
    numbers = np.repeat(folds, 10)
    qids = np.concatenate([10 * fold + np.arange(10) for fold in folds])
    noise = np.concatenate([np.random.default_rng(fold).random(10) for fold in folds])
    own = np.concatenate([np.random.default_rng([fold, len(algo)]).random(10) for fold in folds])
    return PerQuery(algo, numbers, qids, {"map": noise + 0.1 * own + shift})


def test_the_frame_is_the_csv():
    systems = [system(name, (1, 2, 3)) for name in ("a", "bb", "ccc")]
    procedure = Procedure(test="t", correction="bh")
    pairs = compare("SET", systems, "map", None, procedure)
    frame = comparison_frame(pairs, procedure)
    rows = list(csv.DictReader(io.StringIO(render(pairs, "letor3", procedure, "csv"))))
    assert [*frame.columns, "convention"] == list(rows[0])
    assert len(frame) == len(rows) == 3
    for name in ("difference", "p_adjusted", "high", "wins"):
        assert frame[name].tolist() == [float(row[name]) for row in rows]
    assert set(frame["correction"]) == {"bh"} and frame["queries"].tolist() == [30] * 3


def test_a_partial_algorithm_is_compared_on_the_folds_that_both_have():
    whole, other, part = system("a", (1, 2, 3)), system("bb", (1, 2, 3)), system("ccc", (1, 3))
    pairs = compare("SET", [whole, other, part], "map")
    assert [(pair.a, pair.b, pair.folds) for pair in pairs] == [
        ("a", "bb", ()), ("a", "ccc", (1, 3)), ("bb", "ccc", (1, 3)),
    ]  # fmt: skip
    shared = [each.values["map"] for each in on_common_folds("SET", whole, part)]
    assert pairs[1].means == tuple(values.mean() for values in shared)
    assert pairs[1].significance.n == 20 and pairs[0].significance.n == 30
    text = render(pairs, "letor3", Procedure(), "text")
    assert "a, ccc: compared on folds 1,3 (20 queries), which both have" in text
    # the whole algorithms' draws do not depend on the partial one
    assert pairs[0].interval == compare("SET", [whole, other], "map")[0].interval


@pytest.mark.parametrize(
    ("correction", "signs"), [("none", [-1, 0, 1]), ("bh", [0, 0, 1]), ("holm", [0, 0, 1])]
)
def test_signs_and_stars_go_by_the_corrected_p(correction, signs):
    """Alone, two of three differences are significant; corrected, one of them is."""
    queries = np.arange(40)
    base = PerQuery("base", queries // 8, queries, {"map": np.full(40, 0.5)})
    spread = np.resize([1.0, -1.0], 40)

    def shifted(algo: str, shift: float) -> PerQuery:
        return PerQuery(algo, base.folds, queries, {"map": 0.5 + 0.1 * (shift + spread)})

    systems = [shifted("bad", -0.335), shifted("like", 0.05), shifted("good", 0.8), base]
    procedure = Procedure(test="t", correction=correction)
    pairs = compare("SET", systems, "map", "base", procedure)
    raw = [pair.significance.p for pair in pairs]
    assert raw[2] < 0.001 < 0.034 < raw[0] < 0.05 < raw[1]
    assert [pair.sign(procedure.alpha) for pair in pairs] == signs
    found = marks("SET", systems, ["map"], "base", procedure).signs
    assert [found[name, "map"] for name in ("bad", "like", "good")] == signs
    lines = render(pairs, "letor3", procedure, "text").splitlines()
    starred = [next("*" in x for x in lines if x.startswith(n)) for n in ("bad", "like", "good")]
    assert starred == [sign != 0 for sign in signs]


def test_no_fold_in_common():
    with pytest.raises(DataError, match="found folds 1 of a and 2,3 of bb, expected one in common"):
        compare("SET", [system("a", (1,)), system("bb", (2, 3))], "map")


SUMMARY = Summary(
    "SET",
    (
        Row("a", "letor3", 5, {"map": 0.25}),
        Row("b", "letor3", 5, {"map": 0.20, "ndcg@1": 0.5}),
        Row("c", "letor3", 3, {"map": 0.90}),
    ),
)


def test_a_partial_algorithm_says_so_in_tables_and_is_not_ranked():
    assert partial(SUMMARY) == {"c": "3 of 5 folds"}
    for form in ("text", "markdown", "latex"):
        text = render_summary(SUMMARY, ["map"], form)
        assert "c (3 of 5 folds)" in text and "partial: c (3 of 5 folds); a mean over" in text
    assert "0.2500*" in render_summary(SUMMARY, ["map"], "text")
    assert "0.9000*" not in render_summary(SUMMARY, ["map"], "text")


def test_where_all_lack_folds_they_are_still_ranked():
    rows = (Row("a", "letor3", 2, {"map": 0.25}, 5), Row("b", "letor3", 2, {"map": 0.20}, 5))
    summary = Summary("SET", rows)
    assert partial(summary) == {"a": "2 of 5 folds", "b": "2 of 5 folds"}
    text = render_summary(summary, ["map"], "text")
    assert "0.2500*" in text and text.endswith("partial: a (2 of 5 folds), b (2 of 5 folds)\n")
