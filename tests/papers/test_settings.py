"""The papers' own setting beside ours, pages, and the specification curve of the sample."""

from __future__ import annotations

import numpy as np
import pytest
from click.testing import CliRunner
from conftest import random_queries

from letorbench.cli.reproduce import reproduce
from letorbench.conventions import CONVENTIONS
from letorbench.measures import parse, query_metrics
from letorbench.papers import ndcgboost_sampling
from letorbench.papers.runs import Study, Variant
from letorbench.rankers.ndcgboost import NDCGBoost


def test_settings_have_folders_of_their_own_and_both_values_are_printed(tmp_path):
    where = ["--out", str(tmp_path), "--pages", str(tmp_path / "pages")]
    first = CliRunner().invoke(reproduce, ["lecture-2018", *where])
    assert first.exit_code == 0, first.output
    assert "published" not in first.stdout.splitlines()[2]
    second = CliRunner().invoke(reproduce, ["lecture-2018", "--setting", "published", *where])
    assert second.exit_code == 0, second.output
    header = second.stdout.splitlines()[2].split()
    assert header[-1] == "default"
    row = next(line for line in second.stdout.splitlines() if line.startswith("distance-f-g"))
    assert row.split()[-1] == "0.4674"
    for folder in (tmp_path, tmp_path / "papers/lecture-2018/published"):
        assert list(folder.rglob("claims.csv"))
    page = (tmp_path / "pages/lecture-2018.md").read_text()
    assert "## Our setting" in page and "## The paper's own setting" in page
    assert "7 claims: 5 reproduced, 2 not reproduced." in page


def test_specifications_of_one_training_share_its_rounds_and_orders(rng):
    """All rounds are the model's own scores, and file order is what the measure gives them."""
    validation, test = (random_queries(rng, [8] * 12, levels=3) for _ in range(2))
    model = NDCGBoost(rounds=5).learn(random_queries(rng, [8] * 20, levels=3), None, rng).model
    rules = CONVENTIONS["letor3"]
    values = list(ndcgboost_sampling._tried(model, validation, test, rules))
    assert len(values) == len(ndcgboost_sampling.SELECTIONS) * len(ndcgboost_sampling.TIES)
    staged = ndcgboost_sampling._staged(model, test)
    np.testing.assert_allclose(staged[-1], model.predict(test.features))
    expected = query_metrics(test.labels, staged[-1], test.offsets, [parse("ndcg@3")], rules)
    assert values[0] == pytest.approx(expected.mean())
    assert values[1] != values[0]


def test_a_changed_experiment_has_settings_and_a_folder_of_its_own(tmp_path):
    plain = Study(tmp_path, tmp_path)
    study = Study(tmp_path, tmp_path, select="map", fixed=("rounds=7", "lambda=step"))
    changed = study.changed(Variant("boost", "ndcgboost", {"rounds": 100, "stumps": "sample"}))
    assert changed.settings == {"rounds": 7, "stumps": "sample"}
    assert study.changed(Variant("net", "lambdarank")).settings == {"function": "step"}
    assert study.changed(Variant("line", "regression")).settings == {}
    assert study.folder("p") == plain.folder("p") / "select=map,rounds=7,lambda=step"
    assert study.folder("p", "default") == plain.folder("p")
