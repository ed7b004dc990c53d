"""From scores in file order to every query's value of every measure.

`expectation_over_ties` is the mean of a measure over all orders of equal scores, each equally
likely. A group of n documents with one score occupies the ranks a + 1 .. a + n. Above it are A
relevant documents, within it r. NDCG and P have the mean gain and the share of relevant documents
of the group at each of its ranks. The other measures are, with sums over the groups,

    AP        1/R  sum_{i = 1..n} r/n (A + 1 + (i - 1) (r - 1) / (n - 1)) / (a + i)
    RR        the first group with A = 0, r > 0:
              sum_i C(n - i, r - 1) / C(n, r) / (a + i)
    hit@k     the same group: 1 - C(n - r, k - a) / C(n, k - a)
    ERR@k     sum_{a + i <= k} p (p_{i-1} - p_i) / (a + i): p is the probability of reading on
              after all documents above, p_i the mean of the product of 1 - R(label) over the
              sets of i documents of the group
    bpref     1 - 1/R  sum r/(N' + 1) sum_{x = 0..N'} min(I + x, R) / min(R, N): I irrelevant
              documents are above the group, N' within it
    auc, pairwise  half the best order and half the worst
    tau, rho  take equal scores as equal

(F. McSherry, M. Najork, "Computing Information Retrieval Performance Measures Efficiently in the
Presence of Tied Scores", ECIR 2008, has NDCG, P, AP and RR.) A query that is a single group is
ranked without any knowledge, like `random`. A measure without an entry is averaged over `DRAWN`
random orders.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from math import comb

import numpy as np

from letorbench.conventions import Convention
from letorbench.errors import DataError, UsageError
from letorbench.measures.definitions import AUC, PairwiseCorrect, average_precision_divisor
from letorbench.measures.measure import Measure
from letorbench.measures.rankings import Rankings, kept_offsets, owner, ratio

#: the number of random orders for a measure without a formula
DRAWN = 1_000


def expectation_over_ties(measure: Measure, rankings: Rankings) -> np.ndarray:
    """Measure rankings that have `groups` by the mean over all orders, (n_queries,) float64."""
    if measure.name in MEANS:
        return (MEANS[measure.name] or measure.function)(rankings, measure.cutoff)
    rng = np.random.default_rng(0)
    total = np.zeros(len(rankings.lengths))
    of_group = owner(_bounds(rankings))
    for _ in range(DRAWN):
        order = np.lexsort((rng.random(len(of_group)), of_group))
        total += measure(rankings.reordered(order))
    return total / DRAWN


def _bounds(rankings: Rankings) -> np.ndarray:
    """Return the first position of each group and the end, (n_groups + 1,) int64."""
    assert rankings.groups is not None
    return rankings.groups


def _groups(rankings: Rankings) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the query, n, a and r of each group, (n_groups,) int64."""
    bounds = _bounds(rankings)
    starts, n = bounds[:-1], np.diff(bounds)
    query = np.searchsorted(rankings.offsets, starts, side="right") - 1
    r = np.diff(np.searchsorted(rankings.hits, bounds))
    return query, n, starts - rankings.offsets[query], r


def _above(values: np.ndarray, query: np.ndarray) -> np.ndarray:
    """Return the sum of the values of the query's groups before each, (n_groups,)."""
    before = np.cumsum(values) - values
    first = np.searchsorted(query, query)
    return before - before[first]


def _average_precision(rankings: Rankings, k: int | None) -> np.ndarray:
    query, n, _, r = _groups(rankings)
    group = owner(_bounds(rankings))
    A, i = _above(r, query)[group], np.arange(1, len(group) + 1) - _bounds(rankings)[group]
    n, r = n[group], r[group]
    precision = (A + 1 + (i - 1) * (r - 1) / np.maximum(n - 1, 1)) / rankings.ranks
    precision[rankings.ranks > (len(group) if k is None else k)] = 0.0
    total = rankings.sums(r / n * precision, rankings.offsets)
    return rankings.fraction(total, average_precision_divisor(rankings, k))


