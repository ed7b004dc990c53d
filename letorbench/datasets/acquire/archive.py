"""Bring a folder or an archive of data sets into the data folder, in the official layout."""

from __future__ import annotations

import filecmp
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path, PurePosixPath

from letorbench.datasets import layout
from letorbench.datasets.acquire.members import ENDINGS, OTHER_ENDINGS, Source, blocks, opened
from letorbench.datasets.acquire.recognise import Found, recognise
from letorbench.datasets.catalog import FileHash, Name, parse
from letorbench.datasets.own.given import compose_folds, make_letor_text
from letorbench.datasets.own.grading import Grades
from letorbench.errors import DataError, UsageError, WriteError
from letorbench.files import unfinished_folder


def import_archive(
    path: Path,
    data_dir: Path,
    expected: Name | None = None,
    grades: Grades = None,
    tell: Callable[[str], None] = lambda line: None,
) -> tuple[str, ...]:
    """Copy or unpack the data sets in a folder or an archive into the data folder.

    Everything is unpacked beside its place and compared before the first file is moved, so a
    failure leaves nothing behind. Importing the same again changes nothing. Parts of a user's own
    that are in another library's layout become LETOR text, and test parts alone become folds.

    Parameters
    ----------
    path : Path
        A folder, .zip, .tar, .tar.gz, .tar.bz2 or .tar.xz.
    data_dir : Path
    expected : Name, optional
        The data set that must be inside, its files with the hashes that are published.
    grades : tuple of float or None
        What makes grades of the labels of a user's own; see `letorbench.datasets.own.grading`.
    tell : callable
        Takes a line on what files were taken for and on what was done.

    Returns
    -------
    tuple of str
        The names of the data sets.

    Raises
    ------
    DataError
        If a file of other content is there already, or the archive is damaged, unsafe (see
        `members`) or holds no data set, or not the one that is expected.
    WriteError
        If a file cannot be written.
    """
    path, data_dir = Path(path), Path(data_dir)
    with opened(path) as source:
        found = _recognised(source)
        names = tuple(each.name for each in found)
        if expected is not None and expected.label not in names:
            raise DataError(f"{path}: found {', '.join(names)} inside, expected {expected}")
        with unfinished_folder(data_dir / ".unfinished") as scratch:
            _unpack(source, found, scratch)
            if expected is not None:
                _check_hashes(source, found, scratch, expected)
            found = tuple(_as_letor(each, source, scratch, grades, tell) for each in found)
            _put_in_place(found, scratch, data_dir)
    return names


def _unpack(source: Source, found: tuple[Found, ...], scratch: Path) -> None:
    """Write the data sets' files to the scratch folder, and read all others to their ends."""
    from tqdm import tqdm

    targets = {inside: scratch / place for each in found for inside, place in each.files}
    total = sum(member.size for member in source.members)
    with tqdm(
        total=total, unit="B", unit_scale=True, desc=source.path.name, disable=None
    ) as progress:
        for member in source.members:
            target = targets.get(member.path)
            if target is None and source.path.is_dir():
                continue
            try:
                if target is not None:
                    target.parent.mkdir(parents=True, exist_ok=True)
                with open(target or os.devnull, "wb") as out:
                    for block in blocks(source, member):
                        out.write(block)
                        progress.update(len(block))
            except DataError:
                raise
            except OSError as error:
                raise WriteError(target, error) from None


def _check_hashes(source: Source, found: tuple[Found, ...], scratch: Path, expected: Name) -> None:
    published = {path.lower(): known for path, known in expected.entry.hashes.items()}
    root = expected.entry.places[0].format(variant=expected.variant)
    for inside, place in next(each.files for each in found if each.name == expected.label):
        known = published.get(place.relative_to(root).as_posix().lower())
        if known is not None and FileHash.of(scratch / place, known.algorithm) != known:
            raise DataError(
                f"{source.path}: {inside}: found another file than is published, expected {known}"
            )


def _as_letor(
    each: Found, source: Source, scratch: Path, grades: Grades, tell: Callable[[str], None]
) -> Found:
    """Make LETOR text and folds of what is none yet; return what there is to be moved."""
    folder = scratch / each.place
    if grades is not None and not each.parts:
        raise UsageError(
            f"--grades: found {each.name}, expected training and test files of one's own"
        )
    try:
        if each.only_tests:
            made = compose_folds(folder, [scratch / place for _, place in each.files], tell)
        elif each.parts:
            pairs = [(scratch / old, scratch / new) for old, new in each.parts]
            made = make_letor_text(folder, pairs, grades, tell)
        else:
            return each
    except DataError as error:
        shown = str(error).replace(str(folder), str(source.path / each.root))
        raise DataError(shown) from None
    places = (PurePosixPath(path.relative_to(scratch)) for path in made)
    return replace(each, files=tuple((each.root, place) for place in places))


def _put_in_place(found: tuple[Found, ...], scratch: Path, data_dir: Path) -> None:
    """Move the files that are new; move none where one would take another one's place."""
    places = [place for each in found for _, place in each.files]
    for there in (data_dir / place for place in places):
        if os.path.lexists(there) and not (
            there.is_file() and filecmp.cmp(scratch / there.relative_to(data_dir), there, False)
        ):
            raise DataError(
                f"{there}: found a file of other content, expected the same or none (move it away "
                "to import this one)"
            )
    new = [place for place in places if not (data_dir / place).exists()]
    try:
        for place in new:
            (data_dir / place).parent.mkdir(parents=True, exist_ok=True)
            os.replace(scratch / place, data_dir / place)
        for each in found:
            layout.find(parse(each.name), data_dir)
    except BaseException as error:
        for place in new:
            (data_dir / place).unlink(missing_ok=True)
            for folder in place.parents[:-1]:
                with suppress(OSError):  # it holds something else
                    (data_dir / folder).rmdir()
        if isinstance(error, OSError) and not isinstance(error, DataError):
            raise WriteError(data_dir, error) from None
        raise


def _recognised(source: Source) -> tuple[Found, ...]:
    links = f" ({source.links} links are not followed)" if source.links else ""
    members = {member.path: member for member in source.members}

    def start(path: PurePosixPath) -> bytes:
        return next(blocks(source, members[path]), b"")

    try:
        found = recognise(members, source.stem, source.path, start)
    except DataError as error:
        raise DataError(f"{error}{links}") from None
    if found:
        return found
    endings = (*ENDINGS, *OTHER_ENDINGS)
    nested = [m.path for m in source.members if m.path.name.lower().endswith(endings)]
    if nested:
        raise DataError(
            f"{source.path}: no data set inside but the compressed file {nested[0]}; unpack this "
            "one first, then import what comes out"
        )
    raise DataError(
        f"{source.path}: no data set inside; expected folders Fold1, Fold2, ... with train, "
        f"vali and test files, or train and test files in one folder{links}"
    )
