"""Figure 1 and its claims on a small data set that stands where OHSUMED would."""

from __future__ import annotations

import numpy as np
import pytest
from click.testing import CliRunner

from letorbench.cli.reproduce import reproduce
from letorbench.papers import PAPERS, judge, ndcgboost_2009, paper
from letorbench.papers.claims import NO_DATA, NOT_REPRODUCED, REPRODUCED
from letorbench.papers.study import Values


@pytest.mark.parametrize("name", PAPERS)
def test_claims_have_names_of_their_own_and_a_part_that_exists(name):
    found = paper(name)
    assert found.name == name
    assert len({claim.id for claim in found.claims}) == len(found.claims)
    assert {claim.part for claim in found.claims} <= set(found.parts)
    assert {claim.paper for claim in found.claims} == {name}
    assert all((c.value is None) == (c.kind == "ordering") for c in found.claims)


def test_without_data_every_claim_says_how_to_get_them(tmp_path):
    folders = ["--data-dir", str(tmp_path / "data"), "--out", str(tmp_path / "results")]
    result = CliRunner().invoke(reproduce, ["ndcgboost-2009", *folders])
    assert result.exit_code == 0, result.output
    assert "letorbench datasets show TD2003" in result.output
    written = (tmp_path / "results/papers/ndcgboost-2009/claims.csv").read_text()
    assert written.count(NO_DATA) == len(ndcgboost_2009.CLAIMS)


def test_each_kind_of_claim_is_judged_by_its_own_methods(rng):
    levels = {m: 0.40 + 0.01 * i for i, m in enumerate(ndcgboost_2009.METHODS)}
    base = rng.normal(0.0, 0.01, (100, 10))
    folds = np.repeat(np.arange(5), 20)
    found = {m: Values(ndcgboost_2009.CUTOFFS, base + v, folds) for m, v in levels.items()}
    judged = {
        c.id: ndcgboost_2009._judge(c, found)
        for c in ndcgboost_2009.CLAIMS
        if c.dataset in ("OHSUMED", "TD2003")
    }
    assert judged["ohsumed-best"].verdict == REPRODUCED
    assert "10 of 10" in judged["ohsumed-best"].note
    assert judged["ohsumed-value-ndcgboost"].value == pytest.approx(0.46, abs=0.003)
    assert judged["ohsumed-value-ndcgboost"].verdict == NOT_REPRODUCED
    assert judged["td2003-value-ranksvm"].value == pytest.approx(0.43, abs=0.003)
    assert judged["ohsumed-second-frank"].verdict == NOT_REPRODUCED
    assert judged["ohsumed-above-frank"].value == pytest.approx(0.46 / 0.41 - 1.0, abs=0.002)
    assert judged["td2003-regression-above-frank"].verdict == NOT_REPRODUCED
    assert judged["ohsumed-ndcgboost-above-listnet"].value == pytest.approx(0.04)


def test_the_best_of_six_baselines_is_judged_as_one_of_six(rng):
    drawn = {m: rng.normal(0.0, 0.1, (100, 10)) for m in ndcgboost_2009.METHODS}
    drawn["listnet"] += 0.04
    folds = np.repeat(np.arange(5), 20)
    found = {m: Values(ndcgboost_2009.CUTOFFS, v, folds) for m, v in drawn.items()}
    claim = next(c for c in ndcgboost_2009.CLAIMS if c.id == "ohsumed-best")
    verdict = ndcgboost_2009._judge(claim, found)
    own, best = drawn["ndcgboost"].mean(axis=1), drawn["listnet"].mean(axis=1)
    alone = judge.ordering(claim, own, best, folds)
    assert "best baseline: listnet" in verdict.note or "baselines: listnet" in verdict.note
    assert verdict.p == pytest.approx(6 * alone.p) and 0.0 < alone.p < 0.1


@pytest.mark.parametrize("left", [(), ("frank",), ("ndcgboost",), ("ndcgboost", "listnet")])
def test_what_failed_is_no_data_and_nothing_breaks(left, rng):
    folds = np.repeat(np.arange(5), 20)
    found = {m: Values(ndcgboost_2009.CUTOFFS, rng.random((100, 10)), folds) for m in left}
    for claim in ndcgboost_2009.CLAIMS:
        verdict = ndcgboost_2009._judge(claim, found)
        asked = [m for m in ndcgboost_2009.METHODS if m in claim.id.replace("-ndcg-", "-")]
        if not set(asked) <= set(left) or claim.id.endswith("-best") and len(left) < 2:
            assert verdict.verdict == NO_DATA and "no result of" in verdict.note
