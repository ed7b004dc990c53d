"""Download a data set from where it is published, check it, and import it."""

from __future__ import annotations

import hashlib
import http.client
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path

from letorbench.datasets import layout
from letorbench.datasets.acquire.archive import import_archive
from letorbench.datasets.acquire.verify import verify
from letorbench.datasets.catalog import TWIN, FileHash, Name, Source, entry, parse
from letorbench.datasets.scratch import scratch_folder
from letorbench.errors import DataError

__all__ = ["fetch", "verify"]

#: an address that sends nothing for so many seconds is given up
TIMEOUT = 60


def fetch(
    name: str | Name, data_dir: Path, addresses: Sequence[Source] | None = None
) -> tuple[str, ...]:
    """Download a data set, check its published size and hash, and import it.

    A data set that is on disk already is left as it is.

    Parameters
    ----------
    name : str or Name
    data_dir : Path
    addresses : sequence of Source, optional
        The addresses to try one after another; by default the catalog's.

    Returns
    -------
    tuple of str
        The names of the data sets that were imported.

    Raises
    ------
    DataError
        If no address has it. The message says what each answered and how else to get the data.
    """
    named = parse(name)
    known, label = entry(named), named.label
    if layout.present(named, data_dir):
        return (label,)
    if known.synthetic:
        raise DataError(
            f"{label}: cannot be downloaded; `letorbench datasets make {known.name}` generates it"
        )
    tried = []
    for source in known.sources if addresses is None else addresses:
        if not source.file:
            continue
        try:
            return _fetch_one(source, Path(data_dir))
        except DataError as error:
            tried.append(str(error))
    raise DataError(
        f"{label}: no download succeeded: {'; '.join(tried) or 'it is given on request only'}; "
        + _elsewhere(known.name, known.page)
    )


def _fetch_one(source: Source, data_dir: Path) -> tuple[str, ...]:
    with scratch_folder(data_dir) as scratch:
        path = scratch / source.file
        _download(source, path)
        if path.suffix == ".rar":
            kept = data_dir / source.file
            path.replace(kept)
            raise DataError(
                f"{source.url}: was saved as {kept}, a .rar archive: unpack it (`unrar x "
                f"{source.file}`), then `letorbench datasets import FOLDER`"
            )
        return import_archive(path, data_dir)


def _download(source: Source, path: Path) -> None:
    from tqdm import tqdm

    state = hashlib.new(source.hash.algorithm) if source.hash else None
    size = 0
    try:
        with urllib.request.urlopen(source.url, timeout=TIMEOUT) as answer, path.open("xb") as out:
            length = answer.headers.get("Content-Length", "")
            total = int(length) if length.isdigit() else source.bytes
            with tqdm(
                total=total, unit="B", unit_scale=True, desc=source.file, disable=None
            ) as progress:
                while block := answer.read(1 << 20):
                    size += len(block)
                    if source.bytes is not None and size > source.bytes:
                        break
                    out.write(block)
                    if state is not None:
                        state.update(block)
                    progress.update(len(block))
    except urllib.error.URLError as error:
        raise DataError(f"{source.url}: {getattr(error, 'reason', error)}") from None
    except (OSError, http.client.HTTPException) as error:
        raise DataError(f"{source.url}: {error}") from None
    if source.bytes is not None and size != source.bytes:
        found = "more" if size > source.bytes else f"{size:,}"
        raise DataError(f"{source.url}: found {found} bytes, expected {source.bytes:,}")
    if source.hash is not None and state.hexdigest() != source.hash.digest:
        found = FileHash(source.hash.algorithm, state.hexdigest())
        raise DataError(f"{source.url}: found {found}, expected {source.hash}")


def _elsewhere(name: str, page: str) -> str:
    return (
        f"get it from {page} and `letorbench datasets import PATH`, or `letorbench datasets make "
        f"{name}{TWIN}` for a synthetic one of its shape"
    )
