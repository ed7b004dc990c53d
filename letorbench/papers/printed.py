"""Against the printed tables: the paper's numbers, LETOR's published baselines, and ours.

A paper of 2009 compared its method with the baselines that LETOR had published. A rerun baseline
that does not meet LETOR's number makes another comparison of it: both are shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, replace
from functools import cache
from itertools import product
from pathlib import Path

from letorbench.analysis.published import Published, lookup
from letorbench.analysis.tables import Value, write_table
from letorbench.papers.paper import Paper, Part
from letorbench.papers.records import write_section
from letorbench.papers.rules import IMPLEMENTATIONS
from letorbench.papers.runs import Values

#: who published LETOR's baselines, the more digits first
BASELINES = ("letor4-site", "liu-book")
#: protocol -> data set -> method -> values
Found = Mapping[str, Mapping[str, Mapping[str, Values]]]


@cache
def baseline(dataset: str, method: str, measure: str) -> Published | None:
    """LETOR's published number of our ranker of that name."""
    rows = {row.source: row for row in lookup(dataset, measure) if row.ours == method}
    return next((rows[source] for source in BASELINES if source in rows), None)


def of_paper(paper: Paper) -> dict[tuple[str, str, str], float]:
    """(data set, method, measure) -> what the paper prints, or what its printed lead implies."""
    tests = [test for claim in paper.claims for test in claim.tests]
    found = {
        (data, test.number, measure): test.printed
        for test in tests
        if test.kind == "equal" and test.printed is not None
        for data in test.data
        for measure in test.measures
    }
    for point in (point for test in tests if test.lead for point in test.points()):
        above = found.get((point.dataset, point.upper, point.measure))
        if above and point.lead:
            implied = above / (1.0 + point.lead)
            found.setdefault((point.dataset, point.lower, point.measure), implied)
    return found


def compared(paper: Paper, part: Part, dataset: str) -> list[str]:
    """The methods of a part that have a printed number on a data set."""
    own = {(data, method) for data, method, _ in of_paper(paper)}
    return [
        method
        for method in part.methods
        if (dataset, method) in own or any(baseline(dataset, method, m) for m in part.measures)
    ]


def meets(ours: float, printed: float, digits: int) -> bool:
    """Whether they differ by what two implementations do, and by rounding, at most."""
    return abs(ours - printed) <= 0.5 * 10.0**-digits + IMPLEMENTATIONS * printed


def numbers(paper: Paper, part: Part, found: Found) -> list[list[Value]]:
    """A row a data set, method and measure: the paper's number, LETOR's, ours by protocol.

    The last cell says by how many protocols ours meets LETOR's, or the paper's where LETOR's is
    not known.
    """
    told, rows = of_paper(paper), list[list[Value]]()
    for dataset, method, measure in product(part.data, part.methods, part.measures):
        of, theirs = told.get((dataset, method, measure)), baseline(dataset, method, measure)
        if of is None and theirs is None:
            continue
        printed, digits = (
            (of or 0.0, 2)
            if theirs is None
            else (theirs.value, len(theirs.printed.partition(".")[2]))
        )
        ours = [_mean(own, dataset, method, measure) for own in found.values()]
        held = [each for each in ours if each is not None]
        near = sum(meets(each, printed, digits) for each in held)
        said = f"by {near} of {len(held)}" if held else "-"
        value = None if theirs is None else theirs.value
        rows.append([dataset, method, measure.upper(), of, value, *ours, said])
    return rows


def leads(paper: Paper, part: Part, found: Found) -> list[list[Value]]:
    """A row a claimed lead over a baseline with a printed number: of whose numbers it is how large.

    As printed, ours over the printed baseline, and ours over ours by each protocol.
    """
    told, rows = of_paper(paper), list[list[Value]]()
    tests = [test for claim in paper.claims for test in claim.tests if test.kind == "above"]
    points = dict.fromkeys(replace(p, lead=None, group="") for t in tests for p in t.points())

    def printed(dataset: str, method: str, measure: str) -> float | None:
        theirs = baseline(dataset, method, measure)
        return told.get((dataset, method, measure)) if theirs is None else theirs.value

    for point in points:
        dataset, upper, lower, measure = astuple(point)[:4]
        below = printed(dataset, lower, measure)
        if below is None:
            continue
        ours = [
            [_mean(own, dataset, each, measure) for each in (upper, lower)]
            for own in found.values()
        ]
        every = [(printed(dataset, upper, measure), below), (ours[0][0], below), *ours]
        said = [f"{100.0 * (a / b - 1.0):+.1f} %" if a and b else "-" for a, b in every]
        if set(said) != {"-"}:
            rows.append([dataset, measure.upper(), f"{upper} over {lower}", *said])
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
        f"{100.0 * IMPLEMENTATIONS:g} % and rounding: {told or 'none is at hand'}. The sign of a "
        f"claimed lead depends on whose baseline it is over: {'; '.join(turned) or 'nowhere'}."
    )


def files(paper: Paper, part: Part, found: Found, stem: Path) -> list[Path]:
    """The two tables, and the section of the page with what they come to."""
    head = ["data", "method", "measure", "paper", "LETOR", *found, "meets the print"]
    heads = ["data", "measure", "lead", "as printed", "ours over the print"]
    heads += [f"ours: {name}" for name in found]
    rows, claimed = numbers(paper, part, found), leads(paper, part, found)
    return [
        *write_table(stem, part.title, head, rows),
        *write_table(stem.with_name(f"{stem.name}-leads"), part.title, heads, claimed),
        write_section(
            stem.with_suffix(".md"), part.title, [(head, rows), (heads, claimed)],
            sentence(rows, claimed),
        ),
    ]  # fmt: skip


def _mean(
    found: Mapping[str, Mapping[str, Values]], dataset: str, method: str, measure: str
) -> float | None:
    values = found.get(dataset, {}).get(method)
    return None if values is None else values.mean(measure)
