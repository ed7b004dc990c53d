"""The parts that need code: the appendix's bounds, costs, and slices of the paper's source."""

from __future__ import annotations

from letorbench.papers.functionals import slices
from letorbench.papers.functionals.bounds import appendix
from letorbench.papers.functionals.costs import costs

PARTS = {"appendix": appendix, "costs": costs}
#: data sets that are made of others: the paper's queries are not named, these are of its source
SOURCES = {f"{slices.DATASET} slices": slices.runs}
