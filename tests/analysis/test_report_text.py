"""What a report says first: its conclusions, its warnings, and which algorithms it draws."""

from __future__ import annotations

import re

import numpy as np
import pytest
from letorbench.analysis.report.warning_lines import warnings

from letorbench.analysis.comparison import Procedure, compare
from letorbench.analysis.report import charts
from letorbench.analysis.report.conclusions import conclusions
from letorbench.analysis.report.gather import Algorithm, Results
from letorbench.fit_warnings import FitWarning
from letorbench.results.per_query import PerQuery
from letorbench.results.summary import Row, Summary

FOLDS = np.repeat(np.arange(1, 6), 20)


def results(levels: dict[str, float], baseline: str, folds: dict[str, int] | None = None):
    """Algorithms whose queries differ by noise from their levels, and by a little among them."""
    shared = np.random.default_rng(0).normal(0.0, 0.2, 100)
    algorithms = []
    for i, (name, level) in enumerate(levels.items()):
        kept = FOLDS <= (folds or {}).get(name, 5)
        values = level + shared + np.random.default_rng(i + 1).normal(0.0, 0.02, 100)
        queries = PerQuery(name, FOLDS[kept], np.arange(100)[kept], {"map": values[kept]})
        row = Row(name, "letor3", len(np.unique(FOLDS[kept])), {"map": queries.mean("map")}, 5)
        algorithms.append(Algorithm(row, queries, {}))
    summary = Summary("SET", tuple(algorithm.row for algorithm in algorithms))
    return Results(summary, tuple(algorithms), baseline)


def test_the_best_the_runner_up_and_the_baseline():
    found = results({"low": 0.3, "top": 0.5, "near": 0.499, "middle": 0.4}, "low")
    said = conclusions(found, Procedure(test="t"), "map")
    values = {row.algo: row.values["map"] for row in found.summary.rows}
    best, second = sorted(("top", "near"), key=lambda algo: -values[algo])
    assert said[0] == (
        f"By MAP, {best} is the best of 4 algorithms on SET: {values[best]:.4f} over 5 folds, "
        f"before {second} with {values[second]:.4f}."
    )
    assert said[1].startswith(f"Its lead over {second} is not significant (+0.00")
    assert said[2].startswith("Its lead over the baseline low is significant (+0.")
    assert said[3] == (
        f"{best} is significantly better than 2 of the 3 other algorithms (paired t-test, Holm's "
        "correction, p < 0.05)."
    )
    assert len(said) == 4


def test_numbers_are_those_of_the_comparison():
    found = results({"low": 0.3, "top": 0.5}, "low")
    said = conclusions(found, Procedure(test="t"), "map")
    systems = [algorithm.queries for algorithm in found.algorithms]
    (pair,) = compare("SET", systems, "map", "top", Procedure(test="t"))
    assert (pair.a, pair.b) == ("low", "top")
    assert said[1:] == [
        f"Its lead over low, the baseline, is significant ({-pair.interval.mean:+.4f} a query, "
        f"95 % interval {-pair.interval.high:+.4f} to {-pair.interval.low:+.4f}, "
        "adjusted p < .0001)."
    ]
    assert pair.interval.mean < 0.0


def test_a_partial_algorithm_is_not_called_the_best():
    found = results({"a": 0.3, "b": 0.4, "high": 0.9}, "a", {"high": 2})
    said = conclusions(found, Procedure(test="t"), "map")
    assert said[0].startswith("By MAP, b is the best of 2 algorithms")
    assert said[-1].startswith("Partial: high (2 of 5 folds);")


def test_one_algorithm_and_several_conventions():
    alone = results({"a": 0.3}, "a")
    (said,) = conclusions(alone, Procedure(), "map")
    assert re.fullmatch(r"a reaches MAP 0\.\d{4} on SET, over 5 folds\.", said)
    rows = (Row("a", "letor3", 5, {"map": 0.5}), Row("b", "standard", 5, {"map": 0.5}))
    mixed = Results(Summary("SET", rows), (), "a")
    (said,) = conclusions(mixed, Procedure(), "map")
    assert "several conventions" in said


def warned(notices: dict[str, list[list[FitWarning]]]) -> Results:
    """Algorithms with the warnings of each fold."""
    empty = PerQuery("", np.empty(0), np.empty(0), {})
    algorithms = tuple(
        Algorithm(
            Row(name, "letor3", len(folds), {}),
            empty,
            {k: {"warnings": [n.as_json() for n in found]} for k, found in enumerate(folds, 1)},
        )
        for name, folds in notices.items()
    )
    return Results(Summary("SET", tuple(each.row for each in algorithms)), algorithms, "a")


def test_warnings_are_folded_and_the_most_serious_first():
    edge = FitWarning("grid edge", "the best C = 1 is the largest of its grid")
    slow = FitWarning("not converged", "gradient descent ended after 500 iterations")
    nan = FitWarning("no numbers", "3 of 9 test scores are NaN or infinite (NaN is ranked last)")
    text = warnings(
        warned(
            {
                "edge": [[edge], [edge], []],
                "both": [[edge, slow], [], [edge]],
                "nan": [[], [], [nan]],
                "fine": [[], [], []],
                "<b>": [[FitWarning("ties", "<new>")]],
            }
        )
    )
    assert text.startswith("<details><summary>7 warnings from 4 of 5 algorithms")
    names = re.findall(r"<strong>(.*?)</strong> \((\d)\)", text)
    assert names == [("nan", "1"), ("both", "3"), ("edge", "2"), ("&lt;b&gt;", "1")]
    both = f"<strong>both</strong> (3): {slow.kind}: {slow.text}, fold 1"
    assert f"{both}<details><summary>1 more" in text
    assert f"{edge.text}, folds 1, 3" in text and f"{edge.text}, folds 1, 2" in text
    assert "ties: &lt;new&gt;" in text
    assert warnings(warned({"a": [[]]})) == "<p>None.</p>"


@pytest.mark.parametrize("n, drawn", [(3, 3), (10, 10), (30, 9)])
def test_of_many_algorithms_the_best_and_the_baselines_are_drawn_first(n, drawn):
    levels = {f"a{i:02}": 0.3 + 0.01 * i for i in range(n - 2)}
    found = results({**levels, "regression": 0.1, "zero": 0.05}, "zero")
    names = charts.named(found, "map")
    assert len(names) == drawn and {"regression", "zero"} <= set(names)
    assert names == [name for name in [*levels, "regression", "zero"] if name in names]
    if n == 30:
        assert names[:-2] == list(levels)[-7:]
        assert charts.differences(found, names, "map").count("<summary>") == 1
