"""Average precision or NDCG of one set of queries, prepared for repeated measuring."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from letorbench.compiled.jit import kernel, longest_query
from letorbench.compiled.threads import parallel_for
from letorbench.conventions import Convention, gains
from letorbench.errors import DataError
from letorbench.measures.measure import Measure
from letorbench.measures.rankings import Rankings

#: the fewest documents that are worth another thread
LEAST = 20_000


class PreparedMetric(NamedTuple):
    """Average precision or NDCG of one set of queries, from its relevant documents' ranks.

    It equals `query_metrics` up to rounding in a fraction of the time, for use after each boosting
    round or epoch. A hit is a relevant document; for NDCG, a document with a gain.
    """

    offsets: np.ndarray  # (n_queries + 1,)
    # rows[offsets[q]:offsets[q + 1]] are the documents of query q, its hits first
    rows: np.ndarray
    hit_offsets: np.ndarray
    # weights[hit_offsets[q]:hit_offsets[q + 1]] are gain / Z@k for NDCG@k, 1 / (hits) for MAP
    weights: np.ndarray
    precision: bool  # whether the measure is average precision
    values: np.ndarray  # by rank, from 1: the discount, or 1 / rank
    sums: np.ndarray  # by rank: the sum of the values down to it
    deepest: int  # the last rank whose value is not 0

    @staticmethod
    def of(
        labels: np.ndarray, offsets: np.ndarray, measure: Measure, convention: Convention
    ) -> PreparedMetric | None:
        """Prepare map, ndcg or ndcg@k; None for other measures and for some conventions."""
        # the rules for empty queries, ties and depths must be those of the LETOR tools
        rules = ("empty", "ties", "ideal", "scores", "missing", "depth")
        plain = all(getattr(convention, rule) == getattr(Convention, rule) for rule in rules)
        known = str(measure) == "map" or measure.name == "ndcg"
        if not (known and plain) or np.min(labels, initial=0) < 0:
            return None
        offsets, k = np.require(offsets, np.int64, ["C", "W"]), measure.cutoff
        rankings = Rankings(np.asarray(labels, np.int32), offsets, convention)
        precision = measure.name == "map"
        gain = labels if precision else gains(labels, convention.gain)
        hit = labels >= convention.relevant if precision else gain > 0.0
        query = np.repeat(np.arange(len(offsets) - 1), rankings.lengths)
        rows = np.argsort(2 * query + ~hit, kind="stable")
        hit_offsets = np.searchsorted(np.flatnonzero(hit), offsets)
        ranks = np.maximum(np.arange(rankings.lengths.max(initial=0) + 1), 1)
        if precision:
            weights = 1.0 / np.diff(hit_offsets)[query[hit]]
            values = 1.0 / ranks
        else:
            best = rankings.ideal_dcg(k)
            weights = gain[hit] / best[query[hit]]
            values = convention.discounted(ranks)
            if k is not None:
                values[k + 1 :] = 0.0
                if convention.short_ndcg == "zero":
                    weights[rankings.lengths[query[hit]] < k] = 0.0
        sums = np.append(0.0, np.cumsum(values[1:]))
        deepest = len(values) - 1 - int(np.argmax(values[::-1] != 0.0))
        return PreparedMetric(offsets, rows, hit_offsets, weights, precision, values, sums, deepest)

    @property
    def n_queries(self) -> int:
        return len(self.offsets) - 1

    def times(self, shares: np.ndarray) -> PreparedMetric:
        """Return the metric whose values are multiplied by shares (n_queries,)."""
        return self._replace(weights=self.weights * np.repeat(shares, np.diff(self.hit_offsets)))

    def __call__(self, scores: np.ndarray) -> np.ndarray:
        """Measure every query; ties are in file order. DataError if scores (n_docs,) hold NaN."""
        return self._measured(scores, 0.0, None, in_file_order=True)

    def expectation_over_ties(
        self, scores: np.ndarray, step: float = 0.0, column: np.ndarray | None = None
    ) -> np.ndarray:
        """Measure every query by scores + step * column, over all orders of equal scores."""
        return self._measured(scores, float(step), column, in_file_order=False)

    def changes(self, scores: np.ndarray, column: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Find the steps t at which the sum of the measure of scores + t * column changes.

        Returns the steps (n_changes,), ascending, and the sum just above each minus the sum just
        below. Documents that are equal for all t rank in file order.
        """
        scores, column = (np.require(each, np.float64, ["C", "W"]) for each in (scores, column))

        def part(start: int, stop: int) -> np.ndarray:
            return _changes(self, scores, column, start, stop)

        least = max(1, LEAST * self.n_queries // max(1, len(scores)))
        steps, changes = np.concatenate(parallel_for(part, self.n_queries, least), axis=1)
        order = np.argsort(steps)
        return steps[order], changes[order]

    def _measured(
        self, scores: np.ndarray, step: float, column: np.ndarray | None, in_file_order: bool
    ) -> np.ndarray:
        n_docs = int(self.offsets[-1])
        scores = np.require(scores, np.float64, ["C", "W"])
        if column is None:
            column = np.zeros(len(scores), dtype=np.float32)
        column = np.require(column, np.float32, ["C", "W"])
        if not scores.shape == column.shape == (n_docs,):
            raise DataError(f"found {len(scores)} scores, expected {n_docs}")
        measured = np.empty(self.n_queries)

        def part(start: int, stop: int) -> None:
            _measure(self, scores, step, column, in_file_order, start, stop, measured)

        parallel_for(part, self.n_queries, max(1, LEAST * self.n_queries // max(1, n_docs)))
        if np.isnan(measured).any():
            raise DataError("scores: found NaN, expected numbers")
        return measured


@kernel()
def _measure(
    prepared: PreparedMetric,
    scores: np.ndarray,
    step: float,
    column: np.ndarray,
    in_file_order: bool,
    start: int,
    stop: int,
    measured: np.ndarray,
) -> None:
    """Write to measured[start:stop] the measure by scores + step * column, NaN if one is NaN."""
    offsets, hit_offsets = prepared.offsets, prepared.hit_offsets
    longest = longest_query(offsets, start, stop)
    moved, scratch = np.empty(longest), np.empty((4, longest + 1), dtype=np.int64)
    for q in range(start, stop):
        rows = prepared.rows[offsets[q] : offsets[q + 1]]
        undefined = False
        for i in range(len(rows)):
            moved[i] = scores[rows[i]] + step * column[rows[i]]
            undefined |= moved[i] != moved[i]
        of_hits = prepared.weights[hit_offsets[q] : hit_offsets[q + 1]]
        measured[q] = _query(moved[: len(rows)], rows, of_hits, in_file_order, prepared, scratch)
        if undefined:
            measured[q] = np.nan


@kernel()
def _query(
    scores: np.ndarray,
    rows: np.ndarray,
    weights: np.ndarray,
    in_file_order: bool,
    prepared: PreparedMetric,
    scratch: np.ndarray,
) -> float:
    """Return a query's measure from the documents above each hit, as `evaluation` does."""
    hits, above, level, before = scratch[0], scratch[1], scratch[2], scratch[3]
    chosen = _high_hits(scores, len(weights), prepared.deepest, hits)
    before[: len(scores) + 1] = 0  # before[a]: how many hits have fewer than a documents above them
    for i in range(chosen):
        hit, higher, as_high = hits[i], 0, 0
        score = scores[hit]
        for j in range(len(scores)):
            higher += scores[j] > score
            as_high += scores[j] >= score
        n = as_high - higher
        if in_file_order and n > 1:
            n, row = 1, rows[hit]
            for j in range(len(scores)):
                higher += (scores[j] == score) & (rows[j] < row)
        above[i], level[i] = higher, n
        before[higher + 1] += 1
    for a in range(len(scores)):
        before[a + 1] += before[a]
    total = 0.0
    if prepared.precision and in_file_order:  # added in the order of the ranks
        for a in range(len(scores)):
            if before[a + 1] > before[a]:
                total += weights[0] * (before[a + 1] / (a + 1))
        return total
    for i in range(chosen):
        a, n = above[i], level[i]
        if a < prepared.deepest:
            A, r = before[a], before[a + 1] - before[a]
            total += weights[hits[i]] * _mean_term(a, n, A, r, prepared)
    return total


@kernel()
def _high_hits(scores: np.ndarray, n_hits: int, deepest: int, hits: np.ndarray) -> int:
    """Write those of the first n_hits that may be among the `deepest` best; return their number."""
    # Of `deepest` groups of hits each has one as high as its best, so `deepest` documents are above
    # a hit that is lower than the lowest best
    lowest = np.inf if n_hits > deepest else -np.inf
    for group in range(deepest if n_hits > deepest else 0):
        best = -np.inf
        for h in range(group * n_hits // deepest, (group + 1) * n_hits // deepest):
            best = max(best, scores[h])
        lowest = min(lowest, best)
    chosen = 0
    for h in range(n_hits):
        hits[chosen] = h
        chosen += scores[h] >= lowest
    return chosen


@kernel()
def _mean_term(a: int, n: int, A: int, r: int, prepared: PreparedMetric) -> float:
    """Return a hit's mean term, with the letters of `evaluation`."""
    if not prepared.precision:
        return prepared.values[a + 1] if n == 1 else (prepared.sums[a + n] - prepared.sums[a]) / n
    if n == 1:
        return (A + 1) / (a + 1)
    shared = prepared.sums[a + n] - prepared.sums[a]
    return ((A + 1) * shared + (r - 1) / (n - 1) * (n - (a + 1) * shared)) / n


@kernel()
def _changes(
    prepared: PreparedMetric, scores: np.ndarray, column: np.ndarray, start: int, stop: int
) -> np.ndarray:
    """Return the steps and changes of the queries start..stop - 1, unordered, (2, n_changes).

    Each hit is followed from t = -inf, where the documents with the smallest values of the column
    are above it, past every document that it meets. An exchange of two hits changes both terms.
    """
    offsets, hit_offsets = prepared.offsets, prepared.hit_offsets
    longest = longest_query(offsets, start, stop)
    meets, met = np.empty(longest), np.empty(longest, dtype=np.int64)
    changes, n = np.empty((2, 1024)), 0
    for q in range(start, stop):
        rows = prepared.rows[offsets[q] : offsets[q + 1]]
        n_hits = hit_offsets[q + 1] - hit_offsets[q]
        s, x = scores[rows], column[rows]
        for h in range(n_hits):
            above, hits_above, m = 0, 0, 0
            for d in range(len(rows)):
                higher = x[d] < x[h]
                if x[d] != x[h]:
                    meets[m], met[m] = (s[h] - s[d]) / (x[d] - x[h]), d
                    m += 1
                else:
                    higher = s[d] > s[h] or (s[d] == s[h] and rows[d] < rows[h])
                above += higher
                hits_above += higher and d < n_hits
            _sort_together(meets[:m], met)
            if n + m > changes.shape[1]:
                more = np.empty((2, 2 * (n + m)))
                for e in range(n):  # putting an array into a slice takes seconds to compile
                    more[0, e], more[1, e] = changes[0, e], changes[1, e]
                changes = more
            weight = prepared.weights[hit_offsets[q] + h]
            before = _mean_term(above, 1, hits_above, 1, prepared)
            for e in range(m):
                passed = 1 if x[met[e]] > x[h] else -1
                above += passed
                hits_above += passed if met[e] < n_hits else 0
                after = _mean_term(above, 1, hits_above, 1, prepared)
                if weight * (after - before) != 0.0:
                    changes[0, n], changes[1, n] = meets[e], weight * (after - before)
                    n += 1
                before = after
    return changes[:, :n]


@kernel()
def _sort_together(keys: np.ndarray, values: np.ndarray) -> None:
    """Sort keys, and values with them, by Shell's sort, the fastest for some tens of keys."""
    for gap in (701, 301, 132, 57, 23, 10, 4, 1):
        for i in range(gap, len(keys)):
            key, value, k = keys[i], values[i], i
            while k >= gap and keys[k - gap] > key:
                keys[k], values[k] = keys[k - gap], values[k - gap]
                k -= gap
            keys[k], values[k] = key, value
