"""Bring the data sets of a folder or an archive into the data folder, in the official layout.

They are recognised by the names of their files.
"""

import filecmp
import os
import re
import shutil
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from letorbench.datasets import layout
from letorbench.datasets.catalog import CATALOG, Entry, Name, parse, same
from letorbench.datasets.layout import OWN_NAME, PARTS, check_link, fold_number, part_of
from letorbench.datasets.releases import as_table, release_in
from letorbench.datasets.unpack import ENDINGS, unpack
from letorbench.datasets.user_data import ENDINGS as SIDECAR_ENDINGS
from letorbench.datasets.user_data import Grades, Note, sidecar_files
from letorbench.datasets.user_data.folds import make_letor_text, note_unjudged, rotate_tests, split
from letorbench.datasets.user_data.read import LETOR, SVMLIGHT, TABLE, kind_of
from letorbench.datasets.user_data.tables import Columns, has_roles
from letorbench.errors import DataError, UsageError, WriteError
from letorbench.files import unfinished_folder
from letorbench.named_files import input_file

#: a part in any library's name: train.txt, testset.txt, rank.train, train.txt.gz
_PART = re.compile(
    r"(?P<before>(?:.*[._-])?)"
    r"(?:(?P<train>train(?:ing)?)|(?P<validation>vali|valid(?:ation)?|dev)|(?P<test>test(?:ing)?))"
    r"(?:set)?(?P<after>(?:[._-].*?)?)(?:\.(?:gz|bz2|xz|zst))?"
)
#: the fold in a part's name: fold1_train.txt, train.cv-2.txt, RankLib's f1.train.mine.txt
_FOLD_IN_NAME = re.compile(r"(?:^f|(?:^|[._-])(?:fold|split|cv)[ _-]?)0*([0-9]{1,4})(?=[._-])")
#: the text around the part in the releases' file names, and the one data set that uses it
_OFFICIAL = {f"{known.prefix}.txt": known if known.prefix else None for known in CATALOG.values()}
#: the fewest test parts that make folds by rotation
_FEWEST_TESTS = 3
#: the endings of archives that are not unpacked here
_PACKED = (".rar", ".7z", ".gz", ".bz2", ".xz")


class PartFile(NamedTuple):
    """A file of a data set: its path in the searched folder, and its place in the data set."""

    path: PurePosixPath
    part: str
    place: PurePosixPath


class Recognised(NamedTuple):
    """A data set in a folder, and its folder in the data folder."""

    name: str
    place: PurePosixPath
    files: list[PartFile]
    #: the folder of its files, or of its folds, in the searched folder
    root: PurePosixPath


def import_archive(
    path: Path,
    data_dir: Path,
    expected: Name | None = None,
    grades: Grades = None,
    note: Note = lambda line: None,
) -> tuple[str, ...]:
    """Copy or unpack the data sets in a folder or an archive into the data folder.

    A user's parts in another library's layout become LETOR text, their labels `grades`; test parts
    alone become folds. A release without folds is recognised by its hash and cut into folds.
    `expected` must be inside, its files with the published hashes. Return the data sets' names.
    """
    # all is unpacked beside its place and compared before the first file is moved, so that a
    # failure leaves nothing behind
    if not path.exists():
        raise DataError(f"{path}: no such file or folder")
    release = release_in(path, expected) if grades is None else None
    if release is not None:
        return _import_release(*release, data_dir, note)
    with unfinished_folder(data_dir / ".unfinished") as scratch:
        tree, staged = path, scratch / "data"
        if not path.is_dir():
            tree = scratch / "archive"
            unpack(path, tree)
        places = {tree: path}
        try:
            data_sets = _recognised(tree, path)
            names = tuple(each.name for each in data_sets)
            if expected is not None and expected.label not in names:
                raise DataError(f"{path}: found {', '.join(names)} inside, expected {expected}")
            for each in data_sets:
                places = {staged / each.place: path / each.root, tree: path}
                _stage(each, tree, staged, tree != path, grades, note)
                staged_layout = layout.find(parse(each.name), staged)
                first = staged_layout.folds[0].train.parent.name
                if fold_number(first) == 0:
                    note(f"{each.name}: {first} is fold 1, as folds count from 1 here")
                if staged_layout.name.entry is None or staged_layout.name.entry.min_label < 0:
                    note_unjudged(staged_layout, note)
        except WriteError:
            raise
        except DataError as error:
            shown = str(error)
            for old, new in places.items():
                shown = shown.replace(str(old), str(new))
            raise DataError(shown) from None
        if expected is not None and expected.entry is not None:
            there = layout.find(expected, staged)
            for file in there.files:
                inside = file.relative_to(there.folder).as_posix()
                if expected.entry.status_of(file, inside) == "differs":
                    raise DataError(
                        f"{path}: {inside}: found another file than the published one, whose hash "
                        "is known"
                    )
        _put_in_place(staged, data_dir)
    return names


