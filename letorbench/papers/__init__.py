"""The papers whose experiments can be rerun, one file each: claims as data, parts to run."""

from __future__ import annotations

import importlib

from letorbench.papers.paper import Paper

#: what a user calls a paper -> the module that has it as PAPER
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
