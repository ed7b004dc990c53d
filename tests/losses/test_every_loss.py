"""What holds for any loss, and its definition document by document in plain NumPy.

A new loss is tested by everything here but the definitions without being named.
"""

import math
from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import asdict, replace
from inspect import signature
from itertools import pairwise, permutations

import numpy as np
import pytest
from conftest import every_loss, odd_queries, random_queries, slopes

from letorbench import parameters
from letorbench.datasets.queryset import QuerySet
from letorbench.errors import DataError, UsageError
from letorbench.losses import Loss, ValueAndGradient, choices, families, loss
from letorbench.losses.base import LONGEST_COMPARED, defaults
from letorbench.losses.consistent import bregman
from letorbench.losses.gains import query_sums
from letorbench.losses.label_order import PAIR_WEIGHTS
from letorbench.losses.lambdas import LAMBDAS, Lambda, pair_lambdas
from letorbench.rankers import names, ranker

LEVELS = 4
#: the gains of the four labels by each rule
GAINS = {"exp2": (0, 1, 3, 7), "linear": (0, 1, 2, 3), "0/0.5/0.5/3.25": (0, 0.5, 0.5, 3.25)}
#: numbers that a parameter may have besides its default, and one that it may not have
NUMBERS = {
    "truncation": ((1, 3, 10), -1), "mu": ((3.0,), -1.0), "tau": ((0.5,), 0.0),
    "scalings": ((0, 1, 2), -1), "alpha": ((10.0,), 0.0), "p": ((1.5, 2.0), 2.5),
    "gain": (tuple(GAINS)[1:], "3/1"),
}  # fmt: skip


def has_gain(each: Loss) -> bool:
    return "gain" in defaults(type(each)) and getattr(each, "weight", "R^").strip("1/r|i-jm") != ""


#: every choice of every family; with each of them every other number, gain and rule for ties
EVERY = [*every_loss()]
EVERY += [
    replace(each, **{key: value})
    for each in [*EVERY, loss("qnorm(p=1.5)"), loss("qnorm-penalised(p=1.5)")]
    for key in defaults(type(each))
    if key in NUMBERS and (key != "gain" or has_gain(each))
    for value in NUMBERS[key][0]
]
EVERY += [replace(each, ties="file") for each in EVERY if each.reads_order]
#: of the families with weights, those with the first one, a composed one and those with gains
SOME = ("1", "1/log(1+pi)", "(Ri-Rj)/m", "(2^r-1)/2^(L-1)")
FAMILIES = [each for each in EVERY if getattr(each, "weight", "1") in SOME]
#: they have no value where all scores are 0, or jump there, and so no derivative
UNDEFINED_AT_ZERO = ("cosine", "cosine-ndcg", "qnorm", "lambdaloss")


@pytest.fixture
def queries(rng):
    return odd_queries(rng, [1, 7, 2, 4, 9, 3, 1, 6], LEVELS, 5)


def one_query(labels: list[int]) -> QuerySet:
    features, offsets = np.zeros((len(labels), 1), np.float32), np.array([0, len(labels)])
    return QuerySet(features, np.array(labels, np.int32), offsets, np.array([1]))


# --- the definitions: the value of one query, of its scores s and labels r in file order


def gains(r: np.ndarray, each: Loss | None = None) -> np.ndarray:
    return np.array(GAINS[getattr(each, "gain", "exp2")], float)[r]


def label_gain(r: np.ndarray, each: Loss) -> np.ndarray:
    return gains(r, each) / (1.0 + gains(np.array([LEVELS - 1]), each))


def target(r: np.ndarray, each: Loss) -> np.ndarray:
    """G / Z@truncation, 0 if nothing is relevant."""
    ideal = np.sort(gains(r, each))[::-1][: getattr(each, "truncation", 0) or len(r)]
    return gains(r, each) / (ideal @ (1.0 / np.log2(np.arange(2, len(ideal) + 2))) or 1.0)


