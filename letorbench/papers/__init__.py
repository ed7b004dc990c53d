"""The papers whose experiments can be rerun, a folder each.

A folder has `claims.toml`, what the paper claims and what is run for it, and `__init__.py` with
what needs code. To add a paper, write its folder: being there makes it known.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from letorbench.papers.paper import Paper, load

#: the names on the command line
PAPERS = tuple(
    path.parent.name.replace("_", "-")
    for path in sorted(Path(__file__).parent.glob("*/claims.toml"))
)


@cache
def paper(name: str) -> Paper:
    """The paper of that name (of PAPERS)."""
    return load(name)
