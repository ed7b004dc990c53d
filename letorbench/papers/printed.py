"""Against the printed tables: the paper's numbers, LETOR's published baselines, and ours.

A paper of 2009 compared its method with the baselines that LETOR had published. A rerun baseline
that does not meet LETOR's number makes another comparison of it: both are shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path

from letorbench.analysis.published import Published, lookup
from letorbench.analysis.tables import Value
from letorbench.papers.paper import Paper, Part
from letorbench.papers.records import write_section
from letorbench.papers.rules import BAND
from letorbench.papers.runs import ByMethod

#: who published LETOR's baselines, the more digits first
BASELINES = ("letor4-site", "liu-book")
#: a data set, a method and a measure
Place = tuple[str, str, str]
#: protocol -> data set -> method -> values
ByProtocol = Mapping[str, ByMethod]


@cache
def baseline(dataset: str, method: str, measure: str) -> Published | None:
    """LETOR's published number of our ranker of that name."""
    rows = {row.source: row for row in lookup(dataset, measure) if row.ours == method}
    return next((rows[source] for source in BASELINES if source in rows), None)


def compared(paper: Paper, part: Part, dataset: str) -> list[str]:
    """The methods of a part that have a printed number on a data set."""
    own = {(data, method) for data, method, _ in paper.means}
    return [
        method
        for method in part.methods
        if (dataset, method) in own or any(baseline(dataset, method, m) for m in part.measures)
    ]


def meets(ours: float, printed: float, digits: int) -> bool:
    """Whether they differ by what two implementations do, and by rounding, at most."""
    return abs(ours - printed) <= 0.5 * 10.0**-digits + BAND * printed


def numbers(paper: Paper, part: Part, found: ByProtocol) -> list[list[Value]]:
    """A row a data set, method and measure: the paper's number, LETOR's, ours by protocol.

    The last cell says by how many protocols ours meets LETOR's, or the paper's where LETOR's is
    not known.
    """
    told, rows = paper.means, list[list[Value]]()
    for place in product(part.data, part.methods, part.measures):
        of, theirs, ours = told.get(place), baseline(*place), _means(found, *place)
        if (of is None and theirs is None) or not any(ours):
            continue  # what is not at hand stays out
        value = None if theirs is None else theirs.value
        digits = 2 if theirs is None else len(theirs.printed.partition(".")[2])
        near = [meets(each, value or of or 0.0, digits) for each in ours if each is not None]
        said = f"by {sum(near)} of {len(near)}" if near else "-"
        rows.append([*place[:2], place[2].upper(), of, value, *ours, said])
    return rows


def leads(paper: Paper, part: Part, found: ByProtocol) -> list[list[Value]]:
    """A row a claimed lead over a baseline with a printed number: of whose numbers it is how large.

    As printed, ours over the printed baseline, and ours over ours by each protocol.
    """
    told, rows = paper.means, list[list[Value]]()
    tests = [
        test for claim in paper.claims for test in claim.tests if test.kind in ("above", "best")
    ]
    points = dict.fromkeys(replace(p, lead=None) for t in tests for p in t.points())
    for point in points:
        dataset, measure = point.dataset, point.measure
        printed = []
        for method in (point.upper, point.lower):
            theirs = baseline(dataset, method, measure)
            printed.append(theirs.value if theirs else told.get((dataset, method, measure)))
        if printed[1] is None:
            continue
        ours = [_means(found, dataset, each, measure) for each in (point.upper, point.lower)]
        if not all(map(any, ours)):
            continue
        every = [printed, (ours[0][0], printed[1]), *zip(*ours)]
        said = [f"{100.0 * (a / b - 1.0):+.1f} %" if a and b else "-" for a, b in every]
        if set(said) != {"-"}:
            rows.append([dataset, measure.upper(), f"{point.upper} over {point.lower}", *said])
    return rows


def sentence(rows: Sequence[Sequence[Value]], claimed: Sequence[Sequence[Value]]) -> str:
    """What the tables come to: how many numbers ours meet, whose leads have another sign."""
    met: dict[str, list[bool]] = {}
    for row in rows:
        if row[-1] != "-":
            met.setdefault(f"{row[1]} on {row[0]}", []).append(not str(row[-1]).startswith("by 0"))
    told = ", ".join(f"{name} {sum(each)} of {len(each)}" for name, each in met.items())
    turned = [
        f"{lead} on {dataset} at {measure}"
        for dataset, measure, lead, *each in claimed
        if len({str(e)[0] for e in each if e != "-"}) > 1
    ]
    return (
        f"Printed numbers that ours meet by one protocol or another, within "
        f"{100.0 * BAND:g} % and rounding: {told or 'none is at hand'}. The sign of a "
        f"claimed lead depends on whose baseline it is over: {'; '.join(turned) or 'nowhere'}."
    )


def files(paper: Paper, part: Part, found: ByProtocol, folder: Path) -> list[Path]:
    """The two tables, and the section of the page with what they come to."""
    head = ["data", "method", "measure", "paper", "LETOR", *found, "meets the print"]
    heads = ["data", "measure", "lead", "as printed", "ours over the print"]
    heads += [f"ours: {name}" for name in found]
    rows, claimed = numbers(paper, part, found), leads(paper, part, found)
    tables = {"": (head, rows), "-leads": (heads, claimed)}
    return write_section(folder / part.name, part.title, sentence(rows, claimed), tables)


def _means(found: ByProtocol, dataset: str, method: str, measure: str) -> list[float | None]:
    """Ours by each protocol; None where it was not run."""
    held = [own.get(dataset, {}).get(method) for own in found.values()]
    return [None if values is None else values.mean(measure) for values in held]
