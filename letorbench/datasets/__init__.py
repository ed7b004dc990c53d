"""Data sets, from files to immutable `QuerySet` values; ``datasets()`` returns all names.

Here are the limits of a line of data, which compiled code reads too.
"""

import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

#: the most digits of a label, and the largest: labels are grades, or places in a long list
LONGEST_LABEL, LARGEST_LABEL = 7, 9_999_999
#: the label of a document that is not judged
UNJUDGED = -1
#: the largest grade made from other labels, and the most labels that are listed one by one
LARGEST_GRADE = 31
#: the most bytes of a query's id in a file: 250 characters of any script
LONGEST_QID = 1000


class _Datasets(ModuleType):
    def __call__(self, data_dir: str | Path = "data") -> list[str]:
        """Return the names that `load` knows: those of the catalog, then others in the folder."""
        # scores do not depend on these modules, as they would by an import that is written out
        known = import_module("letorbench.datasets.catalog").CATALOG
        here = import_module("letorbench.datasets.layout").installed(Path(data_dir))
        return list(dict.fromkeys([*known, *here]))


sys.modules[__name__].__class__ = _Datasets
