"""Other people's systems: their score files in, ours out."""

from __future__ import annotations

from letorbench.results.external.formats import FORMATS, read_any
from letorbench.results.external.store import import_external
from letorbench.results.external.trec import read_qrels, write_qrels, write_run

__all__ = ["FORMATS", "import_external", "read_any", "read_qrels", "write_qrels", "write_run"]
