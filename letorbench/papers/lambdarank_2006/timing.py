"""What figure 1 of the LambdaRank paper measures: seconds and NDCG of three ways to train RankNet.

V1, pair by pair, makes two passes forward and two backward for each pair. V2 sums the forces on a
document first: n passes forward, the pairs, n passes forward again and n backward. It lacks the two
further speedups that the paper names: stored activations and one exponential per document
(section 5, footnote 3), which "ours" has. All take the same step (section 5, equations 6 and 7).

Seconds are processor time of the thread that trains, so that other programs do not count. They also
depend on where a process has its arrays and its code in memory, by up to a third for steps after
every pair. So each round of measuring is a process of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from letorbench.compiled.jit import kernel
from letorbench.datasets.queryset import QuerySet
from letorbench.datasets.synthetic.cubic import cubic, permuted_cubic
from letorbench.errors import DataError
from letorbench.experiment.backends import in_processes
from letorbench.losses.base import LONGEST_COMPARED
from letorbench.models.mlp import backward, forward
from letorbench.papers.runs import least_seconds
from letorbench.rankers.ranknet import ranknet_steps
from letorbench.solvers import sgd
from letorbench.solvers.sgd import NetState, Passes, TrainingQueries, query_features, take_step
from letorbench.solvers.stopping import Validation


@kernel()
def _pair_steps(
    online: bool, data: TrainingQueries, sequence: np.ndarray, state: NetState,
    scale: sgd.FeatureScale, rate: float, passes: sgd.Passes,
) -> float:  # fmt: skip
    """Do as V1, with one step per query, or one per pair if `online`."""
    net, change, score, force = passes.net, passes.change, passes.scores, passes.force
    hidden = np.empty((2, len(net.bias), 1), np.float32)
    order, starts, total = data.blocks.order, data.blocks.starts, 0.0
    for q in sequence:
        x, begin = query_features(data, q), data.blocks.offsets[q]
        first, last = data.blocks.queries[q], data.blocks.queries[q + 1]
        for b in range(first, last - 1):
            for p in range(starts[b], starts[b + 1]):
                for r in range(starts[b + 1], starts[last]):
                    pair = order[p] - begin, order[r] - begin
                    for k in range(2):
                        forward(x[pair[k] : pair[k] + 1], net, hidden[k], score[k : k + 1])
                    cost, pull = _pair(score[0] - score[1])
                    total += cost
                    force[0], force[1] = pull, -pull
                    for k in range(2):
                        document = x[pair[k] : pair[k] + 1]
                        backward(document, net, hidden[k], force[k : k + 1], change)
                    if online:
                        take_step(rate, scale, change, state)
        if not online:
            take_step(rate, scale, change, state)
    return total


@kernel()
def _summed_steps(
    data: TrainingQueries, sequence: np.ndarray, state: NetState, scale: sgd.FeatureScale,
    rate: float, passes: sgd.Passes,
) -> float:  # fmt: skip
    """Do as V2, with one exponential per pair and three passes per document."""
    net, hidden, change, scores, force = passes
    starts, total = data.blocks.starts, 0.0
    for q in sequence:
        x, begin = query_features(data, q), data.blocks.offsets[q]
        first, last = data.blocks.queries[q], data.blocks.queries[q + 1]
        s, f = scores[: len(x)], force[: len(x)]
        for _ in range(2):  # nothing is stored for the pass backward
            forward(x, net, hidden, s)
        f[:] = 0.0
        for b in range(first, last - 1):
            for p in range(starts[b], starts[b + 1]):
                i = data.blocks.order[p] - begin
                for r in range(starts[b + 1], starts[last]):
                    j = data.blocks.order[r] - begin
                    cost, pull = _pair(s[i] - s[j])
                    total += cost
                    f[i] += pull
                    f[j] -= pull
        backward(x, net, hidden, f, change)
        take_step(rate, scale, change, state)
    return total


@kernel()
def _pair(difference: float) -> tuple[float, float]:
    """Return log(1 + e^-difference), and the force on the more relevant document."""
    t = np.exp(-abs(difference))
    pull = (t if difference >= 0.0 else 1.0) / (1.0 + t)
    return np.log1p(t) + max(0.0, -difference), pull


#: the versions that are timed; "online" is V1 with a step after every pair
STEPS: dict[str, sgd.Steps] = {
    "V1": partial(_pair_steps, False),
    "V2": _summed_steps,
    "ours": ranknet_steps,
    "online": partial(_pair_steps, True),
}

#: the versions that are compared by their times
VERSIONS = ("V1", "V2", "ours")
#: hidden units of two layers
HIDDEN = 10
#: documents of the query in the right panel, two sizes a doubling, as many as RankNet takes; the
#: paper's are 4,000 to 512,000
SIZES = tuple(n for n in (round(500 * 2 ** (i / 2)) for i in range(21)) if n <= LONGEST_COMPARED)
NETS = {"linear": 1, "two-layer": 2}
#: queries, documents of each, features, and how many of these the labels depend on: sections 6.1
#: and 6.4
QUERIES, LENGTHS, FEATURES, RELEVANT = 1_000, (20, 32), 367, 50
#: the rate and the epochs of a lesson, of which the paper's left panel shows about thirty; and a
#: rate so small that sums over millions of pairs hardly move the scores
RATE, EPOCHS, STILL = 1e-5, 30, 1e-15
#: sizes without which there is no slope
FEWEST = 3
#: rounds, each of which gives every slope and ratio; the seconds that a size is timed in a round
ROUNDS, ENOUGH = 5, 0.05


def epoch_seconds(queries: QuerySet, version: str, net: str, enough: float = 0.5) -> float:
    """The seconds of an epoch, without the preparation before the first one."""
    rng, layers = np.random.default_rng(0), NETS[net]
    data, scale = TrainingQueries.of(queries), sgd.feature_scale(queries, False)
    state = NetState.draw(HIDDEN if layers == 2 else 1, layers == 2, scale, rng)

    def train(sequence: np.ndarray) -> None:
        STEPS[version](data, sequence, state, scale, STILL, Passes.of(data, state))

    train(np.arange(0))  # has the machine code made
    sequence = rng.permutation(queries.n_queries)  # as training does
    return least_seconds(lambda: train(sequence), enough)


#: (version, net, documents, seconds of an epoch)
Timings = Sequence[tuple[str, str, int, float]]
#: documents and seconds
Points = tuple[tuple[float, ...], tuple[float, ...]]


def growing(queries: Sequence[QuerySet], patience: float) -> Timings:
    """The seconds of epochs on single queries, the shortest first.

    After FEWEST sizes a version stops if the next epoch, longer by the square of its documents,
    would take more than `patience` seconds.
    """
    timings: list[tuple[str, str, int, float]] = []
    for query in queries:
        for version, net in product(VERSIONS, NETS):
            sizes, seconds = points(timings, version, net)
            if len(sizes) >= FEWEST:
                expected = seconds[-1] * (query.n_docs / sizes[-1]) ** 2
                if expected > patience:
                    continue
            taken = epoch_seconds(query, version, net, ENOUGH)
            timings.append((version, net, query.n_docs, taken))
    return timings


def points(timings: Timings, version: str, net: str) -> Points:
    """The documents and the seconds of a version with a net."""
    of_version = [each[2:] for each in timings if tuple(each[:2]) == (version, net)]
    return tuple(n for n, _ in of_version), tuple(seconds for _, seconds in of_version)


def web_shaped(seed: int) -> list[QuerySet]:
    """A training and a validation set of the shape of section 6.1's web data."""
    rng, made = np.random.default_rng(seed), []
    for queries in cubic(rng, [QUERIES, QUERIES], RELEVANT, LENGTHS):
        others = rng.standard_normal((queries.n_docs, FEATURES - RELEVANT), np.float32)
        made.append(replace(queries, features=np.column_stack([queries.features, others])))
    return made


