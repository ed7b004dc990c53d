"""What the specification curve of NDCG Boost's paper is made of, and what is said of it."""

from __future__ import annotations

import numpy as np
import pytest

from letorbench.papers import ndcgboost_sampling as sampling
from letorbench.papers.runs import Study
from letorbench.papers.specification import Specification


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
