"""Generated data: deterministic, of the published shape, and worth learning from."""

import hashlib
import itertools
from pathlib import Path

import numpy as np
import pytest

from letorbench.datasets import catalog
from letorbench.datasets.load import load
from letorbench.datasets.queryset import QuerySet
from letorbench.datasets.synthetic import cubic
from letorbench.datasets.synthetic import generate as synthetic
from letorbench.datasets.text.writer import TextFormat, write_text
from letorbench.errors import DataError

#: a set of each kind of values, ids and splits, and the share of it that is made
SCALES = {"OHSUMED": 0.2, "NP2004": 0.1, "MQ2008": 0.1, "ISTELLA": 0.001}


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


def test_cut_gives_the_shares_and_keeps_the_order(rng: np.random.Generator) -> None:
    outputs = rng.normal(size=1000)
    labels = cubic.cut(outputs, (0.5, 0.3, 0.15, 0.05))
    assert np.bincount(labels).tolist() == [500, 300, 150, 50]
    assert (np.diff(labels[np.argsort(outputs)]) >= 0).all()
    assert np.bincount(cubic.cut(outputs, (2, 1)), minlength=2).tolist() == [667, 333]
    assert cubic.cut(outputs[:1], (0.5, 0.5)).shape == (1,)


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


def test_demo_is_deterministic_byte_for_byte(tmp_path: Path) -> None:
    folder = synthetic.make("DEMO", tmp_path / "a")
    first = bytes_of(folder)
    assert bytes_of(synthetic.make("demo", tmp_path / "b")) == first and len(first) == 15
    assert not first.items() & bytes_of(synthetic.make("DEMO", tmp_path / "c", seed=1)).items()
    assert synthetic.make("DEMO", tmp_path / "a") == folder
    with pytest.raises(DataError, match="found a folder that was made in another way"):
        synthetic.make("DEMO", tmp_path / "a", seed=1)


@pytest.mark.parametrize("name", SCALES)
def test_twins_have_the_published_shape(tmp_path: Path, name: str) -> None:
    scale = SCALES[name]
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
    assert data.provenance["recipe"]
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
    constant = np.all(np.concatenate([each.features for each in parts]) == 0, axis=0).sum()
    assert constant >= shape.constant
