"""Each loss equals the plain NumPy equations that stand above its kernel, or those here."""

import sys
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise, permutations

import numpy as np
import pytest
from conftest import every_loss, odd_queries

from letorbench.conventions import CONVENTIONS
from letorbench.datasets.queryset import QuerySet
from letorbench.errors import DataError
from letorbench.losses import (
    Loss,
    lambda_loss,
    loss,
    plackett_luce,
    smoothed,
    top_k_cross_entropy,
    weighted_pairs,
)
from letorbench.losses.base import ValueAndGradient
from letorbench.losses.consistent import bregman
from letorbench.losses.gains import query_sums
from letorbench.losses.label_order import DOCUMENT_WEIGHTS, PAIR_WEIGHTS, document_weights
from letorbench.losses.pairwise_logistic import pairwise_logistic
from letorbench.measures import parse, query_metrics

LEVELS = 4
#: the gains of the four labels by each rule
GAINS = {"exp2": (0, 1, 3, 7), "linear": (0, 1, 2, 3), "0/0.5/0.5/3.25": (0, 0.5, 0.5, 3.25)}
#: the scores and the labels of a query's documents, in file or label order, and the query's number
Reference = Callable[[np.ndarray, np.ndarray, int], tuple[float, np.ndarray]]


@pytest.fixture
def queries(rng: np.random.Generator) -> QuerySet:
    return odd_queries(rng, [1, 7, 2, 4, 40, 9, 3, 1, 3, 4], LEVELS, 6)


def check(each: Loss, queries: QuerySet, reference: Reference, by_label: bool = False) -> None:
    """Compare every query, its rows in file or label order: scores equal, far, and partly equal."""
    drawn = np.random.default_rng(5).normal(size=(8, queries.n_docs))
    spreads = np.array([0.0, 1.0, 14.0, 90.0, 2_000.0])[:, None]
    for scores in (*(spreads * drawn[:5]), *np.round(drawn[5:])):
        value, gradient = each(scores, queries)
        for q, (a, b) in enumerate(pairwise(queries.offsets)):
            rows = queries.by_label.order[a:b] if by_label else np.arange(a, b)
            expected, slope = reference(scores[rows], queries.labels[rows], q)
            assert value[q] == pytest.approx(expected, rel=1e-10, abs=1e-11)
            rounding = 1e-11 + 1e-15 * np.abs(slope).max()
            np.testing.assert_allclose(gradient[rows], slope, rtol=1e-9, atol=rounding)


def of(family: str) -> list[Loss]:
    return [each for each in every_loss() if each.name == family]


def test_ranknet(queries) -> None:
    check(loss("ranknet"), queries, lambda s, r, q: pairwise_logistic(s, r))


@pytest.mark.parametrize("each", of("listnet"), ids=str)
def test_top_k_cross_entropy(each, queries) -> None:
    short = queries.take(np.array([0, 1, 2, 3, 5, 6]))
    check(each, short, lambda s, r, q: top_k_cross_entropy.reference(s, r, each.k))


@pytest.mark.parametrize("each", of("wpl") + of("rpl"), ids=str)
@pytest.mark.parametrize("ties", ["breslow", "file"])
def test_plackett_luce(each, ties, queries) -> None:
    def reference(s, r, q):
        own = table_8(each.weight, r, ties)
        step = np.arange(len(s)) if ties == "file" else -r
        if each.name == "wpl":
            return plackett_luce.reference(s, own, step)
        value, slope = plackett_luce.reference(-s[::-1], own[::-1], -step[::-1])
        return value, -slope[::-1]

    check(loss(f"{each.name}(weight={each.weight}, ties={ties})"), queries, reference, True)


@pytest.mark.parametrize("gain", GAINS)
@pytest.mark.parametrize("each", of("pairwise") + of("wub"), ids=str)
@pytest.mark.parametrize("ties", ["breslow", "file"])
def test_weighted_pairs(each, ties, gain, queries) -> None:
    if gain != "exp2" and "R" not in each.weight:
        pytest.skip("no gain")
    kind = PAIR_WEIGHTS[each.weight]
    phi = getattr(each, "phi", "wub")

    def reference(s, r, q):
        G = gains(r, gain)
        label = {"": r, "r": r, "R": G / (1.0 + gains(np.array([LEVELS - 1]), gain))}[kind.label]
        eta = 1.0 / np.log2(2.0 + np.arange(len(r)))
        Z = G @ eta
        if ties == "breslow":
            eta = np.array([eta[r == each].mean() for each in r])
        V = np.subtract.outer(label, label) if kind.label else np.ones((len(r), len(r)))
        V = V * np.subtract.outer(eta, eta) if kind.by_place else V
        V = V / {"": 1.0, "m": len(r), "Z": Z or np.inf}[kind.per]
        return weighted_pairs.reference(s, r, V, phi, LEVELS)

    settings = {"phi": phi, "weight": each.weight, "ties": ties, "gain": gain}
    text = ", ".join(f"{key}={value}" for key, value in settings.items() if value != "wub")
    check(loss(f"{each.name}({text})"), queries, reference, True)


