"""The three rules for equal labels, where a loss puts documents in the order of their labels."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest
from conftest import random_queries
from definitions import DEFINITIONS, LEVELS, at_place, log_sum_exp

from letorbench.datasets.queryset import QuerySet
from letorbench.losses import Loss, every_loss, loss
from letorbench.losses.base import parameters
from letorbench.losses.group_level import AGGREGATES, group_level
from letorbench.losses.label_order import random_order, with_ties

ORDERED = [each for each in every_loss() if each.reads_order]


def defined(each: Loss, scores: list[float], labels: list[int], ties: str) -> float:
    settings = {name: getattr(each, name) for name in parameters(type(each))}
    return DEFINITIONS[each.name](scores, labels, **settings | {"ties": ties})


@pytest.fixture
def queries(rng: np.random.Generator) -> QuerySet:
    """Many ties of labels; all labels equal; nothing relevant; one document; none."""
    drawn = random_queries(rng, [1, 9, 2, 6, 0, 14, 5], levels=LEVELS)
    labels = drawn.labels.copy()
    labels[1] = LEVELS - 1
    labels[drawn.offsets[3] : drawn.offsets[4]] = 2
    labels[drawn.offsets[6] :] = 0
    return QuerySet(drawn.features, labels, drawn.offsets, drawn.qids)


@pytest.mark.parametrize("each", ORDERED, ids=str)
def test_file_order_is_the_definition_and_its_gradient_the_difference(each, queries, rng) -> None:
    in_file_order = with_ties(each, "file", queries, rng)
    for spread in (0.0, 1.0, 30.0):
        scores = spread * rng.normal(size=queries.n_docs)
        value, gradient = in_file_order(scores, queries)
        for q, (a, b) in enumerate(zip(queries.offsets[:-1], queries.offsets[1:])):
            if b > a:
                expected = defined(each, scores[a:b].tolist(), queries.labels[a:b].tolist(), "file")
                assert value[q] == pytest.approx(expected, rel=1e-9, abs=1e-12)
    if "phi=exponential" in str(each):
        return
    for i, move in enumerate(1e-4 * np.eye(queries.n_docs)):
        ends = (in_file_order(scores + step, queries).value.sum() for step in (move, -move))
        assert gradient[i] == pytest.approx(-np.subtract(*list(ends)[::-1]) / 2e-4, abs=2e-6)


def every_order(labels: list[int]) -> list[list[int]]:
    """The documents by falling label, in each order that the labels allow."""
    levels = sorted(set(labels), reverse=True)
    tied = [permutations([i for i, r in enumerate(labels) if r == level]) for level in levels]
    return [[i for part in parts for i in part] for parts in product(*tied)]


@pytest.mark.parametrize("each", ORDERED, ids=str)
@pytest.mark.parametrize("labels", [[0, 3, 0, 1, 0], [2, 3, 2, 3, 0], [3, 3, 3], [1, 0, 3]])
def test_breslow_is_what_all_orders_of_the_ties_give(each, labels, rng) -> None:
    """A loss that is linear in its weights is their mean; Plackett-Luce bounds it from above."""
    scores = rng.normal(size=len(labels)).tolist()
    orders = every_order(labels)
    values = [
        defined(each, [scores[i] for i in order], [labels[i] for i in order], "file")
        for order in orders
    ]
    breslow = defined(each, scores, labels, "breslow")
    if each.name not in ("wpl", "rpl"):
        assert breslow == pytest.approx(np.mean(values), rel=1e-12)
    else:
        assert breslow >= np.mean(values) - 1e-12
    if each.name == "wpl" and each.weight == "1/pi":  # each order's weights, one denominator
        rest = [log_sum_exp([s for s, r in zip(scores, labels) if r <= label]) for label in labels]
        weights = [at_place(labels, i, lambda pi: 1.0 / pi, "breslow") for i in range(len(labels))]
        assert breslow == pytest.approx(np.dot(weights, np.subtract(rest, scores)))


def test_a_random_order_is_one_of_all_and_each_as_likely(rng) -> None:
    labels, scores = [0, 3, 0, 1, 0], rng.normal(size=5)
    features, offsets = np.zeros((5, 1), np.float32), np.array([0, 5])
    queries = QuerySet(features, np.array(labels, np.int32), offsets, np.array([1]))
    for each in (loss("wpl"), loss("wub(weight=(Ri-Rj)(ei-ej))")):
        expected = [
            defined(each, scores[order].tolist(), [labels[i] for i in order], "file")
            for order in every_order(labels)
        ]
        drawn = [
            with_ties(each, "random", queries, rng)(scores, queries).value[0] for _ in range(240)
        ]
        distance = np.abs(np.subtract.outer(drawn, expected))
        np.testing.assert_allclose(distance.min(axis=1), 0.0, atol=1e-12)
        width = 4.0 * np.std(expected) / 240**0.5 + 1e-12
        assert np.mean(drawn) == pytest.approx(np.mean(expected), abs=width)


def test_every_order_of_a_query_is_as_likely(rng) -> None:
    queries = random_queries(rng, [3, 2])
    counts: dict[tuple[int, ...], int] = {}
    for _ in range(2400):
        rows = random_order(queries, rng)
        assert set(rows[:3]) == {0, 1, 2} and set(rows[3:]) == {3, 4}
        counts[tuple(rows)] = counts.get(tuple(rows), 0) + 1
    assert len(counts) == 12 and all(130 < n < 270 for n in counts.values())


@pytest.mark.parametrize("aggregate", AGGREGATES)
def test_groups_have_no_ties_and_a_gradient(aggregate, queries, rng) -> None:
    """Of groups: the loss of a group a label, whose gradient is the finite difference."""
    scores = np.round(rng.normal(size=queries.n_docs), 4)
    grouped = group_level(loss("wpl"), aggregate, queries)
    value, gradient = grouped(scores, queries)
    for i, move in enumerate(1e-6 * np.eye(queries.n_docs)):
        rise = grouped(scores + move, queries).value - grouped(scores - move, queries).value
        assert gradient[i] == pytest.approx(rise.sum() / 2e-6, abs=1e-6)
    own = slice(queries.offsets[5], queries.offsets[6])
    s, r = scores[own], queries.labels[own]
    mean = {
        "min": np.min, "max": np.max, "mean": np.mean,
        "log-mean-exp": lambda each: np.log(np.mean(np.exp(each))),
    }[aggregate]  # fmt: skip
    levels = sorted(set(r.tolist()), reverse=True)
    expected = defined(loss("wpl"), [float(mean(s[r == k])) for k in levels], levels, "file")
    assert value[5] == pytest.approx(expected)
