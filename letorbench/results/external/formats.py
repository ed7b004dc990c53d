"""A system's scores in any of the formats that we read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.results.external.lines import content
from letorbench.results.external.ranklib import read_ranklib
from letorbench.results.external.trec import RUN, read_run
from letorbench.results.scores import read_scores


def _plain(path: Path, queries: QuerySet) -> np.ndarray:
    return read_scores(path, queries.n_docs)


#: name -> (path, queries) -> (n_docs,) float64 scores in file order
FORMATS: dict[str, Callable[[Path, QuerySet], np.ndarray]] = {
    "scores": _plain,
    "ranklib": read_ranklib,
    "trec": read_run,
}


def detect(path: Path) -> str:
    """The format that the columns of the first line are: 3 ranklib, 6 trec, else scores."""
    width = len(content(path).lstrip()[:4096].partition(b"\n")[0].split())
    return {3: "ranklib", len(RUN): "trec"}.get(width, "scores")


def read_any(path: Path, queries: QuerySet, form: str = "auto") -> np.ndarray:
    """(n_docs,) float64: the scores of a file of that format, in the order of the query set."""
    return FORMATS[detect(path) if form == "auto" else form](path, queries)
