"""Other people's systems: their score files in, ours out."""

from __future__ import annotations

from letorbench.external.formats import FORMATS, read_any
from letorbench.external.store import import_external
from letorbench.external.trec import read_qrels, write_qrels, write_run

__all__ = ["FORMATS", "import_external", "read_any", "read_qrels", "write_qrels", "write_run"]
