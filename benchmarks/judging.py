"""How often the rules of the papers give which answer, where the truth is known.

    python -m benchmarks.judging RESULTS [--papers NAME ...] [--trials 400]

Through `letorbench.papers.rules.judge` itself, on each claim's own comparisons and its own data:
RESULTS is a folder in which `letorbench reproduce all` has run. The stored values of the upper
method are moved so that the true lead is none, or the paper's (3 % where it prints none), and the
queries are drawn anew. A claim is told where the right answer comes out in half of the cases at
the paper's effect; else the last column has from how many queries on it would.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from letorbench.papers import PAPERS, paper, rules
from letorbench.papers.claims import Claim, Test
from letorbench.papers.paper import Part
from letorbench.papers.records import markdown
from letorbench.papers.runs import Study, Values

#: the lead of what prints none
EFFECT = 0.03
#: of a resample in a trial; the pages' 2,000 change an interval's ends by a hundredth of its length
DRAWS = 300
RIGHT = (rules.AGREES, rules.SMALLER, rules.LARGER)


def stored(part: Part, made: Mapping, study: Study) -> dict[str, dict[str, Values]]:
    """The values of a part's methods on the data at hand, by its first protocol."""
    select, kind = next(iter(part.protocols.values()))
    variants = [made[name] for name in part.methods]
    return {
        name: study.runs(name, variants, part.measures, part.convention, part.repeats, select, kind)
        for name in (*part.data, *part.beside)
        if study.has(name)
    }


def moved(own: Mapping[str, Values], test: Test, effect: float | None) -> dict[str, Values]:
    """The values with the mean that the truth gives each upper method: 1 + effect times the lower.

    None leaves no lead. A method that is above several is moved to the mean of these.
    """
    found = dict(own)
    for upper in dict.fromkeys(p.upper for p in test.points()):
        lower = [own[p.lower] for p in test.points() if p.upper == upper and p.lower in own]
        if upper in own and lower:
            base = np.mean([each.values.mean(axis=(0, 1)) for each in lower], axis=0)
            shift = (1.0 + (effect or 0.0)) * base - own[upper].values.mean(axis=(0, 1))
            found[upper] = replace(own[upper], values=own[upper].values + shift)
    return found


def drawn(own: Mapping[str, Values], n: int, rng: np.random.Generator) -> dict[str, Values]:
    """As many queries drawn again, the same for all methods."""
    total = len(next(iter(own.values())).folds)
    rows = rng.integers(total, size=n)
    return {
        name: replace(each, values=each.values[:, rows], folds=np.arange(n) % 5)
        for name, each in own.items()
    }


def rates(
    claim: Claim, test: Test, own: Mapping[str, Values], effect: float | None, n: int, trials: int
) -> Counter:
    """The answers of a part of a claim on so many queries, where the truth is so."""
    rng, found = np.random.default_rng(0), moved(own, test, effect)
    alone = replace(claim, tests=(replace(test, data=("D",)),))
    return Counter(
        rules.judge(alone, {"D": drawn(found, n, rng)}, {}, DRAWS).answer for _ in range(trials)
    )


def rows(papers: Sequence[str], results: Path, data_dir: Path, trials: int) -> Iterator[list[str]]:
    """A row a part of a claim and data set."""
    study = Study(data_dir, results)
    for made in map(paper, papers):
        kept: dict[str, dict[str, dict[str, Values]]] = {}
        for claim in made.claims:
            part = made.parts[claim.part]
            for test in (t for t in claim.tests if t.kind in ("above", "best")):
                if part.form == "module" or part.optional:
                    continue
                if part.name not in kept:
                    kept[part.name] = stored(part, made.methods, study)
                for place, own in kept[part.name].items():
                    if place not in test.data and not claim.general:
                        continue
                    moving = replace(test, data=(place,))
                    told = [p.lead for p in moving.points() if p.lead is not None]
                    effect = float(np.mean(told)) if told else EFFECT
                    n = len(next(iter(own.values())).folds)
                    none = rates(claim, moving, own, None, n, trials)
                    at = rates(claim, moving, own, effect, n, trials)
                    share, wanted = at[rules.AGREES] / trials, n
                    while share < 0.5 and wanted < 32 * n:
                        wanted *= 2
                        more = rates(claim, moving, own, effect, wanted, trials // 4)
                        if more[rules.AGREES] / (trials // 4) >= 0.5:
                            break
                    name = f"{claim.paper}/{claim.id}" + f", {test.part}" * bool(test.part)
                    yield [
                        name, place, f"{effect:+.1%}",
                        f"{sum(none[a] for a in RIGHT) / trials:.3f}",
                        f"{share:.2f}", f"{at[rules.CANNOT_TELL] / trials:.2f}",
                        "yes" if share >= 0.5 else f"from {wanted:,} queries",
                    ]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=Path)
    parser.add_argument("--papers", nargs="+", choices=list(PAPERS), default=list(PAPERS))
    parser.add_argument("--data-dir", type=Path, default=Path("data"))
    parser.add_argument("--trials", type=int, default=400)
    options = parser.parse_args()
    head = ("claim", "data", "effect", "agrees under none", "agrees at it", "cannot tell", "told")
    print(
        markdown(head, rows(options.papers, options.results, options.data_dir, options.trials)),
        end="",
    )


if __name__ == "__main__":
    main()
