"""Download a published data set, check it, and import it."""

import http.client
import re
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from letorbench.datasets import layout
from letorbench.datasets.archive import import_archive
from letorbench.datasets.catalog import TWIN, Entry, FileHash, Name, Source, entry, parse
from letorbench.errors import DataError, WriteError
from letorbench.files import unfinished_folder

#: the most bytes of a file whose size is not published; the largest archive has 4 GB
MOST_BYTES = 16 << 30
#: a download is given up that brings fewer than `FEWEST_BYTES` in `STALL` seconds
STALL, FEWEST_BYTES = 60.0, 60_000


def fetch(
    name: str | Name, data_dir: Path, addresses: Sequence[Source] | None = None
) -> tuple[str, ...]:
    """Download a data set from the first good address, check it, import it; return the names."""
    named, data_dir = parse(name), Path(data_dir)
    known, refusals = entry(named), []
    # while another process downloads the same data set, this one waits, then finds it there
    with unfinished_folder(data_dir / f".download-{named.label}") as folder:
        if layout.present(named, data_dir):
            return (named.label,)
        if known.synthetic:
            raise DataError(f"{named}: `letorbench datasets make {known.name}` generates it")
        for source in known.sources if addresses is None else addresses:
            if source.variant not in ("", named.variant):
                continue
            if source.file.endswith(".rar"):
                refusals.append(f"{source.url}: an archive that is to be unpacked by hand")
                continue
            try:
                if source.file:
                    path = folder / source.file
                    for each in source.addresses:
                        place = path / each.file if source.parts else path
                        place.parent.mkdir(parents=True, exist_ok=True)
                        download(each, place)
                    return import_archive(path, data_dir, named)
            except WriteError:
                raise
            except DataError as error:
                refusals.append(str(error))
    reasons = "; ".join(refusals) or "it is given on request only"
    raise DataError(f"{named}: no download succeeded: {reasons}; {_elsewhere(known)}")


def download(source: Source, path: Path) -> None:
    """Download a file, and check its size, hash and kind."""
    from tqdm import tqdm

    with answer_of(source.url) as answer:
        if answer.headers.get_content_type() == "text/html":
            raise DataError(
                f"{source.url}: found a web page, expected a file; a licence, a sign-in or a form "
                "may stand before it, so open it in a browser"
            )
        expected = answer.length if source.bytes is None else source.bytes
        most = MOST_BYTES if expected is None else min(expected, MOST_BYTES)
        done, size = 0, answer.length or 0
        with (
            tqdm(total=expected, unit="B", unit_scale=True, desc=path.name, disable=None) as shown,
            path.open("wb") as out,
        ):
            while size <= most and (block := answer.read1(1 << 18)):
                try:
                    out.write(block)
                    out.flush()  # at the end it would count as an error of the address
                except OSError as error:
                    raise WriteError(path, error) from None
                shown.update(len(block))
                done += len(block)
                size = max(size, done)
    if size > most or expected not in (None, done):
        found = size if size > most else done
        raise DataError(f"{source.url}: found {found:,} bytes, expected {most:,}")
    digest = source.hash and FileHash.of(path, source.hash.algorithm)
    if digest != source.hash:
        raise DataError(f"{source.url}: found {digest}, expected {source.hash}")


@contextmanager
def answer_of(url: str) -> Iterator[http.client.HTTPResponse]:
    """Open an address on the web; DataError if it leads elsewhere or answers with an error."""
    from letorbench.version import __version__

    _require_web(url)
    request = urllib.request.Request(url, headers={"User-Agent": f"letorbench/{__version__}"})
    try:
        opener = urllib.request.build_opener(_Redirects, _Web)
        with opener.open(request, timeout=STALL) as response:
            yield response
    except DataError:
        raise
    except urllib.error.HTTPError as error:
        error.close()
        raise DataError(f"{url}: answers HTTP {error.code} {error.reason}") from None
    except (OSError, http.client.HTTPException, ValueError) as error:
        reason = getattr(error, "reason", error)
        slow = f"sent fewer than {FEWEST_BYTES:,} bytes in {STALL:g} seconds"
        text = slow if isinstance(reason, TimeoutError) else reason
        raise DataError(f"{url}: {' '.join(str(text).split())}") from None


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows redirects to addresses on the web, and never from https to http."""

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str):
        _require_web(newurl)
        if req.full_url.startswith("https:") and not newurl.startswith("https:"):
            raise DataError(f"{req.full_url}: leads to {newurl}; expected https after https")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


class _Paced(http.client.HTTPResponse):
    """An HTTP response whose status, headers and content may not stall."""

    # the timeout of a socket is one of silence, which a byte a minute would satisfy; pooch and
    # requests have no other

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        raw: Any = self.fp.raw
        read, since, count = raw.readinto, time.monotonic(), 0

        def readinto(buffer: Any) -> int | None:
            nonlocal since, count
            n, now = read(buffer), time.monotonic()
            count += n or 0
            if n and now - since >= STALL:
                if count < FEWEST_BYTES:
                    raise TimeoutError
                since, count = now, 0
            return n

        raw.readinto = readinto


class _Web(urllib.request.HTTPHandler, urllib.request.HTTPSHandler):
    def do_open(self, http_class: Any, req: Any, **options: Any) -> Any:
        paced: Any = type(http_class.__name__, (http_class,), {"response_class": _Paced})
        return super().do_open(paced, req, **options)


def _require_web(url: str) -> None:
    if not re.match("https?://[^/]", url, re.IGNORECASE):
        raise DataError(f"{url}: is no address on the web; expected http or https")


def _elsewhere(known: Entry) -> str:
    pages = dict.fromkeys([known.page, *(s.url for s in known.sources if not s.file)])
    made = f", or `letorbench datasets make {known.name}{TWIN}` for a synthetic one of its shape"
    return (
        f"get it from {' or '.join(filter(None, pages))} in a browser (terms: {known.terms}) and "
        f"`letorbench datasets import PATH`{made if known.twin else ''}"
    )
