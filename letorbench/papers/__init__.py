"""The papers whose experiments can be rerun, one file each.

A paper is a value: its claims, each with the check that judges it, and its figures and tables,
each a function that runs one. To add a paper, write its file and add a line to `PAPERS`.
"""

from __future__ import annotations

import importlib

from letorbench.papers.paper import Paper

#: a paper's name on the command line -> the module that holds it as PAPER
PAPERS = {
    "ndcgboost-2009": "ndcgboost_2009",
    "lambdarank-2006": "lambdarank_2006",
    "consistency-2011": "consistency_2011",
    "functionals": "functionals_2012",
    "lecture-2018": "lecture_2018",
}


def paper(name: str) -> Paper:
    """The paper of that name (a key of PAPERS)."""
    return importlib.import_module(f"{__name__}.{PAPERS[name]}").PAPER