def by_label(r: np.ndarray, values: np.ndarray, each: Loss) -> np.ndarray:
    """Values of the places 1, 2, ...: by Breslow's rule their means over each label."""
    return values if each.ties == "file" else np.array([values[r == own].mean() for own in r])


def document_weights(r: np.ndarray, each: Loss) -> np.ndarray:
    """Table 8, for falling labels."""
    place = np.arange(1, len(r) + 1)
    values = {
        "1": np.ones(len(r)), "r": 1.0 * r, "sqrt(r)": r**0.5,
        "(2^r-1)/2^(L-1)": label_gain(r, each), "2^(r-1)/2^(L-1)": 2.0**r / 2.0**LEVELS,
        "1/pi": 1.0 / place, "1/log(1+pi)": np.log(2.0) / np.log(1.0 + place),
    }[each.weight]  # fmt: skip
    return by_label(r, values, each)


def above(s: np.ndarray) -> np.ndarray:
    """[i, j]: sigma(s_j - s_i), 0 for j = i."""
    return np.exp(-np.logaddexp(0.0, np.subtract.outer(s, s))) * (1.0 - np.eye(len(s)))


def log_placing(s: np.ndarray, placed: tuple[int, ...]) -> float:
    left, total = np.ones(len(s), bool), 0.0
    for j in placed:
        total += s[j] - np.logaddexp.reduce(s[left])
        left[j] = False
    return total


def listnet(each: Loss, s: np.ndarray, r: np.ndarray) -> float:
    every = permutations(range(len(s)), min(each.k, len(s)))
    return -sum(np.exp(log_placing(1.0 * r, ways)) * log_placing(s, ways) for ways in every)


def plackett_luce(each: Loss, s: np.ndarray, r: np.ndarray) -> float:
    """Equations 11 and 13: each document and those that are left when it is chosen."""
    order = np.argsort(-r, kind="stable")
    side = 1.0 if each.name == "wpl" else -1.0
    s, r = side * s[order], r[order]
    step, total = -r if each.ties == "breslow" else np.arange(len(r)), 0.0
    for i, w in enumerate(document_weights(r, each)):
        total += w * (np.logaddexp.reduce(s[side * step >= side * step[i]]) - s[i])
    return total


def pairs(each: Loss, s: np.ndarray, r: np.ndarray) -> float:
    """Equations 9 and 18, with the weights of Table 9."""
    order = np.argsort(-r, kind="stable")
    s, r, m = s[order], r[order], len(r)
    kind = PAIR_WEIGHTS[each.weight]
    label = {"": r, "r": r, "R": label_gain(r, each)}[kind.label]
    eta = 1.0 / np.log2(2.0 + np.arange(m))
    Z = gains(r, each) @ eta
    V = np.subtract.outer(label, label) if kind.label else np.ones((m, m))
    V = V * np.subtract.outer(*[by_label(r, eta, each)] * 2) if kind.by_place else V
    V = V / {"": 1.0, "m": m, "Z": Z or np.inf}[kind.per]
    d, upper = np.subtract.outer(s, s), np.triu(np.ones((m, m), bool), 1)
    if each.name == "wub":
        t = 2.0 / max(m * (m - 1), 1) * d
        signs = np.sign(np.subtract.outer(np.arange(LEVELS), np.arange(LEVELS))).ravel()
        values = np.logaddexp.reduce(t[..., None] * signs, axis=2)
        values -= t * np.sign(np.subtract.outer(r, r))
    else:
        bounded = np.minimum(-d, 30.0)  # from there on its tangent
        values = {
            "quadratic": (1.0 - d) ** 2, "hinge": np.maximum(0.0, 1.0 - d),
            "exponential": np.exp(bounded) * (1.0 - d - bounded),
            "logistic": np.logaddexp(0.0, -d),
        }[each.phi]  # fmt: skip
        upper &= np.greater.outer(r, r)
    return float((V * values)[upper].sum())


