"""What a synthetic twin takes from its original beyond the catalog's facts.

Documents per query: the two LETOR 4.0 and OHSUMED rows and MSLR's sample are counted from
the releases; the others are round figures that fit the published totals. `shares` stands in
where no label distribution is published: an assumption, about 1 % relevant for TREC's topic
distillation and one page a query for homepage and named page finding.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True)
class Shape:
    """least, most, spread: documents of a query, and the deviation of their logarithm.

    values:   "unit" (normalised per query to [0, 1]), "raw" (counts, reals, log
              probabilities) or "sparse" ([0, 1], zeros left out).
    constant: columns that are 0 in every row.
    shares:   assumed label shares, where none are published.
    split:    shares of the queries in train, validation and test, for a fixed split.
    """

    least: int
    most: int
    spread: float
    values: str
    constant: int = 0
    shares: tuple[float, ...] = ()
    split: tuple[float, ...] = ()


_ONE_PAGE = (0.9988, 0.0012)

SHAPES = MappingProxyType(
    {
        "OHSUMED": Shape(35, 320, 0.43, "unit", constant=9),
        "TD2003": Shape(700, 1000, 0.03, "unit", shares=(0.99, 0.01)),
        "TD2004": Shape(700, 1000, 0.03, "unit", shares=(0.985, 0.015)),
        "HP2003": Shape(700, 1000, 0.03, "unit", shares=_ONE_PAGE),
        "HP2004": Shape(700, 1000, 0.03, "unit", shares=_ONE_PAGE),
        "NP2003": Shape(700, 1000, 0.03, "unit", shares=_ONE_PAGE),
        "NP2004": Shape(700, 1000, 0.03, "unit", shares=_ONE_PAGE),
        "MQ2007": Shape(6, 147, 0.3, "unit"),
        "MQ2008": Shape(5, 121, 0.73, "unit", constant=6),
        "MSLR-WEB10K": Shape(1, 908, 0.55, "raw"),
        "MSLR-WEB30K": Shape(1, 1251, 0.55, "raw"),
        "YAHOO-SET1": Shape(1, 139, 0.5, "sparse", 181, split=(0.6666, 0.1000, 0.2334)),
        "YAHOO-SET2": Shape(1, 139, 0.5, "sparse", 104, split=(0.2, 0.2, 0.6)),
        "ISTELLA": Shape(
            1, 439, 0.3, "raw", shares=(0.96, 0.01, 0.013, 0.01, 0.007), split=(0.7032, 0, 0.2968)
        ),
        "ISTELLA-S": Shape(
            1,
            182,
            0.3,
            "raw",
            shares=(0.88, 0.03, 0.04, 0.03, 0.02),
            split=(0.5829, 0.2184, 0.1987),
        ),
    }
)
