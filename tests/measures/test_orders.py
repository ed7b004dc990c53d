"""The mean over all orders of equal scores: every measure against the orders themselves."""

from dataclasses import replace
from itertools import permutations, product

import numpy as np
import pytest

from letorbench.conventions import CONVENTIONS
from letorbench.measures import MEASURES, orders, parse, query_metrics

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


@pytest.mark.parametrize("convention", sorted(CONVENTIONS))
@pytest.mark.parametrize("name", sorted(n for n in MEASURES if not MEASURES[n].error))
def test_is_the_mean_over_all_orders(name, convention):
    measures, rules = [parse(form) for form in forms(name)], CONVENTIONS[convention]
    rules = replace(rules, max_label=3, ties="file")
    for number, each in enumerate(LISTS, sorted(CONVENTIONS).index(convention)):
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
    labels, offsets = np.array([0, 1, 2, 0], np.int32), np.array([0, 4])
    asked, rules = [parse("map"), parse("ndcg@2")], replace(CONVENTIONS["standard"], ties="mean")
    scores = np.array([1.0, 1.0, 1.0, 0.0])
    exact = query_metrics(labels, scores, offsets, asked, rules)
    monkeypatch.setattr(orders, "MEANS", {})
    drawn = query_metrics(labels, scores, offsets, asked, rules)
    np.testing.assert_allclose(drawn, exact, atol=0.05)
    np.testing.assert_array_equal(drawn, query_metrics(labels, scores, offsets, asked, rules))
    assert (drawn != exact).all()
