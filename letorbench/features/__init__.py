"""Transformations of features: values that are fitted, applied and stored.

To add a transformation, define a subclass of `Transformation` in a file of this folder; its name is
then known everywhere.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np

from letorbench import registry
from letorbench.choices import resolve_name
from letorbench.compiled.threads import parallel_for
from letorbench.datasets.arrays import missing_features, read_only
from letorbench.datasets.queryset import QuerySet
from letorbench.errors import DataError, UsageError
from letorbench.features.columns import mean_and_variance

#: the name that leaves the choice to the data set and the ranker
AUTO = "auto"
#: how many numbers each thread converts to float64 at a time, if queries do not matter
CELLS = 1 << 19
LARGEST = float(np.finfo(np.float32).max)


@dataclass(frozen=True, eq=False)
class Transformation(ABC):
    """A function from features to features, column by column.

    A subclass is a frozen dataclass, registered by its name. Its fields, arrays of one number per
    feature, hold what `fit` learned from the training set; most subclasses have none. It computes
    in float64 and returns float32, a block of rows at a time, to avoid a second copy of a large
    set. NaN, a missing value, stays NaN; other values do not depend on it.

    Examples
    --------
    >>> from letorbench.features import QueryMinMax
    >>> X = np.array([[2.0], [4.0], [3.0], [7.0]], dtype=np.float32)
    >>> QueryMinMax().transform(X, offsets=np.array([0, 3, 4])).ravel().tolist()
    [0.0, 1.0, 0.5, 0.0]
    """

    #: the name for users, and the formula in plain text
    name: ClassVar[str]
    formula: ClassVar[str]
    #: whether a value depends on the other documents of its query
    by_query: ClassVar[bool] = False

    @classmethod
    def fit(cls, features: np.ndarray) -> Self:
        """Return the transformation fitted to training features (n_docs, n_features)."""
        return cls()

    @abstractmethod
    def _values(self, x: np.ndarray) -> np.ndarray:
        """Return the new values of a block (n_rows, n_features), float64.

        The block is one query if `by_query`, else one or more rows. It may be overwritten.
        """

    def transform(self, features: np.ndarray, offsets: np.ndarray | None = None) -> np.ndarray:
        """Return the new features, (n_docs, n_features) float32; the given ones do not change.

        Query q has the rows offsets[q]:offsets[q + 1], which only some transformations need.
        """
        n_docs, width = features.shape
        for each in fields(self):
            if len(getattr(self, each.name)) != width:
                raise DataError(
                    f"{self.name}: found {width} features, expected "
                    f"{len(getattr(self, each.name))}, as it was fitted"
                )
        if self.by_query and offsets is None:
            raise UsageError(f"{self.name}: found no queries, expected the query of each document")
        new = np.empty_like(features)
        if n_docs:
            step = max(1, CELLS // max(1, width))
            bounds = np.append(np.arange(0, n_docs, step), n_docs)
            if self.by_query and offsets is not None:
                bounds = offsets

            def fill(start: int, stop: int) -> None:
                for first, last in pairwise(bounds[start : stop + 1]):
                    if first < last:
                        new[first:last] = self._values(features[first:last].astype(np.float64))

            parallel_for(fill, len(bounds) - 1, cost=np.diff(bounds))
        for k in missing_features(features) if self.by_query else ():
            rows = np.flatnonzero(~np.isnan(features[:, k]))
            alone = np.zeros((len(rows), width), features.dtype)
            alone[:, k], new[:, k] = features[rows, k], np.nan
            new[rows, k] = self.transform(alone, np.searchsorted(rows, bounds))[:, k]
        return new

    def __call__(self, queries: QuerySet) -> QuerySet:
        """Return a query set with the new features."""
        return replace(queries, features=self.transform(queries.features, queries.offsets))

    def as_json(self) -> dict[str, object]:
        """Return the name and the fitted fields for JSON, with every digit."""
        return {"name": self.name} | {
            each.name: getattr(self, each.name).tolist() for each in fields(self)
        }


@dataclass(frozen=True, eq=False)
class Raw(Transformation):
    """x as it is; nothing is copied."""

    name = "raw"
    formula = "x"

    def transform(self, features: np.ndarray, offsets: np.ndarray | None = None) -> np.ndarray:
        return features

    def __call__(self, queries: QuerySet) -> QuerySet:
        return queries

    def _values(self, x: np.ndarray) -> np.ndarray:
        return x


@dataclass(frozen=True, eq=False)
class QueryMinMax(Transformation):
    """(x - min) / (max - min) over the query's documents; 0 where max = min.

    It turns LETOR's Feature-min into LETOR's QueryLevelNorm (T. Qin, T.-Y. Liu, J. Xu, H. Li:
    LETOR: A Benchmark Collection for Research on Learning to Rank for Information Retrieval,
    Information Retrieval 13(4), 2010, section 3.5).
    """

    name = "query-minmax"
    formula = "(x - min) / (max - min), over the query; 0 where max = min"
    by_query = True

    def _values(self, x: np.ndarray) -> np.ndarray:
        smallest = x.min(axis=0)
        width = x.max(axis=0) - smallest
        return (x - smallest) / np.where(width > 0.0, width, 1.0)


@dataclass(frozen=True, eq=False)
class QueryZScore(Transformation):
    """(x - mean) / standard deviation over the query's documents; 0 where all are equal."""

    name = "query-zscore"
    formula = "(x - mean) / standard deviation, over the query; 0 where all are equal"
    by_query = True

    def _values(self, x: np.ndarray) -> np.ndarray:
        x -= x.mean(axis=0)  # float64 sums of equal float32 numbers are exact
        spread = np.sqrt(np.square(x).mean(axis=0))
        return x / np.where(spread > 0.0, spread, 1.0)


