"""How often the rules of the papers give which answer, where the truth is known.

    python -m benchmarks.judging RESULTS [--only PAPER/PART ...] [--trials 100]

Through `letorbench.papers.rules.judge` itself, on each claim's own comparisons and its own data:
RESULTS is a folder in which `letorbench reproduce all` has run. The stored values of the upper
method are moved so that the true lead is that of the row, and the queries (or draws of data) are
resampled. A training sample moves all queries together: in each trial the lead is off by a normal
number of the deviation that re-splits show, and the judge sees as many re-splits, whose numbers
have this deviation. *Agrees* is right at the paper's lead (3 % if it prints none; 0 if it calls
methods comparable), and wrong at 0 (or at the band's edge). The data can decide a claim if the
right answer comes out in half of the trials; otherwise the row says how many queries that would
take.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np

from letorbench.papers import PAPERS, paper, rules
from letorbench.papers.paper import Claim, Paper, Part, Test
from letorbench.papers.records import markdown
from letorbench.papers.reproduction import run_part
from letorbench.papers.runs import ByMethod, Context, are_draws
from letorbench.results.per_query import PerQuery

Methods = Mapping[str, PerQuery]
#: of a resample in a trial; the pages' 2,000 change an interval's ends by a hundredth of its length
DRAWS = 200
#: more queries than this are not tried
MOST = 100_000
RIGHT = (rules.AGREES, rules.SMALLER, rules.LARGER)
HEAD = ("claim", "data", "sd of re-splits", "right at", "agrees", "wrong at", "agrees",
        "agrees without re-splits", "no difference", "opposite", "decided")  # fmt: skip


def moved(own: Methods, test: Test, effect: float) -> dict[str, PerQuery]:
    """The values with the mean that the truth gives each upper method: 1 + effect times the lower.

    A method that is above several is moved to the mean of these; for "best" to the best of them.
    """
    found = dict(own)
    for upper in dict.fromkeys(p.upper for p in test.points()):
        lower = [own[p.lower] for p in test.points() if p.upper == upper and p.lower in own]
        if upper in own and lower:
            tables = {}
            for measure, table in own[upper].tables.items():
                means = np.array([each.tables[measure].mean() for each in lower])
                base = means.max() if test.kind == "best" else means.mean()
                tables[measure] = table + (1.0 + effect) * base - table.mean()
            found[upper] = replace(own[upper], tables=tables)
    return found


def drawn(own: Methods, n: int, rng: np.random.Generator) -> dict[str, PerQuery]:
    """As many queries, or draws of data, drawn again, the same for all methods."""
    first = next(iter(own.values()))
    rows = rng.integers(len(first.folds), size=n)
    folds = np.arange(n) if are_draws(first) else np.arange(n) % 5
    found = {}
    for name, each in own.items():
        tables = {measure: table[:, rows] for measure, table in each.tables.items()}
        found[name] = PerQuery(name, folds, first.qids[rows], tables)
    return found


def answers(
    claim: Claim, own: Methods, effect: float, n: int, trials: int, numbers: np.ndarray,
    leads: np.ndarray, with_resplits: bool = True,
) -> Counter:  # fmt: skip
    """The answers of a part of a claim on n queries with a true lead of `effect`.

    numbers, leads: of re-splits, the part's numbers and its mean leads, whose variances fall with
    the training queries. The judge gets the numbers, unless `with_resplits` is False.
    """
    rng, (test,), found = np.random.default_rng(0), claim.tests, Counter[str]()
    n_here = len(next(iter(own.values())).folds)
    of_number, of_lead = (
        each.std(ddof=1) * (n_here / n) ** 0.5 if len(each) else 0.0 for each in (numbers, leads)
    )
    for _ in range(trials):
        shifted = moved(own, test, effect + of_lead * rng.normal())
        between = {(test.part, "D"): of_number * rng.normal(size=len(numbers))}
        values = {"D": drawn(shifted, n, rng)}
        shown = between if with_resplits and len(numbers) else {}
        found[rules.judge(claim, values, {}, DRAWS, shown).answer] += 1
    return found


def headline(made: Paper, part: Part, context: Context) -> tuple[ByMethod, Sequence[ByMethod]]:
    """The values of our specification, and those on new draws of the folds."""
    first = {choice: dict([next(iter(axis.items()))]) for choice, axis in part.axes.items()}
    found = run_part(made, replace(part, axes=first), context)
    return next(iter(found.values.values()), {}), found.redrawn


def rows(parts: Sequence[str], context: Context, trials: int) -> Iterator[list[str]]:
    """A row a part of a claim and data set on which it is judged."""
    for made, part in ((m, p) for m in map(paper, PAPERS) for p in m.parts.values()):
        claims = [c for c in made.claims if c.part == part.name and c.tests[0].compares]
        here = [name for name in (*part.data, *part.other_data) if context.has(name)]
        judged = [c for c in claims if any(d in c.data or c.on(d) for d in here)]
        asked = not parts or f"{made.name}/{part.name}" in parts
        if not asked or not (judged or (claims and part.form == "module")):
            continue
        values, redrawn = headline(made, part, context)
        for claim, (place, own) in product(claims, values.items()):
            for test in (t for t in claim.tests if t.compares):
                if (place in test.data or claim.on(place)) and {*test.methods} <= own.keys():
                    numbers = _on_draws(claim, test, place, redrawn)
                    leads = numbers
                    if test.kind == "one-sided":  # its number is no lead
                        leads = _on_draws(claim, replace(test, kind="above"), place, redrawn)
                    alone = replace(claim, tests=(replace(test, data=("D",)),))
                    used = {name: own[name] for name in test.methods}
                    yield [*_row(alone, place, used, trials, numbers, leads)]


def _on_draws(claim: Claim, test: Test, place: str, redrawn: Sequence[ByMethod]) -> np.ndarray:
    """A part's number on each re-split of a data set."""
    there = replace(claim, tests=(replace(test, data=(place,)),))
    return rules.on_draws(there, redrawn).get((test.part, place), np.empty(0))


