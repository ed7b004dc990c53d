"""Fitted rankers in files: facts that do not fit are refused in one line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from conftest import random_queries
from sample_models import SAMPLES

from letorbench.errors import DataError
from letorbench.models import Linear, save
from letorbench.models.base import KINDS
from letorbench.rankers import RANKERS, load_model, ranker
from letorbench.rankers.saved import LEAVES, kinds_left

RAW = {"name": "raw"}
GOOD = {"ranker": "ranksvm", "settings": {}, "features": 3, "transformation": RAW}


def test_good_facts_are_taken(tmp_path: Path) -> None:
    save(Linear(np.ones(3)), tmp_path / "m.npz", GOOD)
    assert load_model(tmp_path / "m.npz").predict(np.ones((1, 3))).tolist() == [3.0]


@pytest.mark.parametrize(
    "facts, said",
    [
        ({}, "found ranker None"),
        ({**GOOD, "ranker": ["ranksvm"]}, "found ranker"),
        ({**GOOD, "ranker": "nobody"}, "found ranker 'nobody'"),
        ({"ranker": "ranksvm", "features": 3}, "found None as settings"),
        ({**GOOD, "settings": [1]}, "as settings of ranksvm, expected a dict"),
        ({**GOOD, "settings": {"odd": 1}}, "found the setting 'odd' of ranksvm"),
        (
            {**GOOD, "ranker": "recipe", "settings": {"l2": "x"}},
            "found settings that recipe does not take",
        ),
        ({**GOOD, "features": 4}, "found a linear model of 3 features, expected 4"),
        ({**GOOD, "features": "3"}, "expected '3'"),
        ({"ranker": "ranksvm", "settings": {}}, "expected None"),
        ({**GOOD, "transformation": None}, "found the feature transformation None"),
        ({**GOOD, "transformation": {"name": "zscore", "mean": [0.0], "scale": [1.0]}}, "found 1 "),
    ],
)
def test_odd_facts_are_refused(facts: dict[str, object], said: str, tmp_path: Path) -> None:
    save(Linear(np.ones(3)), tmp_path / "m.npz", facts)
    with pytest.raises(DataError, match=said) as error:
        load_model(tmp_path / "m.npz")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", RANKERS)
def test_a_model_of_another_kind_than_its_ranker_leaves_is_refused(
    name: str, tmp_path: Path
) -> None:
    """Every ranker's own kind is taken, every other kind refused in one line."""
    if not ranker(name).available():
        pytest.skip(f"{name} needs {ranker(name).needs}")
    short = {key: 2 for key in ("rounds", "epochs", "iterations") if hasattr(ranker(name), key)}
    queries = random_queries(np.random.default_rng(0), [30] * 4)
    fitted = ranker(name)(**short).fit_sets(queries)
    assert fitted.learned.model.kind in kinds_left(name)
    fitted.save(tmp_path / "own.npz")
    load_model(tmp_path / "own.npz")
    facts = {"ranker": name, "settings": {}, "features": 5, "transformation": RAW}
    for kind in sorted(set(SAMPLES) - set(kinds_left(name))):
        if kind in ("lightgbm", "xgboost") and not ranker(kind).available():
            continue
        save(SAMPLES[kind](), tmp_path / "m.npz", facts)
        with pytest.raises(DataError, match=f"found a {kind} model of {name}, expected ") as error:
            load_model(tmp_path / "m.npz")
        assert str(error.value).isprintable()


def test_what_rankers_leave_exists() -> None:
    assert set(LEAVES) <= set(RANKERS) and {k for kinds in LEAVES.values() for k in kinds} <= set(
        KINDS
    )
