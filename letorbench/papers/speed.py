"""How long an epoch of RankNet takes: pair by pair (V1), factored (V2), and by our passes.

Seconds are processor time of the one thread that trains, so that other programs do not add to
them.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.papers.permuted_cubic import permuted_cubic
from letorbench.rankers import ranker
from letorbench.solvers.stopping import Validation

#: a version's setting `passes`; "ours" stores activations and takes an exponential a document
PASSES = {"V1": "pairwise", "V2": "paper", "ours": "factored"}
#: a learning rate so small that sums over millions of pairs hardly move the scores
RATE = 1e-15
#: seconds: an epoch so long that the set-up does not matter, and a time long enough to divide
LONG, ENOUGH = 1.0, 0.1
#: epochs timed at most
MOST = 256
#: sizes without which there is no slope
FEWEST = 3
#: epochs of a lesson; the paper's left panel shows about thirty
EPOCHS = 30


@dataclass(frozen=True)
class Timing:
    """Seconds of one epoch, the best of its repetitions."""

    version: str
    layers: int
    documents: int
    seconds: float


@dataclass(frozen=True)
class Slope:
    """Of log costs against log sizes, by least squares, with a 95 % interval."""

    value: float
    low: float
    high: float


def epoch_seconds(queries: QuerySet, passes: str, layers: int) -> float:
    """Seconds that an epoch takes, without what is done once before the first epoch.

    Where one epoch is short, this is the time of several more epochs divided by their number.
    """
    queries.by_label  # noqa: B018  (kept on the set from its first use on)
    once = _fit_seconds(queries, passes, layers, 1)
    if once > LONG:
        return once
    more = 1
    while True:
        extra = _fit_seconds(queries, passes, layers, 1 + more) - once
        if extra > ENOUGH or more >= MOST:
            return max(extra, 1e-9) / more
        more *= 4


def warm_up() -> None:
    """Have the machine code made, which takes half a minute where nothing is kept of it."""
    _fit_seconds(one_query(20), PASSES["ours"], 1, 1)


def _fit_seconds(queries: QuerySet, passes: str, layers: int, epochs: int) -> float:
    net = ranker("ranknet")(  # type: ignore[call-arg]
        layers=layers, epochs=epochs, learning_rate=RATE, passes=passes
    )
    start = time.thread_time()
    net.fit_sets(queries, None, np.random.default_rng(0))
    return time.thread_time() - start


def one_query(documents: int, seed: int = 0) -> QuerySet:
    """A query of that many documents of the artificial data, 50 features."""
    (queries,) = permuted_cubic(np.random.default_rng(seed), [1], 50, documents)
    return queries


def growing(
    sizes: Sequence[int], layers: tuple[int, ...], patience: float, repeats: int = 3
) -> list[Timing]:
    """The versions' timings on queries of the sizes, in rising order.

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
            passes = PASSES[version]
            first = epoch_seconds(queries, passes, depth)
            rest = repeats - 1 if first < patience / 10.0 else 0
            again = [epoch_seconds(queries, passes, depth) for _ in range(rest)]
            best = min([first, *again])
            timings.append(Timing(version, depth, n, best))
            done = sum((t.version, t.layers) == (version, depth) for t in timings)
            if done >= FEWEST and 4.0 * best > patience:
                ended.add((version, depth))
    return timings


def slope(timings: list[Timing]) -> Slope:
    """The slope of one version's timings; FEWEST or more are needed."""
    return log_slope([t.documents for t in timings], [t.seconds for t in timings])


def log_slope(sizes: Sequence[float], costs: Sequence[float]) -> Slope:
    """The slope of log costs on log sizes; FEWEST or more are needed."""
    from scipy.stats import linregress, t

    fit = linregress(np.log(sizes), np.log(costs))
    half = float(t.ppf(0.975, len(sizes) - 2) * fit.stderr)
    return Slope(float(fit.slope), float(fit.slope) - half, float(fit.slope) + half)


def ratios(queries: QuerySet, layers: int, repeats: int = 5) -> dict[str, list[float]]:
    """V1's seconds over each other version's, all measured one after the other each time."""
    others = [version for version in PASSES if version != "V1"]
    found: dict[str, list[float]] = {version: [] for version in others}
    for _ in range(repeats):
        first = epoch_seconds(queries, PASSES["V1"], layers)
        for version in others:
            found[version].append(first / epoch_seconds(queries, PASSES[version], layers))
    return found


def pairs_per_document(queries: QuerySet) -> float:
    """Pairs of different labels within a query, over the documents."""
    blocks = queries.by_label
    sizes = np.diff(blocks.starts).astype(np.int64)
    behind = [
        int(sizes[b] * sizes[b + 1 : last].sum())
        for first, last in zip(blocks.queries[:-1], blocks.queries[1:])
        for b in range(first, last)
    ]
    return sum(behind) / queries.n_docs


@dataclass(frozen=True)
class Lesson:
    """One training: after each epoch, the seconds so far and the highest validation NDCG@10.

    version: the setting `passes`.
    """

    version: str
    seconds: tuple[float, ...]
    ndcg: tuple[float, ...]


def lesson(train: QuerySet, validation: QuerySet, passes: str, rate: float) -> Lesson:
    """Train a linear net for EPOCHS epochs; their seconds are without the validation."""
    seconds = min(epoch_seconds(train, passes, 1) for _ in range(3))
    net = ranker("ranknet")(  # type: ignore[call-arg]
        layers=1, epochs=EPOCHS, learning_rate=rate, passes=passes, patience=0
    ).fit_sets(train, Validation(validation), np.random.default_rng(0))
    curve = np.maximum.accumulate(np.asarray(net.learned.curve)).tolist()
    return Lesson(passes, tuple(seconds * (1 + i) for i in range(EPOCHS)), tuple(curve))
