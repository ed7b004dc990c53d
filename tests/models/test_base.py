"""What every model must do: check its arrays, convert features, and refuse damaged files.

Every registered kind must have a sample here, so a new kind is tested or this file fails.
"""

from __future__ import annotations

import io
import json
import time
import zipfile
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
import pytest
from sample_models import SAMPLES

from letorbench.errors import DataError
from letorbench.models import Linear, Model, Quadratic, StumpEnsemble, load, save
from letorbench.models.base import KINDS, array, float32_features
from letorbench.models.model_file import sealed

EVERY = pytest.mark.parametrize("kind", SAMPLES)


def stored(model: Model) -> dict[str, np.ndarray]:
    return {f.name: np.asarray(getattr(model, f.name)) for f in fields(model)}


def write(path: Path, header: object, arrays: dict[str, np.ndarray]) -> Path:
    text = header if isinstance(header, str) else json.dumps(header)
    np.savez(path, header=np.array(text), **arrays)
    return seal(path)


def seal(path: Path) -> Path:
    """Give a file the check sum that its content asks for, so that the content is looked at."""
    path.write_bytes(sealed(path.read_bytes()))
    return path


def refused(path: Path, match: str = "found") -> None:
    with pytest.raises(DataError, match=match) as error:
        load(path)
    assert str(error.value).startswith(f"{path}: ") and "\n" not in str(error.value)


def test_every_kind_has_a_sample() -> None:
    own = {kind for kind, cls in KINDS.items() if cls.__module__.startswith("letorbench.")}
    assert own == set(SAMPLES)


@EVERY
def test_saved_and_loaded_it_is_the_same(kind: str, tmp_path: Path) -> None:
    model = SAMPLES[kind]()
    save(model, tmp_path / "m.npz", {"a": [1, "b"]})
    again, facts = load(tmp_path / "m.npz")
    assert type(again) is type(model) and facts == {"a": [1, "b"]}
    X = np.random.default_rng(1).random((40, 5), dtype=np.float32)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


@EVERY
def test_any_real_type_and_order_of_features_scores_alike(kind: str) -> None:
    model = SAMPLES[kind]()
    X = np.random.default_rng(1).random((40, 5), dtype=np.float32)
    expected = model.predict(X)
    assert expected.shape == (40,) and expected.dtype == np.float64
    wide = np.zeros((80, 10), np.float32)
    wide[::2, ::2] = X
    forms = [X.astype(np.float64), np.asfortranarray(X), X.astype(">f4"), X.tolist()]
    for form in (*forms, wide[::2, ::2], X.astype(np.float64).T.copy().T):
        np.testing.assert_array_equal(model.predict(form), expected)
    true = np.ones((3, 5), bool)
    np.testing.assert_array_equal(model.predict(true), model.predict(true.astype(float)))
    assert len(model.predict(X[:0])) == 0


@EVERY
def test_another_number_of_features_is_refused(kind: str) -> None:
    model = SAMPLES[kind]()
    assert model.n_features == 5
    for found in (0, 4, 6):
        with pytest.raises(DataError, match=f"found {found} features, expected 5"):
            model.predict(np.zeros((3, found), np.float32))


@pytest.mark.parametrize(
    "X", [np.zeros(5), np.zeros((2, 2, 5)), [["a"] * 5], np.full((1, 5), None), [[1j] * 5]]
)
def test_what_is_no_table_of_numbers_is_refused(X: object) -> None:
    with pytest.raises(DataError, match="expected real numbers"):
        SAMPLES["linear"]().predict(X)


def test_numbers_beyond_float32_are_refused_and_infinity_is_not() -> None:
    with pytest.raises(DataError, match=r"found a feature of 1e\+39"):
        float32_features(np.array([[1.0, 1e39]]))
    assert np.isinf(float32_features(np.array([[np.inf, -np.inf]]))).all()
    assert np.isnan(float32_features(np.array([[np.nan]]))).all()


def test_features_that_fit_are_not_copied() -> None:
    X = np.zeros((4, 3), np.float32)
    assert float32_features(X) is X


@EVERY
def test_a_model_cannot_be_changed(kind: str) -> None:
    model = SAMPLES[kind]()
    for name, value in stored(model).items():
        with pytest.raises(AttributeError):
            setattr(model, name, value)
        if value.ndim:
            with pytest.raises(ValueError, match="read-only"):
                getattr(model, name)[...] = 0


