"""Hand-made model files: each is refused in one line, or gives one score a document.

Every kind of model is taken from a ranker that leaves it; every array, and every fact, is put in
other types, shapes, lengths and values. What compiled code would read beyond an array crashes
this process, or raises under NUMBA_BOUNDSCHECK=1 (with a NUMBA_CACHE_DIR of its own).
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from conftest import random_queries

from letorbench.errors import LetorError
from letorbench.models.base import KINDS
from letorbench.models.model_file import sealed
from letorbench.rankers import load_model, names, ranker

QUERIES = random_queries(np.random.default_rng(0), [60] * 5)

#: a kind of model -> a ranker that leaves it, and its settings
MAKERS: dict[str, tuple[str, dict[str, object]]] = {
    "linear": ("regression", {}),
    "net": ("ranknet", {"epochs": 2}),
    "stumps": ("rankboost", {"rounds": 5}),
    "quadratic": ("recipe", {"model": "quadratic", "rho": 0.0, "iterations": 2}),
    "separate": ("recipe", {"model": "bilinear", "iterations": 2}),
    "separate-tanh": ("recipe", {"model": "bilinear-tanh", "iterations": 2}),
    "lightgbm": ("lightgbm", {"rounds": 3}),
    "xgboost": ("xgboost", {"rounds": 3}),
}

TYPES = ("f2", "f8", ">f8", "f4", "i1", "i8", "u8", "?", "c16", "S3", "U5", "V8")
VALUES = (-1, 255, 2**62, -(2**62), np.nan, np.inf, 1e308)
ODD = (None, [], {}, -1, 10**30, "x", True, 1.5)

Arrays = dict[str, np.ndarray]


def test_every_kind_has_a_maker() -> None:
    assert set(MAKERS) == set(KINDS)


def read(path: Path) -> Arrays:
    with zipfile.ZipFile(path) as archive:
        return {
            name.removesuffix(".npy"): np.lib.format.read_array(io.BytesIO(archive.read(name)))
            for name in archive.namelist()
        }


def write(path: Path, arrays: Arrays) -> None:
    """Write a file whose check sum holds, so that what is in it is looked at."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        for name, each in arrays.items():
            data = io.BytesIO()
            np.lib.format.write_array(data, each, version=(1, 0), allow_pickle=False)
            file.writestr(f"{name}.npy", data.getvalue())
    path.write_bytes(sealed(archive.getvalue()))


def changed(array: np.ndarray) -> Iterator[np.ndarray]:
    """The array in other lengths, shapes, types and values."""
    if array.ndim:
        yield from (array[:-1], array[: len(array) // 2], array[:0], array.T.copy())
        yield np.concatenate([array, array[-1:]])
        yield np.concatenate([array, array], axis=-1)
    yield from (array[..., None], array.reshape(-1))
    for dtype in TYPES:
        with suppress(ValueError, TypeError):
            yield array.astype(dtype)
    for value in VALUES:
        for where in (slice(None), slice(-1, None)):
            with suppress(ValueError, OverflowError):
                other = array.copy()
                other.reshape(-1)[where] = value
                yield other


def files(good: Arrays) -> Iterator[Arrays]:
    """Files that are not quite the good one."""
    for name in good.keys() - {"header"}:
        yield from ({**good, name: each} for each in changed(good[name]))
        yield {key: each for key, each in good.items() if key != name}
    yield {**good, "more": np.zeros(3)}
    header = json.loads(str(good["header"]))
    for kind in KINDS:
        yield {**good, "header": np.array(json.dumps({**header, "kind": kind}))}
    facts = [header["facts"] | {"ranker": name} for name in names()]
    facts += [header["facts"] | {key: value} for key in header["facts"] for value in ODD]
    for each in (*facts, *ODD):
        yield {**good, "header": np.array(json.dumps({**header, "facts": each}))}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", sorted(MAKERS))
def test_no_file_crashes(kind: str, tmp_path: Path) -> None:
    name, settings = MAKERS[kind]
    if not ranker(name).available():
        pytest.skip(f"{name} is not installed")
    path = tmp_path / "model.npz"
    ranker(name)(**settings).fit_sets(QUERIES).save(path)
    refused = tried = 0
    for arrays in files(read(path)):
        tried += 1
        write(path, arrays)
        try:
            fitted = load_model(path)
            features = np.resize(QUERIES.features, (500, fitted.n_features_in_))
            assert fitted.predict(features).shape == (500,)
        except LetorError as error:
            assert "\n" not in str(error)
            refused += 1
    assert tried >= 100 and refused >= tried // 3
