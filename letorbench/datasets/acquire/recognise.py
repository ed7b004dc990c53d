"""Recognise the data sets in a tree of file names, and where each file belongs."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from letorbench.datasets.catalog import CATALOG, Entry, parse, same
from letorbench.datasets.layout import OWN_NAME, PARTS, fold_number, numbered_folds, part_of
from letorbench.errors import DataError

_PREFIX = re.compile(r"(set[12]\.)", re.IGNORECASE)


@dataclass(frozen=True)
class Found:
    """A data set in the tree.

    Parameters
    ----------
    name : str
    files : tuple of (PurePosixPath, PurePosixPath)
        Each file's path in the tree and its path in the data folder.
    """

    name: str
    files: tuple[tuple[PurePosixPath, PurePosixPath], ...]


def recognise(paths: Iterable[PurePosixPath], stem: str, where: Path) -> tuple[Found, ...]:
    """Find the data sets among the paths of a tree.

    Parameters
    ----------
    paths : iterable of PurePosixPath
    stem : str
        The name of the tree's top.
    where : Path
        The folder or archive, for messages.

    Raises
    ------
    DataError
        If a data set is not whole, if it comes in variants and the paths do not name one, or if
        two data sets belong in one place.
    """
    groups: dict[tuple[PurePosixPath, str], list[PurePosixPath]] = {}
    for path in sorted(paths):
        key = _root(path)
        if key is not None:
            groups.setdefault(key, []).append(path)
    whole = {key: files for key, files in groups.items() if _has_train_and_test(files, key[1])}
    found: dict[PurePosixPath, Found] = {}
    for (root, prefix), files in whole.items():
        name, place = _classify(root, prefix, stem, len(whole) == 1, where)
        _check_folds(name, root, files, where)
        moved = tuple((path, place / path.relative_to(root)) for path in files)
        at = place / prefix
        if at in found:
            raise DataError(
                f"{where}: found {name} twice, as {found[at].files[0][0]} and {files[0]}; "
                "expected it once"
            )
        found[at] = Found(name, moved)
    return tuple(found.values())


def _root(path: PurePosixPath) -> tuple[PurePosixPath, str] | None:
    """Return the folder and the prefix of the data set that a file of this name belongs to."""
    match = _PREFIX.match(path.name)
    prefix = match[1].lower() if match else ""
    if part_of(path.name, prefix) is None:
        return None
    in_fold = fold_number(path.parent.name) is not None
    return (path.parent.parent if in_fold else path.parent, prefix)


def _has_train_and_test(files: list[PurePosixPath], prefix: str) -> bool:
    return {"train", "test"} <= {part_of(path.name, prefix) for path in files}


def _check_folds(name: str, root: PurePosixPath, files: list[PurePosixPath], where: Path) -> None:
    """Raise DataError unless the folds, if any, count from 1 and have each part once."""
    prefix = _root(files[0])[1]
    parts: dict[tuple[str, str | None], PurePosixPath] = {}
    for path in files:
        key = (str(path.parent), part_of(path.name, prefix))
        if key in parts:
            raise DataError(
                f"{where}: found two {key[1]} files, {parts[key]} and {path.name}; expected one"
            )
        parts[key] = path
    numbers = {
        path.parent.name: number
        for path in files
        if path.parent != root and (number := fold_number(path.parent.name)) is not None
    }
    if not numbers:
        return
    known = parse(name).entry
    count = None if known is None else known.n_folds
    for folder in numbered_folds(numbers, count, f"{where}: {name} is not whole").values():
        for part in PARTS:
            if (str(root / folder), part) not in parts:
                raise DataError(
                    f"{where}: {name} is not whole: no {part} file in {root / folder}; expected "
                    "train, validation and test files in every fold"
                )


def _classify(
    root: PurePosixPath, prefix: str, stem: str, alone: bool, where: Path
) -> tuple[str, PurePosixPath]:
    """Return the data set's name and its official folder."""
    parts = (stem, *root.parts)
    if prefix:
        known = next(known for known in CATALOG.values() if known.prefix == prefix)
        return known.name, PurePosixPath(known.places[0])
    entry = _entry(parts[-1])
    if entry is None and len(parts) > 1 and _is_variant(parts[-1]):
        entry = _entry(parts[-2])
    if entry is None and alone:
        entry = _entry(stem)
    if entry is None:
        return _own(parts, where)
    if not entry.variants:
        return entry.name, PurePosixPath(entry.places[0])
    for part in reversed(parts):
        for variant in entry.variants:
            if same(part, variant):
                label = parse(f"{entry.name}/{variant}").label
                return label, PurePosixPath(entry.places[0].format(variant=variant))
    raise DataError(
        f"{where}: found {entry.name} in {root}, expected the name of its variant in the path: "
        f"one of {', '.join(entry.variants)}"
    )


def _entry(part: str) -> Entry | None:
    return parse(part.replace("/", "-")).entry


def _is_variant(part: str) -> bool:
    return any(same(part, variant) for e in CATALOG.values() for variant in e.variants)


def _own(parts: tuple[str, ...], where: Path) -> tuple[str, PurePosixPath]:
    """Name a user's own data set by its folder, and by the one above for a variant's folder."""
    names = parts[-2:] if len(parts) > 1 and _is_variant(parts[-1]) else parts[-1:]
    if not all(OWN_NAME.fullmatch(name) for name in names):
        raise DataError(
            f"{where}: {'/'.join(names)!r} cannot name a data set; rename the folder to "
            "letters, digits, - and _"
        )
    return "/".join(names), PurePosixPath(*names)
