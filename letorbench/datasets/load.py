"""From a data set's name to its `Benchmark`: folds that share one memory-mapped array."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from letorbench.conventions import Convention
from letorbench.conventions import convention as convention_named
from letorbench.datasets import layout, rotation
from letorbench.datasets.cache import Cache
from letorbench.datasets.catalog import parse
from letorbench.datasets.layout import FoldFiles, Layout
from letorbench.datasets.queryset import Benchmark, Fold, QuerySet
from letorbench.datasets.reader import ReadOptions
from letorbench.datasets.synthetic import make, recipe

#: share of the training queries, the last ones, that validate where a release has no part for it
HELD_OUT = 0.2


def load(
    name: str, data_dir: Path, convention: str = "auto", null: str | float = "error"
) -> Benchmark:
    """The data set of that name (NAME, NAME/VARIANT, NAME-twin or an own folder's).

    convention: a convention's name; "auto" is the catalog's, `standard` for own folders.
    null:       what a NULL value reads as: "error", "min" (the query's minimum) or a number.

    Each part is parsed once and mapped from <data_dir>/.cache later; the folds of a rotation
    are views on one array. DEMO is generated on first use. DataError as `layout.find`'s and
    the reader's.
    """
    data_dir = Path(data_dir)
    named = parse(name)
    if named.label == "DEMO" and not layout.present("DEMO", data_dir):
        make("DEMO", data_dir)
    found = layout.find(name, data_dir)
    cache = Cache(data_dir / ".cache")
    options = ReadOptions(null=null, n_features=named.entry.n_features if named.entry else None)
    content = cache.remember("rotation", found.files, lambda: _content(found.folds))
    whole, folds = _folds(cache, found.folds, options, bool(content["rotation"]))
    return Benchmark(
        named.label,
        folds,
        _convention(found, convention, whole),
        _provenance(found, content, folds, null),
    )


def _content(folds: Sequence[FoldFiles]) -> dict[str, object]:
    rotates = rotation.is_rotation(folds)
    files = rotation.parts(folds) if rotates else [path for files in folds for path in files.files]
    return {"rotation": rotates, "digest": rotation.digest(files)}


def _folds(
    cache: Cache, folds: Sequence[FoldFiles], options: ReadOptions, rotates: bool
) -> tuple[QuerySet, tuple[Fold, ...]]:
    if not rotates:
        return _separate(cache, folds, options)
    n = len(folds)
    parts = rotation.parts(folds)
    # n - 3 parts again at the end: then every fold's three sets are contiguous
    order = [parts[i % n] for i in range(2 * n - 3)]
    whole, bounds = cache.queries(order, options)

    def span(start: int, stop: int) -> QuerySet:
        return whole.queries(int(bounds[start]), int(bounds[stop]))

    def fold(k: int) -> Fold:
        validation, test = (k + n - 2) % n, (k + n - 1) % n
        return Fold(
            k + 1,
            span(k, k + n - 2),
            span(validation, validation + 1),
            span(test, test + 1),
        )

    return whole.queries(0, int(bounds[n])), tuple(fold(k) for k in range(n))


def _separate(
    cache: Cache, folds: Sequence[FoldFiles], options: ReadOptions
) -> tuple[QuerySet, tuple[Fold, ...]]:
    """Every file for itself, in one array so that all have the same columns."""
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


def _convention(found: Layout, name: str, whole: QuerySet) -> Convention:
    entry = found.name.entry
    if name == "auto":
        name = entry.convention if entry else "standard"
    largest = entry.max_label if entry else int(whole.labels.max(initial=0))
    return replace(convention_named(name), max_label=largest)


def _provenance(
    found: Layout, content: dict[str, object], folds: Sequence[Fold], null: str | float
) -> dict[str, object]:
    """What a result's file says about its data; all of it fit for JSON."""
    entry = found.name.entry
    made = recipe(found.folder)
    return {
        "name": found.name.label,
        "folder": str(found.folder),
        "files": [str(path.relative_to(found.folder)) for path in found.files],
        "digest": content["digest"],
        "variant": found.name.variant,
        "null": null,
        "rotation": content["rotation"],
        "validation": "own part"
        if all(files.validation for files in found.folds)
        else "the last fifth of the training queries",
        "synthetic": bool(entry and entry.synthetic) or made is not None,
        "recipe": made,
        "folds": [_sizes(fold) for fold in folds],
    }


def _sizes(fold: Fold) -> dict[str, object]:
    sets = {"train": fold.train, "validation": fold.validation, "test": fold.test}
    return {"fold": fold.number} | {
        part: {"queries": queries.n_queries, "documents": queries.n_docs}
        for part, queries in sets.items()
    }