@pytest.mark.parametrize("gain", GAINS)
@pytest.mark.parametrize("ties", ["breslow", "file"])
def test_weights_of_documents_are_those_of_table_8(ties, gain, queries) -> None:
    for weight in DOCUMENT_WEIGHTS:
        found = document_weights(weight, ties, queries, gain)
        for a, b in pairwise(queries.offsets):
            r = np.sort(queries.labels[a:b])[::-1]
            np.testing.assert_allclose(found[a:b], table_8(weight, r, ties, gain), rtol=1e-14)


def table_8(weight: str, r: np.ndarray, ties: str, gain: str = "exp2") -> np.ndarray:
    """The weights of documents with the labels r, which fall, at the places 1, 2, ..."""
    place = np.arange(1, len(r) + 1)
    values = {
        "1": np.ones(len(r)), "r": 1.0 * r, "sqrt(r)": r**0.5,
        "(2^r-1)/2^(L-1)": gains(r, gain) / (1.0 + gains(np.array([LEVELS - 1]), gain)),
        "2^(r-1)/2^(L-1)": 2.0**r / 16.0,
        "1/pi": 1.0 / place, "1/log(1+pi)": np.log(2.0) / np.log(1.0 + place),
    }[weight]  # fmt: skip
    return values if ties == "file" else np.array([values[r == each].mean() for each in r])


@pytest.mark.parametrize("each", of("smooth"), ids=str)
def test_smoothed(each, queries) -> None:
    kind = smoothed.MEASURES.index(each.measure)

    def reference(s, r, q):
        own = {
            "ndcg": shares(r), "err": gains(r) / (1.0 + gains(np.array([LEVELS - 1]))),
            "mrr": (r == r.max()) / (r == r.max()).sum() * r.any(),
        }[each.measure]  # fmt: skip
        measure, slope = smoothed.reference(s, own, kind)
        return (1.0 - measure if r.any() else 0.0), -slope

    check(each, queries, reference)


@pytest.mark.parametrize("bound", lambda_loss.BOUNDS)
def test_lambda_loss(bound, queries) -> None:
    """Where scores differ, and as the mean over all orders where they are equal."""
    queries = queries.take(np.array([0, 2, 3, 6, 8, 9]))
    each = loss(f"lambdaloss(bound={bound}, mu=3)")

    def reference(s, r, q):
        own = shares(r)
        if len(set(s)) == len(s):
            return lambda_loss.reference(s, r, own, bound, 3.0)
        orders = (1e-13 * np.array(order) for order in permutations(range(len(s))))
        each = [lambda_loss.reference(s + order, r, own, bound, 3.0) for order in orders]
        return np.mean([value for value, _ in each]), np.mean([slope for _, slope in each], axis=0)

    check(each, queries, reference)


def neural_ndcg(s: np.ndarray, g: np.ndarray, tau: float, scalings: int) -> float:
    """The sum of the discounts times P g, P the smooth sort that is scaled as a matrix."""
    m = len(s)
    B = np.abs(np.subtract.outer(s, s)).sum(axis=1)
    logits = (np.outer(m + 1 - 2 * np.arange(1, m + 1), s) - B) / tau
    P = np.exp(logits - logits.max(axis=1, keepdims=True))
    P /= P.sum(axis=1, keepdims=True)
    for _ in range(scalings):
        P = P / P.sum(axis=0)
        P = P / P.sum(axis=1, keepdims=True)
    return float((1.0 / np.log2(2.0 + np.arange(m))) @ P @ g)


