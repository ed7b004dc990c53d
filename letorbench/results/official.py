"""The text that the official evaluation tools print, byte for byte."""

import re
from collections.abc import Iterable

import numpy as np

from letorbench.conventions import Convention
from letorbench.errors import DataError
from letorbench.measures.definitions import MAP, MeanNDCG, P, nDCG
from letorbench.measures.evaluation import query_metrics, relative_weights

INTEGER = re.compile(r"[+-]?[0-9]+")


def official(
    qids: np.ndarray,
    labels: np.ndarray,
    scores: np.ndarray,
    offsets: np.ndarray,
    convention: Convention,
    per_query: bool = False,
    docids: np.ndarray | None = None,
    weights: np.ndarray | None = None,
) -> str:
    """Return the output of the convention's tool, by its `layout`; arrays in file order."""
    cutoffs = range(1, convention.cutoffs + 1)
    usual = *(P @ k for k in cutoffs), MAP, *(nDCG @ k for k in cutoffs)
    measures = [each for each in usual if convention.apart(str(each)) is not None]
    measures += [MeanNDCG] if convention.mean_ndcg else []
    # the tools print and add up the queries in the order of their numbers. For ids that are no
    # numbers the tools have no fixed order, and it is the file's here
    order = np.arange(len(qids))
    if all(INTEGER.fullmatch(qid) for qid in qids.tolist()):
        order = np.array(sorted(order, key=lambda query: int(qids[query])), dtype=np.int64)
    values = query_metrics(labels, scores, offsets, measures, convention, docids)
    weight = relative_weights(values, measures, weights, convention, labels, offsets)
    values = values[order]
    counts = ~np.isnan(values).all(axis=1)  # a convention may leave queries out
    if not counts.any():
        raise DataError(f"found no query that counts by {convention.name}, expected one or more")
    order, values, weight = order[counts], values[counts], weight[order][counts]
    # the columns' means, added from the first query on: NumPy's own sum may pair terms
    averages = np.cumsum(values * weight, axis=0)[-1] / len(values)
    if convention.layout == "sections":
        lengths = np.diff(offsets)[order]
        return _sections(values, averages, lengths, convention.cutoffs, per_query)
    names = [repr(each).replace("nDCG", "NDCG") for each in measures]
    return _tables(qids[order], values, averages, names, per_query)


def _sections(
    values: np.ndarray, averages: np.ndarray, lengths: np.ndarray, cutoffs: int, per_query: bool
) -> str:
    """Sections of precision, MAP and NDCG; queries are numbered from 0, rows end with the list."""
    text = []
    for label, name, columns in (
        ("precision", "precision", slice(0, cutoffs)),
        ("Map", "MAP", slice(cutoffs, cutoffs + 1)),
        ("NDCG", "NDCG", slice(cutoffs + 1, 2 * cutoffs + 1)),
    ):
        end = "\n" if label == "Map" else "\t\n"
        for q, length in enumerate(lengths if per_query else ()):
            text.append(f"{label} of query{q}:\t{_perl(values[q, columns][:length])}{end}")
        text.append(f"{name}:\t{_perl(averages[columns][: lengths.max(initial=0)])}{end}\n")
    return "".join(text)


def _tables(
    qids: np.ndarray, values: np.ndarray, averages: np.ndarray, names: list[str], per_query: bool
) -> str:
    """Two tables, precision with MAP and NDCG with MeanNDCG, a row per query and the averages."""
    text, middle = [], sum("NDCG" not in name for name in names)
    for part in (slice(0, middle), slice(middle, len(names))):
        if not names[part]:
            continue
        text.append("\t".join(["qid", *names[part]]))
        if per_query:
            text += [f"{qid}\t{_fixed(row[part])}" for qid, row in zip(qids, values)]
        text.append(f"Average\t{_fixed(averages[part])}\n")
    return "\n".join(text) + "\n"


def _perl(values: Iterable[float]) -> str:
    """Numbers as Perl prints them."""
    return "\t".join(f"{value:.15g}" for value in values)


def _fixed(values: Iterable[float]) -> str:
    return "\t".join(f"{value:.4f}" for value in values)
