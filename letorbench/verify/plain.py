"""Every measure once more, in plain Python, one query at a time; tests compare it with the kernels.

It shares nothing with `letorbench.measures` but names and conventions.
"""

import math
from collections.abc import Sequence
from ctypes import c_float
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, groupby, permutations, product

from letorbench.conventions import Convention

#: the most orders of equal scores that are tried one by one
MOST_ORDERS = 120


@dataclass(frozen=True)
class Ranked:
    """A query's ranking by a convention."""

    #: from rank 1 on; 0 for a document that is not judged
    labels: list[int]
    #: the ranks of the documents that are not judged
    unjudged: set[int]
    scores: list[float]
    #: the labels of all judged documents, ranked or not
    judged: list[int]
    rules: Convention

    @cached_property
    def sums(self) -> list[float]:
        """DCG@0, DCG@1, ... down to the last rank."""
        return self._sums(self.labels)

    @cached_property
    def ideal(self) -> list[float]:
        """The same of the judged documents in the ideal order."""
        return self._sums(sorted(self.judged, reverse=True))

    def _sums(self, labels: list[int]) -> list[float]:
        shift = 0 if self.rules.discount == "letor" else 1
        gains = {r: self._gain(r) for r in {*labels}}
        sums = [0.0]
        for i, r in enumerate(labels, start=1):
            sums.append(sums[-1] + gains[r] / (math.log2(i + shift) if i + shift > 2 else 1.0))
        return sums

    def _gain(self, label: int) -> float:
        gain = self.rules.gain
        if gain == "linear":
            return float(label)
        return 2.0**label - 1.0 if gain == "exp2" else float(gain.split("/")[label])

    @property
    def n_relevant(self) -> int:
        return sum(r >= self.rules.relevant for r in self.judged)

    @property
    def of_empty(self) -> float:
        """What a query without relevant documents counts."""
        return float(self.rules.empty == "1")

    def hits(self, k: int | None = None) -> list[int]:
        """The ranks of the relevant documents down to rank k."""
        return [i for i, r in enumerate(self.labels[:k], start=1) if r >= self.rules.relevant]