def _row(
    claim: Claim, place: str, own: Methods, trials: int, numbers: np.ndarray, moves: np.ndarray
) -> Iterator[str]:  # fmt: skip
    (test,) = claim.tests
    leads = [p.lead for p in test.points() if p.lead is not None]
    alike = test.kind in ("alike", "not below")
    right, wrong = float(np.mean(leads)) if leads else rules.EFFECT, 0.0
    if alike:
        right, wrong = 0.0, -max([rules.BAND, *map(abs, leads)])
    n = len(next(iter(own.values())).folds)
    answered = answers(claim, own, right, n, trials, numbers, moves)
    false = answers(claim, own, wrong, n, trials, numbers, moves)
    narrow = answers(claim, own, wrong, n, trials, numbers, moves, with_resplits=False)
    against = answers(claim, own, 2.0 * wrong if alike else -right, n, trials, numbers, moves)
    share, wanted, few = answered[rules.AGREES] / trials, n, max(trials // 4, 1)
    while share < 0.5 and wanted < MOST:
        wanted = round(1.5 * wanted)
        share = answers(claim, own, right, wanted, few, numbers, moves)[rules.AGREES] / few
    name = claim.id + f", {test.part}" * bool(test.part)
    decides = "yes" if wanted == n else f"from {wanted:,} on" if wanted < MOST else "no"
    yield from (f"{claim.paper}/{name}", f"{place}, {n}")
    yield f"{numbers.std(ddof=1):.1%}" if len(numbers) else "-"
    yield from (f"{right:+.1%}", f"{answered[rules.AGREES] / trials:.2f}", f"{wrong:+.1%}")
    yield from (f"{sum(each[a] for a in RIGHT) / trials:.2f}" for each in (false, narrow))
    yield "-" if alike else f"{false[rules.NO_DIFFERENCE] / trials:.2f}"
    opposite = rules.NOT_HELD if alike else rules.OPPOSITE
    yield from (f"{against[opposite] / trials:.2f}", decides)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=Path)
    parser.add_argument("--only", nargs="+", default=(), metavar="PAPER/PART")
    parser.add_argument("--data-dir", type=Path, default=Path("data"))
    parser.add_argument("--trials", type=int, default=100)
    options = parser.parse_args()
    start = time.process_time()
    context = Context(options.data_dir, options.results)
    print(markdown(HEAD, rows(options.only, context, options.trials)), end="")
    seconds = time.process_time() - start
    print(f"\n{options.trials} trials per cell, {seconds:.0f} s of one processor")


if __name__ == "__main__":
    main()
