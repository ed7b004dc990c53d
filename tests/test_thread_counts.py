"""The number of threads changes no bit: of no loss, no model, no ranker, no measure.

Sizes are multiples of nothing, and every slice may be as short as one item, so that the bounds
of the slices fall wherever they can.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from conftest import random_queries
from letorbench.solvers.sorted_features import SortedFeatures
from letorbench.solvers.sorted_search import best_of_all

from letorbench.conventions import CONVENTIONS
from letorbench.datasets.queryset import QuerySet
from letorbench.losses import LOSSES, loss
from letorbench.losses.lambdas import LAMBDAS, Lambda
from letorbench.measures import default_measures, query_metrics
from letorbench.models import trees
from letorbench.models.parametric import families, family
from letorbench.rankers import Ranker, names, ranker
from letorbench.solvers import sorted_search, stump_search
from letorbench.solvers.stopping import Validation
from letorbench.solvers.stump_search import BinnedFeatures, best_stump
from letorbench.threads import limited_threads, parallel_for, thread_count

RANKERS = [
    pytest.param(
        name, marks=pytest.mark.skipif(not ranker(name).available(), reason="needs its package")
    )
    for name in names()
    if not ranker(name).sees_labels
]
#: what a ranker's rounds are called; a few suffice here
ROUNDS = ("rounds", "epochs", "iterations", "trees")


@pytest.fixture(autouse=True)
def shortest_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every module give a thread as little as one item."""

    def sliced(task: Callable, total: int, least: int = 1, cost: np.ndarray | None = None) -> list:
        return parallel_for(task, total, 1, cost)

    monkeypatch.setattr(trees, "LEAST", 1)
    for name, module in list(sys.modules.items()):
        ours = name.startswith("letorbench.") and name != parallel_for.__module__
        if ours and vars(module).get("parallel_for") is parallel_for:
            monkeypatch.setattr(module, "parallel_for", sliced)


def queries(seed: int, lengths: list[int], n_features: int = 11) -> QuerySet:
    """Random queries, whose features have between two and very many values."""
    drawn = random_queries(np.random.default_rng(seed), lengths, n_features)
    features = drawn.features.copy()
    for k, values in enumerate((2, 7, 40, 300)):
        features[:, k] = np.round(features[:, k] * values) / values
    return QuerySet(features, drawn.labels, drawn.offsets, drawn.qids)


def by_threads(task: Callable[[], bytes]) -> list[bytes]:
    def limited(count: int) -> bytes:
        with limited_threads(count):
            return task()

    return [limited(count) for count in (1, 2, 3, 7)]


@pytest.fixture(scope="module")
def many() -> QuerySet:
    """More documents than the largest block of rows that a sum is cut into."""
    return queries(1, [97, 1, 313, 60, *[41, 17, 111, 5] * 30], 13)


FEW = [37, 1, 23, 61, 5, 40, 2, 13]


@pytest.mark.parametrize("name", RANKERS)
def test_rankers(name: str, tmp_path: Path) -> None:
    same_for_all(name, queries(2, FEW), tmp_path)


@pytest.mark.parametrize("name", ["lightgbm", "xgboost"])
def test_trees_of_many_documents(name: str, many: QuerySet, tmp_path: Path) -> None:
    """The libraries share rows among threads where there are thousands."""
    ranker(name).available() or pytest.skip(f"{name} is not installed")
    same_for_all(name, many, tmp_path)


def same_for_all(name: str, train: QuerySet, tmp_path: Path) -> None:
    cls: type[Ranker] = ranker(name)
    short = {each.name: 5 for each in fields(cls) if each.name in ROUNDS}
    valid = queries(3, [29, 7, 31], train.n_features)

    def fit() -> bytes:
        fitted = cls(**short).fit_sets(train, Validation(valid), np.random.default_rng(0))
        fitted.save(tmp_path / "model.npz")
        return fitted.predict(valid).tobytes() + (tmp_path / "model.npz").read_bytes()

    assert len(set(by_threads(fit))) == 1


