"""The text that the official evaluation tools print, byte for byte."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from letorbench.conventions import Convention
from letorbench.measures.average_precision import MAP
from letorbench.measures.evaluation import query_metrics
from letorbench.measures.mean_ndcg import MeanNDCG
from letorbench.measures.ndcg import nDCG
from letorbench.measures.precision import P

INTEGER = re.compile(r"[+-]?[0-9]+")


def official(
    qids: np.ndarray,
    labels: np.ndarray,
    scores: np.ndarray,
    offsets: np.ndarray,
    convention: Convention,
    per_query: bool = False,
) -> str:
    """Return what the convention's official tool prints.

    Parameters
    ----------
    qids : ndarray of shape (n_queries,), str
    labels, scores : ndarray of shape (n_docs,)
        In file order.
    offsets : ndarray of shape (n_queries + 1,)
    convention : Convention
        Its `layout` says which tool's output is printed.
    per_query : bool
        The tool's flag for the values of every query.

    Raises
    ------
    DataError
        As `query_metrics`.
    """
    cutoffs = range(1, convention.cutoffs + 1)
    measures = [*(P @ k for k in cutoffs), MAP, *(nDCG @ k for k in cutoffs), MeanNDCG]
    order = _tool_order(qids)
    values = query_metrics(labels, scores, offsets, measures, convention)[order]
    lengths = np.diff(offsets)[order]
    if convention.layout == "sections":
        return _letor3(values, lengths, convention.cutoffs, per_query)
    return _letor4(qids[order], values, convention, per_query)


def _tool_order(qids: np.ndarray) -> np.ndarray:
    """Return the order in which the tools print and add up the queries.

    It is the order of their numbers. Where an id is no number the tools keep none, and it is the
    file's here.
    """
    if not all(INTEGER.fullmatch(qid) for qid in qids.tolist()):
        return np.arange(len(qids))
    return np.array(sorted(range(len(qids)), key=lambda query: int(qids[query])), dtype=np.int64)


def _letor3(values: np.ndarray, lengths: np.ndarray, cutoffs: int, per_query: bool) -> str:
    """Sections of precision, MAP and NDCG; queries are numbered from 0, rows end with the list."""
    averages = _averages(values)
    precision, ndcg = slice(0, cutoffs), slice(cutoffs + 1, 2 * cutoffs + 1)

    def rows(label: str, columns: slice) -> Iterable[str]:
        for q, length in enumerate(lengths if per_query else ()):
            yield f"{label} of query{q}:\t{_perl(values[q, columns][:length])}\t\n"

    longest = lengths.max(initial=0)
    text = [*rows("precision", precision)]
    text.append(f"precision:\t{_perl(averages[precision][:longest])}\t\n\n")
    if per_query:
        text += [f"Map of query{q}:\t{_perl([ap])}\n" for q, ap in enumerate(values[:, cutoffs])]
    text.append(f"MAP:\t{_perl([averages[cutoffs]])}\n\n")
    text += rows("NDCG", ndcg)
    text.append(f"NDCG:\t{_perl(averages[ndcg][:longest])}\t\n\n")
    return "".join(text)


def _letor4(qids: np.ndarray, values: np.ndarray, convention: Convention, per_query: bool) -> str:
    """Two tables, precision with MAP and NDCG with MeanNDCG, a row a query and the average's."""
    averages, cutoffs = _averages(values), convention.cutoffs
    ends = (0, cutoffs + 1, len(averages) if convention.mean_ndcg else len(averages) - 1)
    names = [*(f"P@{k}" for k in range(1, cutoffs + 1)), "MAP"]
    names += [*(f"NDCG@{k}" for k in range(1, cutoffs + 1)), "MeanNDCG"]
    text = []
    for start, stop in zip(ends, ends[1:]):
        text.append("\t".join(["qid", *names[start:stop]]))
        if per_query:
            text += [f"{qid}\t{_fixed(row[start:stop])}" for qid, row in zip(qids, values)]
        text.append(f"Average\t{_fixed(averages[start:stop])}\n")
    return "\n".join(text) + "\n"


def _averages(values: np.ndarray) -> np.ndarray:
    """The columns' means, added from the first query on: NumPy's own sum may pair terms."""
    return np.cumsum(values, axis=0)[-1] / len(values)


def _perl(values: Iterable[float]) -> str:
    """Numbers as Perl prints them."""
    return "\t".join(f"{value:.15g}" for value in values)


def _fixed(values: Iterable[float]) -> str:
    return "\t".join(f"{value:.4f}" for value in values)
