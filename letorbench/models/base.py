"""The base of all models and of their parametric families.

A model has checked arrays, one way to predict, one way to save and load. A parametric family is the
interface through which solvers fit its models to a loss; it is defined in the file of its models,
as a class with a ``name``, which registers it.
"""

import io
import json
import zipfile
from abc import ABC, abstractmethod
from dataclasses import MISSING, dataclass, field, fields
from functools import partial
from pathlib import Path
from typing import IO, Any, ClassVar, NamedTuple, Self, cast

import numpy as np

from letorbench import registry
from letorbench.choices import require_choice
from letorbench.compiled.threads import parallel_for
from letorbench.datasets.arrays import float32_features
from letorbench.datasets.queryset import QuerySet
from letorbench.errors import DataError, UsageError
from letorbench.files import write_atomically
from letorbench.parameters import number
from letorbench.version import __version__, require_format

#: the format of a model's file; a higher one where an older reader would misread it
FORMAT = 1
#: the model classes in this process by kind; the only place for those of plug-ins
KINDS: dict[str, type["Model"]] = {}


class ArraySpec(NamedTuple):
    """The declaration of a field of a model, see `array`."""

    shape: tuple[str, ...]
    dtype: np.dtype
    below: str | None


def array(
    *shape: str, dtype: Any = np.float64, below: str | None = None, default: Any = MISSING
) -> Any:
    """Declare a field of a model: its dimensions, type and default.

    A dimension's name stands for one size in the whole model, ``"name+1"`` for that size plus one;
    without dimensions the field is a number, and an integer sizes the dimension of its name. Values
    are converted only within a kind or to a wider kind (an index is never rounded). With `below`
    they are indices of that dimension, in 0..size - 1.
    """
    return field(default=default, metadata={"spec": ArraySpec(shape, np.dtype(dtype), below)})


