"""The base of all models: checked arrays, one way to predict, and a file that is no pickle."""

from __future__ import annotations

import io
import json
import math
import tokenize
import zipfile
import zlib
from abc import ABC, abstractmethod
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from letorbench.errors import DataError
from letorbench.files import write_atomically

#: the kind that a model's file names -> the model's class
KINDS: dict[str, type[Model]] = {}

#: what reading a damaged file can raise
DAMAGE = (
    OSError, ValueError, KeyError, TypeError, EOFError, OverflowError, RecursionError, MemoryError,
    RuntimeError, SyntaxError, tokenize.TokenError, zipfile.BadZipFile, zlib.error,
)  # fmt: skip


@dataclass(frozen=True)
class ArraySpec:
    """What a field of a model must be.

    Parameters
    ----------
    shape : tuple of str
        The names of the dimensions. A name stands for one size in the whole model, and
        ``"name+1"`` for that size plus one. An empty tuple is a single number; a single
        integer gives the dimension of its own name its size.
    dtype : dtype
        What the numbers are converted to. Only conversions within a kind or to a wider kind
        are made: an index is never rounded.
    below : str, optional
        The dimension that the values are indices of: they must be in 0..size - 1.
    """

    shape: tuple[str, ...]
    dtype: np.dtype
    below: str | None = None


def array(
    *shape: str, dtype: Any = np.float64, below: str | None = None, default: Any = MISSING
) -> Any:
    """Declare a field of a model: see `ArraySpec`."""
    return field(
        default=default, metadata={"spec": ArraySpec(shape, np.dtype(dtype), below)}
    )


class Model(ABC):
    """An immutable scoring function.

    A subclass is a frozen dataclass of arrays and numbers. It names its kind once and declares
    every field with `array`, which is all that checking, saving and loading need::

        @dataclass(frozen=True, eq=False)
        class Linear(Model, kind="linear"):
            weights: np.ndarray = array("n_features")
            bias: float = array(default=0.0)

            def _score(self, features): ...

    The constructor converts every field to the declared type, in C order, and makes it
    read-only, so that compiled code never sees an unchecked array. A model without a dimension
    ``n_features`` has a property of that name.

    Attributes
    ----------
    kind : str
        What a saved file calls the model.
    n_features : int
        How many features a document must have.
    """

    kind: ClassVar[str]
    n_features: int

    def __init_subclass__(cls, kind: str, **rest: object) -> None:
        super().__init_subclass__(**rest)
        for name, instead in (("__post_init__", "_check"), ("predict", "_score")):
            if name in vars(cls):
                raise TypeError(f"{cls.__name__}: define {instead} instead of {name}")
        cls.kind = kind
        KINDS[kind] = cls

    def __post_init__(self) -> None:
        sizes: dict[str, int] = {}
        specs = {each.name: each.metadata.get("spec") for each in fields(self)}
        for name, spec in specs.items():
            if spec is None:
                raise TypeError(f"{type(self).__name__}.{name}: declare it with array(...)")
            what = f"{self.kind} model: {name}"
            value = _converted(getattr(self, name), spec, what)
            object.__setattr__(self, name, value)
            if type(value) is int:
                _fit(sizes, name, value, what)
            for dimension, found in zip(spec.shape, np.shape(value), strict=True):
                _fit(sizes, dimension, found, what)
        for name, spec in specs.items():
            if spec.below is not None:
                values = getattr(self, name)
                _check_indices(values, sizes[spec.below], f"{self.kind} model: {name}")
        if "n_features" in sizes:
            object.__setattr__(self, "n_features", sizes["n_features"])
        self._check()

    def _check(self) -> None:  # noqa: B027 (a model may do without)
        """Raise DataError where the fields contradict each other beyond what their specs say."""

    @abstractmethod
    def _score(self, features: np.ndarray) -> np.ndarray:
        """Score checked features, (n_docs, n_features) float32 in C order."""

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Score documents.

        Parameters
        ----------
        X : array-like of shape (n_docs, n_features)
            Features of any real type and memory order; they are converted to float32 in C order.

        Returns
        -------
        ndarray of shape (n_docs,), float64
            The scores. A larger score ranks higher.

        Raises
        ------
        DataError
            If X is not a table of real numbers with `n_features` columns.
        """
        features = float32_features(X)
        if features.shape[1] != self.n_features:
            raise DataError(
                f"found {features.shape[1]} features, expected {self.n_features}, which the "
                f"{self.kind} model learned from"
            )
        return self._score(features)


def float32_features(X: np.ndarray) -> np.ndarray:
    """Return X as (n_docs, n_features) float32 in C order; it is copied only where it must be.

    Raises
    ------
    DataError
        If X has not two dimensions, holds no real numbers, or a number too large for float32.
    """
    given = np.asarray(X)
    if given.ndim != 2 or given.dtype.kind not in "biuf":
        raise DataError(
            f"found features of shape {given.shape} and type {given.dtype}, expected real "
            "numbers of shape (n_docs, n_features)"
        )
    with np.errstate(over="ignore"):
        features = np.require(given, np.float32, ["C", "ALIGNED"])
    if given.dtype.itemsize > 4:
        lost = np.isinf(features) & np.isfinite(given)
        if lost.any():
            raise DataError(
                f"found a feature of {given[lost][0]}, expected none beyond float32 (3.4e38)"
            )
    return features


def _converted(value: Any, spec: ArraySpec, what: str) -> np.ndarray | float | int:
    """Return the value as its spec wants it: a read-only array in C order, or a Python number."""
    found = np.asarray(value)
    if found.ndim != len(spec.shape) or not np.can_cast(found.dtype, spec.dtype, "same_kind"):
        shape = f"({', '.join(spec.shape)})"
        raise DataError(
            f"{what}: found shape {found.shape} of {found.dtype}, expected {shape} of {spec.dtype}"
        )
    if not spec.shape:
        return found.astype(spec.dtype).item()
    converted = np.require(found, spec.dtype, ["C", "ALIGNED"]).view()
    converted.flags.writeable = False
    return converted


def _fit(sizes: dict[str, int], dimension: str, found: int, what: str) -> None:
    """Give a dimension its size, or check the size that it has."""
    name, _, more = dimension.partition("+")
    size = found - int(more or 0)
    if size < 0 or sizes.setdefault(name, size) != size:
        expected = sizes[name] + int(more or 0) if name in sizes else f"{more or 0} or more"
        raise DataError(f"{what}: found {dimension} = {found}, expected {expected}")


def _check_indices(values: np.ndarray, size: int, what: str) -> None:
    wrong = values[(values < 0) | (values >= size)]
    if len(wrong):
        raise DataError(f"{what}: found index {wrong[0]}, expected 0 to {size - 1}")


def save(model: Model, path: Path, facts: dict[str, object] | None = None) -> None:
    """Write a model, and JSON facts of its making, as one .npz file of plain arrays."""
    arrays = {f.name: np.asarray(getattr(model, f.name)) for f in fields(model)}
    header = json.dumps({"kind": model.kind, "facts": facts or {}})
    with write_atomically(path, binary=True) as file:
        np.savez(file, header=np.array(header), **arrays)


def load(path: Path) -> tuple[Model, dict[str, object]]:
    """Read what `save` wrote.

    Nothing is unpickled or unpacked, and no array is larger than its bytes in the file.

    Returns
    -------
    model : Model
    facts : dict

    Raises
    ------
    DataError
        If the file is anything else, with one line that says what is wrong.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            kind, facts = _read_header(archive)
            names = {f"{each.name}.npy" for each in fields(KINDS[kind])}
            found = [name for name in archive.namelist() if name != "header.npy"]
            if sorted(found) != sorted(names):
                raise DataError(
                    f"found the arrays {', '.join(sorted(found))} in a {kind} model, "
                    f"expected {', '.join(sorted(names))}"
                )
            arrays = {name.removesuffix(".npy"): _read_array(archive, name) for name in names}
        return KINDS[kind](**arrays), facts
    except DataError as error:
        raise DataError(f"{path}: {error}") from None
    except DAMAGE as error:
        raise DataError(f"{path}: found no saved model, expected one that a run left") from error


