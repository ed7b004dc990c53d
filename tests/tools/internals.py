"""All that the tools take from inside the package: the place to mend when modules move.

As a script, ``internals.py fetch ADDRESS``, it fetches MQ2008 from that address.
"""

from __future__ import annotations

import sys
from functools import partial

from letorbench.cli import cli, config
from letorbench.cli.compare import compare
from letorbench.cli.run import run
from letorbench.datasets import reader
from letorbench.datasets.acquire import fetch as fetching
from letorbench.datasets.acquire.archive import import_archive
from letorbench.datasets.catalog import Source
from letorbench.datasets.load import load as load_data
from letorbench.datasets.queryset import QuerySet
from letorbench.datasets.reader import ReadOptions, read_queries
from letorbench.errors import DataError, LetorError
from letorbench.models.base import model_class, save, with_checksum
from letorbench.rankers import load_model, ranker
from letorbench.results.external import read_qrels, read_ranklib, read_run
from letorbench.results.scores import read_scores

__all__ = [
    "WATCHED", "DataError", "LetorError", "QuerySet", "ReadOptions", "cli", "compare", "config",
    "import_archive", "load_data", "load_model", "model_class", "ranker", "read_qrels",
    "read_queries", "read_ranklib", "read_run", "read_scores", "reader", "run", "save",
    "with_checksum",
]  # fmt: skip

#: the modules whose branches guide the fuzzer; none of them holds a kernel
WATCHED = {
    "letor": ("letorbench.datasets.text.errors",),
    "scores": (read_scores.__module__, read_run.__module__),
    "model": ("letorbench.models.base", "letorbench.rankers.base"),
    "config": (config.__name__,),
    "archive": (import_archive.__module__,),
}


def fetch(address: str, *words: str) -> None:
    """Fetch MQ2008 from one address, as the command would from those of the catalog."""
    sources = [Source(address, "MQ2008.zip")]
    fetching.fetch = partial(fetching.fetch, addresses=sources)
    cli(["datasets", "fetch", "MQ2008", *words])


if __name__ == "__main__":
    fetch(*sys.argv[2:])