@pytest.mark.parametrize("scalings", [0, 1, 30])
def test_neural_ndcg(scalings, queries) -> None:
    """The value; its gradient is the finite difference, as every loss's."""
    each = loss(f"neural-ndcg(tau=0.5, scalings={scalings})")
    for spread in (0.0, 1.0, 20.0):
        scores = spread * np.random.default_rng(5).normal(size=queries.n_docs)
        for q, (a, b) in enumerate(pairwise(queries.offsets)):
            expected = neural_ndcg(scores[a:b], shares(queries.labels[a:b]), 0.5, scalings)
            expected = 1.0 - expected if queries.labels[a:b].any() else 0.0
            assert each(scores, queries).value[q] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", ["ndcg", "err", "mrr"])
def test_smoothed_measures_tend_to_the_measures(name, queries, rng) -> None:
    scores = 1e4 * rng.permutation(queries.n_docs).astype(np.float64)
    labels = queries.labels
    if name == "mrr":  # of the best documents, one a query
        labels = np.zeros_like(labels)
        labels[queries.offsets[1:4]] = LEVELS - 1
    part = QuerySet(queries.features, labels, queries.offsets, queries.qids)
    rules, measures = CONVENTIONS["standard"].of_data(LEVELS - 1), [parse(name)]
    hard = query_metrics(labels, scores, queries.offsets, measures, rules)[:, 0]
    relevant = np.maximum.reduceat(labels, queries.offsets[:-1]) > 0
    smooth = loss(f"smooth(measure={name})")(scores, part).value
    np.testing.assert_allclose(smooth, np.where(relevant, 1.0 - hard, 0.0), atol=1e-12)


def gains(r: np.ndarray, gain: str = "") -> np.ndarray:
    return np.array(GAINS[gain or RULE[0]], float)[r.astype(int)]


#: the rule of the gains in `VALUES`
RULE = ["exp2"]


def shares(r: np.ndarray, k: int = 0) -> np.ndarray:
    """G / Z@k, 0 where nothing is relevant."""
    ideal = np.sort(gains(r))[::-1][: k or len(r)]
    z = ideal @ (1.0 / np.log2(np.arange(2, len(ideal) + 2)))
    return gains(r) / (z or 1.0)


def smooth_err(s: np.ndarray, r: np.ndarray) -> float:
    """Equation 6 of the functionals paper with Table 1's ERR."""
    above = 1.0 / (1.0 + np.exp(np.subtract.outer(s, s)))
    np.fill_diagonal(above, 0.0)
    R = gains(r) / (1.0 + gains(np.array([LEVELS - 1.0])))
    passed = (1.0 - R * above).prod(axis=1)
    return 1.0 - (R * passed / (1.0 + above.sum(axis=1))).sum() if r.any() else 0.0


def lambda_loss_1(s: np.ndarray, r: np.ndarray) -> float:
    """NDCG-Loss1 of scores that differ."""
    G, place = shares(r), np.argsort(np.argsort(-s)) + 1
    i, j = np.nonzero(np.greater.outer(r, r))
    return (G[i] / np.log2(1.0 + place[i])) @ np.log2(1.0 + np.exp(s[j] - s[i]))


def lambda_loss_2(s: np.ndarray, r: np.ndarray, mu: float) -> float:
    """NDCG-Loss2++ of scores that differ, a pair at a time."""
    G, place, total = shares(r), np.argsort(np.argsort(-s)) + 1, 0.0
    for i, j in zip(*np.nonzero(np.greater.outer(r, r))):
        d = abs(int(place[i] - place[j]))
        rho = abs(1.0 / np.log2(1 + place[i]) - 1.0 / np.log2(1 + place[j]))
        w = (G[i] - G[j]) * (rho + mu * (1.0 / np.log2(1 + d) - 1.0 / np.log2(2 + d)))
        total += w * np.logaddexp(0.0, s[j] - s[i]) / np.log(2.0)
    return total


def chosen(s: np.ndarray, r: np.ndarray, weight: str, best_first: bool = True) -> float:
    """Equations 11 and 13 of the functionals paper, by Breslow's rule, a document at a time."""
    order = np.argsort(-r, kind="stable")
    side, total = 1.0 if best_first else -1.0, 0.0
    for i, w in zip(order, table_8(weight, r[order], "breslow", RULE[0])):
        left = side * s[(r <= r[i]) if best_first else (r >= r[i])]
        total += w * (np.logaddexp.reduce(left) - side * s[i])
    return total


def pairs(s: np.ndarray, r: np.ndarray, phi: Callable, per: float) -> float:
    """Equation 9 with the weight R_i - R_j over a number."""
    R = gains(r) / (1.0 + gains(np.array([LEVELS - 1])))
    i, j = np.nonzero(np.greater.outer(r, r))
    return ((R[i] - R[j]) * phi(s[i] - s[j])).sum() / per


