"""What every model must do: check its arrays, convert features, and refuse damaged files.

A kind is tested here where it has a family or a sample, and with the ranker that learns it.
"""

import json
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
import pytest
from sample_models import SAMPLES

from letorbench.datasets.arrays import float32_features
from letorbench.errors import DataError, UsageError
from letorbench.models import Linear, Model, TreeEnsemble, load, save
from letorbench.models.base import array
from letorbench.models.tree_ensemble import joined, stump
from letorbench.version import __version__

EVERY = pytest.mark.parametrize("kind", SAMPLES)

Arrays = dict[str, np.ndarray]


def stored(model: Model) -> Arrays:
    return {f.name: np.asarray(getattr(model, f.name)) for f in fields(model)}


def write(path: Path, header: object, arrays: Arrays) -> Path:
    text = header if isinstance(header, str) else json.dumps(header)
    np.savez(path, header=np.array(text), **arrays)
    return path


def refused(path: Path, match: str = "found") -> None:
    with pytest.raises(DataError, match=match) as error:
        load(path)
    assert str(error.value).startswith(f"{path}: ") and "\n" not in str(error.value)


@EVERY
def test_saved_and_loaded_it_is_the_same(kind, tmp_path, monkeypatch):
    """The bytes of the file do not hold the time, and NumPy can read the arrays."""
    model, path = SAMPLES[kind](), tmp_path / "m.npz"
    save(model, path, {"a": [1, "b"]})
    first, later = path.read_bytes(), time.localtime(1.5e9)
    monkeypatch.setattr(time, "localtime", lambda *_: later)
    save(model, path, {"a": [1, "b"]})
    assert path.read_bytes() == first
    again, facts = load(path)
    assert type(again) is type(model) and facts == {"a": [1, "b"]}
    X = np.random.default_rng(1).random((40, 5), dtype=np.float32)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    with np.load(path) as arrays:
        for name, value in stored(model).items():
            np.testing.assert_array_equal(arrays[name], value)


@EVERY
def test_any_real_type_and_order_of_features_scores_alike(kind):
    model = SAMPLES[kind]()
    X = np.random.default_rng(1).random((40, 5), dtype=np.float32)
    expected = model.predict(X)
    assert expected.shape == (40,) and expected.dtype == np.float64
    wide = np.zeros((80, 10), np.float32)
    wide[::2, ::2] = X
    for form in (X.astype(np.float64), np.asfortranarray(X), X.astype(">f4"), X.tolist(),
                 wide[::2, ::2]):  # fmt: skip
        np.testing.assert_array_equal(model.predict(form), expected)
    order = np.random.default_rng(2).permutation(40)
    np.testing.assert_array_equal(model.predict(X[order]), expected[order])
    alone = [0.0] if model.by_query else expected[7:8]
    np.testing.assert_array_equal(model.predict(X[7:8]), alone)
    true = np.ones((3, 5), bool)
    np.testing.assert_array_equal(model.predict(true), model.predict(true.astype(float)))
    assert len(model.predict(X[:0])) == 0


@EVERY
def test_wrong_features_are_refused(kind):
    model = SAMPLES[kind]()
    assert model.n_features == 5
    for width in (0, 4, 6):
        with pytest.raises(DataError, match=f"found {width} features, expected 5"):
            model.predict(np.zeros((3, width), np.float32))
    for X in (np.zeros(5), np.zeros((2, 2, 5)), [["a"] * 5], np.full((1, 5), None), [[1j] * 5]):
        what = (
            f"found features of shape {np.shape(X)} and type {np.asarray(X).dtype}, expected real"
        )
        with pytest.raises(DataError, match=re.escape(what)):
            model.predict(X)


def test_numbers_beyond_float32_are_refused_and_infinity_is_not():
    with pytest.raises(DataError, match=r"found a feature of 1e\+39"):
        float32_features(np.array([[1.0, 1e39], [2e39, 1.0]]))
    assert np.isinf(float32_features(np.array([[np.inf, -np.inf]]))).all()


@EVERY
def test_a_model_is_what_was_given_unchangeably_and_its_maker_keeps_writable_arrays(kind):
    """Numbers keep all their digits but for what is float32 by its format."""
    model = SAMPLES[kind]()
    given = {
        name: value + 1.0 / 3.0 if value.dtype == np.float64 else value
        for name, value in stored(model).items()
    }
    for name, value in stored(type(model)(**given)).items():
        float32 = (kind, name) in (("net", "weights"), ("trees-float32", "value"))
        assert value.dtype == (np.float32 if float32 else np.result_type(given[name], np.bool_))
        np.testing.assert_array_equal(value, given[name])
    given = {name: value.copy() for name, value in stored(model).items()}
    for name, value in stored(type(model)(**given)).items():
        with pytest.raises(AttributeError):
            setattr(model, name, value)
        if value.ndim:
            with pytest.raises(ValueError, match="read-only"):
                getattr(model, name)[...] = 0
            given[name][...] = 0


