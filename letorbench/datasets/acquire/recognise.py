"""Recognise the data sets in a tree of file names, and where each file belongs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from letorbench.datasets.catalog import CATALOG, Entry, parse, same
from letorbench.datasets.layout import OWN_NAME, PARTS, fold_number, numbered_folds, part_of
from letorbench.datasets.own.beside import DESCRIPTION, ENDINGS
from letorbench.datasets.own.svmlight import is_svmlight
from letorbench.errors import DataError

_PREFIX = re.compile(r"(set[12]\.)", re.IGNORECASE)
#: the parts in other libraries' names: rank.train, mq2008.vali, RankLib's f1.train.mine.txt
_PART = re.compile(
    r"(?:f(?P<fold>[0-9]{1,4})\.)?(?P<before>(?:.*[._-])?)"
    r"(?:(?P<train>train(?:ing)?)|(?P<validation>vali|valid(?:ation)?|dev)|(?P<test>test(?:ing)?))"
    r"(?P<after>(?:[._-].*)?)"
)
#: the fewest test parts that make folds by rotation
_FEWEST_TESTS = 3


@dataclass(frozen=True)
class Found:
    """A data set in the tree.

    Parameters
    ----------
    name : str
    files : tuple of (PurePosixPath, PurePosixPath)
        Each file's path in the tree and its path in the data folder.
    root, place : PurePosixPath
        Its folder in the tree and in the data folder.
    parts : tuple of (PurePosixPath, PurePosixPath)
        Of a user's own data set: the path in the data folder of each part as it is, and of its
        LETOR text. Its other files stand beside the parts.
    only_tests : bool
        Whether it has test parts alone.
    """

    name: str
    files: tuple[tuple[PurePosixPath, PurePosixPath], ...]
    root: PurePosixPath
    place: PurePosixPath
    parts: tuple[tuple[PurePosixPath, PurePosixPath], ...] = ()
    only_tests: bool = False


def recognise(
    paths: Iterable[PurePosixPath], stem: str, where: Path, start: Callable[[PurePosixPath], bytes]
) -> tuple[Found, ...]:
    """Find the data sets among the paths of a tree.

    Parameters
    ----------
    paths : iterable of PurePosixPath
    stem : str
        The name of the tree's top.
    where : Path
        The folder or archive, for messages.
    start : callable
        Returns how a file begins, which tells data from other files of such a name.

    Raises
    ------
    DataError
        If a data set is not whole, if it comes in variants and the paths do not name one, or if
        two data sets belong in one place.
    """
    paths = sorted(paths)
    groups: dict[tuple[PurePosixPath, str], list[PurePosixPath]] = {}
    for path in paths:
        key = _root(path)
        if key is not None:
            groups.setdefault(key, []).append(path)
    whole = {key: files for key, files in groups.items() if _is_whole(files, key[1])}
    found: dict[PurePosixPath, Found] = {}
    for (root, prefix), files in whole.items():
        name, place = _classify(root, prefix, stem, len(whole) == 1, where)
        only_tests = not _has(files, prefix, "train")
        _check_folds(name, root, files, where, ("test",) if only_tests else tuple(PARTS))
        parts = {}
        if parse(name).entry is None and not only_tests:
            parts = {path: path.relative_to(root) for path in files}
            files = [*files, *_beside(files, paths)]
        at = place / prefix
        _add(found, at, _found(name, root, place, files, parts, only_tests), where)
    taken = {root for root, _ in whole}
    for root, parts in _of_other_libraries(paths, taken, start, where):
        name, place = _own((stem, *root.parts), where)
        if parse(name).entry is not None:
            raise DataError(
                f"{where}: {name!r} is the name of a published set, which {next(iter(parts))} is "
                "not; rename the folder"
            )
        files = [*parts, *_beside(parts, paths)]
        _add(found, place, _found(name, root, place, files, parts), where)
    return tuple(found.values())


def _found(
    name: str,
    root: PurePosixPath,
    place: PurePosixPath,
    files: Iterable[PurePosixPath],
    parts: Mapping[PurePosixPath, PurePosixPath],
    only_tests: bool = False,
) -> Found:
    moved = {path: place / path.relative_to(root) for path in files}
    as_text = tuple((moved[path], place / target) for path, target in parts.items())
    return Found(name, tuple(moved.items()), root, place, as_text, only_tests)


def _add(found: dict[PurePosixPath, Found], at: PurePosixPath, each: Found, where: Path) -> None:
    if at in found:
        raise DataError(
            f"{where}: found {each.name} twice, as {found[at].files[0][0]} and "
            f"{each.files[0][0]}; expected it once"
        )
    found[at] = each


def _beside(parts: Iterable[PurePosixPath], paths: Iterable[PurePosixPath]) -> list[PurePosixPath]:
    """Return the files with sizes of queries and descriptions of columns of these parts."""
    folders = {part.parent for part in parts}
    names = {(part.parent, part.name.lower() + ending) for part in parts for ending in ENDINGS}
    return [
        path
        for path in paths
        if (path.parent, path.name.lower()) in names
        or (path.parent in folders and path.name.lower().endswith(DESCRIPTION))
    ]


def _of_other_libraries(
    paths: list[PurePosixPath],
    taken: set[PurePosixPath],
    start: Callable[[PurePosixPath], bytes],
    where: Path,
) -> Iterator[tuple[PurePosixPath, dict[PurePosixPath, PurePosixPath]]]:
    """Yield the root of each set in other libraries' names, and where its parts belong below it."""
    groups: dict[tuple[PurePosixPath, str], dict[PurePosixPath, PurePosixPath]] = {}
    for path in paths:
        match = _PART.fullmatch(path.name.lower())
        if match is None or path.name.lower().endswith(ENDINGS):
            continue
        in_fold = fold_number(path.parent.name)
        root = path.parent if in_fold is None else path.parent.parent
        number = in_fold if match["fold"] is None else int(match["fold"])
        name = PARTS[next(part for part in PARTS if match[part])][0]
        target = PurePosixPath(name if number is None else f"Fold{number}/{name}")
        if root not in taken:
            group = groups.setdefault((root, match["before"] + match["after"]), {})
            if target in group:
                raise DataError(f"{where}: found {group[target]} and {path}, expected one of them")
            group[target] = path
    for (root, _), group in groups.items():
        names = {target.name for target in group}
        known = (_beside([p], paths) or is_svmlight(start(p)) for p in group.values())
        if {"train.txt", "test.txt"} <= names and all(known):
            yield root, {path: target for target, path in group.items()}


def _root(path: PurePosixPath) -> tuple[PurePosixPath, str] | None:
    """Return the folder and the prefix of the data set that a file of this name belongs to."""
    match = _PREFIX.match(path.name)
    prefix = match[1].lower() if match else ""
    if part_of(path.name, prefix) is None:
        return None
    in_fold = fold_number(path.parent.name) is not None
    return (path.parent.parent if in_fold else path.parent, prefix)


def _has(files: list[PurePosixPath], prefix: str, part: str) -> bool:
    return any(part_of(path.name, prefix) == part for path in files)


def _is_whole(files: list[PurePosixPath], prefix: str) -> bool:
    """Return whether there are train and test files, or enough folds' test files alone."""
    if not _has(files, prefix, "test"):
        return False
    folders = {path.parent for path in files if fold_number(path.parent.name) is not None}
    only_tests = not _has(files, prefix, "validation") and len(folders) >= _FEWEST_TESTS
    return _has(files, prefix, "train") or only_tests


def _check_folds(
    name: str, root: PurePosixPath, files: list[PurePosixPath], where: Path, needed: tuple[str, ...]
) -> None:
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
        for part in needed:
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