def field_bound(s: np.ndarray, r: np.ndarray) -> float:
    """Equation 18 with weight 1: of each pair, over all pairs of labels."""
    m, total = len(s), 0.0
    for i in range(m):
        for j in range(i + 1, m):
            t = 2.0 / (m * (m - 1)) * (s[i] - s[j])
            all_labels = [t * np.sign(a - b) for a in range(LEVELS) for b in range(LEVELS)]
            total += np.logaddexp.reduce(all_labels) - t * np.sign(r[i] - r[j])
    return total


def smooth_place(s: np.ndarray) -> np.ndarray:
    """Equation 6 of the functionals paper: a document is half above itself, and counts once."""
    return 0.5 + (1.0 / (1.0 + np.exp(np.subtract.outer(s, s)))).sum(axis=1)


def direction(s: np.ndarray, u: np.ndarray, q: float = 2.0) -> float:
    """(s / |s|_q) . u, given as 0 at s = 0."""
    return s @ u / ((np.abs(s) ** q).sum() ** (1.0 / q) or 1.0)


def exponent(s: np.ndarray, p: float) -> float:
    return p / (p - 1.0) if p else np.log(len(s)) + 2.0


def best_documents(s: np.ndarray, r: np.ndarray) -> float:
    best = (r == r.max()) & (r > 0)
    return np.mean(np.logaddexp.reduce(s) - s[best]) if best.any() else 0.0


def minus_log_likelihood(s: np.ndarray, r: np.ndarray) -> float:
    """Equation 16 of the functionals paper with the weight r, label by label."""
    m, total = len(s), 0.0
    for i in range(m if m > 1 else 0):
        h = [2.0 / (m * (m - 1)) * np.sign(k - r) @ (s[i] - s) for k in range(LEVELS)]
        total += r[i] * (np.logaddexp.reduce(h) - h[int(r[i])])
    return total + (r[0] * np.log(LEVELS) if m == 1 else 0.0)


def approx_ndcg(s: np.ndarray, r: np.ndarray) -> float:
    """Equations 9 and 16 of Qin, Liu and Li, with alpha = 10."""
    e = np.exp(-10.0 * np.subtract.outer(s, s))
    pi = 1.0 + (e / (1.0 + e)).sum(axis=1) - 0.5
    return 1.0 - (shares(r) / np.log2(1.0 + pi)).sum() if r.any() else 0.0


#: the value of one query with one set of parameters
VALUES: dict[str, Callable[[np.ndarray, np.ndarray], float]] = {
    "ranknet": lambda s, r: np.logaddexp(0.0, np.subtract.outer(s, s).T)[
        np.greater.outer(r, r)
    ].sum(),
    "listnet": lambda s, r: np.exp(r - np.logaddexp.reduce(r)) @ (np.logaddexp.reduce(s) - s),
    "wpl(weight=1/log(1+pi))": lambda s, r: chosen(s, r, "1/log(1+pi)"),
    "wpl(weight=(2^r-1)/2^(L-1))": lambda s, r: chosen(s, r, "(2^r-1)/2^(L-1)"),
    "rpl(weight=1/pi)": lambda s, r: chosen(s, r, "1/pi", best_first=False),
    "pairwise(weight=Ri-Rj, phi=hinge)": lambda s, r: pairs(
        s, r, lambda d: np.maximum(0.0, 1.0 - d), 1.0
    ),
    "pairwise(weight=(Ri-Rj)/m, phi=quadratic)": lambda s, r: pairs(
        s, r, lambda d: (1.0 - d) ** 2, len(s)
    ),
    "wub": field_bound,
    "lambdaloss(mu=3)": lambda s, r: lambda_loss_2(s, r, 3.0),
    "smooth": lambda s, r: (
        1.0 - shares(r) @ (1.0 / np.log2(1.0 + smooth_place(s))) if r.any() else 0.0
    ),
    "approx-ndcg(alpha=10)": approx_ndcg,
    "smooth(measure=err)": smooth_err,
    "lambdaloss(bound=ndcg-loss1)": lambda_loss_1,
    "neural-ndcg(scalings=2)": lambda s, r: (
        1.0 - neural_ndcg(s, shares(r), 1.0, 2) if r.any() else 0.0
    ),
    "logistic": lambda s, r: np.logaddexp(0.0, -np.where(r >= 1, s, -s)).sum(),
    "mcl": best_documents,
    "wpll(weight=r)": minus_log_likelihood,
    "cosine": lambda s, r: 1.0 - direction(s, gains(r)) / (np.linalg.norm(gains(r)) or 1.0),
    "least-squares": lambda s, r: ((s - gains(r)) ** 2).sum(),
    "cross-entropy": lambda s, r: (
        np.exp(r - np.logaddexp.reduce(r)) @ (r - s)
        + np.logaddexp.reduce(s)
        - np.logaddexp.reduce(r)
    ),
    "cosine-ndcg(truncation=2)": lambda s, r: 1.0 - direction(s, shares(r, 2)),
    "least-squares-ndcg(truncation=1)": lambda s, r: ((s - shares(r, 1)) ** 2).sum(),
    "cross-entropy-ndcg(truncation=4)": lambda s, r: sum(
        (u * np.log(u) if u else 0.0) - u * a - u + np.exp(a) for a, u in zip(s, shares(r, 4))
    ),
    "qnorm(truncation=2)": lambda s, r: -direction(s, shares(r, 2), exponent(s, 0.0)),
    "qnorm-penalised(p=1.5, truncation=3)": lambda s, r: (
        (np.abs(s) ** 3.0).sum() ** (2.0 / 3.0) - 2.0 * s @ shares(r, 3)
    ),
}


