"""W. Zhang, "Learning to Rank", lecture 9 of EE448, Shanghai Jiao Tong University, 2018."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

import numpy as np
from scipy.stats import entropy

from letorbench.analysis.figures import PAGE, canvas, dress, write
from letorbench.conventions import CONVENTIONS
from letorbench.measures import parse, query_metrics
from letorbench.papers.paper import PartResult
from letorbench.papers.runs import Context, Estimate, exactly

#: the list of the slide on average precision, from the top: relevant at 1, 3 and 5
LIST = (1, 0, 1, 0, 1)
#: the scores of the slide on distances between ranked lists, of the documents A, B, C
#: in the lists f, g, h
SCORES = (3.0, 0.0, 1.0), (6.0, 4.0, 3.0), (4.0, 6.0, 3.0)


def plackett_luce(scores: Sequence[float]) -> list[float]:
    """The probability of every order of the documents, u = e^s (the lecture's ListNet slide)."""
    orders = permutations(np.exp(scores))
    return [float(np.prod([u / sum(order[t:]) for t, u in enumerate(order)])) for order in orders]


def examples(context: Context) -> dict[str, Estimate]:
    """All worked examples; the average precision by the toolkit's `map`."""
    scores, offsets = -np.arange(len(LIST), dtype=np.float64), np.array([0, len(LIST)])
    rules = CONVENTIONS["standard"]
    table = query_metrics(np.array(LIST), scores, offsets, [parse("map")], rules)
    # KL(first || second) of two lists' distributions over all orders, in nats and in bits
    f, g, h = map(plackett_luce, SCORES)
    f_g, g_h = float(entropy(f, g)), float(entropy(g, h, base=2.0))
    return {
        "average-precision": exactly(float(table[0, 0])),
        "distance-f-g": exactly(
            f_g, f"{f_g:.4f} nats, which rounds to {f_g:.2f}, or {f_g / np.log(2.0):.4f} bits; the "
            "slide prints 0.46 and no unit; f ranks A C B, the slide says A B C",
        ),
        "distance-g-h": exactly(
            g_h, f"{g_h:.3f} bits, as printed, but 0.46 is nearly the nats: the units differ; h "
            "ranks B A C, the slide says A C B",
        ),
    }  # fmt: skip


def lists(context: Context) -> PartResult:
    """The slide's lists f, g and h: the probability of each order of A, B and C."""
    orders = ["".join(order) for order in permutations("ABC")]
    with canvas(PAGE, 2.2, 3, 3, sharey=True) as (figure, panels):
        for axes, name, scores in zip(panels, "fgh", SCORES):
            bars = axes.bar(orders, plackett_luce(scores), color="#A9CCE3", edgecolor="black")
            axes.bar_label(bars, fmt="%.3f", fontsize=6.5)
            axes.set_ylim(0.0, 0.7)
            title = ", ".join(f"{name}({of}) = {score:g}" for of, score in zip("ABC", scores))
            dress(axes, title, "order", "probability" if name == "f" else "")
        f, g, h = map(plackett_luce, SCORES)
        distances = (
            f"dis(f, g) = {entropy(f, g):.4f} nats, the slide 0.46;  dis(g, h) = "
            f"{entropy(g, h):.4f} nats, {entropy(g, h, base=2):.4f} bits, the slide 2.56"
        )
        figure.supxlabel(distances, fontsize=8.0)
        return PartResult(files=tuple(write(figure, context.folder("lecture-2018") / "lists")))


#: the boxes of the slides on web page ranking and on training, with places and texts; the arrows
BOXES = {
    "documents": (0.0, 1.0, "indexed\ndocuments"), "query": (0.0, 0.0, "query\n'ML in China'"),
    "features": (1.0, 0.5, "features\n$x_i$ of a query\nand a document"),
    "model": (2.0, 0.5, "ranking model\n$y_i = f_\\theta(x_i)$"),
    "list": (3.0, 0.5, "ranked list\n$d_1, d_2, \\ldots, d_n$"),
    "ratings": (2.0, 1.25, "relevance ratings"),
    "loss": (3.0, 1.25, "loss of a point,\na pair or a list"),
    "measure": (4.0, 0.5, "measure\nNDCG, MAP, MRR"),
}  # fmt: skip
ARROWS = ("documents features", "query features", "features model", "model list", "list measure",
          "ratings loss", "list loss", "loss model")  # fmt: skip


def pipeline(context: Context) -> PartResult:
    """The lecture's pipeline, from a query and documents to a measured list."""
    with canvas(PAGE, 2.2) as (figure, (axes,)):
        axes.set(xlim=(-0.5, 4.5), ylim=(-0.35, 1.6))
        axes.set_axis_off()
        box = {"boxstyle": "round,pad=0.4", "facecolor": "white"}
        texts = {
            name: axes.text(x, y, text, ha="center", va="center", fontsize=7.0, bbox=box)
            for name, (x, y, text) in BOXES.items()
        }
        for start, end in map(str.split, ARROWS):
            ends = {"patchA": texts[start].get_bbox_patch(), "patchB": texts[end].get_bbox_patch()}
            style = {"arrowstyle": "-|>", "color": "0.3", "shrinkA": 3, "shrinkB": 3, **ends}
            axes.annotate("", BOXES[end][:2], BOXES[start][:2], arrowprops=style)
        return PartResult(files=tuple(write(figure, context.folder("lecture-2018") / "pipeline")))


PARTS = {"examples": examples, "lists": lists, "pipeline": pipeline}
