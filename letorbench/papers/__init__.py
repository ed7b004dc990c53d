"""The papers whose experiments can be rerun, a folder each.

A folder has `claims.toml`, what the paper claims and what is run for it, and `parts.py` with what
needs code. To add a paper, write its folder and add a line to `PAPERS`.
"""

from __future__ import annotations

from functools import cache

from letorbench.papers.paper import Paper, load

#: a paper's name on the command line -> its folder
PAPERS = {
    "ndcgboost-2009": "ndcgboost_2009",
    "lambdarank-2006": "lambdarank_2006",
    "consistency-2011": "consistency_2011",
    "functionals": "functionals",
    "lecture-2018": "lecture_2018",
}


@cache
def paper(name: str) -> Paper:
    """The paper of that name (a key of PAPERS)."""
    return load(name, PAPERS[name])
