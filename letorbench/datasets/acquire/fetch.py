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

#: seconds without a byte after which an address is given up
TIMEOUT = 60


def fetch(
    name: str | Name, data_dir: Path, addresses: Sequence[Source] | None = None
) -> tuple[str, ...]:
    """Download, check against the published size and hash, and import; names of what came.

    Tries one address after another (by default the catalog's); one already on disk is left
    as it is. DataError says what each address answered and how else to get the data.
    """
    named = parse(name)
    known, label = entry(named), named.label
    if layout.present(named, data_dir):
        return (label,)
    if known.synthetic:
        raise DataError(f"{label}: is generated: `letorbench datasets make {known.name}`")
    tried = []
    for source in known.sources if addresses is None else addresses:
        if not source.file:
            continue
        try:
            return _fetch_one(source, Path(data_dir))
        except DataError as error:
            tried.append(str(error))
    raise DataError(
        f"{label}: not had from the net: {'; '.join(tried) or 'by request only'}; "
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
                f"{source.url}: is kept as {kept}, a .rar archive: unpack it (`unrar x "
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
        raise DataError(f"{source.url}: {found} bytes, expected {source.bytes:,}")
    if source.hash is not None and state.hexdigest() != source.hash.digest:
        found = FileHash(source.hash.algorithm, state.hexdigest())
        raise DataError(f"{source.url}: found {found}, expected {source.hash}")


def _elsewhere(name: str, page: str) -> str:
    return (
        f"get it from {page} and `letorbench datasets import PATH`, or `letorbench datasets make "
        f"{name}{TWIN}` for a synthetic one of its shape"
    )
