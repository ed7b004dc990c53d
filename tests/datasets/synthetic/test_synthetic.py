"""Generated data: deterministic, of the published shape, and worth learning from."""

from __future__ import annotations

import hashlib
import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from letorbench.datasets import catalog
from letorbench.datasets.catalog import names
from letorbench.datasets.load import load
from letorbench.datasets.queryset import QuerySet
from letorbench.datasets.reader import ReadOptions, read_queries
from letorbench.datasets.synthetic import cubic, twins
from letorbench.datasets.synthetic import generate as synthetic
from letorbench.datasets.text.writer import TextFormat, write_text
from letorbench.errors import DataError, UsageError

#: sets whose lengths of queries and shares of labels nobody has published: no twin has their shape
SHAPELESS = {"CLUEWEB09"}
ORIGINALS = [
    name for name, known in catalog.CATALOG.items() if not known.synthetic and name not in SHAPELESS
]
SMALL = {"MSLR-WEB10K": 0.002, "MSLR-WEB30K": 0.001, "ISTELLA": 0.001, "ISTELLA-S": 0.001,
         "YAHOO-SET1": 0.005, "YAHOO-SET2": 0.01, "MQ2007": 0.2}  # fmt: skip


def bytes_of(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*.txt"))
    }


def test_polynomial_against_the_sum_of_its_terms(rng: np.random.Generator) -> None:
    d = 4
    polynomial = cubic._coefficients(rng, d)
    constant, linear, square, cube = polynomial
    x = rng.normal(size=(6, d))
    expected = np.full(6, float(constant))
    terms = 1
    for degree, coefficients in ((1, linear), (2, square), (3, cube)):
        for index in itertools.combinations_with_replacement(range(d), degree):
            assert coefficients[index] != 0
            expected += coefficients[index] * x[:, list(index)].prod(axis=1)
            terms += 1
    assert np.count_nonzero(cube) + np.count_nonzero(square) + d + 1 == terms == 35
    np.testing.assert_allclose(cubic.evaluate(polynomial, x), expected, rtol=1e-12)


