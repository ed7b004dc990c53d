"""How often the rules of the papers give which answer, where the truth is known.

    python -m benchmarks.judging RESULTS [--papers NAME ...] [--trials 100]

Through `letorbench.papers.rules.judge` itself, on each claim's own comparisons and its own data:
RESULTS is a folder in which `letorbench reproduce all` has run. The stored values of the upper
method are moved so that the true lead is that of the row, and the queries (or draws of data) are
resampled. *Agrees* is right at the paper's lead (3 % if it prints none; 0 if it calls methods
comparable), and wrong at 0 (or at the band's edge). The data can decide a claim if the right answer
comes out in half of the trials; otherwise the row says how many queries that would take.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from letorbench.papers import PAPERS, paper, rules
from letorbench.papers.paper import Claim, Test
from letorbench.papers.records import markdown
from letorbench.papers.reproduction import run_part
from letorbench.papers.runs import ByMethod, Context, are_draws
from letorbench.results.per_query import PerQuery

Methods = Mapping[str, PerQuery]
#: of a resample in a trial; the pages' 2,000 change an interval's ends by a hundredth of its length
DRAWS = 200
#: more queries than this are not said
MOST = 100_000
RIGHT = (rules.AGREES, rules.SMALLER, rules.LARGER)
HEAD = ("claim", "data", "right at", "agrees", "wrong at", "agrees", "no difference", "opposite",
        "decided")  # fmt: skip


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


def answers(claim: Claim, own: Methods, effect: float, n: int, trials: int) -> Counter:
    """The answers of a part of a claim on so many queries, where the true lead is so."""
    rng, found = np.random.default_rng(0), moved(own, claim.tests[0], effect)
    return Counter(
        rules.judge(claim, {"D": drawn(found, n, rng)}, {}, DRAWS).answer for _ in range(trials)
    )


def rows(papers: Sequence[str], context: Context, trials: int) -> Iterator[list[str]]:
    """A row a part of a claim and data set on which it is judged."""
    for made in map(paper, papers):
        kept: dict[str, ByMethod] = {}
        for claim in made.claims:
            part = made.parts[claim.part]
            here = [name for name in (*part.data, *part.other_data) if context.has(name)]
            judged = part.form == "module" or any(d in claim.data or claim.on(d) for d in here)
            for test in (t for t in claim.tests if t.compares and judged):
                if claim.part not in kept:
                    found = run_part(made, part, context).values
                    kept[claim.part] = next(iter(found.values()), {})
                for place, own in kept[claim.part].items():
                    alone = replace(claim, tests=(replace(test, data=("D",)),))
                    names = {name for p in test.points() for name in (p.upper, p.lower)}
                    if (place in test.data or claim.on(place)) and names <= own.keys():
                        used = {name: own[name] for name in names}
                        yield [*_row(alone, place, used, trials)]


def _row(claim: Claim, place: str, own: Methods, trials: int) -> Iterator[str]:
    (test,) = claim.tests
    leads = [p.lead for p in test.points() if p.lead is not None]
    alike = test.kind in ("alike", "not below")
    right, wrong = float(np.mean(leads)) if leads else rules.EFFECT, 0.0
    if alike:
        right, wrong = 0.0, -max([rules.BAND, *map(abs, leads)])
    n = len(next(iter(own.values())).folds)
    told = answers(claim, own, right, n, trials)
    false = answers(claim, own, wrong, n, trials)
    against = answers(claim, own, 2.0 * wrong if alike else -right, n, trials)
    share, wanted = told[rules.AGREES] / trials, n
    while share < 0.5 and wanted < MOST:
        wanted = round(1.5 * wanted)
        share = answers(claim, own, right, wanted, trials // 4)[rules.AGREES] / (trials // 4)
    few = claim.id + f", {test.part}" * bool(test.part)
    said = "yes" if wanted == n else f"from {wanted:,} on" if wanted < MOST else "no"
    yield from (f"{claim.paper}/{few}", f"{place}, {n}", f"{right:+.1%}")
    yield from (f"{told[rules.AGREES] / trials:.2f}", f"{wrong:+.1%}")
    yield f"{sum(false[a] for a in RIGHT) / trials:.2f}"
    yield "-" if alike else f"{false[rules.NO_DIFFERENCE] / trials:.2f}"
    yield from (f"{against[rules.OPPOSITE] / trials:.2f}", said)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=Path)
    parser.add_argument("--papers", nargs="+", choices=list(PAPERS), default=list(PAPERS))
    parser.add_argument("--data-dir", type=Path, default=Path("data"))
    parser.add_argument("--trials", type=int, default=100)
    options = parser.parse_args()
    start = time.process_time()
    context = Context(options.data_dir, options.results)
    print(markdown(HEAD, rows(options.papers, context, options.trials)), end="")
    seconds = time.process_time() - start
    print(f"\n{options.trials} trials per cell, {seconds:.0f} s of one processor")


if __name__ == "__main__":
    main()