def one_round(seed: int, patience: float) -> dict[str, Any]:
    """The seconds of every size, and of every version on the set of the web data's shape."""
    train, _ = web_shaped(seed)
    queries = [permuted_cubic(np.random.default_rng(0), [1], 50, n)[0] for n in SIZES]
    ways = {net: STEPS if net == "linear" else VERSIONS for net in NETS}
    epochs = {net: {way: epoch_seconds(train, way, net) for way in ways[net]} for net in NETS}
    return {"sizes": growing(queries, patience), "epochs": epochs}


def in_a_new_process(function: Callable[[], Any]) -> Any:
    """The result of a function that is called in a process which ends with it."""

    def lost(_: None, how: str) -> Any:
        raise DataError(f"timing RankNet: its process {how}")

    (result,) = in_processes(lambda _: function(), [None], 1, lost)
    return result


def measured(seed: int, patience: float) -> dict[str, Any]:
    """The seconds of each round, and the highest validation NDCG@10 by epoch."""
    train, validation = web_shaped(seed)
    alike = np.square(np.diff(train.by_label.starts)).sum()
    lessons = {}
    for way in ("ours", "online"):  # all versions but this one take the same steps
        descent = sgd.NetDescent(1, HIDDEN, RATE, EPOCHS, patience=0)
        rng = np.random.default_rng(0)
        curve = descent.descend(STEPS[way], train, Validation(validation), rng).curve
        lessons[way] = np.maximum.accumulate(curve).tolist()
    return {
        "rounds": [in_a_new_process(partial(one_round, seed, patience)) for _ in range(ROUNDS)],
        # pairs of different labels within a query, over the documents
        "pairs": float(np.square(train.lengths).sum() - alike) / 2.0 / train.n_docs,
        "lessons": lessons,
    }
