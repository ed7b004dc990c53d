"""Bring a folder or an archive of data sets into the data folder, in the official layout."""

from __future__ import annotations

import filecmp
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from letorbench.datasets import layout
from letorbench.datasets.acquire.members import ENDINGS, OTHER_ENDINGS, Source, blocks, opened
from letorbench.datasets.acquire.recognise import Found, recognise
from letorbench.datasets.catalog import FileHash, Name, parse
from letorbench.errors import DataError, WriteError
from letorbench.files import unfinished_folder


def import_archive(path: Path, data_dir: Path, expected: Name | None = None) -> tuple[str, ...]:
    """Copy or unpack the data sets in a folder or an archive into the data folder.

    Everything is unpacked beside its place and compared before the first file is moved, so a
    failure leaves nothing behind. Importing the same again changes nothing.

    Parameters
    ----------
    path : Path
        A folder, .zip, .tar, .tar.gz, .tar.bz2 or .tar.xz.
    data_dir : Path
    expected : Name, optional
        The data set that must be inside, its files with the hashes that are published.

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
            _unpack(source, found, scratch, data_dir)
            if expected is not None:
                _check_hashes(source, found, scratch, expected)
            _refuse_to_overwrite(found, scratch, data_dir)
            with _all_or_nothing() as placed:
                _put_in_place(found, scratch, data_dir, placed)
                for each in found:
                    layout.find(parse(each.name), data_dir)
    return names


def _unpack(source: Source, found: tuple[Found, ...], scratch: Path, data_dir: Path) -> None:
    """Write the data sets' files to the scratch folder, and read all others to their ends."""
    from tqdm import tqdm

    targets = {inside: place for each in found for inside, place in each.files}
    total = sum(member.size for member in source.members)
    with tqdm(
        total=total, unit="B", unit_scale=True, desc=source.path.name, disable=None
    ) as progress:
        for member in source.members:
            place = targets.get(member.path)
            if place is not None:
                _write(blocks(source, member), scratch / place, data_dir / place)
            elif not source.path.is_dir():
                for _ in blocks(source, member):
                    pass
            progress.update(member.size)


def _write(content: Iterator[bytes], target: Path, place: Path) -> None:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("xb") as out:
            for block in content:
                out.write(block)
    except DataError:
        raise
    except OSError as error:
        raise WriteError(place, error) from None


def _check_hashes(source: Source, found: tuple[Found, ...], scratch: Path, expected: Name) -> None:
    published = {path.lower(): known for path, known in expected.entry.hashes.items()}
    root = expected.entry.places[0].format(variant=expected.variant)
    for inside, place in next(each.files for each in found if each.name == expected.label):
        known = published.get(place.relative_to(root).as_posix().lower())
        if known is not None and FileHash.of(scratch / place, known.algorithm) != known:
            raise DataError(
                f"{source.path}: {inside}: found another file than is published, expected {known}"
            )


def _refuse_to_overwrite(found: tuple[Found, ...], scratch: Path, data_dir: Path) -> None:
    for each in found:
        for _, place in each.files:
            there = data_dir / place
            if os.path.lexists(there) and not (
                there.is_file() and filecmp.cmp(scratch / place, there, shallow=False)
            ):
                raise DataError(
                    f"{there}: found a file of other content, expected the same or none "
                    f"(move it away to import {each.name})"
                )


def _put_in_place(
    found: tuple[Found, ...], scratch: Path, data_dir: Path, placed: list[Path]
) -> None:
    """Move the files; note each file and folder that is new, in order."""
    for each in found:
        for _, place in each.files:
            there = data_dir / place
            if there.exists():
                continue
            try:
                for folder in reversed([f for f in there.parents if not f.exists()]):
                    folder.mkdir(exist_ok=True)
                    placed.append(folder)
                os.replace(scratch / place, there)
            except OSError as error:
                raise WriteError(there, error) from None
            placed.append(there)


@contextmanager
def _all_or_nothing() -> Iterator[list[Path]]:
    """Give a list; remove the files and the folders that are in it if the block fails."""
    placed: list[Path] = []
    try:
        yield placed
    except BaseException:
        for there in reversed(placed):
            with suppress(OSError):
                there.rmdir() if there.is_dir() else there.unlink()
        raise


def _recognised(source: Source) -> tuple[Found, ...]:
    links = f" ({source.links} links are not followed)" if source.links else ""
    try:
        found = recognise((member.path for member in source.members), source.stem, source.path)
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
