"""W. Zhang, "Learning to Rank", lecture 9 of EE448, Shanghai Jiao Tong University, 2018."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import permutations, product

import numpy as np

from letorbench.conventions import CONVENTIONS
from letorbench.datasets.queryset import QuerySet
from letorbench.losses.lambdas import Lambda
from letorbench.measures import parse, query_metrics
from letorbench.papers import checks
from letorbench.papers.claims import Claim, exactly
from letorbench.papers.paper import Findings, Paper
from letorbench.papers.records import write_table
from letorbench.papers.runs import Study

NAME = "lecture-2018"
PART = "examples"
#: the list of the slide on average precision, from the top: relevant at 1, 3 and 5
LIST = (1, 0, 1, 0, 1)
#: the scores of the slide on distances between ranked lists, of the documents A, B, C
SCORES = {"f": (3.0, 0.0, 1.0), "g": (6.0, 4.0, 3.0), "h": (4.0, 6.0, 3.0)}
#: the NDCG by which two rankings differ at least
DIFFERENT = 0.01
#: ratings and scores of a short list, for the gradients
RATINGS, RANKED = (2, 4, 3, 2, 4), (0.9, 0.1, 0.4, -0.3, 0.2)


def _example(
    name: str, text: str, how: str, value: float, half: float, sense: str = "equal"
) -> Claim:
    return Claim(
        NAME, name, PART, text, "none", "value", how, value, half, sense, "worked example",
        check=checks.number(name),
    )  # fmt: skip


def _own(name: str, text: str, how: str, most: float) -> Claim:
    """A check of our own code: a difference that rounding alone may make."""
    return Claim(
        NAME, name, PART, text, "none", "value", how, most, 0.0, "at most", "own code",
        check=checks.number(name),
    )  # fmt: skip


CLAIMS = (
    _example("average-precision", "the example list's average precision is (1/1 + 2/3 + 3/5)/3",
             "MAP of a query with labels 1 0 1 0 1 in rank order", (1.0 + 2.0 / 3.0 + 0.6) / 3.0,
             1e-12),
    _example("distance-f-g", "the distance of the lists f and g is 0.46",
             "KL of their Plackett-Luce distributions over all orders, natural logarithm", 0.46,
             0.005),
    _example("distance-g-h", "the distance of the lists g and h is 2.56",
             "KL of their Plackett-Luce distributions over all orders, natural logarithm", 2.56,
             0.005),
    _own("pairwise-gradient", "RankNet's gradient is the chain rule's, pair by pair",
         "largest difference of the forces from the cost's finite differences", 1e-8),
    _own("lambdarank-gradient", "LambdaRank multiplies a pair's lambda by its |dNDCG|",
         "largest difference of the forces from the formula pair by pair", 1e-12),
    _example("point-accuracy", "the same square error can give different rankings",
             "the largest difference in NDCG of two score lists of one square error, labels 0 to "
             "2 of three documents, scores 0 to 3 by halves", DIFFERENT, 0.0, "at least"),
    _example("pair-accuracy", "the same pair-level error can give a different NDCG",
             "the largest difference in NDCG of two orders of four documents with one number of "
             "wrong pairs", DIFFERENT, 0.0, "at least"),
)  # fmt: skip


def average_precision(labels: Sequence[int]) -> float:
    """Of a list of 0s and 1s in rank order, by the toolkit's `map`."""
    n = len(labels)
    offsets = np.array([0, n], dtype=np.int64)
    scores = -np.arange(n, dtype=np.float64)
    rules = CONVENTIONS["standard"]
    return float(query_metrics(np.array(labels), scores, offsets, [parse("map")], rules)[0, 0])


def plackett_luce(scores: Sequence[float]) -> dict[tuple[int, ...], float]:
    """The probability of every order of the documents, u = e^s (the lecture's ListNet slide)."""
    u = np.exp(scores)
    return {
        order: float(np.prod([u[j] / u[list(order[t:])].sum() for t, j in enumerate(order)]))
        for order in permutations(range(len(u)))
    }


def distance(first: Sequence[float], second: Sequence[float]) -> float:
    """KL(first || second) of the two lists' distributions over all orders, in nats."""
    p, q = plackett_luce(first), plackett_luce(second)
    return sum(p[order] * float(np.log(p[order] / q[order])) for order in p)


def ranknet_cost(scores: np.ndarray) -> float:
    """sum over pairs r_i > r_j of log(1 + e^{-(s_i - s_j)}) of the short list."""
    pairs = [(i, j) for i in range(5) for j in range(5) if RATINGS[i] > RATINGS[j]]
    return float(sum(np.log1p(np.exp(scores[j] - scores[i])) for i, j in pairs))


def ranknet_by_differences() -> np.ndarray:
    """(5,) -dC/ds of the short list by central differences."""
    step = 1e-5 * np.eye(5)
    at = np.array(RANKED)
    return np.array([(ranknet_cost(at - h) - ranknet_cost(at + h)) / 2e-5 for h in step])