@pytest.mark.parametrize("k", [0, 1, 3])
def test_a_bregman_divergence_has_the_gains_over_the_truncated_norm(k: int, queries, rng) -> None:
    def half_square(s: np.ndarray, own: QuerySet) -> ValueAndGradient:
        return ValueAndGradient(query_sums(s**2, own) / 2.0, s)

    s = rng.normal(size=queries.n_docs)
    value, gradient = bregman("half", "|s|^2 / 2 - s . u", half_square, k)(s, queries)
    for q, (a, b) in enumerate(pairwise(queries.offsets)):
        u = shares(queries.labels[a:b].astype(float), k)
        assert value[q] == pytest.approx(s[a:b] @ s[a:b] / 2.0 - s[a:b] @ u, rel=1e-12)
        np.testing.assert_allclose(gradient[a:b], s[a:b] - u, atol=1e-14)


@pytest.mark.parametrize("gain", GAINS)
@pytest.mark.parametrize("text", VALUES)
def test_values_are_the_formulas(text: str, gain: str, queries, rng, monkeypatch) -> None:
    monkeypatch.setattr(sys.modules[__name__], "RULE", [gain])
    each = loss(text)
    if "gain" in vars(each):
        each = replace(each, gain=gain)
    for spread in (0.0, 1.0, 8.0):
        if spread == 0.0 and each.name == "lambdaloss":
            continue
        scores = spread * rng.normal(size=queries.n_docs)
        value = each(scores, queries).value
        for q, (a, b) in enumerate(pairwise(queries.offsets)):
            expected = VALUES[text](scores[a:b], queries.labels[a:b].astype(float))
            assert value[q] == pytest.approx(expected, rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_top_k_of_labels_that_are_far_apart(k: int, rng) -> None:
    """The labels of long lists, where exp(r) overflows and exp(r - max r) vanishes."""
    for labels in ([1500, 700, 0], [3, 2_000_000, 900, 901, 1_000_000], [1, 0, 2], [40, 7]):
        r, s = np.array(labels, np.int32), rng.normal(size=len(labels))
        one = QuerySet(np.zeros((len(r), 1), np.float32), r, np.array([0, len(r)]), np.arange(1))
        two = QuerySet(np.zeros((len(r) + 2, 1), np.float32), np.append([0, 999], r),
                       np.array([0, 2, 2 + len(r)]), np.arange(2))  # fmt: skip
        value, slope = top_k_cross_entropy.reference(s, r.astype(float), k)
        for queries, rows in ((one, slice(None)), (two, slice(2, None))):
            found = loss(f"listnet(k={k})")(np.append(np.zeros(rows.start or 0), s), queries)
            assert found.value[-1] == pytest.approx(value, rel=1e-12)
            np.testing.assert_allclose(found.gradient[rows], slope, atol=1e-12)


def test_the_pseudo_likelihood_of_too_many_labels_is_refused(queries, monkeypatch) -> None:
    monkeypatch.setattr("letorbench.losses.markov_field.MOST", LEVELS * queries.n_docs - 1)
    said = "wpll: found 74 documents and labels up to 3, expected at most 295 pairs"
    with pytest.raises(DataError, match=said):
        loss("wpll")(np.zeros(queries.n_docs), queries)
