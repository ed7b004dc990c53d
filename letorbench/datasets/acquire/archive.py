"""Bring a folder or an archive of data sets into the data folder, in the official layout."""

import filecmp
import os
import shutil
from contextlib import ExitStack
from pathlib import Path

from letorbench.datasets import layout
from letorbench.datasets.acquire.recognise import Recognised, recognise
from letorbench.datasets.acquire.unpack import unpack
from letorbench.datasets.catalog import Name, parse
from letorbench.datasets.user_data.documents import Grades, Note
from letorbench.datasets.user_data.folds import compose_folds, make_letor_text, note_unjudged
from letorbench.errors import DataError, UsageError, WriteError
from letorbench.files import unfinished_folder


def import_archive(
    path: Path,
    data_dir: Path,
    expected: Name | None = None,
    grades: Grades = None,
    note: Note = lambda line: None,
) -> tuple[str, ...]:
    """Copy or unpack the data sets in a folder or an archive into the data folder.

    Everything is unpacked beside its place and compared before the first file is moved, so a
    failure leaves nothing behind. A user's parts in another library's layout become LETOR text,
    their labels `grades`; test parts alone become folds. `expected` must be inside, its files with
    the published hashes. `note` takes a line on each recognised layout and on what was done.
    Return the names of the data sets.
    """
    if not path.exists():
        raise DataError(f"{path}: no such file or folder")
    with unfinished_folder(data_dir / ".unfinished") as scratch:
        tree, staged = path, scratch / "data"
        if not path.is_dir():
            tree = scratch / "archive"
            unpack(path, tree)
        places = {tree: path}
        try:
            data_sets = recognise(tree, path)
            names = tuple(each.name for each in data_sets)
            if expected is not None and expected.label not in names:
                raise DataError(f"{path}: found {', '.join(names)} inside, expected {expected}")
            for each in data_sets:
                places = {staged / each.place: path / each.root, tree: path}
                _stage(each, tree, staged, tree != path, grades, note)
                found = layout.find(parse(each.name), staged)
                if found.name.entry is None or found.name.entry.min_label < 0:
                    note_unjudged(found, note)
        except WriteError:
            raise
        except DataError as error:
            shown = str(error)
            for old, new in places.items():
                shown = shown.replace(str(old), str(new))
            raise DataError(shown) from None
        if expected is not None:
            _check_hashes(layout.find(expected, staged), path)
        _put_in_place(staged, data_dir)
    return names


def _stage(
    each: Recognised, tree: Path, staged: Path, may_move: bool, grades: Grades, note: Note
) -> None:
    """Put a data set's files under `staged` in the places that they have in the data folder."""
    folder = staged / each.place
    published = parse(each.name).entry is not None
    if grades is not None and (published or each.only_tests):
        raise UsageError(
            f"--grades: found {each.name}, expected training and test files of one's own"
        )
    parts = [(tree / inside, folder / place) for inside, place in each.parts.items()]
    if each.only_tests:
        compose_folds(folder, [inside for inside, _ in parts], note)
    elif not published:
        make_letor_text(folder, parts, grades, note)
    else:
        for inside, place in parts:
            try:
                place.parent.mkdir(parents=True, exist_ok=True)
                _ = inside.replace(place) if may_move else shutil.copyfile(inside, place)
            except OSError as error:
                raise WriteError(place, error) from None


def _check_hashes(there: layout.Layout, path: Path) -> None:
    for file in there.files:
        inside = file.relative_to(there.folder).as_posix()
        if there.name.entry is not None and there.name.entry.status_of(file, inside) == "differs":
            raise DataError(
                f"{path}: {inside}: found another file than the published one, whose hash is known"
            )


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
