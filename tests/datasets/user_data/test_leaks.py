"""Queries in several parts of a fold, and data sets without a validation part."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from conftest import random_queries

import letorbench as lb
from letorbench.datasets.checks import leak
from letorbench.datasets.queryset import Benchmark, Fold, QuerySet


@pytest.fixture
def benchmark(rng: np.random.Generator) -> Benchmark:
    whole = random_queries(rng, [3] * 9)
    parts = [whole.queries(i, i + 3) for i in (0, 3, 6)]
    folds = (Fold(1, *parts), Fold(2, *parts[1:], parts[0]))
    return Benchmark("B", folds, lb.CONVENTIONS["standard"], {"digest": ""})


def with_qids(queries: QuerySet, qids: np.ndarray) -> QuerySet:
    return QuerySet(queries.features, queries.labels, queries.offsets, qids)


def test_parts_without_common_queries(benchmark):
    assert leak(benchmark) == ""


@pytest.mark.parametrize("part", ["train", "validation"])
@pytest.mark.parametrize("count, said", [(1, "1 query"), (2, "2 queries")])
def test_a_query_in_two_parts_is_named(part, count, said, benchmark):
    second = benchmark.folds[1]
    qids = second.test.qids.copy()
    qids[:count] = second.parts[part].qids[:count]
    folds = (
        benchmark.folds[0],
        Fold(2, second.train, second.validation, with_qids(second.test, qids)),
    )
    line = leak(Benchmark("B", folds, benchmark.convention, {}))
    assert line.startswith(f"fold 2 has {said} (such as {min(qids[:count])}) in its {part} and")


def test_a_run_says_what_validates_and_what_leaks(tmp_path: Path):
    folder = tmp_path / "data" / "mine"
    folder.mkdir(parents=True)
    text = "".join(f"{d} qid:{q} 1:{d}.{q}\n" for q in range(1, 11) for d in range(2))
    (folder / "train.txt").write_text(text)
    (folder / "test.txt").write_text("0 qid:10 1:3\n1 qid:11 1:4\n")
    with pytest.warns(UserWarning) as said:
        lb.run("mine", "regression", out=tmp_path / "out", data_dir=tmp_path / "data")
    lines = [str(each.message) for each in said]
    assert "mine: no validation part: the last fifth of the training queries validates" in lines
    assert any("mine: fold 1 has 1 query (such as 10) in its validation and" in x for x in lines)
