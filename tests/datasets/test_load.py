"""Benchmarks from files: rotations as views on one array, and what to do without one."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from letorbench.datasets import folds as rotation
from letorbench.datasets import layout, synthetic
from letorbench.datasets.acquire.archive import import_archive
from letorbench.datasets.load import load
from letorbench.datasets.queryset import Benchmark, QuerySet
from letorbench.datasets.reader import ReadOptions, read_queries
from letorbench.errors import DataError, UsageError


def parts_text(rng: np.random.Generator, n: int = 5) -> list[str]:
    """n parts of two to four queries, the qids counting through."""
    texts, qid = [], 0
    for _ in range(n):
        lines = []
        for _ in range(rng.integers(2, 5)):
            qid += 1
            for _ in range(rng.integers(1, 6)):
                values = " ".join(f"{i}:{rng.normal():.4f}" for i in (1, 2, 3))
                lines.append(f"{rng.integers(0, 3)} qid:{qid} {values}\n")
        texts.append("".join(lines))
    return texts


def write_rotation(folder: Path, texts: list[str]) -> None:
    n = len(texts)
    for k in range(n):
        fold = folder / f"Fold{k + 1}"
        fold.mkdir(parents=True)
        (fold / "train.txt").write_text("".join(texts[(k + i) % n] for i in range(n - 2)))
        (fold / "vali.txt").write_text(texts[(k + n - 2) % n])
        (fold / "test.txt").write_text(texts[(k + n - 1) % n])


def same(found: QuerySet, expected: QuerySet) -> bool:
    return all(
        np.array_equal(getattr(found, name), getattr(expected, name))
        for name in ("features", "labels", "offsets", "qids")
    )


def check_against_files(data: Benchmark, data_dir: Path, name: str) -> None:
    """Every set of every fold equals its own file, read by itself."""
    for files, fold in zip(layout.find(name, data_dir).folds, data.folds, strict=True):
        assert files.number == fold.number
        for path, found in zip(files.files, (fold.train, fold.validation, fold.test), strict=True):
            assert same(found, read_queries(path, ReadOptions())), path


def base(array: np.ndarray) -> np.ndarray:
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


@pytest.mark.parametrize("n", [3, 4, 5, 7])
def test_rotation_is_views_on_one_array(tmp_path: Path, rng: np.random.Generator, n: int) -> None:
    write_rotation(tmp_path / "own", parts_text(rng, n))
    for _ in range(2):  # parsed, then from the cache
        data = load("own", tmp_path)
        assert data.provenance["rotation"] is True
        check_against_files(data, tmp_path, "own")
        sets = [s for fold in data.folds for s in (fold.train, fold.validation, fold.test)]
        assert len({id(base(each.features)) for each in sets}) == 1
        for fold, after in zip(data.folds, data.folds[1:]):
            assert np.shares_memory(fold.test.features, after.validation.features)
            assert not np.shares_memory(fold.test.features, fold.train.features)
        first, second = data.folds[0].train, data.folds[1].train
        if n > 3:
            assert np.shares_memory(first.features, second.features)
        mapped = sum(each.features.nbytes for each in (f.test for f in data.folds))
        assert base(sets[0].features).nbytes <= 2 * mapped, "no part more than twice"


@pytest.mark.parametrize("file", ["Fold1/train.txt", "Fold3/vali.txt", "Fold5/train.txt"])
def test_a_changed_byte_breaks_the_rotation(
    tmp_path: Path, rng: np.random.Generator, file: str
) -> None:
    write_rotation(tmp_path / "own", parts_text(rng))
    load("own", tmp_path)
    path = tmp_path / "own" / file
    text = path.read_text()
    path.write_text(text[:-2] + ("1" if text[-2] != "1" else "2") + "\n")
    data = load("own", tmp_path)
    assert data.provenance["rotation"] is False
    check_against_files(data, tmp_path, "own")


def test_parts_in_another_order_are_no_rotation(tmp_path: Path, rng: np.random.Generator) -> None:
    texts = parts_text(rng)
    write_rotation(tmp_path / "own", texts)
    (tmp_path / "own/Fold2/train.txt").write_text(texts[2] + texts[1] + texts[3])
    data = load("own", tmp_path)
    assert data.provenance["rotation"] is False
    check_against_files(data, tmp_path, "own")


def test_blocks_cross_the_parts(
    tmp_path: Path, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rotation, "_BLOCK", 7)
    write_rotation(tmp_path / "own", parts_text(rng))
    folds = layout.find("own", tmp_path).folds
    assert rotation.is_rotation(folds)
    assert not rotation.is_rotation(folds[::-1])
    assert not rotation.is_rotation(folds[:2])


def test_digest_follows_the_content(tmp_path: Path, rng: np.random.Generator) -> None:
    texts = parts_text(rng)
    for name in ("one", "two"):
        write_rotation(tmp_path / name, texts)
    digest = load("one", tmp_path).provenance["digest"]
    assert load("two", tmp_path).provenance["digest"] == digest
    write_rotation(tmp_path / "three", [*texts[:4], texts[4].replace("qid:", "qid:9")])
    assert load("three", tmp_path).provenance["digest"] != digest


def test_own_single_split_has_equal_columns(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    for name, line in {"train": "1:1", "vali": "1:2 4:1", "test": "2:1"}.items():
        (tmp_path / "own" / f"{name}.txt").write_text(f"3 qid:1 {line}\n0 qid:2 1:1\n")
    (fold,) = load("own", tmp_path).folds
    sets = (fold.train, fold.validation, fold.test)
    assert [each.n_features for each in sets] == [4, 4, 4]
    assert fold.validation.features[0].tolist() == [2, 0, 0, 1]


@pytest.mark.parametrize("n, held_out", [(10, 2), (6, 1), (2, 1)])
def test_without_validation_the_last_queries_validate(
    tmp_path: Path, n: int, held_out: int
) -> None:
    (tmp_path / "ISTELLA").mkdir()
    lines = "".join(f"1 qid:{q} 1:{q} 220:1\n" for q in range(1, n + 1))
    (tmp_path / "ISTELLA/train.txt").write_text(lines)
    (tmp_path / "ISTELLA/test.txt").write_text("0 qid:99 1:1\n")
    data = load("istella", tmp_path)
    (fold,) = data.folds
    assert fold.train.qids.tolist() == [str(q) for q in range(1, n + 1 - held_out)]
    assert fold.validation.qids.tolist() == [str(q) for q in range(n + 1 - held_out, n + 1)]
    assert fold.test.qids.tolist() == ["99"]
    assert data.provenance["validation"] == "the last fifth of the training queries"


@pytest.mark.parametrize(
    ("name", "convention", "max_label"),
    [("OHSUMED-twin", "letor3", 2), ("MQ2008-twin", "letor4", 2), ("MSLR-WEB10K-twin", "mslr", 4)],
)
def test_conventions(tmp_path: Path, name: str, convention: str, max_label: int) -> None:
    synthetic.make(name, tmp_path, scale=0.002)
    found = load(name.lower(), tmp_path)
    assert found.name == name
    assert (found.convention.name, found.convention.max_label) == (convention, max_label)
    other = load(name, tmp_path, convention="standard")
    assert (other.convention.name, other.convention.max_label) == ("standard", max_label)
    with pytest.raises(UsageError, match="unknown convention"):
        load(name, tmp_path, convention="letor5")


def test_own_convention_and_largest_label(tmp_path: Path, rng: np.random.Generator) -> None:
    texts = parts_text(rng)
    texts[3] = texts[3].replace("\n2 ", "\n7 ").replace("\n1 ", "\n7 ")
    write_rotation(tmp_path / "own", texts)
    found = load("own", tmp_path).convention
    assert (found.name, found.max_label) == ("standard", 7)
    assert load("own", tmp_path, "letor3").convention.name == "letor3"


def test_null_values(tmp_path: Path) -> None:
    for k in range(1, 6):
        fold = tmp_path / "OHSUMED/Feature-null" / f"Fold{k}"
        fold.mkdir(parents=True)
        for name in ("trainingset", "validationset", "testset"):
            (fold / f"{name}.txt").write_text("1 qid:1 1:NULL 2:3\n0 qid:1 1:-2 2:NULL\n")
    with pytest.raises(DataError, match="NULL"):
        load("OHSUMED/Feature-null", tmp_path)
    found = load("OHSUMED/Feature-null", tmp_path, null="min")
    assert found.name == "OHSUMED-Feature-null"
    assert found.folds[2].test.features[:, :2].tolist() == [[-2, 3], [-2, 3]]
    assert found.folds[0].train.n_features == 45
    assert load("OHSUMED/Feature-null", tmp_path, null=9.0).folds[0].test.features[0, 0] == 9


def test_provenance_is_json_and_tells_made_up_data(tmp_path: Path) -> None:
    demo = load("demo", tmp_path).provenance
    assert demo["synthetic"] is True and demo["recipe"]["seed"] == 0
    assert json.loads(json.dumps(demo)) == demo
    assert demo["folds"][0]["train"]["queries"] == 120
    shutil.copytree(tmp_path / "DEMO", tmp_path / "renamed")
    assert load("renamed", tmp_path).provenance["synthetic"] is True


def test_missing(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="letorbench datasets show MQ2007"):
        load("MQ2007", tmp_path)


@pytest.mark.parametrize(
    ("name", "queries", "documents", "features"),
    [("OHSUMED", 106, 16_140, 45), ("OHSUMED/Feature-min", 106, 16_140, 45),
     ("MQ2008", 784, 15_211, 46)],
)  # fmt: skip
def test_the_real_ones(
    shared: Path, tmp_path: Path, name: str, queries: int, documents: int, features: int
) -> None:
    import_archive(shared / "archives" / f"{name.split('/')[0]}.zip", tmp_path)
    data = load(name, tmp_path)
    assert data.provenance["rotation"] is True and data.provenance["synthetic"] is False
    tests = [fold.test for fold in data.folds]
    assert sum(each.n_queries for each in tests) == queries
    assert sum(each.n_docs for each in tests) == documents
    assert {each.n_features for each in tests} == {features}
    for fold in data.folds:
        assert fold.train.n_queries + fold.validation.n_queries + fold.test.n_queries == queries
    check_against_files(data, tmp_path, name)