@pytest.mark.parametrize("name", sorted(LOSSES))
def test_losses(name: str, many: QuerySet) -> None:
    short = queries(4, FEW)
    for part in (short,) if name in ("rpl", "wpll") else (short, many):
        scores = part.features[:, 5].astype(np.float64) + 0.25

        def compute(part: QuerySet = part, scores: np.ndarray = scores) -> bytes:
            return b"".join(np.asarray(each).tobytes() for each in loss(name)(scores, part))

        assert len(set(by_threads(compute))) == 1


@pytest.mark.parametrize("name", sorted(LAMBDAS))
def test_lambda_functions(name: str, many: QuerySet) -> None:
    scores = many.features[:, 5].astype(np.float64)
    assert len(set(by_threads(lambda: Lambda(name, margin=0.5)(scores, many).tobytes()))) == 1


@pytest.mark.parametrize("name", families())
def test_families(name: str, many: QuerySet, rng: np.random.Generator) -> None:
    pull = rng.normal(size=many.n_docs)

    def compute() -> bytes:
        fitted = family(name).of(many, ranker("recipe")(rho=0.0))
        theta = fitted.start(np.random.default_rng(1)) + 0.01
        found = (
            fitted.gradient(theta, many.features, pull),
            fitted.scores(theta, many.features),
            fitted.model(theta).predict(many.features),
        )
        return b"".join(each.tobytes() for each in found)

    assert len(set(by_threads(compute))) == 1


@pytest.mark.parametrize("bins", [None, 256, 5])
@pytest.mark.parametrize("n_features", [1, 3, 4, 7, 10, 14])
def test_stumps(
    bins: int | None, n_features: int, many: QuerySet, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (stump_search, sorted_search):
        monkeypatch.setattr(module, "LEAST", 1)  # threads share even this little
    columns = np.arange(n_features) % many.n_features
    features = np.ascontiguousarray(many.features[:, columns])
    weights = np.random.default_rng(n_features).normal(size=many.n_docs)

    def search() -> bytes:
        if bins is None:
            found = best_of_all(SortedFeatures.of(features), weights)
        else:
            found = best_stump(BinnedFeatures.of(features, bins), weights)
        assert found is not None
        stump, values, total = found
        return repr((stump, total)).encode() + values.tobytes()

    assert len(set(by_threads(search))) == 1


@pytest.mark.parametrize("convention", sorted(CONVENTIONS))
def test_measures(convention: str, many: QuerySet) -> None:
    rules = CONVENTIONS[convention]
    scores = many.features[:, 2].astype(np.float64)

    def measure() -> bytes:
        measures = default_measures(rules)
        return query_metrics(many.labels, scores, many.offsets, measures, rules).tobytes()

    assert len(set(by_threads(measure))) == 1


def test_a_limit_holds_inside_its_block_and_is_one_at_least(monkeypatch):
    monkeypatch.setenv("LETORBENCH_THREADS", "4")
    for asked, given in ((1, 1), (2, 2), (0, 1), (3, 3), (9, 9), (None, 4)):
        with limited_threads(asked):
            assert thread_count() == given, asked
            with limited_threads(None):
                assert thread_count() == given, asked
    assert thread_count() == 4


@pytest.mark.parametrize(
    ("total", "least", "threads", "slices"),
    [
        (3, 10, 4, [(0, 3)]),
        (25, 10, 4, [(0, 12), (12, 25)]),
        (25, 10, 1, [(0, 25)]),
        (4, 1, 4, [(0, 1), (1, 2), (2, 3), (3, 4)]),
    ],
)
def test_few_items_are_for_few_threads(total, least, threads, slices):
    with limited_threads(threads):
        assert parallel_for(lambda start, stop: (start, stop), total, least) == slices