def lambdarank_by_pairs() -> np.ndarray:
    """(5,) forces of the short list: of each pair sigma(-(s_i - s_j)) |dNDCG|."""
    s, gain = np.array(RANKED), np.exp2(RATINGS) - 1.0
    rank = 1 + np.argsort(np.argsort(-s))
    discount = 1.0 / np.log2(1.0 + rank)
    ideal = float(np.sort(gain)[::-1] @ (1.0 / np.log2(np.arange(2, 7))))
    force = np.zeros(5)
    for i, j in [(i, j) for i in range(5) for j in range(5) if RATINGS[i] > RATINGS[j]]:
        swap = (gain[i] - gain[j]) * abs(discount[i] - discount[j]) / ideal
        pull = swap / (1.0 + np.exp(s[i] - s[j]))
        force[i] += pull
        force[j] -= pull
    return force


def ndcg(labels: Sequence[int], scores: Sequence[float]) -> float:
    """Of one query, 1 / log2(1 + rank)."""
    offsets = np.array([0, len(labels)], dtype=np.int64)
    rules = CONVENTIONS["standard"]
    found = query_metrics(np.array(labels), np.array(scores, float), offsets, [parse("ndcg@5")],
                          rules)  # fmt: skip
    return float(found[0, 0])


def widest(errors: Iterable[tuple[float, float]]) -> float:
    """The largest difference in NDCG among the (error, NDCG) of one error."""
    seen: dict[float, list[float]] = {}
    for error, found in errors:
        seen.setdefault(round(error, 9), []).append(found)
    return max(max(values) - min(values) for values in seen.values())


def same_square_error() -> float:
    """The slide "Point Accuracy != Ranking Accuracy", over all score lists of a grid."""
    labels = (2, 1, 0)
    grid = np.arange(0.0, 3.5, 0.5)
    return widest(
        (float(np.square(np.subtract(scores, labels)).sum()), ndcg(labels, scores))
        for scores in product(grid, repeat=3)
        if len(set(scores)) == 3
    )


def same_pair_error() -> float:
    """The slide on the shortcomings of pairwise approaches, over all orders."""
    labels = (4, 3, 2, 0)

    def wrong(scores: Sequence[float]) -> float:
        return float(
            sum(scores[i] < scores[j] for i in range(4) for j in range(4) if labels[i] > labels[j])
        )

    return widest((wrong(scores), ndcg(labels, scores)) for scores in permutations(range(4)))


def examples(study: Study) -> Findings:
    """All worked examples, and a table of them."""
    queries = QuerySet(
        np.zeros((5, 1), np.float32), np.array(RATINGS, np.int32),
        np.array([0, 5], dtype=np.int64), np.array([1]),
    )  # fmt: skip
    forces = {name: Lambda(name)(np.array(RANKED), queries) for name in ("ranknet", "ranknet-ndcg")}
    f_g, g_h = distance(SCORES["f"], SCORES["g"]), distance(SCORES["g"], SCORES["h"])
    found = {
        "average-precision": average_precision(LIST),
        "distance-f-g": f_g,
        "distance-g-h": g_h,
        "pairwise-gradient": float(np.abs(forces["ranknet"] - ranknet_by_differences()).max()),
        "lambdarank-gradient": float(np.abs(forces["ranknet-ndcg"] - lambdarank_by_pairs()).max()),
        "point-accuracy": same_square_error(),
        "pair-accuracy": same_pair_error(),
    }
    notes = {
        "distance-f-g": f"{f_g:.4f} rounds to {f_g:.2f}, the slide prints 0.46; in nats, "
        f"{f_g / np.log(2.0):.4f} in bits; the slide names no unit; f ranks "
        "A C B, the slide says A B C",
        "distance-g-h": f"{g_h / np.log(2.0):.3f} in bits, as printed, where 0.46 is nearly the "
        "nats: no one unit gives both; h ranks B A C, the slide says A C B",
    }
    numbers = {name: exactly(value, notes.get(name, "")) for name, value in found.items()}
    verdicts = tuple(claim.judge(numbers) for claim in CLAIMS)
    rows: list[list[object]] = [
        [f"AP of {LIST}", found["average-precision"]],
        ["distance(f, g), nats", f_g],
        ["distance(g, h), nats", g_h],
        ["distance(f, h), nats", distance(SCORES["f"], SCORES["h"])],
    ]
    for name, force in forces.items():
        for label, score, value in zip(RATINGS, RANKED, force.tolist()):
            rows.append([f"{name} force, rating {label}, score {score}", value])
    files = write_table(study.folder(NAME) / PART, "Worked examples", ["example", "value"], rows)
    return Findings(verdicts, files, ("the slides' score pictures are not in their text",))


PAPER = Paper(
    NAME,
    "W. Zhang: Learning to Rank, EE448 Big Data Mining, lecture 9, Shanghai Jiao Tong U., 2018",
    CLAIMS,
    {PART: examples},
)
