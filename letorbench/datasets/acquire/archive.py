"""Bring a folder or an archive of data sets into the data folder, in the official layout."""

from __future__ import annotations

import filecmp
import os
from pathlib import Path

from letorbench.datasets.acquire.members import ENDINGS, Source, copy, opened
from letorbench.datasets.acquire.recognise import Found, recognise
from letorbench.datasets.scratch import scratch_folder
from letorbench.errors import DataError


def import_archive(path: Path, data_dir: Path) -> tuple[str, ...]:
    """Copy or unpack the data sets in a folder or an archive into the data folder.

    Everything is unpacked beside its place and compared before the first file is moved, so a
    failure leaves nothing behind. Importing the same again changes nothing.

    Parameters
    ----------
    path : Path
        A folder, .zip, .tar, .tar.gz, .tar.bz2 or .tar.xz.
    data_dir : Path

    Returns
    -------
    tuple of str
        The names of the data sets.

    Raises
    ------
    DataError
        If a file of other content is there already, or the archive is damaged, unsafe (see
        `members`) or holds no data set.
    """
    path, data_dir = Path(path), Path(data_dir)
    with opened(path) as source:
        found = recognise((member.path for member in source.members), source.stem, path)
        if not found:
            raise _nothing(source)
        with scratch_folder(data_dir) as scratch:
            _unpack(source, found, scratch)
            _refuse_to_overwrite(found, scratch, data_dir)
            _put_in_place(found, scratch, data_dir)
    return tuple(each.name for each in found)


def _unpack(source: Source, found: tuple[Found, ...], scratch: Path) -> None:
    from tqdm import tqdm

    targets = {inside: place for each in found for inside, place in each.files}
    wanted = [member for member in source.members if member.path in targets]
    total = sum(member.size for member in wanted)
    with tqdm(
        total=total, unit="B", unit_scale=True, desc=source.path.name, disable=None
    ) as progress:
        for member in wanted:
            copy(source, member, scratch / targets[member.path])
            progress.update(member.size)


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


def _put_in_place(found: tuple[Found, ...], scratch: Path, data_dir: Path) -> None:
    placed: list[Path] = []
    try:
        for each in found:
            for _, place in each.files:
                there = data_dir / place
                if not there.exists():
                    there.parent.mkdir(parents=True, exist_ok=True)
                    os.replace(scratch / place, there)
                    placed.append(there)
    except OSError as error:
        for there in placed:
            there.unlink()
        raise DataError(f"{error.filename}: cannot write there: {error.strerror}") from None


def _nothing(source: Source) -> DataError:
    nested = [m.path for m in source.members if m.path.name.lower().endswith((*ENDINGS, ".rar"))]
    if nested:
        return DataError(
            f"{source.path}: no data set inside but the archive {nested[0]}; unpack this one "
            "first, then import that"
        )
    return DataError(
        f"{source.path}: no data set inside; expected folders Fold1, Fold2, ... with train, "
        "vali and test files, or train and test files in one folder"
    )