def _at_first(
    value: Callable[[int, int, int, int], float],
) -> Callable[[Rankings, int | None], np.ndarray]:
    """Return the mean of a measure that depends on the first relevant document alone."""

    # `value` takes a group's a, n, r and the number of its ranks that count
    def mean(rankings: Rankings, k: int | None) -> np.ndarray:
        query, n, a, r = _groups(rankings)
        first = np.flatnonzero((r > 0) & (_above(r, query) == 0))
        counted = n if k is None else np.clip(k - a, 0, n)
        facts = zip(*(each[first].tolist() for each in (a, n, r, counted)))
        values = np.zeros(len(rankings.lengths))
        values[query[first]] = [value(*each) for each in facts]
        return values

    return mean


@lru_cache(maxsize=100_000)
def _reciprocal_rank(a: int, n: int, r: int, counted: int) -> float:
    """Return the mean of 1 / rank of the first of r relevant documents at ranks a + 1 .. a + n."""
    value, none_yet = 0.0, 1.0
    for i in range(1, min(n - r + 1, counted) + 1):
        chance = none_yet * r / (n - i + 1)
        value += chance / (a + i)
        none_yet -= chance
    return value


def _hit(a: int, n: int, r: int, counted: int) -> float:
    """Return the probability that one of r relevant documents of n is among the first `counted`."""
    return 1.0 - comb(n - r, counted) / comb(n, counted)


def _err(rankings: Rankings, k: int | None) -> np.ndarray:
    chances = (1.0 - rankings.stops)[rankings.labels]
    query, n, a, _ = _groups(rankings)
    values, reading = np.zeros(len(rankings.lengths)), np.ones(len(rankings.lengths))
    for q, size, above, begin in zip(query, n, a, _bounds(rankings)):
        group = chances[begin : begin + size]
        depth = size if k is None else min(size, k - above)
        if depth > 0:
            p = _means_of_products(group, depth)
            values[q] += reading[q] * (-np.diff(p) / np.arange(above + 1, above + depth + 1)).sum()
            reading[q] *= np.prod(group)
    return values


def _means_of_products(chances: np.ndarray, depth: int) -> np.ndarray:
    """Return the mean product of the chances over all sets of 0, 1, ... depth of them."""
    p = np.zeros(depth + 1)
    p[0] = 1.0
    i = np.arange(1, depth + 1)
    for j, chance in enumerate(chances, 1):
        # chance j is in a random set of i of the first j with the probability i / j
        p[1:] = np.where(i <= j, ((j - i) * p[1:] + i * chance * p[:-1]) / j, 0.0)
    return p


def _bpref(rankings: Rankings, k: int | None) -> np.ndarray:
    query, n, a, r = _groups(rankings)
    R, N = rankings.relevant, rankings.irrelevant
    others = np.diff(rankings.misses[_bounds(rankings)])
    I = _above(others, query)  # noqa: E741
    below = np.clip(R[query] - I, 0, others + 1)  # the x with I + x < R
    total = below * I + below * (below - 1) / 2 + (others + 1 - below) * R[query]
    losses = r / (others + 1) * ratio(total, np.minimum(R, N)[query])
    return rankings.fraction(rankings.retrieved_relevant - np.bincount(query, losses, len(R)), R)


def _half_best_half_worst(measure: Measure) -> Callable[[Rankings, int | None], np.ndarray]:
    """Return the mean of a measure's best and worst order: each tied pair is right in one."""

    def mean(rankings: Rankings, k: int | None) -> np.ndarray:
        group = owner(_bounds(rankings))
        ends = [
            rankings.reordered(np.lexsort((key, group)))
            for key in (rankings.labels, -rankings.labels)
        ]
        return (measure(ends[0]) + measure(ends[1])) / 2.0

    return mean


