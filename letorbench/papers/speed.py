"""How long an epoch of RankNet takes, pair by pair (V1) and factored (V2).

Seconds are processor time of the one thread that trains, so that other programs do not add to
them.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.datasets.synthetic.cubic import cubic
from letorbench.rankers import ranker

PASSES = {"V1": "pairwise", "V2": "factored"}
#: a learning rate so small that sums over millions of pairs hardly move the scores
RATE = 1e-15
#: seconds: an epoch so long that the set-up does not matter, and a time long enough to divide
LONG, ENOUGH = 1.0, 0.1
#: epochs timed at most
MOST = 256
#: sizes without which there is no slope
FEWEST = 3


@dataclass(frozen=True)
class Timing:
    """Seconds of one epoch, the best of its repetitions."""

    version: str
    layers: int
    documents: int
    seconds: float


@dataclass(frozen=True)
class Slope:
    """Of log seconds against log documents, by least squares, with a 95 % interval."""

    value: float
    low: float
    high: float


def epoch_seconds(queries: QuerySet, version: str, layers: int) -> float:
    """Seconds that an epoch takes, without what is done once before the first epoch.

    Where one epoch is short, this is the time of several more epochs divided by their number.
    """
    queries.by_label  # noqa: B018  (kept on the set from its first use on)
    once = _fit_seconds(queries, version, layers, 1)
    if once > LONG:
        return once
    more = 1
    while True:
        extra = _fit_seconds(queries, version, layers, 1 + more) - once
        if extra > ENOUGH or more >= MOST:
            return max(extra, 1e-9) / more
        more *= 4


def _fit_seconds(queries: QuerySet, version: str, layers: int, epochs: int) -> float:
    net = ranker("ranknet")(
        layers=layers, epochs=epochs, learning_rate=RATE, passes=PASSES[version]
    )
    start = time.thread_time()
    net.fit_sets(queries, None, np.random.default_rng(0))
    return time.thread_time() - start


def one_query(documents: int, seed: int = 0) -> QuerySet:
    """A query of that many documents of the artificial data, 50 features."""
    (queries,) = cubic(np.random.default_rng(seed), [1], 50, documents)
    return queries


def growing(
    sizes: Sequence[int], layers: tuple[int, ...], patience: float, repeats: int = 3
) -> list[Timing]:
    """Both versions' timings on queries of the sizes, in rising order.

    A version stops where the next epoch, four times as long for twice the documents, would
    take more than `patience` seconds, but has FEWEST sizes in any case.
    """
    timings: list[Timing] = []
    ended: set[tuple[str, int]] = set()
    for n in sorted(sizes):
        queries = one_query(n)
        for version, depth in [(v, d) for v in PASSES for d in layers]:
            if (version, depth) in ended:
                continue
            first = epoch_seconds(queries, version, depth)
            rest = repeats - 1 if first < patience / 10.0 else 0
            best = min([first, *(epoch_seconds(queries, version, depth) for _ in range(rest))])
            timings.append(Timing(version, depth, n, best))
            done = sum((t.version, t.layers) == (version, depth) for t in timings)
            if done >= FEWEST and 4.0 * best > patience:
                ended.add((version, depth))
    return timings


def slope(timings: list[Timing]) -> Slope:
    """The slope of one version's timings; FEWEST or more are needed."""
    from scipy.stats import linregress, t

    x = np.log([timing.documents for timing in timings])
    fit = linregress(x, np.log([timing.seconds for timing in timings]))
    half = float(t.ppf(0.975, len(x) - 2) * fit.stderr)
    return Slope(float(fit.slope), float(fit.slope) - half, float(fit.slope) + half)


def ratios(queries: QuerySet, layers: int, repeats: int = 5) -> np.ndarray:
    """(repeats,) V1's seconds over V2's, each pair measured one after the other."""
    pairs = [[epoch_seconds(queries, v, layers) for v in PASSES] for _ in range(repeats)]
    return np.array([first / second for first, second in pairs])