class Model(ABC):
    """An immutable scoring function.

    A subclass is a frozen dataclass. It names its kind, which registers it in a file of ``models/``
    or ``rankers/``, and declares every field with `array`. Checks, saving and loading need no
    more::

        @dataclass(frozen=True, eq=False)
        class Linear(Model):
            kind = "linear"

            weights: np.ndarray = array("n_features")
            bias: float = array(default=0.0)

            def _score(self, features): ...

    The constructor converts every field to its declared type, in C order, and makes it read-only,
    so that compiled code never sees an unchecked array.
    """

    kind: ClassVar[str]  # the model's name in saved files
    docs_a_thread: ClassVar[int] = 1 << 62  # worth a thread; by default one call scores all
    by_query: ClassVar[bool] = False  # a score depends on the other documents of the query
    n_features: int  # of a document; a property of a model without a dimension of that name

    def __init_subclass__(cls, **rest: object) -> None:
        super().__init_subclass__(**rest)
        if "kind" in vars(cls):
            KINDS[cls.kind] = cls

    def __post_init__(self) -> None:
        sizes: dict[str, int] = {}
        specs: dict[str, Any] = {
            each.name: each.metadata.get("spec") for each in fields(cast(Any, self))
        }
        for name, spec in specs.items():
            if spec is None:
                raise TypeError(f"{type(self).__name__}.{name}: declare it with array(...)")
            what = f"{self.kind} model: {name}"
            value = _converted(getattr(self, name), spec, what)
            object.__setattr__(self, name, value)
            if type(value) is int:
                _fit(sizes, name, value, what)
            for dimension, size in zip(spec.shape, np.shape(value), strict=True):
                _fit(sizes, dimension, size, what)
        for name, spec in specs.items():
            if spec.below is not None:
                values, size = getattr(self, name), sizes[spec.below]
                wrong = values[(values < 0) | (values >= size)]
                if len(wrong):
                    raise DataError(
                        f"{self.kind} model: {name}: found index {wrong[0]}, "
                        f"expected 0 to {size - 1}"
                    )
        if "n_features" in sizes:
            object.__setattr__(self, "n_features", sizes["n_features"])
        self._check()

    def _check(self) -> None:  # noqa: B027 (a model may do without)
        """Raise DataError if the fields contradict each other beyond their specs."""

    @abstractmethod
    def _score(self, features: np.ndarray) -> np.ndarray:
        """Score checked features, (n_docs, n_features) float32 in C order."""

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return scores (n_docs,) float64 of (n_docs, n_features) numbers, or raise DataError."""
        features = float32_features(X)
        if features.shape[1] != self.n_features:
            raise DataError(
                f"found {features.shape[1]} features, expected {self.n_features}, which the "
                f"{self.kind} model learned from"
            )
        score = partial(self._score_part, features)
        parts = parallel_for(score, len(features), least=self.docs_a_thread)
        return np.concatenate(parts, dtype=np.float64)

    def predict_queries(self, features: np.ndarray, offsets: np.ndarray | None) -> np.ndarray:
        """Return scores as `predict`; query q has the rows offsets[q]:offsets[q + 1]."""
        return self.predict(features)

    def _score_part(self, features: np.ndarray, start: int, stop: int) -> np.ndarray:
        scores = self._score(features[start:stop])
        if np.shape(scores) != (stop - start,):
            raise DataError(
                f"{self.kind} model: found scores of shape {np.shape(scores)}, expected "
                f"({stop - start},), one for each document"
            )
        return scores


def _converted(value: Any, spec: ArraySpec, what: str) -> np.ndarray | float | int:
    """Return the value as its spec demands: a read-only array in C order, or a Python number."""
    given = np.asarray(value)
    if given.ndim != len(spec.shape) or not np.can_cast(given.dtype, spec.dtype, "same_kind"):
        shape = f"({', '.join(spec.shape)})"
        raise DataError(
            f"{what}: found shape {given.shape} of {given.dtype}, expected {shape} of {spec.dtype}"
        )
    if not spec.shape:
        return given.astype(spec.dtype).item()
    converted = np.require(given, spec.dtype, ["C", "ALIGNED"]).view()
    converted.flags.writeable = False
    return converted


def _fit(sizes: dict[str, int], dimension: str, given: int, what: str) -> None:
    """Set the size of a dimension, or check it if it is set."""
    name, _, more = dimension.partition("+")
    size = given - int(more or 0)
    if size < 0 or sizes.setdefault(name, size) != size:
        expected = sizes[name] + int(more or 0) if name in sizes else f"{more or 0} or more"
        raise DataError(f"{what}: found {dimension} = {given}, expected {expected}")


def model_class(kind: object) -> type[Model]:
    """Return the class of the models of that kind; DataError if there is none."""
    # a ranker's file may define its model
    places = registry.places("models", "kind") | registry.places("rankers", "kind")
    if kind in places:
        return registry.load(places[str(kind)])
    if kind not in KINDS:
        raise DataError(
            f"found a model of kind {kind!r}, expected one of "
            f"{', '.join(sorted({*places, *KINDS}))}; a plug-in's model needs its --plugin"
        )
    return KINDS[str(kind)]


def save(model: Model, path: Path, facts: dict[str, object] | None = None) -> None:
    """Write a model, and JSON facts of its making, as one .npz file of plain arrays."""
    with write_atomically(path, binary=True) as file:
        file.write(to_bytes(model, facts))


def to_bytes(model: Model, facts: dict[str, object] | None = None) -> bytes:
    """Return the content of the file that `save` writes."""
    arrays = {f.name: np.asarray(getattr(model, f.name)) for f in fields(cast(Any, model))}
    made_by = {"format": FORMAT, "versions": {"letorbench": __version__}}
    header = json.dumps({**made_by, "kind": model.kind, "facts": facts or {}})
    file = io.BytesIO()
    np.savez(file, header=np.array(header), **cast(Any, arrays))
    return file.getvalue()


def load(source: Path | IO[bytes], path: object = None) -> tuple[Model, dict[str, Any]]:
    """Return the model and the facts that `save` wrote; DataError for any other file.

    path: what errors call an open file. UsageError says that a later version wrote it, in a format
    that this one cannot read.
    """
    path = path or source
    try:  # nothing is unpickled or unpacked; the archive's check sums show changes
        with np.load(source, allow_pickle=False) as file:
            if any(each.compress_type != zipfile.ZIP_STORED for each in file.zip.infolist()):
                raise DataError("found compressed arrays, expected plain ones: they cannot grow")
            damaged = file.zip.testzip()
            if damaged is not None:
                raise DataError(f"found a check sum of {damaged} that does not fit its content")
            arrays = dict(file)
        header = json.loads(str(arrays.pop("header")))
        require_format(header, FORMAT, path)
        for name, values in arrays.items():
            if values.dtype.kind == "f" and not np.isfinite(values).all():
                raise DataError(f"found NaN or infinity in {name}, expected finite numbers")
        return model_class(header["kind"])(**arrays), dict(header["facts"])
    except DataError as error:
        raise DataError(f"{path}: {error}") from None
    except UsageError:
        raise
    except Exception as error:  # NumPy, zipfile and json raise a dozen types
        raise DataError(f"{path}: found no saved model, expected one that a run left") from error


class ParametricFamily(ABC):
    """A family of models f(x; theta) that is differentiable in theta.

    Features arrive unscaled, (n_docs, n_features) float32. A family that transforms them stores the
    transformation in its models.
    """

    name: ClassVar[str]  # as in ``--set model=quadratic``
    formula: ClassVar[str]  # the score, in plain text
    drawn: ClassVar[bool] = False  # whether the first theta is random, as zero is a saddle point
    auto_features: ClassVar[str] = "query-minmax"  # `auto` for features of different scales
    n_parameters: int

    @classmethod
    @abstractmethod
    def of(cls, train: QuerySet, settings: "FamilySettings") -> Self:
        """Return the family for the features of a training set."""

    def start(self, rng: np.random.Generator) -> np.ndarray:
        """Return the first theta (n_parameters,): zero, unless zero is a saddle point."""
        return np.zeros(self.n_parameters)

    def penalised(self) -> np.ndarray:
        """Return (n_parameters,): 1 for a parameter that the prior penalises, else 0."""
        return np.ones(self.n_parameters)

    @abstractmethod
    def model(self, theta: np.ndarray) -> Model:
        """Return the model f(.; theta)."""

    def scores(self, theta: np.ndarray, features: np.ndarray) -> np.ndarray:
        """Return f(x_i; theta) of the documents, (n_docs,), in full precision."""
        return self.model(theta).predict(features)

    def design(self, features: np.ndarray) -> np.ndarray:
        """Return d f / d theta (n_docs, n) of the first n parameters, if f is linear in them."""
        return np.empty((len(features), 0))

    @abstractmethod
    def gradient(
        self, theta: np.ndarray, features: np.ndarray, score_gradient: np.ndarray
    ) -> np.ndarray:
        """Return a loss's gradient by theta, given its gradient by the scores (chain rule)."""


def families() -> list[str]:
    return list(registry.places("models", "name"))


def family(name: str) -> type[ParametricFamily]:
    """Return the family of that name; UsageError suggests the nearest."""
    places = registry.places("models", "name")
    return registry.load(places[require_choice(name, list(places), "model")])


@dataclass
class FamilySettings:
    """The hyper-parameters of the families, for a ranker that fits any of them.

    Parameters
    ----------
    standardise : bool
        linear: scale features to mean 0 and variance 1 on the training set. "quadratic" and "mlp"
        always do this, the models of two vectors never.
    rho : float
        quadratic: keep the products whose abs(correlation) with the label is at least rho.
    query_features : int
        bilinear, bilinear-tanh, distance: the number of features, the first ones, that describe the
        query; 0 is half of all.
    dimensions : int
        bilinear, bilinear-tanh, distance: the dimensions of the space into which both vectors are
        mapped.
    tau : float
        distance: the divisor of the squared distance.
    """

    standardise: bool = True
    rho: float = number(0.1, least=0, below=1)
    query_features: int = number(0, least=0)
    dimensions: int = number(10, least=1)
    tau: float = number(1.0, above=0)
    # rankers that let users set these declare them as fields
    intercept = False
    hidden = 10