def test_the_caller_keeps_a_writable_array() -> None:
    weights = np.zeros(3)
    Linear(weights)
    weights[0] = 1.0


# --- files and arrays that are not what the model needs


def damaged(name: str, value: np.ndarray) -> dict[str, np.ndarray]:
    """Arrays that cannot stand for `value`, by what is wrong with them."""
    wrong = {
        "one dimension more": value[None],
        "text": np.full(value.shape, "x"),
        "complex numbers": value.astype(complex),
    }
    if value.ndim:
        wrong["one dimension less"] = value.ravel()[0]
    if value.dtype.kind in "iub":
        wrong["fractions"] = value.astype(np.float64)
    return wrong


@EVERY
def test_wrong_shapes_and_types_are_refused(kind: str, tmp_path: Path) -> None:
    model = SAMPLES[kind]()
    good, header = stored(model), {"kind": kind, "facts": {}}
    for name, value in good.items():
        for array_ in damaged(name, value).values():
            bad = {**good, name: array_}
            with pytest.raises(DataError, match=f"{kind} model: {name}: found"):
                type(model)(**bad)
            refused(write(tmp_path / "bad.npz", header, bad), f"{kind} model: {name}: found")
        missing = {other: array_ for other, array_ in good.items() if other != name}
        refused(write(tmp_path / "bad.npz", header, missing), "found the arrays")
    refused(write(tmp_path / "bad.npz", header, {**good, "more": np.zeros(1)}), "found the arrays")


@pytest.mark.parametrize("kind", ["linear", "net", "quadratic", "separate", "stumps"])
def test_lengths_that_disagree_are_refused(kind: str, tmp_path: Path) -> None:
    """Each array of several is made longer and shorter along each dimension."""
    model = SAMPLES[kind]()
    good = stored(model)
    arrays = [name for name, value in good.items() if value.ndim]
    for name in arrays:
        for axis in range(good[name].ndim):
            if len(arrays) == 1 or (kind == "separate" and axis == 0):
                continue  # nothing else has this dimension
            if kind == "net" and (name, axis) == ("weights", 1):
                continue  # the number of features, which no other array has
            for changed in (
                np.repeat(good[name], 2, axis), np.take(good[name], [0], axis),
                np.take(good[name], [], axis),
            ):  # fmt: skip
                bad = {**good, name: changed.astype(good[name].dtype)}
                path = write(tmp_path / "bad.npz", {"kind": kind, "facts": {}}, bad)
                refused(path, f"{kind} model: .*found .* expected")


@pytest.mark.parametrize("kind, name", [("stumps", "feature"), ("quadratic", "second")])
@pytest.mark.parametrize("index", [5, -1, 2**62, -(2**62)])
def test_indices_out_of_range_are_refused(kind: str, name: str, index: int, tmp_path) -> None:
    good = stored(SAMPLES[kind]())
    bad = {**good, name: good[name].copy()}
    bad[name][1] = index
    path = write(tmp_path / "bad.npz", {"kind": kind, "facts": {}}, bad)
    refused(path, f"{name}: found index {index}, expected 0 to 4")


def test_an_unsigned_index_that_wraps_is_refused() -> None:
    with pytest.raises(DataError, match="found index -1"):
        good = stored(SAMPLES["stumps"]())
        StumpEnsemble(**{**good, "feature": np.array([0, 2**64 - 1], np.uint64)})


@pytest.mark.parametrize(
    "starts", [[1, 2, 2, 3, 3, 3], [0, 2, 2, 3, 3, 4], [0, 4, 2, 3, 3, 3], [0, -1, 2, 3, 3, 3]]
)
def test_quadratic_starts_must_ascend_over_all_products(starts: list[int]) -> None:
    good = stored(SAMPLES["quadratic"]())
    with pytest.raises(DataError, match="starts"):
        Quadratic(**{**good, "starts": np.array(starts)})


