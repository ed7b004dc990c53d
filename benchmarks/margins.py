"""RankSVM and SVM-MAP at TD2003's size, beside scikit-learn's LinearSVC on explicit pairs.

Ours: the whole of `fit`, to a certified gap of 1e-6 of the objective; only the set's sort by
label is done before. LinearSVC: the same objective, its default tolerance and choice of primal
or dual, `fit` alone on pairs made beforehand, a tenth of them, its time scaled by ten.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from benchmarks.table import Row, seconds, show
from letorbench.datasets.queryset import QuerySet
from letorbench.rankers.ranksvm import RankSVM
from letorbench.rankers.svmmap import SVMMAP

#: the share of the pairs that LinearSVC is given; its time is divided by it
SHARE = 0.1


def td2003(rng: np.random.Generator) -> QuerySet:
    """50 queries, 49,171 documents, 64 features in [0, 1] per query, 1 % relevant, binary."""
    n_docs, n_queries = 49_171, 50
    offsets = np.round(np.linspace(0, n_docs, n_queries + 1)).astype(np.int64)
    labels = (rng.random(n_docs) < 0.01).astype(np.int32)
    signal = rng.random(64) * (rng.random(64) < 0.5)
    features = rng.gamma(0.5, size=(n_docs, 64)) + 0.5 * signal * labels[:, None]
    features += 0.5 * rng.gamma(0.5, size=(n_docs, 1))  # features of a document go together
    for a, b in zip(offsets, offsets[1:]):
        low, high = features[a:b].min(axis=0), features[a:b].max(axis=0)
        features[a:b] = (features[a:b] - low) / (high - low)
    return QuerySet(features.astype(np.float32), labels, offsets, np.arange(n_queries))


def sampled_pairs(
    queries: QuerySet, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, int]:
    """x_i - x_j of a sample of the pairs, c_q of each scaled to all pairs; how many there are."""
    differences, weights, n_pairs = [], [], 0
    for a, b in zip(queries.offsets, queries.offsets[1:]):
        pairs = np.argwhere(queries.labels[a:b, None] > queries.labels[a:b]) + a
        n_pairs += len(pairs)
        kept = pairs[rng.random(len(pairs)) < SHARE]
        differences.append(queries.features[kept[:, 0]] - queries.features[kept[:, 1]])
        weights.append(np.full(len(kept), 1.0 / max(len(kept), 1)))
    return np.concatenate(differences), np.concatenate(weights), n_pairs


def peer_seconds(queries: QuerySet, C: float, rng: np.random.Generator) -> tuple[float, int, int]:
    """LinearSVC's time on the sample of pairs (made beforehand), and both numbers of pairs."""
    from sklearn.svm import LinearSVC

    x, c, n_pairs = sampled_pairs(queries, rng)
    sign = rng.choice([-1.0, 1.0], len(x))  # it asks for two classes; the loss is the same
    x = sign[:, None] * x
    svm = LinearSVC(C=C, loss="squared_hinge", fit_intercept=False, max_iter=10_000)
    return seconds(lambda: svm.fit(x, sign, sample_weight=c), 3), len(x), n_pairs


def rows() -> list[Row]:
    queries = td2003(np.random.default_rng(3))
    shape = "50 queries, 49,171 documents, 64 features"
    found = []
    grid: Sequence[Any] = RankSVM.grid["C"]
    for C in grid:
        ours = seconds(partial(RankSVM(C=C).fit_sets, queries))
        row = (f"RankSVM, squared hinge, C = {C:g}, {shape}", f"{ours * 1e3:.0f} ms")
        found.append(Row(*row, "the target alone", "<= 500 ms", ours <= 0.5))
        try:
            peer, sampled, n_pairs = peer_seconds(queries, C, np.random.default_rng(4))
        except ImportError:
            found.append(Row(*row, "scikit-learn is not installed", ">= 100 times", None))
            continue
        whole = peer * n_pairs / sampled
        against = (
            f"LinearSVC on {sampled:,} of {n_pairs:,} pairs: {peer:.2f} s, scaled to all"
            f" {whole:.1f} s, ratio {whole / ours:.0f}"
        )
        took = {"letorbench": ours, "LinearSVC on all pairs": whole} if C == 1.0 else {}
        found.append(Row(*row, against, ">= 100 times", whole >= 100 * ours, took))
    for C in (1.0, 100.0):
        ours = seconds(partial(RankSVM(C=C, loss="hinge", gap=1e-3).fit_sets, queries), 3)
        what = f"RankSVM, hinge to a gap of 1e-3, C = {C:g}, {shape}"
        found.append(Row(what, f"{ours * 1e3:.0f} ms", "-", "-", None))
    for C in (1.0, 100.0):
        ours = seconds(partial(SVMMAP(C=C).fit_sets, queries), 3)
        what = f"SVM-MAP to a gap of 1e-3, C = {C:g}, {shape}"
        found.append(Row(what, f"{ours * 1e3:.0f} ms", "-", "-", None))
    return found


if __name__ == "__main__":
    show(rows())
