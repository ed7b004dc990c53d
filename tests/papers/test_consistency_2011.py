"""The worked example, and the rules of the paper's claims on values made for them."""

from __future__ import annotations

import numpy as np
import pytest

from letorbench.papers import consistency_2011 as consistency
from letorbench.papers.claims import (
    NO_DATA,
    NOT_REPRODUCED,
    REPRODUCED,
)
from letorbench.papers.runs import Study, Values

CLAIMS = {claim.id: claim for claim in consistency.CLAIMS}


def values(level, rng, spread=0.002):
    drawn = level + rng.normal(0.0, spread, (60, 10))
    return Values(consistency.CUTOFFS, drawn, np.repeat([1, 2, 3], 20))


def found(rng, **levels):
    names = [s + c for s in consistency.SURROGATES for c in ("", "-ndcg@1", "-ndcg@10", "-ndcg")]
    return {n: values(levels.get(n.replace("-", "_"), 0.40), rng) for n in (*names, "qnorm")}


def test_worked_example_of_section_3_2_1(tmp_path):
    findings = consistency.example(Study(tmp_path, tmp_path))
    got = {v.claim.id: v for v in findings.verdicts}
    assert {v.verdict for v in got.values()} == {REPRODUCED}
    assert got["share-first"].value == pytest.approx(0.3216, abs=5e-5)
    assert got["share-second"].value == pytest.approx(0.7533, abs=5e-5)
    assert got["reversed"].value == -1.0


def judged(name, results):
    return CLAIMS[name].judge(results)


def test_single_claims(rng):
    results = found(rng, qnorm=0.5, cross_entropy=0.55, cross_entropy_ndcg=0.52)
    above = judged("ohsumed-qnorm-cosine", results)
    below = judged("ohsumed-qnorm-cross-entropy", results)
    assert (above.verdict, below.verdict) == (REPRODUCED, NOT_REPRODUCED)
    assert above.value == pytest.approx(0.10, abs=0.002)
    assert below.value == pytest.approx(-0.05, abs=0.002)
    del results["qnorm"]
    assert judged("ohsumed-qnorm-cosine", results).verdict == NO_DATA
    results = found(rng, cross_entropy_ndcg=0.52)
    best = judged("hp2003-best-case", results)
    # the best of .40, .40 and .52 over .40
    assert best.verdict == REPRODUCED and best.value == pytest.approx(0.30, abs=0.005)
    assert "best" in best.claim.how
    results = found(rng, cross_entropy_ndcg=0.44, **{"cross_entropy_ndcg@1": 0.2})
    missed = judged("hp2003-best-case", results)
    assert (missed.verdict, missed.answers.direction) == (NOT_REPRODUCED, "yes")
    assert missed.value == pytest.approx(0.10, abs=0.005)
    down = judged("np2004-degradation", results)
    assert down.verdict == NOT_REPRODUCED
    assert judged("np2004-degradation", {}).verdict == NO_DATA


def test_small_is_a_margin_and_not_an_order(rng):
    assert judged("np2004-small", found(rng, cross_entropy_ndcg=0.395)).verdict == REPRODUCED
    assert judged("np2004-small", found(rng, cross_entropy_ndcg=0.35)).verdict == NOT_REPRODUCED


def test_the_headline_is_judged_on_each_set_and_over_all(rng):
    better = {"OHSUMED": found(rng, cosine_ndcg=0.42), "MQ2008": found(rng, cosine_ndcg=0.41)}
    claim = CLAIMS["consistent-cosine"]
    assert claim.judge(better).verdict == REPRODUCED
    assert claim.judge({"OHSUMED": better["OHSUMED"]}).verdict == NO_DATA
    assert judged("ohsumed-consistent-cosine", better["OHSUMED"]).verdict == REPRODUCED
