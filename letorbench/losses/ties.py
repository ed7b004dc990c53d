"""Equal labels, where a loss puts documents in the order of their labels.

Most documents of a query have the same label, and the file's order of them means nothing. A loss
that reads an order into them learns the file. There are three rules for such ties:

"breslow"
    No order (N. Breslow, "Covariance Analysis of Censored Survival Data", Biometrics 1974). The
    documents of one label are chosen as if at once: each sees its whole label and what comes
    after it. A weight that depends on the place is the mean over the places of its label,

        W_b = (1 / n_b) sum of W(pi) over the n_b places of label b,

    which is its expectation under a random order. A loss whose places are in its weights alone is
    then the expectation of the rule "random"; Plackett-Luce is an upper bound of it, see
    `letorbench.losses.plackett_luce`. This is the default: a loss of the registry follows it.
"random"
    One order, drawn when training begins.
"file"
    The order of the file, or of the caller's rows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, get_args

import numpy as np

from letorbench.choices import require_choice
from letorbench.datasets.queryset import QuerySet
from letorbench.losses.base import Loss, ValueAndGradient

TieRule = Literal["breslow", "random", "file"]
TIE_RULES: tuple[str, ...] = get_args(TieRule)


def with_ties(loss: Loss, ties: TieRule, train: QuerySet, rng: np.random.Generator) -> Loss:
    """Return the loss with that rule for equal labels.

    Parameters
    ----------
    loss : Loss
        It stays as it is where no order of equal labels matters.
    ties : {"breslow", "random", "file"}
    train : QuerySet
        The only set that the returned loss of the rule "random" can be called with.
    rng : numpy.random.Generator
        "random" draws its order from it; the other rules draw nothing.
    """
    require_choice(ties, TIE_RULES, "ties")
    in_file_order = loss.in_file_order
    if in_file_order is None or ties == "breslow":
        return loss
    if ties == "file":
        return replace(loss, function=in_file_order)
    rows = random_order(train, rng)
    shuffled = QuerySet(
        np.empty((train.n_docs, 0), np.float32), train.labels[rows], train.offsets, train.qids
    )

    def function(scores: np.ndarray, queries: QuerySet) -> ValueAndGradient:
        value, slope = in_file_order(scores[rows], shuffled)
        gradient = np.empty(len(scores))
        gradient[rows] = slope
        return ValueAndGradient(value, gradient)

    return replace(loss, function=function)


def draws_order(loss: Loss, ties: TieRule) -> bool:
    """Return whether `with_ties` draws an order for that loss."""
    return ties == "random" and loss.in_file_order is not None


def random_order(queries: QuerySet, rng: np.random.Generator) -> np.ndarray:
    """Return the rows (n_docs,) in a random order within each query, every order as likely."""
    query = np.repeat(np.arange(queries.n_queries), queries.lengths)
    return np.lexsort((rng.random(queries.n_docs), query))


def label_means(values: np.ndarray, queries: QuerySet) -> np.ndarray:
    """Return the mean of values (n_docs,) over the documents of one label, (n_docs,).

    Both are in label order.
    """
    starts = queries.by_label.starts
    sizes = np.diff(starts)
    return np.repeat(np.add.reduceat(values, starts[:-1]) / sizes, sizes)