def smooth(each: Loss, s: np.ndarray, r: np.ndarray) -> float:
    """Equations 6 and 7, with Table 1's measures."""
    higher = above(each.alpha * s)
    place, R = 1.0 + higher.sum(axis=1), label_gain(r, each)
    measures = {
        "ndcg": target(r, each) / np.log2(1.0 + place),
        "err": R * (1.0 - R * higher).prod(axis=1) / place,
        "mrr": (r == r.max()) / (r == r.max()).sum() / place,
    }
    return 1.0 - measures[each.measure].sum() if r.any() else 0.0


def lambda_loss(each: Loss, s: np.ndarray, r: np.ndarray) -> float:
    """For equal scores the mean over all their orders."""
    if len({*s}) < len(s):
        orders = [1e-13 * np.array(order) for order in permutations(range(len(s)))]
        return np.mean([lambda_loss(each, s + order, r) for order in orders])
    g, place = target(r, each), np.argsort(np.argsort(-s)) + 1
    i, j = np.nonzero(np.greater.outer(r, r))
    D = 1.0 / np.log2(1.0 + np.arange(1, len(s) + 2))
    apart = np.abs(place[i] - place[j])
    delta, rho = D[apart - 1] - D[apart], np.abs(D[place[i] - 1] - D[place[j] - 1])
    w = {
        "ndcg-loss1": g[i] * D[place[i] - 1], "ndcg-loss2": (g[i] - g[j]) * delta,
        "ndcg-loss2++": (g[i] - g[j]) * (rho + each.mu * delta),
    }[each.bound]  # fmt: skip
    return float(w @ np.logaddexp(0.0, s[j] - s[i])) / np.log(2.0)


def neural_ndcg(each: Loss, s: np.ndarray, r: np.ndarray) -> float:
    """The sum of the discounts times P g, P the smooth sort that is scaled as a matrix."""
    m = len(s)
    B = np.abs(np.subtract.outer(s, s)).sum(axis=1)
    logits = (np.outer(m + 1 - 2 * np.arange(1, m + 1), s) - B) / each.tau
    P = np.exp(logits - logits.max(axis=1, keepdims=True))
    P /= P.sum(axis=1, keepdims=True)
    for _ in range(each.scalings):
        P = P / P.sum(axis=0)
        P = P / P.sum(axis=1, keepdims=True)
    return 1.0 - (1.0 / np.log2(2.0 + np.arange(m))) @ P @ target(r, each) if r.any() else 0.0


def pseudo_likelihood(each: Loss, s: np.ndarray, r: np.ndarray) -> float:
    """Equation 16, label by label."""
    m, total = len(s), 0.0
    order = np.argsort(-r, kind="stable")
    for i, w in zip(order, document_weights(r[order], each)):
        h = [2.0 / max(m * (m - 1), 1) * np.sign(k - r) @ (s[i] - s) for k in range(LEVELS)]
        total += w * (np.logaddexp.reduce(h) - h[r[i]])
    return total


def best(each: Loss, s: np.ndarray, r: np.ndarray) -> float:
    chosen = (r == r.max()) & (r > 0)
    return np.mean(np.logaddexp.reduce(s) - s[chosen]) if chosen.any() else 0.0


def direction(s: np.ndarray, u: np.ndarray, q: float = 2.0) -> float:
    """(s / |s|_q) . u, given as 0 at s = 0."""
    return s @ u / (q_norm(s, q) or 1.0)


def q_norm(s: np.ndarray, q: float) -> float:
    size = np.abs(s).max()
    return size * ((np.abs(s) / (size or 1.0)) ** q).sum() ** (1.0 / q)


def exponent(each: Loss, s: np.ndarray) -> float:
    return each.p / (each.p - 1.0) if each.p else np.log(len(s)) + 2.0


