"""From a data set's name to its `Benchmark`: folds that share one memory-mapped array."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from letorbench.conventions import Convention
from letorbench.conventions import convention as convention_named
from letorbench.datasets import layout, rotation
from letorbench.datasets.cache import Cache
from letorbench.datasets.catalog import Name, parse
from letorbench.datasets.layout import FoldFiles, Layout
from letorbench.datasets.queryset import OWN_PART, Benchmark, Fold, QuerySet
from letorbench.datasets.reader import ReadOptions
from letorbench.datasets.synthetic import make, recipe
from letorbench.errors import DataError

#: the share of the training queries, the last ones, that validate where a release has no part
HELD_OUT = 0.2


def load(
    name: str | Name,
    data_dir: str | Path = "data",
    convention: str = "auto",
    null: str | float = "error",
) -> Benchmark:
    """Read a data set under the data folder.

    Each part is parsed once and later mapped from <data_dir>/.cache. The folds of a rotation
    are views on one array. DEMO is generated on first use.

    Parameters
    ----------
    name : str or Name
        NAME, NAME/VARIANT, NAME-twin, or the folder of the user's own data set.
    data_dir : path
        The folder that holds the data sets.
    convention : str
        A convention's name. "auto" is the catalog's, and `standard` for own folders.
    null : str or float
        What a NULL value reads as: "error", "min" (the query's minimum) or a number.

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
    if named.label == "DEMO" and not layout.present(named, data_dir):
        make(named, data_dir)
    found = layout.find(named, data_dir)
    cache = Cache(data_dir / ".cache")
    options = ReadOptions(null=null, n_features=named.entry.n_features if named.entry else None)
    content = cache.remember("rotation", found.files, lambda: _content(found.folds))
    read = _rotated if content["rotation"] else _separate
    whole, folds = read(cache, found.folds, options)
    names = layout.feature_names(found)
    if names is not None:
        folds = tuple(_named(fold, names, found) for fold in folds)
    return Benchmark(
        named.label,
        folds,
        _convention(named, convention, whole),
        _provenance(found, content, folds, null),
    )


def _content(folds: Sequence[FoldFiles]) -> dict[str, object]:
    rotates = rotation.is_rotation(folds)
    files = (
        rotation.part_files(folds) if rotates else [path for files in folds for path in files.files]
    )
    return {"rotation": rotates, "digest": rotation.files_digest(files)}


def _rotated(
    cache: Cache, folds: Sequence[FoldFiles], options: ReadOptions
) -> tuple[QuerySet, tuple[Fold, ...]]:
    """Read the parts of a rotation; return every query once, and the folds."""
    whole, bounds = cache.queries(rotation.unrolled(rotation.part_files(folds)), options)
    n = len(folds)
    return whole.queries(0, int(bounds[n])), rotation.rotated(whole, bounds, n)


def _separate(
    cache: Cache, folds: Sequence[FoldFiles], options: ReadOptions
) -> tuple[QuerySet, tuple[Fold, ...]]:
    """Read every file into one array, so that all have the same columns."""
    files = [path for each in folds for path in each.files]
    whole, bounds = cache.queries(files, options)
    spans = {path: (int(bounds[i]), int(bounds[i + 1])) for i, path in enumerate(files)}

    def fold(each: FoldFiles) -> Fold:
        train, test = spans[each.train], whole.queries(*spans[each.test])
        if each.validation is not None:
            validation = whole.queries(*spans[each.validation])
            return Fold(each.number, whole.queries(*train), validation, test)
        cut = train[1] - max(1, round(HELD_OUT * (train[1] - train[0])))
        return Fold(each.number, whole.queries(train[0], cut), whole.queries(cut, train[1]), test)

    return whole, tuple(fold(each) for each in folds)


def _named(fold: Fold, names: tuple[str, ...], found: Layout) -> Fold:
    if len(names) != fold.train.n_features:
        raise DataError(
            f"{found.folder / layout.FEATURE_NAMES}: found {len(names)} lines, expected "
            f"{fold.train.n_features}, the features"
        )
    parts = {part: replace(queries, feature_names=names) for part, queries in fold.parts.items()}
    return Fold(fold.number, **parts)


def _convention(named: Name, convention: str, whole: QuerySet) -> Convention:
    entry = named.entry
    if convention == "auto":
        convention = entry.convention if entry else "standard"
    largest = entry.max_label if entry else int(whole.labels.max(initial=0))
    return replace(convention_named(convention), max_label=largest)


def _provenance(
    found: Layout, content: dict[str, object], folds: Sequence[Fold], null: str | float
) -> dict[str, object]:
    """Return what a result's file says about its data; all of it fit for JSON."""
    entry = found.name.entry
    made = recipe(found.folder)
    own_part = all(files.validation for files in found.folds)
    return {
        "name": found.name.label,
        "folder": str(found.folder),
        "files": [str(path.relative_to(found.folder)) for path in found.files],
        "digest": content["digest"],
        "variant": found.name.variant,
        "null": null,
        "normalised": found.name.normalised,
        "rotation": content["rotation"],
        "validation": OWN_PART if own_part else "the last fifth of the training queries",
        "synthetic": bool(entry and entry.synthetic) or made is not None,
        "recipe": made,
        "folds": [fold.sizes for fold in folds],
    }