def test_evaluation_in_chunks(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    polynomial, x = cubic._coefficients(rng, 3), rng.normal(size=(10, 3))
    whole = cubic.evaluate(polynomial, x)
    monkeypatch.setattr(cubic, "_CHUNK", 3)
    np.testing.assert_allclose(cubic.evaluate(polynomial, x), whole, rtol=1e-12)


def test_cut_gives_the_shares_and_keeps_the_order(rng: np.random.Generator) -> None:
    outputs = rng.normal(size=1000)
    labels = cubic.cut(outputs, (0.5, 0.3, 0.15, 0.05))
    assert np.bincount(labels).tolist() == [500, 300, 150, 50]
    assert (np.diff(labels[np.argsort(outputs)]) >= 0).all()
    assert np.bincount(cubic.cut(outputs, (2, 1)), minlength=2).tolist() == [667, 333]
    assert cubic.cut(outputs[:1], (0.5, 0.5)).shape == (1,)


def test_cubic_as_the_paper(rng: np.random.Generator) -> None:
    train, validation, test = cubic.cubic(rng, (100, 50, 100))
    assert [each.n_queries for each in (train, validation, test)] == [100, 50, 100]
    assert set(train.lengths) == {50} and train.n_features == 50
    labels = np.concatenate([each.labels for each in (train, validation, test)])
    np.testing.assert_allclose(
        np.bincount(labels) / len(labels), cubic.REAL_SHARES, atol=2 / len(labels)
    )
    assert train.features.dtype == np.float32 and train.labels.dtype == np.int32
    assert abs(float(train.features.mean())) < 0.01
    assert test.qids.tolist() == [str(q) for q in range(151, 251)] and test.offsets[0] == 0


def test_write_text_exactly(rng: np.random.Generator, tmp_path: Path) -> None:
    values = np.array(
        [[0, 1, -1, 0.5, 12], [999_999, 0.000001, -0.25, 1000.001, 100], [-0.0, 0.1, 7, -3, 1001]]
    ).astype(np.float32)
    docs = np.array([b"d1", b"d2", b"d3"])
    queries = QuerySet(values, np.array([0, 12, 3], np.int32), np.array([0, 2, 3]),
                       ["7", "é/07"], docs)  # fmt: skip
    whole = np.array([False, False, False, False, True])
    path = tmp_path / "a.txt"
    with path.open("wb") as file:
        write_text(file, queries, TextFormat(whole=whole, docids=True))
    assert path.read_text() == (
        "0 qid:7 1:0.000000 2:1.000000 3:-1.000000 4:0.500000 5:12 #docid = d1\n"
        "12 qid:7 1:999999.000000 2:0.000001 3:-0.250000 4:1000.000977 5:100 #docid = d2\n"
        "3 qid:é/07 1:0.000000 2:0.100000 3:7.000000 4:-3.000000 5:1001 #docid = d3\n"
    )
    with path.open("wb") as file:
        write_text(file, queries, TextFormat(decimals=2, sparse=True, ending=b" "))
    assert path.read_text().splitlines()[1] == ("12 qid:7 1:999999.00 3:-0.25 4:1000.00 5:100.00 ")


def test_write_text_reads_back(rng: np.random.Generator, tmp_path: Path) -> None:
    (queries,) = cubic.cubic(rng, (30,), n_features=101, docs=(1, 400))
    with (tmp_path / "a.txt").open("wb") as file:
        write_text(file, queries, TextFormat())
    found = read_queries(tmp_path / "a.txt", ReadOptions())
    np.testing.assert_allclose(found.features, queries.features, atol=6e-7)
    assert np.array_equal(found.offsets, queries.offsets)
    assert np.array_equal(found.labels, queries.labels)
    assert np.array_equal(found.qids, queries.qids)


def test_demo(tmp_path: Path) -> None:
    data = load("DEMO", tmp_path)
    assert data.provenance["rotation"] is True
    tests = [fold.test for fold in data.folds]
    assert [each.n_queries for each in tests] == [40] * 5
    lengths = np.concatenate([each.lengths for each in tests])
    assert lengths.min() >= 30 and lengths.max() <= 50
    assert len(np.unique(np.concatenate([each.labels for each in tests]))) == 5


def test_demo_is_deterministic_byte_for_byte(tmp_path: Path) -> None:
    first = bytes_of(synthetic.make("DEMO", tmp_path / "a"))
    assert bytes_of(synthetic.make("demo", tmp_path / "b")) == first
    assert bytes_of(synthetic.make("DEMO", tmp_path / "c", seed=1)) != first
    assert len(first) == 15


@pytest.mark.parametrize("name", ORIGINALS)
def test_twins_have_the_published_shape(tmp_path: Path, name: str) -> None:
    scale = SMALL.get(name, 0.1 if name[:2] in ("TD", "HP", "NP") else 1.0)
    known = catalog.entry(name)
    folder = synthetic.make(name, tmp_path, seed=3, scale=scale)
    assert folder.name == f"{name}-twin"
    data = load(f"{name}-twin", tmp_path)
    parts = [fold.test for fold in data.folds]
    if known.n_folds == 1:
        parts = [data.folds[0].train, data.folds[0].validation, data.folds[0].test]
    n_queries = sum(each.n_queries for each in parts)
    n_docs = sum(each.n_docs for each in parts)
    assert len(data.folds) == known.n_folds
    assert data.provenance["rotation"] is (known.n_folds == 5)
    assert data.provenance["synthetic"] is True
    assert {each.n_features for each in parts} == {known.n_features}
    assert n_queries == max(10, round(known.queries * scale))
    assert n_docs == round(known.documents * n_queries / known.queries)
    lengths = np.concatenate([each.lengths for each in parts])
    shape = known.twin
    assert lengths.min() >= shape.least and lengths.max() <= shape.most
    # bounds near the mean, as TREC's 1,000 a query, squeeze the spread
    assert 0.2 * shape.spread < np.log(lengths).std() < 1.6 * shape.spread
    labels = np.concatenate([each.labels for each in parts])
    expected = known.published_shares() or shape.shares
    counts = np.bincount(labels, minlength=len(expected))
    np.testing.assert_allclose(counts / n_docs, expected, atol=2e-4 + 1 / n_docs)
    if scale == 1 and known.label_counts:
        assert tuple(counts) == known.label_counts
    constant = np.all(np.concatenate([each.features for each in parts]) == 0, axis=0).sum()
    assert constant >= shape.constant


@pytest.mark.parametrize("name", ORIGINALS)
def test_full_size_lengths_and_labels(name: str) -> None:
    known = catalog.entry(f"{name}-twin")
    if known.documents > 1_500_000:
        pytest.skip("some hundred MB: the smaller ones take the same path")
    twin = twins.plan(np.random.default_rng(0), known)
    assert (len(twin.lengths), twin.lengths.sum()) == (known.queries, known.documents)
    assert len(twin.labels) == known.documents
    if known.label_counts:
        assert tuple(np.bincount(twin.labels)) == known.label_counts
    bounds = twins.parts(twin)
    assert bounds[0][0] == 0 and bounds[-1][1] == known.queries
    assert all(before[1] == after[0] for before, after in itertools.pairwise(bounds))


def test_twins_write_as_their_originals(tmp_path: Path) -> None:
    letor = synthetic.make("OHSUMED", tmp_path, scale=0.1)
    line = (letor / "Fold1/test.txt").read_text().splitlines()[0]
    assert "#docid = synthetic0" in line and line.count(":0 ") >= 8
    mslr = synthetic.make("MSLR-WEB10K", tmp_path, scale=0.001)
    text = (mslr / "Fold1/test.txt").read_text()
    assert text.endswith(" \n") and "#" not in text and ":-" in text
    yahoo = synthetic.make("YAHOO-SET2", tmp_path, scale=0.005)
    line = (yahoo / "set2.valid.txt").read_text().splitlines()[0]
    assert line.count(":") < 597 and ":0.000000" not in line


def test_normalised_per_query(tmp_path: Path) -> None:
    synthetic.make("MQ2008", tmp_path)
    test = load("MQ2008-twin", tmp_path).folds[0].test
    assert test.features.min() == 0 and test.features.max() == 1
    for q in range(20):
        values = test.features[test.offsets[q] : test.offsets[q + 1]]
        spread = np.ptp(values, axis=0)
        assert set(np.unique(spread)) <= {0.0, 1.0}
        assert (spread == 1).sum() == 40


@pytest.mark.parametrize(("name", "scale"), [("OHSUMED", 1.0), ("MSLR-WEB10K", 0.01),
                                             ("YAHOO-SET2", 0.05), ("DEMO", None)])  # fmt: skip
def test_there_is_something_to_learn(tmp_path: Path, name: str, scale: float | None) -> None:
    """Least squares on the training part ranks the test part better than chance."""
    if scale is not None:
        synthetic.make(name, tmp_path, scale=scale)
    fold = load(name if scale is None else f"{name}-twin", tmp_path).folds[0]
    x, y = fold.train.features.astype(float), fold.train.labels
    x = np.column_stack([x, np.ones(len(x))])
    weights = np.linalg.lstsq(x, y, rcond=1e-6)[0]
    test = fold.test
    scores = np.column_stack([test.features, np.ones(test.n_docs)]) @ weights
    assert np.corrcoef(scores, test.labels)[0, 1] > 0.25


def test_equal_seeds_equal_bytes(tmp_path: Path) -> None:
    first = bytes_of(synthetic.make("MQ2008", tmp_path / "a", seed=5, scale=0.1))
    again = bytes_of(synthetic.make("mq2008-TWIN", tmp_path / "b", seed=5, scale=0.1))
    other = bytes_of(synthetic.make("MQ2008", tmp_path / "c", seed=6, scale=0.1))
    assert first == again
    assert not set(first.values()) & set(other.values())


def test_made_once(tmp_path: Path) -> None:
    folder = synthetic.make("MQ2008", tmp_path, scale=0.05)
    before = (folder / "Fold1/train.txt").stat().st_mtime_ns
    assert synthetic.make("MQ2008", tmp_path, scale=0.05) == folder
    assert (folder / "Fold1/train.txt").stat().st_mtime_ns == before
    with pytest.raises(DataError, match="MQ2008-twin: found a folder that was made in another way"):
        synthetic.make("MQ2008", tmp_path, seed=1, scale=0.05)


def test_a_failure_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(synthetic, "_write_part", fail)
    with pytest.raises(KeyboardInterrupt):
        synthetic.make("MQ2008", tmp_path, scale=0.05)
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_made(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="unknown data set 'mine'"):
        synthetic.make("mine", tmp_path)
    for scale in (0, -1, 1.5):
        with pytest.raises(UsageError, match="expected more than 0 and at most 1"):
            synthetic.make("MQ2008", tmp_path, scale=scale)
    assert list(tmp_path.iterdir()) == []


def test_every_original_has_a_shape() -> None:
    assert SHAPELESS == {
        name
        for name, known in catalog.CATALOG.items()
        if not known.synthetic and known.twin is None
    }
    for name in ORIGINALS:
        known = catalog.entry(name)
        shape = known.twin
        mean = known.documents / known.queries
        assert shape.least <= mean <= shape.most
        assert known.published_shares() or sum(shape.shares) == pytest.approx(1)
        if known.n_folds == 1:
            assert sum(shape.split) == pytest.approx(1)


def test_a_data_set_without_a_shape_has_no_twin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shapeless = replace(catalog.CATALOG["MQ2008"], twin=None)
    monkeypatch.setattr(names, "CATALOG", {"MQ2008": shapeless})
    with pytest.raises(UsageError, match="MQ2008 has no synthetic twin: found no `twin` shape"):
        synthetic.make("MQ2008", tmp_path)
    assert catalog.parse("MQ2008-twin").entry is None
