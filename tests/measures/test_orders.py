"""The mean over all orders of equal scores, and the quick measure of one set."""

from dataclasses import replace
from itertools import permutations, product

import numpy as np
import pytest
from conftest import random_queries, unlocked
from test_measures import CHANGED, TOOLS

from letorbench.conventions import CONVENTIONS, convention
from letorbench.errors import DataError
from letorbench.measures import MEASURES, PreparedMetric, orders, parse, query_metrics

LISTS = (
    [0, 1, 0, 2, 0, 1], [2, 2, 0], [1], [0], [0, 0, 0], [3, 3], [0, 1], [], [1, 0, 0, 0, 0, 0, 0],
    [1, 1, 1, 1, 1, 0], [3, 0, 2, 1, 0], [1, 0, 3, 0, 2, 0], [0, 0, 1, 0, 0, 1],
)  # fmt: skip
#: the sizes of the groups of equal scores, from the top; a list ends them early
SIZES = ((9,), (2, 3, 9), (1, 1, 2, 1, 9), (3, 1, 1, 9))


def forms(name: str) -> list[str]:
    rule = MEASURES[name].cutoff_rule
    cut = [f"{name}@{k}" for k in (1, 2, 3, 5, 10)] if rule != "none" else []
    return cut + ([name] if rule != "required" else [])


def groups_of(labels: list[int], sizes: tuple[int, ...]) -> list[list[int]]:
    ends = np.cumsum((0, *sizes))
    return [labels[a:b] for a, b in zip(ends, ends[1:]) if labels[a:b]]


@pytest.mark.parametrize("first, text", [*enumerate(["letor3", "mslr", "standard"])])
@pytest.mark.parametrize("name", sorted({*MEASURES} - {"rmse", "tau", "rho"}))
def test_is_the_mean_over_all_orders(name, first, text):
    measures, rules = [parse(form) for form in forms(name)], CONVENTIONS[text]
    rules = replace(rules, max_label=3, ties="file")
    for number, each in enumerate(LISTS, first):
        sizes = SIZES[number % len(SIZES)]
        groups = groups_of(each, sizes)
        scores = np.repeat(-np.arange(len(groups)), [len(group) for group in groups])
        labels, offsets = np.array(each, np.int32), np.array([0, len(each)])
        tied = replace(rules, ties="mean")
        found = query_metrics(labels, scores, offsets, measures, tied)[0]
        every = [sum(map(list, order), []) for order in product(*map(permutations, groups))]
        bounds = np.arange(len(every) + 1) * len(each)
        down = -np.tile(np.arange(len(each)), len(every))
        of_orders = query_metrics(np.array(every).ravel(), down, bounds, measures, rules)
        expected = of_orders.mean(axis=0)
        np.testing.assert_allclose(found, expected, atol=1e-12 if name in orders.MEANS else 0.05)


def test_a_measure_without_a_sum_is_drawn(monkeypatch):
    labels, offsets = np.array([0, 1, 2, 0, 1, 1], np.int32), np.array([0, 4, 6])
    asked, rules = [parse("map"), parse("ndcg@2")], replace(CONVENTIONS["standard"], ties="mean")
    scores = np.array([1.0, 1.0, 1.0, 0.0, 2.0, 2.0])
    exact = query_metrics(labels, scores, offsets, asked, rules)
    monkeypatch.setattr(orders, "MEANS", {})
    drawn = query_metrics(labels, scores, offsets, asked, rules)
    np.testing.assert_allclose(drawn[0], exact[0], atol=0.05)
    np.testing.assert_allclose(drawn[1], 1.0)  # every order of equal labels is the same
    np.testing.assert_array_equal(drawn, query_metrics(labels, scores, offsets, asked, rules))
    assert (drawn[0] != exact[0]).all()


STANDARD = CONVENTIONS["standard"]
QUICK = ["map", "ndcg", "ndcg@10", "ndcg@2", "ndcg@1"]
OFFSETS = np.array([0, 1, 41, 41, 43, 150, 900])


@pytest.mark.parametrize("name", [*TOOLS, "standard", *CHANGED])
@pytest.mark.parametrize("measure", [*QUICK, "ndcg@3", "err@10"])
def test_is_the_measure_or_none(name, measure, rng) -> None:
    """With ties in file order, and as the mean over all their orders."""
    queries = random_queries(rng, [1, 30, 0, 2, 57, 10, 1, 0, 400] * 5, levels=4)
    with unlocked(queries):
        queries.labels[31:33] = 0
    form, rules = parse(measure), convention(name)
    metric = PreparedMetric.of(queries.labels, queries.offsets, form, rules)
    assert (metric is None) <= (measure == "err@10" or name in CHANGED)
    for grid in (0.0, 1.0, 100.0) if metric else ():
        scores = np.round(grid * rng.normal(size=queries.n_docs))
        for found, ties in ((metric(scores), "file"), (metric.mean_of_orders(scores), "mean")):
            same = replace(rules, ties=ties)
            expected = query_metrics(queries.labels, scores, queries.offsets, [form], same)[:, 0]
            np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)


def test_nothing_is_prepared_where_a_document_is_not_judged(rng) -> None:
    labels = rng.integers(0, 3, OFFSETS[-1]).astype(np.int32)
    assert PreparedMetric.of(labels, OFFSETS, parse("map"), STANDARD) is not None
    assert PreparedMetric.of(labels, OFFSETS, parse("map@5"), STANDARD) is None
    labels[7] = -1
    for measure in QUICK:
        assert PreparedMetric.of(labels, OFFSETS, parse(measure), STANDARD) is None


@pytest.mark.parametrize("measure", QUICK)
def test_a_step_along_a_column_is_the_same_to_the_bit(measure, rng, monkeypatch) -> None:
    monkeypatch.setattr("letorbench.measures.prepared.LEAST", 100)  # so that threads share it
    labels = rng.integers(0, 3, OFFSETS[-1]).astype(np.int32)
    metric = PreparedMetric.of(labels, OFFSETS, parse(measure), STANDARD)
    for step in (-1.0, 0.1, np.pi):
        scores = np.round(rng.normal(size=OFFSETS[-1]), 1)
        column = np.round(rng.normal(size=OFFSETS[-1]), 1).astype(np.float32)
        moved = metric.mean_of_orders(scores + step * column.astype(np.float64))
        for threads in ("1", "3"):
            monkeypatch.setenv("LETORBENCH_THREADS", threads)
            np.testing.assert_array_equal(metric.mean_of_orders(scores, step, column), moved)


def test_scores_that_cannot_rank_are_refused(rng) -> None:
    queries = random_queries(rng, [3, 4])
    metric = PreparedMetric.of(queries.labels, queries.offsets, parse("map"), STANDARD)
    for method in (metric, metric.mean_of_orders):
        for row in range(7):
            with pytest.raises(DataError, match="NaN"):
                method(np.where(np.arange(7) == row, np.nan, 0.0))
        with pytest.raises(DataError, match="found 6 scores, expected 7"):
            method(np.zeros(6))
