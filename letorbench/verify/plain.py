"""Every measure once more, in plain Python, one query at a time; tests compare it with the kernels.

It shares nothing with `letorbench.measures` but names and conventions.
"""

import math
from collections.abc import Callable, Sequence
from ctypes import c_float
from dataclasses import replace
from itertools import combinations, groupby, permutations, product
from typing import NamedTuple

from letorbench.conventions import Convention

#: the most orders of equal scores that are tried one by one
MOST_ORDERS = 120


class Ranked(NamedTuple):
    """A query's ranking."""

    #: from rank 1 on; 0 for a document that is not judged
    labels: list[int]
    #: the ranks of the documents that are not judged
    unjudged: set[int]
    scores: list[float]
    #: the labels of all judged documents, ranked or not
    judged: list[int]
    #: DCG@0, DCG@1, ... of the ranking, and of the judged documents in the ideal order
    dcg: list[float]
    ideal: list[float]


def values(
    measures: Sequence[str],
    labels: Sequence[int],
    scores: Sequence[float],
    rules: Convention,
    docids: Sequence[bytes] | None = None,
) -> list[float | None]:
    """Return measures of one query's documents in file order: NaN left out, None not defined here.

    A label below 0 is of a document that is not judged, the score -inf of one not retrieved.
    """
    orders: dict[Convention, list[Ranked] | None] = {}  # measures may have rules apart
    found: list[float | None] = []
    for measure in measures:
        name, _, cut = measure.partition("@")
        if name not in DEFINITIONS or rules.apart(measure) is None:
            found.append(None)
            continue
        define, k, own = DEFINITIONS[name], int(cut) if cut else None, rules.of(measure)
        if own not in orders:
            orders[own] = _orders(labels, scores, own, docids)
        each = orders[own]
        if each:
            found.append(sum([define(ranked, own, k) for ranked in each]) / len(each))
        else:
            found.append(None if each is None else math.nan)
    return found


def _orders(
    labels: Sequence[int], scores: Sequence[float], rules: Convention,
    docids: Sequence[bytes] | None,
) -> list[Ranked] | None:  # fmt: skip
    """The rankings of a query, none where it is left out; None for more than `MOST_ORDERS`."""
    retrieved = any(score > -math.inf for score in scores)
    if (rules.empty == "drop" and not any(r >= rules.relevant for r in labels)) or (
        rules.missing == "drop" and not retrieved
    ):
        return []
    if rules.ties != "mean":
        return [_ranked(labels, scores, rules, docids)]
    ranked = _ranked(labels, scores, replace(rules, ties="file"), docids)
    places = [list(g) for _, g in groupby(range(len(ranked.labels)), key=ranked.scores.__getitem__)]
    if math.prod(math.factorial(min(len(group), 20)) for group in places) > MOST_ORDERS:
        return None
    return [_moved(ranked, sum(order, ()), rules) for order in product(*map(permutations, places))]


def _moved(ranked: Ranked, order: Sequence[int], rules: Convention) -> Ranked:
    unjudged = {rank for rank, i in enumerate(order, start=1) if i + 1 in ranked.unjudged}
    labels = [ranked.labels[i] for i in order]
    return ranked._replace(labels=labels, unjudged=unjudged, dcg=_dcg(labels, rules))


def _ranked(
    labels: Sequence[int],
    scores: Sequence[float],
    rules: Convention,
    docids: Sequence[bytes] | None,
) -> Ranked:
    rows = [i for i, score in enumerate(scores) if score > -math.inf]
    if rules.unjudged == "drop":
        rows = [i for i in rows if labels[i] >= 0]
    if rules.scores == "float32":
        scores = [c_float(score).value for score in scores]
    if rules.ties == "last":
        rows.reverse()
    elif rules.ties == "docid":
        names = docids or [str(i + 1).encode() for i in range(len(labels))]
        rows.sort(key=lambda i: (names[i], -i), reverse=True)
    elif rules.ties in ("best", "worst"):
        rows.sort(key=lambda i: max(labels[i], 0) * (-1 if rules.ties == "best" else 1))
    rows.sort(key=lambda i: -scores[i])
    rows = rows[: rules.depth]
    unjudged = {rank for rank, i in enumerate(rows, start=1) if labels[i] < 0}
    ranked, judged = [max(labels[i], 0) for i in rows], [r for r in labels if r >= 0]
    dcg, ideal = _dcg(ranked, rules), _dcg(sorted(judged, reverse=True), rules)
    return Ranked(ranked, unjudged, [scores[i] for i in rows], judged, dcg, ideal)


def _gain(label: int, rules: Convention) -> float:
    if rules.gain == "linear":
        return float(label)
    return 2.0**label - 1.0 if rules.gain == "exp2" else float(rules.gain.split("/")[label])


def _dcg(labels: Sequence[int], rules: Convention) -> list[float]:
    """DCG@0, DCG@1, ... down to the last rank."""
    shift = 0 if rules.discount == "letor" else 1
    gains = {r: _gain(r, rules) for r in {*labels}}
    sums = [0.0]
    for i, r in enumerate(labels, start=1):
        sums.append(sums[-1] + gains[r] / (math.log2(i + shift) if i + shift > 2 else 1.0))
    return sums


def _at(sums: Sequence[float], k: int | None) -> float:
    """The sum down to rank k, or of the whole list."""
    return sums[-1 if k is None else min(k, len(sums) - 1)]


def _ndcg(ranked: Ranked, rules: Convention, k: int | None) -> float:
    if k is not None and k > len(ranked.labels) and rules.short_ndcg == "zero":
        return 0.0
    best = _at(ranked.ideal, k if rules.ideal == "k" else None)
    return _at(ranked.dcg, k) / best if best else float(rules.empty == "1")


