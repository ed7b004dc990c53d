"""The table of data sets: one `Entry` each, in the file of its family.

To add a data set, add its entry to a family's `ENTRIES`, or a new family to the table below.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from letorbench.datasets.catalog import generated, istella, letor3, letor4, mslr, webis, yahoo
from letorbench.datasets.catalog.facts import Entry

CATALOG: Mapping[str, Entry] = MappingProxyType(
    {
        entry.name: entry
        for family in (letor3, letor4, mslr, yahoo, istella, webis, generated)
        for entry in family.ENTRIES
    }
)
