"""What is registered by being there: the classes that a package's files define, by name.

The files are searched as text, not imported, so that the names of all rankers are known before any
of them is loaded.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parent


@cache
def places(folder: str, attribute: str) -> dict[str, str]:
    """Return where each registered class of a folder is defined.

    A class is registered where its body says ``name = "…"``, or another attribute. The folder is
    one of the package, "rankers". Names are sorted, and a place is ``package.module:Class``.

    Examples
    --------
    >>> places("rankers", "name")["listnet"]
    'letorbench.rankers.listnet:ListNet'
    """
    found: dict[str, str] = {}
    line = re.compile(rf'^(?:class (\w+)|    {attribute} = "([^"]+)"$)', re.MULTILINE)
    for path in sorted((PACKAGE / folder).glob("*.py")):
        for class_name, name in line.findall(path.read_text("utf-8")):
            if class_name:
                current = class_name
            elif name in found:
                raise ValueError(f"{found[name]} and {path} both define {name!r}; rename one")
            else:
                found[name] = f"{PACKAGE.name}.{folder}.{path.stem}:{current}"
    return dict(sorted(found.items()))


def by_class(folder: str, attribute: str) -> dict[str, str]:
    """Return the same places by the names of the classes: ``{"ListNet": "…:ListNet"}``."""
    return {place.partition(":")[2]: place for place in places(folder, attribute).values()}
