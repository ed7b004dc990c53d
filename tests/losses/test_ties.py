"""The rules for equal labels, where a loss puts documents in the order of their labels."""

from itertools import permutations, product

import numpy as np
import pytest
from conftest import every_loss, random_queries, slopes
from test_every_loss import one_query

from letorbench.errors import UsageError
from letorbench.losses import loss
from letorbench.losses.label_order import AGGREGATES, group_level, with_ties

ORDERED = [each for each in every_loss() if each.reads_order]


def in_every_order(each, scores: np.ndarray, labels: list[int]) -> list[float]:
    """The loss by the rule "file" for each order of equal labels.

    The labels carry L: no order of a query's rows changes another query.
    """
    levels = sorted(set(labels), reverse=True)
    tied = [permutations([i for i, r in enumerate(labels) if r == level]) for level in levels]
    values = []
    for parts in product(*tied):
        rows = [i for part in parts for i in part]
        queries = one_query([labels[i] for i in rows])
        in_file_order = with_ties(each, "file", queries, np.random.default_rng(0))
        values.append(in_file_order(scores[rows], queries).value[0])
    return values


@pytest.mark.parametrize("each", ORDERED, ids=str)
@pytest.mark.parametrize("labels", [[0, 3, 0, 1, 0], [2, 3, 2, 3, 0], [3, 3, 3], [1, 0, 3]])
def test_breslow_is_what_all_orders_of_the_ties_give(each, labels, rng):
    """A loss that is linear in its weights is their mean; Plackett-Luce bounds it from above."""
    scores = rng.normal(size=len(labels))
    mean = np.mean(in_every_order(each, scores, labels))
    breslow = each(scores, one_query(labels)).value[0]
    if each.name in ("wpl", "rpl"):
        assert breslow >= mean - 1e-12
    else:
        assert breslow == pytest.approx(mean, rel=1e-12)


def test_a_random_order_is_one_of_all_and_each_as_likely(rng):
    labels, scores = [0, 3, 0, 1, 0], rng.normal(size=5)
    queries = one_query(labels)
    for each in (loss("wpl"), loss("wub(weight=(Ri-Rj)(ei-ej))")):
        expected = in_every_order(each, scores, labels)
        drawn = [
            with_ties(each, "random", queries, rng)(scores, queries).value[0] for _ in range(240)
        ]
        distance = np.abs(np.subtract.outer(drawn, expected))
        np.testing.assert_allclose(distance.min(axis=1), 0.0, atol=1e-12)
        width = 4.0 * np.std(expected) / 240**0.5 + 1e-12
        assert np.mean(drawn) == pytest.approx(np.mean(expected), abs=width)
        one = with_ties(each, "random", queries, rng)
        expected = slopes(lambda s: one(s, queries).value, scores, 1e-5)
        assert one(scores, queries).gradient == pytest.approx(expected, abs=1e-6)


def test_with_ties_changes_only_what_reads_an_order(rng):
    queries = random_queries(rng, [4, 3])
    state = rng.bit_generator.state
    for each in every_loss():
        assert with_ties(each, "breslow", queries, rng) is each
        if not each.reads_order:
            assert with_ties(each, "random", queries, rng) is each
    assert rng.bit_generator.state == state
    with pytest.raises(UsageError, match="breslow, random, file"):
        with_ties(loss("wpl"), "efron", queries, rng)


@pytest.mark.parametrize("aggregate", AGGREGATES)
def test_groups_have_no_ties_and_a_gradient(aggregate, rng):
    """Of groups: the loss of a group a label, whose gradient is the finite difference."""
    queries = random_queries(rng, [1, 9, 2, 0, 14], levels=4)
    scores = np.round(rng.normal(size=queries.n_docs), 4)
    grouped = group_level(loss("wpl"), aggregate, queries)
    value, gradient = grouped(scores, queries)
    expected = slopes(lambda s: grouped(s, queries).value, scores, 1e-6)
    assert gradient == pytest.approx(expected, abs=1e-6)
    # several extreme documents share the gradient alike, as all do where scores are equal
    equal, by_mean = np.zeros(queries.n_docs), group_level(loss("wpl"), "mean", queries)
    expected = by_mean(equal, queries).gradient
    np.testing.assert_allclose(grouped(equal, queries).gradient, expected, atol=1e-14)
    mean = {
        "min": np.min, "max": np.max, "mean": np.mean,
        "log-mean-exp": lambda each: np.log(np.mean(np.exp(each))),
    }[aggregate]  # fmt: skip
    s, r = scores[1:10], queries.labels[1:10]
    levels = sorted(set(r.tolist()), reverse=True)
    groups = np.array([mean(s[r == k]) for k in levels])
    assert value[1] == pytest.approx(loss("wpl")(groups, one_query(levels)).value[0])