@pytest.mark.parametrize(
    "header",
    [
        "", "{", "[]", "1", "null", '"linear"', "{}", '{"kind": "linear"}', '{"facts": {}}',
        '{"kind": "odd", "facts": {}}', '{"kind": ["linear"], "facts": {}}',
        '{"kind": {}, "facts": {}}', '{"kind": "linear", "facts": []}',
        '{"kind": "linear", "facts": null}', "[" * 100_000,
    ],
)  # fmt: skip
def test_odd_headers_are_refused(header: str, tmp_path: Path) -> None:
    refused(write(tmp_path / "bad.npz", header, stored(SAMPLES["linear"]())))


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_none_are_refused(number: float, tmp_path: Path) -> None:
    save(Linear(np.array([1.0, number])), tmp_path / "bad.npz")
    refused(tmp_path / "bad.npz", "found NaN or infinity in weights")


def test_a_header_that_is_no_text_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "bad.npz", header=np.zeros(3), **stored(SAMPLES["linear"]()))
    refused(seal(tmp_path / "bad.npz"))


def npy(description: str, data: bytes = b"", version: bytes = b"\x01\x00") -> bytes:
    return b"\x93NUMPY" + version + len(description).to_bytes(2, "little") + (
        description.encode("latin1")
    ) + data  # fmt: skip


def with_member(path: Path, name: str, content: bytes, compression: int = 0) -> Path:
    """A linear model in whose file one member is replaced."""
    save(SAMPLES["linear"](), path)
    with zipfile.ZipFile(path) as archive:
        members = {each: archive.read(each) for each in archive.namelist()}
    with zipfile.ZipFile(path, "w", compression) as archive:
        for each, data in {**members, name: content}.items():
            archive.writestr(each, data)
    return seal(path)


@pytest.mark.parametrize(
    "description",
    [
        "{'descr': '<f8', 'fortran_order': False, 'shape': (9895604649984,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1" + 400 * "0" + ",)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (-5,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (-1, -5)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (6,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (4,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (0, 1" + 30 * "0" + ")}",
        "{'descr': '<U0', 'fortran_order': False, 'shape': (100000000,)}",
        "{'descr': '|O', 'fortran_order': False, 'shape': (5,)}",
        "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (5,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': 5}",
        "{'descr': '<f8', 'fortran_order': 7, 'shape': (5,)}",
        "{'descr': '<f8', 'shape': (5,)}",
        "{'descr': 'nothing', 'fortran_order': False, 'shape': (5,)}",
        "{" * 5_000, "(" * 5_000, "", "[]", "__import__('os')", "\x00",
    ],
)  # fmt: skip
def test_odd_array_headers_are_refused_before_memory_is_taken(
    description: str, tmp_path: Path
) -> None:
    content = npy(description, np.zeros(5).tobytes())
    refused(with_member(tmp_path / "bad.npz", "weights.npy", content))


def test_a_bomb_is_refused(tmp_path: Path) -> None:
    """Zeros compress a thousandfold: nothing that is compressed is read."""
    buffer = io.BytesIO()
    np.save(buffer, np.zeros(1_000_000))
    path = tmp_path / "bomb.npz"
    refused(with_member(path, "weights.npy", buffer.getvalue(), zipfile.ZIP_DEFLATED), "compressed")


def test_other_npy_versions_and_pickles_are_refused(tmp_path: Path) -> None:
    description = "{'descr': '<f8', 'fortran_order': False, 'shape': (5,)}"
    content = npy(description, np.zeros(5).tobytes(), b"\x09\x00")
    refused(with_member(tmp_path / "bad.npz", "weights.npy", content))
    arrays = {"weights": np.array([1, "a", None], dtype=object), "bias": np.zeros(())}
    refused(write(tmp_path / "pickle.npz", {"kind": "linear", "facts": {}}, arrays))


def test_fortran_order_and_other_bytes_are_read_right(tmp_path: Path) -> None:
    model = SAMPLES["separate"]()
    A = np.asfortranarray(np.arange(8.0).reshape(2, 4))
    arrays = {**stored(model), "A": A, "B": np.arange(12.0).reshape(3, 4).astype(">f8")}
    again, _ = load(write(tmp_path / "m.npz", {"kind": "separate", "facts": {}}, arrays))
    np.testing.assert_array_equal(again.A, np.arange(8.0).reshape(2, 4))
    np.testing.assert_array_equal(again.B, np.arange(12.0).reshape(3, 4))
    assert again.A.flags.c_contiguous and again.B.dtype == np.float64