def _read_header(archive: zipfile.ZipFile) -> tuple[str, dict[str, object]]:
    header = json.loads(str(_read_array(archive, "header.npy")))
    kind, facts = header["kind"], header["facts"]
    if not isinstance(kind, str) or kind not in KINDS:
        raise DataError(
            f"found a model of kind {kind!r}, expected one of {', '.join(KINDS)}; "
            "a plug-in's model needs its --plugin"
        )
    if not isinstance(facts, dict):
        raise DataError(f"found {type(facts).__name__} for the facts of the model, expected dict")
    return kind, facts


def _read_array(archive: zipfile.ZipFile, name: str) -> np.ndarray:
    """Read a stored .npy member whose shape is checked before anything is allocated."""
    member = archive.getinfo(name)
    if member.compress_type != zipfile.ZIP_STORED:
        raise DataError(f"found {name} compressed, expected plain arrays")
    data = archive.read(member)
    start = io.BytesIO(data)
    if np.lib.format.read_magic(start) != (1, 0):
        raise DataError(f"found another version of the .npy format in {name}, expected 1.0")
    shape, fortran, dtype = np.lib.format.read_array_header_1_0(start)
    size, held = math.prod(shape) * dtype.itemsize, len(data) - start.tell()
    if dtype.hasobject or not dtype.itemsize or min(shape, default=0) < 0 or size != held:
        raise DataError(
            f"found {name} of shape {shape} and type {dtype}, {size} bytes, in {held} bytes"
        )
    if size == 0:
        return np.empty(shape, dtype)
    return np.ndarray(shape, dtype, data, start.tell(), order="F" if fortran else "C")
