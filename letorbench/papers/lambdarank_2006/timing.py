"""Figure 1 of the LambdaRank paper: RankNet's time against documents, and NDCG against time.

V1, pair by pair, makes two passes forward and two backward for each pair. V2 sums the forces on a
document first: n passes forward, the pairs, n passes forward again and n backward. It lacks the two
further speedups that the paper names: stored activations and one exponential per document
(section 5, footnote 3), which "ours" has. All take the same step (section 5, equations 6 and 7).
Seconds are processor time of the thread that trains, so that other programs do not count.

What a process is timed at depends on where its arrays and its code are in memory, by up to a third
for steps after every pair. So each round is a process of its own, and what is said of a ratio or a
slope is its median over the rounds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from letorbench.analysis.tables import write_table
from letorbench.compiled.jit import kernel
from letorbench.datasets.queryset import QuerySet
from letorbench.datasets.synthetic.cubic import cubic, permuted_cubic
from letorbench.errors import DataError
from letorbench.experiment.backends import in_processes
from letorbench.losses.base import LONGEST_COMPARED
from letorbench.models.mlp import backward, forward
from letorbench.papers.figures import Axis, lines_figure
from letorbench.papers.paper import PartResult
from letorbench.papers.runs import Context, Estimate, exactly, kept, least_seconds, log_slope
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

NAME = "lambdarank-2006"
#: the versions that are compared by their times
VERSIONS = ("V1", "V2", "ours")
#: hidden units of two layers
HIDDEN = 10
#: documents of the query in the right panel, two sizes a doubling, as many as RankNet takes; the
#: paper's are 4,000 to 512,000
SIZES = tuple(n for n in (round(500 * 2 ** (i / 2)) for i in range(21)) if n <= LONGEST_COMPARED)
#: an epoch that would take more seconds is not timed; and with --full
PATIENCE, FULL_PATIENCE = 4.0, 600.0
NETS = {"linear": 1, "two-layer": 2}
#: the net of the right panel, whose slopes the text gives
SLOPES_OF = "two-layer"
#: queries, documents of each, features, and how many of these the labels depend on: sections
#: 6.1 and 6.4
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


def middle_of(rounds: Sequence[Timings]) -> Timings:
    """The median seconds of each size over the rounds, of sizes that every round has."""
    seconds: dict[tuple[str, str, int], list[float]] = {}
    for version, net, n, taken in (row for timings in rounds for row in timings):
        seconds.setdefault((version, net, n), []).append(taken)
    return [
        (*size, float(np.median(taken)))
        for size, taken in seconds.items() if len(taken) == len(rounds)
    ]  # fmt: skip


def slope(rounds: Sequence[Points]) -> Estimate:
    """The median of the rounds' slopes; their deviation adds to the error of its fit.

    The sizes of a round are timed one after the other, so what slows down the machine for longer
    moves them alike and not their slope; a round that is disturbed in between is an outlier.
    """
    from scipy.stats import median_abs_deviation

    ranked = sorted(rounds, key=lambda each: log_slope(*each).value)
    deviation = median_abs_deviation([log_slope(*each).value for each in ranked], scale="normal")
    return log_slope(*ranked[len(ranked) // 2], float(deviation))


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
        raise DataError(f"the timing of {NAME}: its process {how}")

    (result,) = in_processes(lambda _: function(), [None], 1, lost)
    return result


def _measured(context: Context, patience: float) -> dict[str, Any]:
    context.say("timing V1 and V2")
    train, validation = web_shaped(context.seed)
    alike = np.square(np.diff(train.by_label.starts)).sum()
    lessons = {}
    for way in ("ours", "online"):  # all versions but this one take the same steps
        descent = sgd.NetDescent(1, HIDDEN, RATE, EPOCHS, patience=0)
        rng = np.random.default_rng(0)
        curve = descent.descend(STEPS[way], train, Validation(validation), rng).curve
        lessons[way] = np.maximum.accumulate(curve).tolist()
    timed = partial(one_round, context.seed, patience)
    return {
        "rounds": [in_a_new_process(timed) for _ in range(ROUNDS)],
        # pairs of different labels within a query, over the documents
        "pairs": float(np.square(train.lengths).sum() - alike) / 2.0 / train.n_docs,
        "lessons": lessons,
    }


def timing(context: Context) -> PartResult:
    """Figure 1: NDCG against seconds, seconds against documents; the ratios of section 6.1."""
    stem = context.folder(NAME) / "figure-1"
    patience = FULL_PATIENCE if context.full else PATIENCE
    settings = {"patience": patience, "seed": context.seed}
    files_read = "papers/lambdarank_2006/timing.py", "datasets/synthetic/cubic.py"
    made = kept(
        stem.with_suffix(".json"), settings, partial(_measured, context, patience), *files_read
    )
    rounds = [each["sizes"] for each in made["rounds"]]
    timings = middle_of(rounds)
    slopes = {
        (version, net): slope([points(each, version, net) for each in rounds])
        for version, net in product(VERSIONS, NETS)
    }
    timed = {version: points(timings, version, SLOPES_OF) for version in VERSIONS}
    last = {version: sizes[-1] for version, (sizes, _) in timed.items()}
    left, right = {}, {}
    for version in VERSIONS:
        once = float(np.median([each["epochs"]["linear"][version] for each in made["rounds"]]))
        left[version] = [once * i for i in range(1, EPOCHS + 1)], made["lessons"]["ours"]
        s = slopes[version, SLOPES_OF]
        label = f"{version}, slope {s.value:.2f} [{s.low:.2f}, {s.high:.2f}]"
        right[label] = timed[version]
    panels = [
        Axis("linear nets, an epoch a point", "seconds", "highest validation NDCG@10", left,
             log_x=True),
        Axis(f"{SLOPES_OF} nets", "documents of the query", "seconds an epoch", right, log=True),
    ]  # fmt: skip
    header = ["version", "net", "documents", "seconds"]
    files = *lines_figure(panels, stem), *write_table(stem, "Figure 1", header, timings)
    numbers = _section_6_1(made)
    beside_v2 = (
        f"; ours, with one exponential a document, {slopes['ours', SLOPES_OF].value:.3f} to "
        f"{last['ours']:,}; V2 as the paper describes it has a sum over pairs, which grows "
        "quadratically"
    )
    for version, more in (("V1", ""), ("V2", beside_v2)):
        linear = slopes[version, "linear"].value
        note = f"linear: {linear:.3f}; {SIZES[0]:,} to {last[version]:,} documents{more}"
        numbers[f"slope-{version.lower()}"] = replace(slopes[version, SLOPES_OF], note=note)
    differs = (
        "times are of the machine that this was run on; the data are generated, and have the web "
        "set's shape",
        f"queries have from {SIZES[0]:,} documents to {last['V1']:,} with V1 and to "
        f"{last['V2']:,} with V2, as an epoch is to take at most {patience:g} s and RankNet takes "
        f"at most {LONGEST_COMPARED:,} documents a query; the paper's have 4,000 to 512,000",
    )
    return PartResult(numbers=numbers, files=files, differs=differs)


def _section_6_1(made: Mapping[str, Any]) -> dict[str, Estimate]:
    """V1's seconds over V2's for each net; V1 with one step per query against one per pair."""
    numbers = {}

    def times(above: str, below: str, net: str, note: str = "") -> Estimate:
        """The median of the rounds' ratios, between the least and the most."""
        ratios = [
            each["epochs"][net][above] / each["epochs"][net][below] for each in made["rounds"]
        ]
        note = f"median, least and most of {len(ratios)} processes{note}"
        return Estimate(float(np.median(ratios)), min(ratios), max(ratios), note)

    for net in NETS:
        ours = times("V1", "ours", net).value
        note = f"; V1 over ours {ours:.1f}; {made['pairs']:.1f} pairs a document"
        numbers[f"speed-{net}"] = times("V1", "V2", net, note)
    query, pair = map(np.array, (made["lessons"]["ours"], made["lessons"]["online"]))
    note = f"after {len(query)} epochs {query[-1]:.4f} and {pair[-1]:.4f}"
    numbers["batch-converges"] = exactly(float(np.abs(query / pair - 1.0).max()), note)
    numbers["batch-time"] = times("online", "V1", "linear")
    return numbers