def kullback_leibler(each: Loss, s: np.ndarray, r: np.ndarray) -> float:
    """KL(G / Z || e^s), e^s from 30 on by its tangent."""
    u, e = target(r, each), np.exp(np.minimum(s, 30.0))
    logs = np.log(np.where(u > 0.0, u, 1.0))
    return (u * (logs - s) - u + e * (1.0 + s - np.minimum(s, 30.0))).sum()


DEFINITIONS: dict[str, Callable[[Loss, np.ndarray, np.ndarray], float]] = {
    "ranknet": lambda each, s, r: np.logaddexp(0.0, np.subtract.outer(s, s).T)[
        np.greater.outer(r, r)
    ].sum(),
    "listnet": listnet, "wpl": plackett_luce, "rpl": plackett_luce, "pairwise": pairs,
    "wub": pairs, "wpll": pseudo_likelihood, "lambdaloss": lambda_loss, "smooth": smooth,
    "neural-ndcg": neural_ndcg, "mcl": best,
    "logistic": lambda each, s, r: np.logaddexp(0.0, -np.where(r >= 1, s, -s)).sum(),
    "cosine": lambda each, s, r: (
        1.0 - direction(s, gains(r, each)) / (np.linalg.norm(gains(r, each)) or 1.0)
    ),
    "least-squares": lambda each, s, r: ((s - gains(r, each)) ** 2).sum(),
    "cross-entropy": lambda each, s, r: (
        np.exp(r - np.logaddexp.reduce(1.0 * r)) @ (r - s)
        + np.logaddexp.reduce(s) - np.logaddexp.reduce(1.0 * r)
    ),
    "cosine-ndcg": lambda each, s, r: 1.0 - direction(s, target(r, each)),
    "least-squares-ndcg": lambda each, s, r: ((s - target(r, each)) ** 2).sum(),
    "cross-entropy-ndcg": kullback_leibler,
    "qnorm": lambda each, s, r: -direction(s, target(r, each), exponent(each, s)),
    "qnorm-penalised": lambda each, s, r: (
        q_norm(s, exponent(each, s)) ** 2 - 2.0 * s @ target(r, each)
    ),
}  # fmt: skip


@pytest.mark.parametrize("each", [e for e in EVERY if e.name in DEFINITIONS], ids=str)
def test_its_value_is_the_definition(each, queries):
    if each.name == "lambdaloss":  # all orders are tried
        queries = odd_queries(np.random.default_rng(1), [4, 1, 2, 3, 4, 3], LEVELS, 5)
    elif getattr(each, "k", 1) == 1:
        queries = odd_queries(np.random.default_rng(1), [40, 3, 1, 4, 2, 3], LEVELS, 1)
    drawn = np.random.default_rng(5).normal(size=(7, queries.n_docs))
    spreads = np.array([0.0, 1.0, 14.0, 90.0, 2_000.0])[:, None]
    for scores in (*(spreads * drawn[:5]), *np.round(drawn[5:])):
        value = each(scores, queries).value
        for q, (a, b) in enumerate(pairwise(queries.offsets)):
            expected = DEFINITIONS[each.name](each, scores[a:b], queries.labels[a:b])
            assert value[q] == pytest.approx(expected, rel=1e-10, abs=1e-11), scores[a:b]


@pytest.mark.parametrize("each", FAMILIES, ids=str)
def test_the_gradient_is_the_finite_difference(each, queries, rng):
    for spread in (0.0, 1.0, 10.0, 300.0):
        drowned = "exponential" in str(each) or each.name == "cross-entropy-ndcg"
        kinked = each.name in UNDEFINED_AT_ZERO or getattr(each, "scalings", 1) == 0
        if (drowned and spread > 1.0) or (kinked and spread == 0.0):
            continue
        scores = spread * rng.normal(size=queries.n_docs)
        width = 1e-5 if each.name == "neural-ndcg" else 1e-4
        expected = slopes(lambda s: each(s, queries).value, scores, width)
        assert each(scores, queries).gradient == pytest.approx(expected, rel=1e-6, abs=2e-6)
        assert np.isfinite(each(1e3 * scores, queries).gradient).all()


