"""Download a data set from where it is published, check it, and import it."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from letorbench.datasets import layout
from letorbench.datasets.acquire.archive import import_archive
from letorbench.datasets.acquire.download import download
from letorbench.datasets.acquire.members import OTHER_ENDINGS, foreign_ending
from letorbench.datasets.acquire.web import Interrupted
from letorbench.datasets.catalog import TWIN, Entry, Name, Source, entry, parse
from letorbench.datasets.reader import ReadOptions, read_queries
from letorbench.datasets.rotation import write_folds_of_tests
from letorbench.errors import DataError, WriteError
from letorbench.files import one_writer, unfinished_folder

#: the folder of the downloads that are not finished, in the data folder
DOWNLOADS = ".downloads"
SIX_HOURS = 6 * 3600.0


def fetch(
    name: str | Name,
    data_dir: Path,
    addresses: Sequence[Source] | None = None,
    seconds: float = SIX_HOURS,
) -> tuple[str, ...]:
    """Download a data set, check its published size and hash, and import it.

    A data set that is on disk already is left as it is. A download that stops is continued by
    the next one of the same data set.

    Parameters
    ----------
    name : str or Name
    data_dir : Path
    addresses : sequence of Source, optional
        The addresses to try one after another; by default the catalog's.
    seconds : float
        The time that each file has.

    Returns
    -------
    tuple of str
        The names of the data sets that were imported.

    Raises
    ------
    DataError
        If no address has it. The message says what each answered and how else to get the data.
    WriteError
        If a file cannot be written.
    """
    named, data_dir = parse(name), Path(data_dir)
    known, folder = entry(named), data_dir / DOWNLOADS / named.label
    if layout.present(named, data_dir) and not folder.exists():
        return (named.label,)
    if known.synthetic:
        raise DataError(
            f"{named}: cannot be downloaded; `letorbench datasets make {known.name}` generates it"
        )
    tried = []
    with one_writer(data_dir):
        if layout.present(named, data_dir):  # by another process, or one that was killed then
            shutil.rmtree(folder, ignore_errors=True)
            return (named.label,)
        folder.mkdir(parents=True, exist_ok=True)
        try:
            for source in known.sources if addresses is None else addresses:
                try:
                    if source.file:
                        return _fetched(source, folder, data_dir, seconds, named)
                except WriteError:
                    raise
                except DataError as error:
                    tried.append(str(error))
        finally:
            for empty in (folder, folder.parent):
                with suppress(OSError):
                    empty.rmdir()
    reasons = "; ".join(tried) or "it is given on request only"
    kept = unfinished(data_dir).get(named.label)
    again = f"the same command continues ({kept:,} bytes are kept), or " if kept else ""
    raise DataError(f"{named}: no download succeeded: {reasons}; {again}{_elsewhere(known)}")


def unfinished(data_dir: Path) -> dict[str, int]:
    """Return how many bytes there are of each data set whose download is not finished."""
    files = [path for path in (data_dir / DOWNLOADS).glob("*/*") if path.is_file()]
    sizes = {path.parent.name: 0 for path in files}
    for path in files:
        sizes[path.parent.name] += path.stat().st_size
    return {name: size for name, size in sizes.items() if size}


def _fetched(
    source: Source, folder: Path, data_dir: Path, seconds: float, named: Name
) -> tuple[str, ...]:
    """Download an archive, or the test parts of the folds, and import it.

    Only what can be continued stays in the folder.
    """
    kept = data_dir / source.file
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if foreign_ending(kept) is not None:
            if not kept.is_file():
                download(source, folder, seconds).replace(kept)
            raise DataError(
                f"{kept}: is downloaded, but {kept.suffix} archives are not unpacked here: unpack "
                f"it (`{OTHER_ENDINGS[kept.suffix.lower()]} {kept.name}`), then `letorbench "
                "datasets import FOLDER`"
            )
        if source.parts:
            names = _composed(source, folder, data_dir, seconds, named)
        else:
            names = import_archive(download(source, folder, seconds), data_dir, named)
    except Interrupted:
        raise
    except DataError:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    shutil.rmtree(folder, ignore_errors=True)
    return names


def _composed(
    source: Source, folder: Path, data_dir: Path, seconds: float, named: Name
) -> tuple[str, ...]:
    """Download the test parts of the folds, compose the folds of them, and import these.

    A text has no check sum as archives have: it is parsed before it is used.
    """
    tests = [download(part, folder, seconds) for part in source.parts]
    for test in tests:
        read_queries(test, ReadOptions(n_features=entry(named).n_features))
    with unfinished_folder(folder / "folds") as scratch:
        write_folds_of_tests(scratch / source.file, tests)
        return import_archive(scratch / source.file, data_dir, named)


def _elsewhere(known: Entry) -> str:
    pages = dict.fromkeys([known.page, *(s.url for s in known.sources if not s.file)])
    made = f", or `letorbench datasets make {known.name}{TWIN}` for a synthetic one of its shape"
    return (
        f"get it from {' or '.join(filter(None, pages))} in a browser (terms: {known.terms}) and "
        f"`letorbench datasets import PATH`{made if known.twin else ''}"
    )