# --- files and arrays that are not what the model needs


def impossible(value: np.ndarray) -> Iterator[np.ndarray]:
    yield from (value[None], np.full(value.shape, "x"), value.astype(complex))
    if value.ndim:
        yield value.ravel()[0]
    if value.dtype.kind in "iub":
        yield value.astype(np.float64)


@EVERY
def test_wrong_shapes_and_types_are_refused(kind, tmp_path):
    model, path = SAMPLES[kind](), tmp_path / "bad.npz"
    good, header = stored(model), {"kind": kind, "facts": {}}
    for name, value in good.items():
        for wrong in impossible(value):
            refused(write(path, header, {**good, name: wrong}), f"{kind} model: {name}: found")
        if value.ndim and name != "roots" and (name != "weights" or kind == "quadratic"):
            refused(write(path, header, {**good, name: value[..., :-1]}), ", expected ")
    refused(write(path, header, {**good, "more": np.zeros(1)}), "found no saved model")
    del good[name]
    if name not in ("bias", "missing_left"):  # these have a default
        refused(write(path, header, good), "found no saved model")


@pytest.mark.parametrize("kind, changes, message", [
    ("trees", {"feature": [0, 5, 0, 6]}, "feature: found index 5, .*4"),
    ("trees", {"feature": [-1, 0, 7, 0]}, "feature: found index -1"),
    ("trees", {"feature": np.array([0, 0, 0, 2**64 - 1], np.uint64)}, "found index -1"),
    ("trees", {"n_features": -1}, "n_features = -1"),
    ("net", {"output": np.zeros(0)}, "output: found n_units = 0, .*3"),
    ("quadratic", {"second": [0, 5, 2]}, "second: found index 5, .*4"),
    ("quadratic", {"starts": [0, 2, 2, 3, 3]}, "starts: found n_features.1 = 5, .*6"),
    ("quadratic", {"starts": [1, 2, 2, 3, 3, 3]}, "starts: found 1 to 3, .*ascending"),
    ("quadratic", {"starts": [0, 2, 2, 3, 3, 4]}, "starts"),
    ("quadratic", {"starts": [0, 4, 2, 3, 3, 3]}, "starts"),
    ("trees", {"right": [0, 1, 2, 3]}, "a child of node 0 before"),
    ("trees", {"left": [1, 0, 2, 3]}, "a child of node 1 before"),
    ("trees", {"roots": [0, 4]}, "roots: found index 4, .*3"),
    ("trees", {"missing_left": np.zeros(3, bool)}, "missing_left: found n_nodes = 3"),
    ("linear", {"weights": [1.0, np.nan]}, "NaN or infinity in weights"),
    ("linear", {"bias": np.inf}, "NaN or infinity in bias"),
    ("linear", {"bias": np.array(["a", None], dtype=object)}, "no saved model"),
])  # fmt: skip
def test_values_that_disagree_are_refused(kind, changes, message, tmp_path):
    arrays = stored(SAMPLES[kind]()) | {name: np.asarray(each) for name, each in changes.items()}
    refused(write(tmp_path / "bad.npz", {"kind": kind, "facts": {}}, arrays), message)


@pytest.mark.parametrize("header", ["{", "[]", '{"kind": "none", "facts": {}}',
                                    '{"kind": "linear", "facts": 1}'])  # fmt: skip
def test_odd_headers_are_refused(header, tmp_path):
    refused(write(tmp_path / "bad.npz", header, stored(SAMPLES["linear"]())))


def test_a_file_of_a_later_format_names_the_version_that_wrote_it(tmp_path):
    """The format and the version are in every file; one of 1.0 has neither."""
    model = SAMPLES["linear"]()
    save(model, tmp_path / "m.npz")
    header = json.loads(str(np.load(tmp_path / "m.npz")["header"]))
    assert (header["format"], header["versions"]) == (1, {"letorbench": __version__})
    old = {"kind": "linear", "facts": {"a": 1}}
    assert load(write(tmp_path / "old.npz", old, stored(model)))[1] == {"a": 1}
    late = {**header, "format": 2, "versions": {"letorbench": "7.1.0"}, "kind": "new"}
    late_file = write(tmp_path / "late.npz", late, {"new": np.ones(3)})
    with pytest.raises(UsageError, match="late.npz: found format 2, which letorbench 7.1.0 wrote"):
        load(late_file)