WITH_LAMBDAS = [*FAMILIES, *(Lambda(name, margin=0.5) for name in LAMBDAS)]


@pytest.mark.parametrize("each", WITH_LAMBDAS, ids=str)
def test_threads_change_nothing_and_empty_queries_have_no_loss(each, monkeypatch, rng):
    monkeypatch.setattr("letorbench.losses.base.queries_a_thread", lambda queries, documents: 1)
    queries = random_queries(rng, [0, 4, 0, *[9, 2] * 20, 0], levels=LEVELS)
    scores, results = rng.normal(size=queries.n_docs), []
    for threads in ("1", "2", "3"):
        monkeypatch.setenv("LETORBENCH_THREADS", threads)
        results.append(each(scores, queries))
    if isinstance(each, Lambda):  # forces alone
        results = [(each,) for each in results]
    for other in results[1:]:
        assert all(np.array_equal(a, b) for a, b in zip(results[0], other))
    if isinstance(each, Loss):
        empty = 1.0 if each.name.startswith("cosine") else 0.0
        assert (results[0].value[queries.lengths == 0] == empty).all()


@pytest.mark.parametrize("name", sorted(LAMBDAS))
@pytest.mark.parametrize("margin", [0.0, 0.7])
@pytest.mark.parametrize(
    "neighbours, truncation, spread",
    [(False, 0, 1.0), (True, 0, 3.0), (False, 4, 3.0), (True, 4, 1.0),
     (False, 0, 0.0), (True, 4, 0.0), (False, 4, 500.0), (True, 0, 500.0)],
)  # fmt: skip
def test_forces_are_the_sum_over_pairs(name, margin, neighbours, truncation, spread, rng):
    """By Newton's third law those of a query sum to 0."""
    queries = odd_queries(rng, [1, 9, 2, 5, 14, 3], 5, 5)
    margin = margin or 0.1 * (name == "ndcg-difference")  # a difference needs one
    # rounded scores tie, and ties have the mean of all their orders
    scores = spread * np.round(rng.normal(size=queries.n_docs), 1)
    function = Lambda(name, neighbours, margin, truncation)
    force = function(scores, queries)
    for a, b in pairwise(queries.offsets):
        expected = pair_lambdas(function, scores[a:b], queries.labels[a:b])
        np.testing.assert_allclose(force[a:b], expected, rtol=1e-9, atol=1e-11)
    sums = np.add.reduceat(force, queries.offsets[:-1])
    np.testing.assert_allclose(sums, 0.0, atol=1e-9 * max(1.0, spread))


#: losses that compare each pair of a query's documents
OF_PAIRS = ("lambdaloss", "neural-ndcg", "pairwise", "ranknet", "smooth", "wub")


@pytest.mark.parametrize("each", [*map(loss, families()), loss("listnet(k=3)"), Lambda()], ids=str)
def test_a_query_of_very_many_documents_is_refused_where_pairs_are_compared(each):
    long = random_queries(np.random.default_rng(0), [3, LONGEST_COMPARED + 1], n_features=1)
    scores, refused = np.zeros(long.n_docs), pytest.raises(DataError, match="query 2: found 10001 ")
    if each == loss("listnet(k=3)"):
        refused = pytest.raises(UsageError, match="of 10001 documents, whose first 3 places")
    elif getattr(each, "name", "pairwise") not in OF_PAIRS:
        refused = nullcontext()
    with refused:
        each(scores, long)


def test_a_loss_prints_as_it_parses():
    for each in EVERY:
        assert loss(str(each)) == each
        given = ", ".join(f"{key}={value}" for key, value in asdict(each).items())
        assert loss(f" {each.name} ( {given} ) ") == each
        assert each.formula and type(each).__doc__
    sizes = {name: [len(each) for key, each in parameters.choices(family).items() if key != "ties"]
             for name, family in families().items()}  # fmt: skip
    assert Counter(each.name for each in set(every_loss())) == {
        name: math.prod(each) for name, each in sizes.items()
    }
    assert str(loss("pairwise(weight=(Ri-Rj)/m, phi=logistic)")) == "pairwise(weight=(Ri-Rj)/m)"
    assert choices(families()["smooth"]) == "measure=ndcg, err or mrr; alpha=1.0; gain=exp2"
    assert loss("approx-ndcg(alpha=10)") == loss("smooth(alpha=10)")


