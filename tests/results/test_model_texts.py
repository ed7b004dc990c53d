"""Models as RankLib's and LightGBM's texts score as before: read by a plain parser, by LightGBM."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from sample_models import SAMPLES

from letorbench.errors import UsageError
from letorbench.results.model_texts import lightgbm_text, ranklib_text

KINDS = ("linear", "trees")
#: the thresholds of the sample models, and their neighbours
EDGES = np.nextafter(np.float32(0.5), np.float32([-1.0, 0.5, 1.0]))


@pytest.fixture
def features(rng) -> np.ndarray:
    return np.concatenate([rng.normal(size=(40, 5)), np.repeat(EDGES, 5).reshape(3, 5)], dtype="f4")


def ranklib_scores(text: str, features: np.ndarray) -> np.ndarray:
    """Score as RankLib does, from 1 on: `x <= threshold` goes left."""
    body = "\n".join(line for line in text.splitlines() if not line.startswith("##")).strip()
    if not body.startswith("<"):
        pairs = [pair.split(":") for pair in body.split()]
        return sum(float(w) * features[:, int(k) - 1].astype(float) for k, w in pairs)

    def score(split: ElementTree.Element, x: np.ndarray) -> float:
        if (output := split.find("output")) is not None:
            return float(output.text)
        low = x[int(split.find("feature").text) - 1] <= np.float32(split.find("threshold").text)
        return score(split.find(f"split[@pos='{'left' if low else 'right'}']"), x)

    trees = ElementTree.fromstring(body).findall("tree")
    return np.array([sum(float(t.get("weight")) * score(t[0], x) for t in trees) for x in features])


@pytest.mark.parametrize("kind", KINDS)
def test_scores_are_the_same_after_the_way_through_a_text(kind, features) -> None:
    lightgbm = pytest.importorskip("lightgbm", reason="no LightGBM")
    model = SAMPLES[kind]()
    scores = model.predict(features)
    constant = getattr(model, "bias", 0.0)
    np.testing.assert_allclose(ranklib_scores(ranklib_text(model), features), scores - constant)
    booster = lightgbm.Booster(model_str=lightgbm_text(model))
    np.testing.assert_allclose(booster.predict(features, raw_score=True), scores, rtol=1e-14)


def test_a_threshold_that_is_no_float32_number_keeps_its_decisions(features) -> None:
    for threshold in (0.5 + 1e-12, 0.5 - 1e-12):
        trees = replace(SAMPLES["trees"](), threshold=[threshold, 0, 0, 0])
        expected = trees.predict(features)
        np.testing.assert_array_equal(ranklib_scores(ranklib_text(trees), features), expected)


def test_other_models_are_refused() -> None:
    with pytest.raises(UsageError, match="found a model of kind 'net'"):
        ranklib_text(SAMPLES["net"]())
