"""A training query of very many documents is refused in one line, or learned from quickly."""

from __future__ import annotations

import time
from dataclasses import fields

import numpy as np
import pytest
from conftest import random_queries

from letorbench.errors import DataError
from letorbench.losses.base import LONGEST_COMPARED
from letorbench.rankers import names, ranker

#: settings that make training short
SHORT = {"rounds": 2, "epochs": 2, "iterations": 2, "planes": 2}


@pytest.mark.parametrize("name", [name for name in names() if ranker(name).learns])
def test_every_ranker_refuses_it_or_is_quick(name: str) -> None:
    cls = ranker(name)
    cls.available() or pytest.skip(f"{name} needs {cls.needs}")
    settings = {each.name: SHORT[each.name] for each in fields(cls) if each.name in SHORT}
    too_long, short = (
        random_queries(np.random.default_rng(0), [n], n_features=2)
        for n in (LONGEST_COMPARED + 1, 20)
    )
    cls(**settings).fit_sets(short)  # so that it is compiled
    start = time.process_time()
    try:
        cls(**settings).fit_sets(too_long)
    except DataError as error:
        assert f"found {LONGEST_COMPARED + 1} documents, expected at most" in str(error)
    assert time.process_time() - start < 1.0  # all pairs take seconds