def test_every_cut_and_every_flipped_bit_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.npz"
    save(SAMPLES["stumps"](), path)
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    variants = [whole[:cut] for cut in range(0, len(whole), 37)]
    for _ in range(300):
        flipped = bytearray(whole)
        flipped[rng.integers(len(whole))] ^= 1 << rng.integers(8)
        variants.append(bytes(flipped))
    variants += [whole + b"\0", b"\0" + whole, whole[:100] + whole[101:]]
    for variant in variants:
        path.write_bytes(variant)
        refused(path, "check sum")


def test_numpy_reads_the_arrays_of_a_saved_model(tmp_path: Path) -> None:
    save(Linear(np.arange(3.0)), tmp_path / "m.npz")
    with np.load(tmp_path / "m.npz") as arrays:
        np.testing.assert_array_equal(arrays["weights"], [0.0, 1.0, 2.0])


@EVERY
def test_a_file_changed_under_a_right_check_sum_is_a_model_or_one_line(
    kind: str, tmp_path: Path
) -> None:
    save(SAMPLES[kind](), tmp_path / "m.npz")
    whole = (tmp_path / "m.npz").read_bytes()
    archive = whole[:-42] + b"\0\0"  # as it was before its check sum was added
    assert sealed(archive) == whole
    rng = np.random.default_rng(0)
    for _ in range(300):
        changed = bytearray(archive)
        changed[rng.integers(len(archive) - 2)] = rng.integers(256)
        (tmp_path / "m.npz").write_bytes(sealed(bytes(changed)))
        try:
            model, _ = load(tmp_path / "m.npz")
            assert model.predict(np.zeros((3, model.n_features))).shape == (3,)
        except DataError as error:
            assert "\n" not in str(error)


@pytest.mark.parametrize("kind", ["lightgbm", "xgboost"])
def test_text_that_is_no_trees_is_refused(kind: str) -> None:
    pytest.importorskip(kind, reason=f"{kind} is not installed")
    model = KINDS[kind](np.frombuffer(b"no trees at all", np.uint8))
    with pytest.raises(DataError, match="found no model of"):
        model.predict(np.zeros((2, 5)))


# --- a new model cannot forget the checks


@pytest.fixture
def no_trace() -> object:
    before = dict(KINDS)
    yield
    KINDS.clear()
    KINDS.update(before)


def test_a_field_without_a_spec_is_refused(no_trace: object) -> None:
    @dataclass(frozen=True, eq=False)
    class Forgetful(Model, kind="forgetful"):
        weights: np.ndarray

        def _score(self, features: np.ndarray) -> np.ndarray:
            return features @ self.weights

    with pytest.raises(TypeError, match="Forgetful.weights: declare it with array"):
        Forgetful(np.zeros(3))


@pytest.mark.parametrize("name", ["predict", "__post_init__"])
def test_the_checks_cannot_be_overridden(no_trace: object, name: str) -> None:
    with pytest.raises(TypeError, match=f"instead of {name}"):
        type("Sly", (Model,), {name: lambda self: None}, kind="sly")


def test_a_model_of_ones_own_is_checked(no_trace: object) -> None:
    @dataclass(frozen=True, eq=False)
    class One(Model, kind="one"):
        feature: np.ndarray = array("one", dtype=np.int64, below="n_features")
        n_features: int = array(dtype=np.int64, default=2)

        def _score(self, features: np.ndarray) -> np.ndarray:
            return features[:, self.feature[0]].astype(np.float64)

    assert One([1]).predict([[1, 2], [3, 4]]).tolist() == [2.0, 4.0]
    with pytest.raises(DataError, match="one model: feature: found index 2, expected 0 to 1"):
        One([2])


def test_a_saved_model_does_not_hold_the_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, files = Linear(np.arange(3.0)), [tmp_path / "first.npz", tmp_path / "second.npz"]
    for file, now in zip(files, (1e9, 1.5e9)):
        local = time.localtime(now)
        monkeypatch.setattr(time, "time", lambda now=now: now)
        monkeypatch.setattr(time, "localtime", lambda *_, local=local: local)
        save(model, file)
    assert files[0].read_bytes() == files[1].read_bytes()
