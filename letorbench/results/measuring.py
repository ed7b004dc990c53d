"""Scores: their files, one number a line, and what they measure by a convention."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from letorbench import aliases, measures
from letorbench.conventions import Convention
from letorbench.datasets.queryset import Fold, QuerySet
from letorbench.datasets.text import odd_character, without_mark
from letorbench.errors import DataError
from letorbench.files import Writer, write_atomically
from letorbench.measures import MEASURES, Measure, default_measures, query_metrics
from letorbench.measures.evaluation import relative_weights
from letorbench.results.per_query import PerQuery

#: the ranker whose numbers are means over all orders of a query, not those of the file's order
RANDOM = "random"
#: the ranker that reads the labels by which it is measured
IDEAL = "ideal"
#: the scores written for -infinity (and NaN) and for infinity, which a score file cannot hold
LOWEST, HIGHEST = -1e300, 1e300


def competes(algo: str) -> bool:
    """Return whether an algorithm is ranked and compared: `ideal` reads the test labels."""
    return algo != IDEAL


def measured(
    algo: str,
    scores: np.ndarray,
    test: QuerySet,
    measures: Sequence[Measure],
    convention: Convention,
) -> np.ndarray:
    """Measure an algorithm's scores of a test part, (n_queries, n_measures)."""
    # the scores of `random` are equal; its numbers are means over all orders of a query
    if algo == RANDOM:
        convention = replace(convention, ties="mean")
    return query_metrics(test.labels, scores, test.offsets, measures, convention, test.docids)


def measure_fold(
    algo: str, fold: Fold, scores: np.ndarray, convention: Convention, added: Sequence[Measure] = ()
) -> PerQuery:
    """Measure finite scores (n_docs,) of a fold's test part by the usual and the added measures."""
    usual = default_measures(convention)
    measures = [*usual, *added]
    table = measured(algo, scores, fold.test, measures, convention)
    counts = _counted(table)
    values = {str(measure): column for measure, column in zip(measures, table[counts].T)}
    numbers = np.full(counts.sum(), fold.number, dtype=np.int64)
    weights = None
    if convention.mean != "plain":
        ends = [len(usual) - 1, 0]  # NDCG, the first, may have other weights than the last
        about = fold.test.weights, convention, fold.test.labels, fold.test.offsets
        weights = relative_weights(table[:, ends], [usual[n] for n in ends], *about)[counts].T
    return PerQuery(algo, numbers, fold.test.qids[counts], values, weights)


def _counted(table: np.ndarray) -> np.ndarray:
    """Return which queries the convention counts, (n_queries,) bool."""
    return ~np.isnan(table).all(axis=1)


def parse(text: str) -> Measure:
    """Return the measure that a text names, in any case, also in another tool's spelling.

    Parameters
    ----------
    text : str
        A name, with a cut-off if the measure takes one: ``map``, ``ndcg@10``, ``ndcg_cut_10``,
        ``P_5``, ``precision@5``.

    Returns
    -------
    Measure
        The value that prints as letorbench's name of it.

    Raises
    ------
    UsageError
        No measure has that name, or the cut-off does not fit it.

    Examples
    --------
    >>> parse("NDCG@10"), parse("ndcg_cut_10"), parse("success@1")
    (nDCG@10, nDCG@10, Hit@1)
    """
    cut = re.fullmatch(r"\s*([a-z_]+)[_.](\d+)\s*", text.lower())
    if cut and measures.custom_measure(cut[0].strip()) is None:  # one of the user's comes first
        if name := aliases.named(cut[1], MEASURES, "measure"):
            text = f"{name}@{cut[2]}"
    return measures.parse(text)


def read_scores(
    path: Path, n_docs: int, read: Callable[[Path], bytes] = Path.read_bytes
) -> np.ndarray:
    """Read a file of one score a line; DataError names the line that is wrong."""
    text = content(path, read).rstrip()
    lines = text.split(b"\n") if text else []
    scores = np.array([_number(line) for line in lines], dtype=np.float64)
    bad = np.flatnonzero(~np.isfinite(scores))
    if len(bad):
        shown = repr(lines[bad[0]].strip()[:40].decode(errors="replace"))
        found, expected = odd_character(lines[bad[0]]) or (shown, "a finite number")
        raise DataError(f"{path}:{bad[0] + 1}: found {found}, expected {expected}")
    if len(scores) != n_docs:
        raise DataError(
            f"{path}:{min(len(scores), n_docs) + 1}: found {len(scores)} scores, "
            f"expected {n_docs}, one for each document"
        )
    return scores


def content(path: Path, read: Callable[[Path], bytes] = Path.read_bytes) -> bytes:
    """Return the bytes of a text without a byte order mark; DataError if it cannot be read."""
    try:
        return without_mark(path, read(path))
    except OSError as error:
        raise DataError(f"{path}: found no readable file ({error.strerror})") from None


def write_scores(path: Path, scores: np.ndarray, to: Writer = write_atomically) -> None:
    """Write scores of shape (n_docs,), one per line, so that reading restores them exactly."""
    with to(path) as file:
        file.writelines(f"{score!r}\n" for score in scores.tolist())


def finite_scores(scores: np.ndarray) -> np.ndarray:
    """Return the scores with numbers for NaN, which ranks last, and for infinities."""
    return np.nan_to_num(scores, nan=LOWEST, posinf=HIGHEST, neginf=LOWEST)


def _number(text: bytes) -> float:
    """Return the number, or NaN for another text."""
    try:  # unlike Python's numbers, a file's have no underscore
        return float("nan") if b"_" in text else float(text)
    except ValueError:
        return float("nan")
