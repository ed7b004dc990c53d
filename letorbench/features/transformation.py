"""What every transformation of features is: a value that is fitted, applied and stored."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.errors import DataError, UsageError
from letorbench.threads import parallel_for

if TYPE_CHECKING:
    from typing import Self

#: how many numbers are float64 at a time, in each thread
CELLS = 1 << 19


@dataclass(frozen=True, eq=False)
class Transformation(ABC):
    """A function from features to features, column by column.

    A subclass is a frozen dataclass. Its fields, arrays of one number a feature, are what `fit`
    learned from the training set; most have none. It computes in float64 and gives float32, a
    block of rows at a time, so that no second copy of a large set is held.

    Attributes
    ----------
    name : str
        What users call it.
    formula : str
        What it does, in plain text.
    by_query : bool
        Whether a value depends on the other documents of its query.

    Examples
    --------
    >>> from letorbench.features import QueryMinMax
    >>> X = np.array([[2.0], [4.0], [3.0], [7.0]], dtype=np.float32)
    >>> QueryMinMax().transform(X, offsets=np.array([0, 3, 4])).ravel().tolist()
    [0.0, 1.0, 0.5, 0.0]
    """

    name: ClassVar[str]
    formula: ClassVar[str]
    by_query: ClassVar[bool] = False

    @classmethod
    def fit(cls, features: np.ndarray) -> Self:
        """Return the transformation that training features, (n_docs, n_features), ask for."""
        return cls()

    @abstractmethod
    def _values(self, x: np.ndarray, columns: slice) -> np.ndarray:
        """Return the new values of a block.

        Parameters
        ----------
        x : ndarray of shape (n_rows, n_columns), float64
            One or more rows; all those of one query where `by_query` says so. It may be
            written to.
        columns : slice
            Which features the columns are.
        """

    def transform(self, features: np.ndarray, offsets: np.ndarray | None = None) -> np.ndarray:
        """Return the new features.

        Parameters
        ----------
        features : ndarray of shape (n_docs, n_features), float32
            They are not changed.
        offsets : ndarray of shape (n_queries + 1,), int64, optional
            Query q owns the rows offsets[q]:offsets[q + 1]. They are needed where `by_query`
            says so.

        Returns
        -------
        ndarray of shape (n_docs, n_features), float32

        Raises
        ------
        UsageError
            The queries are needed and not given.
        DataError
            It was fitted to another number of features.
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
        bounds = offsets if self.by_query else _even_bounds(n_docs, max(1, CELLS // max(1, width)))
        new = np.empty_like(features)

        def part(start: int, stop: int) -> None:
            self._fill(features, bounds[start : stop + 1], new)

        lengths = np.diff(bounds)
        if n_docs:
            parallel_for(part, len(lengths), cost=lengths)
        return new

    def _fill(self, features: np.ndarray, bounds: np.ndarray, new: np.ndarray) -> None:
        """Fill new, (n_docs, n_features), in the blocks of rows between the bounds."""
        for first, last in zip(bounds[:-1], bounds[1:]):
            for columns in _column_blocks(int(last - first), features.shape[1]):
                x = features[first:last, columns].astype(np.float64)
                new[first:last, columns] = self._values(x, columns)

    def __call__(self, queries: QuerySet) -> QuerySet:
        """Return a query set with the new features."""
        return replace(queries, features=self.transform(queries.features, queries.offsets))

    def as_json(self) -> dict[str, object]:
        """Return the name and what was fitted, as JSON can hold it; every digit is kept."""
        return {"name": self.name} | {
            each.name: getattr(self, each.name).tolist() for each in fields(self)
        }

    @classmethod
    def from_json(cls, facts: Mapping[str, object]) -> Self:
        """Return what `as_json` gave; DataError where it does not fit the transformation."""
        expected = [each.name for each in fields(cls)]
        if sorted(facts) != sorted([*expected, "name"]):
            raise DataError(
                f"found {', '.join(map(str, facts))} in the transformation {cls.name}, "
                f"expected {', '.join(['name', *expected])}"
            )
        return cls(**{name: _numbers(facts[name], f"{cls.name}: {name}") for name in expected})


def _even_bounds(n_rows: int, rows: int) -> np.ndarray:
    return np.append(np.arange(0, n_rows, rows), n_rows)


def _column_blocks(n_rows: int, width: int) -> list[slice]:
    """Return slices of the columns, so that few numbers of a long query are float64 at once."""
    if n_rows == 0:
        return []
    step = max(1, CELLS // n_rows)
    return [slice(k, min(k + step, width)) for k in range(0, width, step)]


def _numbers(values: object, what: str) -> np.ndarray:
    try:
        found = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.full(1, np.nan)
    if found.ndim != 1 or not np.isfinite(found).all():
        raise DataError(f"{what}: expected a list of finite numbers, one a feature")
    return found
