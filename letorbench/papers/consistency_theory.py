"""The consistency paper's theory as claims, each put to the laboratory of surrogates."""

from __future__ import annotations

import numpy as np

from letorbench.losses import loss
from letorbench.papers import checks, laboratory
from letorbench.papers.claims import Claim, Measured, exactly
from letorbench.papers.paper import Findings
from letorbench.papers.records import write_table
from letorbench.papers.runs import Study

NAME = "consistency-2011"
PART = "theory"
ORIGINAL = ("cosine", "least-squares", "cross-entropy")
CONSISTENT = ("cosine-ndcg", "least-squares-ndcg", "cross-entropy-ndcg", "qnorm", "qnorm-penalised")
#: section 3.3: "the last two are convex"; theorem 9's family is
CONVEX = ("least-squares-ndcg", "cross-entropy-ndcg", "qnorm-penalised")
DISTRIBUTIONS, FULL = 200, 2_000
#: the NDCG that a counterexample loses at least, so that it is none of rounding
LOST = 1e-3
ROUNDING = 1e-9


def _claim(name: str, text: str, how: str, value: float, sense: str) -> Claim:
    return Claim(
        NAME, name, PART, text, "none", "value", how, value, 0.0, sense, "theory",
        check=checks.number(name),
    )  # fmt: skip


CLAIMS = (
    *(
        _claim(
            f"inconsistent-{name}", f"Proposition 7: {name} is not NDCG consistent",
            f"NDCG lost by the worst counterexample among {DISTRIBUTIONS} distributions",
            LOST, "at least",
        )
        for name in ORIGINAL
    ),
    *(
        _claim(
            f"consistent-{name}-theory", f"{name} is NDCG consistent",
            f"share of counterexamples among {DISTRIBUTIONS} distributions", 0.0, "at most",
        )
        for name in CONSISTENT
    ),
    *(
        _claim(
            f"convex-{name}", f"{name} is convex", "largest excess of a midpoint over its ends' "
            "mean, 20,000 segments", ROUNDING, "at most",
        )
        for name in CONVEX
    ),
    _claim(
        "not-convex-cosine-ndcg", "cosine-ndcg is not convex",
        "largest excess of a midpoint over its ends' mean, 20,000 segments", 1e-3, "at least",
    ),
    *(
        _claim(
            f"theorem-10-{name}", f"Theorem 10 bounds the regret of {name}",
            "largest regret less its bound, 6 distances from each of the minimisers",
            ROUNDING, "at most",
        )
        for name in laboratory.STRONGLY_CONVEX
    ),
    _claim(
        "margin", "a wrong order loses the margin of equation (5) at least",
        "largest margin less what a wrong order loses, 200 mixtures of four queries",
        ROUNDING, "at most",
    ),
    _claim(
        "theorem-11", "Theorem 11 bounds the regret of least-squares-ndcg",
        "largest regret less its bound, 200 mixtures, exponents .5, 1 and 2", ROUNDING, "at most",
    ),
)  # fmt: skip


def theory(study: Study) -> Findings:
    """Sections 3 to 5: counterexamples, convexity, and the bounds of the regret."""
    trials = FULL if study.full else DISTRIBUTIONS
    found: dict[str, Measured] = {}
    for name in (*ORIGINAL, *CONSISTENT):
        study.say(f"{NAME}: {name}")
        surrogate, rng = loss(name), np.random.default_rng(study.seed)
        worst, share = laboratory.counterexample(surrogate, rng, trials)
        lost = worst.regret if worst is not None else 0.0
        note = f"{100 * share:.1f} % of {trials} distributions are counterexamples"
        found[f"inconsistent-{name}"] = exactly(lost, note)
        found[f"consistent-{name}-theory"] = exactly(share)
        violation = laboratory.nonconvexity(surrogate, rng)
        found[f"convex-{name}"] = found[f"not-convex-{name}"] = exactly(violation)
        if name in laboratory.STRONGLY_CONVEX:
            beyond = laboratory.regrets(surrogate, rng, trials).beyond(name)
            found[f"theorem-10-{name}"] = exactly(beyond)
    name, rng = "least-squares-ndcg", np.random.default_rng(study.seed)
    short, over = laboratory.theorem_11(name, loss(name), rng)
    found["margin"], found["theorem-11"] = exactly(short), exactly(over)
    rows = [[claim.id, claim.text, f"{found[claim.id].value:.3g}"] for claim in CLAIMS]
    stem = study.folder(NAME) / PART
    files = write_table(stem, "Sections 3 to 5", ["statement", "text", "measured"], rows)
    return Findings(tuple(claim.judge(found) for claim in CLAIMS), files)
