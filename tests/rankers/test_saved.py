"""Fitted rankers in files: facts that do not fit are refused in one line."""

from pathlib import Path

import numpy as np
import pytest

from letorbench.errors import DataError
from letorbench.models import Linear, save
from letorbench.rankers import load_model

GOOD = {"ranker": "ranksvm", "settings": {}, "features": 3, "transformation": {"name": "raw"}}


@pytest.mark.parametrize(
    "changes, message",
    [
        ({}, ""),
        ({"ranker": ["ranksvm"]}, "found ranker"),
        ({"ranker": "nobody"}, "found ranker 'nobody'"),
        ({"settings": {"odd": 1}}, "found the parameter 'odd', expected one of"),
        ({"settings": "odd"}, "settings that ranksvm does not take"),
        ({"ranker": "recipe", "settings": {"l2": "x"}}, "that recipe does not take"),
        ({"ranker": "recipe", "settings": {"model": "cubic"}}, "unknown model 'cubic'"),
        ({"transformation": None}, "found a damaged feature transformation"),
        (
            {"transformation": {"name": "zscore", "mean": [0.0], "scale": [1.0]}},
            "with 3 finite numbers in each",
        ),
        (
            {"transformation": {"name": "zscore", "mean": [0.0] * 3, "scale": [1.0, -1.0, 1.0]}},
            "scale: found -1, expected 0 or more",
        ),
    ],
)
def test_only_facts_that_fit_are_taken(changes: dict, message: str, tmp_path: Path) -> None:
    save(Linear(np.ones(3)), tmp_path / "m.npz", GOOD | changes)
    if not changes:
        assert load_model(tmp_path / "m.npz").predict(np.ones((1, 3))).tolist() == [3.0]
        return
    with pytest.raises(DataError, match=message) as error:
        load_model(tmp_path / "m.npz")
    assert "\n" not in str(error.value) and str(error.value).startswith(str(tmp_path))
