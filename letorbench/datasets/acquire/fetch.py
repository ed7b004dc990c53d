"""Download a data set from where it is published, check it, and import it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from letorbench.datasets import layout
from letorbench.datasets.acquire.archive import import_archive
from letorbench.datasets.acquire.download import download
from letorbench.datasets.acquire.members import OTHER_ENDINGS, foreign_ending
from letorbench.datasets.acquire.web import Interrupted, Patience
from letorbench.datasets.catalog import TWIN, Entry, Name, Source, entry, parse
from letorbench.datasets.reader import ReadOptions, read_queries
from letorbench.datasets.rotation import write_folds_of_tests
from letorbench.errors import DataError, WriteError
from letorbench.files import one_writer, unfinished_folder

#: the folder of the downloads that are not finished, in the data folder
DOWNLOADS = ".downloads"


def fetch(
    name: str | Name,
    data_dir: Path,
    addresses: Sequence[Source] | None = None,
    patience: Patience = Patience(),
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
    patience : Patience
        How long each address is waited for.

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
    known, label = entry(named), named.label
    folder = data_dir / DOWNLOADS / label
    if layout.present(named, data_dir):
        _remove_leftovers(folder)
        return (label,)
    if known.synthetic:
        raise DataError(
            f"{label}: cannot be downloaded; `letorbench datasets make {known.name}` generates it"
        )
    sources = known.sources if addresses is None else addresses
    archives = [source for source in sources if source.file]
    for source in archives:
        _refuse_to_repeat(data_dir / source.file)
    if not archives:
        raise DataError(
            f"{label}: no download succeeded: it is given on request only; {_elsewhere(known)}"
        )
    with one_writer(data_dir):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if layout.present(named, data_dir):  # another process has just fetched it
                return (label,)
            return _first(archives, folder, patience, _importer(named, data_dir), known)
        finally:
            _tidy(folder)


def unfinished(data_dir: Path) -> dict[str, int]:
    """Return how many bytes there are of each data set whose download is not finished."""
    folders = (data_dir / DOWNLOADS).glob("*/")
    found = {folder.name: sum(map(_size, _contents(folder))) for folder in sorted(folders)}
    return {name: size for name, size in found.items() if size}


def _first(
    sources: Sequence[Source],
    folder: Path,
    patience: Patience,
    use: Callable[[Path], tuple[str, ...]],
    known: Entry,
) -> tuple[str, ...]:
    """Return what the first source gives that has the data set."""
    tried, stopped = [], False
    for source in sources:
        try:
            if source.parts:
                names = _composed(source, folder, patience, use, known.n_features)
            else:
                names = download(source, folder, patience, use)
        except WriteError:
            _clear(folder)
            raise
        except DataError as error:
            tried.append(str(error))
            stopped |= isinstance(error, Interrupted)
        else:
            _clear(folder)
            return names
    kept = unfinished(folder.parents[1]).get(folder.name, 0)
    again = f"the same command continues ({kept:,} bytes are kept), or " if kept else ""
    raise DataError(
        f"{folder.name}: no download succeeded: {'; '.join(tried)}; {again}{_elsewhere(known)}"
    )


def _composed(
    source: Source,
    folder: Path,
    patience: Patience,
    use: Callable[[Path], tuple[str, ...]],
    n_features: int,
) -> tuple[str, ...]:
    """Download the test parts of the folds, compose the folds of them, and use their folder.

    A text has no check sums as archives have: it is parsed before it is used.
    """
    tests = [folder / part.file for part in source.parts]
    try:
        for part, test in zip(source.parts, tests, strict=True):
            if not test.is_file():
                download(part, folder, patience, lambda path: path)
            read_queries(test, ReadOptions(n_features=n_features))
        with unfinished_folder(folder / "folds") as scratch:
            write_folds_of_tests(scratch / source.file, tests)
            return use(scratch / source.file)
    except (Interrupted, WriteError):
        raise
    except DataError:
        for test in tests:
            _remove_file(test)
        raise


def _importer(named: Name, data_dir: Path) -> Callable[[Path], tuple[str, ...]]:
    """Return what imports a file; one that is not unpacked here is kept in the data folder."""

    def use(path: Path) -> tuple[str, ...]:
        if foreign_ending(path) is not None:
            path.replace(data_dir / path.name)
            raise _unpack_it(data_dir / path.name)
        try:
            names = import_archive(path, data_dir, named)
        except DataError:
            _remove_file(path)
            raise
        _remove_file(path)
        return names

    return use


def _remove_file(path: Path) -> None:
    """Remove a file; a folder is removed by who made it."""
    if not path.is_dir():
        path.unlink(missing_ok=True)


def _refuse_to_repeat(kept: Path) -> None:
    """Raise DataError where an earlier download waits for being unpacked by hand."""
    if foreign_ending(kept) is not None and kept.is_file():
        raise _unpack_it(kept)


def _unpack_it(kept: Path) -> DataError:
    return DataError(
        f"{kept}: is downloaded, but {kept.suffix} archives are not unpacked here: unpack it "
        f"(`{OTHER_ENDINGS[kept.suffix.lower()]} {kept.name}`), then `letorbench datasets import "
        "FOLDER`"
    )


def _remove_leftovers(folder: Path) -> None:
    """Remove what a killed process left beside a data set that it had put in place."""
    if folder.is_dir():
        with one_writer(folder.parents[1]):
            _clear(folder)
            _tidy(folder)


def _clear(folder: Path) -> None:
    with suppress(OSError):
        for path in folder.iterdir():
            path.unlink()


def _contents(folder: Path) -> list[Path]:
    """Return the parts of files, and the whole ones that were being used."""
    return [path for path in folder.glob("*") if path.is_file() and path.suffix != ".json"]


def _size(path: Path) -> int:
    return path.stat().st_size


def _tidy(folder: Path) -> None:
    """Remove the folder of downloads where nothing is kept in it."""
    if not any(map(_size, _contents(folder))):
        _clear(folder)
    with suppress(OSError):
        folder.rmdir()
        folder.parent.rmdir()


def _elsewhere(known: Entry) -> str:
    pages = dict.fromkeys([known.page, *(s.url for s in known.sources if not s.file)])
    made = (
        f", or `letorbench datasets make {known.name}{TWIN}` for a synthetic one of its shape"
        if known.twin
        else ""
    )
    return (
        f"get it from {' or '.join(filter(None, pages))} in a browser (terms: {known.terms}) and "
        f"`letorbench datasets import PATH`{made}"
    )
