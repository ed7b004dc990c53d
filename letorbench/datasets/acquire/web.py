"""Requests to addresses on the web, by urllib: only http and https, also behind redirects."""

from __future__ import annotations

import http.client
import re
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from letorbench.errors import DataError
from letorbench.escaping import visible


class Interrupted(DataError):
    """A download that stopped before its end; what there is of it may be continued."""


class Refused(DataError):
    """An address that answers with an HTTP error."""

    def __init__(self, url: str, error: urllib.error.HTTPError) -> None:
        super().__init__(f"{url}: answers HTTP {error.code} {_printable(str(error.reason))}")
        self.code = error.code


class Answer:
    """What an address answered: its status, its headers, and its bytes as they come."""

    def __init__(self, response: http.client.HTTPResponse, end: float) -> None:
        self._response, self._end = response, end
        self.status = response.status
        self.is_page = response.headers.get_content_type() == "text/html"
        length = response.headers.get("Content-Length", "")
        #: how many bytes are said to follow
        self.length = int(length) if re.fullmatch("[0-9]{1,18}", length) else None
        said = response.headers.get("Content-Range", "")
        part = re.fullmatch("bytes ([0-9]{1,18})-[0-9]+/([0-9]{1,18})", said)
        #: the first byte of a part, and the size of the whole
        self.span = (int(part[1]), int(part[2])) if part and self.status == 206 else None

    def read(self) -> bytes:
        """Return the bytes that are there, at least one before the end."""
        if time.monotonic() > self._end:
            raise OSError("took longer than the time limit")
        return self._response.read1(1 << 18)


@contextmanager
def asked(url: str, headers: Mapping[str, str], stall: float, left: float) -> Iterator[Answer]:
    """Open an address for the block.

    It has `left` seconds for all, and `stall` seconds for the next bytes.

    Raises
    ------
    DataError
        The address is none of the web or leads to one that is not.
    Refused
        It answers with an HTTP error.
    Interrupted
        The connection failed or broke, stalled, or took too long.
    """
    from letorbench import __version__

    _require_web(url)
    end = time.monotonic() + left
    headers = {"User-Agent": f"letorbench/{__version__}", "Accept-Encoding": "identity", **headers}
    try:
        request = urllib.request.Request(url, headers=dict(headers))
        with urllib.request.build_opener(_Redirects).open(request, timeout=stall) as response:
            yield Answer(response, end)
    except urllib.error.HTTPError as error:
        error.close()
        raise Refused(url, error) from None
    except DataError:
        raise
    except (OSError, http.client.HTTPException, ValueError) as error:
        reason = getattr(error, "reason", error)
        text = f"sent nothing for {stall:g} seconds" if isinstance(reason, TimeoutError) else reason
        raise Interrupted(f"{url}: {_printable(str(text))}") from None


class _Redirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str):
        _require_web(newurl)
        if req.full_url.startswith("https:") and not newurl.startswith("https:"):
            raise DataError(f"{req.full_url}: leads to {newurl}; expected https after https")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _require_web(url: str) -> None:
    if not re.match("https?://[^/]", url, re.IGNORECASE):
        raise DataError(f"{url}: is no address on the web; expected http or https")


def _printable(text: str) -> str:
    """Return a text that came from elsewhere as a terminal may show it in one line."""
    return visible(" ".join(text.split())[:200])