def test_a_cut_file_is_refused_and_no_flipped_bit_changes_a_model(tmp_path):
    path, rng, said = tmp_path / "m.npz", np.random.default_rng(0), set()
    save(SAMPLES["trees"](), path)
    whole, expected, taken = path.read_bytes(), stored(SAMPLES["trees"]()), 0
    for cut in range(0, len(whole), 97):
        path.write_bytes(whole[:cut])
        refused(path)
    for _ in range(200):
        flipped = bytearray(whole)
        flipped[rng.integers(len(whole))] ^= 1 << rng.integers(8)
        path.write_bytes(flipped)
        try:  # a bit of the archive's own book-keeping may change nothing
            assert str(stored(load(path)[0])) == str(expected)
            taken += 1
        except DataError as error:
            said.add(str(error).partition(": ")[2])
    assert taken < 100 and "found a check sum of cover.npy that does not fit its content" in said


def test_a_bomb_is_refused(tmp_path):
    """Zeros compress a thousandfold: nothing that is compressed is read."""
    arrays = stored(SAMPLES["linear"]()) | {"weights": np.zeros(1_000_000)}
    header = np.array(json.dumps({"kind": "linear", "facts": {}}))
    np.savez_compressed(tmp_path / "bomb.npz", header=header, **arrays)
    refused(tmp_path / "bomb.npz", "found compressed arrays, expected plain ones")


def test_an_older_file_of_trees_reads_a_missing_value_as_0(tmp_path):
    X = np.random.default_rng(0).normal(size=(99, 5)).astype(np.float32)
    X[::2, 4] = np.nan
    for threshold in (-0.5, 0.0, 0.5):
        older = stored(SAMPLES["trees"]()) | {"threshold": np.array([threshold, 0, 0, 0])}
        given = TreeEnsemble(**older)
        del older["missing_left"]
        read, _ = load(write(tmp_path / "m.npz", {"kind": "trees", "facts": {}}, older))
        np.testing.assert_array_equal(read.predict(X), read.predict(np.nan_to_num(X)))
        assert given.has_missing == (threshold >= 0.0) and not read.has_missing
        same = np.array_equal(given.predict(X), read.predict(X))
        assert same != given.has_missing


# --- a model of one's own


def test_a_model_of_ones_own_is_checked_and_loaded(tmp_path, monkeypatch):
    @dataclass(frozen=True, eq=False)
    class One(Model):
        kind = "one of a test"

        feature: np.ndarray = array("one", dtype=np.int64, below="n_features")
        n_features: int = array(dtype=np.int64, default=2)

        def _score(self, features: np.ndarray) -> np.ndarray:
            return features[:, self.feature[0]].astype(np.float64)

    class Counting(One):
        def _score(self, features: np.ndarray) -> np.ndarray:
            return np.full(len(features), len(features))

    monkeypatch.setenv("LETORBENCH_THREADS", "2")  # all documents are seen at once nevertheless
    assert (Counting([1]).predict(np.zeros((100_000, 2))) == 100_000).all()
    save(One([1]), tmp_path / "m.npz")
    assert load(tmp_path / "m.npz")[0].predict([[1, 2], [3, 4]]).tolist() == [2.0, 4.0]
    with pytest.raises(DataError, match="model: feature: found index 2, expected 0 to 1"):
        One([2])


def test_a_model_that_declares_no_array_is_told():
    @dataclass(frozen=True, eq=False)
    class Forgetful(Linear):
        more: np.ndarray = None

    with pytest.raises(TypeError, match="Forgetful.more: declare it with array"):
        Forgetful(np.zeros(3))


@pytest.mark.parametrize("threshold", [-0.5, -1e-300, -0.0, 0.0, 0.5])
@pytest.mark.parametrize("above", [False, True])
def test_a_stump_takes_a_missing_value_for_0(threshold, above):
    tree, values = stump(0, above, threshold, np.array([0.0, 1.0]) > threshold)
    model = joined([tree], [2.0], 1)
    assert not model.has_missing
    zero, missing, one = model.predict([[0.0], [np.nan], [1.0]])
    assert missing == zero == 2.0 * values[0] and one == 2.0 * values[1]
