"""Every measure once more, in plain Python, one query at a time.

It shares nothing with `letorbench.measures` but the names and the conventions: what both say is
not a slip of one. It is slow and meant to be read beside the papers; tests compare the two on
every small list.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations, groupby, permutations, product

from letorbench.conventions import Convention

#: the most orders of equal scores that are tried one by one
MOST_ORDERS = 120


def value(
    measure: str, labels: Sequence[int], scores: Sequence[float], rules: Convention
) -> float | None:
    """Return a measure, as ``ndcg@10`` or ``map``, of one query's documents in file order.

    It is NaN where the convention leaves the query out; None where the measure has no definition
    here, or where equal scores have more than `MOST_ORDERS` orders. ERR takes the convention's
    `max_label`.
    """
    name, _, cut = measure.partition("@")
    define, k = DEFINITIONS.get(name), int(cut) if cut else None
    if rules.empty == "drop" and not any(r >= rules.relevant for r in labels):
        return math.nan
    if define is None:
        return None
    if rules.ties != "mean":
        return define(_ranked(labels, scores, rules.ties), rules, k)
    down = sorted(range(len(labels)), key=lambda i: -scores[i])
    groups = [[labels[i] for i in own] for _, own in groupby(down, key=lambda i: scores[i])]
    if math.prod(math.factorial(min(len(group), 20)) for group in groups) > MOST_ORDERS:
        return None
    orders = [sum(order, ()) for order in product(*map(permutations, groups))]
    return sum(define(list(order), rules, k) for order in orders) / len(orders)


def _ranked(labels: Sequence[int], scores: Sequence[float], ties: str) -> list[int]:
    places, down = range(len(labels)), [-label for label in labels]
    among = {"file": places, "last": places[::-1], "best": down, "worst": labels}[ties]
    order = sorted(places, key=lambda i: (-scores[i], among[i]))
    return [labels[i] for i in order]


def _gain(label: int, rules: Convention) -> float:
    if rules.gain == "linear":
        return float(label)
    return 2.0**label - 1.0 if rules.gain == "exp2" else float(rules.gain.split("/")[label])


def _dcg(labels: Sequence[int], rules: Convention, k: int) -> float:
    shift = 0 if rules.discount == "letor" else 1
    total = 0.0
    for i, r in enumerate(labels[:k], start=1):
        total += _gain(r, rules) / (math.log2(i + shift) if i + shift > 2 else 1.0)
    return total


def _ndcg(labels: list[int], rules: Convention, k: int | None) -> float:
    if k is not None and k > len(labels) and rules.short_ndcg == "zero":
        return 0.0
    depth = k if k is not None and rules.ideal == "k" else len(labels)
    best = _dcg(sorted(labels, reverse=True), rules, depth)
    return _dcg(labels, rules, k or len(labels)) / best if best else float(rules.empty == "1")


def _mean_ndcg(labels: list[int], rules: Convention, k: int | None) -> float:
    rules = replace(rules, ideal="k")
    values = [_ndcg(labels, rules, n) for n in range(1, len(labels) + 1)]
    return sum(values) / len(values) if values else float(rules.empty == "1")


def _hits(labels: list[int], rules: Convention) -> list[int]:
    """The ranks of the relevant documents."""
    return [i for i, r in enumerate(labels, start=1) if r >= rules.relevant]


def _precision(labels: list[int], rules: Convention, k: int | None) -> float:
    assert k is not None
    found = sum(1 for i in _hits(labels, rules) if i <= k)
    if k > len(labels) and rules.short_p != "k":
        return 0.0 if rules.short_p == "zero" or not labels else found / len(labels)
    return found / k


def _average_precision(labels: list[int], rules: Convention, k: int | None) -> float:
    ranks = _hits(labels, rules)
    if not ranks:
        return float(rules.empty == "1")
    return sum(n / i for n, i in enumerate(ranks, start=1)) / len(ranks)


def _reciprocal_rank(labels: list[int], rules: Convention, k: int | None) -> float:
    ranks = _hits(labels, rules)
    return 1 / ranks[0] if ranks else 0.0


def _err(labels: list[int], rules: Convention, k: int | None) -> float:
    """As a reader's walk down the list who stops with chance R(r)."""
    value, looking, most = 0.0, 1.0, 2.0 ** (rules.max_label or max(labels, default=0))
    for i, r in enumerate(labels[:k], start=1):
        value += looking * (2**r - 1) / most / i
        looking *= 1 - (2**r - 1) / most
    return value


def _rank_biased_precision(labels: list[int], rules: Convention, k: int | None) -> float:
    return sum(0.2 * 0.8 ** (i - 1) for i in _hits(labels[:k], rules))


def _winner_takes_all(labels: list[int], rules: Convention, k: int | None) -> float:
    return float(bool(labels) and labels[0] >= rules.relevant)


def _pairwise(labels: list[int], rules: Convention, k: int | None) -> float:
    pairs = [above > below for above, below in combinations(labels, 2) if above != below]
    return sum(pairs) / len(pairs) if pairs else float(rules.empty == "1")


def _auc(labels: list[int], rules: Convention, k: int | None) -> float:
    return _pairwise([int(r >= rules.relevant) for r in labels], rules, k)


def _bpref(labels: list[int], rules: Convention, k: int | None) -> float:
    R = len(_hits(labels, rules))
    N, above, total = len(labels) - R, 0, 0.0
    for r in labels:
        if r < rules.relevant:
            above += 1
        else:
            total += 1 - min(above, R) / min(R, N) if above else 1.0
    return total / R if R else float(rules.empty == "1")


DEFINITIONS: dict[str, Callable[[list[int], Convention, int | None], float]] = {
    "ndcg": _ndcg,
    "mean-ndcg": _mean_ndcg,
    "p": _precision,
    "map": _average_precision,
    "mrr": _reciprocal_rank,
    "err": _err,
    "rbp": _rank_biased_precision,
    "wta": _winner_takes_all,
    "pairwise": _pairwise,
    "auc": _auc,
    "bpref": _bpref,
}
