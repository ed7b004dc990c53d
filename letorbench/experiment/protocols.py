"""Protocols: how the validation part chooses settings, rounds and epochs."""

from __future__ import annotations

from dataclasses import dataclass

from letorbench.choices import require_choice
from letorbench.solvers.stopping import Rule, best, latest


@dataclass(frozen=True)
class SelectionProtocol:
    """One way to choose on the validation part.

    Attributes
    ----------
    measure : str
        What is chosen by where the user names no measure.
    rule : callable
        Chooses among rounds and among epochs. Of the settings of a grid, the plain best is taken.
    grows : bool
        Whether a grid whose edge is chosen is extended.
    description : str
        One line for people.
    """

    measure: str
    rule: Rule
    grows: bool
    description: str


#: the protocols by name
PROTOCOLS = {
    "default": SelectionProtocol(
        "ndcg@10",
        latest,
        True,
        "by NDCG@10: the last round within half a standard error of the best, grids that grow",
    ),  # fmt: skip
    "letor": SelectionProtocol(
        "map", best, False, "as LETOR's baselines did: by MAP, the plain best, grids as they are"
    ),
    "published": SelectionProtocol(
        "ndcg@10", best, False, "as the papers did: the plain best, grids as they are"
    ),
}


def selection_protocol(name: str) -> SelectionProtocol:
    """Return a protocol by its name; UsageError for an unknown one suggests the nearest."""
    return PROTOCOLS[require_choice(name, list(PROTOCOLS), "protocol")]
