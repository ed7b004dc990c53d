"""The papers' own setting beside ours, pages, and the specification curve of the sample."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from conftest import random_queries

from letorbench.cli.reproduce import reproduce
from letorbench.conventions import CONVENTIONS
from letorbench.errors import UsageError
from letorbench.measures import parse, query_metrics
from letorbench.papers import PAPERS, ndcgboost_2009, ndcgboost_sampling, paper
from letorbench.papers.paper_page import write_page
from letorbench.papers.runs import Study, Variant, _exists
from letorbench.papers.specification import Specification, by_level
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


def test_published_settings_are_settings_of_the_ranker():
    for variant in ndcgboost_2009.VARIANTS:
        assert _exists(Variant(variant.label, variant.algo, variant.published))
    own = next(v for v in ndcgboost_2009.VARIANTS if v.algo == "ndcgboost")
    assert own.published["stumps"] == "sample"


@pytest.mark.parametrize("name", PAPERS)
def test_what_is_left_is_said_for_both_settings(name):
    found = paper(name)
    assert found.left("default") == found.differs
    if found.published_differs is not None:
        assert found.left("published") == found.published_differs != found.differs


def test_a_page_tells_every_claim_once(tmp_path):
    found = paper("ndcgboost-2009")
    study = Study(tmp_path, tmp_path)
    CliRunner().invoke(
        reproduce, ["ndcgboost-2009", "--part", "data", "--data-dir", str(tmp_path / "none"),
                    "--out", str(tmp_path)],
    )  # fmt: skip
    text = write_page(found, study, tmp_path / "pages").read_text()
    for claim in found.claims:
        assert text.count(f"`{claim.id}`") == (claim.part == "data")
    assert "18 claims: 18 no data." in text


def test_the_printed_number_is_sought_in_the_distribution(tmp_path, monkeypatch):
    study = Study(tmp_path, tmp_path)
    monkeypatch.setattr(Study, "has", lambda self, dataset: True)
    rng = np.random.default_rng(0)
    verdicts = {}
    for best in (0.46, 0.52):
        found = [
            Specification(
                {"weak learner": learner, "Z": ideal, "rounds": rounds, "ties": ties,
                 "seed": str(seed)}, 0.44 + 0.01 * rng.random(),
            )
            for learner, ideal, seed in ndcgboost_sampling.trainings()
            for rounds in ndcgboost_sampling.SELECTIONS
            for ties in ndcgboost_sampling.TIES
        ]  # fmt: skip
        found[-1] = Specification(found[-1].settings, best)
        monkeypatch.setattr(ndcgboost_sampling, "_measured", lambda study, made=found: made)
        findings = ndcgboost_sampling.sampling(study)
        verdicts[best] = {v.claim.id: v.verdict for v in findings.verdicts}
        assert any(Path(file).suffix == ".png" for file in findings.files)
    assert verdicts[0.46]["ohsumed-value-anywhere"] == "not reproduced"
    assert verdicts[0.52]["ohsumed-value-anywhere"] == "reproduced"
    with (study.folder("ndcgboost-2009") / "sampling.csv").open(newline="") as file:
        assert len(list(csv.reader(file))) == 1 + len(found)


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


def test_levels_are_summed_up_by_setting():
    made = [
        Specification({"a": a, "b": b}, value)
        for a, b, value in (("1", "x", 0.1), ("1", "y", 0.3), ("2", "x", 0.5))
    ]
    assert by_level(made)[0] == ["a", "1", 2, pytest.approx(0.2), 0.1, 0.3]
    assert by_level(made)[2] == ["b", "x", 2, pytest.approx(0.3), 0.1, 0.5]


def test_what_differs_is_one_table_for_both_settings(tmp_path):
    found = paper("ndcgboost-2009")
    for setting in ("default", "published"):
        CliRunner().invoke(
            reproduce, ["ndcgboost-2009", "--part", "data", "--setting", setting, "--data-dir",
                        str(tmp_path / "none"), "--out", str(tmp_path)],
        )  # fmt: skip
    text = write_page(found, Study(tmp_path, tmp_path), tmp_path / "pages").read_text()
    assert text.count("## What differs") == 1
    assert "| what differs | our setting | the paper's own setting |" in text
    for line in found.differs:
        assert f"| {line} | yes | - |" in text
    for line in found.published_differs:
        assert f"| {line} | - | yes |" in text


def test_a_changed_experiment_has_settings_and_a_folder_of_its_own(tmp_path):
    plain = Study(tmp_path, tmp_path)
    study = Study(tmp_path, tmp_path, select="map", fixed=("rounds=7", "lambda=step"))
    changed = study.changed(Variant("boost", "ndcgboost", {"rounds": 100, "stumps": "sample"}))
    assert changed.settings == {"rounds": 7, "stumps": "sample"}
    assert study.changed(Variant("net", "lambdarank")).settings == {"function": "step"}
    assert study.changed(Variant("line", "regression")).settings == {}
    assert study.folder("p") == plain.folder("p") / "select=map,rounds=7,lambda=step"
    assert study.folder("p", "default") == plain.folder("p")


def test_a_changed_experiment_says_so_and_leaves_the_other_alone(tmp_path):
    args = ["lambdarank-2006", "--part", "jacobian", "--out", str(tmp_path)]
    first = CliRunner().invoke(reproduce, args)
    assert first.exit_code == 0, first.output
    before = (tmp_path / "papers/lambdarank-2006/setting.txt").read_text()
    second = CliRunner().invoke(reproduce, [*args, "--set", "epochs=2", "--select", "map"])
    assert second.exit_code == 0, second.output
    assert "- changed on request: select=map" in second.stdout
    assert "- changed on request: epochs=2" in second.stdout
    assert (tmp_path / "papers/lambdarank-2006/setting.txt").read_text() == before
    assert (tmp_path / "papers/lambdarank-2006/select=map,epochs=2/claims.csv").is_file()


@pytest.mark.parametrize("options", [["--set", "no-such=1"], ["--set", "rounds"],
                                     ["--select", "no-such"]])  # fmt: skip
def test_a_change_that_no_ranker_knows_is_refused(options, tmp_path):
    result = CliRunner().invoke(reproduce, ["lecture-2018", "--out", str(tmp_path), *options])
    assert isinstance(result.exception, UsageError) or result.exit_code == 2
