"""Stored scores as DataFrames, and an ensemble made of them."""

from __future__ import annotations

import numpy as np
import pytest
from toy_data import write_toy

import letorbench as lb
from letorbench.errors import DataError, UsageError


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scores")
    write_toy(folder / "data")
    options = {"out": folder / "results", "data_dir": folder / "data"}
    lb.run("TOY", ["regression", lb.RankNet(epochs=2)], repeats=2, **options)
    lb.run("TOY", [lb.AdaRankNDCG(rounds=3)], folds=[2], **options)
    return folder


def found(place, **options):
    return lb.results(place / "results", data_dir=place / "data", **options)


@pytest.mark.parametrize("part, file", [("test", "scores.txt"), ("validation", "validation.txt")])
def test_scores_are_the_stored_ones_beside_their_documents(place, part, file):
    frame = found(place).scores(part)
    assert list(frame) == [
        "dataset", "fold", "qid", "label", "adarank-ndcg", "ranknet", "regression"
    ]  # fmt: skip
    bench = lb.load("TOY", data_dir=place / "data")
    for fold in bench.folds:
        own = frame[frame["fold"] == fold.number]
        queries = getattr(fold, part)
        assert own["label"].tolist() == queries.labels.tolist()
        assert own["qid"].tolist() == np.repeat(queries.qids, queries.lengths).tolist()
        stored = place / "results" / "TOY" / "regression" / f"fold{fold.number}" / file
        assert own["regression"].tolist() == list(map(float, stored.read_text().split()))
        assert own["adarank-ndcg"].isna().all() == (fold.number != 2)
    seeds = [
        np.loadtxt(path)
        for path in sorted((place / "results" / "TOY" / "ranknet").rglob(f"fold3/{file}"))
    ]
    assert len(seeds) == 2 and not np.array_equal(*seeds)
    assert np.array_equal(frame["ranknet"][frame["fold"] == 3], np.mean(seeds, axis=0))


def test_an_ensemble_of_one_is_that_algorithm(place):
    frame = found(place, algos="regression").scores()
    value = lb.evaluate(
        frame["label"], frame["regression"], qid=frame["qid"], measures="map", convention="letor4"
    )
    summary = found(place, algos="regression").per_query("map")
    assert np.isclose(value["map"], summary["map"].mean())


def test_what_is_refused(place, tmp_path):
    with pytest.raises(UsageError, match="found part='train', expected one of validation, test"):
        found(place).scores("train")
    write_toy(tmp_path / "data", seed=5)
    with pytest.raises(DataError, match="its data are not those now under"):
        lb.results(place / "results", data_dir=tmp_path / "data").scores()
