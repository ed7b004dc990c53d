"""Recognise the data sets in a folder by file names, and where each file belongs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from letorbench.datasets.acquire.unpack import ENDINGS, OTHER_ENDINGS
from letorbench.datasets.catalog import CATALOG, Entry, parse, same
from letorbench.datasets.layout import OWN_NAME, PARTS, fold_number, part_of
from letorbench.datasets.user_data.beside import ENDINGS as BESIDE
from letorbench.datasets.user_data.beside import beside
from letorbench.datasets.user_data.layouts import is_svmlight, start_of
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
class Recognised:
    """A data set in a folder.

    Parameters
    ----------
    name : str
    place : PurePosixPath
        Its folder in the data folder.
    parts : dict of PurePosixPath to PurePosixPath
        Each part's path in the folder that was searched, and below `place`.
    only_tests : bool
        Whether it has test parts alone.
    """

    name: str
    place: PurePosixPath
    parts: dict[PurePosixPath, PurePosixPath]
    only_tests: bool = False


def recognise(tree: Path, where: Path) -> list[Recognised]:
    """Find the data sets in a folder.

    Parameters
    ----------
    tree : Path
    where : Path
        The folder or archive that the user named. Its name may be the data set's.

    Raises
    ------
    DataError
        If there is none, if one comes in variants and its path does not name one, or if two belong
        in one place.
    """
    files = [path for path in sorted(tree.rglob("*")) if path.is_file() and not path.is_symlink()]
    paths = [PurePosixPath(path.relative_to(tree).as_posix()) for path in files]
    ending = next((each for each in ENDINGS if where.name.lower().endswith(each)), where.suffix)
    stem = where.resolve().name if where.is_dir() else where.name[: len(where.name) - len(ending)]
    groups: dict[tuple[PurePosixPath, str], list[PurePosixPath]] = {}
    for path in paths:
        match = _PREFIX.match(path.name)
        prefix = match[1].lower() if match else ""
        if part_of(path.name, prefix) is not None:
            in_fold = fold_number(path.parent.name) is not None
            root = path.parent.parent if in_fold else path.parent
            groups.setdefault((root, prefix), []).append(path)
    whole = {key: group for key, group in groups.items() if _is_whole(group, key[1])}
    found: dict[PurePosixPath, Recognised] = {}
    for (root, prefix), group in whole.items():
        name, place = _classify(root, prefix, stem, len(whole) == 1, where)
        parts = {path: path.relative_to(root) for path in group}
        only_tests = not _has(group, prefix, "train")
        _add(found, place / prefix, Recognised(name, place, parts, only_tests), where)
    roots = {root for root, _ in whole}
    for root, parts in _of_other_libraries(tree, paths, roots, where):
        name, place = _own((stem, *root.parts), where)
        if parse(name).entry is not None:
            raise DataError(
                f"{where}: {name!r} is the name of a published set, which {next(iter(parts))} is "
                "not; rename the folder"
            )
        _add(found, place, Recognised(name, place, parts), where)
    if not found:
        raise _nothing(tree, paths, where)
    return list(found.values())


def _add(
    found: dict[PurePosixPath, Recognised], at: PurePosixPath, each: Recognised, where: Path
) -> None:
    if at in found:
        raise DataError(
            f"{where}: found {each.name} twice, as {next(iter(found[at].parts))} and "
            f"{next(iter(each.parts))}; expected it once"
        )
    found[at] = each


def _nothing(tree: Path, paths: Sequence[PurePosixPath], where: Path) -> DataError:
    for path in paths:
        if path.name.lower().endswith((*ENDINGS, *OTHER_ENDINGS)):
            return DataError(
                f"{where}: no data set inside but the compressed file {path}; unpack this one "
                "first, then import what comes out"
            )
    links = sum(path.is_symlink() for path in tree.rglob("*"))
    return DataError(
        f"{where}: no data set inside; expected folders Fold1, Fold2, ... with train, vali and "
        "test files, or train and test files in one folder"
        + (f" ({links} links are not followed)" if links else "")
    )


def _of_other_libraries(
    tree: Path, paths: Sequence[PurePosixPath], taken: set[PurePosixPath], where: Path
) -> Iterator[tuple[PurePosixPath, dict[PurePosixPath, PurePosixPath]]]:
    """Yield the root of each set in other libraries' names, and where its parts belong below it."""
    groups: dict[tuple[PurePosixPath, str], dict[PurePosixPath, PurePosixPath]] = {}
    for path in paths:
        match = _PART.fullmatch(path.name.lower())
        in_fold = fold_number(path.parent.name)
        root = path.parent if in_fold is None else path.parent.parent
        if match is None or root in taken or path.name.lower().endswith(BESIDE):
            continue
        number = in_fold if match["fold"] is None else int(match["fold"])
        name = PARTS[next(part for part in PARTS if match[part])][0]
        target = PurePosixPath(name if number is None else f"Fold{number}/{name}")
        group = groups.setdefault((root, match["before"] + match["after"]), {})
        if target in group.values():
            other = next(path for path in group if group[path] == target)
            raise DataError(f"{where}: found {other} and {path}, expected one of them")
        group[path] = target
    for (root, _), group in groups.items():
        names = {target.name for target in group.values()}
        if {"train.txt", "test.txt"} <= names and all(_is_data(tree / path) for path in group):
            yield root, group


def _is_data(path: Path) -> bool:
    others = beside(path)
    return bool(others.sizes or others.description or is_svmlight(start_of(path)))


def _has(files: Sequence[PurePosixPath], prefix: str, part: str) -> bool:
    return any(part_of(path.name, prefix) == part for path in files)


def _is_whole(files: Sequence[PurePosixPath], prefix: str) -> bool:
    """Return whether there are train and test files, or enough folds' test files alone."""
    if not _has(files, prefix, "test"):
        return False
    folders = {path.parent for path in files if fold_number(path.parent.name) is not None}
    only_tests = not _has(files, prefix, "validation") and len(folders) >= _FEWEST_TESTS
    return _has(files, prefix, "train") or only_tests


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
