"""The mean over all orders of a query: every measure against the orders themselves."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from letorbench.conventions import CONVENTIONS
from letorbench.measures import MEASURES, parse, query_metrics, random_order
from letorbench.measures.random_order import EXPECTATIONS, random_order_metrics

LISTS = (
    [0, 1, 0, 2, 0, 1], [2, 2, 0], [1], [0], [0, 0, 0], [3, 3], [0, 1], [], [1, 0, 0, 0, 0, 0, 0],
    [1, 1, 1, 1, 1, 0], [3, 0, 2, 1, 0],
)  # fmt: skip


def forms(name: str) -> list[str]:
    rule = MEASURES[name].cutoff_rule
    cut = [f"{name}@{k}" for k in (1, 2, 3, 5, 10)] if rule != "none" else []
    return cut + ([name] if rule != "required" else [])


@pytest.mark.parametrize("convention", sorted(CONVENTIONS))
@pytest.mark.parametrize("name", sorted(MEASURES))
def test_is_the_mean_over_all_orders(name, convention):
    measures, rules = [parse(form) for form in forms(name)], CONVENTIONS[convention]
    labels = np.array(sum(LISTS, []), np.int32)
    offsets = np.append(0, np.cumsum([len(each) for each in LISTS]))
    found = random_order_metrics(labels, offsets, measures, rules)
    exact = name in EXPECTATIONS
    for q, each in enumerate(LISTS):
        orders = np.array(list(permutations(each)), np.int32)
        bounds = np.arange(len(orders) + 1) * len(each)
        # the largest label of all lists is ERR's r_max, also of a list that lacks it
        every = np.append(orders.ravel(), 3).astype(np.int32)
        scores = -np.append(np.tile(np.arange(len(each)), len(orders)), 0.0)
        of_orders = query_metrics(every, scores, np.append(bounds, len(every)), measures, rules)
        expected = of_orders[:-1].mean(axis=0)
        np.testing.assert_allclose(found[q], expected, atol=1e-12 if exact else 0.05)


def test_a_measure_without_a_sum_is_drawn(monkeypatch):
    labels, offsets = np.array([0, 1, 2, 0], np.int32), np.array([0, 4])
    asked, rules = [parse("map"), parse("ndcg@2")], CONVENTIONS["standard"]
    exact = random_order_metrics(labels, offsets, asked, rules)
    monkeypatch.setattr(random_order, "EXPECTATIONS", {})
    drawn = random_order_metrics(labels, offsets, asked, rules)
    np.testing.assert_allclose(drawn, exact, atol=0.05)
    np.testing.assert_array_equal(drawn, random_order_metrics(labels, offsets, asked, rules))
    assert (drawn != exact).all()