class Measures(Ranked):
    """The measures of a ranking down to rank k, each a method of its name."""

    def dcg(self, k: int | None) -> float:
        return self.sums[-1 if k is None else min(k, len(self.sums) - 1)]

    def ndcg(self, k: int | None) -> float:
        if k is not None and k > len(self.labels) and self.rules.short_ndcg == "zero":
            return 0.0
        whole = k is None or self.rules.ideal != "k"
        best = self.ideal[-1 if whole else min(k or 0, len(self.ideal) - 1)]
        return self.dcg(k) / best if best else self.of_empty

    def mean_ndcg(self, k: int | None) -> float:
        if not self.ideal[-1]:
            return self.of_empty
        values = [
            dcg / self.ideal[min(n, len(self.ideal) - 1)]
            for n, dcg in enumerate(self.sums[1:], start=1)
        ]
        return sum(values) / len(values) if values else 0.0

    def p(self, k: int) -> float:
        hits, length = len(self.hits(k)), len(self.labels)
        if k > length and self.rules.short_p != "k":
            return 0.0 if self.rules.short_p == "zero" or not length else hits / length
        return hits / k

    def recall(self, k: int | None) -> float:
        return len(self.hits(k)) / self.n_relevant if self.n_relevant else self.of_empty

    def rprec(self, k: int | None) -> float:
        return self.recall(self.n_relevant)

    def hit(self, k: int | None) -> float:
        return float(bool(self.hits(k)))

    def wta(self, k: int | None) -> float:
        return self.hit(1)

    def map(self, k: int | None) -> float:
        R = self.n_relevant
        if not R:
            return self.of_empty
        total = sum(n / i for n, i in enumerate(self.hits(k), start=1))
        return total / (min(R, k) if k and self.rules.map_cut == "k" else R)

    def mrr(self, k: int | None) -> float:
        ranks = self.hits(k)
        return 1 / ranks[0] if ranks else 0.0

    def err(self, k: int | None) -> float:
        """As a reader's walk down the list who stops with chance R(r)."""
        value, looking, most = 0.0, 1.0, 2.0**self.rules.r_max
        for i, r in enumerate(self.labels[:k], start=1):
            value += looking * (2**r - 1) / most / i
            looking *= 1 - (2**r - 1) / most
        return value

    def rbp(self, k: int | None) -> float:
        return sum(0.2 * 0.8 ** (i - 1) for i in self.hits(k))

    def pairwise(self, k: int | None) -> float:
        pairs = [above > below for above, below in combinations(self.labels, 2) if above != below]
        return sum(pairs) / len(pairs) if pairs else self.of_empty

    def auc(self, k: int | None) -> float:
        binary = [int(r >= self.rules.relevant) for r in self.labels]
        return replace(self, labels=binary).pairwise(k)

    def bpref(self, k: int | None) -> float:
        R = self.n_relevant
        N, above, total = len(self.judged) - R, 0, 0.0
        for i, r in enumerate(self.labels, start=1):
            if r >= self.rules.relevant:
                total += 1 - min(above, R) / min(R, N) if above else 1.0
            elif i not in self.unjudged:
                above += 1
        return total / R if R else self.of_empty

    def tau(self, k: int | None) -> float:
        signs = [
            ((s > t) - (s < t), (r > q) - (r < q))
            for (s, r), (t, q) in combinations(zip(self.scores, self.labels), 2)
        ]
        both = math.prod(sum(abs(x) for x in each) for each in zip(*signs))
        return sum(x * y for x, y in signs) / math.sqrt(both) if signs and both else 0.0

    def rho(self, k: int | None) -> float:
        def ranks(values: Sequence[float]) -> list[float]:
            ranked = [sum(v > w for v in values) + sum(v == w for v in values) / 2 for w in values]
            return [each - sum(ranked) / len(ranked) for each in ranked]

        x, y = ranks(self.scores), ranks(self.labels)
        both = sum(a * a for a in x) * sum(b * b for b in y)
        return sum(a * b for a, b in zip(x, y)) / math.sqrt(both) if both else 0.0


#: each measure by its name in text
DEFINITIONS = {
    name.replace("_", "-"): each for name, each in vars(Measures).items() if name[0] != "_"
}


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
    orders: dict[Convention, list[Measures] | None] = {}  # measures may have rules apart
    results: list[float | None] = []
    for measure in measures:
        name, _, cut = measure.partition("@")
        if name not in DEFINITIONS or rules.apart(measure) is None:
            results.append(None)
            continue
        define, k, rules_of = DEFINITIONS[name], int(cut) if cut else None, rules.of(measure)
        if rules_of not in orders:
            orders[rules_of] = _orders(labels, scores, rules_of, docids)
        each = orders[rules_of]
        if each:
            results.append(sum([define(ranked, k) for ranked in each]) / len(each))
        else:
            results.append(None if each is None else math.nan)
    return results


def _orders(
    labels: Sequence[int], scores: Sequence[float], rules: Convention,
    docids: Sequence[bytes] | None,
) -> list[Measures] | None:  # fmt: skip
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
    return [_moved(ranked, sum(order, ())) for order in product(*map(permutations, places))]


def _moved(ranked: Measures, order: Sequence[int]) -> Measures:
    unjudged = {rank for rank, i in enumerate(order, start=1) if i + 1 in ranked.unjudged}
    labels = [ranked.labels[i] for i in order]
    return replace(ranked, labels=labels, unjudged=unjudged)


def _ranked(
    labels: Sequence[int],
    scores: Sequence[float],
    rules: Convention,
    docids: Sequence[bytes] | None,
) -> Measures:
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
    return Measures(ranked, unjudged, [scores[i] for i in rows], judged, rules)
