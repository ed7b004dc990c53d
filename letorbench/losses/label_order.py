"""Weights of documents and pairs by label and place, and rules for equal labels.

T. Tran, D. Phung, S. Venkatesh, "Learning Rank Functionals: An Empirical Study", 2012, Tables 8 and
9. pi is a document's place, from 1, when its query is sorted by label, the highest first; eta = 1 /
log2(1 + pi); R = (2^r - 1) / 2^(L - 1), where L is the number of labels of the set, 0 included.
With another gain G than 2^r - 1, R is G / (1 + the gain of the largest label).

Most documents of a query have the same label, and their order in the file means nothing. A loss
that reads that order learns the file. There are three rules for such ties:

"breslow"
    No order (N. Breslow, "Covariance Analysis of Censored Survival Data", Biometrics 1974). The
    documents of one label are chosen as if at once: each sees all documents of its label and of
    lower ones. A weight that depends on the place is its mean over the n_b places of the label b,
    W_b = (1 / n_b) sum of W(pi), which is its expectation under a random order. If places enter
    only through weights, the loss is the expectation of the rule "random"; Plackett-Luce is an
    upper bound of it, see `letorbench.losses.plackett_luce`. This is the default.
"random"
    One order, drawn when training begins.
"file"
    The order of the file, or of the caller's rows.

`group_level` (Table 2) takes all documents of a query with the same label as one object. A group's
score aggregates its documents' scores, and the loss ranks the groups of a query.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from letorbench.choices import require_choice
from letorbench.compiled.arithmetic import exp, log
from letorbench.compiled.jit import kernel
from letorbench.conventions import gains
from letorbench.datasets.arrays import read_only
from letorbench.datasets.queryset import QuerySet
from letorbench.losses.base import CustomLoss, Loss, ValueAndGradient
from letorbench.losses.gains import (
    gain_rule,
    inverse_ideal_dcg,
    inverse_or_zero,
    places,
    truncated_discount,
)
from letorbench.parameters import one_of

TIE_RULES = ("breslow", "random", "file")
#: the rules that losses implement; "random" is "file" of drawn rows
LOSS_TIE_RULES = ("breslow", "file")


def with_ties(loss: Loss, ties: str, train: QuerySet, rng: np.random.Generator) -> Loss:
    """Return the loss with a rule of `TIE_RULES`; with "random" it takes only that training set."""
    require_choice(ties, TIE_RULES, "ties")
    if ties == "breslow" or not loss.reads_order:
        return loss
    ordered: Any = loss
    in_file_order: Loss = replace(ordered, ties="file")
    if ties == "file":
        return in_file_order
    rows = random_order(train, rng)
    shuffled = QuerySet(
        np.empty((train.n_docs, 0), np.float32), train.labels[rows], train.offsets, train.qids
    )

    def function(scores: np.ndarray, queries: QuerySet) -> ValueAndGradient:
        value, slope = in_file_order(scores[rows], shuffled)
        gradient = np.empty(len(scores))
        gradient[rows] = slope
        return ValueAndGradient(value, gradient)

    return CustomLoss(f"{loss} in a random order", loss.formula, function)


def draws_order(loss: Loss, ties: str) -> bool:
    """Return whether `with_ties` draws an order for that loss."""
    return ties == "random" and loss.reads_order


def random_order(queries: QuerySet, rng: np.random.Generator) -> np.ndarray:
    """Return the rows (n_docs,) in a random order within each query, all equally likely."""
    query = np.repeat(np.arange(queries.n_queries), queries.lengths)
    return np.lexsort((rng.random(queries.n_docs), query))


def label_count(queries: QuerySet) -> int:
    """Return L: one more than the largest label of the set."""
    return int(queries.labels.max(initial=0)) + 1


def normalized_label_gain(labels: np.ndarray, gain: str, queries: QuerySet) -> np.ndarray:
    return gains(labels, gain) / (1.0 + gains(queries.labels, gain).max(initial=0.0))


def _label_means(values: np.ndarray, queries: QuerySet) -> np.ndarray:
    """Return the mean of values (n_docs,), in label order, over each block, (n_blocks,)."""
    starts = queries.by_label.starts
    return np.add.reduceat(values, starts[:-1]) / np.diff(starts)


#: Table 8: name -> W from the labels r, the places pi, their eta, L and a function that returns R;
#: 2^(r-1)/2^(L-1) is there both as printed and with Table 9's brackets
DOCUMENT_WEIGHTS: dict[str, Callable[..., np.ndarray]] = {
    "1": lambda r, pi, eta, L, R: np.ones_like(r),
    "r": lambda r, pi, eta, L, R: r,
    "sqrt(r)": lambda r, pi, eta, L, R: np.sqrt(r),
    "(2^r-1)/2^(L-1)": lambda r, pi, eta, L, R: R(),
    "2^(r-1)/2^(L-1)": lambda r, pi, eta, L, R: np.exp2(r - L),
    "1/pi": lambda r, pi, eta, L, R: 1.0 / pi,
    "1/log(1+pi)": lambda r, pi, eta, L, R: eta,
}
#: the weights that depend on the place
BY_PLACE = ("1/pi", "1/log(1+pi)")


@dataclass(frozen=True)
class DocumentWeighted(Loss):
    """A loss with a weight of each document, of `DOCUMENT_WEIGHTS`, and a rule for equal labels."""

    weight: str = one_of(DOCUMENT_WEIGHTS, "1")
    ties: str = one_of(LOSS_TIE_RULES, "breslow")
    gain: str = gain_rule()

    @property
    def reads_order(self) -> bool:
        return self.weight in BY_PLACE


def document_weights(weight: str, ties: str, queries: QuerySet, gain: str = "exp2") -> np.ndarray:
    """Return W of the documents in label order, (n_docs,); "breslow" takes means over places."""
    labels, pi = queries.labels[queries.by_label.order], places(queries)
    weights = DOCUMENT_WEIGHTS[weight](
        labels.astype(np.float64), pi, truncated_discount(queries)[pi - 1], label_count(queries),
        lambda: normalized_label_gain(labels, gain, queries),
    )  # fmt: skip
    if ties == "breslow" and weight in BY_PLACE:
        return np.repeat(_label_means(weights, queries), np.diff(queries.by_label.starts))
    return weights


@dataclass(frozen=True)
class PairWeight:
    """A weight V of Table 9: the product of up to three factors."""

    label: str = ""  # "r" for the factor r_i - r_j, "R" for R_i - R_j
    by_place: bool = False  # whether eta_i - eta_j is a factor
    per: str = ""  # the divisor: "m", the number of documents, or "Z", the ideal DCG


#: Table 9, e for eta
PAIR_WEIGHTS = {
    "1": PairWeight(),
    "1/m": PairWeight(per="m"),
    "|ri-rj|": PairWeight("r"),
    "|ri-rj|/m": PairWeight("r", per="m"),
    "(Ri-Rj)(ei-ej)/Z": PairWeight("R", True, "Z"),
    "(Ri-Rj)(ei-ej)": PairWeight("R", True),
    "Ri-Rj": PairWeight("R"),
    "(Ri-Rj)/m": PairWeight("R", per="m"),
}


class WeightedBlocks(NamedTuple):
    """Documents in label order, in blocks whose pairs have one weight: V of Table 9.

    The pairs of the blocks b and l of query q have the weight c_q (a_b - a_l or 1) (e_b - e_l or
    1). By the rule "breslow" a block has one label; by the rule "file" it is one document.
    """

    order: np.ndarray  # this and the next three as in `LabelBlocks`
    starts: np.ndarray
    queries: np.ndarray
    offsets: np.ndarray
    c: np.ndarray  # (n_queries,)
    a: np.ndarray  # (n_blocks,), by label
    e: np.ndarray  # (n_blocks,), by place
    by_label: bool  # whether the difference of a is a factor
    by_place: bool

    @staticmethod
    def of(weight: str, ties: str, gain: str, queries: QuerySet) -> "WeightedBlocks":
        """Return the blocks of these queries, with the weight of that name in Table 9."""
        kind, blocks = PAIR_WEIGHTS[weight], queries.by_label
        eta = truncated_discount(queries)[places(queries) - 1]
        if ties == "file" and kind.by_place:
            starts, of_query, e = read_only(np.arange(queries.n_docs + 1)), queries.offsets, eta
            labels = queries.labels[blocks.order]
        else:
            starts, of_query, e = blocks.starts, blocks.queries, _label_means(eta, queries)
            labels = blocks.labels
        a = labels.astype(np.float64)
        if kind.label == "R":
            a = normalized_label_gain(labels, gain, queries)
        c = np.ones(queries.n_queries)
        if kind.per == "m":
            c = inverse_or_zero(queries.lengths.astype(np.float64))
        elif kind.per == "Z":
            c = inverse_ideal_dcg(queries, gain=gain)
        return WeightedBlocks(
            blocks.order, starts, of_query, blocks.offsets, c, a, e, kind.label != "", kind.by_place
        )


@kernel()
def block_weight(blocks: WeightedBlocks, q: int, upper: int, lower: int) -> float:
    """Return V of the pairs of two blocks of query q."""
    v = blocks.c[q]
    if blocks.by_label:
        v *= blocks.a[upper] - blocks.a[lower]
    if blocks.by_place:
        v *= blocks.e[upper] - blocks.e[lower]
    return v


#: how groups get their scores; "log-mean-exp" is the paper's geometric mean
AGGREGATES = ("min", "max", "mean", "log-mean-exp")


def group_level(loss: Loss, aggregate: str, train: QuerySet) -> Loss:
    """Return `loss` of the groups of a training set as a loss of the documents of that set."""
    blocks = train.by_label
    sizes, labels = np.diff(blocks.starts), blocks.labels.astype(np.int32)
    groups = QuerySet(np.empty((len(labels), 0), np.float32), labels, blocks.queries, train.qids)

    def function(scores: np.ndarray, queries: QuerySet) -> ValueAndGradient:
        group_scores, derivatives = _aggregate(scores[blocks.order], blocks.starts, aggregate)
        value, slope = loss(group_scores, groups)
        gradient = np.empty(len(scores))
        gradient[blocks.order] = np.repeat(slope, sizes) * derivatives
        return ValueAndGradient(value, gradient)

    return CustomLoss(f"{loss} of groups", f"{loss.formula}, of {aggregate} scores", function)


def _aggregate(
    ordered: np.ndarray, starts: np.ndarray, aggregate: str
) -> tuple[np.ndarray, np.ndarray]:
    """Return the groups' scores (n_blocks,) and their derivatives by the documents' (n_docs,)."""
    sizes = np.diff(starts)
    first = starts[:-1]
    if aggregate == "mean":
        return np.add.reduceat(ordered, first) / sizes, np.repeat(1.0 / sizes, sizes)
    if aggregate == "log-mean-exp":
        top = np.maximum.reduceat(ordered, first)
        e = exp(ordered - np.repeat(top, sizes))
        total = np.add.reduceat(e, first)
        return top + log(total / sizes), e / np.repeat(total, sizes)
    extreme = (np.minimum if aggregate == "min" else np.maximum).reduceat(ordered, first)
    # several extreme documents share the gradient
    hit = (ordered == np.repeat(extreme, sizes)).astype(np.float64)
    return extreme, hit / np.repeat(np.add.reduceat(hit, first), sizes)
