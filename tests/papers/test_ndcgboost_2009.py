"""Figure 1 and its claims on a small data set that stands where OHSUMED would."""

from __future__ import annotations

import numpy as np
import pytest
from click.testing import CliRunner

from letorbench.cli.reproduce import reproduce
from letorbench.papers import PAPERS, ndcgboost_2009, paper
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
    assert judged["ohsumed-value"].value == pytest.approx(0.46, abs=0.003)
    assert judged["ohsumed-value"].verdict == NOT_REPRODUCED
    assert judged["ohsumed-second-frank"].verdict == NOT_REPRODUCED
    assert judged["ohsumed-above-frank"].value == pytest.approx(0.46 / 0.41 - 1.0, abs=0.002)
    assert judged["td2003-regression-above-frank"].verdict == NOT_REPRODUCED
    assert judged["ohsumed-ndcgboost-above-listnet"].value == pytest.approx(0.04)
    del found["frank"]
    claim = next(c for c in ndcgboost_2009.CLAIMS if c.id == "ohsumed-above-frank")
    assert ndcgboost_2009._judge(claim, found).verdict == NO_DATA
