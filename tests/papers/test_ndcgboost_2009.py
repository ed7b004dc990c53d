"""Figure 1 and its claims on a small data set that stands where OHSUMED would."""

from __future__ import annotations

import numpy as np
import pytest

from letorbench.papers import PAPERS, judge, ndcgboost_2009, paper
from letorbench.papers.claims import NOT_REPRODUCED, REPRODUCED
from letorbench.papers.runs import Values
from letorbench.results.per_query import mean_of_folds


@pytest.mark.parametrize("name", PAPERS)
def test_claims_have_names_of_their_own_and_a_part_that_exists(name):
    found = paper(name)
    assert found.name == name
    assert len({claim.id for claim in found.claims}) == len(found.claims)
    assert {claim.part for claim in found.claims} <= set(found.parts)
    assert {claim.paper for claim in found.claims} == {name}


def test_the_best_of_six_baselines_is_judged_as_one_of_six(rng):
    drawn = {m: rng.normal(0.0, 0.1, (100, 10)) for m in ndcgboost_2009.METHODS}
    drawn["listnet"] += 0.04
    folds = np.repeat(np.arange(5), 20)
    found = {m: Values(ndcgboost_2009.CUTOFFS, v, folds) for m, v in drawn.items()}
    claim = next(c for c in ndcgboost_2009.CLAIMS if c.id == "ohsumed-best")
    verdict = claim.judge(found)
    own, best = drawn["ndcgboost"].mean(axis=1), drawn["listnet"].mean(axis=1)
    alone = judge.superiority(claim, judge.Pair(own, best, folds))
    assert verdict.note.startswith("best of the baselines: listnet; ")
    assert verdict.p == pytest.approx(6 * alone.p) and 0.0 < alone.p < 0.1


VALUES = {f"{dataset}-value-ndcgboost" for dataset in ("ohsumed", "td2003", "hp2004")} | {
    f"td2003-above-printed-{other}" for other in ("ranksvm", "listnet", "regression", "frank")
}
BEST = {f"{dataset.lower()}-best" for dataset in ndcgboost_2009.PANELS}
PRINTED = {"ranksvm": 0.344, "listnet": 0.337, "regression": 0.307, "frank": 0.267}
ABOVE_LISTNET = {f"{dataset}-ndcgboost-above-listnet" for dataset in ("ohsumed", "td2004")}


def test_every_check_compares_what_its_claim_says(rng):
    """Every method and cut-off has a level of its own, so that another one gives another value."""
    folds = np.repeat(np.arange(5), 20)
    found = {
        m: Values(ndcgboost_2009.CUTOFFS, rng.uniform(0.2, 0.8, 10) + rng.random((100, 10)), folds)
        for m in ndcgboost_2009.METHODS
    }
    third = {m: values.mean("ndcg@3") for m, values in found.items()}
    level = {m: mean_of_folds(values.level, folds) for m, values in found.items()}

    def best(values, *without):
        return max(value for m, value in values.items() if m not in without)

    def others(method):
        rest = [m for m in ndcgboost_2009.BASELINES if m != method]
        return float(np.mean([level[m] for m in rest]))

    expected = {
        "ohsumed-value-ndcgboost": third["ndcgboost"],
        "td2003-value-ndcgboost": third["ndcgboost"],
        "td2003-value-ranksvm": third["ranksvm"],
        "hp2004-value-ndcgboost": third["ndcgboost"],
        "hp2004-value-svmmap": third["svmmap"],
        "ohsumed-above-frank": third["ndcgboost"] / third["frank"] - 1.0,
        "td2003-above-ranksvm": third["ndcgboost"] / third["ranksvm"] - 1.0,
        "hp2004-above-svmmap": third["ndcgboost"] / third["svmmap"] - 1.0,
        "ohsumed-second-frank": third["frank"] - best(third, "frank", "ndcgboost"),
        "td2003-second-ranksvm": third["ranksvm"] - best(third, "ranksvm", "ndcgboost"),
        "hp2004-second-svmmap": third["svmmap"] - best(third, "svmmap", "ndcgboost"),
        **{name: level["ndcgboost"] - best(level, "ndcgboost") for name in BEST},
        "td2003-regression-above-adarank-ndcg": level["regression"] - level["adarank-ndcg"],
        "td2003-regression-above-frank": level["regression"] - level["frank"],
        "ohsumed-value-frank": third["frank"],
        **{
            f"td2003-above-printed-{other}": third["ndcgboost"] / printed - 1.0
            for other, printed in PRINTED.items()
        },
        **{
            f"{dataset.lower()}-well-{m}": level[m] - others(m)
            for m, sets in ndcgboost_2009.WELL.items()
            for dataset in sets
        },
        **{
            f"{dataset.lower()}-poorly-{m}": others(m) - level[m]
            for m, sets in ndcgboost_2009.POORLY.items()
            for dataset in sets
        },
        **{name: level["ndcgboost"] - level["listnet"] for name in ABOVE_LISTNET},
        "ohsumed-ndcgboost-above-ranksvm": level["ndcgboost"] - level["ranksvm"],
        "td2004-ndcgboost-above-ranksvm": level["ndcgboost"] - level["ranksvm"],
    }
    claims = [c for c in ndcgboost_2009.CLAIMS if c.check.source == "values"]
    got = {claim.id: claim.judge(found).value for claim in claims}
    assert got == pytest.approx(expected)


def test_claims_over_the_sets(rng, monkeypatch):
    monkeypatch.setattr(ndcgboost_2009, "RESAMPLES", 100)
    folds = np.repeat(np.arange(5), 20)

    def made(**levels):
        base = rng.normal(0.0, 0.01, (100, 10))
        names = ndcgboost_2009.METHODS
        return {m: Values(ndcgboost_2009.CUTOFFS, base + levels.get(m, 0.4), folds) for m in names}

    claims = {c.id: c for c in ndcgboost_2009.CLAIMS}
    best = {"a": made(ndcgboost=0.5), "b": made(ndcgboost=0.45)}
    mixed = {"a": made(ndcgboost=0.5), "b": made(ndcgboost=0.3)}
    for name, verdicts in (
        ("almost-always-best", (REPRODUCED, NOT_REPRODUCED)),
        ("most-stable", (REPRODUCED, NOT_REPRODUCED)),
        ("superior-listnet", (REPRODUCED, None)),
    ):
        for found, verdict in zip((best, mixed), verdicts):
            got = claims[name].judge(found)
            assert verdict is None or got.verdict == verdict, (name, got)
    assert claims["almost-always-best"].judge(mixed).value == 0.5
    assert claims["most-stable"].judge(mixed).value == pytest.approx(0.2 - 0.25, abs=1e-3)
