"""Why one algorithm is below another: the numbers of each part, and what is made of them."""

import re

import numpy as np
import pytest
from conftest import printed
from toy_data import store_fold, write_toy

import letorbench as lb
from letorbench.analysis.comparison import Procedure
from letorbench.analysis.conclusions import tuning_line

MEASURE = "ndcg@10"


def test_the_training_number_is_that_of_the_stored_model(tmp_path) -> None:
    """Loaded and measured anew, also where features were transformed."""
    write_toy(tmp_path / "data")
    where = {"out": tmp_path / "results", "data_dir": tmp_path / "data", "folds": [1, 2]}
    results = lb.run("TOY", ["listnet", "ranksvm"], features="query-minmax", **where)
    bench = lb.load("TOY", data_dir=tmp_path / "data")
    for fit in results.fits().itertuples():
        place = tmp_path / "results" / "TOY" / fit.algo / f"fold{fit.fold}" / "model.npz"
        train = bench.folds[fit.fold - 1].train
        scores = lb.load_model(place).predict(train.X, qid=train.qid)
        found = lb.evaluate(train.y, scores, qid=train.qid, measures=[MEASURE])
        assert fit.training == pytest.approx(found[MEASURE], abs=1e-12)
        assert fit.validation != fit.training


def stored(out, algo: str, test: list[float], training: float, **validation) -> None:
    facts = {"measure": MEASURE, "value": 0.5, "curve": [], "best": None, "training": training}
    facts |= {"grid": [], **validation}
    store_fold(out, "S", algo, 1, {MEASURE: test}, n_folds=1, validation=facts)


def test_reasons_are_told_apart(tmp_path) -> None:
    """Ten queries of which the low ones lose .1 each, but for the first, which loses .6."""
    base, lost = np.full(10, 0.7), np.full(10, 0.1)
    lost[0] = 0.6
    trials = [{"settings": {"C": c}, "value": v, "curve": []} for c, v in ((1, 0.5), (2, 0.4988))]
    stored(tmp_path, "high", base.tolist(), 0.8)
    stored(tmp_path, "under", (base - lost).tolist(), 0.62)
    stored(tmp_path, "over", (base - lost).tolist(), 0.95, grid=trials)
    store_fold(tmp_path, "S", "theirs", 1, {MEASURE: base + 0.01}, n_folds=1)
    results = lb.load_results(tmp_path)
    tables = [t for t in results.why_tables(MEASURE, "high", Procedure()) if t.notes]
    notes = {table.notes[0].split()[0]: "\n".join(table.notes) for table in tables}
    assert set(notes) == {"over", "under", "high"}  # "theirs" is above
    assert "is 0.1500 worse than high" in notes["over"] and "is significant" in notes["over"]
    assert "overfitting rather" in notes["over"] and "0.4000 against 0.1000" in notes["over"]
    assert "underfitting rather" in notes["under"] and "0.6200 against 0.8000" in notes["under"]
    # of 10 queries the five worst lose .6 + 4 * .1, the others .5
    assert "better on 0 queries and worse on 10 of 10" in notes["over"]
    assert "without the 5 worst it would be 0.0500 worse" in notes["over"]
    assert "its setting beat the runner-up by only 0.0012 on validation" in notes["over"]
    assert "runner-up" not in notes["under"]
    assert tuning_line(results.frames[0]) == (
        "tuned on validation: over (2 settings); fixed: high, under"
    )


def test_another_systems_scores_have_no_training(tmp_path) -> None:
    store_fold(tmp_path, "S", "a", 1, {MEASURE: [0.1, 0.2, 0.4]}, n_folds=1)
    store_fold(tmp_path, "S", "b", 1, {MEASURE: [0.2, 0.2, 0.1]}, n_folds=1)
    text = printed("compare", "S", "--why", "--out", str(tmp_path))
    assert re.search(
        r"^b is 0\.0667 worse than a in NDCG@10 per query, .* chance alone$", text, re.M
    )
    assert "fitting" not in text and "it is better on 1 queries and worse on 1 of 3" in text
