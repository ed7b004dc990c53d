"""Protocols: how the validation part chooses settings, rounds and epochs."""

from __future__ import annotations

from dataclasses import dataclass

from letorbench.choices import require_choice
from letorbench.solvers.rules import Rule, best


@dataclass(frozen=True)
class SelectionProtocol:
    """One way to choose on the validation part.

    Attributes
    ----------
    measure : str
        What is chosen by where the user names no measure.
    rule : callable
        Chooses among rounds, among epochs and among the settings of a grid.
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
        "ndcg@10", best, False, "NDCG@10, the highest mean; see docs/selection.md"
    ),
    "letor": SelectionProtocol(
        "map", best, False, "LETOR's: MAP, the highest mean, grids as they are"
    ),
    "published": SelectionProtocol(
        "ndcg@10", best, False, "the reproduced papers': NDCG@10, the highest mean"
    ),
}


def selection_protocol(name: str) -> SelectionProtocol:
    """Return a protocol by its name; UsageError for an unknown one suggests the nearest."""
    return PROTOCOLS[require_choice(name, list(PROTOCOLS), "protocol")]
