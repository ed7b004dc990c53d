"""The number of threads changes no bit of a ranker: not of its model, nor of its scores.

Sizes are multiples of nothing, and every slice may be as short as one item, so that the bounds
of the slices fall wherever they can. Losses and measures have such a test of their own.
"""

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from conftest import few_rounds, learners, random_queries

from letorbench.compiled.threads import limited_threads, parallel_for
from letorbench.datasets.queryset import QuerySet
from letorbench.rankers import ranker

#: the least work of a thread, as modules call it
LEASTS = ("LEAST", "DOCS_A_THREAD")
FEW = [37, 1, 23, 61, 5, 40, 2, 13]
#: more documents than the largest block of rows that a sum is cut into
MANY = [97, 1, 313, 60, *[41, 17, 111, 5] * 30]


@pytest.fixture(autouse=True)
def shortest_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every module give a thread as little as one item."""

    def sliced(task: Callable, total: int, least: int = 1, cost: np.ndarray | None = None) -> list:
        return parallel_for(task, total, 1, cost)

    for name, module in list(sys.modules.items()):
        if name.startswith("letorbench.") and name != parallel_for.__module__:
            for least in LEASTS:
                monkeypatch.setattr(module, least, 1, raising=False)
            if vars(module).get("parallel_for") is parallel_for:
                monkeypatch.setattr(module, "parallel_for", sliced)


def queries(seed: int, lengths: list[int]) -> QuerySet:
    """Random queries, whose features have between two and very many values."""
    drawn = random_queries(np.random.default_rng(seed), lengths, 11)
    features = drawn.features.copy()
    for k, values in enumerate((2, 7, 40, 300)):
        features[:, k] = np.round(features[:, k] * values) / values
    return QuerySet(features, drawn.labels, drawn.offsets, drawn.qids)


CASES = [(name, FEW) for name in sorted({*learners().values()})]
#: those whose solvers or libraries share rows among threads where there are thousands
CASES += [(name, MANY) for name in ("lightgbm", "xgboost", "ndcgboost", "lambdarank", "wub")]


@pytest.mark.parametrize(("name", "lengths"), CASES)
def test_rankers(name: str, lengths: list[int], tmp_path: Path) -> None:
    cls = ranker(name)
    cls.available() or pytest.skip(f"{name} needs its package")
    train, valid = queries(2, lengths), queries(3, [29, 7, 31])
    results = set()
    for threads in (1, 3):
        with limited_threads(threads):
            fitted = cls(**few_rounds(cls)).fit_sets(train, valid, np.random.default_rng(0))
            fitted.save(tmp_path / "model.npz")
            scores = fitted.predict(valid)
        results.add(scores.tobytes() + (tmp_path / "model.npz").read_bytes())
    assert len(results) == 1
