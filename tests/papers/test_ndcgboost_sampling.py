"""What the specification curve of NDCG Boost's paper is made of, and what is said of it."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from letorbench.papers import ndcgboost_sampling as sampling
from letorbench.papers.runs import Study
from letorbench.papers.specification import Specification


def test_every_setting_is_trained_with_its_seeds():
    trained = sampling.trainings()
    assert len(trained) == len(set(trained))
    seeds = {}
    for learner, ideal, seed in trained:
        seeds.setdefault((learner, ideal), []).append(seed)
    # exact learners draw nothing; the settings of the whole list's Z have more seeds
    for (learner, ideal), found in seeds.items():
        expected = 1 if learner in sampling.EXACT else 20 if ideal == "whole list" else 5
        assert found == list(range(expected)), (learner, ideal)
    assert len(seeds) == 2 * 8


def specifications(rng):
    """One value for each training, rounds and ties; the default's is .45."""
    found = []
    for learner, ideal, seed in sampling.trainings():
        for rounds in sampling.SELECTIONS:
            for ties in sampling.TIES:
                settings = {"weak learner": learner, "Z": ideal, "rounds": rounds, "ties": ties,
                            "seed": str(seed)}  # fmt: skip
                value = 0.45 if settings == sampling.OURS else float(rng.uniform(0.42, 0.52))
                found.append(Specification(settings, value))
    return found


@pytest.fixture
def study(tmp_path, monkeypatch):
    made = Study(tmp_path / "data", tmp_path / "out")
    monkeypatch.setattr(Study, "has", lambda self, dataset: True)
    return made


def test_the_numbers_are_those_of_all_specifications_and_of_the_papers(study, rng, monkeypatch):
    found = specifications(rng)
    monkeypatch.setattr(sampling, "_measured", lambda study: found)
    shown = []

    def figure(each, measure, printed, ours, stem):
        shown.append((each, printed, dict(ours)))
        return []

    monkeypatch.setattr(sampling, "specification_figure", figure)
    findings = sampling.sampling(study)
    anywhere, sampled = findings.verdicts
    values = np.array([each.value for each in found])
    assert (anywhere.value, anywhere.low, anywhere.high) == pytest.approx(
        (values.mean(), values.min(), values.max())
    )
    below = round(100 * float((values < 0.5).mean()))
    assert anywhere.note == f"{len(found)} specifications, {below} % of them below 0.5"
    whole = np.array([
        each.value for each in found
        if each.settings["weak learner"] == "sample of all" and each.settings["Z"] == "whole list"
        and each.settings["rounds"] == "100" and each.settings["ties"] == "file order"
    ])  # fmt: skip
    assert len(whole) == 20
    half = 1.96 * whole.std(ddof=1)
    assert (sampled.value, sampled.low, sampled.high) == pytest.approx(
        (whole.mean(), whole.mean() - half, whole.mean() + half)
    )
    ((drawn, printed, ours),) = shown
    assert printed == 0.5 and len(drawn) == len(found)
    assert "seed" not in ours and all("seed" not in each.settings for each in drawn)
    assert [each.value for each in drawn if dict(each.settings) == ours] == [0.45]


def test_the_tables_hold_every_specification_and_a_row_a_setting(study, rng, monkeypatch):
    found = specifications(rng)
    monkeypatch.setattr(sampling, "_measured", lambda study: found)
    monkeypatch.setattr(sampling, "specification_figure", lambda *of: [])
    files = sampling.sampling(study).files
    tables = {path.name: list(csv.reader(path.open())) for path in files if path.suffix == ".csv"}
    assert len(tables["sampling.csv"]) == 1 + len(found)
    assert tables["sampling.csv"][1][:5] == list(found[0].settings.values())
    rows = tables["specification.csv"][1:]
    assert {row[0] for row in rows} == {"weak learner", "Z", "rounds", "ties"}
    assert [int(row[2]) for row in rows if row[0] == "rounds"] == 3 * [len(found) // 3]
    (whole,) = (row for row in rows if row[1] == "whole list")
    own = [each.value for each in found if each.settings["Z"] == "whole list"]
    assert float(whole[3]) == pytest.approx(np.mean(own), abs=1e-4)


def test_without_the_data_there_is_no_verdict(tmp_path):
    findings = sampling.sampling(Study(tmp_path / "data", tmp_path / "out"))
    assert {verdict.verdict for verdict in findings.verdicts} == {"no data"}