@pytest.mark.parametrize("text, what, nearest", [
    ("nothing", "unknown loss 'nothing'", "cosine"), ("wpl(wieght=1)", "wieght", "weight"),
    ("wpl(weight=2)", "weight of wpl '2'", "sqrt(r)"), ("wpl(weight=1", "wpl(weight=1'", "form"),
    ("listnet(k=two)", "k of listnet 'two'", "3"), ("listnet(k=4)", "'4'", "1, 2, 3"),
    ("qnorm(p=1.0)", "p=1.0", "1 < p <= 2"), ("qnorm-penalised(p=2.5)", "p=2.5", "expected"),
])  # fmt: skip
def test_a_text_that_names_no_loss_is_refused(text, what, nearest):
    with pytest.raises(UsageError) as error:
        loss(text)
    assert what in str(error.value) and nearest in str(error.value)


@pytest.mark.parametrize("family", families().values(), ids=lambda family: family.name)
def test_every_parameter_is_checked(family):
    for key in defaults(family):
        outside = [math.nan, math.inf, NUMBERS[key][1]] if key in NUMBERS else []
        for each in ("odd", None, True, *outside):
            with pytest.raises(UsageError, match=f"{key}.*(?i:{each})"):
                family(**{key: each})


def test_a_gain_is_given_by_name():
    """The parameters of a class alone have the positions."""
    for each in (*families().values(), *map(ranker, names())):
        gain = signature(each).parameters.get("gain")
        assert gain is None or gain.kind is gain.KEYWORD_ONLY


@pytest.mark.parametrize("k", [0, 1, 3])
def test_a_bregman_divergence_has_the_gains_over_the_truncated_norm(k, queries, rng):
    def half_square(s: np.ndarray, own: QuerySet) -> ValueAndGradient:
        return ValueAndGradient(query_sums(s**2, own) / 2.0, s)

    s = rng.normal(size=queries.n_docs)
    value, gradient = bregman("half", "|s|^2 / 2 - s . u", half_square, k)(s, queries)
    for q, (a, b) in enumerate(pairwise(queries.offsets)):
        u = target(queries.labels[a:b], loss(f"cosine-ndcg(truncation={k})"))
        assert value[q] == pytest.approx(s[a:b] @ s[a:b] / 2.0 - s[a:b] @ u, rel=1e-12)
        np.testing.assert_allclose(gradient[a:b], s[a:b] - u, atol=1e-14)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_top_k_of_labels_that_are_far_apart(k, rng):
    """The labels of long lists, where exp(r) overflows and exp(r - max r) vanishes."""
    each = loss(f"listnet(k={k})")
    for r in ([1500, 700, 0], [3, 2_000_000, 900, 901, 1_000_000], [1, 0, 2], [40, 7]):
        s = rng.normal(size=len(r))
        value = listnet(each, s, np.array(r))
        between = QuerySet(
            np.zeros((len(r) + 4, 1), np.float32), np.int32([0, 999, *r, 500, 0]),
            np.array([0, 2, 2 + len(r), 4 + len(r)]), np.arange(3),
        )  # fmt: skip
        for queries, n in ((one_query(r), 0), (between, 2)):
            scores, own = np.pad(s, n), slice(n, n + len(r))
            assert each(scores, queries).value[n // 2] == pytest.approx(value, rel=1e-12)
            expected = slopes(lambda s: each(s, queries).value, scores, 1e-4)
            assert each(scores, queries).gradient[own] == pytest.approx(expected[own], abs=1e-6)