@dataclass(frozen=True, eq=False)
class ZScore(Transformation):
    """(x - mean) / scale, both of the training set; 0 for a feature that is constant there.

    Parameters
    ----------
    mean : ndarray of shape (n_features,), float64
    scale : ndarray of shape (n_features,), float64
        The standard deviation; 0 for a constant feature, whose other values mean nothing.
    """

    mean: np.ndarray
    scale: np.ndarray

    name = "zscore"
    formula = "(x - mean) / standard deviation, over the training set; 0 where all are equal"

    def __post_init__(self) -> None:
        """Raise DataError if a scale is negative, as in a damaged model file."""
        if (self.scale < 0.0).any():
            raise DataError(f"zscore: scale: found {self.scale.min():g}, expected 0 or more")

    @classmethod
    def fit(cls, features: np.ndarray) -> Self:
        mean, variance = mean_and_variance(features)
        for k in missing_features(features):
            known = features[~np.isnan(features[:, k]), k, None]
            (mean[k],), (variance[k],) = mean_and_variance(read_only(known))
        return cls(mean, np.sqrt(variance))

    def _values(self, x: np.ndarray) -> np.ndarray:
        x -= self.mean
        x /= np.where(self.scale > 0.0, self.scale, np.inf)
        # a value far from all of the training set may exceed float32
        return np.clip(x, -LARGEST, LARGEST, out=x)


@dataclass(frozen=True, eq=False)
class SignedLog(Transformation):
    """sign(x) log(1 + abs(x)), for counts and other values of many orders of magnitude."""

    name = "signed-log"
    formula = "sign(x) log(1 + abs(x))"

    def _values(self, x: np.ndarray) -> np.ndarray:
        # the last bits of NumPy's logarithm depend on the processor
        from scipy.special import log1p

        return np.copysign(log1p(np.abs(x)), x)


@dataclass(frozen=True, eq=False)
class QueryRank(Transformation):
    """(rank - 1) / (n - 1) among the query's n documents, the smallest value first.

    Equal values share the mean of their ranks. It is 0 where all are equal.
    """

    name = "rank"
    formula = "(rank - 1) / (n - 1) among the query's n documents, ties shared; 0 where all equal"
    by_query = True

    def _values(self, x: np.ndarray) -> np.ndarray:
        from scipy.stats import rankdata

        varied = x.min(axis=0) < x.max(axis=0)
        places = (rankdata(x, axis=0) - 1.0) / max(1, len(x) - 1)
        return np.where(varied, places, 0.0)


def transformation(name: str) -> type[Transformation]:
    """Return the transformation of that name; UsageError suggests the nearest.

    >>> transformation("query-minmax").formula
    '(x - min) / (max - min), over the query; 0 where max = min'
    """
    return TRANSFORMATIONS[resolve_name(name, list(TRANSFORMATIONS), "feature transformation")]


def features_name(name: str) -> str:
    """Return the name of a transformation or "auto"; UsageError for anything else."""
    return resolve_name(name, [AUTO, *TRANSFORMATIONS], "feature transformation")


def resolved(
    requested: str, wanted: str, features: np.ndarray, normalised: bool | None = None
) -> str:
    """Return the name of the transformation to apply: "auto" is the ranker's choice, `wanted`.

    It is "raw" if the data set is published normalised or, if that is unknown, no feature of the
    training part is beyond -1 and 1.
    """
    if requested != AUTO:
        return requested
    if wanted == "raw":
        return wanted
    if normalised is None:
        low, high = (f.reduce(features, axis=None, initial=0.0) for f in (np.fmin, np.fmax))
        normalised = bool(low >= -1.0 and high <= 1.0)
    return "raw" if normalised else wanted


def stored(facts: Any, n_features: int) -> Transformation:
    """Return the transformation of a model file's `as_json`; DataError if it does not fit."""
    try:
        given = dict(facts)
        kind = TRANSFORMATIONS[given.pop("name")]
        fitted = {what: np.asarray(values, dtype=np.float64) for what, values in given.items()}
        right = set(fitted) == {each.name for each in fields(kind)} and all(
            values.shape == (n_features,) and np.isfinite(values).all()
            for values in fitted.values()
        )
    except (TypeError, ValueError, KeyError):
        right = False
    if not right:
        raise DataError(
            f"found a damaged feature transformation, expected one of {', '.join(TRANSFORMATIONS)} "
            f"with {n_features} finite numbers in each of its fields"
        )
    return kind(**fitted)


TRANSFORMATIONS: dict[str, type[Transformation]] = registry.members(__name__, Transformation)
