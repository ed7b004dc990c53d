"""From a data set's name, or a DataFrame, to its `Benchmark`."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import astuple, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from letorbench.choices import require_choice
from letorbench.conventions import CONVENTIONS
from letorbench.conventions import convention as convention_named
from letorbench.datasets import catalog, layout
from letorbench.datasets import folds as rotation
from letorbench.datasets.arrays import as_frame, missing_features, word_grades
from letorbench.datasets.cache import Cache
from letorbench.datasets.catalog import Name, parse
from letorbench.datasets.layout import FoldFiles, Layout, weights_of
from letorbench.datasets.queryset import OWN_PART, Benchmark, Fold, QuerySet
from letorbench.datasets.reader import ReadOptions
from letorbench.datasets.synthetic import make
from letorbench.datasets.user_data import weights_beside
from letorbench.errors import DataError, LetorError, UsageError
from letorbench.files import digest

#: the fraction of the training queries, the last ones, that validate where a release has no part
HELD_OUT = 0.2
#: the bytes of data that are read in a tenth of a second
QUICK = 2**27


def load(
    name: str | Name,
    data_dir: str | Path = "data",
    convention: str = "auto",
    null: str | float = "keep",
) -> Benchmark:
    """Read a data set under the data folder.

    Each part is parsed once and later mapped from <data_dir>/.cache. The folds of a rotation
    are views on one array. DEMO is generated on first use.

    Parameters
    ----------
    name : str or Name
        NAME, NAME/VARIANT, NAME-twin, or the folder of the user's own data set. With @splitK
        after it the folds are those of draw K, of as many parts; with @SHARE after it a run
        trains on that fraction of the training queries.
    data_dir : path
        The folder that holds the data sets.
    convention : str
        A convention's name. "auto" is the catalog's, and `standard` for your own folders.
    null : str or float
        What a NULL value reads as: "keep" (NaN, a missing value, which some rankers take),
        "error", "min" (the query's minimum) or a number.

    Returns
    -------
    Benchmark

    Raises
    ------
    DataError
        If the data set is not there or not whole, or a file cannot be read.
    UsageError
        If the name, the variant or the convention does not exist.
    """
    data_dir = Path(data_dir)
    named = parse(name)
    try:
        dataset = layout.find(named, data_dir)
    except DataError:
        if named.files != "DEMO":
            raise
        make(named, data_dir)
        dataset = layout.find(named, data_dir)
    cache = Cache(data_dir / ".cache")
    entry = named.entry
    options = ReadOptions(
        null, entry.n_features if entry else None, clip=bool(entry and entry.doubles)
    )
    content = _content(dataset, cache)
    folds = _folds(cache, dataset, content, options)

    def missing() -> bool:
        parts = (part for fold in folds for part in fold.parts.values())
        return any(len(missing_features(part.features)) for part in parts)

    if null == "keep" and not cache.remember("missing", dataset.files, missing):
        null = "error"  # equal to "keep" for such data, and one identity of their results
    own_part = all(files.validation for files in dataset.folds)
    provenance = {  # what a result's file says about its data; all of it fit for JSON
        "folder": str(dataset.folder),
        "digest": digest_of_draw(content["digest"], named.resplit),
        "null": null,
        "normalised": named.normalised,
        "rotation": content["rotation"],
        "validation": OWN_PART if own_part else "the last fifth of the training queries",
        "recipe": layout.recipe(dataset.folder),
    }
    folds, rules = _with_names(folds, dataset), CONVENTIONS["standard"]
    benchmark = Benchmark(named.label, folds, rules, provenance, named.train_fraction)
    return with_convention(benchmark, convention)


def from_frame(
    df: Any,
    label: str = "label",
    qid: str = "qid",
    folds: int = 5,
    seed: int = 0,
    features: Sequence[str] | None = None,
    convention: str = "standard",
    name: str = "frame",
    weight: str | None = None,
    docid: str | None = None,
    grades: Sequence[str] = (),
) -> Benchmark:
    """Make a benchmark of a table with one document a row.

    The queries are shuffled and cut into `folds` parts. Fold k trains on all parts but two,
    validates on one and is tested on one; each part is the test part of one fold. All documents
    of a query are in one part.

    Parameters
    ----------
    df : DataFrame of pandas or polars, or Arrow table
    label : str
        The column of the relevance labels: integers from 0, or the words of `grades`. An ordered
        Categorical of pandas has them itself.
    qid : str
        The column of the query ids, integers or strings. The rows of a query may be scattered.
    folds : int
        The number of parts and of folds, at least 3.
    seed : int
        The seed of the shuffle. An equal seed gives equal folds.
    features : sequence of str, optional
        The columns of the features; by default all others, which must be numbers. NaN is a
        missing value, which some rankers take.
    convention : str
        The name of the measuring convention.
    name : str
        The benchmark's name, under which results are stored.
    weight : str, optional
        The column of the queries' weights, the same in all rows of a query.
    docid : str, optional
        The column of the documents' ids, which is no feature then; by default `docid`, if any.
    grades : sequence of str, optional
        The words of the labels, the lowest first: ``["Bad", "Fair", "Good"]``.

    Returns
    -------
    Benchmark
        `benchmark.folds[k].test.rows` are the row numbers of its documents in `df`.

    Raises
    ------
    DataError
        If a label or a query is missing or a value of a wrong kind, or there are fewer queries
        than folds.
    UsageError
        If a column does not exist, or `folds` is less than 3.

    Examples
    --------
    >>> import pandas as pd
    >>> df = pd.DataFrame({"q": [1, 1, 2, 2, 3], "rel": [0, 1, 2, 0, 1], "bm25": range(5)})
    >>> from_frame(df, label="rel", qid="q", folds=3)
    Benchmark('frame', 3 folds, 3 queries, 5 documents, 1 feature, labels 0-2, standard)
    """
    df = as_frame(df, "df")
    if docid is None and "docid" in getattr(df, "columns", ()) and "docid" not in (features or ()):
        docid = "docid"
    if not hasattr(df, "columns"):
        expected = "a DataFrame of pandas or polars, or an Arrow table"
        raise DataError(f"df: found a {type(df).__name__}, expected {expected}")
    columns = list(df.columns)
    for column in (label, qid, *filter(None, (weight, docid)), *(features or ())):
        if column not in columns:
            require_choice(str(column), [str(each) for each in columns], "column")
    chosen = [each for each in columns if each not in (label, qid, weight, docid)]
    chosen = chosen if features is None else list(features)
    for column in (label, qid, *filter(None, (weight, docid)), *chosen):
        if columns.count(column) > 1 or chosen.count(column) > 1:
            raise DataError(f"df: found the column {column!r} twice, expected each name once")
    y = df[label]
    if grades:
        y = word_grades(y, grades, lambda row: f"df: row {row}, column {label!r}")
    whole = QuerySet.from_arrays(
        df[chosen], y, qid=df[qid],
        docids=df[docid] if docid else None, sample_weight=df[weight] if weight else None,
    )  # fmt: skip
    parts = rotation.shuffled_parts(len(whole), folds, seed, name)
    pieces = (len(part).to_bytes(8, "little") + part.astype("<i8").tobytes() for part in parts)
    content = digest(b"".join([whole.digest.encode(), *pieces]))
    provenance = {"digest": content, "rotation": True}
    made = Benchmark(
        name, rotation.rotated_parts(whole, parts), CONVENTIONS["standard"], provenance
    )
    return with_convention(made, convention)


def with_convention(benchmark: Benchmark, convention: str) -> Benchmark:
    """Return a benchmark that is measured by a convention, `auto` as in `load`."""
    # a table in memory may have any name
    entry = parse(benchmark.name).entry if "folder" in benchmark.provenance else None
    if convention == "auto":
        convention = entry.convention if entry else "standard"
    if entry is not None and entry.max_label is not None:
        largest = entry.max_label
    else:
        largest = max(int(part.labels.max(initial=0)) for part in benchmark.parts)
    return replace(benchmark, convention=convention_named(convention).of_data(largest))


def redrawn(benchmark: Benchmark, number: int) -> Benchmark:
    """Return a data set in memory with the folds of draw `number`, as `load` does by a name."""
    name, n = catalog.with_resplit(benchmark.name, number), len(benchmark.folds)
    provenance = benchmark.provenance
    _require_rotation(name, bool(provenance.get("rotation")), n)
    whole = rotation.joined([fold.test for fold in benchmark.folds])
    names = whole.qids if whole.query_names is None else whole.query_names
    folds = rotation.rotated_parts(whole, rotation.redrawn_parts(names.tolist(), n, number, name))
    provenance = {**provenance, "digest": digest_of_draw(provenance["digest"], number)}
    return replace(benchmark, name=name, folds=folds, provenance=provenance)


def digest_of(name: str, data_dir: Path) -> object:
    """Return the digest of the data now on disk; None for none, and for unread, large ones."""
    try:
        dataset = layout.find(name, data_dir)
        content = _content(dataset, Cache(data_dir / ".cache"), most=QUICK)
        return digest_of_draw(content["digest"], dataset.name.resplit)
    except (LetorError, OSError):
        return None


def _content(dataset: Layout, cache: Cache, most: float = math.inf) -> dict[str, object]:
    """Return whether the folds rotate, and the files' digest; DataError for more bytes unread."""
    weights = [each for file in dataset.files for each in weights_of(file)]

    def compute() -> dict[str, object]:
        size = sum(file.stat().st_size for file in [*dataset.files, *weights])
        if size > most:
            raise DataError(f"{dataset.folder}: found {size} bytes, expected at most {most}")
        rotates = not weights and rotation.is_rotation(dataset.folds)  # weights may be no rotation
        files = rotation.part_files(dataset.folds) if rotates else dataset.files
        return {"rotation": rotates, "digest": rotation.files_digest([*files, *weights])}

    return cache.remember("rotation", [*dataset.files, *weights], compute)


def _folds(
    cache: Cache, dataset: Layout, content: Mapping[str, object], options: ReadOptions
) -> tuple[Fold, ...]:
    """Read the folds: views on the parts of a rotation, its own or drawn anew, or all files."""
    n, number = len(dataset.folds), dataset.name.resplit
    if number:
        _require_rotation(dataset.name.label, bool(content["rotation"]), n)
    if not content["rotation"]:
        return _separate(cache, dataset.folds, options)
    files = rotation.unrolled(rotation.part_files(dataset.folds))
    whole, bounds = cache.queries(files, options)
    if number:
        once, called = whole.queries(0, int(bounds[n])), layout.query_names(dataset)
        names = [called.get(qid, qid) for qid in once.qids.tolist()]
        parts = rotation.redrawn_parts(names, n, number, dataset.name.label)
        key = json.dumps([content["digest"], *astuple(options)])
        whole, bounds = cache.parts(key, once, rotation.unrolled(parts))
    return rotation.rotated(whole, bounds, n)


def _require_rotation(name: str, rotates: bool, n_folds: int) -> None:
    """Raise UsageError unless folds can be drawn again in the same proportions."""
    if not rotates:
        raise UsageError(
            f"{name}: found {n_folds} fold{'s' * (n_folds != 1)} that do not rotate, expected at "
            "least 3, each made of the same parts and each part tested once, to draw them anew"
        )


def digest_of_draw(data: object, number: int) -> object:
    """Return the digest of data whose folds are draw `number`; that of the data for number 0."""
    return digest(f"{data} {number}".encode()) if number else data


def _separate(cache: Cache, folds: Sequence[FoldFiles], options: ReadOptions) -> tuple[Fold, ...]:
    """Read every file into one array, so that all have the same columns."""
    files = [path for each in folds for path in each.files]
    whole, bounds = cache.queries(files, options)
    whole = _weighted(whole, files, bounds)
    spans = {path: (int(bounds[i]), int(bounds[i + 1])) for i, path in enumerate(files)}

    def fold(each: FoldFiles) -> Fold:
        train, test = spans[each.train], whole.queries(*spans[each.test])
        if each.validation is not None:
            validation = whole.queries(*spans[each.validation])
            return Fold(each.number, whole.queries(*train), validation, test)
        if train[1] - train[0] < 2:
            raise DataError(
                f"{each.train}: found 1 query, expected at least 2, or a validation file beside it"
            )
        cut = train[1] - max(1, round(HELD_OUT * (train[1] - train[0])))
        return Fold(each.number, whole.queries(train[0], cut), whole.queries(cut, train[1]), test)

    return tuple(fold(each) for each in folds)


def _weighted(whole: QuerySet, files: Sequence[Path], bounds: np.ndarray) -> QuerySet:
    """Return the queries with the weights beside some of the files, 1 for the other files."""
    if not any(map(weights_of, files)):
        return whole
    weights = np.ones(whole.n_queries)
    for file, (first, last) in zip(files, pairwise(bounds.tolist()), strict=True):
        of_file = weights_beside(file, whole.queries(first, last).offsets)
        weights[first:last] = 1.0 if of_file is None else of_file
    return replace(whole, weights=weights)


def _with_names(folds: tuple[Fold, ...], dataset: Layout) -> tuple[Fold, ...]:
    """Return the folds with the user's names of features and queries, where the folder has some."""
    features, queries = layout.feature_names(dataset), layout.query_names(dataset)
    n_features = folds[0].train.n_features
    if features is not None and len(features) != n_features:
        raise DataError(
            f"{dataset.folder / layout.FEATURE_NAMES}: found {len(features)} lines, expected "
            f"{n_features}, the features"
        )
    if features is None and not queries:
        return folds

    def named(part: QuerySet) -> QuerySet:
        names = np.array([queries.get(qid, qid) for qid in part.qids.tolist()]) if queries else None
        return replace(part, feature_names=features, query_names=names)

    return tuple(
        Fold(fold.number, **{name: named(part) for name, part in fold.parts.items()})
        for fold in folds
    )
