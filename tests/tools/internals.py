"""All that the tools take from inside the package: the place to mend when modules move.

As a script, ``internals.py fetch ADDRESS``, it fetches MQ2008 from that address.
"""

from __future__ import annotations

import sys
from functools import partial

from letorbench.api import data_sets
from letorbench.cli import cli, config
from letorbench.cli.compare import compare
from letorbench.cli.run import run
from letorbench.datasets import reader
from letorbench.datasets.acquire.archive import import_archive
from letorbench.datasets.catalog import Source
from letorbench.datasets.load import load as load_data
from letorbench.datasets.queryset import QuerySet
from letorbench.datasets.reader import ReadOptions, read_queries
from letorbench.errors import DataError, LetorError
from letorbench.models.base import KINDS
from letorbench.models.model_file import load, save, sealed
from letorbench.rankers import load_model, ranker
from letorbench.results.ranklib import read_ranklib
from letorbench.results.scores import read_scores
from letorbench.results.trec import read_qrels, read_run

__all__ = [
    "KINDS", "DataError", "LetorError", "QuerySet", "ReadOptions", "WATCHED", "cli", "compare",
    "config", "import_archive", "load", "load_data", "load_model", "ranker", "read_qrels",
    "read_queries", "read_ranklib", "read_run", "read_scores", "reader", "run", "save", "sealed",
]  # fmt: skip

#: the modules whose branches guide the fuzzer; none of them holds a kernel
WATCHED = {
    "letor": ("letorbench.datasets.text.read_errors",),
    "scores": tuple({each.__module__ for each in (read_scores, read_run, read_ranklib)}),
    "model": ("letorbench.models.model_file", "letorbench.models.base", "letorbench.rankers.saved"),
    "trees": ("letorbench.models.tree_texts",),
    "config": (config.__name__,),
    "archive": (import_archive.__module__,),
    "fit": ("letorbench.results.fit_file", "letorbench.results.stored_folds"),
}


def fetch(address: str, *words: str) -> None:
    """Fetch MQ2008 from one address, as the command would from those of the catalog."""
    sources = [Source(address, "MQ2008.zip")]
    data_sets.fetch_data = partial(data_sets.fetch_data, addresses=sources)
    cli(["datasets", "fetch", "MQ2008", *words])


if __name__ == "__main__":
    fetch(*sys.argv[2:])
