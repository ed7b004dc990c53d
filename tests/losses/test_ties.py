"""No loss and no force depends on the order of a query's documents, unless it is told to."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest
from conftest import random_queries, unlocked
from definitions import DEFINITIONS, IN_FILE_ORDER, LEVELS, at_once

from letorbench.datasets.queryset import QuerySet
from letorbench.errors import UsageError
from letorbench.losses import LOSSES, Loss, loss
from letorbench.losses.group_level import AGGREGATES, group_level
from letorbench.losses.lambdas import LAMBDAS, Lambda
from letorbench.losses.ties import random_order, with_ties

ORDERED = sorted(name for name, each in LOSSES.items() if each.in_file_order is not None)


@pytest.fixture
def queries(rng: np.random.Generator) -> QuerySet:
    """Many ties of labels; all labels equal; nothing relevant; one document; none."""
    drawn = random_queries(rng, [1, 9, 2, 6, 0, 14, 5], levels=LEVELS)
    with unlocked(drawn):
        drawn.labels[1] = LEVELS - 1
        drawn.labels[drawn.offsets[3] : drawn.offsets[4]] = 2
        drawn.labels[drawn.offsets[6] :] = 0
    return drawn


def in_order(queries: QuerySet, rows: np.ndarray) -> QuerySet:
    return QuerySet(queries.features[rows], queries.labels[rows], queries.offsets, queries.qids)


def tied_scores(queries: QuerySet, rng: np.random.Generator, digits: int) -> np.ndarray:
    return np.round(rng.normal(size=queries.n_docs), digits)


@pytest.mark.parametrize("name", sorted(LOSSES))
@pytest.mark.parametrize("digits", [0, 1, 15])
def test_permuted_documents_have_the_same_loss_and_gradient(name, digits, queries, rng):
    scores = tied_scores(queries, rng, digits)
    value, gradient = loss(name)(scores, queries)
    for _ in range(3):
        rows = random_order(queries, rng)
        again, slope = loss(name)(scores[rows], in_order(queries, rows))
        np.testing.assert_allclose(again, value, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(slope, gradient[rows], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", [name for name in LAMBDAS if not LAMBDAS[name].needs_margin])
@pytest.mark.parametrize("neighbours", [False, True])
@pytest.mark.parametrize("truncation", [0, 3])
@pytest.mark.parametrize("digits", [0, 1, 15])
def test_permuted_documents_have_the_same_forces(
    name, neighbours, truncation, digits, queries, rng
):
    function = Lambda(name, neighbours, truncation=truncation)
    scores = tied_scores(queries, rng, digits)
    force = function(scores, queries)
    rows = random_order(queries, rng)
    again = function(scores[rows], in_order(queries, rows))
    np.testing.assert_allclose(again, force[rows], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("aggregate", AGGREGATES)
def test_permuted_documents_have_the_same_loss_of_groups(aggregate, queries, rng):
    scores = tied_scores(queries, rng, 0)
    value, gradient = group_level(loss("wpl-1"), aggregate, queries)(scores, queries)
    rows = random_order(queries, rng)
    permuted = in_order(queries, rows)
    again, slope = group_level(loss("wpl-1"), aggregate, permuted)(scores[rows], permuted)
    np.testing.assert_allclose(again, value, rtol=1e-12)
    np.testing.assert_allclose(slope, gradient[rows], rtol=1e-12, atol=1e-12)


def test_the_losses_with_an_order_are_those_with_a_definition_of_it():
    assert set(ORDERED) == set(IN_FILE_ORDER)


@pytest.mark.parametrize("name", ORDERED)
@pytest.mark.parametrize("spread", [0.0, 1.0, 30.0])
def test_file_order_is_the_definition(name, spread, queries, rng):
    scores = spread * rng.normal(size=queries.n_docs)
    value, _ = with_ties(loss(name), "file", queries, rng)(scores, queries)
    for q, (a, b) in enumerate(zip(queries.offsets[:-1], queries.offsets[1:])):
        if b > a:
            defined = IN_FILE_ORDER[name](scores[a:b].tolist(), queries.labels[a:b].tolist())
            assert value[q] == pytest.approx(defined, rel=1e-9, abs=1e-12)


def every_order(labels: list[int]) -> list[list[int]]:
    """The documents by falling label, in each order that the labels allow."""
    levels = sorted(set(labels), reverse=True)
    tied = [permutations([i for i, r in enumerate(labels) if r == level]) for level in levels]
    return [[i for part in parts for i in part] for parts in product(*tied)]


@pytest.mark.parametrize("name", ORDERED)
@pytest.mark.parametrize("labels", [[0, 3, 0, 1, 0], [2, 3, 2, 3, 0], [3, 3, 3], [1, 0, 3]])
def test_breslow_is_what_all_orders_of_the_ties_give(name, labels, rng):
    """A loss that is linear in its weights is their mean; Plackett-Luce bounds it from above."""
    scores = rng.normal(size=len(labels)).tolist()
    orders = every_order(labels)
    values = [
        IN_FILE_ORDER[name]([scores[i] for i in order], [labels[i] for i in order])
        for order in orders
    ]
    expected, breslow = np.mean(values), DEFINITIONS[name](scores, labels)
    if not name.startswith(("wpl-", "rpl-")):
        assert breslow == pytest.approx(expected, rel=1e-12)
        return
    assert breslow >= expected - 1e-12
    if name.endswith("-1"):
        ties = len(set(labels)) < len(labels)
        assert breslow > expected if ties else breslow == pytest.approx(expected)
    # the weights of every order with the first denominator of each label
    by_place = {"1/pi": lambda pi: 1.0 / pi, "1/log(1+pi)": lambda pi: 1.0 / np.log2(1 + pi)}
    weight = by_place.get(name[4:])
    if weight:
        s, r = (scores, labels) if name[0] == "w" else ([-a for a in scores], [-b for b in labels])
        weighted = [
            at_once(s, r, [weight(1 + order.index(i)) for i in range(len(r))]) for order in orders
        ]
        assert breslow == pytest.approx(np.mean(weighted), rel=1e-12)


def one_query(labels: list[int]) -> QuerySet:
    offsets = np.array([0, len(labels)])
    return QuerySet(
        np.zeros((len(labels), 1), np.float32), np.array(labels, np.int32), offsets, np.array([1])
    )


@pytest.mark.parametrize("name", ORDERED)
def test_a_random_order_is_one_of_all_and_each_as_likely(name, rng):
    labels, scores = [0, 3, 0, 1, 0], rng.normal(size=5)
    queries = one_query(labels)
    expected = [
        IN_FILE_ORDER[name](scores[order].tolist(), [labels[i] for i in order])
        for order in every_order(labels)
    ]
    found = [
        with_ties(loss(name), "random", queries, rng)(scores, queries)[0][0] for _ in range(240)
    ]
    distance = np.abs(np.subtract.outer(found, expected))
    np.testing.assert_allclose(distance.min(axis=1), 0.0, atol=1e-12)
    spread = np.std(expected)
    assert np.mean(found) == pytest.approx(np.mean(expected), abs=4.0 * spread / 240**0.5 + 1e-12)


def test_every_order_of_a_query_is_as_likely(rng):
    queries = random_queries(rng, [3, 2])
    counts: dict[tuple[int, ...], int] = {}
    for _ in range(2400):
        rows = random_order(queries, rng)
        assert set(rows[:3]) == {0, 1, 2} and set(rows[3:]) == {3, 4}
        counts[tuple(rows)] = counts.get(tuple(rows), 0) + 1
    assert len(counts) == 12 and all(130 < n < 270 for n in counts.values())


@pytest.mark.parametrize("name", ORDERED)
def test_the_gradient_of_a_random_order_is_the_finite_difference(name, queries, rng):
    scores = rng.normal(size=queries.n_docs)
    drawn = with_ties(loss(name), "random", queries, rng)
    gradient = drawn(scores, queries)[1]
    for i in range(queries.n_docs):
        up, down = scores.copy(), scores.copy()
        up[i] += 1e-5
        down[i] -= 1e-5
        rise = (drawn(up, queries)[0] - drawn(down, queries)[0]).sum() / 2e-5
        assert gradient[i] == pytest.approx(rise, rel=1e-6, abs=1e-7)


def test_other_losses_and_the_default_draw_nothing(queries, rng):
    state = rng.bit_generator.state
    for each in LOSSES.values():
        assert with_ties(each, "breslow", queries, rng) is each
        if each.in_file_order is None:
            assert with_ties(each, "random", queries, rng) is each
    assert rng.bit_generator.state == state


def test_an_unknown_rule_names_the_known(queries, rng):
    with pytest.raises(UsageError, match="breslow, random, file"):
        with_ties(loss("wpl-1"), "efron", queries, rng)
    assert isinstance(loss("wpl-1"), Loss)
