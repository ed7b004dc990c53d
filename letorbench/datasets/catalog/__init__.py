"""The data sets that letorbench knows by name."""

from letorbench.datasets.catalog.facts import (
    Entry,
    FileHash,
    Source,
    TwinShape,
    describe,
)
from letorbench.datasets.catalog.names import (
    CATALOG,
    TWIN,
    Name,
    entry,
    normalized,
    parse,
    same,
    twin_entry,
)

__all__ = [
    "CATALOG", "TWIN", "Entry", "FileHash", "Name", "Source", "TwinShape", "describe", "entry",
    "normalized", "parse", "same", "twin_entry",
]  # fmt: skip
