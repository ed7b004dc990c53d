"""Generated data: deterministic, of the published shape, and worth learning from."""

import hashlib
import itertools
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import rankdata

from letorbench.datasets import catalog, synthetic
from letorbench.datasets.load import load
from letorbench.datasets.queryset import QuerySet
from letorbench.datasets.releases import verify
from letorbench.datasets.synthetic import cubic
from letorbench.datasets.synthetic.twins import TextFormat, write_text
from letorbench.errors import DataError, UsageError

#: a set of each kind of values, ids and splits, and the share of it that is made
SCALES = {"OHSUMED": 0.2, "MQ2008": 0.1, "ISTELLA": 0.0004, "YAHOO-SET2": 0.002}


def bytes_of(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*.txt"))
    }


def test_polynomial_against_the_sum_of_its_terms(rng):
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


def test_cut_gives_the_shares_and_keeps_the_order(rng):
    outputs = rng.normal(size=1000)
    labels = cubic.cut(outputs, (0.5, 0.3, 0.15, 0.05))
    assert np.bincount(labels).tolist() == [500, 300, 150, 50]
    assert (np.diff(labels[np.argsort(outputs)]) >= 0).all()
    assert np.bincount(cubic.cut(outputs, (2, 1)), minlength=2).tolist() == [667, 333]
    assert cubic.cut(outputs[:1], (0.5, 0.5)).shape == (1,)


def test_write_text_exactly(rng, tmp_path):
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


def test_demo_is_deterministic_byte_for_byte(tmp_path):
    folder = synthetic.make("DEMO", tmp_path / "a")
    first = bytes_of(folder)
    assert bytes_of(synthetic.make("demo", tmp_path / "b")) == first and len(first) == 15
    load("DEMO", tmp_path / "c")  # which makes it
    assert bytes_of(tmp_path / "c") == {f"DEMO/{name}": text for name, text in first.items()}
    assert not first.items() & bytes_of(synthetic.make("DEMO", tmp_path / "d", seed=1)).items()
    assert synthetic.make("DEMO", tmp_path / "a") == folder
    with pytest.raises(DataError, match="found a folder that was made in another way"):
        synthetic.make("DEMO", tmp_path / "a", scale=0.5)
    for scale in (0.0, 1.1):
        said = f"^scale is {scale}, expected more than 0 and at most 1$"
        with pytest.raises(UsageError, match=said):
            synthetic.make("MQ2008", tmp_path / "a", scale=scale)
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["DEMO"]


@pytest.mark.parametrize("name", SCALES)
def test_twins_have_the_published_shape(tmp_path, name):
    scale, known = SCALES[name], catalog.entry(name)
    shape, expected = known.twin, known.published_shares() or known.twin.shares
    folder = synthetic.make(name, tmp_path, seed=3, scale=scale)
    data = load(f"{name}-twin", tmp_path)
    made = dict(made_by="letorbench datasets make", name=f"{name}-twin", original=name, seed=3)
    assert folder.name == f"{name}-twin" and data.provenance["recipe"] == made | {"scale": scale}
    assert {check.status for check in verify(f"{name}-twin", tmp_path)} == {"unknown"}  # a part
    assert len(data.folds) == known.n_folds
    assert data.provenance["rotation"] is (known.n_folds == 5)
    parts = [*data.parts[1:], data.parts[0]] if known.n_folds == 5 else data.parts
    n_queries = max(10, round(known.queries * scale))
    n_docs = round(known.documents * n_queries / known.queries)
    X, labels, lengths, qids = (
        np.concatenate([getattr(part, what) for part in parts])
        for what in ("X", "y", "lengths", "qids")
    )
    assert qids.tolist() == [shape.qid.format(number) for number in range(1, n_queries + 1)]
    assert X.shape == (n_docs, known.n_features)
    if shape.values == "unit":
        docids = np.concatenate([part.docids for part in parts]).tolist()
        assert docids == [b"synthetic%08d" % number for number in range(n_docs)]
    if known.n_folds == 5:
        sizes = [len(part) for part in parts]
        assert max(sizes) - min(sizes) <= 1
    else:
        share = len(data.folds[0].test) / n_queries
        assert share == pytest.approx(shape.split[2], abs=1 / n_queries)
    assert lengths.min() >= shape.least and lengths.max() <= shape.most
    # bounds near the mean, as TREC's 1,000 a query, squeeze the spread
    assert 0.2 * shape.spread < np.log(lengths).std() < 1.6 * shape.spread
    counts = np.bincount(labels, minlength=len(expected))
    np.testing.assert_allclose(counts / n_docs, expected, atol=2e-4 + 1 / n_docs)
    varied = X[:, X.any(axis=0)]
    if shape.values == "raw":  # counts, log probabilities and reals
        third = pytest.approx(known.n_features / 3, rel=0.25)
        counts, logs = (X == np.rint(X)).all(axis=0), (X < 0.0).mean(axis=0) > 0.5
        assert counts.sum() == third and logs.sum() == third and X.max() <= 900_000
    else:
        assert X.shape[1] - varied.shape[1] == shape.constant and X.min() == 0.0 and X.max() <= 1.0
    if shape.values == "sparse":  # between a sixth and all values are there
        held = (varied > 0.0).mean(axis=0)
        assert 0.1 < held.min() < 0.25 and 0.9 < held.max()
    if shape.values == "unit":
        first = np.append(0, np.cumsum(lengths))[:-1]
        assert (np.minimum.reduceat(varied, first) == 0.0).all()
        assert (np.maximum.reduceat(varied, first) == 1.0).all()
    ranks = rankdata(X, axis=0) / n_docs  # most features tell what is relevant from the rest
    above = ranks[labels > 0].mean(axis=0) - ranks[labels == 0].mean(axis=0)
    assert above.mean() > 0.04 and above.max() > 0.15
