"""Whose number is right: what a number can mean, and whether it can be at all."""

from typing import NamedTuple

from letorbench.analysis.tables import Table

#: the exit statuses: nothing is wrong, something looks odd, something cannot be
FINE, SUSPICIOUS, IMPOSSIBLE = 0, 1, 3


class Verdict(NamedTuple):
    """What a check found."""

    #: `FINE`, `SUSPICIOUS` or `IMPOSSIBLE`
    status: int
    table: Table
