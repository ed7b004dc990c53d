"""The data sets that letorbench knows by name."""

from letorbench.datasets.catalog.description import describe
from letorbench.datasets.catalog.facts import Entry, FileHash, Source, TwinShape
from letorbench.datasets.catalog.generated import TWIN
from letorbench.datasets.catalog.names import Name, entry, normalized, parse, same, twin_entry
from letorbench.datasets.catalog.table import CATALOG

__all__ = [
    "CATALOG", "TWIN", "Entry", "FileHash", "Name", "Source", "TwinShape", "describe", "entry",
    "normalized", "parse", "same", "twin_entry",
]  # fmt: skip
