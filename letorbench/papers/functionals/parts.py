"""The parts that need code: the appendix's bounds, and costs."""

from __future__ import annotations

from letorbench.papers.functionals.bounds import appendix
from letorbench.papers.functionals.costs import costs

PARTS = {"appendix": appendix, "costs": costs}
