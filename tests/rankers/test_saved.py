"""Fitted rankers in files: facts that do not fit are refused in one line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from letorbench.errors import DataError
from letorbench.models import Linear, save
from letorbench.rankers import load_model

RAW = {"name": "raw"}
GOOD = {"ranker": "ranksvm", "settings": {}, "features": 3, "transformation": RAW}


def test_good_facts_are_taken(tmp_path: Path) -> None:
    save(Linear(np.ones(3)), tmp_path / "m.npz", GOOD)
    assert load_model(tmp_path / "m.npz").predict(np.ones((1, 3))).tolist() == [3.0]


@pytest.mark.parametrize(
    "facts, message",
    [
        ({}, "found ranker None"),
        ({**GOOD, "ranker": ["ranksvm"]}, "found ranker"),
        ({**GOOD, "ranker": "nobody"}, "found ranker 'nobody'"),
        ({"ranker": "ranksvm", "features": 3}, "ranksvm does not take: found None, expected a di"),
        ({**GOOD, "settings": {"odd": 1}}, "found the parameter 'odd', expected one of"),
        ({**GOOD, "ranker": "recipe", "settings": {"l2": "x"}}, "that recipe does not take"),
        ({**GOOD, "ranker": "recipe", "settings": {"model": "cubic"}}, "unknown model 'cubic'"),
        ({**GOOD, "features": 4}, "found a linear model of 3 features, expected 4"),
        ({**GOOD, "features": "3"}, "expected '3'"),
        ({"ranker": "ranksvm", "settings": {}}, "expected None"),
        ({**GOOD, "transformation": None}, "found the feature transformation None"),
        ({**GOOD, "transformation": {"name": "zscore", "mean": [0.0], "scale": [1.0]}}, "found 1 "),
    ],
)
def test_odd_facts_are_refused(facts: dict[str, object], message: str, tmp_path: Path) -> None:
    save(Linear(np.ones(3)), tmp_path / "m.npz", facts)
    with pytest.raises(DataError, match=message) as error:
        load_model(tmp_path / "m.npz")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("key", ["ranker", "settings", "features", "transformation"])
@pytest.mark.parametrize("value", [None, [], -1, 10**30, "x", True, 1.5])
def test_no_fact_is_a_traceback(key: str, value: object, tmp_path: Path) -> None:
    save(Linear(np.ones(3)), tmp_path / "m.npz", {**GOOD, key: value})
    with pytest.raises(DataError) as error:
        load_model(tmp_path / "m.npz")
    assert str(error.value).isprintable()
