"""NDCG Boost's theory as claims: each lemma, proposition and theorem, and the fall of M."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from letorbench.datasets.synthetic.cubic import cubic
from letorbench.papers import checks, ndcg_bound
from letorbench.papers.bound_in_training import (
    Course,
    course,
    fall_rates,
    floor,
    judged,
)
from letorbench.papers.claims import Claim, Measured, exactly
from letorbench.papers.paper import Findings
from letorbench.papers.records import write_table
from letorbench.papers.runs import Study

NAME = "ndcgboost-2009"
PART = "theory"
PROBLEMS = 100_000
#: what rounding may leave of a bound that holds
ROUNDING = 1e-9
#: documents of the queries that the bounds are followed on: enumerated, and by Markov chain
LENGTHS = {5: 200, 30: 40}
ROUNDS = [0, 1, 2, 5, 10, 20, 50, 100]
#: the error that the Markov chain may leave in a mean NDCG
CHAIN_ERROR = 0.005

TEXTS = {
    "equation-6": "the two forms of equation (6) are equal",
    "lemma-1": "Lemma 1: the expected NDCG is at least H, its value at the expected ranks",
    "lemma-2": "Lemma 2: a worse document is ahead with at most a logistic probability",
    "proposition-1": "Proposition 1: 1 / log(2 + A) is at least its tangent",
    "proposition-2": "Proposition 2: a step's new inversions are at most their bound",
    "proposition-3": "Proposition 3: the bound of exp(alpha (x - y))",
    "theorem-1": "Theorem 1's alpha minimises the bound of Proposition 2",
    "theorem-1-printed": "Theorem 1 as printed: its alpha minimises M",
    "theorem-2": "Theorem 2 with its sign mended: M after a step is at most its bound",
    "theorem-2-printed": "Theorem 2 as printed: M after a step is at most its bound",
    "never-rises": "the step of Theorem 1 does not raise M",
}


def _claim(name: str, text: str, how: str, value: float, half: float, sense: str) -> Claim:
    return Claim(
        NAME, name, PART, text, "none", "value", how, value, half, sense, "theory",
        check=checks.number(name),
    )  # fmt: skip


CLAIMS = (
    *(
        _claim(
            name, text, f"largest violation over {PROBLEMS:,} random problems of 2 to 5 documents, "
            "relative to the sides, all orders enumerated", ROUNDING, 0.0, "at most",
        )
        for name, text in TEXTS.items()
    ),
    *(
        _claim(
            f"bound-of-{m}", f"H bounds the expected NDCG through training, {m} documents",
            "largest H - L over the rounds" + ("" if m <= 6 else ", L by Markov chain"),
            ROUNDING if m <= 6 else CHAIN_ERROR, 0.0, "at most",
        )
        for m in LENGTHS
    ),
    _claim(
        "exponential-fall", "M falls exponentially", "the rate at which log(M - its floor) falls "
        "in the last quarter of 100 rounds, over that in the first; 1 where the fall is "
        "exponential", 1.0, 0.5, "equal",
    ),
)  # fmt: skip


def theory(study: Study) -> Findings:
    """Section 3: every statement on random problems, the bounds and M through training."""
    found: dict[str, Measured] = {}
    for number, name in enumerate(ndcg_bound.STATEMENTS):
        study.say(f"{NAME}: {name}")
        rng = np.random.default_rng([study.seed, number])
        found[name] = exactly(ndcg_bound.largest(name, rng, PROBLEMS))
    rng = np.random.default_rng(study.seed)
    courses = [course(rng, queries, m, ROUNDS) for m, queries in LENGTHS.items()]
    for each in courses:
        gap = max(bound - L for bound, L in zip(each.by_rank, each.ndcg))
        found[f"bound-of-{each.documents}"] = exactly(gap)
    (train,) = cubic(rng, [100], 20, 30, (0.5, 0.3, 0.2))
    train = judged(train)
    objective, early, late = fall_rates(train, ROUNDS[-1])
    note = f"a round's fall of log(M - floor): {early:.4f} early, {late:.4f} late"
    found["exponential-fall"] = exactly(late / early, note)
    rows = [[name, TEXTS.get(name, ""), f"{each.value:.3g}"] for name, each in found.items()]
    stem = study.folder(NAME) / PART
    header = ["statement", "text", "largest violation"]
    files: tuple[Path, ...] = write_table(stem, "Section 3", header, rows)
    files += tuple(_drawn(courses, objective - floor(train), stem))
    verdicts = tuple(claim.judge(found) for claim in CLAIMS)
    differs = (
        "equation (18) has a sign slip, and Theorem 1's step minimises the bound, not M: both "
        "are checked as printed and as meant",
    )
    return Findings(verdicts, tuple(files), differs)


def _drawn(courses: list[Course], left: np.ndarray, stem: Path) -> list[Path]:
    """The bounds against rounds, a panel for each length, and M less its floor."""
    from letorbench.papers.paper_figures import Axis, Line, lines_figure

    panels = [
        Axis(
            f"{each.documents} documents",
            "rounds",
            "NDCG",
            {
                "expected NDCG, L": Line(each.rounds, each.ndcg),
                "H, expected ranks (3)": Line(each.rounds, each.by_rank),
                "H, logistic ranks (9)": Line(each.rounds, each.by_logistic),
            },
        )
        for each in courses
    ]
    log = np.log10(left / left[0])
    quarter = len(log) // 4
    panels.append(
        Axis(
            "M (11) less its floor", "rounds", "log10, over its start",
            {
                "M - floor": Line(range(0, len(log), 10), log[::10]),
                "an exponential fall": Line(
                    [0, len(log) - 1], [0.0, log[quarter] / quarter * (len(log) - 1)]
                ),
            },
        )
    )  # fmt: skip
    return lines_figure(panels, stem)
