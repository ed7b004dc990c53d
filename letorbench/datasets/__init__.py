"""Data sets, from files to immutable `QuerySet` values; ``datasets()`` returns all names."""

import sys
from pathlib import Path
from types import ModuleType


class _Datasets(ModuleType):
    def __call__(self, data_dir: str | Path = "data") -> list[str]:
        """Return the names that `load` knows: those of the catalog, then others in the folder."""
        from letorbench.datasets.catalog import CATALOG
        from letorbench.datasets.layout import installed

        return list(dict.fromkeys([*CATALOG, *installed(Path(data_dir))]))


sys.modules[__name__].__class__ = _Datasets