def _import_release(
    named: Name, files: Sequence[Path], data_dir: Path, note: Note
) -> tuple[str, ...]:
    """Cut the files of a release without folds into folds in the data folder; return its name."""
    known, unsplit = named.entry, "unsplit"
    assert known is not None and known.unsplit is not None
    with unfinished_folder(data_dir / ".unfinished") as scratch:
        file, columns = files[0], Columns()
        if known.unsplit.label:
            file, columns = as_table(files, known.unsplit, scratch / f"{known.name}.csv")
        split(file, scratch, unsplit, known.n_folds, columns=columns, note=note)
        place = known.places[0].format(variant=named.variant)
        (scratch / "data" / place).parent.mkdir(parents=True)
        (scratch / unsplit).rename(scratch / "data" / place)
        _put_in_place(scratch / "data", data_dir)
    return (named.label,)


def _stage(
    each: Recognised, tree: Path, staged: Path, may_move: bool, grades: Grades, note: Note
) -> None:
    """Put a data set's files under `staged` in the places that they have in the data folder."""
    folder = staged / each.place
    published = parse(each.name).entry is not None
    only_tests = {file.part for file in each.files} == {"test"}
    if grades is not None and (published or only_tests):
        raise UsageError(f"--grades: found {each.name}, expected your own training and test files")
    parts = [(input_file(tree / file.path), folder / file.place) for file in each.files]
    if only_tests:
        rotate_tests(folder, [inside for inside, _ in parts], note)
    elif not published:
        make_letor_text(folder, parts, grades, note)
    else:
        for inside, place in parts:
            try:
                place.parent.mkdir(parents=True, exist_ok=True)
                plain = os.fspath(inside) == str(inside)  # a compressed part is an unpacked copy
                _ = inside.replace(place) if may_move and plain else shutil.copyfile(inside, place)
            except OSError as error:
                raise WriteError(place, error) from None


def _put_in_place(staged: Path, data_dir: Path) -> None:
    """Move the files that are new; move none if one of them would replace another file."""
    places = [file.relative_to(staged) for file in sorted(staged.rglob("*")) if file.is_file()]
    new = []
    for place in places:
        there = data_dir / place
        if not os.path.lexists(there):
            new.append(place)
        elif not (there.is_file() and filecmp.cmp(staged / place, there, shallow=False)):
            raise DataError(
                f"{there}: found a file of other content, expected the same or none (move it away "
                "to import this one)"
            )
    place = Path()
    try:
        with ExitStack() as undo:
            for place in new:
                for folder in reversed([data_dir / each for each in place.parents]):
                    if not folder.exists():
                        folder.mkdir()
                        undo.callback(folder.rmdir)
                (staged / place).replace(data_dir / place)
                undo.callback((data_dir / place).unlink)
            undo.pop_all()
    except OSError as error:
        raise WriteError(data_dir / place, error) from None


def _recognised(tree: Path, where: Path) -> list[Recognised]:
    """Find the data sets in a folder; the name of `where`, the user's path, may be one's name."""
    files = _files(tree)
    groups = _grouped(PurePosixPath(f.relative_to(tree).as_posix()) for f in files)
    official = {root for root, shape in groups if shape in _OFFICIAL}
    ending = next((each for each in ENDINGS if where.name.lower().endswith(each)), where.suffix)
    stem = where.resolve().name if where.is_dir() else where.name[: len(where.name) - len(ending)]
    stem = re.sub(r" ?\([0-9]+\)$", "", stem)  # of a second download
    recognised: dict[tuple[PurePosixPath, str], Recognised] = {}
    refusal: DataError | None = None
    for (root, shape), parts in groups.items():
        folders, paths = (stem, *root.parts), [each.path for each in parts]
        try:
            opened = [input_file(tree / path) for path in paths]
            kinds = [kind_of(path) for path in opened]
            are_data = all(
                kind in (LETOR, SVMLIGHT)
                or sidecar_files(path).explain_columns
                or (kind == TABLE and has_roles(path))
                for kind, path in zip(kinds, opened)
            )
        except DataError as error:
            refusal, are_data = error, False
            if shape in _OFFICIAL:
                raise
        if shape in _OFFICIAL:
            name, place = _classify(folders, _OFFICIAL[shape], where)
        elif root in official or not are_data:
            continue
        else:
            name, place = _own(folders[-1], where)
            if parse(name).entry is not None:
                raise DataError(
                    f"{where}: {name!r} is the name of a published set, which {paths[0]} is not; "
                    "rename the folder"
                )
        if len({each.place for each in parts}) < len(parts):
            raise DataError(f"{where}: found {', '.join(map(str, paths))}, expected each part once")
        key = place, shape if _OFFICIAL.get(shape) else ""
        if key in recognised:
            raise DataError(
                f"{where}: found {name} twice, as {recognised[key].files[0].path} and {paths[0]}; "
                "expected it once"
            )
        recognised[key] = Recognised(name, place, parts, root)
    if not recognised and refusal is not None:
        raise refusal
    if not recognised:
        packed = [f.name for f in files if f.name.lower().endswith((*ENDINGS, *_PACKED))]
        raise DataError(
            f"{where}: no data set inside; expected folders Fold1, Fold2, ... with train, vali and "
            "test files, or train and test files in one folder"
            + (f"; found {packed[0]}, which is to be unpacked first" if packed else "")
        )
    return list(recognised.values())