#: the measures whose mean has a formula; None: their functions know groups of equal scores
MEANS: Mapping[str, Callable[..., np.ndarray] | None] = {
    **dict.fromkeys("dcg ndcg mean-ndcg p recall rprec tau rho rbp rmse wta".split()),
    "auc": _half_best_half_worst(AUC),
    "pairwise": _half_best_half_worst(PairwiseCorrect),
    "map": _average_precision,
    "mrr": _at_first(_reciprocal_rank),
    "hit": _at_first(_hit),
    "err": _err,
    "bpref": _bpref,
}


def rules_of(measure: Measure, convention: Convention) -> Convention:
    """Return the rules of a measure; a user's measure has those of the convention."""
    return convention if measure.source else convention.of(str(measure))


def relative_weights(
    values: np.ndarray, measures: Sequence[Measure], weights: np.ndarray | None,
    convention: Convention, labels: np.ndarray, offsets: np.ndarray,
) -> np.ndarray:  # fmt: skip
    """Return the factor of each value of `query_metrics` in a mean, of the same shape.

    It is 1, or with ``mean=weighted`` the query's weight (n_queries,) / the mean weight of the
    queries that the measure counts, which are not NaN.
    """
    out = np.ones(values.shape)
    for measure, column, counts in zip(measures, out.T, ~np.isnan(values.T)):
        if convention.mean == "plain" or not counts.any():
            continue
        if weights is None or not weights[counts].any():
            found = "no weights" if weights is None else "no weight above 0"
            raise DataError(
                f"mean=weighted: found {found}, expected weights of the queries measured"
            )
        above, rules = weights, rules_of(measure, convention)
        if rules.empty_weight == "1":
            empty = np.diff(kept_offsets(labels >= rules.relevant, offsets)) == 0
            above = np.where(empty, 1.0, weights)
        column[counts] = above[counts] / weights[counts].mean()
    return out


def query_metrics(
    labels: np.ndarray,  # (n_docs,) integers in file order; -1 if not judged
    scores: np.ndarray,  # (n_docs,); -inf if not retrieved: not ranked, though judged
    offsets: np.ndarray,  # (n_queries + 1,)
    measures: Sequence[Measure],
    convention: Convention,
    docids: np.ndarray | None = None,  # (n_docs,) bytes, for ties; by default the places, from 1
) -> np.ndarray:
    """Return every query's measures, (n_queries, n_measures); NaN if a query is left out."""
    scores = np.require(scores, np.float64, ["C", "W"])
    if not (scores.shape == np.shape(labels) == (offsets[-1],)):
        raise DataError(
            f"found {len(scores)} scores and {len(labels)} labels, expected one of each "
            f"for the {offsets[-1]} documents"
        )
    nan = np.isnan(scores)
    if nan.any():
        raise DataError(f"scores: found NaN for document {nan.argmax() + 1}, expected numbers")
    if convention.depth and convention.ties == "mean":
        raise UsageError(f"{convention.name}: depth does not go with ties=mean; drop one of them")
    offsets = np.asarray(offsets, dtype=np.int64)
    values = np.empty((len(offsets) - 1, len(measures)))
    known: dict[Convention, Rankings] = {}
    for column, measure in enumerate(measures):
        rules = rules_of(measure, convention)
        # the rules that a measure has apart change no order, except those for ties
        if rules not in known:
            like = next(
                (rankings for each, rankings in known.items() if each.ties == rules.ties), None
            )
            ranked = like or Rankings.of(labels, scores, offsets, rules, docids)
            known[rules] = replace(ranked, convention=rules)
        measured = expectation_over_ties if rules.ties == "mean" else Measure.__call__
        values[:, column] = measured(measure, known[rules])
        if rules.empty == "drop":
            values[known[rules].relevant == 0, column] = np.nan
    if convention.missing == "drop":
        values[np.diff(kept_offsets(scores > -np.inf, offsets)) == 0] = np.nan
    return values
