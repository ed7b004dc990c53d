"""From a DataFrame to a `Benchmark`: cross-validation by query, as LETOR lays its folds out."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from letorbench.choices import require_choice
from letorbench.conventions import convention as convention_named
from letorbench.datasets import rotation
from letorbench.datasets.queryset import OWN_PART, Benchmark, QuerySet
from letorbench.errors import DataError

if TYPE_CHECKING:
    import pandas as pd


def from_frame(
    df: pd.DataFrame,
    label: str,
    qid: str,
    folds: int = 5,
    seed: int = 0,
    features: Sequence[str] | None = None,
    convention: str = "standard",
    name: str = "frame",
) -> Benchmark:
    """Make a benchmark of a table with one document a row.

    The queries are shuffled and cut into `folds` parts. Fold k trains on all parts but two,
    validates on one and is tested on one; each part is the test part of one fold. All documents
    of a query are in one part.

    Parameters
    ----------
    df : pandas.DataFrame
    label : str
        The column of the relevance labels: integers from 0.
    qid : str
        The column of the query ids, integers or strings. The rows of a query may be scattered.
    folds : int
        The number of parts and of folds, at least 3.
    seed : int
        The seed of the shuffle. An equal seed gives equal folds.
    features : sequence of str, optional
        The columns of the features; by default all others, which must be numbers.
    convention : str
        The name of the measuring convention.
    name : str
        The benchmark's name, under which results are stored.

    Returns
    -------
    Benchmark
        `benchmark.folds[k].test.rows` are the row numbers of its documents in `df`.

    Raises
    ------
    DataError
        If a value is missing or of a wrong kind, or there are fewer queries than folds.
    UsageError
        If a column does not exist, or `folds` is less than 3.

    Examples
    --------
    >>> import pandas as pd
    >>> df = pd.DataFrame({"q": [1, 1, 2, 2, 3], "rel": [0, 1, 2, 0, 1], "bm25": range(5)})
    >>> from_frame(df, label="rel", qid="q", folds=3)
    Benchmark('frame', 3 folds, 3 queries, 5 documents, 1 feature, labels 0-2, standard)
    """
    columns = list(df.columns)
    for column in (label, qid, *(features or ())):
        if column not in columns:
            require_choice(str(column), [str(each) for each in columns], "column")
    chosen = [each for each in columns if each not in (label, qid)]
    whole = QuerySet.from_arrays(
        _numbers(df, chosen if features is None else list(features)), df[label], qid=df[qid]
    )
    rules = replace(convention_named(convention), max_label=int(whole.labels.max()))
    parts = rotation.shuffled_parts(len(whole), folds, seed, name)
    unrolled = rotation.unrolled(parts)
    bounds = np.append(0, np.cumsum([len(part) for part in unrolled]))
    made = rotation.rotated(whole.take(np.concatenate(unrolled)), bounds, folds)
    provenance = {
        "name": name,
        "folder": None,
        "files": [],
        "digest": _digest(whole, parts),
        "variant": None,
        "null": "error",
        "rotation": True,
        "validation": OWN_PART,
        "synthetic": False,
        "recipe": None,
        "split": {"folds": folds, "seed": seed},
        "folds": [fold.sizes for fold in made],
    }
    return Benchmark(name, made, rules, provenance)


def _numbers(df: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    """Return the columns; DataError names the first that does not hold numbers."""
    chosen = df[columns]
    for column, dtype in chosen.dtypes.items():
        if getattr(dtype, "kind", "O") not in "biuf":
            raise DataError(
                f"column {column!r}: found values of type {dtype}, expected numbers "
                "(`features` names the columns to use)"
            )
    return chosen


def _digest(whole: QuerySet, parts: Sequence[np.ndarray]) -> str:
    """Return a hash of the data and of how they are cut into parts."""
    state = hashlib.blake2b(whole.digest.encode(), digest_size=16)
    for part in parts:
        state.update(len(part).to_bytes(8, "little"))
        state.update(part.astype("<i8").tobytes())
    return state.hexdigest()