def _files(tree: Path) -> list[Path]:
    """Return the files in a folder, also behind links, but none of macOS's attributes."""
    # a link to a folder is followed once, and none to a folder that it is in
    paths, followed = list(tree.rglob("*")), set[Path]()
    for path in paths:  # it grows
        link = path.parent.resolve() / path.name if path.is_symlink() else None
        if link and path.is_dir() and not (link in followed or link.is_relative_to(path.resolve())):
            followed.add(link)
            paths += path.rglob("*")
        elif _PART.fullmatch(path.name.lower()) or fold_number(path.name) is not None:
            check_link(path)
    kept = (path for path in paths if path.is_file() and not path.name.startswith("._"))
    return sorted(path for path in kept if "__MACOSX" not in path.relative_to(tree).parts)


def _grouped(paths: Iterable[PurePosixPath]) -> dict[tuple[PurePosixPath, str], list[PartFile]]:
    """Return the files of each data set by the folder of the files or folds and by name pattern."""
    groups: dict[tuple[PurePosixPath, str], list[PartFile]] = {}
    for path in paths:
        name = path.name.lower()
        named = _FOLD_IN_NAME.search(name)
        match = _PART.fullmatch(_FOLD_IN_NAME.sub("", name).lstrip("._-"))
        if match is None or match["after"].endswith(SIDECAR_ENDINGS):
            continue
        number = fold_number(path.parent.name)
        root = path.parent if number is None else path.parent.parent
        shape = match["before"] + match["after"]
        part = next(part for part in PARTS if match[part])
        place = path.relative_to(root)
        if part_of(path.name, match["before"]) is None or shape not in _OFFICIAL or named:
            number = int(named[1]) if named else number
            name = PARTS[part][0]
            place = PurePosixPath(name if number is None else f"Fold{number}/{name}")
        groups.setdefault((root, shape), []).append(PartFile(path, part, place))
    return {key: files for key, files in groups.items() if _is_whole(key[1], files)}


def _is_whole(shape: str, files: Sequence[PartFile]) -> bool:
    """Whether there are train and test files, or enough folds' official test files alone."""
    there = {each.part for each in files}
    folds = {each.path.parent for each in files if fold_number(each.path.parent.name) is not None}
    tests = shape in _OFFICIAL and there == {"test"} and len(folds) >= _FEWEST_TESTS
    return {"train", "test"} <= there or tests


def _classify(
    folders: tuple[str, ...], entry: Entry | None, where: Path
) -> tuple[str, PurePosixPath]:
    """Return the data set's name and its official folder, by the names of the folders it is in."""
    known = (parse(folder).entry for folder in reversed(folders))
    entry = entry or next(filter(None, known), None)
    if entry is None:
        return _own(folders[-1], where)
    if not entry.variants:
        return entry.name, PurePosixPath(entry.places[0])
    for variant in entry.variants:
        if any(same(folder, variant) for folder in folders):
            label = parse(f"{entry.name}/{variant}").label
            return label, PurePosixPath(entry.places[0].format(variant=variant))
    raise DataError(
        f"{where}: found {entry.name} in {'/'.join(folders[1:]) or '.'}, expected the name of its "
        f"variant in the path: one of {', '.join(entry.variants)}"
    )


def _own(folder: str, where: Path) -> tuple[str, PurePosixPath]:
    """Name a user's own data set by its folder."""
    if not OWN_NAME.fullmatch(folder):
        raise DataError(
            f"{where}: {folder!r} cannot name a data set; rename the folder to letters, digits, - "
            "and _"
        )
    return folder, PurePosixPath(folder)