def _plain_dcg(ranked: Ranked, rules: Convention, k: int | None) -> float:
    return _at(ranked.dcg, k)


def _mean_ndcg(ranked: Ranked, rules: Convention, k: int | None) -> float:
    if not ranked.ideal[-1]:
        return float(rules.empty == "1")
    values = [dcg / _at(ranked.ideal, n) for n, dcg in enumerate(ranked.dcg[1:], start=1)]
    return sum(values) / len(values) if values else 0.0


def _hits(ranked: Ranked, rules: Convention, k: int | None = None) -> list[int]:
    """The ranks of the relevant documents down to rank k."""
    return [i for i, r in enumerate(ranked.labels[:k], start=1) if r >= rules.relevant]


def _relevant(ranked: Ranked, rules: Convention) -> int:
    return sum(r >= rules.relevant for r in ranked.judged)


def _precision(ranked: Ranked, rules: Convention, k: int | None) -> float:
    assert k is not None
    found, length = len(_hits(ranked, rules, k)), len(ranked.labels)
    if k > length and rules.short_p != "k":
        return 0.0 if rules.short_p == "zero" or not length else found / length
    return found / k


def _recall(ranked: Ranked, rules: Convention, k: int | None) -> float:
    R = _relevant(ranked, rules)
    return len(_hits(ranked, rules, k)) / R if R else float(rules.empty == "1")


def _r_precision(ranked: Ranked, rules: Convention, k: int | None) -> float:
    return _recall(ranked, rules, _relevant(ranked, rules))


def _hit(ranked: Ranked, rules: Convention, k: int | None) -> float:
    return float(bool(_hits(ranked, rules, k)))


def _average_precision(ranked: Ranked, rules: Convention, k: int | None) -> float:
    R = _relevant(ranked, rules)
    if not R:
        return float(rules.empty == "1")
    total = sum(n / i for n, i in enumerate(_hits(ranked, rules, k), start=1))
    return total / (min(R, k) if k and rules.map_cut == "k" else R)


def _reciprocal_rank(ranked: Ranked, rules: Convention, k: int | None) -> float:
    ranks = _hits(ranked, rules, k)
    return 1 / ranks[0] if ranks else 0.0


def _err(ranked: Ranked, rules: Convention, k: int | None) -> float:
    """As a reader's walk down the list who stops with chance R(r)."""
    value, looking, most = 0.0, 1.0, 2.0**rules.r_max
    for i, r in enumerate(ranked.labels[:k], start=1):
        value += looking * (2**r - 1) / most / i
        looking *= 1 - (2**r - 1) / most
    return value


def _rank_biased_precision(ranked: Ranked, rules: Convention, k: int | None) -> float:
    return sum(0.2 * 0.8 ** (i - 1) for i in _hits(ranked, rules, k))


def _winner_takes_all(ranked: Ranked, rules: Convention, k: int | None) -> float:
    return _hit(ranked, rules, 1)


def _pairwise(ranked: Ranked, rules: Convention, k: int | None) -> float:
    pairs = [above > below for above, below in combinations(ranked.labels, 2) if above != below]
    return sum(pairs) / len(pairs) if pairs else float(rules.empty == "1")


def _auc(ranked: Ranked, rules: Convention, k: int | None) -> float:
    return _pairwise(
        ranked._replace(labels=[int(r >= rules.relevant) for r in ranked.labels]), rules, k
    )


def _bpref(ranked: Ranked, rules: Convention, k: int | None) -> float:
    R = _relevant(ranked, rules)
    N, above, total = len(ranked.judged) - R, 0, 0.0
    for i, r in enumerate(ranked.labels, start=1):
        if r >= rules.relevant:
            total += 1 - min(above, R) / min(R, N) if above else 1.0
        elif i not in ranked.unjudged:
            above += 1
    return total / R if R else float(rules.empty == "1")


def _tau(ranked: Ranked, rules: Convention, k: int | None) -> float:
    signs = [
        ((s > t) - (s < t), (r > q) - (r < q))
        for (s, r), (t, q) in combinations(zip(ranked.scores, ranked.labels), 2)
    ]
    both = math.prod(sum(map(abs, each)) for each in zip(*signs))
    return sum(x * y for x, y in signs) / math.sqrt(both) if signs and both else 0.0


def _rho(ranked: Ranked, rules: Convention, k: int | None) -> float:
    def ranks(values: Sequence[float]) -> list[float]:
        found = [sum(v > w for v in values) + sum(v == w for v in values) / 2 for w in values]
        return [each - sum(found) / len(found) for each in found]

    x, y = ranks(ranked.scores), ranks(ranked.labels)
    both = sum(a * a for a in x) * sum(b * b for b in y)
    return sum(a * b for a, b in zip(x, y)) / math.sqrt(both) if both else 0.0


DEFINITIONS: dict[str, Callable[[Ranked, Convention, int | None], float]] = {
    "ndcg": _ndcg,
    "dcg": _plain_dcg,
    "mean-ndcg": _mean_ndcg,
    "p": _precision,
    "recall": _recall,
    "rprec": _r_precision,
    "hit": _hit,
    "map": _average_precision,
    "mrr": _reciprocal_rank,
    "err": _err,
    "rbp": _rank_biased_precision,
    "wta": _winner_takes_all,
    "pairwise": _pairwise,
    "auc": _auc,
    "bpref": _bpref,
    "tau": _tau,
    "rho": _rho,
}
