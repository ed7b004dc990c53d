"""Tran, Phung, Venkatesh, "Learning Rank Functionals: An Empirical Study", 2012."""

from __future__ import annotations

from letorbench.papers.functionals import bounds, costs

PARTS = {"appendix": bounds.appendix, "costs": costs.costs}
