"""NDCG Boost: 100 exact rounds on an OHSUMED-sized fold; a round at MSLR-WEB10K's size."""

from __future__ import annotations

import time
from statistics import median

import numpy as np

from benchmarks.table import Row, seconds, show
from letorbench.compiled.threads import thread_count
from letorbench.datasets.queryset import QuerySet
from letorbench.rankers.ndcgboost import NDCGBoost


def synthetic(
    rng: np.random.Generator,
    n_queries: int,
    docs: int,
    n_features: int,
    shares: list[float],
    decimals: int,
) -> QuerySet:
    """Queries with labels drawn by `shares` and features in [0, 1] that tell a little of them."""
    n_docs = n_queries * docs
    labels = rng.choice(len(shares), n_docs, p=shares).astype(np.int32)
    features = rng.random((n_docs, n_features), dtype=np.float32)
    features += 0.1 * rng.random(n_features, dtype=np.float32) * labels[:, None]
    features = np.round(features / features.max(), decimals)
    offsets = np.arange(0, n_docs + 1, docs, dtype=np.int64)
    return QuerySet(features, labels, offsets, np.arange(n_queries, dtype=np.int64))


def small() -> Row:
    """63 queries, 9,219 documents, 45 features: the shape of an OHSUMED training part."""
    train = synthetic(np.random.default_rng(1), 63, 146, 45, [0.70, 0.15, 0.15], 6)
    ranker = NDCGBoost(rounds=100)
    elapsed = seconds(lambda: ranker.fit_sets(train))
    return Row(
        "NDCG Boost, 100 exact rounds, 63 queries x 146 documents x 45 features",
        f"{elapsed * 1e3:.0f} ms",
        "a direct compiled version: 66 ms",
        "<= 70 ms",
        elapsed <= 0.07,
    )


def large() -> Row:
    """6,000 queries x 120 documents x 136 features, 255 bins, beside LightGBM in the same run."""
    shares = [0.52, 0.32, 0.13, 0.02, 0.01]
    train = synthetic(np.random.default_rng(2), 6_000, 120, 136, shares, 3)
    what = "NDCG Boost, a round, 720,000 documents x 136 features, 255 bins"
    short, long = 5, 25
    ours = _slope(lambda rounds: NDCGBoost(rounds=rounds, bins=255).fit_sets(train), short, long)
    try:
        import lightgbm
    except ImportError:
        return Row(what, f"{ours * 1e3:.0f} ms", "LightGBM is not installed", "<= 0.2 of it", None)
    data = lightgbm.Dataset(
        train.features, train.labels, group=train.lengths, params={"max_bin": 255}
    ).construct()
    settings = {
        "objective": "lambdarank",
        "num_leaves": 2,
        "max_bin": 255,
        "lambdarank_truncation_level": 120,
        "num_threads": thread_count(),
        "verbose": -1,
    }
    theirs = _slope(lambda rounds: lightgbm.train(settings, data, rounds), short, long)
    return Row(
        what,
        f"{ours * 1e3:.0f} ms",
        f"LightGBM lambdarank, num_leaves=2, no truncation, {thread_count()} threads: "
        f"{theirs * 1e3:.0f} ms, ratio {ours / theirs:.2f}",
        "<= 0.2 of it",
        ours <= 0.2 * theirs,
        {"letorbench": ours, "LightGBM": theirs},
    )


def _slope(train, short: int, long: int, repeats: int = 3) -> float:
    """Seconds a round: the difference of a long and a short training, so set-up cancels."""
    train(short)
    differences = []
    for _ in range(repeats):
        start = time.perf_counter()
        train(short)
        middle = time.perf_counter()
        train(long)
        differences.append(time.perf_counter() - middle - (middle - start))
    return median(differences) / (long - short)


def rows() -> list[Row]:
    return [small(), large()]


if __name__ == "__main__":
    show(rows())
